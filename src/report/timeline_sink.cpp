// SPDX-License-Identifier: Apache-2.0
#include "report/timeline_sink.hpp"

#include <algorithm>

#include "report/page_timeline.hpp"

namespace vlag {
namespace {

leave_reason reason_of(const schedule_switch& e) {
  switch (e.left.letter) {
    case 'R':
      return leave_reason::preempted;
    case 'X':
    case 'Z':
      return leave_reason::exited;
    default:
      return leave_reason::blocked;
  }
}

}  // namespace

std::int32_t timeline_sink::pid_of(std::uint32_t task) const {
  return task < pids_.size() ? pids_[task] : 0;
}

void timeline_sink::begin(const schedule_info& info) {
  pids_.clear();
  for (const schedule_task& task : info.tasks) pids_.push_back(task.pid);
  wait_begins_ = info.wait_begins;
  simulated_ = info.simulated;
  timeline_request request = request_;
  request.from_ns = 0;
  request.to_ns = std::max<std::uint64_t>(info.span_ns, 1);
  request.cpus = std::max(info.cpus, 1U);
  request.bins_per_cpu = bins_for(request.cpus);
  line_.emplace(std::move(request));
}

void timeline_sink::on_start(unsigned cpu, std::uint32_t running) {
  line_->on_start(cpu, pid_of(running));
}

void timeline_sink::on_switch(const schedule_switch& e) {
  leave_reason left = reason_of(e);
  // A recording's + says only where in the kernel the task was when it lost the CPU.
  if (simulated_ && left == leave_reason::preempted && !e.left.preempted) {
    left = leave_reason::yielded;
  }
  line_->on_switch(e.at_ns, e.cpu, pid_of(e.previous), left, pid_of(e.next));
}

void timeline_sink::on_wakeup(const schedule_wakeup& e) {
  if (e.kind != wait_begins_ && e.kind != wakeup_kind::born) return;
  line_->on_wakeup(e.at_ns, pid_of(e.woken), pid_of(e.waker));
}

void timeline_sink::on_reason(const schedule_reason& e) {
  if (!reason_text(e.what).empty()) line_->on_reason(e.cpu, e.what);
}

void timeline_sink::on_reading(const schedule_reading& e) {
  line_->on_reading(e.cpu, e.values.lag, e.values.to_deadline);
}

void timeline_sink::end(std::uint64_t at_ns) { line_->finish(at_ns); }

}  // namespace vlag

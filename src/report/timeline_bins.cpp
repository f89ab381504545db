// SPDX-License-Identifier: Apache-2.0
#include "report/timeline_bins.hpp"

#include <algorithm>
#include <cassert>

namespace vlag {

std::vector<time_window> merged_windows(std::vector<time_window> windows) {
  std::sort(windows.begin(), windows.end(), [](const time_window& a, const time_window& b) {
    return std::pair(a.from_ns, a.to_ns) < std::pair(b.from_ns, b.to_ns);
  });
  std::vector<time_window> result;
  for (const time_window& w : windows) {
    if (w.to_ns <= w.from_ns) continue;
    if (!result.empty() && w.from_ns <= result.back().to_ns) {
      result.back().to_ns = std::max(result.back().to_ns, w.to_ns);
    } else {
      result.push_back(w);
    }
  }
  return result;
}

unsigned bins_for(unsigned cpus) noexcept {
  return std::clamp(65'536U / std::max(cpus, 1U), 128U, 4000U);
}

timeline_bins::timeline_bins(timeline_request request)
    : request_(std::move(request)), ended_ns_(request_.to_ns) {
  assert(request_.to_ns > request_.from_ns && request_.bins_per_cpu > 0);
  const std::uint64_t span = request_.to_ns - request_.from_ns;
  bin_ns_ = (span + request_.bins_per_cpu - 1) / request_.bins_per_cpu;
  bins_.resize(std::size_t{request_.cpus} * request_.bins_per_cpu * timeline_classes);
  cpus_.resize(request_.cpus);
  for (const time_window& w : request_.windows) windows_.push_back({w, w.from_ns, 0, {}});
  if (!windows_.empty()) {
    most_a_window_ = std::max<std::size_t>(request_.max_stretches / windows_.size(), 1);
  }
}

void timeline_bins::on_start(unsigned cpu, std::int32_t pid) {
  if (cpu < cpus_.size()) begin(request_.from_ns, cpu, pid);
}

void timeline_bins::on_switch(std::uint64_t at_ns, unsigned cpu, std::int32_t previous,
                              leave_reason left, std::int32_t next) {
  if (cpu >= cpus_.size()) return;
  running& r = cpus_[cpu];
  if (!r.known && previous != 0) begin(request_.from_ns, cpu, previous);
  if (left == leave_reason::preempted) r.stretch.why = r.reason;
  r.reason.reset();
  end(at_ns, cpu, left, next);
  // A wake-up of a task that runs begins no wait.
  if (previous != 0) {
    const bool waits = left == leave_reason::preempted || left == leave_reason::yielded;
    waits_[previous] = {at_ns, 0, waits ? wait_cause::lost_cpu : wait_cause::none};
  }
  begin(at_ns, cpu, next);
}

void timeline_bins::on_reason(unsigned cpu, decision why) {
  if (cpu < cpus_.size()) cpus_[cpu].reason = why;
}

void timeline_bins::on_reading(unsigned cpu, std::optional<std::int64_t> lag,
                               std::optional<std::int64_t> to_deadline) {
  if (cpu >= cpus_.size()) return;
  cpus_[cpu].stretch.lag = lag;
  cpus_[cpu].stretch.to_deadline = to_deadline;
}

void timeline_bins::on_wakeup(std::uint64_t at_ns, std::int32_t pid, std::int32_t waker) {
  waiting& w = waits_[pid];
  if (w.cause == wait_cause::none) w = {at_ns, waker, wait_cause::woken};
}

void timeline_bins::finish(std::uint64_t at_ns) {
  ended_ns_ = std::min(at_ns, request_.to_ns);
  for (unsigned cpu = 0; cpu < cpus_.size(); ++cpu) end(ended_ns_, cpu, leave_reason::cut, 0);
}

void timeline_bins::begin(std::uint64_t at_ns, unsigned cpu, std::int32_t pid) {
  running& r = cpus_[cpu];
  r.busy = pid != 0;
  r.known = true;
  r.stretch = {};
  if (pid == 0) return;
  r.stretch.from_ns = at_ns;
  r.stretch.pid = pid;
  r.stretch.cpu = static_cast<std::uint16_t>(cpu);
  waiting& w = waits_[pid];
  if (w.cause != wait_cause::none) {
    r.stretch.waited_ns = at_ns - std::min(at_ns, w.since_ns);
    r.stretch.wait = w.cause;
    r.stretch.waker = w.waker;
  }
  w = {};
}

void timeline_bins::end(std::uint64_t at_ns, unsigned cpu, leave_reason left, std::int32_t next) {
  running& r = cpus_[cpu];
  if (!r.busy) return;
  r.busy = false;
  cpu_stretch& s = r.stretch;
  s.left = at_ns > request_.to_ns ? leave_reason::cut : left;
  s.next = at_ns > request_.to_ns ? 0 : next;
  if (s.left == leave_reason::cut) s.why.reset();
  s.to_ns = std::min(at_ns, request_.to_ns);
  s.from_ns = std::max(s.from_ns, request_.from_ns);
  if (s.from_ns >= request_.to_ns || s.to_ns <= request_.from_ns) return;
  ++all_stretches_;
  add_to_bins(s);
  keep(s);
}

void timeline_bins::add_to_bins(const cpu_stretch& s) {
  const auto known = request_.class_of.find(s.pid);
  const unsigned which = known == request_.class_of.end()
                             ? timeline_classes - 1
                             : std::min(known->second, timeline_classes - 1);
  const std::uint64_t from = s.from_ns - request_.from_ns;
  const std::uint64_t to = s.to_ns - request_.from_ns;
  const std::size_t row = std::size_t{s.cpu} * request_.bins_per_cpu;
  for (std::uint64_t bin = from / bin_ns_; bin * bin_ns_ < to; ++bin) {
    const std::uint64_t begin = std::max(from, bin * bin_ns_);
    const std::uint64_t end = std::min(to, (bin + 1) * bin_ns_);
    bins_[(row + bin) * timeline_classes + which] += end - begin;
  }
}

void timeline_bins::keep(const cpu_stretch& s) {
  const std::uint64_t seen_from = s.from_ns - std::min(s.from_ns, s.waited_ns);
  for (timeline_window& w : windows_) {
    if (w.span.to_ns <= seen_from || w.span.from_ns >= s.to_ns) continue;
    w.stretches.push_back(s);
    if (w.stretches.size() <= most_a_window_) continue;
    w.complete_from_ns = std::max(w.complete_from_ns, w.stretches.front().to_ns);
    w.stretches.pop_front();
    ++w.dropped;
  }
}

std::uint64_t timeline_bins::busy_ns(unsigned cpu, unsigned bin, unsigned which) const {
  return bins_[(std::size_t{cpu} * request_.bins_per_cpu + bin) * timeline_classes + which];
}

bool timeline_bins::all_detail_kept() const noexcept {
  return std::all_of(windows_.begin(), windows_.end(),
                     [](const timeline_window& w) { return w.dropped == 0; });
}

}  // namespace vlag

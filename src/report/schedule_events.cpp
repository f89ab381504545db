// SPDX-License-Identifier: Apache-2.0
#include "report/schedule_events.hpp"

namespace vlag {
namespace {

using trace::event;
using trace::event_kind;

wakeup_kind kind_of(event_kind kind) {
  if (kind == event_kind::waking) return wakeup_kind::waking;
  return kind == event_kind::wakeup_new ? wakeup_kind::born : wakeup_kind::queued;
}

// An interrupt wakes in nobody's name. Where the recording does not say, the task is believed.
bool in_task_context(const event& e) {
  return e.context == trace::context_kind::task || e.context == trace::context_kind::unknown;
}

constexpr std::int32_t prio_of_nice_0 = 120;

}  // namespace

bool is_wakeup(event_kind kind) noexcept {
  return kind == event_kind::waking || kind == event_kind::wakeup || kind == event_kind::wakeup_new;
}

bool is_told(event_kind kind) noexcept {
  return kind == event_kind::sched_switch || kind == event_kind::migrate ||
         kind == event_kind::stat_runtime || is_wakeup(kind);
}

void event_telling::add(std::int32_t pid, std::uint32_t name) {
  numbers_.emplace(pid, static_cast<std::uint32_t>(names_.size()));
  names_.push_back(name);
}

std::uint32_t event_telling::number_of(std::int32_t pid) const {
  if (pid == 0) return no_task;
  const auto at = numbers_.find(pid);
  return at == numbers_.end() ? no_task : at->second;
}

std::uint32_t event_telling::known(std::int32_t pid, std::uint32_t name, std::int32_t prio,
                                   std::uint64_t at_ns) {
  if (pid == 0) return no_task;
  std::uint32_t number = number_of(pid);
  if (number == no_task) {
    number = static_cast<std::uint32_t>(names_.size());
    add(pid, name);
    sink_.on_task(number, {pid, std::string(strings_.text(name)), prio});
  } else if (name != 0 && names_[number] != name) {
    names_[number] = name;
    sink_.on_name(at_ns, number, strings_.text(name));
  }
  return number;
}

void event_telling::tell(const event& e) {
  if (!is_told(e.kind)) return;
  const std::uint64_t at_ns = e.time_ns - from_ns_;
  const std::uint32_t task = known(e.pid, e.comm, e.prio, at_ns);
  const unsigned to_cpu = e.target_cpu < 0 ? e.cpu : static_cast<unsigned>(e.target_cpu);
  if (e.kind == event_kind::sched_switch) {
    const std::uint32_t next = known(e.other_pid, e.other_comm, e.other_prio, at_ns);
    sink_.on_switch({at_ns, e.cpu, task, e.prev_state, e.prio, next, e.other_prio});
  } else if (task == no_task) {
    return;
  } else if (is_wakeup(e.kind)) {
    const std::uint32_t during = known(e.context_pid, 0, prio_of_nice_0, at_ns);
    const std::uint32_t waker = in_task_context(e) ? during : no_task;
    sink_.on_wakeup({at_ns, to_cpu, e.cpu, task, waker, kind_of(e.kind), during});
  } else if (e.kind == event_kind::migrate) {
    sink_.on_migrate({at_ns, task, static_cast<unsigned>(e.amount), to_cpu, e.cpu});
  } else {
    sink_.on_runtime(at_ns, task, e.amount);
  }
}

}  // namespace vlag

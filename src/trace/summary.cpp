// SPDX-License-Identifier: Apache-2.0
#include "trace/summary.hpp"

#include <algorithm>

namespace vlag::trace {

void trace_summary::visit(const event& entry) {
  first_ns_ = events_ == 0 ? entry.time_ns : std::min(first_ns_, entry.time_ns);
  last_ns_ = std::max(last_ns_, entry.time_ns);
  ++events_;
  ++by_kind_[static_cast<std::size_t>(entry.kind)];
  switch (entry.kind) {
    case event_kind::marker:
    case event_kind::cpu_frequency:
    case event_kind::cpu_idle:
      break;
    case event_kind::sched_switch:
    case event_kind::fork:
      see(entry.other_pid);
      see(entry.pid);
      break;
    default:
      see(entry.pid);
      break;
  }
}

void trace_summary::see(std::int32_t pid) {
  if (pid != 0 && pids_.size() < most_tasks) pids_.insert(pid);
}

}  // namespace vlag::trace

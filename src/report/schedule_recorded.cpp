// SPDX-License-Identifier: Apache-2.0
//
// A recording told as a schedule: one pass to learn the tasks and who ran at the beginning, one to
// tell the events.
#include "report/schedule.hpp"
#include "report/schedule_events.hpp"

#include <map>
#include <optional>

namespace vlag {
namespace {

using trace::event;
using trace::event_kind;

class recorded_telling {
 public:
  recorded_telling(const trace::recording& recording, std::uint64_t from_ns, std::uint64_t to_ns,
                   schedule_sink& sink)
      : recording_(recording),
        from_ns_(from_ns),
        to_ns_(to_ns),
        sink_(sink),
        events_(recording.strings, from_ns, sink),
        running_(recording.cpus) {}

  void tell() {
    learn();
    sink_.begin(info());
    for (unsigned cpu = 0; cpu < running_.size(); ++cpu) {
      if (running_[cpu].value_or(0) != 0) sink_.on_start(cpu, events_.number_of(*running_[cpu]));
    }
    for (const event& e : recording_.events) {
      if (e.time_ns < from_ns_ || e.cpu >= running_.size()) continue;
      if (e.time_ns > to_ns_) break;
      events_.tell(e);
    }
    sink_.end(to_ns_ - from_ns_);
  }

 private:
  struct seen_task {
    std::uint32_t name = 0;
    std::int32_t prio = 120;
    bool in_window = false;
  };

  void learn() {
    std::vector<bool> seen(running_.size());
    for (const event& e : recording_.events) {
      if (e.time_ns > to_ns_) break;
      const bool inside = e.time_ns >= from_ns_;
      has_waking_ |= e.kind == event_kind::waking;
      if (!is_told(e.kind) || e.cpu >= running_.size()) continue;
      const bool tells_prio = e.kind != event_kind::stat_runtime;
      see(e.pid, tells_prio ? e.comm : 0, e.prio, inside);
      if (e.kind == event_kind::sched_switch) {
        see(e.other_pid, e.other_comm, e.other_prio, inside);
        if (!inside) {
          running_[e.cpu] = e.other_pid;
        } else if (!seen[e.cpu]) {
          running_[e.cpu] = e.pid;
        }
        if (inside) seen[e.cpu] = true;
      } else if (is_wakeup(e.kind)) {
        see(e.context_pid, 0, 0, inside);
      }
    }
    for (const std::optional<std::int32_t>& pid : running_) {
      if (pid.value_or(0) != 0) see(*pid, 0, 0, true);
    }
  }

  void see(std::int32_t pid, std::uint32_t name, std::int32_t prio, bool inside) {
    if (pid == 0) return;
    seen_task& t = tasks_[pid];
    if (name != 0 && (t.name == 0 || !t.in_window)) {
      t.name = name;
      t.prio = prio;
    }
    t.in_window = t.in_window || inside;
  }

  [[nodiscard]] schedule_info info() {
    schedule_info result;
    result.label = "recorded";
    result.cpus = recording_.cpus;
    result.span_ns = to_ns_ - from_ns_;
    result.clock_at_start_ns = from_ns_;
    result.wait_begins = has_waking_ ? wakeup_kind::waking : wakeup_kind::queued;
    for (const auto& [pid, t] : tasks_) {
      if (!t.in_window) continue;
      events_.add(pid, t.name);
      result.tasks.push_back({pid, std::string(recording_.strings.text(t.name)), t.prio});
    }
    return result;
  }

  const trace::recording& recording_;
  std::uint64_t from_ns_;
  std::uint64_t to_ns_;
  schedule_sink& sink_;
  event_telling events_;
  std::vector<std::optional<std::int32_t>> running_;  // pid on each CPU where the window begins
  std::map<std::int32_t, seen_task> tasks_;           // by pid
  bool has_waking_ = false;
};

}  // namespace

void tell_recording(const trace::recording& recording, std::uint64_t from_ns, std::uint64_t to_ns,
                    schedule_sink& sink) {
  recorded_telling(recording, from_ns, to_ns, sink).tell();
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// A recording told as a schedule: one pass to learn the tasks and who ran at the beginning, one to
// tell the events.
#include "report/schedule.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

namespace vlag {
namespace {

using trace::event;
using trace::event_kind;

wakeup_kind kind_of(event_kind kind) {
  if (kind == event_kind::waking) return wakeup_kind::waking;
  return kind == event_kind::wakeup_new ? wakeup_kind::born : wakeup_kind::queued;
}

bool is_wakeup(event_kind kind) {
  return kind == event_kind::waking || kind == event_kind::wakeup || kind == event_kind::wakeup_new;
}

bool is_told(event_kind kind) {
  return kind == event_kind::sched_switch || kind == event_kind::migrate || is_wakeup(kind);
}

// An interrupt wakes in nobody's name. Where the recording does not say, the task is believed.
bool in_task_context(const event& e) {
  return e.context == trace::context_kind::task || e.context == trace::context_kind::unknown;
}

class recorded_telling {
 public:
  recorded_telling(const trace::recording& recording, std::uint64_t from_ns, std::uint64_t to_ns,
                   schedule_sink& sink)
      : recording_(recording),
        from_ns_(from_ns),
        to_ns_(to_ns),
        sink_(sink),
        running_(recording.cpus) {}

  void tell() {
    learn();
    number_tasks();
    sink_.begin(info());
    for (unsigned cpu = 0; cpu < running_.size(); ++cpu) {
      if (running_[cpu].value_or(0) != 0) sink_.on_start(cpu, number_of(*running_[cpu]));
    }
    for (const event& e : recording_.events) {
      if (e.time_ns < from_ns_) continue;
      if (e.time_ns > to_ns_) break;
      tell_event(e);
    }
    sink_.end(to_ns_ - from_ns_);
  }

 private:
  struct seen_task {
    std::uint32_t name = 0;
    std::int32_t prio = 0;
    bool in_window = false;
  };

  void learn() {
    std::vector<bool> seen(running_.size());
    for (const event& e : recording_.events) {
      if (e.time_ns > to_ns_) break;
      const bool inside = e.time_ns >= from_ns_;
      has_waking_ |= e.kind == event_kind::waking;
      if (!is_told(e.kind) || e.cpu >= running_.size()) continue;
      see(e.pid, e.comm, e.prio, inside);
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

  void number_tasks() {
    for (const auto& [pid, t] : tasks_) {
      if (!t.in_window) continue;
      numbers_.emplace(pid, static_cast<std::uint32_t>(names_.size()));
      names_.push_back(t.name);
    }
    cpu_of_task_.resize(names_.size());
  }

  [[nodiscard]] schedule_info info() const {
    schedule_info result;
    result.label = "recorded";
    result.cpus = recording_.cpus;
    result.span_ns = to_ns_ - from_ns_;
    result.clock_at_start_ns = from_ns_;
    result.wait_begins = has_waking_ ? wakeup_kind::waking : wakeup_kind::queued;
    for (const auto& [pid, t] : tasks_) {
      if (!t.in_window) continue;
      result.tasks.push_back(
          {pid, std::string(recording_.strings.text(t.name)), t.name == 0 ? 120 : t.prio});
    }
    return result;
  }

  [[nodiscard]] std::uint32_t number_of(std::int32_t pid) const {
    if (pid == 0) return no_task;
    const auto at = numbers_.find(pid);
    return at == numbers_.end() ? no_task : at->second;
  }

  std::uint32_t named(const event& e, std::int32_t pid, std::uint32_t name) {
    const std::uint32_t number = number_of(pid);
    if (number != no_task && name != 0 && names_[number] != name) {
      names_[number] = name;
      sink_.on_name(e.time_ns - from_ns_, number, recording_.strings.text(name));
    }
    return number;
  }

  void tell_event(const event& e) {
    const std::uint64_t at_ns = e.time_ns - from_ns_;
    if (!is_told(e.kind) || e.cpu >= running_.size()) return;
    if (e.kind == event_kind::sched_switch) {
      const std::uint32_t previous = named(e, e.pid, e.comm);
      const std::uint32_t next = named(e, e.other_pid, e.other_comm);
      put_on(next, e.cpu);
      sink_.on_switch({at_ns, e.cpu, previous, e.prev_state, e.prio, next, e.other_prio});
    } else if (is_wakeup(e.kind)) {
      const unsigned cpu = e.target_cpu < 0 ? e.cpu : static_cast<unsigned>(e.target_cpu);
      const std::uint32_t during = number_of(e.context_pid);
      const std::uint32_t waker = in_task_context(e) ? during : no_task;
      const std::uint32_t woken = named(e, e.pid, e.comm);
      if (e.kind != event_kind::waking) put_on(woken, cpu);
      sink_.on_wakeup({at_ns, cpu, e.cpu, woken, waker, kind_of(e.kind), during});
    } else {
      tell_migration(e, at_ns);
    }
  }

  void tell_migration(const event& e, std::uint64_t at_ns) {
    const std::uint32_t task = named(e, e.pid, e.comm);
    const unsigned to = e.target_cpu < 0 ? e.cpu : static_cast<unsigned>(e.target_cpu);
    if (task == no_task) return;
    const unsigned from = cpu_of_task_[task].value_or(e.cpu);
    put_on(task, to);
    sink_.on_migrate({at_ns, task, from, to, e.cpu});
  }

  void put_on(std::uint32_t task, unsigned cpu) {
    if (task != no_task) cpu_of_task_[task] = cpu;
  }

  const trace::recording& recording_;
  std::uint64_t from_ns_;
  std::uint64_t to_ns_;
  schedule_sink& sink_;
  std::vector<std::optional<std::int32_t>> running_;  // pid on each CPU where the window begins
  std::map<std::int32_t, seen_task> tasks_;           // by pid
  std::unordered_map<std::int32_t, std::uint32_t> numbers_;  // looked up only
  std::vector<std::uint32_t> names_;                         // in force, by number
  std::vector<std::optional<unsigned>> cpu_of_task_;         // last seen on or put on
  bool has_waking_ = false;
};

}  // namespace

void tell_recording(const trace::recording& recording, std::uint64_t from_ns, std::uint64_t to_ns,
                    schedule_sink& sink) {
  recorded_telling(recording, from_ns, to_ns, sink).tell();
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// The common record of a scheduler event, whatever format it was read from. Knows no other layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace vlag::trace {

enum class event_kind : std::uint8_t {
  sched_switch,
  waking,        // sched_waking: in the waker's context
  wakeup,        // sched_wakeup: the task is on the queue
  wakeup_new,    // sched_wakeup_new: a new task is on the queue
  fork,          // sched_process_fork
  exit,          // sched_process_exit
  migrate,       // sched_migrate_task
  marker,        // a text written to trace_marker
  exec,          // sched_process_exec
  process_free,  // sched_process_free: the task's last remains are gone
  stat_runtime,  // sched_stat_runtime: CPU time used since the last one
  stat_wait,     // sched_stat_wait: on the queue without running
  stat_sleep,    // sched_stat_sleep: interruptible
  stat_iowait,   // sched_stat_iowait: blocked on input or output
  stat_blocked,  // sched_stat_blocked: uninterruptible
  cpu_frequency,
  cpu_idle,
};
inline constexpr std::size_t event_kinds = 17;

// As the kernel names the event: "sched_switch"; "tracing_mark_write" for a marker.
[[nodiscard]] std::string_view kernel_name(event_kind kind) noexcept;

// Why a task left the CPU, or 'other'. The letter is the kernel's (R S D T t X Z P I K W).
struct switch_state {
  char letter = 'R';
  bool preempted = false;  // the kernel's '+': preempted in kernel mode
  [[nodiscard]] bool runnable() const noexcept { return letter == 'R'; }
};

// Where the event was written: what the CPU was doing (ftrace's flag columns).
enum class context_kind : std::uint8_t { task, softirq, hardirq, nmi, unknown };

// cpu_idle's state when the CPU stops being idle.
inline constexpr std::uint64_t leaves_idle = 0xffff'ffff;

// 72 bytes; texts are indices into the recording's string table.
struct event {
  std::uint64_t time_ns = 0;
  std::uint64_t where = 0;  // line number (text) or byte offset, for messages
  event_kind kind = event_kind::sched_switch;
  context_kind context = context_kind::unknown;
  bool need_resched = false;     // a reschedule was asked for at the event (flags N n p L b B l)
  switch_state prev_state;       // sched_switch
  std::uint16_t cpu = 0;         // CPU on which it was written
  std::int32_t context_pid = 0;  // task in whose context it was written; 0 idle
  // sched_switch: previous task; wake-ups, migrate, exit, stat_…: the task; fork: the child.
  std::int32_t pid = 0;
  std::int32_t prio = 0;  // kernel priority: 120 + nice, 99 - rt priority, -1 deadline
  std::uint32_t comm = 0;
  // sched_switch: next task; fork: the parent; exec: the pid before.
  std::int32_t other_pid = 0;
  std::int32_t other_prio = 0;
  std::uint32_t other_comm = 0;
  // wake-ups: target_cpu; migrate: destination; cpu_frequency, cpu_idle: the CPU meant.
  std::int32_t target_cpu = -1;
  std::uint32_t text = 0;  // marker; exec: the file
  // stat_…: ns; migrate: the CPU before; cpu_frequency: kHz; cpu_idle: the idle state.
  std::uint64_t amount = 0;
};

// Interned texts; index 0 is the empty text. Indices are given in order of first sight.
class string_table {
 public:
  string_table();
  string_table(const string_table& other);
  string_table& operator=(const string_table& other);
  string_table(string_table&&) noexcept = default;
  string_table& operator=(string_table&&) noexcept = default;
  ~string_table() = default;

  [[nodiscard]] std::uint32_t intern(std::string_view text);
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view text) const;
  [[nodiscard]] std::string_view text(std::uint32_t index) const;
  [[nodiscard]] std::size_t size() const noexcept { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint32_t> index_;  // never iterated
};

// Something a reader could not make sense of: counted by kind, the first few kept with their place.
struct anomaly {
  std::string kind;  // "out of order", "lost events", "malformed line"…
  std::uint64_t count = 0;
  std::vector<std::string> first;  // at most 5, each "line 12: …"
};

// Events of a kind that is not read, by name.
struct other_event {
  std::string name;
  std::uint64_t count = 0;
};

// What a recording says besides its events.
struct recording_info {
  std::string path;
  std::string format;  // "ftrace text", "perf.data"…
  string_table strings;
  std::vector<anomaly> anomalies;  // in order of first appearance
  // In order of first appearance, at most 64 names; further names are counted in the sum only.
  std::vector<other_event> others;
  std::uint64_t other_events = 0;  // of all names
  unsigned cpus = 1;               // 1 + highest CPU seen, as place or as target
  std::uint64_t lost_events = 0;
  std::uint64_t resolution_ns = 1000;  // of the timestamps: 1000 (us) or 1
  std::uint64_t lines = 0;             // of a text
  // Empty when the recording does not say.
  std::string kernel_release;  // "6.12.9"
  std::string clock;           // "perf", "monotonic"…
  std::string host;
};

// A recording in memory: events in ascending time (equal times in file order).
struct recording : recording_info {
  std::vector<event> events;
};

}  // namespace vlag::trace

// SPDX-License-Identifier: Apache-2.0
//
// Private to replay: reads a recording's events in order and writes task programs. The rules are in
// recorded_programs.hpp; recorded_programs.cpp follows the events, recorded_finish.cpp does what
// can only be done when all are known.
#pragma once

#include "trace/event.hpp"
#include "workload/recorded_period.hpp"
#include "workload/recorded_programs.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace vlag {

// Kernel priorities below are real-time: 99 minus the real-time priority.
inline constexpr std::int32_t lowest_fair_prio = 100;

// Whatever number a recording holds, within the range of its class.
[[nodiscard]] inline int nice_of(std::int32_t prio) {
  return std::clamp(prio, lowest_fair_prio, 120 + max_nice) - 120;
}

[[nodiscard]] inline bool is_real_time(sched_policy policy) {
  return policy == sched_policy::fifo || policy == sched_policy::round_robin;
}

enum class seen_state : std::uint8_t { unknown, running, runnable, blocked, gone };

// An edge of a segment that may turn out to be endless: where its operations are, and how long the
// waker had run since the target blocked.
struct edge {
  std::size_t wake_step;
  std::uint64_t since_block_ns;
  bool target_blocked_in_segment;
};

// A switch onto the CPU, and the CPU time consumed until then.
struct run_start {
  std::uint64_t at_ns;
  std::uint64_t consumed_ns;
};

struct traced_task {
  std::int32_t pid = 0;
  std::uint32_t index = 0;  // in the builder's list
  std::uint32_t name = 0;
  std::int32_t prio = 120;
  std::int32_t first_prio = 120;
  bool prio_known = false;  // from within the window
  seen_state state = seen_state::unknown;
  bool in_window = false;  // does something in it
  start_state start = start_state::blocked;
  std::uint64_t start_order_ns = 0;
  unsigned cpu = 0;
  unsigned first_cpu = 0;
  program steps;
  // Times of the recording.
  std::uint64_t run_start_ns = 0;  // since when unflushed work runs
  std::uint64_t switched_in_ns = 0;
  std::uint64_t blocked_ns = 0;
  std::uint64_t waiting_since_ns = 0;
  std::uint64_t consumed_ns = 0;   // CPU time in the window up to the last switch out
  std::uint64_t unflushed_ns = 0;  // work done but not yet an operation
  std::uint64_t segment_ns = 0;    // work of the present segment, flushed
  std::uint64_t longest_segment_ns = 0;
  std::uint64_t segment_began_ns = 0;
  std::uint64_t finished_ns = 0;
  bool wait_by_wakeup = false;
  bool wait_counts = false;
  std::vector<edge> segment_edges;
  std::vector<run_start> segment_runs;
  std::vector<external_wake> external_wakes;
  task_figures figures;
};

// Who runs on a CPU, as far as the recording was read.
struct traced_cpu {
  std::optional<std::uint32_t> current;  // in the builder's list
  bool seen = false;                     // else current is not known yet
};

// Of an attributes file's entries, which one says each thing: 1 + its place in the file, 0 none.
// Later entries go before earlier ones.
struct entry_choice {
  std::size_t nice = 0;
  std::size_t slice = 0;
  std::size_t latency_nice = 0;
  std::size_t clock_poll = 0;
  std::size_t policy = 0;
  std::size_t group = 0;
};

// All entries of the same pid or full name.
struct exact_entries {
  entry_choice choice;
  std::uint64_t count = 0;
  bool matched = false;
};

struct glob_entry {
  std::size_t entry = 0;  // place in the file
  bool matched = false;
};

class program_builder {
 public:
  program_builder(const trace::recording& recording, const recorded_attributes& attributes,
                  const replay_options& options)
      : recording_(recording), attributes_(attributes), options_(options) {}

  recorded_programs build();

 private:
  traced_task& task_of(std::int32_t pid);
  void name_task(traced_task& t, std::uint32_t comm, std::int32_t prio, std::uint64_t at_ns);
  void open_window();
  void begin_measuring();
  void on_switch(const trace::event& e);
  void switch_out(traced_task& t, const trace::event& e);
  void switch_in(traced_task& t, const trace::event& e);
  void found_running(traced_task& t, const trace::event& e);
  void lose_cpu(traced_task& t);
  void lose_cpu_to(unsigned cpu, const traced_task* other);
  void measure_run(traced_task& t, std::uint64_t until_ns);
  void on_wakeup(const trace::event& e);
  void on_new_task(const trace::event& e);
  void close_window();
  void close_task(traced_task& t);
  void flush_work(traced_task& t, std::uint64_t at_ns);
  [[nodiscard]] static std::uint64_t consumed_since(const traced_task& t, std::uint64_t since_ns,
                                                    std::uint64_t now_ns);
  void add_edge(traced_task& waker, std::uint32_t target_index, std::uint64_t at_ns);
  void add_external_sleep(traced_task& t, const trace::event& e);
  void make_endless(traced_task& t);
  void begin_segment(traced_task& t, std::uint64_t at_ns);
  [[nodiscard]] traced_task* running_waker(const trace::event& e);
  void index_attributes();
  void apply_attributes(const traced_task& t, task_setup& setup);
  void note_unmatched_attributes();
  void check_events(const recorded_programs& programs) const;
  [[nodiscard]] std::uint64_t tick_index(std::uint64_t at_ns) const;
  void note(const char* what) { ++anomalies_[what]; }
  void choose_periods();
  [[nodiscard]] task_setup setup_of(traced_task& t, const std::vector<std::uint32_t>& number);
  [[nodiscard]] recorded_programs finish();

  const trace::recording& recording_;
  const recorded_attributes& attributes_;
  const replay_options& options_;
  recorded_span span_;  // from which programs are built: the window and what leads up to it
  std::uint64_t measured_from_ns_ = 0;
  recorded_machine machine_;
  group_list groups_;
  std::deque<traced_task> tasks_;                           // references stay good while it grows
  std::unordered_map<std::int32_t, std::uint32_t> latest_;  // pid -> task; never iterated
  std::vector<traced_cpu> on_cpu_;
  std::vector<cpu_figures> cpus_;
  std::map<std::string, std::uint64_t> anomalies_;
  std::map<std::string_view, exact_entries> exact_attributes_;  // by name, or pid in digits
  std::vector<glob_entry> glob_attributes_;                     // in the file's order
  bool open_ = false;
  bool measuring_ = false;
};

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// Writes recordings by hand, one event a call, times in us; and shows programs as text.
#pragma once

#include "trace/event.hpp"
#include "workload/recorded_programs.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace vlag::test {

// Who makes a wake-up. Pid 0 is idle.
struct waker {
  trace::context_kind context = trace::context_kind::task;
  std::int32_t pid = 0;
};
inline constexpr waker timer{trace::context_kind::hardirq, 0};
inline constexpr waker tick_timer{trace::context_kind::softirq, 0};
[[nodiscard]] constexpr waker by(std::int32_t pid) { return {trace::context_kind::task, pid}; }

// A task is called "t" and its pid, and has nice 0, until told otherwise.
class recording_builder {
 public:
  recording_builder& on(unsigned cpu);  // the events that follow happen there; at first CPU 0
  recording_builder& name(std::int32_t pid, std::string name);
  recording_builder& prio(std::int32_t pid, std::int32_t prio);

  // The states are the kernel's letters: 'R' preempted, 'S' sleeps, 'X' is gone.
  recording_builder& run(std::uint64_t at_us, std::int32_t previous, char state, std::int32_t next);
  recording_builder& wake(std::uint64_t at_us, std::int32_t pid, waker by, int target_cpu = -1);
  recording_builder& start(std::uint64_t at_us, std::int32_t pid, waker by, int target_cpu = -1);
  recording_builder& mark(std::uint64_t at_us, std::string_view text);
  recording_builder& lost(std::uint64_t count);
  recording_builder& add(trace::event e);

  [[nodiscard]] const trace::recording& get() const { return out_; }

 private:
  void tell(std::int32_t pid, std::int32_t& prio, std::uint32_t& comm);

  trace::recording out_;
  std::map<std::int32_t, std::string> names_;
  std::map<std::int32_t, std::int32_t> prios_;
  unsigned cpu_ = 0;
};

[[nodiscard]] recorded_programs build(const recording_builder& recording,
                                      const replay_options& options = {},
                                      const recorded_attributes& attributes = {});

// The n-th task of that pid, from 0. Throws std::out_of_range.
[[nodiscard]] const task_setup& setup_of(const recorded_programs& programs, std::int32_t pid,
                                         std::size_t nth = 0);
[[nodiscard]] const task_figures& figures_of(const run_figures& run, std::int32_t pid,
                                             std::size_t nth = 0);

// "run 50us, wake t2, wait, milestone, run forever".
[[nodiscard]] std::string steps_of(const recorded_programs& programs, std::int32_t pid,
                                   std::size_t nth = 0);

// Of an anomaly; 0 when there is none.
[[nodiscard]] std::uint64_t count_of(const recorded_programs& programs, std::string_view what);

}  // namespace vlag::test

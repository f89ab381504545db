// SPDX-License-Identifier: Apache-2.0
//
// The log that rt-app writes for each of its threads: a line for each iteration of a phase that
// ended, in its format and by its arithmetic (whole us, cut off).
//
// Columns: number of the thread; loops done (perf); time in run and runtime, waiting for the CPU
// included (run); the iteration's length (period), begin, end, begin again since the program
// began (rel_st); how far the timer's period was from over (slack); what run, runtime
// (c_duration) and timer (c_period) ask for; how late timers woke it up (wu_lat), 0 where the last
// one was over. Simulated time begins at 0, so start and rel_st are equal.
#pragma once

#include "workload/rtapp_reader.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace vlag {

// What a loop of perf takes where the file's calibration is not a number.
inline constexpr std::uint64_t assumed_loop_ns = 100;
inline constexpr std::size_t max_rtapp_log_lines = std::size_t{1} << 22;  // of all threads

class rtapp_log final : public note_observer {
 public:
  // Of one run. Requires: read with notes; the workload outlives the log.
  explicit rtapp_log(const rtapp_workload& workload);

  // Throws input_error when there are too many lines.
  void on_note(std::uint64_t at_ns, std::uint32_t task, std::uint32_t what,
               std::uint64_t value) override;
  void on_timer(std::uint64_t at_ns, std::uint32_t task, std::uint64_t next_ns) override;
  void on_fork(std::uint32_t task) override;

  struct file {
    std::string name;  // "rt-app-TASK-INDEX.log", without folders
    std::string text;
  };
  // Of the threads that began, in the order of their numbers.
  [[nodiscard]] std::vector<file> files() const;

 private:
  struct line {
    std::uint64_t perf = 0;
    std::uint64_t run_us = 0;
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
    std::int64_t slack_us = 0;
    std::uint64_t asked_run_us = 0;
    std::uint64_t asked_period_us = 0;
    std::uint64_t late_us = 0;
  };
  struct thread {
    std::uint32_t number = 0;
    std::string name;
    line now;  // of the iteration under way
    std::uint64_t run_begin_ns = 0;
    std::uint64_t timer_ns = 0;
    bool timer_waits = false;
    std::vector<line> lines;
  };
  [[nodiscard]] std::string text_of(const thread& t) const;

  const rtapp_workload& workload_;
  std::uint64_t loop_ns_;
  std::vector<thread> threads_;                 // by task
  std::vector<std::uint32_t> begun_;            // tasks, by thread number
  std::map<std::string, std::uint32_t> forks_;  // of each name
  std::size_t lines_ = 0;
};

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// What a run gives: per task CPU time, waits and switches; per CPU busy time. A recording is
// measured with the same types, so that both stand in one table. All times in ns.
#pragma once

#include "machine/sched_counters.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace vlag {

// Durations in logarithmic buckets of at most 1 % relative error, in bounded memory: 8 bytes a
// bucket in use while those are few, 30 KB at most. Count, sum, maximum and minimum are exact.
class duration_histogram {
 public:
  void add(std::uint64_t duration_ns);
  // The maximum also remembers when it happened.
  void add(std::uint64_t duration_ns, std::uint64_t at_ns);
  void merge(const duration_histogram& other);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t sum_ns() const noexcept { return sum_; }
  [[nodiscard]] std::uint64_t mean_ns() const noexcept { return count_ == 0 ? 0 : sum_ / count_; }
  [[nodiscard]] std::uint64_t max_ns() const noexcept { return max_; }
  [[nodiscard]] std::uint64_t min_ns() const noexcept { return count_ == 0 ? 0 : min_; }
  [[nodiscard]] std::uint64_t max_at_ns() const noexcept { return max_at_; }
  // Of the durations, ns^2; for a standard error.
  [[nodiscard]] double variance() const noexcept;
  // The value at rank ceil(count * per_mille / 1000), within 1 %; 0 when empty, never above max.
  [[nodiscard]] std::uint64_t quantile_ns(unsigned per_mille) const noexcept;

  struct bucket {
    std::uint64_t low_ns;   // inclusive
    std::uint64_t high_ns;  // exclusive
    std::uint64_t count;
  };
  [[nodiscard]] std::vector<bucket> buckets() const;  // the non-empty ones, ascending

 private:
  void add_to(std::size_t index, std::uint64_t count);
  [[nodiscard]] bool listed() const noexcept;
  template <typename Visit>
  bool for_each_bucket(Visit&& visit) const;  // ascending, until it answers false

  // While few are in use, those alone: index << 52 | count, ascending. Otherwise the counts of all
  // buckets up to the highest in use.
  std::vector<std::uint64_t> cells_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t max_ = 0;
  std::uint64_t max_at_ = 0;
  std::uint64_t min_ = 0;
  double mean_ = 0;  // running mean and squared deviations, for variance() only
  double m2_ = 0;
};

struct task_figures {
  std::int32_t pid = 0;
  bool in_fair_class = true;
  std::uint16_t group = 0;  // 0: the root; else 1 + its place in run_figures::groups
  std::string name;
  std::uint64_t cpu_ns = 0;
  std::uint64_t switches_in = 0;
  std::uint64_t voluntary = 0;    // blocked or exited
  std::uint64_t involuntary = 0;  // lost the CPU while runnable (or yielded)
  std::uint64_t wakeups = 0;
  std::uint64_t sleep_ns = 0;
  duration_histogram wake_latency;     // from wake-up to running
  duration_histogram preempt_wait;     // from losing the CPU to running again
  std::uint64_t max_wait_from_ns = 0;  // the longest of both: when it began and ended
  std::uint64_t max_wait_to_ns = 0;

  // A wait that is still under way at the end of the span. It counts, with the length that it has
  // so far, where it is longer than each that ended: a task that starves must not look like one
  // that never waits.
  void add_open_wait(std::uint64_t from_ns, std::uint64_t to_ns, bool began_by_wakeup);
};

// What perf sched calls delay: every wait for a CPU, after a wake-up or after losing it.
[[nodiscard]] duration_histogram delay_of(const task_figures& task);

// Adds a task's figures to a sum (pid and name stay).
void add_figures(task_figures& sum, const task_figures& task);

// A task group, with everything in the groups below it.
struct group_figures {
  std::string path;  // "/a/b"
  std::uint64_t cpu_ns = 0;
  std::uint64_t switches_in = 0;
  duration_histogram wake_latency;
  duration_histogram preempt_wait;
  // Of the group's own bandwidth, as cpu.stat counts them; throttled time of all CPUs together.
  std::uint64_t nr_periods = 0;
  std::uint64_t nr_throttled = 0;
  std::uint64_t throttled_ns = 0;
};

// Averages of load tracking (pelt.hpp), as of their last update.
struct load_figures {
  std::uint64_t load = 0;
  std::uint64_t runnable = 0;
  std::uint64_t util = 0;  // 1024: always runs
  std::uint64_t util_est = 0;
};

struct cpu_figures {
  std::uint64_t busy_ns = 0;
  std::uint64_t idle_ns = 0;
  std::uint64_t switches = 0;
  std::uint64_t ticks = 0;
};

struct task_exit {
  std::int32_t pid = 0;
  std::uint64_t at_ns = 0;
};

// One column of the comparison.
struct run_figures {
  std::string label;          // "recorded", "linux-6.12,frame.slice=0.1ms"
  std::uint64_t from_ns = 0;  // the span the figures are over
  std::uint64_t to_ns = 0;
  std::vector<task_figures> tasks;    // in ascending pid
  std::vector<group_figures> groups;  // parents before their children; without the root
  std::vector<cpu_figures> cpus;
  std::vector<task_exit> exits;          // in ascending pid
  std::vector<sched_counters> counters;  // one a CPU, when they were asked for
  // Where the machine tracks load, else empty: of each task in tasks, and of each CPU's queue.
  std::vector<load_figures> task_loads;
  std::vector<load_figures> cpu_loads;
  // When all recorded work was done, ns after from_ns; 0: not within the run.
  std::uint64_t work_done_ns = 0;
  std::vector<std::pair<std::string, std::uint64_t>> anomalies;  // name, count
};

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// Load tracking: how much of the recent past something was runnable, and how much of it it ran. The
// averages of one thing, the clock that they are kept on, and the estimate that survives a sleep.
// Queues, attaching and groups are in pelt_queue.hpp.
//
// The mathematics. Time is cut into periods of 1024 * 1024 ns. With u_i the part of the i-th last
// period (in units of 1024 ns, so 0..1024) in which the thing was active, its sum is
//
//   u_0 + u_1 y + u_2 y^2 + ...,   y^32 = 1/2:
//
// what happened 32 periods (33.6 ms) ago counts half. Always active comes, with every step rounded
// down, to load_average_max = 47742. While a period is under way its first part counts in full, so
// the most that a sum can reach is load_average_min + period_contrib, which is what a sum is
// divided by to give an average. (The scaled sums below lose less by rounding and may come closer
// to the true limit, 47788.4 * 1024: an average may be a thousandth too large.)
//
// Three such sums are kept side by side. load counts while runnable, once (the weight comes in when
// the average is taken) or, for a queue, times the weight queued. runnable counts how many are
// runnable, util whether one runs; both scaled by 1024, so a task that always runs has util 1024.
//
// Example: always running since 5 s: load_sum 47742 at the end of a period, util_avg 1023 or 1024.
// Idle from there on, util_avg reads 511 or 512 after 32 periods.
//
// Sums change with every update of at least 1024 ns, averages only when a period ends. Every step
// rounds down, so many small steps decay more than one large one. Sums and products wrap as written
// here: util_sum is 32 bits wide and sums are cut to 32 bits where something is taken out
// (pelt_queue.hpp). Nothing is lost by that as long as the small weights of a queue add up to less
// than 2^32 / 47789 = 89873, a little more than one task of nice -20; beyond, the results are the
// reference's.
//
// Source: load tracking of Linux 6.12 (6.12.117). Not thread safe. Allocates nothing; integers
// only.
#pragma once

#include "vlag/weight.hpp"

#include <cstdint>

namespace vlag {

// The sum of something always active, at the end of a period and at its start.
inline constexpr std::uint64_t load_average_max = 47742;
inline constexpr std::uint64_t load_average_min = load_average_max - 1024;

// Capacity of the largest CPU at its highest frequency, and util of something that always runs.
inline constexpr std::uint32_t full_capacity = 1024;

// The averages of one entity, queue or other source of load; one cache line.
struct load_average {
  std::uint64_t last_update_ns = 0;  // on the load clock, whole 1024 ns. 0: not attached to a queue
  std::uint64_t load_sum = 0;
  std::uint64_t runnable_sum = 0;
  std::uint32_t util_sum = 0;
  std::uint32_t period_contrib = 0;  // units of 1024 ns into the present period: 0..1023
  std::uint64_t load_avg = 0;        // in small weight
  std::uint64_t runnable_avg = 0;    // 1024 for each that is always runnable
  std::uint64_t util_avg = 0;        // 0..1024, and a little above while attaching
  // Task: estimated utilisation, with estimate_unchanged. Root queue: the sum of its queued tasks'.
  std::uint32_t util_est = 0;

  // What a sum is divided by to give an average: the most that one could have reached.
  [[nodiscard]] constexpr std::uint64_t divider() const noexcept {
    return load_average_min + period_contrib;
  }
};

static_assert(sizeof(load_average) == 64);

// value after n periods without load_activity: value * y^n, rounded down twice; 0 for n > 2016.
// O(1), a multiplication. A multiple of 32 periods still takes one off what halving would leave.
[[nodiscard]] std::uint64_t decayed_sum(std::uint64_t value, std::uint64_t periods) noexcept;

// What was active since the last update. runnable and running count nothing while load is 0.
struct load_activity {
  std::uint64_t load = 0;
  std::uint64_t runnable = 0;
  bool running = false;
};

// Brings the sums up to now. True: a period ended (their count, cut to 32 bits, is not 0), so the
// averages are due. A clock that went backwards only moves the time stamp. O(1).
bool accumulate_load(load_average& a, std::uint64_t now_ns, const load_activity& since) noexcept;

// Takes the averages from the sums; small_weight scales load_avg.
void take_averages(load_average& a, std::uint64_t small_weight) noexcept;

// How an entity was since its last update.
struct entity_activity {
  bool queued = false;         // delayed counts as queued
  std::uint64_t runnable = 0;  // 0 while delayed; else a task: 1 while queued, a group: how many
  bool running = false;        // the running entity of its queue
};

// The two of above for each kind of thing. True: the averages changed.
bool update_entity_average(load_average& a, std::uint64_t now_ns, std::uint64_t full_weight,
                           const entity_activity& since) noexcept;
// An entity off its queue, told apart because its estimate stays marked as unchanged.
bool update_blocked_average(load_average& a, std::uint64_t now_ns,
                            std::uint64_t full_weight) noexcept;
// A queue: full_load is the sum of full weights. The small weight of the sum counts, not the sum of
// small weights.
bool update_queue_average(load_average& a, std::uint64_t now_ns, std::uint64_t full_load,
                          std::uint64_t runnable, bool running) noexcept;
// A real-time or deadline class as a whole.
bool update_class_average(load_average& a, std::uint64_t now_ns, bool running) noexcept;
// Capacity taken away by the hardware; on the CPU's clock of task time, not on the load clock.
bool update_pressure_average(load_average& a, std::uint64_t clock_task_ns,
                             std::uint64_t capacity) noexcept;

// One CPU's clocks. The load clock passes at the CPU's speed, so that work counts the same on a
// slow CPU; it catches up while the CPU is idle, when nothing can be charged the difference.
class load_clock {
 public:
  explicit load_clock(std::uint64_t start_ns) noexcept : task_ns_(start_ns), load_ns_(start_ns) {}

  [[nodiscard]] std::uint64_t task_ns() const noexcept { return task_ns_; }
  [[nodiscard]] std::uint64_t load_ns() const noexcept { return load_ns_; }
  [[nodiscard]] std::uint64_t lost_idle_ns() const noexcept { return lost_idle_ns_; }
  // What the averages of the CPU's queues are brought up to.
  [[nodiscard]] std::uint64_t now_ns() const noexcept { return load_ns_ - lost_idle_ns_; }
  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::uint32_t frequency() const noexcept { return frequency_; }

  // capacity: of this CPU at its highest frequency; frequency: the present one as part of the
  // highest. Requires: both 1..1024.
  void set_scale(std::uint32_t capacity, std::uint32_t frequency) noexcept;

  // ns pass. Interrupt time is left out by who calls.
  void advance_busy(std::uint64_t ns) noexcept;
  void advance_idle(std::uint64_t ns) noexcept;
  // The CPU's last task left. utils: util_sum of the root queue and of the classes above. When they
  // say that the CPU had no idle time, the catching up is time lost to the averages.
  void go_idle(std::uint32_t util_sums) noexcept;

 private:
  std::uint64_t task_ns_;
  std::uint64_t load_ns_;
  std::uint64_t lost_idle_ns_ = 0;
  std::uint32_t capacity_ = full_capacity;
  std::uint32_t frequency_ = full_capacity;
};

// Time spent in interrupts, which comes in pieces: running_ns of the time up to now. Answers how
// many of its two steps (before, in the interrupt) ended a period; the averages change unless 0.
unsigned update_interrupt_average(load_average& a, std::uint64_t now_ns, std::uint64_t running_ns,
                                  const load_clock& scale) noexcept;

// ---- The estimate of a task's utilisation, which does not decay while it sleeps.

// Bit of a task's util_est: no period ended since the last sample, so the next sleep takes none.
inline constexpr std::uint32_t estimate_unchanged = std::uint32_t{1} << 31;

// Changes below it are noise: 1 % of the full capacity.
inline constexpr std::uint32_t estimate_margin = 10;

[[nodiscard]] constexpr std::uint32_t estimated_util(const load_average& task) noexcept {
  return task.util_est & ~estimate_unchanged;
}
// The task begins, or ends, to count in its CPU's estimate. A delayed task does not count.
void add_estimate(load_average& root, const load_average& task) noexcept;
void remove_estimate(load_average& root, const load_average& task) noexcept;
// The task goes to sleep, before its averages are brought up to now: the estimate rises to util_avg
// at once and falls by a quarter of the distance. capacity: of its CPU.
void sample_estimate(load_average& task, std::uint32_t capacity) noexcept;

}  // namespace vlag

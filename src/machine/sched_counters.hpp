// SPDX-License-Identifier: Apache-2.0
//
// What the scheduler of one CPU did, under the names that people who compare schedulers use.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace vlag {

// Counts; wait_sum is ns.
struct sched_counters {
  std::uint64_t sched_count = 0;          // times somebody was chosen, or nobody
  std::uint64_t tick_check_preempts = 0;  // ticks that found others waiting beside a fair task
  std::uint64_t tick_preempts = 0;        // of those, asked for a switch
  std::uint64_t check_deadline = 0;       // looked whether the running request is used up
  std::uint64_t update_deadline = 0;      // it was: a new one begins
  std::uint64_t preempt_deadline = 0;     // and others waited: asked for a switch
  std::uint64_t wakeup_preempts = 0;      // a woken or new task asked for a switch
  std::uint64_t short_preempts = 0;       // a shorter request ended a slice protection
  std::uint64_t delayed = 0;              // blocked, but kept queued
  std::uint64_t delayed_requeued = 0;     // woken while so
  std::uint64_t delayed_completed = 0;    // left while so
  std::uint64_t yields = 0;
  std::uint64_t nvcsw = 0;              // switches from a task that blocked or exited
  std::uint64_t nivcsw = 0;             // from one that wanted to run on
  std::uint64_t migrations_wakeup = 0;  // tasks that came from another CPU, by when they did
  std::uint64_t migrations_fork = 0;
  std::uint64_t wait_sum = 0;  // waits for this CPU that ended
  std::uint64_t wait_count = 0;

  sched_counters& operator+=(const sched_counters& other) noexcept;
  sched_counters& operator-=(const sched_counters& other) noexcept;
};

struct sched_counter_info {
  std::string_view name;
  std::uint64_t sched_counters::* value;
  bool eevdf_only;  // CFS has no such thing
  bool is_time;     // ns
};

// All, in the order above.
[[nodiscard]] std::span<const sched_counter_info> all_sched_counters() noexcept;

}  // namespace vlag

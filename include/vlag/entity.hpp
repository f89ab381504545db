// SPDX-License-Identifier: Apache-2.0
//
// What the fair classes schedule: an entity (something with a weight on one queue) and a task (an
// entity with the attributes a user sets). The caller owns them; a class links them by address, so
// an entity must stay where it is from fork() to exit(); an owner that needs more derives from it.
// Not thread safe: an entity belongs to the class that schedules it.
#pragma once

#include "vlag/weight.hpp"

#include <cstdint>

namespace vlag {

class task_group;
struct group_part;

// Scheduling policies, with the numbers of the sched_setscheduler() system call.
enum class sched_policy : std::uint8_t {
  normal = 0,
  fifo = 1,
  round_robin = 2,
  batch = 3,
  idle = 5
};

// Times are unsigned 64-bit ns. Virtual times wrap; they are compared by the sign of their 64-bit
// difference and nothing may depend on where they start.
[[nodiscard]] constexpr std::int64_t signed_difference(std::uint64_t a, std::uint64_t b) noexcept {
  return static_cast<std::int64_t>(a - b);
}
[[nodiscard]] constexpr bool before(std::uint64_t a, std::uint64_t b) noexcept {
  return signed_difference(a, b) < 0;
}

// The hot part, read by every decision, fills the first cache line.
//
// Invariants, outside of a call into the class:
// 1. queued is false: the entity is in no sum and no timeline; vruntime is the one it left with.
// 2. queued is true: it is in the timeline, unless it is the running one, which is only in the sums
//    that say so.
// 3. sched_delayed implies queued: asleep, but kept to compete until its lag is worked off.
struct alignas(64) entity {
  std::uint64_t vruntime = 0;       // virtual ns of service received; wraps
  std::uint64_t deadline = 0;       // virtual deadline; relative to vruntime while rel_deadline
  std::uint64_t slice_ns = 0;       // request length, wall-clock ns
  load_weight weight;               // full weight and inverse
  std::uint64_t exec_start_ns = 0;  // clock of the last accounting or pick
  std::uint64_t sum_exec_ns = 0;    // CPU time consumed, ns
  std::uint32_t timeline_hook = 0;  // the timeline's own note on where the entity is
  bool queued = false;
  bool sched_delayed = false;
  bool custom_slice = false;  // slice_ns was asked for; otherwise it follows the base slice
  bool rel_deadline = false;

  // Read when an entity joins, leaves or takes the CPU.
  std::int64_t vlag = 0;                 // lag kept while off the queue, virtual ns
  std::uint64_t protected_deadline = 0;  // slice protection holds while it equals deadline
  std::uint64_t prev_sum_exec_ns = 0;    // sum_exec_ns when it last took the CPU
  group_part* parent = nullptr;          // the part of a group on whose queue it is (group.hpp)
  bool is_group = false;                 // a group_part, otherwise a task
};

static_assert(sizeof(entity) <= 128);

// A task: an entity with a scheduling policy and a nice value. Set the attributes before fork();
// afterwards only through the class.
struct task : entity {
  std::int8_t latency_nice = 0;
  bool latency_slice = false;  // custom_slice comes from latency_nice (attr.hpp)
  bool reset_on_fork = false;
  std::uint8_t rt_priority = 0;  // of FIFO and RR; 0 otherwise
  sched_policy policy = sched_policy::normal;
  std::int8_t static_nice = 0;  // what was last asked for; kept through SCHED_IDLE
  std::int8_t prio_nice = 0;    // what priority comparisons use
  std::uint32_t id = 0;         // for the owner; no decision reads it
  std::uint16_t util_min = 0;   // 0 .. 1024, for the owner's choice of a frequency
  std::uint16_t util_max = 1024;
  task_group* group = nullptr;  // set before fork(), then changed by move(); nullptr: the root
};

static_assert(sizeof(task) <= 128);

// Sets policy and nice, and the weight that follows from them.
// Requires: t is in no class; min_nice <= nice <= max_nice. (A real-time task gets the weight that
// it would have in the fair class.)
void set_initial_attributes(task& t, sched_policy policy, int nice) noexcept;

}  // namespace vlag

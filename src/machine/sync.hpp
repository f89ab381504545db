// SPDX-License-Identifier: Apache-2.0
//
// What tasks wait for each other with: mutexes, conditions, barriers, semaphores, and periodic
// timers. Plain data; the machine carries out the operations on it (machine_sync.cpp).
//
// Whoever is woken is the waiter of the highest real-time priority, the first come among equals;
// tasks of the fair class are all equal there, as in Linux.
#pragma once

#include "vlag/entity.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace vlag {

// In the order of arrival.
using waiter_list = std::vector<std::uint32_t>;

enum class mutex_kind : std::uint8_t {
  plain,     // released by whoever unlocks it; a woken waiter may find it taken again
  inherits,  // handed to the first waiter; its owner runs at the priority of the highest
             // real-time waiter; unlocking by another task does nothing
};

struct sync_mutex {
  static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
  mutex_kind kind = mutex_kind::plain;
  std::uint32_t owner = nobody;
  waiter_list waiters;
};

// A signal that comes while nobody waits is lost.
struct sync_condition {
  waiter_list waiters;
};

// The arrival that makes `users` lets all of them go on, and the next round begins.
struct sync_barrier {
  std::uint32_t users = 1;
  waiter_list waiters;
};

struct sync_semaphore {
  std::uint64_t count = 0;
  waiter_list waiters;
};

// The time at which the next period begins; shared by the tasks that use it.
struct sync_timer {
  bool used = false;
  std::uint64_t next_ns = 0;
};

// What a task needs to be known of for them.
struct sync_place {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t timer_origin_ns = 0;               // where timers begin that it is the first to use
  std::uint32_t blocking_mutex = none;             // number of the mutex that it waits for
  bool waits = false;                              // blocked on one of these objects
  sched_policy own_policy = sched_policy::normal;  // without what it inherits
  std::uint8_t own_rt_priority = 0;
};

struct sync_objects {
  std::vector<sync_place> of_task;
  std::vector<sync_mutex> mutexes;
  std::vector<sync_condition> conditions;
  std::vector<sync_barrier> barriers;
  std::vector<sync_semaphore> semaphores;
  std::vector<sync_timer> timers;
};

}  // namespace vlag

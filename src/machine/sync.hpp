// SPDX-License-Identifier: Apache-2.0
//
// What tasks wait for each other with: mutexes, conditions, barriers, semaphores, pipes, and
// periodic timers. Plain data; the machine carries out the operations on it (machine_sync.cpp,
// machine_pipes.cpp).
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

inline constexpr std::uint32_t pipe_page_bytes = 4096;
inline constexpr std::uint32_t default_pipe_bytes = 65'536;    // 16 pages, as in Linux
inline constexpr std::uint32_t largest_pipe_bytes = 1U << 20;  // pipe-max-size, likewise

// Bytes in pages, as in Linux: a write first fills up the last page where the odd part of it (what
// is more than whole pages) fits there in one piece, and takes fresh pages for the rest; a page is
// free again when all of it is read. So 640 messages of 100 bytes fill 65536 bytes: 40 a page.
//
// A write into an empty pipe wakes one reader, a read from a full one wakes one writer, whether or
// not that made room for it; one that had to wait wakes the next of its kind when it leaves bytes
// or room.
class sync_pipe {
 public:
  // Rounded up to whole pages; at least one, at most largest_pipe_bytes.
  explicit sync_pipe(std::uint32_t capacity_bytes);

  [[nodiscard]] bool empty() const noexcept { return used_ == 0; }
  [[nodiscard]] bool full() const noexcept { return used_ == pages_.size(); }
  // How many of them were written; may_fill_up: this is where the write begins.
  std::uint64_t put(std::uint64_t bytes, bool may_fill_up) noexcept;
  // How many of them were read.
  std::uint64_t take(std::uint64_t bytes) noexcept;

  waiter_list readers;
  waiter_list writers;

 private:
  struct page {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  std::vector<page> pages_;  // a ring
  std::size_t first_ = 0;
  std::size_t used_ = 0;
};

// The time at which the next period begins; shared by the tasks that use it.
struct sync_timer {
  bool used = false;
  std::uint64_t next_ns = 0;
};

// What a task needs to be known of for them.
struct sync_place {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t timer_origin_ns = 0;    // where timers begin that it is the first to use
  std::vector<std::uint32_t> held;      // mutexes of kind `inherits` that it owns
  std::uint32_t blocking_mutex = none;  // number of the mutex that it waits for
  bool waits = false;                   // blocked on one of these objects
  bool call_begun = false;              // its operation is reached again to be carried out
  bool call_waited = false;             // of the pipe operation under way
  std::uint64_t call_left_bytes = 0;    // likewise
  std::uint64_t signals_taken = 0;
  sched_policy own_policy = sched_policy::normal;  // without what it inherits
  std::uint8_t own_rt_priority = 0;
};

struct sync_objects {
  std::vector<sync_place> of_task;
  std::vector<sync_mutex> mutexes;
  std::vector<sync_condition> conditions;
  std::vector<sync_barrier> barriers;
  std::vector<sync_semaphore> semaphores;
  std::vector<sync_pipe> pipes;
  std::vector<sync_timer> timers;
};

}  // namespace vlag

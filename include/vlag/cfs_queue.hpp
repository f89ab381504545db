// SPDX-License-Identifier: Apache-2.0
//
// One CFS run queue, one level, of Linux 6.1: accounting, min_vruntime, placement, the share of the
// period, buddies, pick. It knows entities only; what an operation on a task does with the queues
// of a tree is in cfs_class.hpp.
//
// Each entity runs in proportion to its weight because it is charged virtual time, wall-clock time
// x 1024 / weight, and the one charged least so far (smallest vruntime) runs next. Three rules bend
// that:
// - min_vruntime follows the smallest vruntime and never goes back. Who joins is placed relative to
//   it: new ones one share later, sleepers at most half a latency earlier.
// - An entity may use up its share before it gives way. With n entities of load L:
//     share(e) = period * weight(e) / L,   period = max(latency, n * min_granularity) from
//     nr_latency on.
//   Example: two of weight 1024 and a latency of 6 ms: 3 ms each (a few ns less, see slice()).
// - Three buddies: `next` and `last` are picked before the leftmost, `skip` is passed over, as long
// as
//   that is not unfair by more than the wakeup granularity.
//
// Invariants, outside of a call:
// 1. The running entity is in load() and nr_queued() while it is queued, never in waiting().
// 2. A buddy is queued. The running entity may be one: only set_running(), dequeue() and
//    drop_buddies() clear a slot, picking does not.
// 3. min_vruntime() never goes back (by signed difference).
//
// All vruntimes wrap; their order is defined while those waiting lie within 2^63 of each other.
// Not thread safe. Allocates nothing. O(1) where nothing else is said.
#pragma once

#include "vlag/entity.hpp"
#include "vlag/features.hpp"
#include "vlag/timeline.hpp"

#include <cstdint>

namespace vlag {

// SCHED_IDLE tasks (and groups marked idle) have smaller credits and their own granularity.
enum class entity_kind : std::uint8_t { ordinary, idle };

// What vruntime means once the entity has left: unchanged, or relative to min_vruntime because it
// comes back at once, maybe elsewhere.
enum class kept_vruntime : std::uint8_t { absolute, relative };

// Whether min_vruntime may move up when an entity leaves.
enum class floor_update : std::uint8_t { advance, hold };

// Buddy slots of a queue, as a set.
enum buddy_roles : unsigned {
  no_role = 0,
  role_next = 1U << 0,
  role_last = 1U << 1,
  role_skip = 1U << 2,
  all_roles = role_next | role_last | role_skip
};

// What a tick finds out about the running entity.
enum class share_state : std::uint8_t { not_used_up, used_up, ahead_of_others };

class cfs_queue {
 public:
  static constexpr std::uint64_t initial_min_vruntime = std::uint64_t{0} - (std::uint64_t{1} << 20);
  // A sleep that is longer (104 days) makes the old vruntime meaningless: signs may have flipped.
  static constexpr std::uint64_t longest_comparable_sleep_ns = std::uint64_t{1} << 53;

  // config may be changed by its owner between calls; it must outlive the queue, as storage must.
  cfs_queue(const cfs_config& config, timeline_storage& storage) noexcept;

  // Charges the running entity, queued or not, for the time since it was last charged.
  void account(std::uint64_t now_ns) noexcept {
    if (running_ != nullptr && before(running_->exec_start_ns, now_ns)) charge(now_ns);
  }

  // A new entity's vruntime, absolute, starting from the one that it has: its parent's, or 0. It
  // pays one share of slice_ns in advance. Requires: e is not queued.
  void place_new(entity& e, std::uint64_t slice_ns) const noexcept;
  // A sleeper's: its own or, if that is later, min_vruntime less the credit.
  void place_woken(entity& e, entity_kind kind, std::uint64_t now_ns) const noexcept;

  // Both account first. Require: e is not queued; a place in the storage is reserved. O(log n).
  void enqueue_woken(entity& e, entity_kind kind, std::uint64_t now_ns) noexcept;
  void enqueue_relative(entity& e, entity_kind kind, std::uint64_t now_ns) noexcept;
  // Accounts first. The running entity stays current() after it. Returns the buddy roles that e has
  // lost. Requires: e is queued. O(log n).
  buddy_roles dequeue(entity& e, entity_kind kind, kept_vruntime keep, floor_update floor,
                      std::uint64_t now_ns) noexcept;

  // The running entity, if any, goes back among the waiting ones, behind its equals; one that is
  // not queued any more just stops running. O(log n).
  void put_back(std::uint64_t now_ns) noexcept;
  // e runs and starts a new share; it loses its buddy roles, which are returned. Requires: nothing
  // runs. O(log n).
  buddy_roles set_running(entity& e, std::uint64_t now_ns) noexcept;

  // Who should run: the running entity if it may go on. Changes nothing; accounts nothing. nullptr:
  // the queue is empty. O(1); O(log n) when the skip buddy is first.
  [[nodiscard]] entity* pick() const noexcept;

  // The wall-clock share of e, ns; of an entity that is not queued, as if it were. One division. It
  // is up to some ns less than the exact quotient, also when e is alone: the inverse of the load is
  // rounded down to 32 bits (5'999'998 of 6'000'000 for one entity of nice 0).
  [[nodiscard]] std::uint64_t slice(const entity& e, entity_kind kind) const noexcept;
  // Its three steps, for a tree of queues: the period for n entities or tasks; e's part of a time
  // by its weight on this queue; the smallest share.
  [[nodiscard]] std::uint64_t period(std::uint64_t n) const noexcept;
  [[nodiscard]] std::uint64_t part_of(std::uint64_t time_ns, const entity& e) const noexcept;
  [[nodiscard]] std::uint64_t at_least_granularity(std::uint64_t slice_ns,
                                                   entity_kind kind) const noexcept;

  // Has the running entity had its share of slice_ns, or is it ahead of the first waiting one by
  // more than that? Requires: something runs and something waits.
  [[nodiscard]] share_state check_share(std::uint64_t slice_ns) const noexcept;

  // Is `behind` so far behind `ahead` that it should run first: by more than the wakeup
  // granularity, taken at the weight of `behind`?
  [[nodiscard]] bool far_behind(const entity& behind, const entity& ahead) const noexcept;

  // A weight of no nice level, in place; vruntime and order stay. Requires: full_weight != 0.
  void reweight(entity& e, std::uint64_t full_weight, std::uint64_t now_ns) noexcept;
  // A queued entity is of another kind from now on.
  void kind_changed(entity_kind to) noexcept { nr_idle_ += to == entity_kind::idle ? 1 : 0U - 1U; }

  // e.slice_ns has changed, which only the timeline's bounds notice. Requires: e waits.
  void slice_changed(entity& e) noexcept { waiting_.slice_changed(e, e.vruntime); }

  // Require: e is queued.
  void set_next(entity& e) noexcept { next_ = &e; }
  void set_last(entity& e) noexcept { last_ = &e; }
  void set_skip(entity& e) noexcept { skip_ = &e; }
  // Takes e out of the slots that are asked for; returns those that it was in.
  buddy_roles drop_buddies(const entity& e, buddy_roles from = all_roles) noexcept {
    const bool buddy = next_ == &e || last_ == &e || skip_ == &e;
    return buddy ? drop_roles(e, from) : no_role;
  }

  // What runs; stays after dequeue() until put_back().
  [[nodiscard]] entity* current() const noexcept { return running_; }
  [[nodiscard]] const entity* next_buddy() const noexcept { return next_; }
  [[nodiscard]] const entity* last_buddy() const noexcept { return last_; }
  [[nodiscard]] const entity* skip_buddy() const noexcept { return skip_; }
  [[nodiscard]] std::uint32_t nr_queued() const noexcept { return nr_queued_; }
  [[nodiscard]] std::uint32_t nr_idle() const noexcept { return nr_idle_; }
  [[nodiscard]] std::uint64_t load() const noexcept { return load_; }  // sum of full weights
  [[nodiscard]] std::uint64_t min_vruntime() const noexcept { return min_vruntime_; }
  [[nodiscard]] const timeline& waiting() const noexcept { return waiting_; }
  // Times at which load() wrapped: shares are meaningless then.
  [[nodiscard]] std::uint64_t anomalies() const noexcept { return anomalies_; }

  // Requires: the queue is empty.
  void start_at(std::uint64_t min_vruntime) noexcept { min_vruntime_ = min_vruntime; }

 private:
  [[nodiscard]] bool has(feature f) const noexcept { return config_->features.has(f); }
  [[nodiscard]] entity* queued_running() const noexcept;
  [[nodiscard]] entity* second_after(const entity& first) const noexcept;
  void charge(std::uint64_t now_ns) noexcept;
  buddy_roles drop_roles(const entity& e, buddy_roles from) noexcept;
  void advance_min_vruntime() noexcept;
  void add_load(std::uint64_t full_weight) noexcept;
  void join(entity& e, entity_kind kind) noexcept;

  const cfs_config* config_;
  std::uint64_t min_vruntime_ = initial_min_vruntime;
  entity* running_ = nullptr;
  std::uint64_t load_ = 0;
  std::uint32_t nr_queued_ = 0;
  std::uint32_t nr_idle_ = 0;
  entity* next_ = nullptr;
  entity* last_ = nullptr;
  entity* skip_ = nullptr;
  std::uint64_t anomalies_ = 0;
  timeline waiting_;
};

}  // namespace vlag

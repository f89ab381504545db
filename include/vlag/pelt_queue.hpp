// SPDX-License-Identifier: Apache-2.0
//
// Load tracking of queues and of the tree of groups: what is kept beside a fair class's entities,
// queues and groups, and the steps that keep it right as entities join, leave and change.
//
// It decides nothing and knows no fair class. The owner keeps an entity_load beside each entity, a
// queue_load beside each queue and a group_load beside each group, walks its own tree, and at each
// level calls update_load() with what is true there before the step it is about to take:
//
//   the fair class                     calls, at each level from the task up
//   enqueue, at levels joined          update_load(enqueue), reweight to group_weight(); then joins
//   enqueue, at levels above           update_load(passing), reweight to group_weight()
//   dequeue, at levels left            update_load(dequeue); then leaves
//   dequeue, at levels above           update_load(passing), reweight to group_weight()
//   tick, or a change of shares        update_load(tick), reweight to group_weight()
//   takes the running entity off       update_load(put) while it is queued
//   makes an entity the running one    update_load(set) while it is queued
//   a task becomes delayed, or not     update_load(delay), at the task's level only
//
// and beside that, for the task: add_estimate() first in an enqueue; in a dequeue, or when it
// becomes delayed, remove_estimate() and, if it goes to sleep, sample_estimate(), all before the
// walk. A delayed task does not count in the estimate, so these are left out when one completes its
// dequeue or is moved. Accounting of CPU time touches no average.
//
// A queue has the load of its entities inside: attach_load() puts an entity's averages into its
// queue's, detach_load() takes them out. A task that goes elsewhere while it sleeps leaves its part
// behind: leave_load() notes it and the queue's next update removes it, for the CPU that it left
// may be another's.
//
// A group's entity does not average its own history of util and runnable but copies its queue's,
// and its load follows from its weight and the time that its queue had something to run. What joins
// and leaves a queue is therefore noted there and passed up one level by each update_load() on the
// way to the root.
//
// An entity whose last_update_ns is 0 is not attached, and is attached at its next enqueue. On a
// clock below 1024 ns that is each time, so start clocks above.
//
// Source: load tracking of Linux 6.12 (6.12.117), several CPUs. Not thread safe. Allocates nothing.
// Every function is O(1).
#pragma once

#include "vlag/pelt.hpp"

#include <cstdint>
#include <optional>

namespace vlag {

// Beside each entity.
struct entity_load {
  load_average average;
  // Group: runnable tasks below, as of its last joining, leaving or being passed.
  std::uint64_t runnable_weight = 0;
};

// Beside each group: all CPUs together.
struct group_load {
  std::uint64_t load_avg = 0;  // sum of the queues' shared_load_avg
};

// Beside each queue.
struct queue_load {
  load_average average;

  // Left behind by sleepers that went elsewhere, until the next update.
  std::uint32_t leavers = 0;
  std::uint64_t left_load = 0;
  std::uint64_t left_runnable = 0;
  std::uint64_t left_util = 0;

  // To be passed to the group's entity: load_sum attached less what was detached.
  std::int64_t propagated_sum = 0;
  bool propagates = false;

  // What the group's total knows of this queue, and when it was told.
  std::uint64_t shared_load_avg = 0;
  std::uint64_t shared_at_ns = 0;
};

// A queue as it is at the moment of a call.
struct queue_now {
  queue_load* load;
  group_load* group;            // nullptr: a root queue
  const load_clock* clock;      // of its CPU
  std::uint64_t full_load = 0;  // sum of the full weights queued, delayed and running included
  std::uint64_t runnable = 0;   // tasks queued in the subtree, less the delayed ones
  bool running = false;         // has a running entity, even one that left the queue
};

// An entity and the queues that it stands between, at the moment of a call.
struct level_now {
  entity_load* entity;
  std::uint64_t full_weight;  // not 0
  bool queued = false;        // delayed counts as queued
  bool delayed = false;
  bool running = false;          // the running entity of its queue
  queue_now queue;               // on which it is, was or will be
  std::optional<queue_now> own;  // group: its queue on this CPU
};

// A new task, before anything else: its load is assumed to be full. A new group's entity starts
// with nothing, as it is made, at the weight of nice 0 until its first enqueue.
void start_task_load(entity_load& e, std::uint64_t full_weight) noexcept;

// First wake-up of a task, before its enqueue: assumes a utilisation of up to half of what its own
// queue leaves over, in proportion to what the others of the queue use for their weight.
void estimate_new_task(const level_now& task) noexcept;

// See the table above. Each brings the entity and its queue up to now and passes up what joined or
// left below.
enum class load_moment : std::uint8_t {
  enqueue,  // attaches if necessary
  dequeue,
  dequeue_to_migrate,  // and detaches: the task's level of a migration
  passing,
  tick,
  put,
  set,
  delay
};
void update_load(const level_now& level, load_moment moment) noexcept;

// A queue alone, such as that of an idle CPU: removes what was left behind, brings it up to now,
// tells the group. True: the averages changed.
bool decay_queue_load(const queue_now& queue) noexcept;

// Puts an entity into its queue's averages, or takes it out, in a change of group.
// Requires: update_load(put) was called, with last_update_ns = 0 for attach_load(), and not 0 for
// detach_load(). Afterwards update_load(set) is due at the levels above.
void attach_load(const level_now& level) noexcept;
void detach_load(const level_now& level) noexcept;

// A sleeping task goes to another CPU or ends. Afterwards it is not attached.
// Requires: not queued.
void leave_load(const level_now& level) noexcept;

// The entity's weight changes from level.full_weight, without bringing anything up to now.
// The owner adjusts queue.full_load.
void reweight_load(const level_now& level, std::uint64_t new_full_weight) noexcept;

// Weight of a group's entity on one CPU: the part of the shares (full) that this CPU's queue has of
// the group's load, 2..shares. An empty queue leaves the weight as it is: present.
[[nodiscard]] std::uint64_t group_weight(const queue_now& own, std::uint64_t full_shares,
                                         std::uint64_t present) noexcept;

}  // namespace vlag

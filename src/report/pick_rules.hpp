// SPDX-License-Identifier: Apache-2.0
//
// Why a choice went as it did: the rules of both classes, applied to a copy of the queue as it was
// just before. Written apart from the classes and in exact arithmetic, so that an explanation can
// be checked against what was really chosen.
//
// EEVDF. v_i is a vruntime, w_i a small weight, W their sum over the queue, V = sum(v_i w_i) / W.
// An entity is eligible if v_i <= V. While others are served, V moves on by 1024/W virtual ns in
// each ns, whoever it is; so an entity that is not eligible becomes so after (v_i - V) W / 1024 ns
// of service to others, if nobody joins or leaves.
#pragma once

#include "machine/pick_record.hpp"
#include "machine/snapshot.hpp"
#include "vlag/profile.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vlag {

enum class pick_rule : std::uint8_t {
  alone,              // nobody else is there
  buddy,              // the one that was woken last, or is yielded to, and is eligible
  protected_slice,    // the running one, eligible, uses up its request
  running_is_first,   // the running one: its deadline is before all eligible ones that wait
  earliest_deadline,  // of the eligible
  nobody_eligible,    // sums wrapped: the first in order
  // CFS
  leftmost,          // the smallest vruntime
  running_leftmost,  // the same, and it is the running one
  next_buddy,
  last_buddy,
  second_after_skip,  // the leftmost gave up its turn
};

struct queue_choice {
  pick_rule rule = pick_rule::alone;
  std::size_t winner = 0;  // of queue_view::entities
};

// Requires: the queue has entities.
[[nodiscard]] queue_choice choose_from(const queue_view& queue, const policy_config& policy);

// When an entity may compete, under EEVDF.
struct eligibility_view {
  bool eligible = true;
  std::uint64_t virtual_ns = 0;  // that far is V behind its vruntime, rounded up
  std::uint64_t service_ns = 0;  // so much service to others brings V there, if nobody joins
};

// Requires: e is one of the queue's entities.
[[nodiscard]] eligibility_view eligibility_of(const queue_view& queue, const entity_view& e);

// Virtual ns at an entity's weight as ns of CPU time, toward zero.
[[nodiscard]] std::int64_t service_ns(std::int64_t virtual_ns, std::uint64_t full_weight) noexcept;

// Follows a decision through its queues. agrees: on every queue the rules give the entity that the
// class went on with, and at the end the task that it ran.
struct followed_pick {
  std::vector<queue_choice> choices;  // one a step
  bool agrees = true;
};
[[nodiscard]] followed_pick follow(const pick_record& record, const policy_config& policy);

}  // namespace vlag

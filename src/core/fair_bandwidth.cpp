// SPDX-License-Identifier: Apache-2.0
//
// What throttling does to a queue of the EEVDF class; the rest is in bandwidth_rules.hpp.
#include "core/bandwidth_rules.hpp"
#include "vlag/fair_class.hpp"

namespace vlag {

void fair_class::leave_throttled(entity& e, std::uint64_t now_ns) noexcept {
  const leaving why = e.sched_delayed ? leaving::delay_complete : leaving::for_good;
  static_cast<void>(dequeue_entity(e, why, now_ns));
}

bool fair_class::join_unthrottled(entity& e, std::uint64_t now_ns) noexcept {
  if (e.sched_delayed) static_cast<void>(dequeue_entity(e, leaving::delay_complete, now_ns));
  if (e.queued) return false;
  enqueue_entity(e, placement::of_known_entity, now_ns);
  return true;
}

void fair_class::bandwidth_changed(group_part& part, std::uint64_t now_ns) noexcept {
  bandwidth::limit_changed(*this, static_cast<fair_level&>(part), now_ns);
}

void fair_class::bandwidth_refilled(group_part& part, std::uint64_t now_ns) noexcept {
  bandwidth::refilled(*this, static_cast<fair_level&>(part), now_ns);
}

bool fair_class::is_throttled(const group_part& part) const noexcept { return part.throttled; }

}  // namespace vlag

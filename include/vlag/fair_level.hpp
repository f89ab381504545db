// SPDX-License-Identifier: Apache-2.0
//
// One CPU's part of a group under EEVDF: the group's entity, its own queue, and its share of the
// group's bandwidth. The root of a CPU is one too, without an entity in use.
//
// Invariants, outside of a call into the class:
// 1. The entity is queued iff its own queue is not empty, unless the entity is delayed (then the
//    own queue is empty) or the part, or one below whose leaving emptied it, is throttled.
// 2. h_nr_queued = h_nr_runnable + h_nr_delayed counts the tasks of the subtree, without those in
//    throttled parts below.
#pragma once

#include "vlag/group.hpp"
#include "vlag/run_queue.hpp"

#include <cstdint>

namespace vlag {

struct fair_level : group_part {
  fair_level(const eevdf_config& config, timeline_storage& storage) noexcept
      : queue(config, storage) {
    is_group = true;
  }

  std::uint32_t nr_idle = 0;  // idle entities on the own queue, groups included
  run_queue queue;
};

// The part on whose queue e is, and the part that a group's entity belongs to.
[[nodiscard]] inline fair_level& level_of(const entity& e) noexcept {
  return static_cast<fair_level&>(*e.parent);
}
[[nodiscard]] inline fair_level& own_level(entity& group_entity) noexcept {
  return static_cast<fair_level&>(static_cast<group_part&>(group_entity));
}

}  // namespace vlag

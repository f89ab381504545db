// SPDX-License-Identifier: Apache-2.0
//
// One CPU's part of a group under CFS: the group's entity and its own queue. The root of a CPU is
// one too, without an entity in use.
//
// Invariants, outside of a call into the class:
// 1. The entity is queued iff its own queue is not empty, unless the part, or one below whose
//    leaving emptied it, is throttled.
// 2. h_nr_queued counts the tasks of the subtree, without those in throttled parts below.
#pragma once

#include "vlag/cfs_queue.hpp"
#include "vlag/group.hpp"

namespace vlag {

struct cfs_level : group_part {
  cfs_level(const cfs_config& config, timeline_storage& storage) noexcept : queue(config, storage) {
    is_group = true;
  }

  cfs_queue queue;
};

[[nodiscard]] inline entity_kind kind_of(const entity& e) noexcept {
  return is_idle(e) ? entity_kind::idle : entity_kind::ordinary;
}

// The part on whose queue e is.
[[nodiscard]] inline cfs_level& cfs_level_of(const entity& e) noexcept {
  return static_cast<cfs_level&>(*e.parent);
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// Walks over the tree of queues of one CPU that are the same whatever the queues are.
#pragma once

#include "vlag/group.hpp"

namespace vlag {

// The ancestors of two tasks, or they themselves, that are on one queue.
inline void lift_to_siblings(entity*& a, entity*& b) noexcept {
  while (a->parent->depth > b->parent->depth) a = a->parent;
  while (b->parent->depth > a->parent->depth) b = b->parent;
  while (a->parent != b->parent) {
    a = a->parent;
    b = b->parent;
  }
}

// The CPU goes from one task to another: put(entity&) for what stops running, set(entity&) for what
// starts. The groups that both are in stay where they are.
template <typename Put, typename Set>
inline void walk_switch(entity& previous, entity& next, Put&& put, Set&& set) noexcept {
  entity* off = &previous;
  entity* on = &next;
  while (off->parent != on->parent) {
    const std::uint32_t off_depth = off->parent->depth;
    const std::uint32_t on_depth = on->parent->depth;
    if (on_depth <= off_depth) {
      put(*off);
      off = off->parent;
    }
    if (on_depth >= off_depth) {
      set(*on);
      on = on->parent;
    }
  }
  put(*off);
  set(*on);
}

}  // namespace vlag

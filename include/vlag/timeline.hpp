// SPDX-License-Identifier: Apache-2.0
//
// The timeline: the entities waiting on one queue, in ascending order of a 64-bit virtual key
// (EEVDF: the deadline; CFS: the vruntime), equal keys in the order of insertion. It can find the
// first entity, in that order, that is eligible, and knows the smallest slice.
//
// Not thread safe. Never allocates: nodes come from a timeline_storage that the caller provides and
// that several timelines may share.
#pragma once

#include "vlag/entity.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace vlag {

// What "eligible" means at this moment: v is eligible iff sum >= (v - reference) * weight, products
// wrapping in 64 bits. As long as nothing wraps that is the same as v <= average, average being
// reference + floor(sum / weight).
struct eligibility {
  std::uint64_t reference = 0;
  std::int64_t sum = 0;     // sum of (v - reference) * small weight over the queue
  std::int64_t weight = 0;  // sum of the small weights

  [[nodiscard]] bool holds(std::uint64_t vruntime) const noexcept {
    const std::uint64_t product = (vruntime - reference) * static_cast<std::uint64_t>(weight);
    return sum >= static_cast<std::int64_t>(product);
  }
};

namespace detail {

struct timeline_pools;
struct timeline_leaf;
struct timeline_state;

// The operations that did not end inline, built for one instruction set.
struct timeline_code {
  void (*insert)(timeline_state&, entity&, std::uint64_t key) noexcept;
  void (*erase)(timeline_state&, entity&) noexcept;
  entity* (*first)(const timeline_state&) noexcept;
  entity* (*next)(const timeline_state&, const entity&) noexcept;
  entity* (*first_eligible)(timeline_state&, const eligibility&) noexcept;
  std::uint64_t (*min_slice)(timeline_state&) noexcept;
  void (*slice_changed)(timeline_state&, entity&) noexcept;
  void (*give_back)(timeline_state&) noexcept;
};

// A timeline that is a B+-tree: see src/core/timeline_layout.hpp.
struct timeline_tree {
  timeline_leaf* first = nullptr;
  timeline_leaf* last = nullptr;
  void* root = nullptr;
  // Every vruntime inside lies in [low, low + span], unless wide.
  std::uint64_t low = 0;
  std::uint64_t span = 0;
  std::uint32_t levels = 0;          // of inner nodes; 0: the root is a leaf
  std::uint32_t hint_slot = 0;       // of the leaf where first_eligible() last found something
  std::uint32_t first_leaf_run = 0;  // for how many times on end that was the first leaf
  bool wide = false;                 // the window has outgrown signed comparison
};

// Up to about 128 entities are flat: keys, vruntimes and addresses in three arrays of room slots
// each, one behind the other, in use from begin on, in order; up to inline_room, without a block
// and always from 0 on. Beyond that they are a tree.
struct alignas(64) timeline_state {
  static constexpr std::uint16_t inline_room = 8;
  static constexpr std::uint16_t inline_most = inline_room;

  const timeline_code* code;
  timeline_pools* pools;
  std::uint64_t* slots = inline_slots;  // nullptr: a tree
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
  std::uint16_t room = inline_room;
  std::uint16_t most;       // entities in this form; 0: a tree
  std::uint32_t least = 0;  // the same from below; UINT32_MAX: a tree, which looks itself
  std::uint32_t hint = 0;   // where first_eligible() last found something
  std::uint64_t min_slice = UINT64_MAX;  // exact while shortest is set, else not above the smallest
  const entity* shortest = nullptr;
  union {
    std::uint64_t inline_slots[3 * inline_room];
    timeline_tree tree;
  };

  explicit timeline_state(timeline_pools& from) noexcept;

  [[nodiscard]] bool flat() const noexcept { return slots != nullptr; }
  [[nodiscard]] const std::uint64_t* vruntimes() const noexcept { return slots + room; }
  [[nodiscard]] entity* at(std::uint32_t slot) const noexcept {
    return reinterpret_cast<entity*>(static_cast<std::uintptr_t>(slots[2U * room + slot]));
  }
  // Moves one entity of a flat queue. Word by word: vectors that are loaded across words just
  // stored have to wait for them.
  void move(std::uint32_t to, std::uint32_t from) noexcept {
    __asm__ volatile("");  // or a loop of moves becomes vectors all the same
    slots[to] = slots[from];
    slots[room + to] = slots[room + from];
    slots[2U * room + to] = slots[2U * room + from];
  }
  void drop_first() noexcept {
    --size;
    if (room != inline_room) {
      ++begin;
    } else {
      for (std::uint32_t i = 0; i != size; ++i) move(i, i + 1);
    }
  }
  void put(std::uint32_t slot, entity& e, std::uint64_t key) noexcept {
    slots[slot] = key;
    slots[room + slot] = e.vruntime;
    slots[2U * room + slot] = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&e));
  }
};

// One kind of block of a storage: blocks given back first, then those never used.
struct timeline_pool {
  std::byte* base = nullptr;
  std::uint32_t free_head = UINT32_MAX;
  std::uint32_t untouched = 0;
  std::uint32_t count = 0;
};

// When a timeline changes its form. Only tests have other limits than these.
struct timeline_limits {
  std::uint32_t flat_most = 128;  // a tree above
  std::uint32_t tree_least = 96;  // flat below
  std::uint32_t leaf_most = 32;
  std::uint32_t leaf_least = 12;
  std::uint32_t inner_most = 64;
  std::uint32_t inner_least = 20;
};

struct timeline_pools {
  timeline_pool small_blocks;
  timeline_pool large_blocks;
  timeline_pool leaves;
  timeline_pool inners;
  timeline_limits limits;
  const timeline_code* code = nullptr;
};

inline timeline_state::timeline_state(timeline_pools& from) noexcept
    : code(from.code),
      pools(&from),
      most(from.limits.flat_most < inline_most ? static_cast<std::uint16_t>(from.limits.flat_most)
                                               : inline_most),
      inline_slots{} {}

}  // namespace detail

// A pool of nodes for timelines, carved out of memory that the caller keeps alive and does not
// touch. One pool serves any number of timelines of one thread.
class timeline_storage {
 public:
  // Bytes that hold max_entities entities spread in any way over that many timelines. O(1).
  [[nodiscard]] static std::size_t required_bytes(std::size_t max_entities,
                                                  std::size_t timelines = 1) noexcept;

  // Requires: memory is aligned to 64 bytes and of required_bytes(max_entities, timelines).
  timeline_storage(std::span<std::byte> memory, std::size_t max_entities,
                   std::size_t timelines = 1) noexcept;
  timeline_storage(const timeline_storage&) = delete;
  timeline_storage& operator=(const timeline_storage&) = delete;

  // Entities that may join a class on this storage before it is full. A class reserves a place when
  // a task joins it and gives it back when the task has left, so no later step can run out.
  [[nodiscard]] std::size_t free_places() const noexcept { return places_; }
  [[nodiscard]] bool reserve_place() noexcept {
    if (places_ == 0) return false;
    --places_;
    return true;
  }
  void release_place() noexcept { ++places_; }

 private:
  friend class timeline;
  friend class timeline_inspector;

  detail::timeline_pools pools_;
  std::size_t places_;
};

class timeline {
 public:
  explicit timeline(timeline_storage& storage) noexcept : state_(storage.pools_) {}
  timeline(const timeline&) = delete;
  timeline& operator=(const timeline&) = delete;
  // Entities still inside are left as they are.
  ~timeline() {
    if (state_.slots != state_.inline_slots) state_.code->give_back(state_);
  }

  [[nodiscard]] bool empty() const noexcept { return state_.size == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return state_.size; }

  // Puts e behind all entities whose key is not after this one. O(log n), amortised.
  // Requires: e is in no timeline; a place was reserved for it; all keys in the timeline lie within
  // 2^63 of each other. While e is inside, e.vruntime does not change, and e.slice_ns only as told
  // by slice_changed().
  void insert(entity& e, std::uint64_t key) noexcept;

  // Requires: e is in this timeline under that key. O(log n), amortised.
  void erase(entity& e, std::uint64_t key) noexcept;

  // The first in order, nullptr when empty. O(1).
  [[nodiscard]] entity* first() const noexcept;
  // The one after e, nullptr at the end. Requires: as for erase. O(log n).
  [[nodiscard]] entity* next(const entity& e, std::uint64_t key) const noexcept;

  // The first in order that is eligible, nullptr when none is. O(log n), amortised: it may tighten
  // the bounds kept inside, never the order. (O(n) where products of `test` come near wrapping.)
  [[nodiscard]] entity* first_eligible(const eligibility& test) noexcept;

  // The smallest slice_ns in the timeline, exact; UINT64_MAX when empty. O(log n), amortised.
  [[nodiscard]] std::uint64_t min_slice() noexcept;
  // Tells that e.slice_ns changed while e is in the timeline. Requires: as for erase.
  void slice_changed(entity& e, std::uint64_t key) noexcept;

  // Calls visit(const entity&) in order. O(n).
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const entity* e = first(); e != nullptr; e = state_.code->next(state_, *e)) visit(*e);
  }

 private:
  friend class timeline_inspector;

  detail::timeline_state state_;
};

static_assert(sizeof(timeline) <= 256);

// The common cases, inline: a flat queue that is appended to, drained from the front, and whose
// first few are eligible. All others are a call.

inline void timeline::insert(entity& e, std::uint64_t key) noexcept {
  detail::timeline_state& s = state_;
  if (e.slice_ns < s.min_slice) {
    s.min_slice = e.slice_ns;
    s.shortest = &e;
  }
  const std::uint32_t end = s.begin + s.size;
  if (s.size < s.most && end < s.room && (s.size == 0 || !before(key, s.slots[end - 1]))) {
    s.put(end, e, key);
    ++s.size;
    return;
  }
  s.code->insert(s, e, key);
}

inline void timeline::erase(entity& e, std::uint64_t /*key*/) noexcept {
  detail::timeline_state& s = state_;
  if (s.shortest == &e) s.shortest = nullptr;
  if (s.size > s.least && s.at(s.begin) == &e) {
    s.drop_first();
    return;
  }
  s.code->erase(s, e);
}

inline entity* timeline::first() const noexcept {
  const detail::timeline_state& s = state_;
  if (!s.flat()) return s.code->first(s);
  return s.size == 0 ? nullptr : s.at(s.begin);
}

inline entity* timeline::next(const entity& e, std::uint64_t /*key*/) const noexcept {
  return state_.code->next(state_, e);
}

inline entity* timeline::first_eligible(const eligibility& test) noexcept {
  constexpr std::uint32_t inline_tests = 4;
  detail::timeline_state& s = state_;
  if (s.flat()) {
    const std::uint64_t* const vruntimes = s.vruntimes() + s.begin;
    for (std::uint32_t i = 0; i != inline_tests; ++i) {
      if (i == s.size) return nullptr;
      if (test.holds(vruntimes[i])) {
        s.hint = i;
        return s.at(s.begin + i);
      }
    }
  }
  return s.code->first_eligible(s, test);
}

inline std::uint64_t timeline::min_slice() noexcept {
  return state_.shortest != nullptr ? state_.min_slice : state_.code->min_slice(state_);
}

inline void timeline::slice_changed(entity& e, std::uint64_t /*key*/) noexcept {
  state_.code->slice_changed(state_, e);
}

}  // namespace vlag

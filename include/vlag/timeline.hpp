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
  [[nodiscard]] std::size_t free_places() const noexcept;
  [[nodiscard]] bool reserve_place() noexcept;
  void release_place() noexcept;

 private:
  friend class timeline;
  struct node {
    entity* who;
    std::uint64_t key;
    std::uint32_t previous;
    std::uint32_t next;
  };

  node* nodes_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t places_ = 0;
  std::uint32_t free_ = 0;
  std::uint32_t untouched_ = 0;
};

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

class timeline {
 public:
  explicit timeline(timeline_storage& storage) noexcept;
  timeline(const timeline&) = delete;
  timeline& operator=(const timeline&) = delete;

  [[nodiscard]] bool empty() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept;

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
  // the bounds kept inside, never the order.
  [[nodiscard]] entity* first_eligible(const eligibility& test) noexcept;

  // The smallest slice_ns in the timeline, exact; UINT64_MAX when empty. O(log n), amortised.
  [[nodiscard]] std::uint64_t min_slice() noexcept;
  // Tells that e.slice_ns changed while e is in the timeline. Requires: as for erase.
  void slice_changed(entity& e, std::uint64_t key) noexcept;

  // Calls visit(const entity&) in order. O(n).
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::uint32_t at = head_; at != none; at = storage_->nodes_[at].next) {
      visit(static_cast<const entity&>(*storage_->nodes_[at].who));
    }
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  timeline_storage* storage_;
  std::size_t size_ = 0;
  std::uint32_t head_ = none;
  std::uint32_t tail_ = none;
};

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "vlag/timeline.hpp"

#include <algorithm>
#include <new>

namespace vlag {

std::size_t timeline_storage::required_bytes(std::size_t max_entities,
                                             std::size_t /*timelines*/) noexcept {
  return max_entities * sizeof(node);
}

timeline_storage::timeline_storage(std::span<std::byte> memory, std::size_t max_entities,
                                   std::size_t /*timelines*/) noexcept
    : nodes_(reinterpret_cast<node*>(memory.data())),
      capacity_(max_entities),
      places_(max_entities),
      free_(UINT32_MAX) {}

std::size_t timeline_storage::free_places() const noexcept { return places_; }

bool timeline_storage::reserve_place() noexcept {
  if (places_ == 0) return false;
  --places_;
  return true;
}

void timeline_storage::release_place() noexcept { ++places_; }

timeline::timeline(timeline_storage& storage) noexcept : storage_(&storage) {}

bool timeline::empty() const noexcept { return size_ == 0; }

std::size_t timeline::size() const noexcept { return size_; }

void timeline::insert(entity& e, std::uint64_t key) noexcept {
  auto* const nodes = storage_->nodes_;
  std::uint32_t id = storage_->free_;
  if (id != none) {
    storage_->free_ = nodes[id].next;
  } else {
    id = storage_->untouched_++;
  }
  std::uint32_t before_it = tail_;
  while (before_it != none && before(key, nodes[before_it].key)) {
    before_it = nodes[before_it].previous;
  }
  const std::uint32_t behind_it = before_it == none ? head_ : nodes[before_it].next;
  ::new (static_cast<void*>(&nodes[id])) timeline_storage::node{&e, key, before_it, behind_it};
  (before_it == none ? head_ : nodes[before_it].next) = id;
  (behind_it == none ? tail_ : nodes[behind_it].previous) = id;
  e.timeline_hook = id;
  ++size_;
}

void timeline::erase(entity& e, std::uint64_t /*key*/) noexcept {
  auto* const nodes = storage_->nodes_;
  auto& gone = nodes[e.timeline_hook];
  (gone.previous == none ? head_ : nodes[gone.previous].next) = gone.next;
  (gone.next == none ? tail_ : nodes[gone.next].previous) = gone.previous;
  gone.next = storage_->free_;
  storage_->free_ = e.timeline_hook;
  --size_;
}

entity* timeline::first() const noexcept {
  return head_ == none ? nullptr : storage_->nodes_[head_].who;
}

entity* timeline::next(const entity& e, std::uint64_t /*key*/) const noexcept {
  const std::uint32_t behind_it = storage_->nodes_[e.timeline_hook].next;
  return behind_it == none ? nullptr : storage_->nodes_[behind_it].who;
}

entity* timeline::first_eligible(const eligibility& test) noexcept {
  for (std::uint32_t at = head_; at != none; at = storage_->nodes_[at].next) {
    entity* const e = storage_->nodes_[at].who;
    if (test.holds(e->vruntime)) return e;
  }
  return nullptr;
}

std::uint64_t timeline::min_slice() noexcept {
  std::uint64_t smallest = UINT64_MAX;
  for (std::uint32_t at = head_; at != none; at = storage_->nodes_[at].next) {
    smallest = std::min(smallest, storage_->nodes_[at].who->slice_ns);
  }
  return smallest;
}

void timeline::slice_changed(entity& /*e*/, std::uint64_t /*key*/) noexcept {}

}  // namespace vlag

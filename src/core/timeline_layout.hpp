// SPDX-License-Identifier: Apache-2.0
//
// What a timeline above the flat sizes is made of, and the pool that its blocks come from.
//
// The tree is a B+-tree. A leaf holds up to leaf_capacity entities in the three arrays of a flat
// queue, in use from begin on. An inner node holds for each child a separator and lower bounds.
//
// Invariants:
// 1. Keys of the children before child i are not after separator[i]; keys of child i and behind are
//    not before it. separator[0] means nothing.
// 2. low_vruntime[i] and low_slice[i] are not above any vruntime or slice below child i, and not
//    above the same bounds in child i (vruntimes counted from tree.low).
//    Insertion lowers them; removal leaves them; a search that they misled raises them.
// 3. Leaves and inner nodes hold at least limits.leaf_least and inner_least, except those on the
//    left and right edge of the tree, which hold at least one: a queue that is appended to and
//    drained from the front moves nothing. The root has two children unless it is a leaf.
// 4. entity::timeline_hook is the number of the leaf that holds it (unused while flat).
#pragma once

#include "core/mutant.hpp"
#include "vlag/timeline.hpp"

#include <cstddef>
#include <cstdint>

namespace vlag::detail {

inline constexpr std::uint32_t leaf_capacity = 32;
inline constexpr std::uint32_t inner_capacity = 64;

struct timeline_inner;

struct alignas(64) timeline_leaf {
  std::uint32_t begin;
  std::uint32_t size;
  std::uint32_t number;
  timeline_leaf* previous;
  timeline_leaf* next;
  timeline_inner* parent;
  alignas(64) std::uint64_t slots[3 * leaf_capacity];  // keys, vruntimes, addresses
};

struct alignas(64) timeline_inner {
  std::uint32_t size;
  std::uint32_t number;
  std::uint32_t level;  // 1: the children are leaves
  timeline_inner* parent;
  alignas(64) std::uint64_t separator[inner_capacity];
  std::uint64_t low_vruntime[inner_capacity];
  std::uint64_t low_slice[inner_capacity];
  std::uint32_t child[inner_capacity];
};

// Flat blocks: three arrays of that many slots. A timeline moves from inline to small to large as
// it grows past `most`, and back when it falls below `least` (room is what lies between begin and
// the ends, so that a queue that drifts is moved seldom).
struct flat_form {
  std::uint16_t room;
  std::uint16_t most;
  std::uint32_t least;
};
inline constexpr flat_form inline_form{timeline_state::inline_room, timeline_state::inline_most, 0};
inline constexpr flat_form small_form{leaf_capacity, 24, 4};
inline constexpr flat_form large_form{192, 128, 17};

[[nodiscard]] constexpr std::size_t block_bytes(const flat_form& form) noexcept {
  return std::size_t{form.room} * 3 * sizeof(std::uint64_t);
}

[[nodiscard]] inline std::byte* take_block(timeline_pool& pool, std::size_t bytes) noexcept {
  if (pool.free_head == UINT32_MAX) return pool.base + bytes * pool.untouched++;
  std::byte* const block = pool.base + bytes * pool.free_head;
  pool.free_head = *reinterpret_cast<const std::uint32_t*>(block);
  return block;
}

inline void give_block(timeline_pool& pool, std::size_t bytes, void* block) noexcept {
  const auto distance = static_cast<std::size_t>(static_cast<std::byte*>(block) - pool.base);
  *static_cast<std::uint32_t*>(block) = pool.free_head;
  pool.free_head = static_cast<std::uint32_t>(distance / bytes);
}

// The instruction sets that this processor has, best last; at least one.
enum class instruction_set : std::uint8_t { plain, avx2, avx512 };
[[nodiscard]] bool available(instruction_set which) noexcept;
// Requires: available(which).
[[nodiscard]] const timeline_code& timeline_code_for(instruction_set which) noexcept;

extern const timeline_code timeline_code_plain;
#if defined(__x86_64__)
extern const timeline_code timeline_code_avx2;
extern const timeline_code timeline_code_avx512;
#endif

}  // namespace vlag::detail

// SPDX-License-Identifier: Apache-2.0
//
// The steps inside a node of the tree, made of those for a run of any length. A leaf is given by
// one of its arrays (or all, one behind the other), the slot where it begins, and its size.

inline std::uint32_t leaf_count_not_after(const std::uint64_t* keys, std::uint32_t begin,
                                          std::uint32_t n, std::uint64_t key) noexcept {
  return count_not_after(keys + begin, n, key);
}
inline std::uint32_t leaf_first_not_after(const std::uint64_t* vruntimes, std::uint32_t begin,
                                          std::uint32_t n, std::uint64_t limit) noexcept {
  return first_not_after(vruntimes + begin, n, limit);
}
inline std::uint64_t leaf_smallest_offset(const std::uint64_t* vruntimes, std::uint32_t begin,
                                          std::uint32_t n, std::uint64_t low) noexcept {
  return smallest_offset(vruntimes + begin, n, low);
}

// The child that a key belongs to. Requires: n != 0.
inline std::uint32_t inner_slot_for(const std::uint64_t* separators, std::uint32_t n,
                                    std::uint64_t key) noexcept {
  return count_not_after(separators + 1, n - 1, key);
}
// The first child from slot `from` on whose bound is not after limit; n when there is none.
inline std::uint32_t inner_first_not_after(const std::uint64_t* bounds, std::uint32_t from,
                                           std::uint32_t n, std::uint64_t limit) noexcept {
  return from + first_not_after(bounds + from, n - from, limit);
}
inline std::uint64_t inner_smallest_offset(const std::uint64_t* bounds, std::uint32_t n,
                                           std::uint64_t low) noexcept {
  return smallest_offset(bounds, n, low);
}

// Puts an entity at a position. Requires: n < leaf_capacity.
inline void leaf_insert(std::uint64_t* slots, std::uint32_t& begin, std::uint32_t& n,
                        std::uint32_t position, std::uint64_t key, std::uint64_t vruntime,
                        std::uint64_t address) noexcept {
  const std::uint32_t behind = n - position;
  if (begin + n != leaf_capacity && (behind <= position || begin == 0)) {
    std::uint64_t* from = slots + begin + position;
    for (int array = 0; array != 3; ++array, from += leaf_capacity) move_up(from + 1, from, behind);
  } else {
    std::uint64_t* from = slots + begin;
    for (int array = 0; array != 3; ++array, from += leaf_capacity) {
      move_down(from - 1, from, position);
    }
    --begin;
  }
  std::uint64_t* const slot = slots + begin + position;
  slot[0] = key;
  slot[leaf_capacity] = vruntime;
  slot[2 * leaf_capacity] = address;
  ++n;
}

inline void leaf_erase(std::uint64_t* slots, std::uint32_t& begin, std::uint32_t& n,
                       std::uint32_t position, [[maybe_unused]] bool drains) noexcept {
  const std::uint32_t behind = n - position - 1;
  if (behind < position) {
    std::uint64_t* to = slots + begin + position;
    for (int array = 0; array != 3; ++array, to += leaf_capacity) move_down(to, to + 1, behind);
  } else {
    std::uint64_t* from = slots + begin;
    for (int array = 0; array != 3; ++array, from += leaf_capacity) {
      move_up(from + 1, from, position);
    }
    ++begin;
  }
  --n;
}

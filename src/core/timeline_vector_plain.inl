// SPDX-License-Identifier: Apache-2.0
//
// The steps of timeline_code.inl that vector instructions speed up, without any. All virtual times
// are compared by the sign of their difference.

#include "core/timeline_average.inl"

// How many of the ascending keys are not after key.
inline std::uint32_t count_not_after(const std::uint64_t* keys, std::uint32_t n,
                                     std::uint64_t key) noexcept {
  std::uint32_t low = 0;
  while (n != 0) {
    const std::uint32_t half = n / 2;
    if (before(key, keys[low + half])) {
      n = half;
    } else {
      low += half + 1;
      n -= half + 1;
    }
  }
  return low;
}

// Where a value is; n when it is not there.
inline std::uint32_t find(const std::uint64_t* values, std::uint32_t n,
                          std::uint64_t value) noexcept {
  std::uint32_t i = 0;
  while (i != n && values[i] != value) ++i;
  return i;
}

// The first value that is not after limit; n when all are.
inline std::uint32_t first_not_after(const std::uint64_t* values, std::uint32_t n,
                                     std::uint64_t limit) noexcept {
  std::uint32_t i = 0;
  while (i != n && before(limit, values[i])) ++i;
  return i;
}

// The first vruntime that test holds for; n when none.
inline std::uint32_t first_holding(const std::uint64_t* vruntimes, std::uint32_t n,
                                   const eligibility& test) noexcept {
  std::uint32_t i = 0;
  while (i != n && !test.holds(vruntimes[i])) ++i;
  return i;
}

// The smallest distance from low. Requires: n != 0.
inline std::uint64_t smallest_offset(const std::uint64_t* values, std::uint32_t n,
                                     std::uint64_t low) noexcept {
  std::uint64_t smallest = UINT64_MAX;
  for (std::uint32_t i = 0; i != n; ++i) {
    const std::uint64_t offset = values[i] - low;
    if (offset < smallest) smallest = offset;
  }
  return smallest;
}

// Moves n values to a place above, or below, that may overlap.
inline void move_up(std::uint64_t* to, const std::uint64_t* from, std::uint32_t n) noexcept {
  while (n-- != 0) to[n] = from[n];
}
inline void move_down(std::uint64_t* to, const std::uint64_t* from, std::uint32_t n) noexcept {
  for (std::uint32_t i = 0; i != n; ++i) to[i] = from[i];
}

#include "core/timeline_nodes.inl"

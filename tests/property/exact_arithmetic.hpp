// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of the exact models, in 128-bit integers: nothing wraps, nothing is cut.
#pragma once

#include "vlag/weight.hpp"

#include <algorithm>
#include <cstdint>

namespace vlag::test {

__extension__ using wide = __int128;

inline std::int64_t distance(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::int64_t>(a - b);
}

// The small weight of a full one that is not 0.
inline std::int64_t small_of(std::uint64_t full_weight) {
  return std::max<std::int64_t>(2, static_cast<std::int64_t>(full_weight / 1024));
}

// Wall-clock to virtual. The reference may drop low bits of the factor on the way; for weights
// below 2^32 they are zeros, so one rounding down says it all.
inline std::uint64_t stretched(std::uint64_t ns, std::uint64_t full_weight, std::uint64_t inverse) {
  if (full_weight == nice_0_weight) return ns;
  return static_cast<std::uint64_t>((static_cast<wide>(ns) * 1024 * static_cast<wide>(inverse)) /
                                    (wide{1} << 32));
}

inline wide floor_div(wide a, wide b) {
  const wide q = a / b;
  return a % b < 0 ? q - 1 : q;
}

// a * b / c, toward zero.
inline std::int64_t mul_div(std::int64_t a, std::uint64_t b, std::uint64_t c) {
  return static_cast<std::int64_t>(static_cast<wide>(a) * static_cast<wide>(b) /
                                   static_cast<wide>(c));
}

}  // namespace vlag::test

// SPDX-License-Identifier: Apache-2.0
//
// Weights, and the conversion between wall-clock time and virtual time.
//
// A task's nice value selects a weight; a step of one nice level is a factor of about 1.25 in CPU
// share. A *full* weight carries ten extra low bits (nice 0 = 1024 * 1024 = 2^20) and is what an
// entity stores. A *small* weight is the full one without those bits and is what every sum and
// average uses.
//
// One nanosecond of CPU time of an entity with small weight m moves its vruntime by 1024/m virtual
// nanoseconds. The division is a multiplication by a 32-bit inverse, so it rounds down twice; the
// result is not delta * 1024 / m. Example: 3,000,000 ns at nice 5 (weight 335, inverse 12820798)
// are floor(3000000 * 1024 * 12820798 / 2^32) = 9170149 virtual ns.
//
// Source: the weight tables and the rounding of Linux 6.12 (fair class), as data.
#pragma once

#include <bit>
#include <cstdint>

namespace vlag {

inline constexpr int min_nice = -20;
inline constexpr int max_nice = 19;

// Bits by which a full weight exceeds a small one.
inline constexpr unsigned weight_resolution_bits = 10;

// Full weight of nice 0; at this weight virtual time runs like wall-clock time, exactly.
inline constexpr std::uint64_t nice_0_weight = std::uint64_t{1} << 20;

// A full weight with the 32-bit inverse of its small weight. inverse = 0 means "not known": the
// conversion then computes it with inverse_of().
struct load_weight {
  std::uint64_t full = nice_0_weight;
  std::uint32_t inverse = 4194304;
};

// Weight of a nice level, with the table's inverse (which is rounded to nearest, but down at nice
// 13, 14, 16 and 17, while inverse_of() always rounds down: they differ by one for 14 levels).
// Requires: min_nice <= nice <= max_nice.
[[nodiscard]] load_weight weight_of_nice(int nice) noexcept;

// The request length that a latency_nice asks for: base_slice_ns at 0, and less, by the ratio of
// the weights, for a lower one. floor(base_slice_ns * 1024 / small weight of that nice level): a
// base of 3 ms gives 34.6 us at -20 and 204.8 ms at 19. Requires: min_nice <= latency_nice <=
// max_nice; base_slice_ns < 2^54.
[[nodiscard]] std::uint64_t latency_slice_ns(std::uint64_t base_slice_ns,
                                             int latency_nice) noexcept;

// Weight of a SCHED_IDLE entity, whatever its nice value: small weight 3.
[[nodiscard]] load_weight weight_of_idle_policy() noexcept;

// The weight that sums and averages use: 0 for 0, else at least 2.
[[nodiscard]] constexpr std::uint64_t small_weight(std::uint64_t full) noexcept {
  if (full == 0) return 0;
  const std::uint64_t small = full >> weight_resolution_bits;
  return small < 2 ? 2 : small;
}

// floor((2^32 - 1) / small weight), and 1 where the small weight itself is 2^32 - 1 or more.
// Requires: full != 0.
[[nodiscard]] constexpr std::uint32_t inverse_of(std::uint64_t full) noexcept {
  const std::uint64_t small = small_weight(full);
  // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): full is not 0, so small is at least 2.
  return small >= 0xffffffffU ? 1U : static_cast<std::uint32_t>(0xffffffffU / small);
}

// delta * factor * inverse / 2^32, rounded down; the product is taken in full (128 bits) and the
// result cut to 64 bits. For a factor of 2^32 or more the excess low bits are dropped first, as the
// reference does; no task weight reaches that.
[[nodiscard]] constexpr std::uint64_t scale_by_inverse(std::uint64_t delta, std::uint64_t factor,
                                                       std::uint32_t inverse) noexcept {
  unsigned shift = 32;
  if (const auto excess = static_cast<unsigned>(std::bit_width(factor >> 32)); excess != 0) {
    factor >>= excess;
    shift -= excess;
  }
  factor *= inverse;
  if (const auto excess = static_cast<unsigned>(std::bit_width(factor >> 32)); excess != 0) {
    factor >>= excess;
    shift -= excess;
  }
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<wide>(delta) * factor) >> shift);
}

// Wall-clock ns of CPU time to virtual ns at the given weight. O(1), no division when the inverse
// is known.
[[nodiscard]] constexpr std::uint64_t to_virtual(std::uint64_t delta_ns,
                                                 const load_weight& weight) noexcept {
  if (weight.full == nice_0_weight) return delta_ns;
  const std::uint32_t inverse = weight.inverse != 0 ? weight.inverse : inverse_of(weight.full);
  return scale_by_inverse(delta_ns, 1024, inverse);
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// The steps described in timeline_vector_plain.inl, four lanes at a time, the rest one by one.

#include "core/timeline_average.inl"

inline __m256i every(std::uint64_t value) noexcept {
  return _mm256_set1_epi64x(static_cast<long long>(value));
}
inline __m256i load(const std::uint64_t* from) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
inline void store(std::uint64_t* to, __m256i values) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), values);
}
// One bit for each lane: its sign.
inline unsigned signs(__m256i values) noexcept {
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(values)));
}
inline std::uint32_t lowest(unsigned bits) noexcept {
  return static_cast<std::uint32_t>(__builtin_ctz(bits));
}

inline std::uint32_t count_not_after(const std::uint64_t* keys, std::uint32_t n,
                                     std::uint64_t key) noexcept {
  const __m256i wanted = every(key);
  std::uint32_t count = 0;
  std::uint32_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const unsigned after = signs(_mm256_sub_epi64(wanted, load(keys + i)));
    count += 4U - static_cast<std::uint32_t>(__builtin_popcount(after));
  }
  for (; i != n; ++i) count += before(key, keys[i]) ? 0U : 1U;
  return count;
}

inline std::uint32_t find(const std::uint64_t* values, std::uint32_t n,
                          std::uint64_t value) noexcept {
  const __m256i wanted = every(value);
  std::uint32_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const unsigned found = signs(_mm256_cmpeq_epi64(wanted, load(values + i)));
    if (found != 0) return i + lowest(found);
  }
  while (i != n && values[i] != value) ++i;
  return i;
}

inline std::uint32_t first_not_after(const std::uint64_t* values, std::uint32_t n,
                                     std::uint64_t limit) noexcept {
  const __m256i wanted = every(limit);
  std::uint32_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const unsigned found = ~signs(_mm256_sub_epi64(wanted, load(values + i))) & 15U;
    if (found != 0) return i + lowest(found);
  }
  while (i != n && before(limit, values[i])) ++i;
  return i;
}

// Without a 64-bit vector multiplication: while |v - reference| <= reach no product leaves 2^62, so
// that the quotient decides; a lane beyond that goes the long way.
inline std::uint32_t first_holding(const std::uint64_t* vruntimes, std::uint32_t n,
                                   const eligibility& test) noexcept {
  std::uint32_t i = 0;
  const exact_average average(test);
  if (n >= 8 && average.exists()) {
    const __m256i limit = every(average.value);
    const __m256i nearest = every(test.reference - average.reach);
    const __m256i farthest = every(test.reference + average.reach);
    for (; i + 4 <= n; i += 4) {
      const __m256i values = load(vruntimes + i);
      const unsigned found = ~signs(_mm256_sub_epi64(limit, values)) & 15U;
      const unsigned outside = signs(
          _mm256_or_si256(_mm256_sub_epi64(values, nearest), _mm256_sub_epi64(farthest, values)));
      if ((found | outside) == 0) continue;
      if (outside == 0) return i + lowest(found);
      for (std::uint32_t j = i; j != i + 4; ++j) {
        if (test.holds(vruntimes[j])) return j;
      }
    }
  }
  while (i != n && !test.holds(vruntimes[i])) ++i;
  return i;
}

inline std::uint64_t smallest_offset(const std::uint64_t* values, std::uint32_t n,
                                     std::uint64_t low) noexcept {
  std::uint64_t smallest = UINT64_MAX;
  std::uint32_t i = 0;
  if (n >= 8) {
    // Offsets are compared as signed numbers with their sign turned over.
    const __m256i from = every(low ^ (std::uint64_t{1} << 63));
    __m256i least = every(static_cast<std::uint64_t>(INT64_MAX));
    for (; i + 4 <= n; i += 4) {
      const __m256i offset = _mm256_sub_epi64(load(values + i), from);
      least = _mm256_blendv_epi8(least, offset, _mm256_cmpgt_epi64(least, offset));
    }
    alignas(32) std::uint64_t lane[4];
    store(lane, least);
    for (const std::uint64_t each : lane) {
      const std::uint64_t offset = each ^ (std::uint64_t{1} << 63);
      if (offset < smallest) smallest = offset;
    }
  }
  for (; i != n; ++i) {
    const std::uint64_t offset = values[i] - low;
    if (offset < smallest) smallest = offset;
  }
  return smallest;
}

inline void move_up(std::uint64_t* to, const std::uint64_t* from, std::uint32_t n) noexcept {
  while (n >= 4) {
    n -= 4;
    store(to + n, load(from + n));
  }
  while (n-- != 0) to[n] = from[n];
}

inline void move_down(std::uint64_t* to, const std::uint64_t* from, std::uint32_t n) noexcept {
  std::uint32_t i = 0;
  for (; i + 4 <= n; i += 4) store(to + i, load(from + i));
  for (; i != n; ++i) to[i] = from[i];
}

#include "core/timeline_nodes.inl"

// SPDX-License-Identifier: Apache-2.0
//
// The steps described in timeline_vector_plain.inl, eight lanes at a time. Loads and stores beyond
// the n values asked for are masked off.

#include "core/timeline_average.inl"

inline __m512i every(std::uint64_t value) noexcept {
  return _mm512_set1_epi64(static_cast<long long>(value));
}

inline __mmask8 lanes(std::uint32_t n) noexcept {
  return static_cast<__mmask8>(_bzhi_u32(0xff, n));
}

inline std::uint32_t count_not_after(const std::uint64_t* keys, std::uint32_t n,
                                     std::uint64_t key) noexcept {
  const __m512i wanted = every(key);
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < n; i += 8) {
    const __mmask8 used = lanes(n - i);
    const __m512i gap = _mm512_sub_epi64(wanted, _mm512_maskz_loadu_epi64(used, keys + i));
    const auto after = static_cast<unsigned>(_mm512_movepi64_mask(gap));
    count += static_cast<std::uint32_t>(__builtin_popcount(~after & used));
  }
  return count;
}

inline std::uint32_t find(const std::uint64_t* values, std::uint32_t n,
                          std::uint64_t value) noexcept {
  const __m512i wanted = every(value);
  for (std::uint32_t i = 0; i < n; i += 8) {
    const __mmask8 used = lanes(n - i);
    const unsigned found =
        _mm512_mask_cmpeq_epi64_mask(used, wanted, _mm512_maskz_loadu_epi64(used, values + i));
    if (found != 0) return i + static_cast<std::uint32_t>(__builtin_ctz(found));
  }
  return n;
}

inline std::uint32_t first_not_after(const std::uint64_t* values, std::uint32_t n,
                                     std::uint64_t limit) noexcept {
  const __m512i wanted = every(limit);
  for (std::uint32_t i = 0; i < n; i += 8) {
    const __mmask8 used = lanes(n - i);
    const __m512i gap = _mm512_sub_epi64(wanted, _mm512_maskz_loadu_epi64(used, values + i));
    const unsigned found = ~static_cast<unsigned>(_mm512_movepi64_mask(gap)) & used;
    if (found != 0) return i + static_cast<std::uint32_t>(__builtin_ctz(found));
  }
  return n;
}

inline std::uint32_t first_holding(const std::uint64_t* vruntimes, std::uint32_t n,
                                   const eligibility& test) noexcept {
  const __m512i reference = every(test.reference);
  const __m512i weight = every(static_cast<std::uint64_t>(test.weight));
  const __m512i sum = every(static_cast<std::uint64_t>(test.sum));
  for (std::uint32_t i = 0; i < n; i += 8) {
    const __mmask8 used = lanes(n - i);
    const __m512i key = _mm512_sub_epi64(_mm512_maskz_loadu_epi64(used, vruntimes + i), reference);
    const __m512i product = _mm512_mullo_epi64(key, weight);
    const unsigned found = _mm512_mask_cmp_epi64_mask(used, product, sum, _MM_CMPINT_LE);
    if (found != 0) return i + static_cast<std::uint32_t>(__builtin_ctz(found));
  }
  return n;
}

inline std::uint64_t smallest_offset(const std::uint64_t* values, std::uint32_t n,
                                     std::uint64_t low) noexcept {
  const __m512i from = every(low);
  const __m512i most = every(UINT64_MAX);
  __m512i smallest = most;
  for (std::uint32_t i = 0; i < n; i += 8) {
    const __mmask8 used = lanes(n - i);
    const __m512i offset = _mm512_sub_epi64(_mm512_maskz_loadu_epi64(used, values + i), from);
    smallest = _mm512_mask_min_epu64(smallest, used, smallest, offset);
  }
  return _mm512_reduce_min_epu64(smallest);
}

inline void move_up(std::uint64_t* to, const std::uint64_t* from, std::uint32_t n) noexcept {
  while (n >= 8) {
    n -= 8;
    _mm512_storeu_si512(to + n, _mm512_loadu_si512(from + n));
  }
  const __mmask8 rest = lanes(n);
  _mm512_mask_storeu_epi64(to, rest, _mm512_maskz_loadu_epi64(rest, from));
}

inline void move_down(std::uint64_t* to, const std::uint64_t* from, std::uint32_t n) noexcept {
  std::uint32_t i = 0;
  for (; i + 8 <= n; i += 8) _mm512_storeu_si512(to + i, _mm512_loadu_si512(from + i));
  const __mmask8 rest = lanes(n - i);
  _mm512_mask_storeu_epi64(to + i, rest, _mm512_maskz_loadu_epi64(rest, from + i));
}

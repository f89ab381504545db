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

// --- nodes of the tree
//
// No branch depends on a position: a node is read as a whole, and what is not in use is masked off
// at the end; arrays are aligned, and stored as they will be loaded.

// A bit for each slot: whether its value is not after limit.
__attribute__((always_inline)) inline std::uint64_t not_after(const std::uint64_t* values,
                                                              std::uint32_t capacity,
                                                              std::uint64_t limit) noexcept {
  const __m512i wanted = every(limit);
  std::uint64_t after = 0;
#pragma GCC unroll 8
  for (std::uint32_t i = 0; i != capacity; i += 8) {
    const __m512i gap = _mm512_sub_epi64(wanted, _mm512_load_si512(values + i));
    after |= std::uint64_t{_mm512_movepi64_mask(gap)} << i;
  }
  return ~after;
}

__attribute__((always_inline)) inline std::uint64_t least_offset(const std::uint64_t* values,
                                                                 std::uint32_t capacity,
                                                                 std::uint64_t used,
                                                                 std::uint64_t low) noexcept {
  const __m512i from = every(low);
  __m512i smallest = every(UINT64_MAX);
#pragma GCC unroll 8
  for (std::uint32_t i = 0; i != capacity; i += 8) {
    const __m512i offset = _mm512_sub_epi64(_mm512_load_si512(values + i), from);
    smallest = _mm512_mask_min_epu64(smallest, static_cast<__mmask8>(used >> i), smallest, offset);
  }
  return _mm512_reduce_min_epu64(smallest);
}

inline std::uint64_t first_bits(std::uint32_t n) noexcept { return _bzhi_u64(UINT64_MAX, n); }

inline std::uint32_t leaf_count_not_after(const std::uint64_t* keys, std::uint32_t begin,
                                          std::uint32_t n, std::uint64_t key) noexcept {
  const std::uint64_t bits = (not_after(keys, leaf_capacity, key) >> begin) & first_bits(n);
  return static_cast<std::uint32_t>(__builtin_popcountll(bits));
}
inline std::uint32_t leaf_first_not_after(const std::uint64_t* vruntimes, std::uint32_t begin,
                                          std::uint32_t n, std::uint64_t limit) noexcept {
  const std::uint64_t bits = not_after(vruntimes, leaf_capacity, limit) >> begin;
  return static_cast<std::uint32_t>(__builtin_ctzll(bits | ~first_bits(n)));
}
inline std::uint64_t leaf_smallest_offset(const std::uint64_t* vruntimes, std::uint32_t begin,
                                          std::uint32_t n, std::uint64_t low) noexcept {
  return least_offset(vruntimes, leaf_capacity, first_bits(n) << begin, low);
}

inline std::uint32_t inner_slot_for(const std::uint64_t* separators, std::uint32_t n,
                                    std::uint64_t key) noexcept {
  const std::uint64_t bits =
      not_after(separators, inner_capacity, key) & first_bits(n) & ~std::uint64_t{1};
  return static_cast<std::uint32_t>(__builtin_popcountll(bits));
}
inline std::uint32_t inner_first_not_after(const std::uint64_t* bounds, std::uint32_t from,
                                           std::uint32_t n, std::uint64_t limit) noexcept {
  const std::uint64_t bits =
      not_after(bounds, inner_capacity, limit) & first_bits(n) & ~first_bits(from);
  return bits == 0 ? n : static_cast<std::uint32_t>(__builtin_ctzll(bits));
}
inline std::uint64_t inner_smallest_offset(const std::uint64_t* bounds, std::uint32_t n,
                                           std::uint64_t low) noexcept {
  return least_offset(bounds, inner_capacity, first_bits(n), low);
}

// Vectors of a leaf with everything from position on one lane higher, and value at position.
__attribute__((always_inline)) inline void open_lane(std::uint64_t* values, std::uint32_t position,
                                                     std::uint64_t value) noexcept {
  const __m512i fresh = every(value);
  const std::uint32_t at = 1U << position;
  const std::uint32_t moved = ~(at | (at - 1));
  __m512i below = fresh;
#pragma GCC unroll 4
  for (std::uint32_t i = 0; i != leaf_capacity; i += 8) {
    const __m512i here = _mm512_load_si512(values + i);
    const __m512i shifted = _mm512_alignr_epi64(here, below, 7);
    __m512i result = _mm512_mask_mov_epi64(here, static_cast<__mmask8>(moved >> i), shifted);
    result = _mm512_mask_mov_epi64(result, static_cast<__mmask8>(at >> i), fresh);
    _mm512_store_si512(values + i, result);
    below = here;
  }
}

// The same without the value at position, what is behind it one lane lower.
__attribute__((always_inline)) inline void close_lane(std::uint64_t* values,
                                                      std::uint32_t position) noexcept {
  const std::uint32_t moved = ~((1U << position) - 1);
  __m512i here = _mm512_load_si512(values);
#pragma GCC unroll 4
  for (std::uint32_t i = 0; i != leaf_capacity; i += 8) {
    const __m512i above = i + 8 == leaf_capacity ? here : _mm512_load_si512(values + i + 8);
    const __m512i shifted = _mm512_alignr_epi64(above, here, 1);
    _mm512_store_si512(values + i,
                       _mm512_mask_mov_epi64(here, static_cast<__mmask8>(moved >> i), shifted));
    here = above;
  }
}

inline void leaf_insert(std::uint64_t* slots, std::uint32_t& begin, std::uint32_t& n,
                        std::uint32_t position, std::uint64_t key, std::uint64_t vruntime,
                        std::uint64_t address) noexcept {
  if (begin + n == leaf_capacity && begin != 0) {
    for (std::uint32_t array = 0; array != 3 * leaf_capacity; array += leaf_capacity) {
      move_down(slots + array, slots + array + begin, n);
    }
    begin = 0;
  }
  if (position == n) {
    std::uint64_t* const slot = slots + begin + n;
    slot[0] = key;
    slot[leaf_capacity] = vruntime;
    slot[2 * leaf_capacity] = address;
  } else {
    open_lane(slots, begin + position, key);
    open_lane(slots + leaf_capacity, begin + position, vruntime);
    open_lane(slots + 2 * leaf_capacity, begin + position, address);
  }
  ++n;
}

// drains: this leaf loses its first again and again, and only such a one should make way for it.
inline void leaf_erase(std::uint64_t* slots, std::uint32_t& begin, std::uint32_t& n,
                       std::uint32_t position, [[maybe_unused]] bool drains) noexcept {
  if (drains && position == 0) {
    ++begin;
  } else {
    close_lane(slots, begin + position);
    close_lane(slots + leaf_capacity, begin + position);
    close_lane(slots + 2 * leaf_capacity, begin + position);
  }
  --n;
}

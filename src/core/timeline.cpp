// SPDX-License-Identifier: Apache-2.0
#include "vlag/timeline.hpp"

#include "core/timeline_layout.hpp"

#include <algorithm>

namespace vlag {
namespace {

using namespace detail;

struct pool_sizes {
  std::size_t small_blocks;
  std::size_t large_blocks;
  std::size_t leaves;
  std::size_t inners;
};

// Each form is left again below a least number of entities, which bounds the blocks in use. In a
// tree all nodes but two a level are filled to the least; a level is added only when the root is
// full, so the number of levels is bounded by the most that it ever held.
pool_sizes pools_for(std::size_t entities, std::size_t timelines) noexcept {
  const timeline_limits limits;
  pool_sizes sizes{};
  sizes.small_blocks = std::min(timelines, entities / small_form.least);
  sizes.large_blocks = std::min(timelines, entities / large_form.least);
  const std::size_t trees = std::min(timelines, entities / limits.tree_least);
  if (trees == 0) return sizes;
  sizes.leaves = entities / limits.leaf_least + 2 * trees;
  std::size_t level = sizes.leaves;
  for (std::size_t most = entities; most >= limits.inner_most - 2; most /= limits.inner_least) {
    level = level / limits.inner_least + 2 * trees;
    sizes.inners += level;
  }
  return sizes;
}

instruction_set best_instruction_set() noexcept {
  if (available(instruction_set::avx512)) return instruction_set::avx512;
  if (available(instruction_set::avx2)) return instruction_set::avx2;
  return instruction_set::plain;
}

}  // namespace

namespace detail {

bool available(instruction_set which) noexcept {
#if defined(__x86_64__)
  switch (which) {
    case instruction_set::plain:
      return true;
    case instruction_set::avx2:
      return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi2") != 0;
    case instruction_set::avx512:
      return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
             __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("bmi2") != 0;
  }
#endif
  return which == instruction_set::plain;
}

const timeline_code& timeline_code_for(instruction_set which) noexcept {
#if defined(__x86_64__)
  if (which == instruction_set::avx512) return timeline_code_avx512;
  if (which == instruction_set::avx2) return timeline_code_avx2;
#endif
  static_cast<void>(which);
  return timeline_code_plain;
}

}  // namespace detail

std::size_t timeline_storage::required_bytes(std::size_t max_entities,
                                             std::size_t timelines) noexcept {
  const pool_sizes sizes = pools_for(max_entities, timelines);
  return sizes.small_blocks * block_bytes(small_form) +
         sizes.large_blocks * block_bytes(large_form) + sizes.leaves * sizeof(timeline_leaf) +
         sizes.inners * sizeof(timeline_inner);
}

timeline_storage::timeline_storage(std::span<std::byte> memory, std::size_t max_entities,
                                   std::size_t timelines) noexcept
    : places_(max_entities) {
  const pool_sizes sizes = pools_for(max_entities, timelines);
  std::byte* at = memory.data();
  const auto carve = [&at](std::size_t count, std::size_t bytes) {
    timeline_pool pool;
    pool.base = at;
    pool.count = static_cast<std::uint32_t>(count);
    at += count * bytes;
    return pool;
  };
  pools_.small_blocks = carve(sizes.small_blocks, block_bytes(small_form));
  pools_.large_blocks = carve(sizes.large_blocks, block_bytes(large_form));
  pools_.leaves = carve(sizes.leaves, sizeof(timeline_leaf));
  pools_.inners = carve(sizes.inners, sizeof(timeline_inner));
  pools_.code = &timeline_code_for(best_instruction_set());
}

}  // namespace vlag

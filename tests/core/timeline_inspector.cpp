// SPDX-License-Identifier: Apache-2.0
#include "core/timeline_inspector.hpp"

#include <algorithm>
#include <cstdint>

namespace vlag {

using namespace detail;

namespace {

struct range {
  std::uint64_t lowest_offset = UINT64_MAX;  // of vruntimes, from tree.low
  std::uint64_t shortest = UINT64_MAX;
  std::size_t size = 0;
  std::uint64_t first_key = 0;
  std::uint64_t last_key = 0;
};

class walk {
 public:
  explicit walk(const timeline_state& s) : s_(s), pools_(*s.pools), expected_(s.tree.first) {}

  std::string fault;

  range leaf(std::uint32_t number, const timeline_inner* parent) {
    const auto* const leaf =
        reinterpret_cast<const timeline_leaf*>(pools_.leaves.base + sizeof(timeline_leaf) * number);
    range found;
    if (leaf != expected_) say("a leaf is not where the list has it");
    if (leaf->previous != before_) say("a leaf's previous is another");
    if (leaf->parent != parent || leaf->number != number) say("a leaf names another parent");
    if (leaf->begin + leaf->size > leaf_capacity) say("a leaf ends behind its room");
    if (leaf->size > pools_.limits.leaf_most) say("a leaf is overfull");
    const bool edge = leaf == s_.tree.first || leaf == s_.tree.last;
    if (leaf->size < (edge ? 1 : pools_.limits.leaf_least)) say("a leaf holds too few");
    for (std::uint32_t i = 0; i != leaf->size; ++i) {
      const std::uint64_t* const slot = leaf->slots + leaf->begin + i;
      const auto* const e = reinterpret_cast<const entity*>(slot[2 * leaf_capacity]);
      if (e->timeline_hook != number) say("an entity is hooked to another leaf");
      if (e->vruntime != slot[leaf_capacity]) say("a leaf has another vruntime");
      if (i == 0) found.first_key = slot[0];
      if (i != 0 && before(slot[0], found.last_key)) say("keys of a leaf are out of order");
      found.last_key = slot[0];
      found.lowest_offset = std::min(found.lowest_offset, e->vruntime - s_.tree.low);
      found.shortest = std::min(found.shortest, e->slice_ns);
      if (!s_.tree.wide && e->vruntime - s_.tree.low > s_.tree.span) say("outside the window");
    }
    found.size = leaf->size;
    before_ = leaf;
    expected_ = leaf->next;
    return found;
  }

  range inner(const timeline_inner* p, const timeline_inner* parent, std::uint32_t level, bool left,
              bool right) {
    range all;
    if (p->parent != parent || p->level != level) say("an inner node names another parent");
    if (p->size > pools_.limits.inner_most) say("an inner node is overfull");
    const std::uint32_t least = left || right ? 1 : pools_.limits.inner_least;
    if (p->size < (parent == nullptr ? 2 : least)) say("an inner node holds too few");
    for (std::uint32_t slot = 0; slot != p->size; ++slot) {
      const range below = child(p, slot, level, left, right);
      if (slot != 0) {
        if (before(below.first_key, p->separator[slot])) say("a key is before its separator");
        if (before(p->separator[slot], all.last_key)) say("a key is after the next separator");
      } else {
        all.first_key = below.first_key;
      }
      all.last_key = below.last_key;
      all.size += below.size;
      if (p->low_slice[slot] > below.shortest) say("a slice is below its bound");
      all.shortest = std::min(all.shortest, p->low_slice[slot]);
      if (!s_.tree.wide) {
        const std::uint64_t bound = p->low_vruntime[slot] - s_.tree.low;
        if (bound > below.lowest_offset) say("a vruntime is below its bound");
        all.lowest_offset = std::min(all.lowest_offset, bound);
      }
    }
    return all;
  }

  void end() {
    if (expected_ != nullptr || before_ != s_.tree.last) say("the list of leaves goes on");
  }

 private:
  range child(const timeline_inner* p, std::uint32_t slot, std::uint32_t level, bool left,
              bool right) {
    const std::uint32_t number = p->child[slot];
    if (level == 1) return leaf(number, p);
    return inner(reinterpret_cast<const timeline_inner*>(pools_.inners.base +
                                                         sizeof(timeline_inner) * number),
                 p, level - 1, left && slot == 0, right && slot + 1 == p->size);
  }
  void say(const char* what) {
    if (fault.empty()) fault = what;
  }

  const timeline_state& s_;
  const timeline_pools& pools_;
  const timeline_leaf* expected_;
  const timeline_leaf* before_ = nullptr;
};

std::string tree_fault(const timeline_state& s) {
  walk steps(s);
  const std::size_t size =
      s.tree.levels == 0
          ? steps.leaf(static_cast<const timeline_leaf*>(s.tree.root)->number, nullptr).size
          : steps
                .inner(static_cast<const timeline_inner*>(s.tree.root), nullptr, s.tree.levels,
                       true, true)
                .size;
  steps.end();
  if (steps.fault.empty() && size != s.size) return "the tree has lost count";
  if (steps.fault.empty() && size < s.pools->limits.tree_least) return "the tree is too small";
  return steps.fault;
}

std::string flat_fault(const timeline_state& s) {
  if (s.begin + s.size > s.room) return "a flat queue ends behind its room";
  if (s.room == inline_form.room && s.begin != 0) return "an inline queue does not begin at 0";
  if (s.size > s.most || s.size < s.least) return "a flat queue has the wrong form";
  if (s.most > s.pools->limits.flat_most) return "a flat queue is too long";
  for (std::uint32_t i = s.begin; i != s.begin + s.size; ++i) {
    if (s.at(i)->vruntime != s.vruntimes()[i]) return "a flat queue has another vruntime";
    if (i != s.begin && before(s.slots[i], s.slots[i - 1])) return "keys are out of order";
  }
  return "";
}

std::size_t free_blocks(const timeline_pool& pool, std::size_t bytes) {
  std::size_t count = 0;
  for (std::uint32_t at = pool.free_head; at != UINT32_MAX; ++count) {
    at = *reinterpret_cast<const std::uint32_t*>(pool.base + bytes * at);
  }
  return count;
}

}  // namespace

void timeline_inspector::force(timeline_storage& storage, instruction_set which,
                               const timeline_limits& limits) {
  storage.pools_.code = &timeline_code_for(which);
  storage.pools_.limits = limits;
}

std::string timeline_inspector::fault(const timeline& line) {
  const timeline_state& s = line.state_;
  if (s.flat() && s.size == 0) return "";
  std::uint64_t smallest = UINT64_MAX;
  line.for_each([&](const entity& e) { smallest = std::min(smallest, e.slice_ns); });
  if (s.min_slice > smallest) return "the bound on slices is above one";
  if (s.shortest != nullptr && (s.min_slice != smallest || s.shortest->slice_ns != smallest)) {
    return "the shortest is not";
  }
  return s.flat() ? flat_fault(s) : tree_fault(s);
}

std::string timeline_inspector::fault(const timeline_storage& storage) {
  const timeline_pools& pools = storage.pools_;
  for (const timeline_pool* pool :
       {&pools.small_blocks, &pools.large_blocks, &pools.leaves, &pools.inners}) {
    if (pool->untouched > pool->count) return "a pool handed out more blocks than it has";
  }
  return "";
}

bool timeline_inspector::is_tree(const timeline& line) { return !line.state_.flat(); }

unsigned timeline_inspector::levels(const timeline& line) { return line.state_.tree.levels; }

std::size_t timeline_inspector::blocks_in_use(const timeline_storage& storage) {
  const timeline_pools& p = storage.pools_;
  return p.small_blocks.untouched + p.large_blocks.untouched + p.leaves.untouched +
         p.inners.untouched - free_blocks(p.small_blocks, block_bytes(small_form)) -
         free_blocks(p.large_blocks, block_bytes(large_form)) -
         free_blocks(p.leaves, sizeof(timeline_leaf)) -
         free_blocks(p.inners, sizeof(timeline_inner));
}

std::vector<instruction_set> instruction_sets_here() {
  std::vector<instruction_set> found;
  for (const auto each : {instruction_set::plain, instruction_set::avx2, instruction_set::avx512}) {
    if (available(each)) found.push_back(each);
  }
  return found;
}

}  // namespace vlag

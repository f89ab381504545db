// SPDX-License-Identifier: Apache-2.0
//
// The operations of timeline_code: which form a timeline has, and the changes between them.

#include "core/timeline_tree.inl"

// The window starts at a vruntime that is about to come in.
inline void become_tree(timeline_state& s, std::uint64_t vruntime) noexcept {
  std::uint64_t old[3 * large_form.most];
  const std::uint32_t n = s.size;
  run_copy(old, large_form.most, s.slots + s.begin, s.room, n);
  if (s.slots != s.inline_slots) {
    const flat_form form = form_of(s);
    give_block(pool_of(*s.pools, form), block_bytes(form), s.slots);
  }
  s.slots = nullptr;
  s.most = 0;
  s.least = UINT32_MAX;
  s.size = 0;
  timeline_leaf* const leaf = new_leaf(*s.pools);
  s.tree = timeline_tree{};
  s.tree.first = leaf;
  s.tree.last = leaf;
  s.tree.root = leaf;
  s.tree.low = vruntime;
  for (std::uint32_t i = 0; i != n; ++i) {
    tree_insert(s, *entity_at(old[2 * large_form.most + i]), old[i]);
  }
}

inline void become_flat(timeline_state& s) noexcept {
  const timeline_tree tree = s.tree;
  flat_form form = large_form;
  if (s.size <= small_form.most) form = small_form;
  if (s.size <= inline_form.most) form = inline_form;
  s.slots = flat_slots(s, form);
  flat_become(s, form);
  s.begin = s.room == inline_form.room ? 0 : (s.room - s.size) / 4;
  std::uint64_t* to = s.slots + s.begin;
  for (const timeline_leaf* leaf = tree.first; leaf != nullptr; leaf = leaf->next) {
    run_copy(to, s.room, keys_of(*leaf), leaf_capacity, leaf->size);
    to += leaf->size;
  }
  give_tree(*s.pools, tree);
}

void code_insert(timeline_state& s, entity& e, std::uint64_t key) noexcept {
  if (s.flat()) {
    if (s.size < s.most) return flat_insert(s, e, key);
    if (s.size < s.pools->limits.flat_most) {
      flat_resettle(s, s.room == inline_form.room ? small_form : large_form, true);
      return flat_insert(s, e, key);
    }
    become_tree(s, e.vruntime);
  }
  tree_insert(s, e, key);
}

void code_erase(timeline_state& s, entity& e) noexcept {
  if (s.flat()) return flat_erase(s, e);
  tree_erase(s, e);
  if (s.size < s.pools->limits.tree_least) become_flat(s);
}

entity* code_first(const timeline_state& s) noexcept {
  if (s.flat()) return s.size == 0 ? nullptr : s.at(s.begin);
  return entity_at(addresses_of(*s.tree.first)[0]);
}

entity* code_next(const timeline_state& s, const entity& e) noexcept {
  return s.flat() ? flat_next(s, e) : tree_next(s, e);
}

entity* code_first_eligible(timeline_state& s, const eligibility& test) noexcept {
  return s.flat() ? flat_first_eligible(s, test) : tree_first_eligible(s, test);
}

std::uint64_t code_min_slice(timeline_state& s) noexcept {
  if (s.size == 0) {
    s.min_slice = UINT64_MAX;
    return s.min_slice;
  }
  if (s.flat()) {
    s.shortest = run_shortest(s.slots + 2U * s.room + s.begin, s.size, s.min_slice);
  } else {
    tree_min_slice(s);
  }
  s.min_slice = s.shortest->slice_ns;
  return s.min_slice;
}

void code_slice_changed(timeline_state& s, entity& e) noexcept {
  if (e.slice_ns < s.min_slice) {
    s.min_slice = e.slice_ns;
    s.shortest = &e;
  } else if (s.shortest == &e && e.slice_ns != s.min_slice) {
    s.shortest = nullptr;
  }
  if (s.flat()) return;
  const timeline_leaf& leaf = *leaf_of(*s.pools, e.timeline_hook);
  if (leaf.parent == nullptr) return;
  lower_bounds(s, leaf.parent, slot_of(*leaf.parent, leaf.number), e.vruntime, e.slice_ns);
}

void code_give_back(timeline_state& s) noexcept {
  if (!s.flat()) {
    give_tree(*s.pools, s.tree);
  } else if (s.slots != s.inline_slots) {
    const flat_form form = form_of(s);
    give_block(pool_of(*s.pools, form), block_bytes(form), s.slots);
  }
}

constexpr timeline_code code{code_insert,        code_erase,          code_first,
                             code_next,          code_first_eligible, code_min_slice,
                             code_slice_changed, code_give_back};

// SPDX-License-Identifier: Apache-2.0
//
// The B+-tree of timeline_layout.hpp.

#include "core/timeline_flat.inl"

inline timeline_leaf* leaf_of(const timeline_pools& pools, std::uint32_t number) noexcept {
  return reinterpret_cast<timeline_leaf*>(pools.leaves.base + sizeof(timeline_leaf) * number);
}
inline timeline_inner* inner_of(const timeline_pools& pools, std::uint32_t number) noexcept {
  return reinterpret_cast<timeline_inner*>(pools.inners.base + sizeof(timeline_inner) * number);
}
inline const std::uint64_t* keys_of(const timeline_leaf& leaf) noexcept {
  return leaf.slots + leaf.begin;
}
inline const std::uint64_t* vruntimes_of(const timeline_leaf& leaf) noexcept {
  return leaf.slots + leaf_capacity + leaf.begin;
}
inline const std::uint64_t* addresses_of(const timeline_leaf& leaf) noexcept {
  return leaf.slots + 2 * leaf_capacity + leaf.begin;
}
inline std::uint64_t lowest_vruntime(const timeline_state& s, const timeline_leaf& leaf) noexcept {
  return s.tree.low +
         leaf_smallest_offset(leaf.slots + leaf_capacity, leaf.begin, leaf.size, s.tree.low);
}

inline timeline_leaf* new_leaf(timeline_pools& pools) noexcept {
  std::byte* const block = take_block(pools.leaves, sizeof(timeline_leaf));
  auto* const leaf = ::new (static_cast<void*>(block)) timeline_leaf;
  leaf->number = static_cast<std::uint32_t>(static_cast<std::size_t>(block - pools.leaves.base) /
                                            sizeof(timeline_leaf));
  leaf->begin = 0;
  leaf->size = 0;
  leaf->previous = nullptr;
  leaf->next = nullptr;
  leaf->parent = nullptr;
  return leaf;
}

inline timeline_inner* new_inner(timeline_pools& pools, std::uint32_t level) noexcept {
  std::byte* const block = take_block(pools.inners, sizeof(timeline_inner));
  auto* const inner = ::new (static_cast<void*>(block)) timeline_inner;
  inner->number = static_cast<std::uint32_t>(static_cast<std::size_t>(block - pools.inners.base) /
                                             sizeof(timeline_inner));
  inner->size = 0;
  inner->level = level;
  inner->parent = nullptr;
  return inner;
}

// What an inner node knows of a child.
struct child_entry {
  std::uint64_t separator;
  std::uint64_t low_vruntime;
  std::uint64_t low_slice;
  std::uint32_t child;
};

inline child_entry entry_of(const timeline_inner& p, std::uint32_t slot) noexcept {
  return {p.separator[slot], p.low_vruntime[slot], p.low_slice[slot], p.child[slot]};
}

inline void set_entry(timeline_inner& p, std::uint32_t slot, const child_entry& entry) noexcept {
  p.separator[slot] = entry.separator;
  p.low_vruntime[slot] = entry.low_vruntime;
  p.low_slice[slot] = entry.low_slice;
  p.child[slot] = entry.child;
}

inline std::uint32_t slot_of(const timeline_inner& p, std::uint32_t child) noexcept {
  std::uint32_t slot = 0;
  while (p.child[slot] != child) ++slot;
  return slot;
}

inline void adopt(const timeline_pools& pools, timeline_inner& p, std::uint32_t child) noexcept {
  (p.level == 1 ? leaf_of(pools, child)->parent : inner_of(pools, child)->parent) = &p;
}

inline void open_entry(timeline_inner& p, std::uint32_t slot) noexcept {
  for (std::uint32_t i = p.size++; i != slot; --i) set_entry(p, i, entry_of(p, i - 1));
}

inline void close_entry(timeline_inner& p, std::uint32_t slot) noexcept {
  for (std::uint32_t i = slot + 1; i != p.size; ++i) set_entry(p, i - 1, entry_of(p, i));
  --p.size;
}

inline bool before_in(const timeline_state& s, std::uint64_t a, std::uint64_t b) noexcept {
  return a - s.tree.low < b - s.tree.low;
}

// The bounds of a whole inner node.
inline std::uint64_t lowest_vruntime(const timeline_state& s, const timeline_inner& p) noexcept {
  return s.tree.low + inner_smallest_offset(p.low_vruntime, p.size, s.tree.low);
}
inline std::uint64_t lowest_slice(const timeline_inner& p) noexcept {
  return inner_smallest_offset(p.low_slice, p.size, 0);
}

// Whether a node lies on the left, or right, edge of the tree.
inline bool on_left_edge(const timeline_inner* p) noexcept {
  for (; p->parent != nullptr; p = p->parent) {
    if (p->parent->child[0] != p->number) return false;
  }
  return true;
}
inline bool on_right_edge(const timeline_inner* p) noexcept {
  for (; p->parent != nullptr; p = p->parent) {
    if (p->parent->child[p->parent->size - 1] != p->number) return false;
  }
  return true;
}

// --- insertion

inline void add_child(timeline_state& s, timeline_inner* p, std::uint32_t slot,
                      const child_entry& entry) noexcept;

inline void put_entry(const timeline_pools& pools, timeline_inner& p, std::uint32_t slot,
                      const child_entry& entry) noexcept {
  open_entry(p, slot);
  set_entry(p, slot, entry);
  adopt(pools, p, entry.child);
}

// A root above the present one, which has become one of two.
inline timeline_inner* new_root(timeline_state& s, const child_entry& old_root) noexcept {
  timeline_inner* const root = new_inner(*s.pools, ++s.tree.levels);
  put_entry(*s.pools, *root, 0, old_root);
  s.tree.root = root;
  return root;
}

// Splits a full inner node and puts a new child behind the child in slot.
inline void split_inner(timeline_state& s, timeline_inner* p, std::uint32_t slot,
                        const child_entry& entry) noexcept {
  timeline_pools& pools = *s.pools;
  // What the right edge is full of stays: the queue goes on behind it.
  const bool appended = slot + 1 == p->size && on_right_edge(p);
  const std::uint32_t keep = appended ? p->size : p->size / 2;
  timeline_inner* const sibling = new_inner(pools, p->level);
  for (std::uint32_t i = keep; i != p->size; ++i) {
    put_entry(pools, *sibling, i - keep, entry_of(*p, i));
  }
  p->size = keep;
  if (slot < keep && !appended) {
    put_entry(pools, *p, slot + 1, entry);
  } else {
    put_entry(pools, *sibling, slot + 1 - keep, entry);
  }
  if (p->parent == nullptr) {
    new_root(s, {p->separator[0], lowest_vruntime(s, *p), lowest_slice(*p), p->number});
  }
  add_child(s, p->parent, slot_of(*p->parent, p->number),
            {sibling->separator[0],
             mutant(fault::wrong_bound_after_inner) ? s.tree.low + s.tree.span
                                                    : lowest_vruntime(s, *sibling),
             lowest_slice(*sibling), sibling->number});
}

// Puts a new child behind the child in slot.
inline void add_child(timeline_state& s, timeline_inner* p, std::uint32_t slot,
                      const child_entry& entry) noexcept {
  if (p->size < s.pools->limits.inner_most) {
    put_entry(*s.pools, *p, slot + 1, entry);
  } else {
    split_inner(s, p, slot, entry);
  }
}

struct leaf_place {
  timeline_leaf* leaf;
  std::uint32_t slot;  // of the leaf in its parent
};

inline leaf_place leaf_for(const timeline_state& s, std::uint64_t key) noexcept {
  timeline_leaf* const last = s.tree.last;
  if (s.tree.levels == 0) return {last, 0};
  if (!before(key, keys_of(*last)[last->size - 1])) return {last, last->parent->size - 1};
  const auto* p = static_cast<const timeline_inner*>(s.tree.root);
  for (;;) {
    const std::uint32_t slot = inner_slot_for(p->separator, p->size, key);
    if (p->level == 1) return {leaf_of(*s.pools, p->child[slot]), slot};
    p = inner_of(*s.pools, p->child[slot]);
  }
}

inline void lower_bounds(timeline_state& s, timeline_inner* p, std::uint32_t slot,
                         std::uint64_t vruntime, std::uint64_t slice_ns) noexcept {
  while (p != nullptr) {
    const bool lower_vruntime = before_in(s, vruntime, p->low_vruntime[slot]);
    const bool lower_slice = slice_ns < p->low_slice[slot];
    if (lower_vruntime) p->low_vruntime[slot] = vruntime;
    if (lower_slice) p->low_slice[slot] = slice_ns;
    if (!lower_vruntime && !lower_slice) return;
    if (p->parent != nullptr) slot = slot_of(*p->parent, p->number);
    p = p->parent;
  }
}

// Enters vruntime into the window.
inline void widen(timeline_tree& tree, std::uint64_t vruntime) noexcept {
  if (vruntime - tree.low <= tree.span) return;
  if (before(vruntime, tree.low)) {
    tree.span += tree.low - vruntime;
    tree.low = vruntime;
  } else {
    tree.span = vruntime - tree.low;
  }
}

inline void set_hooks(const timeline_leaf& leaf, std::uint32_t from, std::uint32_t to) noexcept {
  for (std::uint32_t i = from; i != to; ++i) {
    entity_at(addresses_of(leaf)[i])->timeline_hook = leaf.number;
  }
}

// Puts a new leaf behind a full one and moves the upper half there; nothing if the new entity goes
// behind all others. Returns where that one belongs now; position follows.
inline leaf_place split_leaf(timeline_state& s, const leaf_place& full, std::uint64_t key,
                             std::uint32_t& position) noexcept {
  timeline_leaf* const left = full.leaf;
  timeline_leaf* const right = new_leaf(*s.pools);
  right->previous = left;
  right->next = left->next;
  (left->next != nullptr ? left->next->previous : s.tree.last) = right;
  left->next = right;
  child_entry entry{key, s.tree.low + s.tree.span, UINT64_MAX, right->number};
  const bool appended = right->next == nullptr && position == left->size;
  if (!appended) {
    const std::uint32_t keep = left->size / 2;
    right->size = left->size - keep;
    right->begin = (leaf_capacity - right->size) / 2;
    run_copy(right->slots + right->begin, leaf_capacity, keys_of(*left) + keep, leaf_capacity,
             right->size);
    left->size = keep;
    set_hooks(*right, 0, right->size);
    entry.separator = keys_of(*right)[0];
    entry.low_vruntime = lowest_vruntime(s, *right);
    if (mutant(fault::wrong_bound_after_split)) entry.low_vruntime = s.tree.low + s.tree.span;
    entry.low_slice = left->parent != nullptr ? left->parent->low_slice[full.slot] : 0;
  }
  if (left->parent == nullptr) {
    new_root(s, {keys_of(*left)[0], lowest_vruntime(s, *left), 0, left->number});
  }
  add_child(s, left->parent, full.slot, entry);
  if (!appended && position <= left->size) {
    return {left, slot_of(*left->parent, left->number)};
  }
  position -= left->size;
  return {right, slot_of(*right->parent, right->number)};
}

inline void tree_insert(timeline_state& s, entity& e, std::uint64_t key) noexcept {
  widen(s.tree, e.vruntime);
  leaf_place to = leaf_for(s, key);
  std::uint32_t position = leaf_count_not_after(to.leaf->slots, to.leaf->begin, to.leaf->size, key);
  if (to.leaf->size == s.pools->limits.leaf_most) to = split_leaf(s, to, key, position);
  leaf_insert(to.leaf->slots, to.leaf->begin, to.leaf->size, position, key, e.vruntime,
              address_of(e));
  e.timeline_hook = to.leaf->number;
  ++s.size;
  lower_bounds(s, to.leaf->parent, to.slot, e.vruntime, e.slice_ns);
}

// --- removal

inline void remove_child(timeline_state& s, timeline_inner* p, std::uint32_t slot) noexcept;

inline void give_inner(timeline_pools& pools, timeline_inner* p) noexcept {
  give_block(pools.inners, sizeof(timeline_inner), p);
}

inline void remove_leaf(timeline_state& s, timeline_leaf* leaf) noexcept {
  (leaf->previous != nullptr ? leaf->previous->next : s.tree.first) = leaf->next;
  (leaf->next != nullptr ? leaf->next->previous : s.tree.last) = leaf->previous;
  give_block(s.pools->leaves, sizeof(timeline_leaf), leaf);
}

// Two neighbours under one parent share their children: all to the left one if they fit.
inline void rebalance_inner(timeline_state& s, timeline_inner* p) noexcept {
  timeline_pools& pools = *s.pools;
  timeline_inner* const above = p->parent;
  const std::uint32_t slot = slot_of(*above, p->number);
  const std::uint32_t a = slot + 1 != above->size ? slot : slot - 1;
  const std::uint32_t b = a + 1;
  timeline_inner* const left = inner_of(pools, above->child[a]);
  timeline_inner* const right = inner_of(pools, above->child[b]);
  right->separator[0] = above->separator[b];
  const std::uint32_t total = left->size + right->size;
  const std::uint32_t keep = total <= pools.limits.inner_most ? total : total / 2;
  while (left->size < keep) {
    put_entry(pools, *left, left->size, entry_of(*right, 0));
    close_entry(*right, 0);
  }
  while (left->size > keep) {
    put_entry(pools, *right, 0, entry_of(*left, left->size - 1));
    --left->size;
  }
  above->low_vruntime[a] = lowest_vruntime(s, *left);
  above->low_slice[a] = lowest_slice(*left);
  if (right->size == 0) {
    give_inner(pools, right);
    remove_child(s, above, b);
    return;
  }
  above->separator[b] = right->separator[0];
  above->low_vruntime[b] = lowest_vruntime(s, *right);
  above->low_slice[b] = lowest_slice(*right);
}

inline void drop_single_roots(timeline_state& s) noexcept {
  while (s.tree.levels != 0) {
    auto* const root = static_cast<timeline_inner*>(s.tree.root);
    if (root->size != 1) return;
    if (root->level == 1) {
      timeline_leaf* const leaf = leaf_of(*s.pools, root->child[0]);
      leaf->parent = nullptr;
      s.tree.root = leaf;
    } else {
      timeline_inner* const inner = inner_of(*s.pools, root->child[0]);
      inner->parent = nullptr;
      s.tree.root = inner;
    }
    --s.tree.levels;
    give_inner(*s.pools, root);
  }
}

inline void remove_child(timeline_state& s, timeline_inner* p, std::uint32_t slot) noexcept {
  close_entry(*p, slot);
  if (p->parent == nullptr) {
    drop_single_roots(s);
  } else if (p->size == 0) {
    timeline_inner* const above = p->parent;
    const std::uint32_t at = slot_of(*above, p->number);
    give_inner(*s.pools, p);
    remove_child(s, above, at);
  } else if (p->size < s.pools->limits.inner_least && !on_left_edge(p) && !on_right_edge(p)) {
    rebalance_inner(s, p);
  }
}

// Two neighbours under one parent share their entities: all to the fuller one if they fit.
inline void rebalance_leaf(timeline_state& s, timeline_leaf* leaf) noexcept {
  timeline_pools& pools = *s.pools;
  timeline_inner* const p = leaf->parent;
  const std::uint32_t slot = slot_of(*p, leaf->number);
  const std::uint32_t a = slot + 1 != p->size ? slot : slot - 1;
  const std::uint32_t b = a + 1;
  timeline_leaf* const left = leaf_of(pools, p->child[a]);
  timeline_leaf* const right = leaf_of(pools, p->child[b]);
  const std::uint32_t total = left->size + right->size;
  const std::uint32_t was = left->size;
  const bool merge = total <= pools.limits.leaf_most;
  std::uint32_t keep = total / 2;
  if (merge) keep = left->size >= right->size ? total : 0;

  constexpr std::uint32_t room = 2 * leaf_capacity;
  std::uint64_t both[3 * room];
  run_copy(both, room, keys_of(*left), leaf_capacity, left->size);
  run_copy(both + left->size, room, keys_of(*right), leaf_capacity, right->size);
  left->size = keep;
  left->begin = (leaf_capacity - keep) / 2;
  run_copy(left->slots + left->begin, leaf_capacity, both, room, keep);
  right->size = total - keep;
  right->begin = (leaf_capacity - right->size) / 2;
  run_copy(right->slots + right->begin, leaf_capacity, both + keep, room, right->size);
  if (keep > was) set_hooks(*left, was, keep);
  if (keep < was) set_hooks(*right, 0, was - keep);

  if (p->low_slice[b] < p->low_slice[a]) p->low_slice[a] = p->low_slice[b];
  p->low_slice[b] = p->low_slice[a];
  if (!merge) {
    p->separator[b] = keys_of(*right)[0];
    if (mutant(fault::wrong_bound_after_share)) return;
    p->low_vruntime[a] = lowest_vruntime(s, *left);
    p->low_vruntime[b] = lowest_vruntime(s, *right);
    return;
  }
  if (!mutant(fault::wrong_bound_after_merge) &&
      before_in(s, p->low_vruntime[b], p->low_vruntime[a])) {
    p->low_vruntime[a] = p->low_vruntime[b];
  }
  p->child[a] = keep != 0 ? left->number : right->number;
  remove_leaf(s, keep != 0 ? right : left);
  remove_child(s, p, b);
}

// The picked one mostly has the smallest vruntime of its leaf: the next search would be misled.
inline void raise_bound(timeline_state& s, const timeline_leaf& leaf) noexcept {
  timeline_inner& p = *leaf.parent;
  const std::uint32_t slot = s.tree.hint_slot;
  if (slot < p.size && p.child[slot] == leaf.number) {
    p.low_vruntime[slot] = lowest_vruntime(s, leaf);
  }
}

inline void tree_erase(timeline_state& s, const entity& e) noexcept {
  timeline_leaf* const leaf = leaf_of(*s.pools, e.timeline_hook);
  const std::uint32_t position =
      run_find(leaf->slots, leaf_capacity, leaf->begin, leaf->size, s.hint, e);
  leaf_erase(leaf->slots, leaf->begin, leaf->size, position, leaf == s.tree.first);
  --s.size;
  if (leaf->parent == nullptr) return;
  if (leaf->size >= s.pools->limits.leaf_least) return raise_bound(s, *leaf);
  if (leaf != s.tree.first && leaf != s.tree.last) {
    rebalance_leaf(s, leaf);
  } else if (leaf->size == 0) {
    timeline_inner* const p = leaf->parent;
    const std::uint32_t slot = slot_of(*p, leaf->number);
    remove_leaf(s, leaf);
    remove_child(s, p, slot);
  }
}

// --- search

// Below p, the first in order whose vruntime is not after average. Raises the bounds that misled
// it; when it finds nothing all bounds of p lie behind average.
inline entity* search(timeline_state& s, timeline_inner& p, std::uint64_t average) noexcept {
  for (std::uint32_t slot = 0;; ++slot) {
    slot = inner_first_not_after(p.low_vruntime, slot, p.size, average);
    if (slot == p.size) return nullptr;
    if (p.level == 1) {
      const timeline_leaf& leaf = *leaf_of(*s.pools, p.child[slot]);
      const std::uint32_t position =
          leaf_first_not_after(leaf.slots + leaf_capacity, leaf.begin, leaf.size, average);
      if (position != leaf.size) {
        s.tree.hint_slot = slot;
        s.tree.first_leaf_run = &leaf == s.tree.first ? s.tree.first_leaf_run + 1 : 0;
        s.hint = position;
        return entity_at(addresses_of(leaf)[position]);
      }
      p.low_vruntime[slot] = lowest_vruntime(s, leaf);
      if (mutant(fault::pick_stops_early)) return nullptr;
    } else {
      timeline_inner& child = *inner_of(*s.pools, p.child[slot]);
      if (entity* const found = search(s, child, average); found != nullptr) return found;
      p.low_vruntime[slot] = lowest_vruntime(s, child);
    }
  }
}

inline std::uint64_t refresh_bounds(const timeline_state& s, timeline_inner& p) noexcept {
  for (std::uint32_t slot = 0; slot != p.size; ++slot) {
    p.low_vruntime[slot] = p.level == 1 ? lowest_vruntime(s, *leaf_of(*s.pools, p.child[slot]))
                                        : refresh_bounds(s, *inner_of(*s.pools, p.child[slot]));
  }
  return lowest_vruntime(s, p);
}

// Makes the window as small as it can be, as seen from reference, and all bounds exact.
inline void narrow(timeline_state& s, std::uint64_t reference) noexcept {
  std::int64_t lowest = INT64_MAX;
  std::int64_t highest = INT64_MIN;
  for (const timeline_leaf* leaf = s.tree.first; leaf != nullptr; leaf = leaf->next) {
    for (std::uint32_t i = 0; i != leaf->size; ++i) {
      const std::int64_t key = signed_difference(vruntimes_of(*leaf)[i], reference);
      if (key < lowest) lowest = key;
      if (key > highest) highest = key;
    }
  }
  s.tree.low = reference + static_cast<std::uint64_t>(lowest);
  s.tree.span = static_cast<std::uint64_t>(highest) - static_cast<std::uint64_t>(lowest);
  if (s.tree.levels != 0) refresh_bounds(s, *static_cast<timeline_inner*>(s.tree.root));
}

inline bool within_reach(const timeline_tree& tree, const eligibility& test,
                         const exact_average& average) noexcept {
  const auto reach = static_cast<std::int64_t>(average.reach);
  const std::int64_t lowest = signed_difference(tree.low, test.reference);
  return lowest >= -reach && lowest <= reach &&
         tree.span <= static_cast<std::uint64_t>(reach - lowest);
}

// Where tasks are much alike the first leaf has the answer, again and again.
inline entity* search_first(timeline_state& s, std::uint64_t average) noexcept {
  constexpr std::uint32_t habit = 4;
  if (s.tree.first_leaf_run < habit && s.tree.levels != 0) return nullptr;
  const timeline_leaf& leaf = *s.tree.first;
  const std::uint32_t position =
      leaf_first_not_after(leaf.slots + leaf_capacity, leaf.begin, leaf.size, average);
  if (position == leaf.size) return nullptr;
  s.tree.hint_slot = 0;
  s.hint = position;
  return entity_at(addresses_of(leaf)[position]);
}

inline entity* tree_first_eligible(timeline_state& s, const eligibility& test) noexcept {
  const exact_average average(test);
  if (average.exists()) {
    if (!within_reach(s.tree, test, average)) narrow(s, test.reference);
    if (within_reach(s.tree, test, average)) {
      if (entity* const found = search_first(s, average.value); found != nullptr) return found;
      if (s.tree.levels == 0) return nullptr;
      return search(s, *static_cast<timeline_inner*>(s.tree.root), average.value);
    }
  }
  for (const timeline_leaf* leaf = s.tree.first; leaf != nullptr; leaf = leaf->next) {
    const std::uint32_t position = first_holding(vruntimes_of(*leaf), leaf->size, test);
    if (position != leaf->size) return entity_at(addresses_of(*leaf)[position]);
  }
  return nullptr;
}

// Makes the smallest bound on slices of p exact, and s.shortest an entity that has it.
inline std::uint64_t tighten_slice(timeline_state& s, timeline_inner& p) noexcept {
  for (;;) {
    std::uint32_t slot = 0;
    for (std::uint32_t i = 1; i != p.size; ++i) {
      if (p.low_slice[i] < p.low_slice[slot]) slot = i;
    }
    if (p.level == 1) {
      const timeline_leaf& leaf = *leaf_of(*s.pools, p.child[slot]);
      s.shortest = run_shortest(addresses_of(leaf), leaf.size, p.low_slice[slot]);
      p.low_slice[slot] = s.shortest->slice_ns;
    } else {
      p.low_slice[slot] = tighten_slice(s, *inner_of(*s.pools, p.child[slot]));
    }
    if (lowest_slice(p) == p.low_slice[slot]) return p.low_slice[slot];
  }
}

inline void tree_min_slice(timeline_state& s) noexcept {
  if (s.tree.levels == 0) {
    const timeline_leaf& leaf = *s.tree.first;
    s.shortest = run_shortest(addresses_of(leaf), leaf.size, s.min_slice);
  } else {
    tighten_slice(s, *static_cast<timeline_inner*>(s.tree.root));
  }
}

inline entity* tree_next(const timeline_state& s, const entity& e) noexcept {
  const timeline_leaf* leaf = leaf_of(*s.pools, e.timeline_hook);
  std::uint32_t position =
      run_find(leaf->slots, leaf_capacity, leaf->begin, leaf->size, UINT32_MAX, e) + 1;
  if (position == leaf->size) {
    leaf = leaf->next;
    position = 0;
  }
  return leaf == nullptr ? nullptr : entity_at(addresses_of(*leaf)[position]);
}

inline void give_inners(timeline_pools& pools, timeline_inner* p) noexcept {
  if (p->level != 1) {
    for (std::uint32_t slot = 0; slot != p->size; ++slot) {
      give_inners(pools, inner_of(pools, p->child[slot]));
    }
  }
  give_inner(pools, p);
}

inline void give_tree(timeline_pools& pools, const timeline_tree& tree) noexcept {
  if (tree.levels != 0) give_inners(pools, static_cast<timeline_inner*>(tree.root));
  for (timeline_leaf* leaf = tree.first; leaf != nullptr;) {
    timeline_leaf* const next = leaf->next;
    give_block(pools.leaves, sizeof(timeline_leaf), leaf);
    leaf = next;
  }
}

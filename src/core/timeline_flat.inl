// SPDX-License-Identifier: Apache-2.0
//
// A run of entities in three arrays (a flat queue or a leaf), and the flat queue made of one.

inline std::uint64_t address_of(const entity& e) noexcept {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&e));
}
inline entity* entity_at(std::uint64_t address) noexcept {
  return reinterpret_cast<entity*>(static_cast<std::uintptr_t>(address));
}

// Makes room before the entity at position, moving the shorter side if it can, and puts e there.
// Requires: size < room.
inline void run_insert(std::uint64_t* slots, std::uint32_t room, std::uint32_t& begin,
                       std::uint32_t& size, std::uint32_t position, entity& e,
                       std::uint64_t key) noexcept {
  const std::uint32_t behind = size - position;
  const bool right = begin + size != room && (behind <= position || begin == 0);
  if (right) {
    std::uint64_t* const from = slots + begin + position;
    move_up(from + 1, from, behind);
    move_up(from + room + 1, from + room, behind);
    move_up(from + 2 * room + 1, from + 2 * room, behind);
  } else {
    std::uint64_t* const from = slots + begin;
    move_down(from - 1, from, position);
    move_down(from + room - 1, from + room, position);
    move_down(from + 2 * room - 1, from + 2 * room, position);
    --begin;
  }
  std::uint64_t* const slot = slots + begin + position;
  slot[0] = key;
  slot[room] = e.vruntime;
  slot[2 * room] = address_of(e);
  ++size;
}

inline void run_erase(std::uint64_t* slots, std::uint32_t room, std::uint32_t& begin,
                      std::uint32_t& size, std::uint32_t position) noexcept {
  const std::uint32_t behind = size - position - 1;
  if (behind < position) {
    std::uint64_t* const to = slots + begin + position;
    move_down(to, to + 1, behind);
    move_down(to + room, to + room + 1, behind);
    move_down(to + 2 * room, to + 2 * room + 1, behind);
  } else {
    std::uint64_t* const from = slots + begin;
    move_up(from + 1, from, position);
    move_up(from + room + 1, from + room, position);
    move_up(from + 2 * room + 1, from + 2 * room, position);
    ++begin;
  }
  --size;
}

inline void run_copy(std::uint64_t* to, std::uint32_t to_room, const std::uint64_t* from,
                     std::uint32_t from_room, std::uint32_t n) noexcept {
  for (std::uint32_t array = 0; array != 3; ++array) {
    move_down(to + array * to_room, from + array * from_room, n);
  }
}

// The position of e; hint is tried first.
inline std::uint32_t run_find(const std::uint64_t* slots, std::uint32_t room, std::uint32_t begin,
                              std::uint32_t size, std::uint32_t hint, const entity& e) noexcept {
  const std::uint64_t* const addresses = slots + 2 * room + begin;
  if (hint < size && addresses[hint] == address_of(e)) return hint;
  return find(addresses, size, address_of(e));
}

inline timeline_pool& pool_of(timeline_pools& pools, const flat_form& form) noexcept {
  return form.room == small_form.room ? pools.small_blocks : pools.large_blocks;
}

inline flat_form form_of(const timeline_state& s) noexcept {
  if (s.room == inline_form.room) return inline_form;
  return s.room == small_form.room ? small_form : large_form;
}

inline void flat_become(timeline_state& s, const flat_form& form) noexcept {
  s.room = form.room;
  s.most = form.most < s.pools->limits.flat_most
               ? form.most
               : static_cast<std::uint16_t>(s.pools->limits.flat_most);
  s.least = form.least;
}

inline std::uint64_t* flat_slots(timeline_state& s, const flat_form& form) noexcept {
  if (form.room == inline_form.room) return s.inline_slots;
  return reinterpret_cast<std::uint64_t*>(take_block(pool_of(*s.pools, form), block_bytes(form)));
}

// Moves a flat queue to another form, or within its own: the free room is split so that the side
// that ran out gets three quarters.
inline void flat_resettle(timeline_state& s, const flat_form& form, bool right_ran_out) noexcept {
  const std::uint32_t spare = form.room - s.size;
  std::uint32_t begin = right_ran_out ? spare / 4 : spare - spare / 4;
  if (form.room == inline_form.room) begin = 0;
  const std::uint64_t* const from = s.slots + s.begin;
  if (form.room == s.room) {
    std::uint64_t* const to = s.slots + begin;
    for (std::uint32_t array = 0; array != 3 * s.room; array += s.room) {
      if (begin < s.begin) {
        move_down(to + array, from + array, s.size);
      } else {
        move_up(to + array, from + array, s.size);
      }
    }
  } else {
    const flat_form old_form = form_of(s);
    std::uint64_t* const old_slots = s.slots;
    std::uint64_t* const slots = flat_slots(s, form);
    run_copy(slots + begin, form.room, from, s.room, s.size);
    if (old_slots != s.inline_slots) {
      give_block(pool_of(*s.pools, old_form), block_bytes(old_form), old_slots);
    }
    s.slots = slots;
    flat_become(s, form);
  }
  s.begin = begin;
}

// The inline and the small form hold few, which are moved one by one.
inline void few_insert(timeline_state& s, entity& e, std::uint64_t key) noexcept {
  if (s.begin != 0 && before(key, s.slots[s.begin + s.size / 2])) {
    std::uint32_t at = --s.begin;
    ++s.size;
    for (; !before(key, s.slots[at + 1]); ++at) s.move(at, at + 1);
    return s.put(at, e, key);
  }
  if (s.begin + s.size == s.room) flat_resettle(s, small_form, true);
  std::uint32_t at = s.begin + s.size++;
  for (; at != s.begin && before(key, s.slots[at - 1]); --at) s.move(at, at - 1);
  s.put(at, e, key);
}

inline void few_erase(timeline_state& s, const entity& e) noexcept {
  std::uint32_t at = s.begin;
  if (s.hint < s.size && s.at(at + s.hint) == &e) {
    at += s.hint;
  } else {
    while (s.at(at) != &e) ++at;
  }
  --s.size;
  if (s.room != inline_form.room && 2 * (at - s.begin) < s.size) {
    for (; at != s.begin; --at) s.move(at, at - 1);
    ++s.begin;
  } else {
    for (; at != s.begin + s.size; ++at) s.move(at, at + 1);
  }
}

// Requires: the form has room for one more.
inline void flat_insert(timeline_state& s, entity& e, std::uint64_t key) noexcept {
  if (s.room <= small_form.room) return few_insert(s, e, key);
  const std::uint32_t position = count_not_after(s.slots + s.begin, s.size, key);
  const bool right = s.size - position <= position;
  if (right ? s.begin + s.size == s.room : s.begin == 0) flat_resettle(s, form_of(s), right);
  run_insert(s.slots, s.room, s.begin, s.size, position, e, key);
}

inline void flat_erase(timeline_state& s, const entity& e) noexcept {
  if (s.room <= small_form.room) {
    few_erase(s, e);
  } else {
    run_erase(s.slots, s.room, s.begin, s.size,
              run_find(s.slots, s.room, s.begin, s.size, s.hint, e));
  }
  if (s.size >= s.least) return;
  flat_resettle(s, s.room == large_form.room ? small_form : inline_form, true);
}

inline entity* flat_next(const timeline_state& s, const entity& e) noexcept {
  const std::uint32_t position = run_find(s.slots, s.room, s.begin, s.size, UINT32_MAX, e) + 1;
  return position == s.size ? nullptr : s.at(s.begin + position);
}

inline entity* flat_first_eligible(timeline_state& s, const eligibility& test) noexcept {
  const std::uint32_t position = first_holding(s.vruntimes() + s.begin, s.size, test);
  if (position == s.size) return nullptr;
  s.hint = position;
  return s.at(s.begin + position);
}

// The entity with the smallest slice of a run; stops at one that has no more than bound.
inline const entity* run_shortest(const std::uint64_t* addresses, std::uint32_t n,
                                  std::uint64_t bound) noexcept {
  const entity* shortest = entity_at(addresses[0]);
  for (std::uint32_t i = 1; i != n && shortest->slice_ns > bound; ++i) {
    const entity* const e = entity_at(addresses[i]);
    if (e->slice_ns < shortest->slice_ns) shortest = e;
  }
  return shortest;
}

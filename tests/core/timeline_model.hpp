// SPDX-License-Identifier: Apache-2.0
//
// The timeline as its contract says it, by linear scans; and a pair of both that is compared after
// every operation.
#pragma once

#include "core/timeline_inspector.hpp"

#include <algorithm>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace vlag {

class linear_timeline {
 public:
  struct item {
    entity* who;
    std::uint64_t key;
  };

  void insert(entity& e, std::uint64_t key) {
    auto at = items.end();
    while (at != items.begin() && before(key, std::prev(at)->key)) --at;
    items.insert(at, {&e, key});
  }
  void erase(entity& e) { items.erase(find(e)); }
  [[nodiscard]] entity* next(const entity& e) {
    const auto at = std::next(find(e));
    return at == items.end() ? nullptr : at->who;
  }
  [[nodiscard]] entity* first_eligible(const eligibility& test) const {
    for (const item& each : items) {
      if (test.holds(each.who->vruntime)) return each.who;
    }
    return nullptr;
  }
  [[nodiscard]] std::uint64_t min_slice() const {
    std::uint64_t smallest = UINT64_MAX;
    for (const item& each : items) smallest = std::min(smallest, each.who->slice_ns);
    return smallest;
  }

  std::vector<item> items;

 private:
  std::vector<item>::iterator find(const entity& e) {
    return std::find_if(items.begin(), items.end(),
                        [&](const item& each) { return each.who == &e; });
  }
};

// The timeline under test beside the model. Each operation is done on both; fault() says what
// differs.
class timeline_twin {
  timeline_memory memory_;
  timeline_storage storage_;

 public:
  timeline_twin(std::size_t max_entities, detail::instruction_set which,
                const detail::timeline_limits& limits)
      : memory_(timeline_storage::required_bytes(max_entities)),
        storage_(memory_.span(), max_entities) {
    timeline_inspector::force(storage_, which, limits);
    real = std::make_unique<timeline>(storage_);
  }

  void insert(entity& e, std::uint64_t key) {
    real->insert(e, key);
    model.insert(e, key);
  }
  // Takes out the entity at that place in the order.
  void erase_at(std::size_t place) {
    const linear_timeline::item gone = model.items[place];
    real->erase(*gone.who, gone.key);
    model.erase(*gone.who);
  }
  void set_slice_at(std::size_t place, std::uint64_t slice_ns) {
    const linear_timeline::item changed = model.items[place];
    changed.who->slice_ns = slice_ns;
    real->slice_changed(*changed.who, changed.key);
  }
  [[nodiscard]] bool same_first_eligible(const eligibility& test) {
    return real->first_eligible(test) == model.first_eligible(test);
  }
  [[nodiscard]] bool same_min_slice() { return real->min_slice() == model.min_slice(); }

  // Order, ends, count, neighbours of one place, and the invariants inside.
  [[nodiscard]] std::string fault(std::size_t place = 0) {
    const auto& items = model.items;
    if (real->size() != items.size() || real->empty() != items.empty()) return "size differs";
    if (real->first() != (items.empty() ? nullptr : items.front().who)) return "first differs";
    auto at = items.begin();
    bool same = true;
    real->for_each([&](const entity& e) { same = same && at != items.end() && (at++)->who == &e; });
    if (!same || at != items.end()) return "order differs";
    if (!items.empty()) {
      const linear_timeline::item& one = items[place % items.size()];
      if (real->next(*one.who, one.key) != model.next(*one.who)) return "next differs";
    }
    std::string inside = timeline_inspector::fault(*real);
    return inside.empty() ? timeline_inspector::fault(storage_) : inside;
  }

  std::unique_ptr<timeline> real;
  linear_timeline model;
};

}  // namespace vlag

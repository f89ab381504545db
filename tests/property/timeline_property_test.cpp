// SPDX-License-Identifier: Apache-2.0
//
// Random streams of operations on a timeline and on the linear model, compared after every step,
// for every form of the structure and every instruction set of this processor.
#include "core/timeline_inspector.hpp"
#include "core/timeline_model.hpp"
#include "vlag/weight.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace vlag {
namespace {

using detail::instruction_set;
using detail::timeline_limits;

constexpr timeline_limits tiny_tree{0, 1, 4, 2, 4, 2};
constexpr timeline_limits short_flat{9, 5, 4, 2, 4, 2};
constexpr timeline_limits always_tree{0, 1, 32, 12, 32, 12};
constexpr timeline_limits usual{};

// xorshift64*: the streams must be the same everywhere.
class dice {
 public:
  explicit dice(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::uint64_t roll() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1dU;
  }
  std::uint64_t below(std::uint64_t n) { return roll() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }

 private:
  std::uint64_t state_;
};

// How keys, vruntimes and weights of a stream are chosen.
struct stream {
  std::uint64_t seed = 1;
  std::uint64_t origin = 0;        // where virtual time starts
  std::uint64_t key_spread = 1;    // few different keys: many ties
  std::uint64_t value_spread = 1;  // of vruntimes around the present time
  std::uint64_t step = 0;          // by which time moves on between operations
  std::uint64_t weight = 1024;     // small weight of every entity
  std::size_t most = 100;          // entities at once
  std::size_t operations = 100;
  bool grow_and_drain = false;  // fill up to most, then drain, over and over
};

// Other limits than the usual ones need more nodes than required_bytes() counts.
std::size_t room_for(const stream& s, const timeline_limits& limits) {
  return limits.tree_least != usual.tree_least ? 64 * s.most + 8192 : s.most;
}

class run {
 public:
  run(const stream& s, instruction_set which, const timeline_limits& limits)
      : s_(s), dice_(s.seed), twin_(room_for(s, limits), which, limits) {
    for (std::size_t i = 0; i != s.most; ++i) idle_.push_back(&entities_.emplace_back());
  }

  // The first difference, in words; empty when there is none.
  std::string differs() {
    for (std::size_t i = 0; i != s_.operations; ++i) {
      operate();
      now_ += s_.step;
      const bool big = twin_.model.items.size() > 300;
      if (big && i % 64 != 0) continue;
      if (std::string fault = twin_.fault(dice_.roll() % 4096); !fault.empty()) return fault;
    }
    return wrong_;
  }

 private:
  bool filling() {
    if (!s_.grow_and_drain) return dice_.chance(50);
    if (idle_.empty()) draining_ = true;
    if (twin_.model.items.empty()) draining_ = false;
    return dice_.chance(draining_ ? 20 : 80);
  }

  void operate() {
    const std::size_t n = twin_.model.items.size();
    const auto kind = dice_.below(10);
    if (kind < 5) {
      filling() ? bring_in() : take_out();
    } else if (kind == 5 && n != 0) {
      twin_.set_slice_at(dice_.below(n), slice());
    } else if (kind == 6) {
      note(twin_.same_min_slice(), "min_slice differs");
    } else if (kind == 7 && n != 0) {
      cycle();
    } else {
      note(twin_.same_first_eligible(any_test()), "first_eligible differs");
    }
  }

  void bring_in() {
    if (idle_.empty()) return;
    entity& e = *idle_.back();
    idle_.pop_back();
    e.vruntime = vruntime();
    e.slice_ns = slice();
    put(e);
  }
  void put(entity& e) {
    e.deadline = now_ + dice_.below(s_.key_spread);
    twin_.insert(e, e.deadline);
    add(e, 1);
  }
  void take_out() {
    const std::size_t n = twin_.model.items.size();
    if (n == 0) return;
    const std::size_t place = dice_.chance(30) ? 0 : dice_.below(n);
    entity& e = *twin_.model.items[place].who;
    twin_.erase_at(place);
    add(e, UINT64_MAX);
    idle_.push_back(&e);
  }
  // What a switch does: the first eligible leaves and comes back later in time.
  void cycle() {
    const eligibility test{reference_, static_cast<std::int64_t>(sum_),
                           static_cast<std::int64_t>(weight_)};
    note(twin_.same_first_eligible(test), "first_eligible differs");
    entity* const e = twin_.model.first_eligible(test);
    if (e == nullptr) return;
    std::size_t place = 0;
    while (twin_.model.items[place].who != e) ++place;
    twin_.erase_at(place);
    add(*e, UINT64_MAX);
    e->vruntime += s_.value_spread / 4 + 1;
    put(*e);
  }

  std::uint64_t vruntime() { return now_ + dice_.below(s_.value_spread) - s_.value_spread / 2; }
  std::uint64_t slice() { return dice_.chance(70) ? 3'000'000 : 100'000 + dice_.below(5) * 1000; }
  void add(const entity& e, std::uint64_t times) {
    sum_ += (e.vruntime - reference_) * s_.weight * times;
    weight_ += s_.weight * times;
  }

  // The queue's own average, one that just misses or meets a vruntime, or anything.
  eligibility any_test() {
    eligibility test{reference_, static_cast<std::int64_t>(sum_),
                     static_cast<std::int64_t>(weight_)};
    const auto kind = dice_.below(8);
    if (kind < 3) return test;
    if (kind == 3) {
      test.reference = dice_.roll();
      test.sum = static_cast<std::int64_t>(dice_.roll());
      test.weight = static_cast<std::int64_t>(dice_.roll() >> dice_.below(64));
      return test;
    }
    const auto& items = twin_.model.items;
    const std::uint64_t v = items.empty() ? now_ : items[dice_.below(items.size())].who->vruntime;
    test.reference = kind == 4 ? now_ - dice_.below(1000) : v - dice_.below(1000);
    test.weight = static_cast<std::int64_t>(1 + dice_.below(s_.weight * 64));
    const std::uint64_t at = v + dice_.below(3) - 1 - test.reference;
    test.sum = static_cast<std::int64_t>(at * static_cast<std::uint64_t>(test.weight) +
                                         dice_.below(3) - 1);
    return test;
  }
  void note(bool good, const char* what) {
    if (!good && wrong_.empty()) wrong_ = what;
  }

  stream s_;
  dice dice_;
  std::deque<entity> entities_;
  std::vector<entity*> idle_;
  timeline_twin twin_;
  std::uint64_t now_ = s_.origin;
  std::uint64_t reference_ = s_.origin;
  std::uint64_t sum_ = 0;
  std::uint64_t weight_ = 0;
  bool draining_ = false;
  std::string wrong_;
};

std::string first_difference(const stream& s) {
  for (const instruction_set which : instruction_sets_here()) {
    for (const timeline_limits& limits : {usual, always_tree, short_flat, tiny_tree}) {
      if (std::string what = run(s, which, limits).differs(); !what.empty()) {
        return what + ", instruction set " + std::to_string(static_cast<int>(which)) +
               ", flat up to " + std::to_string(limits.flat_most);
      }
    }
  }
  return "";
}

stream any_stream(std::size_t most, std::size_t operations) {
  stream s;
  s.seed = *rc::gen::arbitrary<std::uint64_t>();
  s.origin = *rc::gen::element<std::uint64_t>(0, UINT64_MAX - (1U << 20) + 1,
                                              (std::uint64_t{1} << 63) - 50'000,
                                              UINT64_MAX - 50'000, std::uint64_t{1} << 40);
  s.key_spread = *rc::gen::element<std::uint64_t>(1, 4, 1000, 3'000'000, std::uint64_t{1} << 40);
  s.value_spread = *rc::gen::element<std::uint64_t>(1, 3, 1000, 3'000'000, std::uint64_t{1} << 40);
  s.step = *rc::gen::element<std::uint64_t>(0, 1, 1000, 1'000'000);
  s.weight = *rc::gen::element<std::uint64_t>(2, 15, 1024, 88761, std::uint64_t{1} << 40);
  s.grow_and_drain = *rc::gen::arbitrary<bool>();
  s.most = *rc::gen::inRange<std::size_t>(1, most + 1);
  s.operations = *rc::gen::inRange<std::size_t>(0, operations + 1);
  return s;
}

void hold(const char* what, std::size_t most, std::size_t operations) {
  ASSERT_TRUE(rc::check(what, [=] {
    const std::string difference = first_difference(any_stream(most, operations));
    if (!difference.empty()) RC_FAIL(difference);
  }));
}

TEST(timeline_streams, few_entities_equal_the_linear_rule) { hold("few entities", 12, 400); }

TEST(timeline_streams, hundreds_cross_the_forms) { hold("hundreds of entities", 300, 2000); }

// Vruntimes so far apart that products wrap, and that signed comparison fails; and back.
TEST(timeline_streams, wrapping_products_equal_the_linear_rule) {
  ASSERT_TRUE(rc::check("wrapping products", [] {
    stream s = any_stream(200, 1500);
    s.value_spread = *rc::gen::element<std::uint64_t>(
        std::uint64_t{1} << 50, std::uint64_t{1} << 60, std::uint64_t{1} << 62, UINT64_MAX);
    s.weight =
        *rc::gen::element<std::uint64_t>(2, 1024, std::uint64_t{1} << 20, std::uint64_t{1} << 54);
    const std::string difference = first_difference(s);
    if (!difference.empty()) RC_FAIL(difference);
  }));
}

TEST(timeline_streams, thousands_fill_and_drain_a_tree_of_three_levels) {
  for (const instruction_set which : instruction_sets_here()) {
    for (const std::uint64_t key_spread : {std::uint64_t{1} << 40, std::uint64_t{5}}) {
      stream s;
      s.seed = 7 + key_spread;
      s.origin = UINT64_MAX - 5'000'000;
      s.key_spread = key_spread;
      s.value_spread = 6'000'000;
      s.step = 500;
      s.most = 5000;
      s.operations = 80'000;
      s.grow_and_drain = true;
      ASSERT_EQ(run(s, which, usual).differs(), "");
    }
  }
}

// The window of vruntimes is made narrow when it hinders, so that the average can be used again.
TEST(timeline_tree, narrows_its_window_when_time_has_moved_on) {
  timeline_memory memory(timeline_storage::required_bytes(400));
  timeline_storage storage(memory.span(), 400);
  timeline line(storage);
  std::deque<entity> e(400);
  for (std::size_t i = 0; i != e.size(); ++i) {
    e[i].vruntime = i;
    line.insert(e[i], i);
  }
  constexpr std::uint64_t later = std::uint64_t{1} << 55;
  for (std::size_t i = 0; i != e.size(); ++i) {
    line.erase(e[i], i);
    e[i].vruntime = later + i;
    line.insert(e[i], later + i);
  }
  ASSERT_GE(timeline_inspector::window(line), later);
  const std::int64_t weight = 400 * 1024;
  EXPECT_EQ(line.first_eligible({later, 7 * weight, weight}), &e[0]);
  EXPECT_LT(timeline_inspector::window(line), 400U);
  EXPECT_EQ(timeline_inspector::fault(line), "");
}

// required_bytes() is the least that is promised: at exactly that size, with all places in use and
// in every split over the timelines, no pool hands out a block that it does not have.
struct split {
  std::size_t entities;
  std::size_t timelines;
};

std::string storage_fault(const split& shape, std::uint64_t seed) {
  timeline_memory memory(timeline_storage::required_bytes(shape.entities, shape.timelines));
  timeline_storage storage(memory.span(), shape.entities, shape.timelines);
  std::vector<std::unique_ptr<timeline>> lines;
  for (std::size_t i = 0; i != shape.timelines; ++i) {
    lines.push_back(std::make_unique<timeline>(storage));
  }
  std::deque<entity> entities(shape.entities);
  std::vector<std::vector<entity*>> inside(shape.timelines);
  std::vector<entity*> outside;
  for (entity& e : entities) outside.push_back(&e);
  dice d(seed);
  std::vector<std::size_t> wanted(shape.timelines);
  for (int round = 0; round != 12; ++round) {
    // A new split: some hold what each form holds at least, or one more than it holds at most.
    std::size_t left = shape.entities;
    for (std::size_t& each : wanted) {
      constexpr std::array<std::size_t, 9> edges{0, 4, 7, 17, 25, 96, 129, 300, 1'000'000};
      each = std::min<std::size_t>(left, d.chance(80) ? edges[d.below(edges.size())] : d.below(40));
      left -= each;
    }
    for (std::size_t i = 0; i != shape.timelines; ++i) {
      while (inside[i].size() > wanted[i]) {
        const std::size_t at = round % 3 == 0 ? inside[i].size() - 1 : d.below(inside[i].size());
        std::swap(inside[i][at], inside[i].back());
        lines[i]->erase(*inside[i].back(), inside[i].back()->deadline);
        outside.push_back(inside[i].back());
        inside[i].pop_back();
      }
    }
    for (std::size_t i = 0; i != shape.timelines; ++i) {
      while (inside[i].size() < wanted[i]) {
        entity& e = *outside.back();
        outside.pop_back();
        // Bursts in the middle of what is there leave nodes half full.
        e.deadline = d.chance(50) ? d.below(1'000'000) : 500'000 + inside[i].size() % 1000;
        lines[i]->insert(e, e.deadline);
        inside[i].push_back(&e);
      }
    }
    for (const auto& line : lines) {
      if (std::string fault = timeline_inspector::fault(*line); !fault.empty()) return fault;
    }
    if (std::string fault = timeline_inspector::fault(storage); !fault.empty()) return fault;
  }
  lines.clear();
  return timeline_inspector::blocks_in_use(storage) == 0 ? "" : "blocks were not given back";
}

TEST(timeline_storage_bound, holds_for_every_split) {
  for (const split shape : {split{3, 1}, split{40, 9}, split{128, 1}, split{129, 1}, split{500, 4},
                            split{2000, 20}, split{5000, 1}, split{5000, 400}, split{30'000, 3}}) {
    for (std::uint64_t seed = 1; seed != 6; ++seed) {
      ASSERT_EQ(storage_fault(shape, seed), "") << shape.entities << " in " << shape.timelines;
    }
  }
}

// How near a bound is come to, in percent, and never passed.
void expect_reached(const timeline_storage& storage, timeline_inspector::pool which,
                    std::size_t percent) {
  const timeline_inspector::pool_use use = timeline_inspector::use(storage, which);
  EXPECT_EQ(timeline_inspector::fault(storage), "");
  EXPECT_GE(use.used * 100, use.count * percent) << use.used << " of " << use.count;
}

class crowd {
 public:
  crowd(std::size_t entities, std::size_t timelines)
      : memory_(timeline_storage::required_bytes(entities, timelines)),
        storage(memory_.span(), entities, timelines),
        entities_(entities) {
    for (entity& e : entities_) outside.push_back(&e);
    for (std::size_t i = 0; i != timelines; ++i) lines.emplace_back(storage);
  }
  entity& put(timeline& line, std::uint64_t key) {
    entity& e = *outside.back();
    outside.pop_back();
    e.deadline = key;
    line.insert(e, key);
    return e;
  }
  void take(timeline& line, entity& e) {
    line.erase(e, e.deadline);
    outside.push_back(&e);
  }

 private:
  timeline_memory memory_;

 public:
  timeline_storage storage;
  std::vector<entity*> outside;

 private:
  std::deque<entity> entities_;

 public:
  std::deque<timeline> lines;
};

// Each timeline grows past the last form and shrinks to the least of the one it got.
void fill_forms(crowd& all, std::size_t grown, std::size_t least) {
  std::uint64_t key = 0;
  for (timeline& line : all.lines) {
    if (all.outside.size() < grown) return;
    for (std::size_t i = 0; i != grown; ++i) all.put(line, ++key);
    while (line.size() != least) all.take(line, *line.first());
  }
}

TEST(timeline_storage_bound, is_reached_by_flat_forms_at_their_least) {
  crowd small(4000, 4000);
  fill_forms(small, 9, 4);
  expect_reached(small.storage, timeline_inspector::pool::small_blocks, 99);
  crowd large(17'000, 17'000);
  fill_forms(large, 25, 17);
  expect_reached(large.storage, timeline_inspector::pool::large_blocks, 99);
}

// Leaves are filled by appending, and cut down to their least once they are not the last.
TEST(timeline_storage_bound, is_reached_by_the_sparsest_tree) {
  const timeline_limits limits;
  crowd all(6000, 1);
  timeline& line = all.lines.front();
  std::uint64_t key = 0;
  std::vector<entity*> surplus;
  while (all.outside.size() >= limits.leaf_most) {
    std::vector<entity*> next_surplus;
    for (std::uint32_t i = 0; i != limits.leaf_most; ++i) {
      entity& e = all.put(line, ++key);
      if (i >= limits.leaf_least) next_surplus.push_back(&e);
    }
    for (entity* e : surplus) all.take(line, *e);
    surplus = next_surplus;
  }
  EXPECT_EQ(timeline_inspector::fault(line), "");
  expect_reached(all.storage, timeline_inspector::pool::leaves, 98);
  expect_reached(all.storage, timeline_inspector::pool::inners, 25);
}

}  // namespace
}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "vlag/timeline.hpp"

#include "core/timeline_inspector.hpp"
#include "core/timeline_model.hpp"

#include <gtest/gtest.h>

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

// A tree from the first entity on, of nodes so small that a few entities make several levels.
constexpr timeline_limits tiny_tree{0, 1, 4, 2, 4, 2};
constexpr timeline_limits short_flat{3, 2, 4, 2, 4, 2};

TEST(timeline, keeps_equal_keys_in_order_of_insertion) {
  timeline_memory room(timeline_storage::required_bytes(4));
  timeline_storage storage(room.span(), 4);
  timeline line(storage);
  std::array<entity, 4> e;
  line.insert(e[0], 10);
  line.insert(e[1], 10);
  line.insert(e[2], 5);
  line.insert(e[3], 10);
  std::vector<const entity*> seen;
  line.for_each([&](const entity& who) { seen.push_back(&who); });
  EXPECT_EQ(seen, (std::vector<const entity*>{&e[2], &e[0], &e[1], &e[3]}));
  EXPECT_EQ(line.first(), &e[2]);
  EXPECT_EQ(line.next(e[1], 10), &e[3]);
  line.erase(e[0], 10);
  EXPECT_EQ(line.next(e[2], 5), &e[1]);
}

TEST(timeline, is_small_while_few_wait) {
  EXPECT_LE(sizeof(timeline), 256U);
  timeline_memory room(timeline_storage::required_bytes(8));
  timeline_storage storage(room.span(), 8);
  timeline line(storage);
  std::array<entity, 8> e;
  for (std::size_t i = 0; i != e.size(); ++i) line.insert(e[i], i);
  EXPECT_EQ(timeline_inspector::blocks_in_use(storage), 0U);
}

TEST(timeline_storage, counts_places) {
  timeline_memory room(timeline_storage::required_bytes(2));
  timeline_storage storage(room.span(), 2);
  EXPECT_TRUE(storage.reserve_place());
  EXPECT_TRUE(storage.reserve_place());
  EXPECT_FALSE(storage.reserve_place());
  storage.release_place();
  EXPECT_EQ(storage.free_places(), 1U);
}

// --- every short sequence of operations on up to three entities

// One step: an entity that is outside comes in with one of three keys, one of two vruntimes and one
// of two slices; one that is inside leaves or changes its slice. As entities differ in nothing
// else, none comes in for the first time before the one in front of it.
constexpr unsigned steps_outside = 12;
constexpr unsigned steps_inside = 2;
constexpr unsigned entities = 3;

class every_sequence {
 public:
  every_sequence(instruction_set which, const timeline_limits& limits)
      : which_(which), limits_(limits) {}

  std::uint64_t run(unsigned depth) {
    std::vector<unsigned> steps;
    extend(steps, depth);
    return sequences_;
  }

 private:
  void extend(std::vector<unsigned>& steps, unsigned depth) {
    const unsigned choices = replay(steps);
    if (depth == 0 || ::testing::Test::HasFailure()) return;
    for (unsigned choice = 0; choice != choices; ++choice) {
      steps.push_back(choice);
      extend(steps, depth - 1);
      steps.pop_back();
    }
  }

  // Runs a sequence from the start, compares at its end, and says how many steps may follow.
  unsigned replay(const std::vector<unsigned>& steps) {
    ++sequences_;
    std::array<entity, entities> e;
    timeline_twin twin(1024, which_, limits_);
    for (const unsigned step : steps) take(twin, e, step);
    check(twin);
    unsigned choices = 0;
    for (const entity& each : e) {
      choices += each.queued ? steps_inside : steps_outside;
      if (each.exec_start_ns == 0) break;
    }
    return choices;
  }

  static void take(timeline_twin& twin, std::array<entity, entities>& e, unsigned step) {
    for (entity& each : e) {
      const unsigned here = each.queued ? steps_inside : steps_outside;
      if (step >= here) {
        step -= here;
        continue;
      }
      if (!each.queued) {
        each.vruntime = UINT64_MAX + step / 3 % 2;
        each.slice_ns = 1 + step / 6;
        each.deadline = UINT64_MAX - 3 + 2 * (step % 3);
        twin.insert(each, each.deadline);
        each.queued = true;
        each.exec_start_ns = 1;
        return;
      }
      std::size_t place = 0;
      while (twin.model.items[place].who != &each) ++place;
      if (step == 0) {
        twin.erase_at(place);
        each.queued = false;
      } else {
        twin.set_slice_at(place, 3 - each.slice_ns);
      }
      return;
    }
  }

  static void check(timeline_twin& twin) {
    for (std::size_t place = 0; place != entities; ++place) ASSERT_EQ(twin.fault(place), "");
    ASSERT_TRUE(twin.same_min_slice());
    for (std::int64_t sum = -3; sum <= 3; ++sum) {
      ASSERT_TRUE(twin.same_first_eligible({UINT64_MAX, sum, 2}));
    }
    ASSERT_EQ(twin.fault(), "");
  }

  instruction_set which_;
  timeline_limits limits_;
  std::uint64_t sequences_ = 0;
};

// Sanitizers make each step some thirty times slower.
#ifdef __SANITIZE_ADDRESS__
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

TEST(timeline, every_short_sequence_equals_the_linear_rule) {
  for (const instruction_set which : instruction_sets_here()) {
    for (const timeline_limits& limits : {timeline_limits{}, tiny_tree, short_flat}) {
      EXPECT_GT(every_sequence(which, limits).run(sanitized ? 3 : 4), sanitized ? 500U : 10'000U);
      ASSERT_FALSE(HasFailure());
    }
  }
  if (sanitized) return;
  EXPECT_GT(every_sequence(instruction_sets_here().back(), tiny_tree).run(5), 100'000U);
}

}  // namespace
}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "machine/rt_queue.hpp"
#include "machine/timer_queue.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <deque>
#include <map>
#include <queue>
#include <tuple>
#include <vector>

namespace vlag {
namespace {

TEST(timers, come_up_as_from_a_priority_queue) {
  EXPECT_TRUE(rc::check([] {
    using entry = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>;  // time, order, task
    std::priority_queue<entry, std::vector<entry>, std::greater<>> model;
    timer_queue timers;
    std::uint64_t order = 0;
    const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-8, 20));
    for (const int step : steps) {
      if (step >= 0) {
        const auto task = static_cast<std::uint32_t>(order);
        timers.push(static_cast<std::uint64_t>(step), task, task + 7);
        model.emplace(static_cast<std::uint64_t>(step), order++, task);
      } else if (!model.empty()) {
        RC_ASSERT(timers.top().at_ns == std::get<0>(model.top()));
        RC_ASSERT(timers.top().task == std::get<2>(model.top()));
        RC_ASSERT(timers.top().generation == timers.top().task + 7);
        timers.pop();
        model.pop();
      }
      RC_ASSERT(timers.empty() == model.empty());
    }
    for (; !model.empty(); model.pop(), timers.pop()) {
      RC_ASSERT(timers.top().task == std::get<2>(model.top()));
    }
    RC_ASSERT(timers.empty());
  }));
}

TEST(timers, ten_thousand_in_ascending_and_descending_order) {
  timer_queue timers;
  for (std::uint32_t i = 0; i < 10'000; ++i) timers.push(i, i, 0);
  for (std::uint32_t i = 10'000; i-- > 0;) timers.push(i, i, 1);
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    for (const std::uint32_t generation : {0U, 1U}) {
      ASSERT_EQ(timers.top().at_ns, i);
      ASSERT_EQ(timers.top().generation, generation);
      timers.pop();
    }
  }
  EXPECT_TRUE(timers.empty());
}

TEST(real_time_queue, is_a_list_for_each_priority) {
  EXPECT_TRUE(rc::check([] {
    std::map<int, std::deque<std::uint32_t>, std::greater<>> model;
    rt_queue queue;
    std::uint32_t task = 0;
    const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
        rc::gen::pair(rc::gen::inRange(0, 3), rc::gen::inRange(1, 6)));
    for (const auto& [what, priority] : steps) {
      if (what == 0) {
        queue.push_back(task, priority);
        model[priority].push_back(task++);
      } else if (what == 1) {
        queue.push_front(task, priority);
        model[priority].push_front(task++);
      } else if (!model.empty()) {
        auto highest = model.begin();
        RC_ASSERT(queue.top_priority() == highest->first);
        RC_ASSERT(queue.pop() == highest->second.front());
        highest->second.pop_front();
        if (highest->second.empty()) model.erase(highest);
      }
      RC_ASSERT(queue.empty() == model.empty());
    }
  }));
}

}  // namespace
}  // namespace vlag

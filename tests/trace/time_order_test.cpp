// SPDX-License-Identifier: Apache-2.0
#include "trace/time_order.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

namespace vlag::trace {
namespace {

class keeper final : public event_visitor {
 public:
  void visit(const event& entry) override { events.push_back(entry); }
  std::vector<event> events;
};

event at(std::uint64_t time_ns, std::uint64_t where) {
  event entry;
  entry.time_ns = time_ns;
  entry.where = where;
  return entry;
}

void sort_by_time(std::vector<event>& events) {
  std::stable_sort(events.begin(), events.end(),
                   [](const event& a, const event& b) { return a.time_ns < b.time_ns; });
}

bool same(const std::vector<event>& a, const std::vector<event>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const event& x, const event& y) {
    return x.time_ns == y.time_ns && x.where == y.where;
  });
}

// Rounds as perf writes them: each holds, CPU by CPU, what came since that CPU was last emptied,
// and is over before anything is older than the round before.
TEST(time_order, sorts_rounds_without_waiting_for_the_end) {
  EXPECT_TRUE(rc::check("rounds", [] {
    keeper kept;
    time_order order(kept, 1 << 20);
    std::vector<event> all;
    std::uint64_t place = 0;
    std::uint64_t begin_ns = 0;
    for (int round = *rc::gen::inRange(1, 12); round > 0; --round) {
      for (int cpu = 0; cpu < 3; ++cpu) {
        std::uint64_t now_ns = begin_ns;
        for (int left = *rc::gen::inRange(0, 10); left > 0; --left) {
          now_ns += *rc::gen::inRange<std::uint64_t>(0, 10);
          all.push_back(at(now_ns, place++));
          RC_ASSERT(order.add(all.back()));
        }
      }
      std::uint64_t latest_ns = begin_ns;
      for (const event& entry : all) latest_ns = std::max(latest_ns, entry.time_ns);
      order.round_ended();
      begin_ns = latest_ns;
    }
    order.finish();
    sort_by_time(all);
    RC_ASSERT(same(kept.events, all));
  }));
}

TEST(time_order, passes_on_at_the_end_of_the_next_round) {
  keeper kept;
  time_order order(kept, 100);
  EXPECT_TRUE(order.add(at(5, 0)));
  EXPECT_TRUE(order.add(at(3, 1)));
  order.round_ended();
  EXPECT_TRUE(kept.events.empty());
  EXPECT_TRUE(order.add(at(4, 2)));
  order.round_ended();
  EXPECT_TRUE(same(kept.events, {at(3, 1), at(4, 2), at(5, 0)}));
}

TEST(time_order, holds_no_more_than_it_may_and_says_what_is_too_late) {
  keeper kept;
  time_order order(kept, 10);
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_TRUE(order.add(at(100 - i, i)));
  EXPECT_EQ(kept.events.size(), 5U);
  EXPECT_EQ(kept.events.back().time_ns, 95U);
  EXPECT_FALSE(order.add(at(94, 10)));
  EXPECT_TRUE(order.add(at(95, 11)));
  order.finish();
  EXPECT_EQ(kept.events.size(), 11U);
  EXPECT_TRUE(std::is_sorted(kept.events.begin(), kept.events.end(),
                             [](const event& a, const event& b) { return a.time_ns < b.time_ns; }));
}

}  // namespace
}  // namespace vlag::trace

// SPDX-License-Identifier: Apache-2.0
//
// What latency_nice does to a task that needs the CPU for 1 ms in every 10, beside four hogs.
#include "machine/scenario.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace vlag {
namespace {

using test::ms;
using test::run;
using test::s;
using test::scenario;
using test::us;

constexpr std::array levels{-20, -10, 0, 10, 19};
constexpr std::uint64_t span = 60 * s;

struct outcome {
  std::uint64_t p99_ns;
  std::vector<double> shares;  // percent of the CPU: the periodic task, then the hogs
};

enum class how { from_the_start, by_the_task_itself };

struct timing {
  std::uint64_t tick_ns;
  bool hrtick;
};

outcome beside_four_hogs(int latency_nice, how set, timing clock,
                         const char* profile = "linux-6.12") {
  scenario m(profile);
  m.config.tick_ns = clock.tick_ns;
  m.config.tick_jitter_ns = 1 * us;
  m.config.hrtick = clock.hrtick;
  m.config.period_origins_ns = {0};
  task_setup periodic;
  if (set == how::from_the_start) {
    periodic.latency_nice = latency_nice;
    periodic.steps = {test::sleep_to_period(10 * ms), run(1 * ms), test::jump(0)};
  } else {
    periodic.steps = {test::set_latency_nice(latency_nice), test::sleep_to_period(10 * ms),
                      run(1 * ms), test::jump(1)};
  }
  const std::uint32_t task = m.add(periodic);
  for (int i = 0; i < 4; ++i) m.add_hog();
  m.run_until(span);
  outcome result{m.of(task).wake_latency.quantile_ns(990), {}};
  for (std::uint32_t t = 0; t <= 4; ++t) {
    result.shares.push_back(100.0 * static_cast<double>(m.cpu_ns(t)) / static_cast<double>(span));
  }
  return result;
}

// Slices of 0.07 ms at -10 and of 6.5 ms at 10 stand on both sides of the base slice of
// 0.7 ms and of the task's 1 ms; those below, and those above, lead to the same choices here.
TEST(latency_nice, orders_the_wait_and_leaves_the_shares) {
  for (const timing clock : {timing{1 * ms, false}, timing{1 * ms, true}, timing{4 * ms, true}}) {
    for (const how set : {how::from_the_start, how::by_the_task_itself}) {
      const outcome usual = beside_four_hogs(0, set, clock);
      std::vector<std::uint64_t> p99_ns;
      for (const int latency_nice : levels) {
        const outcome o = beside_four_hogs(latency_nice, set, clock);
        p99_ns.push_back(o.p99_ns);
        for (std::size_t t = 0; t < o.shares.size(); ++t) {
          EXPECT_NEAR(o.shares[t], usual.shares[t], usual.shares[t] / 100) << latency_nice;
        }
      }
      EXPECT_TRUE(std::is_sorted(p99_ns.begin(), p99_ns.end()));
      EXPECT_LT(p99_ns[1] * 2, p99_ns[2]);      // -10 against 0
      EXPECT_GT(p99_ns[3] * 3, p99_ns[2] * 4);  // 10 against 0
    }
  }
}

// A tick of 4 ms ends no request of 0.7 ms in time: latency_nice hardly matters, and costs nothing.
TEST(latency_nice, does_little_where_ticks_are_coarse) {
  std::uint64_t previous_ns = 0;
  for (const int latency_nice : levels) {
    const outcome o = beside_four_hogs(latency_nice, how::from_the_start, {4 * ms, false});
    EXPECT_GE(o.p99_ns, previous_ns) << latency_nice;
    previous_ns = o.p99_ns;
    EXPECT_NEAR(o.shares[0], 10, 0.1) << latency_nice;
  }
}

TEST(latency_nice, is_without_effect_under_cfs) {
  const timing clock{1 * ms, false};
  const outcome usual = beside_four_hogs(0, how::from_the_start, clock, "linux-6.1");
  for (const how set : {how::from_the_start, how::by_the_task_itself}) {
    const outcome o = beside_four_hogs(-20, set, clock, "linux-6.1");
    EXPECT_EQ(o.p99_ns, usual.p99_ns);
    EXPECT_EQ(o.shares, usual.shares);
  }
}

// A slice of its own wins; when it is given back, latency_nice counts again.
TEST(latency_nice, counts_again_once_the_own_slice_is_given_back) {
  const auto p99 = [](program before) {
    scenario m;
    m.config.tick_ns = 1 * ms;
    m.config.period_origins_ns = {0};
    const std::uint64_t first = before.size();
    before.insert(before.end(), {test::sleep_to_period(10 * ms), run(1 * ms), test::jump(first)});
    const std::uint32_t task = m.add(before);
    for (int i = 0; i < 4; ++i) m.add_hog();
    m.run_until(10 * s);
    return m.of(task).wake_latency.quantile_ns(990);
  };
  using test::set_latency_nice;
  using test::set_slice;
  const std::uint64_t low = p99({set_latency_nice(-20)});
  const std::uint64_t high = p99({set_slice(50 * ms)});
  ASSERT_LT(low * 2, high);
  EXPECT_EQ(p99({set_latency_nice(-20), set_slice(50 * ms)}), high);
  EXPECT_EQ(p99({set_slice(50 * ms), set_latency_nice(-20)}), high);
  EXPECT_EQ(p99({set_latency_nice(-20), set_slice(50 * ms), set_slice(0)}), low);
  EXPECT_EQ(p99({set_latency_nice(-20), set_latency_nice(0)}), p99({}));
}

}  // namespace
}  // namespace vlag

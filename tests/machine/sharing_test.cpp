// SPDX-License-Identifier: Apache-2.0
#include "scenario.hpp"

#include <gtest/gtest.h>

namespace vlag::test {
namespace {

TEST(sharing, equal_hogs_get_equal_shares) {
  for (const char* profile_name : {"linux-6.12", "linux-6.1"}) {
    scenario one(profile_name);
    for (int i = 0; i < 4; ++i) one.add_hog();
    one.run_until(10 * s);
    for (std::uint32_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(static_cast<double>(one.cpu_ns(i)), 2.5e9, 8e6) << profile_name;
    }
  }
}

TEST(sharing, nice_0_gets_three_times_as_much_as_nice_5) {
  for (const char* profile_name : {"linux-6.12", "linux-6.1"}) {
    scenario one(profile_name);
    const auto favoured = one.add_hog(0);
    one.add_hog(5);
    one.run_until(100 * s);
    EXPECT_NEAR(static_cast<double>(one.cpu_ns(favoured)), 100e9 * 1024 / (1024 + 335), 20e6);
  }
}

TEST(sharing, a_lone_hog_is_never_switched_away) {
  scenario one;
  one.add_hog();
  one.run_until(1 * s);
  EXPECT_EQ(one.switches(), (switch_list{{0, 0}}));
  EXPECT_EQ(one.cpu_ns(0), 1 * s);
  EXPECT_EQ(one.figures().cpus[0].idle_ns, 0U);
}

TEST(sharing, two_hogs_with_requests_below_a_tick_alternate_at_each_tick) {
  scenario one;
  one.add_hog();
  one.add_hog();
  one.run_until(17 * ms);
  EXPECT_EQ(one.switches(),
            (switch_list{{0, 0}, {4 * ms, 1}, {8 * ms, 0}, {12 * ms, 1}, {16 * ms, 0}}));
}

TEST(sharing, a_task_of_policy_idle_gets_3_parts_against_1024) {
  scenario one;
  task_setup background;
  background.policy = sched_policy::idle;
  background.steps = {run_forever()};
  const auto idle = one.add(background);
  one.add_hog();
  one.run_until(100 * s);
  EXPECT_NEAR(static_cast<double>(one.cpu_ns(idle)), 100e9 * 3 / 1027, 8e6);
}

TEST(sharing, a_task_that_lowers_its_own_priority_gets_less_from_then_on) {
  scenario one;
  const auto modest = one.add({run(1 * s), set_nice(5), run_forever()});
  one.add_hog();
  one.run_until(2 * s);
  const std::uint64_t before = one.cpu_ns(modest);
  EXPECT_NEAR(static_cast<double>(before), 1e9, 8e6);
  one.run_until(102 * s);
  EXPECT_NEAR(static_cast<double>(one.cpu_ns(modest) - before), 100e9 * 335 / 1359, 20e6);
}

TEST(sharing, lowering_its_priority_ends_a_tasks_turn) {
  scenario one;
  one.add({run(1 * ms), set_nice(5), run_forever()});
  one.add_hog();
  one.run_until(2 * ms);
  EXPECT_EQ(one.switches(), (switch_list{{0, 0}, {1 * ms, 1}}));
}

TEST(sharing, a_task_of_a_shorter_slice_is_served_sooner_when_it_wakes) {
  std::vector<std::uint64_t> mean_latency_ns;
  for (const std::uint64_t slice_ns : {20 * ms, 1 * ms}) {
    scenario one;
    one.policy.eevdf.base_slice_ns = 20 * ms;
    const auto woken =
        one.add({set_slice(slice_ns), run(1 * ms), sleep(24 * ms + 300 * us), jump(1)});
    one.add_hog();
    one.add_hog();
    one.run_until(10 * s);
    mean_latency_ns.push_back(one.of(woken).wake_latency.mean_ns());
  }
  EXPECT_GT(mean_latency_ns[0], 1 * ms);
  EXPECT_LT(mean_latency_ns[1], mean_latency_ns[0] / 2);
}

TEST(sharing, a_slice_set_by_the_task_itself_is_what_the_request_timer_goes_by) {
  for (const bool set : {false, true}) {
    scenario one;
    one.config.hrtick = true;
    one.policy.eevdf.base_slice_ns = 8 * ms;
    const auto brisk = one.add({set ? set_slice(3 * ms) : milestone(), run_forever()});
    one.add_hog();
    one.run_until(9 * ms);
    EXPECT_EQ(one.stops_of(brisk).at(0), set ? 3 * ms : 8 * ms);
  }
}

TEST(sharing, a_request_found_used_up_by_set_slice_ends_the_turn_without_waiting_for_a_tick) {
  scenario one;
  one.add({run(1 * ms), set_slice(5 * ms), run_forever()});
  one.add_hog();
  one.run_until(2 * ms);
  EXPECT_EQ(one.switches(), (switch_list{{0, 0}, {1 * ms, 1}}));
}

TEST(sharing, a_yielding_task_lets_the_other_go_first) {
  scenario one;
  one.add({run(1 * ms), yield(), run_forever()});
  one.add_hog();
  one.run_until(2 * ms);
  EXPECT_EQ(one.switches(), (switch_list{{0, 0}, {1 * ms, 1}}));
  EXPECT_EQ(one.of(0).involuntary, 1U);
}

TEST(sharing, a_yield_without_company_changes_nothing) {
  scenario one;
  one.add({run(1 * ms), yield(), run(1 * ms), exit()});
  one.run_until(1 * s);
  EXPECT_EQ(one.switches(), (switch_list{{0, 0}, {2 * ms, no_task}}));
}

TEST(sharing, a_task_that_reads_its_clock_is_switched_when_its_request_is_used_up) {
  scenario one;
  for (int i = 0; i < 2; ++i) {
    task_setup poller;
    poller.clock_poll_ns = 100 * us;
    poller.steps = {run_forever()};
    one.add(poller);
  }
  one.run_until(2 * ms);
  EXPECT_EQ(one.switches(), (switch_list{{0, 0}, {700 * us, 1}, {1400 * us, 0}}));
}

TEST(sharing, reading_the_clock_loses_no_work) {
  scenario one;
  task_setup poller;
  poller.clock_poll_ns = 300 * us;
  poller.steps = {run(1 * ms), run(200 * us), exit()};
  one.add(poller);
  one.run_until(1 * s);
  EXPECT_EQ(one.switches(), (switch_list{{0, 0}, {1200 * us, no_task}}));
}

TEST(sharing, a_hog_gets_what_a_sleeper_leaves) {
  scenario one;
  const auto sleeper = one.add({run(1 * ms), sleep(9 * ms), jump(0)});
  const auto hog = one.add_hog();
  one.run_until(1 * s);
  EXPECT_EQ(one.cpu_ns(hog) + one.cpu_ns(sleeper), 1 * s);
  EXPECT_GT(one.cpu_ns(hog), 870 * ms);
}

}  // namespace
}  // namespace vlag::test

// SPDX-License-Identifier: Apache-2.0
#include "scenario.hpp"

#include <gtest/gtest.h>

namespace vlag::test {
namespace {

TEST(real_time, fifo_runs_before_fair_and_fair_resumes_when_it_blocks) {
  for (const char* profile_name : {"linux-6.12", "linux-6.1"}) {
    scenario one(profile_name);
    const auto hog = one.add_hog();
    const auto fifo = one.add_real_time({sleep(10 * ms), run(30 * ms), exit()}, 1);
    one.run_until(100 * ms);
    EXPECT_EQ(one.switches(), (switch_list{{0, fifo}, {0, hog}, {10 * ms, fifo}, {40 * ms, hog}}))
        << profile_name;
  }
}

TEST(real_time, higher_priority_preempts_and_equals_wait_their_turn) {
  scenario one;
  const auto low = one.add_real_time({sleep(1 * ms), run(10 * ms), exit()}, 10);
  const auto high = one.add_real_time({sleep(3 * ms), run(4 * ms), exit()}, 20);
  const auto equal = one.add_real_time({sleep(4 * ms), run(4 * ms), exit()}, 20);
  one.run_until(100 * ms);
  const auto all = one.switches();
  EXPECT_EQ(
      switch_list(all.end() - 5, all.end()),
      (switch_list{
          {1 * ms, low}, {3 * ms, high}, {7 * ms, equal}, {11 * ms, low}, {19 * ms, no_task}}));
}

TEST(real_time, equals_run_in_the_order_in_which_they_woke) {
  scenario one;
  const auto first = one.add_real_time({run(2 * ms), exit()}, 10);
  const auto second = one.add_real_time({run(2 * ms), exit()}, 10);
  const auto third = one.add_real_time({run(2 * ms), exit()}, 10);
  one.run_until(100 * ms);
  EXPECT_EQ(one.switches(),
            (switch_list{{0, first}, {2 * ms, second}, {4 * ms, third}, {6 * ms, no_task}}));
}

TEST(real_time, a_preempted_task_goes_to_the_head_of_its_equals) {
  scenario one;
  const auto running = one.add_real_time({run(10 * ms), exit()}, 10);
  const auto equal = one.add_real_time({run(10 * ms), exit()}, 10);
  const auto high = one.add_real_time({sleep(5 * ms), run(1 * ms), exit()}, 20);
  one.run_until(100 * ms);
  EXPECT_EQ(one.switches(), (switch_list{{0, high},
                                         {0, running},
                                         {5 * ms, high},
                                         {6 * ms, running},
                                         {11 * ms, equal},
                                         {21 * ms, no_task}}));
}

TEST(real_time, a_yielding_task_goes_to_the_tail_of_its_equals) {
  scenario one;
  const auto yielding = one.add_real_time({run(1 * ms), yield(), run(1 * ms), exit()}, 10);
  const auto equal = one.add_real_time({run(5 * ms), exit()}, 10);
  const auto low = one.add_real_time({run(1 * ms), exit()}, 5);
  one.run_until(100 * ms);
  EXPECT_EQ(
      one.switches(),
      (switch_list{
          {0, yielding}, {1 * ms, equal}, {6 * ms, yielding}, {7 * ms, low}, {8 * ms, no_task}}));
}

TEST(real_time, round_robin_rotates_after_100_ms_and_fifo_never) {
  scenario one;
  const auto a = one.add_real_time({run(250 * ms), exit()}, 10, sched_policy::round_robin);
  const auto b = one.add_real_time({run(250 * ms), exit()}, 10, sched_policy::round_robin);
  one.run_until(1 * s);
  EXPECT_EQ(one.switches(), (switch_list{{0, a},
                                         {100 * ms, b},
                                         {200 * ms, a},
                                         {300 * ms, b},
                                         {400 * ms, a},
                                         {450 * ms, b},
                                         {500 * ms, no_task}}));

  scenario other;
  const auto c = other.add_real_time({run(250 * ms), exit()}, 10);
  const auto d = other.add_real_time({run(250 * ms), exit()}, 10);
  other.run_until(1 * s);
  EXPECT_EQ(other.switches(), (switch_list{{0, c}, {250 * ms, d}, {500 * ms, no_task}}));
}

TEST(real_time, a_round_robin_task_keeps_what_is_left_of_its_time_when_preempted) {
  scenario one;
  const auto high = one.add_real_time({sleep(42 * ms), run(8 * ms), exit()}, 20);
  const auto a = one.add_real_time({run(1 * s), exit()}, 10, sched_policy::round_robin);
  const auto b = one.add_real_time({run(1 * s), exit()}, 10, sched_policy::round_robin);
  one.run_until(150 * ms);
  EXPECT_EQ(one.switches(),
            (switch_list{{0, high}, {0, a}, {42 * ms, high}, {50 * ms, a}, {108 * ms, b}}));
}

TEST(real_time, a_rotation_that_came_too_late_does_not_hit_the_next_task) {
  // The round-robin task blocks between the tick that ends its time and the switch.
  scenario one;
  one.config.tick_switch_delay_ns = 10 * us;
  const auto high = one.add_real_time({sleep(110 * ms), run(1 * ms), exit()}, 20);
  one.add_real_time({run(100 * ms + 5 * us), exit()}, 10, sched_policy::round_robin);
  const auto running = one.add_real_time({run(20 * ms), exit()}, 10);
  const auto equal = one.add_real_time({run(20 * ms), exit()}, 10);
  one.run_until(1 * s);
  EXPECT_EQ(one.starts_of(running), (times{100 * ms + 5 * us, 111 * ms}));
  EXPECT_EQ(one.starts_of(equal), (times{121 * ms + 5 * us}));
  EXPECT_EQ(one.starts_of(high).back(), 110 * ms);
}

TEST(real_time, a_fair_task_that_wakes_meanwhile_waits) {
  scenario one;
  const auto fifo = one.add_real_time({run(30 * ms), sleep(1 * ms), run(10 * ms), exit()}, 1);
  const auto fair = one.add_blocked({sleep(10 * ms), run(5 * ms), exit()});
  one.run_until(100 * ms);
  EXPECT_EQ(one.switches(),
            (switch_list{
                {0, fifo}, {30 * ms, fair}, {31 * ms, fifo}, {41 * ms, fair}, {45 * ms, no_task}}));
  EXPECT_EQ(one.of(fair).wake_latency.max_ns(), 20 * ms);
  EXPECT_FALSE(one.of(fifo).in_fair_class);
}

}  // namespace
}  // namespace vlag::test

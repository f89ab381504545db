// SPDX-License-Identifier: Apache-2.0
#include "scenario.hpp"

#include <gtest/gtest.h>

namespace vlag::test {
namespace {

using reason = machine::stop_reason;

TEST(program, a_sleep_lasts_as_long_as_it_says) {
  scenario one;
  one.add({run(1 * ms), sleep(7 * ms + 3), run(1 * ms), exit()});
  one.run_until(1 * s);
  EXPECT_EQ(one.switches(),
            (switch_list{{0, 0}, {1 * ms, no_task}, {8 * ms + 3, 0}, {9 * ms + 3, no_task}}));
  EXPECT_EQ(one.of(0).sleep_ns, 7 * ms + 3);
  EXPECT_EQ(one.of(0).wakeups, 1U);
}

TEST(program, timer_slack_lengthens_the_sleep_of_a_fair_task_only) {
  scenario one;
  one.config.timer_slack_ns = 50 * us;
  const auto fair = one.add({sleep(1 * ms), run(1 * us), exit()});
  const auto fifo = one.add_real_time({sleep(1 * ms), run(1 * us), exit()}, 1);
  one.run_until(1 * s);
  EXPECT_EQ(one.starts_of(fair).back(), 1050 * us);
  EXPECT_EQ(one.starts_of(fifo).back(), 1 * ms);
}

TEST(program, sleep_until_a_past_time_does_not_block) {
  scenario one;
  one.add(
      {run(2 * ms), sleep_until(1 * ms), run(1 * ms), sleep_until(5 * ms), run(1 * ms), exit()});
  one.run_until(1 * s);
  EXPECT_EQ(one.switches(),
            (switch_list{{0, 0}, {3 * ms, no_task}, {5 * ms, 0}, {6 * ms, no_task}}));
}

TEST(program, a_sleep_in_ticks_ends_on_the_tick_grid) {
  scenario one;
  one.config.tick_phase_ns = 1 * ms;
  one.config.tick_timer_delay_ns = 2 * us;
  one.add({run(3 * ms), sleep_ticks(1), run(1 * ms), sleep_ticks(3), run(1 * ms), exit()});
  one.run_until(1 * s);
  EXPECT_EQ(one.starts_of(0), (times{0, 5 * ms + 2 * us, 17 * ms + 2 * us}));
}

TEST(program, a_periodic_sleep_ends_at_the_next_multiple_after_its_origin) {
  scenario one;
  one.config.period_origins_ns = {3 * ms, 100 * ms};
  one.add({{op_kind::sleep_to_period, 0, 10 * ms}, run(1 * ms), jump(0)});
  one.add({{op_kind::sleep_to_period, 1, 10 * ms}, run(1 * ms), exit()});
  one.run_until(40 * ms);
  EXPECT_EQ(one.starts_of(0), (times{0, 3 * ms, 13 * ms, 23 * ms, 33 * ms}));
  one.run_until(200 * ms);
  EXPECT_EQ(one.starts_of(1).back(), 100 * ms);
}

TEST(program, a_sleep_longer_than_time_itself_never_ends) {
  scenario one;
  one.config.timer_slack_ns = 50 * us;
  one.add({run(1 * ms), sleep(forever_ns), run(1 * ms), exit()});
  one.add({run(1 * ms), sleep_ticks(forever_ns), run(1 * ms), exit()});
  one.add({run(1 * ms), sleep_until(forever_ns), run(1 * ms), exit()});
  one.run_until(1000 * s);
  EXPECT_EQ(one.figures().cpus[0].busy_ns, 3 * ms);
}

TEST(program, a_waiting_task_is_woken_by_wake) {
  scenario one;
  const auto waiter = one.add({wait(), run(1 * ms), exit()});
  one.add({run(5 * ms), wake(waiter), run(1 * ms), exit()});
  one.run_until(1 * s);
  ASSERT_EQ(one.wakeup_events.size(), 3U);
  EXPECT_EQ(one.wakeup_events[2], (wakeup_event{5 * ms, 0, waiter, 1}));
  EXPECT_EQ(one.cpu_ns(waiter), 1 * ms);
}

TEST(program, wakes_before_the_wait_are_counted) {
  scenario one;
  const auto waiter =
      one.add_blocked({sleep(10 * ms), wait(), wait(), run(1 * ms), wait(), exit()});
  one.add({wake(waiter), wake(waiter), run(1 * ms), exit()});
  one.run_until(1 * s);
  EXPECT_EQ(one.switches(),
            (switch_list{{0, 1}, {1 * ms, no_task}, {10 * ms, waiter}, {11 * ms, no_task}}));
  EXPECT_EQ(one.of(waiter).wakeups, 1U);
}

TEST(program, wake_does_not_end_a_sleep) {
  scenario one;
  const auto sleeper = one.add_blocked({sleep(10 * ms), run(1 * ms), exit()});
  one.add({run(1 * ms), wake(sleeper), exit()});
  one.run_until(1 * s);
  EXPECT_EQ(one.starts_of(sleeper), (times{10 * ms}));
}

TEST(program, a_signal_ends_a_sleep_and_its_timer_is_void) {
  scenario one;
  const auto sleeper =
      one.add_blocked({sleep(10 * ms), run(1 * ms), sleep(20 * ms), run(1 * ms), exit()});
  one.add({run(1 * ms), signal(sleeper), exit()});
  one.run_until(1 * s);
  EXPECT_EQ(one.starts_of(sleeper), (times{1 * ms, 22 * ms}));
}

TEST(program, a_signal_ends_a_wait_and_is_lost_on_a_task_that_runs) {
  scenario one;
  const auto target = one.add_blocked({wait(), run(4 * ms), wait(), run(1 * ms), exit()});
  one.add({run(1 * ms), signal(target), signal(target), run(1 * ms), exit()});
  EXPECT_EQ(one.run_until(1 * s), reason::nothing_left);
  EXPECT_EQ(one.cpu_ns(target), 4 * ms);
}

TEST(program, watch_runs_on_until_the_target_blocks_and_then_a_while) {
  scenario one("linux-6.12", 2);
  const auto target = one.add_on(0, {run(5 * ms), sleep(1 * s), exit()});
  one.add_on(1, {run(1 * ms), watch(target, 300 * us), exit()});
  one.run_until(500 * ms);
  EXPECT_EQ(one.switches(1), (switch_list{{0, 1}, {5 * ms + 300 * us, no_task}}));
}

TEST(program, watching_a_task_that_is_blocked_takes_only_the_while) {
  scenario one;
  const auto target = one.add_blocked({wait(), exit()});
  one.add({run(1 * ms), watch(target, 300 * us), exit()});
  one.run_until(500 * ms);
  EXPECT_EQ(one.stops_of(1), (times{1300 * us}));
}

TEST(program, watch_on_one_cpu_lets_the_target_run_to_its_sleep) {
  scenario one;
  const auto target = one.add({run(10 * ms), sleep(1 * s), exit()});
  const auto watcher = one.add({watch(target, 1 * ms), exit()});
  one.run_until(500 * ms);
  EXPECT_EQ(one.cpu_ns(target), 10 * ms);
  EXPECT_EQ(one.cpu_ns(watcher), 9 * ms);  // ticks at 4, 8, 12 ms; the target blocks at 18 ms
  EXPECT_EQ(one.stops_of(watcher).back(), 19 * ms);
}

TEST(program, several_watchers_of_one_task_are_all_told) {
  scenario one("linux-6.12", 3);
  const auto target = one.add_on(0, {run(5 * ms), wait()});
  one.add_on(1, {watch(target, 1 * ms), exit()});
  one.add_on(2, {watch(target, 2 * ms), exit()});
  one.run_until(500 * ms);
  EXPECT_EQ(one.stops_of(1), (times{6 * ms}));
  EXPECT_EQ(one.stops_of(2), (times{7 * ms}));
}

TEST(program, watching_a_task_that_is_gone_ends_as_if_it_were_blocked) {
  scenario one("linux-6.12", 2);
  const auto target = one.add_on(0, {run(1 * ms), exit()});
  one.add_on(1, {run(5 * ms), watch(target, 300 * us), exit()});
  one.run_until(500 * ms);
  EXPECT_EQ(one.stops_of(1), (times{5300 * us}));
}

TEST(program, fork_starts_a_task_once) {
  scenario one;
  const auto child = one.add_unborn({run(1 * ms), exit()});
  one.add({run(2 * ms), fork(child), fork(child), run(1 * ms), fork(child), exit()});
  EXPECT_EQ(one.run_until(1 * s), reason::nothing_left);
  EXPECT_EQ(one.starts_of(child).front(), 2 * ms);
  EXPECT_EQ(one.cpu_ns(child), 1 * ms);
  EXPECT_EQ(one.figures().cpus[0].busy_ns, 4 * ms);
}

TEST(program, a_task_that_exits_is_beyond_wakes_and_signals) {
  scenario one;
  const auto brief = one.add({run(1 * ms), exit(), run(1 * s)});
  one.add({run(5 * ms), wake(brief), signal(brief), run(1 * ms), exit()});
  EXPECT_EQ(one.run_until(1 * s), reason::nothing_left);
  EXPECT_EQ(one.cpu_ns(brief), 1 * ms);
}

TEST(program, a_jump_makes_a_loop) {
  scenario one;
  one.add({run(1 * ms), milestone(), sleep(1 * ms), jump(0)});
  one.run_until(100 * ms);
  EXPECT_EQ(one.simulated().milestones(), 50U);
  EXPECT_EQ(one.simulated().last_milestone_ns(), 99 * ms);
}

TEST(program, the_run_is_told_when_a_program_ends) {
  scenario one;
  one.add({run(3 * ms), end()});
  one.add({run(2 * ms)});  // runs off its end: the same
  EXPECT_EQ(one.run_until(1 * s), reason::program_ended);
  EXPECT_EQ(one.simulated().now_ns(), 3 * ms);
  EXPECT_EQ(one.simulated().program_ended_by(), 0U);
  EXPECT_EQ(one.run_until(1 * s), reason::program_ended);
  EXPECT_EQ(one.simulated().now_ns(), 5 * ms);
  EXPECT_EQ(one.simulated().program_ended_by(), 1U);
  EXPECT_EQ(one.run_until(1 * s), reason::nothing_left);
  EXPECT_EQ(one.simulated().program_ended_by(), no_task);
}

TEST(program, nothing_is_left_when_everybody_waits) {
  scenario one;
  const auto waiter = one.add({run(1 * ms), wait(), exit()});
  EXPECT_EQ(one.run_until(1 * s), reason::nothing_left);
  EXPECT_EQ(one.simulated().now_ns(), 1 * s);
  EXPECT_EQ(one.figures().cpus[0].idle_ns, 1 * s - 1 * ms);
  EXPECT_EQ(one.cpu_ns(waiter), 1 * ms);
}

TEST(program, void_timers_are_nothing_that_is_left) {
  scenario one;
  const auto sleeper = one.add_blocked({sleep(100 * s), wait()});
  one.add({run(1 * ms), signal(sleeper), exit()});
  EXPECT_EQ(one.run_until(1 * s), reason::nothing_left);
}

TEST(program, a_task_that_starts_in_its_sleep_does_the_operations_after_it) {
  scenario one;
  const auto waiter = one.add_blocked({wait(), run(1 * ms), exit()});
  const auto sleeper = one.add_blocked({milestone(), sleep(3 * ms), wake(waiter), exit()});
  one.run_until(1 * s);
  EXPECT_EQ(one.starts_of(sleeper), (times{3 * ms}));
  EXPECT_EQ(one.starts_of(waiter), (times{3 * ms}));
  EXPECT_EQ(one.simulated().milestones(), 1U);
}

TEST(program, a_task_said_to_be_blocked_that_does_something_first_does_it) {
  scenario one;
  const auto waiter = one.add_blocked({wait(), run(1 * ms), exit()});
  one.add_blocked({wake(waiter), sleep(3 * ms), exit()});
  one.run_until(1 * s);
  EXPECT_EQ(one.cpu_ns(waiter), 1 * ms);
}

TEST(program, a_loop_without_time_passing_stops_the_run) {
  scenario one;
  const auto stuck = one.add_blocked({sleep(5 * ms), milestone(), jump(1)});
  one.add_hog();
  EXPECT_EQ(one.run_until(1 * s), reason::program_ended);
  EXPECT_EQ(one.simulated().livelocked(), stuck);
  EXPECT_EQ(one.simulated().program_ended_by(), no_task);
  EXPECT_LT(one.simulated().now_ns(), 20 * ms);
}

}  // namespace
}  // namespace vlag::test

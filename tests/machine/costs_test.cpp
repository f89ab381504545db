// SPDX-License-Identifier: Apache-2.0
//
// Delays between a cause and its switch, and what is lost to the task that runs.
#include "scenario.hpp"

#include <gtest/gtest.h>

namespace vlag::test {
namespace {

TEST(delay, from_a_wakeup_to_the_switch_on_an_idle_cpu) {
  scenario one;
  one.config.idle_switch_delay_ns = 3 * us;
  one.config.switch_delay_ns = 100 * us;
  one.add_blocked({sleep(1 * ms), run(1 * ms), exit()});
  one.run_until(1 * s);
  EXPECT_EQ(one.switches(), (switch_list{{1 * ms + 3 * us, 0}, {2 * ms + 3 * us, no_task}}));
  EXPECT_EQ(one.of(0).wake_latency.max_ns(), 3 * us);
}

TEST(delay, from_a_wakeup_that_preempts_to_the_switch) {
  scenario one;
  one.config.switch_delay_ns = 5 * us;
  const auto waiter = one.add_blocked({sleep(50 * ms), run(100 * us), exit()});
  const auto hog = one.add_hog();
  one.run_until(100 * ms);
  EXPECT_EQ(one.switches(),
            (switch_list{{0, hog}, {50 * ms + 5 * us, waiter}, {50 * ms + 105 * us, hog}}));
}

TEST(delay, from_a_tick_to_the_switch_and_the_work_goes_on_meanwhile) {
  scenario one;
  one.config.tick_switch_delay_ns = 7 * us;
  const auto brief = one.add({run(4 * ms + 5 * us), milestone(), run(1 * ms), exit()});
  one.add_hog();
  one.run_until(5 * ms);
  EXPECT_EQ(one.stops_of(brief), (times{4 * ms + 7 * us}));
  EXPECT_EQ(one.simulated().last_milestone_ns(), 4 * ms + 5 * us);
}

TEST(delay, from_reading_the_clock_to_the_switch) {
  scenario one;
  one.config.poll_switch_delay_ns = 2 * us;
  task_setup poller;
  poller.clock_poll_ns = 100 * us;
  poller.steps = {run_forever()};
  one.add(poller);
  one.add_hog();
  one.run_until(1 * ms);
  EXPECT_EQ(one.switches(), (switch_list{{0, 0}, {702 * us, 1}}));
}

TEST(delay, a_task_that_blocks_before_the_switch_gives_way_at_once) {
  scenario one;
  one.config.switch_delay_ns = 50 * us;
  const auto waiter = one.add_blocked({sleep(50 * ms), run(100 * us), exit()});
  one.add({run(50 * ms + 10 * us), wait()});
  one.run_until(100 * ms);
  EXPECT_EQ(one.starts_of(waiter), (times{50 * ms + 10 * us}));
}

// When the turn of a woken task ends whose request of 1 ms the request timer cuts, the switch to it
// coming 20 us after its wake-up.
std::uint64_t end_of_woken_turn(bool skip) {
  scenario one;
  one.config.skip_clock_update = skip;
  one.config.switch_delay_ns = 20 * us;
  one.policy.eevdf.base_slice_ns = 10 * ms;
  task_setup setup;
  setup.slice_ns = 1 * ms;
  setup.clock_poll_ns = 1 * us;
  setup.start = start_state::blocked;
  setup.steps = {sleep(1 * ms), run_forever()};
  const auto woken = one.add(setup);
  one.add_hog();
  one.run_until(3 * ms);
  EXPECT_EQ(one.starts_of(woken), (times{1 * ms + 20 * us}));
  return one.stops_of(woken).at(0);
}

TEST(skipped_clock_update, charges_the_time_up_to_the_switch_to_the_incoming_task) {
  EXPECT_EQ(end_of_woken_turn(false), 2 * ms + 20 * us);
  EXPECT_EQ(end_of_woken_turn(true), 2 * ms);
}

TEST(cost, of_a_switch_falls_on_the_incoming_task) {
  scenario one;
  one.config.switch_cost_ns = 3 * us;
  one.add({run(1 * ms), sleep(1 * ms), run(1 * ms), exit()});
  one.run_until(1 * s);
  EXPECT_EQ(one.switches(),
            (switch_list{{0, 0}, {1003 * us, no_task}, {2003 * us, 0}, {3006 * us, no_task}}));
  EXPECT_EQ(one.cpu_ns(0), 2006 * us);
}

TEST(cost, of_a_tick_falls_on_the_running_task) {
  scenario one;
  one.config.tick_cost_ns = 10 * us;
  one.add({run(10 * ms), exit()});
  one.run_until(1 * s);
  EXPECT_EQ(one.stops_of(0), (times{10 * ms + 20 * us}));
}

TEST(cost, of_a_wakeup_falls_on_the_waker) {
  scenario one("linux-6.12", 2);
  one.config.wakeup_cost_ns = 2 * us;
  const auto waiter = one.add_on(1, {wait(), wait(), run(1 * ms), exit()});
  const auto waker = one.add_on(0, {run(1 * ms), wake(waiter), wake(waiter), run(1 * ms), exit()});
  one.run_until(1 * s);
  EXPECT_EQ(one.stops_of(waker), (times{2004 * us}));
}

TEST(cost, of_a_wakeup_is_paid_before_the_waker_blocks) {
  scenario one("linux-6.12", 2);
  one.config.wakeup_cost_ns = 2 * us;
  const auto waiter = one.add_on(1, {wait(), run(1 * ms), exit()});
  const auto waker = one.add_on(0, {run(1 * ms), wake(waiter), wait()});
  one.run_until(1 * s);
  EXPECT_EQ(one.stops_of(waker), (times{1002 * us}));
  EXPECT_EQ(one.starts_of(waiter).back(), 1 * ms);
}

TEST(cost, of_nothing_is_nothing) {
  scenario one;
  const auto waiter = one.add({wait(), run(1 * ms), jump(0)});
  one.add({run(1 * ms), wake(waiter), sleep(3 * ms), jump(0)});
  one.run_until(400 * ms);
  EXPECT_EQ(one.figures().cpus[0].busy_ns, 200 * ms);
}

}  // namespace
}  // namespace vlag::test

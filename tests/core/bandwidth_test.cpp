// SPDX-License-Identifier: Apache-2.0
//
// What a quota does, one sentence a test.
#include "core/grouped_cpu.hpp"

#include <gtest/gtest.h>

namespace vlag::test {
namespace {

constexpr bandwidth_limit two_in_ten{2 * ms, 10 * ms, 0};

TEST(bandwidth, a_group_gets_its_quota_in_each_period_and_no_more) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  cpu.fork(&g);
  const task& hog = cpu.fork();
  g.set_bandwidth(two_in_ten, cpu.now);
  cpu.schedule();
  cpu.run(1000 * ms, 100 * us);
  EXPECT_NEAR(static_cast<double>(cpu.service(g)), 200.0 * ms, 3.0 * ms);
  EXPECT_NEAR(static_cast<double>(hog.sum_exec_ns), 800.0 * ms, 3.0 * ms);
  EXPECT_NEAR(static_cast<double>(g.bandwidth().nr_periods), 100, 1);
  EXPECT_GE(g.bandwidth().nr_throttled, 95U);
}

TEST(bandwidth, a_throttled_group_leaves_the_cpu_idle_rather_than_overdraw) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  const task& t = cpu.fork(&g);
  g.set_bandwidth(two_in_ten, cpu.now);
  cpu.schedule();
  cpu.now += 2 * ms;
  cpu.fair.tick(cpu.now);
  EXPECT_TRUE(cpu.fair.need_resched());
  EXPECT_EQ(cpu.schedule(), nullptr);
  EXPECT_TRUE(cpu.level(g).throttled);
  EXPECT_TRUE(t.queued);  // frozen as it is
  EXPECT_EQ(cpu.fair.nr_queued(), 0U);
  EXPECT_EQ(cpu.tree.next_timer_ns(), 10 * ms);
  cpu.tree.run_timers(10 * ms - 1);
  EXPECT_TRUE(cpu.level(g).throttled);
  cpu.now = 10 * ms;
  cpu.tree.run_timers(cpu.now);
  EXPECT_FALSE(cpu.level(g).throttled);
  EXPECT_TRUE(cpu.fair.need_resched());
  EXPECT_EQ(cpu.schedule(), &t);
}

TEST(bandwidth, a_late_timer_brings_one_quota) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  cpu.fork(&g);
  g.set_bandwidth(two_in_ten, cpu.now);
  cpu.schedule();
  cpu.now += 2 * ms;
  cpu.fair.tick(cpu.now);
  cpu.schedule();
  ASSERT_TRUE(cpu.level(g).throttled);
  g.period_timer(75 * ms);
  EXPECT_EQ(g.bandwidth().nr_periods, 7U);
  EXPECT_EQ(g.bandwidth().runtime_ns + static_cast<std::uint64_t>(cpu.level(g).remaining_ns),
            2 * ms);
  EXPECT_EQ(cpu.level(g).remaining_ns, 1);
  EXPECT_EQ(cpu.tree.next_timer_ns(), 80 * ms);
}

TEST(bandwidth, what_was_saved_is_kept_up_to_the_burst) {
  for (const std::uint64_t burst : {0 * ms, 1 * ms}) {
    grouped_cpu cpu;
    task_group& g = cpu.group();
    cpu.fork(&g);
    g.set_bandwidth({2 * ms, 10 * ms, burst}, cpu.now);
    g.period_timer(10 * ms);
    EXPECT_EQ(g.bandwidth().runtime_ns, 2 * ms + burst);
  }
}

TEST(bandwidth, a_task_that_wakes_in_a_throttled_group_waits_for_the_refill) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  task& sleeper = cpu.fork(&g);
  cpu.schedule();
  cpu.block();
  cpu.fork(&g);
  const task& hog = cpu.fork();
  g.set_bandwidth(two_in_ten, cpu.now);
  cpu.schedule();
  while (!cpu.level(g).throttled) cpu.run(1 * ms);
  cpu.wake(sleeper);
  EXPECT_TRUE(sleeper.queued);
  EXPECT_EQ(cpu.fair.current(), &hog);
  EXPECT_EQ(cpu.fair.nr_queued(), 1U);
  EXPECT_FALSE(cpu.fair.yield_to(sleeper, cpu.now));
  const std::uint64_t refill_ns = cpu.tree.next_timer_ns();
  while (cpu.now < refill_ns - 1 * ms) cpu.run(1 * ms);
  EXPECT_EQ(sleeper.sum_exec_ns, 0U);
  cpu.run(50 * ms);
  EXPECT_GT(sleeper.sum_exec_ns, 0U);
}

TEST(bandwidth, the_tighter_limit_of_two_levels_holds) {
  grouped_cpu cpu;
  task_group& outer = cpu.group();
  task_group& inner = cpu.group(outer);
  cpu.fork(&inner);
  cpu.fork();
  outer.set_bandwidth({3 * ms, 10 * ms, 0}, cpu.now);
  inner.set_bandwidth({1 * ms, 10 * ms, 0}, cpu.now);
  cpu.schedule();
  cpu.run(1000 * ms, 50 * us);
  EXPECT_NEAR(static_cast<double>(cpu.service(inner)), 100.0 * ms, 3.0 * ms);
}

TEST(bandwidth, a_limit_taken_away_lets_the_group_go_on_at_once) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  const task& t = cpu.fork(&g);
  g.set_bandwidth(two_in_ten, cpu.now);
  cpu.schedule();
  cpu.now += 3 * ms;
  cpu.fair.tick(cpu.now);
  ASSERT_EQ(cpu.schedule(), nullptr);
  g.set_bandwidth({}, cpu.now);
  EXPECT_EQ(cpu.schedule(), &t);
  cpu.run(50 * ms);
  EXPECT_EQ(t.sum_exec_ns, 53 * ms);
  EXPECT_EQ(cpu.tree.next_timer_ns(), UINT64_MAX);
}

TEST(bandwidth, the_timer_stops_after_a_period_in_which_nothing_was_handed_out) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  g.set_bandwidth(two_in_ten, cpu.now);
  EXPECT_EQ(cpu.tree.next_timer_ns(), 10 * ms);
  g.period_timer(10 * ms);
  EXPECT_EQ(cpu.tree.next_timer_ns(), 20 * ms);
  g.period_timer(20 * ms);
  EXPECT_EQ(cpu.tree.next_timer_ns(), UINT64_MAX);
  cpu.now = 33 * ms;
  cpu.fork(&g);
  EXPECT_EQ(cpu.tree.next_timer_ns(), 40 * ms);
}

TEST(bandwidth, a_delayed_task_of_a_throttled_group_stays_delayed_until_it_is_back) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  task& sleeper = cpu.fork(&g);
  cpu.fork(&g);
  cpu.fork();
  g.set_bandwidth({4 * ms, 20 * ms, 0}, cpu.now);
  cpu.schedule();
  while (cpu.fair.current() != &sleeper) cpu.run(1 * ms);
  cpu.now += 4 * ms;
  EXPECT_TRUE(cpu.block());
  ASSERT_TRUE(cpu.level(g).throttled);
  EXPECT_TRUE(sleeper.sched_delayed);
  EXPECT_EQ(cpu.level(g).h_nr_delayed, 1U);
  EXPECT_EQ(cpu.fair.nr_delayed(), 0U);
  EXPECT_EQ(cpu.fair.nr_queued(), 1U);
  cpu.now = cpu.tree.next_timer_ns();
  cpu.tree.run_timers(cpu.now);
  EXPECT_EQ(cpu.fair.nr_queued(), 3U);
  EXPECT_EQ(cpu.fair.nr_delayed(), 1U);
}

TEST(bandwidth, a_task_running_in_a_throttled_group_runs_on_until_the_next_decision) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  cpu.fork(&g);
  task& mover = cpu.fork();
  g.set_bandwidth(two_in_ten, cpu.now);
  cpu.schedule();
  while (!cpu.level(g).throttled || cpu.fair.current() != &mover) cpu.run(1 * ms);
  cpu.fair.move(mover, &g, cpu.now);
  EXPECT_EQ(cpu.fair.current(), &mover);
  EXPECT_EQ(cpu.fair.nr_queued(), 0U);
  EXPECT_EQ(cpu.schedule(), nullptr);
}

// ---- Ranges

TEST(bandwidth, refuses_what_the_kernel_refuses_and_changes_nothing) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  ASSERT_EQ(g.set_bandwidth({2 * ms, 10 * ms, 1 * ms}, cpu.now), group_error::none);
  const std::uint64_t most = ((std::uint64_t{1} << 44) - 1) * us;
  for (const bandwidth_limit& bad :
       {bandwidth_limit{1 * ms - 1, 10 * ms, 0}, bandwidth_limit{1 * ms, 1 * ms - 1, 0},
        bandwidth_limit{1 * ms, 1000 * ms + 1, 0}, bandwidth_limit{2 * ms, 10 * ms, 2 * ms + 1},
        bandwidth_limit{most + 1, 10 * ms, 0}, bandwidth_limit{most, 10 * ms, 1},
        bandwidth_limit{no_quota, 1, 0}}) {
    EXPECT_EQ(g.set_bandwidth(bad, cpu.now), group_error::invalid);
  }
  EXPECT_EQ(cpu.tree.root().set_bandwidth(two_in_ten, cpu.now), group_error::invalid);
  EXPECT_EQ(grouped_cpu::text(g, "cpu.max"), "2000 10000");
  EXPECT_EQ(grouped_cpu::text(g, "cpu.max.burst"), "1000");
  EXPECT_EQ(g.set_bandwidth({most, 1000 * ms, 0}, cpu.now), group_error::none);
}

}  // namespace
}  // namespace vlag::test

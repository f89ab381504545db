// SPDX-License-Identifier: Apache-2.0
//
// What task groups do under CFS, one sentence a test.
#include "core/grouped_cpu.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace vlag::test {
namespace {

double share(const grouped_cfs_cpu& cpu, std::uint64_t service_ns) {
  return static_cast<double>(service_ns) / static_cast<double>(cpu.now);
}

// ---- Who gets how much

TEST(cfs_group_shares, two_equal_groups_halve_the_cpu_however_many_tasks_they_have) {
  for (const int many : {1, 2, 7, 40}) {
    grouped_cfs_cpu cpu;
    task_group& one = cpu.group();
    task_group& other = cpu.group();
    cpu.fork(&one);
    for (int i = 0; i < many; ++i) cpu.fork(&other);
    cpu.schedule();
    cpu.run(6000 * ms);
    EXPECT_NEAR(share(cpu, cpu.service(one)), 0.5, 0.003) << many;
    for (const task& t : cpu.tasks) {
      if (t.group == &other) {
        EXPECT_NEAR(share(cpu, t.sum_exec_ns), 0.5 / many, 0.003);
      }
    }
  }
}

TEST(cfs_group_shares, weights_share_as_their_ratio_and_a_root_task_counts_as_nice_0) {
  grouped_cfs_cpu cpu;
  task_group& light = cpu.group();
  task_group& heavy = cpu.group();
  EXPECT_EQ(light.set("cpu.weight", "100", 0), group_error::none);
  EXPECT_EQ(heavy.set("cpu.weight", "300", 0), group_error::none);
  cpu.fork(&light);
  for (int i = 0; i < 3; ++i) cpu.fork(&heavy);
  const task& outside = cpu.fork();
  cpu.schedule();
  cpu.run(3000 * ms);
  EXPECT_NEAR(share(cpu, cpu.service(light)), 0.2, 0.003);
  EXPECT_NEAR(share(cpu, cpu.service(heavy)), 0.6, 0.003);
  EXPECT_NEAR(share(cpu, outside.sum_exec_ns), 0.2, 0.003);
}

TEST(cfs_group_shares, halve_at_each_of_eight_levels) {
  grouped_cfs_cpu cpu;
  task_group* at = &cpu.tree.root();
  std::vector<const task*> hogs;
  for (int depth = 0; depth <= 8; ++depth) {
    hogs.push_back(&cpu.fork(at));
    if (depth < 8) at = &cpu.group(*at);
  }
  EXPECT_EQ(cpu.level(*at).depth, 8U);
  cpu.schedule();
  cpu.run(12'000 * ms);
  double expected = 0.5;
  for (std::size_t depth = 0; depth < 8; ++depth) {
    EXPECT_NEAR(share(cpu, hogs[depth]->sum_exec_ns), expected, 0.003) << depth;
    expected /= 2;
  }
  EXPECT_NEAR(share(cpu, hogs[8]->sum_exec_ns), 1.0 / 256, 0.003);
}

TEST(cfs_group_shares, an_idle_group_gets_next_to_nothing_beside_a_normal_one) {
  grouped_cfs_cpu cpu;
  task_group& idle = cpu.group();
  task_group& busy = cpu.group();
  EXPECT_EQ(idle.set("cpu.idle", "1", 0), group_error::none);
  cpu.fork(&idle);
  cpu.fork(&busy);
  cpu.schedule();
  cpu.run(10'000 * ms);
  EXPECT_LT(share(cpu, cpu.service(idle)), 0.005);
  EXPECT_GT(cpu.service(idle), 0U);
  EXPECT_EQ(cpu.fair.nr_idle_policy(), 1U);
  EXPECT_EQ(idle.set("cpu.weight", "300", cpu.now), group_error::invalid);
}

TEST(cfs_group_shares, a_weight_acts_at_once_also_on_an_empty_group) {
  grouped_cfs_cpu cpu;
  task_group& g = cpu.group();
  EXPECT_EQ(g.set_weight(1000, cpu.now), group_error::none);
  EXPECT_EQ(cpu.level(g).weight.full, 10240U << 10U);
  EXPECT_EQ(g.set_weight(0, cpu.now), group_error::out_of_range);
  EXPECT_EQ(cpu.tree.root().set_weight(100, cpu.now), group_error::invalid);
}

TEST(cfs_group_shares, a_lone_task_eight_levels_down_is_never_told_to_give_way) {
  grouped_cfs_cpu cpu;
  task_group* at = &cpu.tree.root();
  for (int depth = 0; depth < 8; ++depth) at = &cpu.group(*at);
  cpu.fork(at);
  cpu.schedule();
  for (int i = 0; i < 50; ++i) {
    cpu.now += 4 * ms;
    cpu.fair.tick(cpu.now);
    EXPECT_FALSE(cpu.fair.need_resched());
  }
}

// ---- Who runs

TEST(cfs_group_turns, a_task_gives_way_when_a_group_above_it_had_its_share) {
  grouped_cfs_cpu cpu;
  task_group& g = cpu.group();
  const task& inside = cpu.fork(&g);
  const task& outside = cpu.fork();
  cpu.schedule();
  while (cpu.fair.current() != &inside) cpu.run(1 * ms);
  EXPECT_EQ(cpu.level(g).queue.nr_queued(), 1U);  // no rival on its own queue
  cpu.run(12 * ms);
  EXPECT_GT(outside.sum_exec_ns, 0U);
  EXPECT_EQ(cpu.fair.slice_of(cpu.level(g)), 2'999'998U);
  EXPECT_EQ(cpu.fair.slice_of(inside), 2'999'997U);  // rounded down once more a level
}

TEST(cfs_group_turns, switching_inside_a_group_leaves_its_share_running) {
  cfs_config config;
  config.features.set(feature::start_debit, false);
  grouped_cfs_cpu cpu(config);
  task_group& g = cpu.group();
  cpu.fork(&g);
  cpu.fork(&g);
  const task* const first = cpu.schedule();
  cpu.now += 1 * ms;
  cpu.fair.tick(cpu.now);
  cpu.fair.yield(cpu.now);
  EXPECT_NE(cpu.schedule(), first);
  EXPECT_EQ(cpu.level(g).prev_sum_exec_ns, 0U);
  EXPECT_EQ(cpu.level(g).sum_exec_ns, 1 * ms);
}

TEST(cfs_group_turns, a_sleep_that_leaves_others_behind_makes_the_group_next_buddy) {
  grouped_cfs_cpu cpu;
  task_group& outer = cpu.group();
  task_group& inner = cpu.group(outer);
  cpu.fork(&inner);
  cpu.fork(&inner);
  cpu.schedule();
  cpu.fair.block(cpu.now);
  EXPECT_EQ(cpu.fair.next_buddy(), &cpu.level(outer));
  EXPECT_EQ(cpu.level(outer).queue.next_buddy(), &cpu.level(inner));
}

TEST(cfs_group_turns, yielding_may_pass_over_the_whole_group) {
  grouped_cfs_cpu cpu;
  task_group& g = cpu.group();
  cpu.fork(&g);
  cpu.fork(&g);
  const task& outside = cpu.fork();
  cpu.schedule();
  while (cpu.fair.current() == &outside) cpu.run(1 * ms);
  cpu.fair.yield(cpu.now);
  EXPECT_EQ(cpu.fair.skip_buddy(), &cpu.level(g));
}

TEST(cfs_group_turns, the_policies_of_the_tasks_are_asked_before_those_of_the_groups) {
  grouped_cfs_cpu cpu;
  task_group& idle = cpu.group();
  task_group& normal = cpu.group();
  idle.set_idle(1, 0);
  task& sleeper = cpu.fork(&idle);
  cpu.schedule();
  cpu.block();
  cpu.fork(&normal, 0, 0, sched_policy::idle);
  cpu.schedule();
  cpu.fair.wake(sleeper, cpu.now);
  EXPECT_TRUE(cpu.fair.need_resched());
}

// ---- Moving

TEST(cfs_group_move, keeps_the_shares_of_all_fair) {
  grouped_cfs_cpu cpu;
  task_group& one = cpu.group();
  task_group& other = cpu.group();
  cpu.fork(&one);
  cpu.fork(&other);
  task& wanderer = cpu.fork(&one);
  cpu.schedule();
  for (int i = 0; i < 100; ++i) {
    cpu.run(100 * ms);
    cpu.fair.move(wanderer, wanderer.group == &one ? &other : &one, cpu.now);
    if (cpu.fair.need_resched()) cpu.schedule();
  }
  // It is always one of the two in a group that has half of the CPU.
  EXPECT_NEAR(share(cpu, wanderer.sum_exec_ns), 0.25, 0.01);
  EXPECT_NEAR(share(cpu, cpu.tasks[0].sum_exec_ns), 0.375, 0.01);
  EXPECT_NEAR(share(cpu, cpu.tasks[1].sum_exec_ns), 0.375, 0.01);
  EXPECT_EQ(one.nr_tasks() + other.nr_tasks(), 3U);
}

TEST(cfs_group_move, a_queued_task_keeps_its_distance_to_min_vruntime) {
  grouped_cfs_cpu cpu;
  task_group& g = cpu.group();
  cpu.fork();
  task& waiting = cpu.fork();
  cpu.fork(&g);
  cpu.schedule();
  cpu.run(20 * ms);
  ASSERT_NE(cpu.fair.current(), &waiting);
  const std::uint64_t ahead = waiting.vruntime - cpu.fair.min_vruntime();
  cpu.fair.move(waiting, &g, cpu.now);
  EXPECT_EQ(waiting.vruntime - cpu.level(g).queue.min_vruntime(), ahead);
}

TEST(cfs_group_move, a_running_task_must_always_give_way) {
  grouped_cfs_cpu cpu;
  task_group& g = cpu.group();
  task& only = cpu.fork();
  cpu.schedule();
  cpu.fair.move(only, &g, cpu.now);
  EXPECT_TRUE(cpu.fair.need_resched());
  EXPECT_EQ(cpu.schedule(), &only);
  EXPECT_TRUE(cpu.level(g).queued);
  EXPECT_EQ(cpu.tree.destroy(g, cpu.now), group_error::busy);
}

// ---- Coming and going

TEST(cfs_group_life, a_group_can_go_once_its_last_task_is_off_the_cpu) {
  grouped_cfs_cpu cpu;
  task_group& g = cpu.group();
  cpu.fork(&g);
  cpu.schedule();
  cpu.fair.exit(cpu.now);
  EXPECT_EQ(cpu.tree.destroy(g, cpu.now), group_error::busy);
  cpu.schedule();
  EXPECT_EQ(cpu.tree.destroy(g, cpu.now), group_error::none);
}

// ---- Bandwidth

TEST(cfs_bandwidth, a_group_gets_its_quota_and_no_more) {
  grouped_cfs_cpu cpu;
  task_group& g = cpu.group();
  EXPECT_EQ(g.set("cpu.max", "20000 100000", 0), group_error::none);
  cpu.fork(&g);
  cpu.fork(&g);
  const task& outside = cpu.fork();
  cpu.schedule();
  cpu.run(5000 * ms);
  EXPECT_NEAR(share(cpu, cpu.service(g)), 0.2, 0.005);
  EXPECT_NEAR(share(cpu, outside.sum_exec_ns), 0.8, 0.005);
  EXPECT_NE(grouped_cfs_cpu::text(g, "cpu.stat"), "nr_periods 0\nnr_throttled 0");
}

TEST(cfs_bandwidth, alone_a_throttled_group_leaves_the_cpu_idle_until_the_refill) {
  grouped_cfs_cpu cpu;
  task_group& outer = cpu.group();
  task_group& inner = cpu.group(outer);
  outer.set("cpu.max", "10000 50000", 0);
  cpu.fork(&inner);
  cpu.schedule();
  cpu.run(15 * ms);
  EXPECT_EQ(cpu.fair.current(), nullptr);
  EXPECT_EQ(cpu.fair.nr_queued(), 0U);
  EXPECT_TRUE(cpu.fair.is_throttled(cpu.level(outer)));
  EXPECT_EQ(cpu.level(inner).throttle_count, 1U);
  cpu.run(40 * ms);
  EXPECT_NE(cpu.fair.current(), nullptr);
  cpu.run(5000 * ms);
  EXPECT_NEAR(share(cpu, cpu.service(outer)), 0.2, 0.005);
}

TEST(cfs_bandwidth, a_task_that_wakes_in_a_throttled_group_waits_with_it) {
  grouped_cfs_cpu cpu;
  task_group& g = cpu.group();
  g.set("cpu.max", "10000 50000", 0);
  cpu.fork(&g);
  task& sleeper = cpu.fork(&g);
  cpu.schedule();
  while (cpu.fair.current() != &sleeper) cpu.run(1 * ms);
  cpu.block();
  const task& outside = cpu.fork();
  while (!cpu.fair.is_throttled(cpu.level(g))) cpu.run(1 * ms);
  cpu.wake(sleeper);
  EXPECT_EQ(cpu.fair.current(), &outside);
  EXPECT_EQ(cpu.fair.nr_queued(), 1U);
  EXPECT_EQ(cpu.level(g).h_nr_queued, 2U);
  EXPECT_FALSE(cpu.fair.yield_to(sleeper, cpu.now));
  EXPECT_EQ(g.set("cpu.max", "max", cpu.now), group_error::none);
  EXPECT_EQ(cpu.fair.nr_queued(), 3U);
}

TEST(cfs_bandwidth, what_was_not_used_is_a_burst) {
  grouped_cfs_cpu cpu;
  task_group& g = cpu.group();
  g.set("cpu.max", "10000 50000", 0);
  g.set("cpu.max.burst", "10000", 0);
  task& t = cpu.fork(&g);
  cpu.schedule();
  cpu.block();
  cpu.run(120 * ms);
  cpu.wake(t);
  const std::uint64_t before_ns = t.sum_exec_ns;
  cpu.run(25 * ms);
  EXPECT_GE(t.sum_exec_ns - before_ns, 19 * ms);
}

}  // namespace
}  // namespace vlag::test

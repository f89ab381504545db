// SPDX-License-Identifier: Apache-2.0
//
// What task groups do under EEVDF, one sentence a test.
#include "core/grouped_cpu.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace vlag::test {
namespace {

double share(const grouped_cpu& cpu, std::uint64_t service_ns) {
  return static_cast<double>(service_ns) / static_cast<double>(cpu.now);
}

// ---- Who gets how much

TEST(group_shares, two_equal_groups_halve_the_cpu_however_many_tasks_they_have) {
  for (const int many : {1, 2, 7, 40}) {
    grouped_cpu cpu;
    task_group& one = cpu.group();
    task_group& other = cpu.group();
    cpu.fork(&one);
    for (int i = 0; i < many; ++i) cpu.fork(&other);
    cpu.schedule();
    cpu.run(3000 * ms);
    EXPECT_NEAR(share(cpu, cpu.service(one)), 0.5, 0.003) << many;
    for (const task& t : cpu.tasks) {
      if (t.group != &other) continue;
      EXPECT_NEAR(share(cpu, t.sum_exec_ns), 0.5 / many, 0.003);
    }
  }
}

TEST(group_shares, weights_share_as_their_ratio_and_a_root_task_counts_as_nice_0) {
  grouped_cpu cpu;
  task_group& light = cpu.group();
  task_group& heavy = cpu.group();
  light.set_weight(100, 0);
  heavy.set_weight(300, 0);
  cpu.fork(&light);
  for (int i = 0; i < 3; ++i) cpu.fork(&heavy);
  const task& outside = cpu.fork();
  cpu.schedule();
  cpu.run(3000 * ms);
  EXPECT_NEAR(share(cpu, cpu.service(light)), 0.2, 0.003);
  EXPECT_NEAR(share(cpu, cpu.service(heavy)), 0.6, 0.003);
  EXPECT_NEAR(share(cpu, outside.sum_exec_ns), 0.2, 0.003);
}

TEST(group_shares, halve_at_each_of_eight_levels) {
  grouped_cpu cpu;
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

TEST(group_shares, a_lone_task_eight_levels_down_is_never_told_to_give_way) {
  grouped_cpu cpu;
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

TEST(group_shares, a_weight_changed_while_the_group_runs_acts_at_once_and_keeps_its_lag) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  cpu.fork(&g);
  cpu.fork();
  cpu.schedule();
  cpu.run(50 * ms);
  const fair_level& part = cpu.level(g);
  const auto weighted_lag = [&] {
    return cpu.fair.queue().lag(part) * static_cast<std::int64_t>(small_weight(part.weight.full));
  };
  cpu.fair.account(cpu.now);
  const std::int64_t lag = weighted_lag();
  EXPECT_EQ(g.set_weight(1000, cpu.now), group_error::none);
  EXPECT_EQ(part.weight.full, 10240U << 10U);
  EXPECT_LE(std::abs(weighted_lag() - lag), 2 * 10240);
}

TEST(group_shares, a_weight_written_to_an_empty_group_waits_for_somebody_to_join) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  cpu.fork();
  cpu.schedule();
  g.set_weight(1000, cpu.now);
  EXPECT_EQ(cpu.level(g).weight.full, nice_0_weight);
  cpu.fork(&g);
  EXPECT_EQ(cpu.level(g).weight.full, 10240U << 10U);
}

// ---- Who runs

TEST(group_turns, switching_inside_a_group_leaves_its_request_alone) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  cpu.fork(&g);
  cpu.fork(&g);
  cpu.fork(nullptr, 19);
  const task* const first = cpu.schedule();
  ASSERT_EQ(first->group, &g);
  const fair_level& part = cpu.level(g);
  cpu.fair.yield(cpu.now);
  const task* const second = cpu.schedule();
  EXPECT_NE(second, first);
  EXPECT_EQ(second->group, &g);
  EXPECT_EQ(part.prev_sum_exec_ns, 0U);
  EXPECT_TRUE(cpu.fair.queue().slice_protected(part));
}

TEST(group_turns, a_wakeup_is_judged_between_the_ancestors_that_share_a_queue) {
  grouped_cpu cpu;
  task_group& a = cpu.group();
  task_group& b = cpu.group();
  task& sleeper = cpu.fork(&a, 0, 100 * us);
  cpu.schedule();
  cpu.block();
  cpu.fork(&b, 0, 20 * ms);
  cpu.fork(&b, 0, 20 * ms);
  cpu.schedule();
  cpu.run(4 * ms);
  ASSERT_EQ(cpu.fair.current()->group, &b);
  cpu.fair.wake(sleeper, cpu.now);
  EXPECT_TRUE(cpu.fair.need_resched());
  EXPECT_EQ(cpu.schedule(), &sleeper);
}

TEST(group_turns, a_sleep_that_leaves_others_behind_makes_the_group_buddy) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  cpu.fork(&g);
  cpu.fork(&g);
  cpu.schedule();
  cpu.fair.block(cpu.now);
  EXPECT_EQ(cpu.fair.queue().buddy(), &cpu.level(g));
}

// ---- Slices

TEST(group_slices, the_shortest_inside_is_carried_up_and_taken_back) {
  grouped_cpu cpu;
  task_group& top = cpu.group();
  task_group& middle = cpu.group(top);
  task_group& bottom = cpu.group(middle);
  cpu.fork(&bottom);
  cpu.fork(&middle);
  EXPECT_EQ(cpu.level(top).slice_ns, 3 * ms);
  task& quick = cpu.fork(&bottom, 0, 200 * us);
  for (const task_group* g : {&top, &middle, &bottom}) EXPECT_EQ(cpu.level(*g).slice_ns, 200 * us);
  EXPECT_EQ(cpu.fair.min_slice(), 200 * us);
  cpu.fair.set_slice(quick, 9 * ms, cpu.now);
  for (const task_group* g : {&top, &middle, &bottom}) EXPECT_EQ(cpu.level(*g).slice_ns, 3 * ms);
  cpu.fair.set_slice(quick, 300 * us, cpu.now);
  cpu.fair.remove(quick, cpu.now);
  for (const task_group* g : {&top, &middle, &bottom}) EXPECT_EQ(cpu.level(*g).slice_ns, 3 * ms);
}

TEST(group_slices, latency_nice_takes_the_place_of_the_shortest_inside_at_once) {
  grouped_cpu cpu;
  task_group& outer = cpu.group();
  task_group& inner = cpu.group(outer);
  cpu.fork(&inner);
  cpu.fork(&outer, 0, 8 * ms);
  EXPECT_EQ(inner.set_latency_nice(-20, cpu.now), group_error::none);
  const std::uint64_t slice_ns = 3 * ms * 1024 / 88761;
  EXPECT_EQ(cpu.level(inner).slice_ns, slice_ns);
  EXPECT_EQ(cpu.level(outer).slice_ns, slice_ns);
  cpu.fork(&inner, 0, 100 * us);
  EXPECT_EQ(cpu.level(inner).slice_ns, slice_ns);
  EXPECT_EQ(inner.set_latency_nice(19, cpu.now), group_error::none);
  EXPECT_EQ(cpu.level(inner).slice_ns, 3 * ms * 1024 / 15);
  EXPECT_EQ(cpu.level(outer).slice_ns, 8 * ms);
  EXPECT_EQ(inner.set_latency_nice(0, cpu.now), group_error::none);
  EXPECT_EQ(cpu.level(inner).slice_ns, 100 * us);
  EXPECT_EQ(cpu.level(outer).slice_ns, 100 * us);
}

TEST(group_slices, latency_nice_of_an_empty_group_shows_when_somebody_joins) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  g.set_latency_nice(-20, cpu.now);
  EXPECT_EQ(cpu.level(g).slice_ns, 0U);
  cpu.fork(&g);
  EXPECT_EQ(cpu.level(g).slice_ns, 3 * ms * 1024 / 88761);
}

// ---- Delayed groups

TEST(delayed_group, is_the_empty_group_whose_lag_is_not_worked_off) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  task& sleeper = cpu.fork(&g);
  const task& hog = cpu.fork();
  cpu.schedule();
  while (cpu.fair.current() != &sleeper) cpu.run(1 * ms);
  cpu.now += 9 * ms;  // overrun: the group owes
  EXPECT_FALSE(cpu.block());
  const fair_level& part = cpu.level(g);
  EXPECT_FALSE(sleeper.queued);
  EXPECT_TRUE(part.queued);
  EXPECT_TRUE(part.sched_delayed);
  EXPECT_EQ(part.queue.nr_queued(), 0U);
  EXPECT_EQ(cpu.fair.nr_queued(), 1U);
  EXPECT_EQ(cpu.fair.queue().nr_queued(), 2U);
  cpu.run(40 * ms);
  EXPECT_EQ(cpu.fair.current(), &hog);
  EXPECT_FALSE(part.queued);
  EXPECT_LE(part.vlag, 0);
}

TEST(delayed_group, takes_the_shortest_slice_of_the_queue_it_waits_on) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  const task& sleeper = cpu.fork(&g, 0, 9 * ms);
  cpu.fork(nullptr, 0, 500 * us);
  cpu.schedule();
  while (cpu.fair.current() != &sleeper) cpu.run(1 * ms);
  cpu.now += 20 * ms;
  cpu.block();
  ASSERT_TRUE(cpu.level(g).sched_delayed);
  EXPECT_EQ(cpu.level(g).slice_ns, 500 * us);
}

TEST(delayed_group, is_requeued_by_a_task_that_wakes_inside) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  task& sleeper = cpu.fork(&g);
  cpu.fork();
  cpu.schedule();
  while (cpu.fair.current() != &sleeper) cpu.run(1 * ms);
  cpu.now += 9 * ms;
  cpu.block();
  const fair_level& part = cpu.level(g);
  ASSERT_TRUE(part.sched_delayed);
  const std::uint64_t vruntime = part.vruntime;
  cpu.fair.wake(sleeper, cpu.now);
  EXPECT_FALSE(part.sched_delayed);
  EXPECT_EQ(part.vruntime, vruntime);
  EXPECT_EQ(cpu.fair.nr_queued(), 2U);
}

TEST(delayed_group, leaves_when_it_is_destroyed) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  const task& sleeper = cpu.fork(&g);
  cpu.fork();
  cpu.schedule();
  while (cpu.fair.current() != &sleeper) cpu.run(1 * ms);
  cpu.now += 9 * ms;
  cpu.fair.exit(cpu.now);
  EXPECT_EQ(cpu.tree.destroy(g, cpu.now), group_error::busy);  // still on the CPU
  cpu.schedule();
  EXPECT_EQ(cpu.tree.destroy(g, cpu.now), group_error::none);
  EXPECT_EQ(cpu.fair.queue().nr_queued(), 1U);
  EXPECT_EQ(g.tree(), nullptr);
}

// ---- Moves

TEST(group_move, keeps_the_lag) {
  grouped_cpu cpu;
  task_group& from = cpu.group();
  task_group& to = cpu.group();
  for (int i = 0; i < 3; ++i) cpu.fork(&from);
  for (int i = 0; i < 2; ++i) cpu.fork(&to);
  cpu.schedule();
  cpu.run(31 * ms);
  task* mover = nullptr;
  for (task& t : cpu.tasks) {
    if (t.group == &from && &t != cpu.fair.current()) mover = &t;
  }
  cpu.fair.account(cpu.now);
  cpu.fair.move(*mover, &from, cpu.now);  // brings every queue above up to date
  const std::int64_t lag = cpu.level(from).queue.lag(*mover);
  ASSERT_NE(lag, 0);
  cpu.fair.move(*mover, &to, cpu.now);
  EXPECT_LE(std::abs(cpu.level(to).queue.lag(*mover) - lag), 4);
  EXPECT_EQ(mover->group, &to);
  EXPECT_EQ(from.nr_tasks(), 2U);
  EXPECT_EQ(to.nr_tasks(), 3U);
}

TEST(group_move, of_the_running_task_calls_for_a_new_decision) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  cpu.fork();
  task* running = cpu.schedule();
  cpu.fair.move(*running, &g, cpu.now);
  EXPECT_EQ(cpu.fair.current(), running);
  EXPECT_EQ(cpu.fair.queue().current(), &cpu.level(g));
  EXPECT_TRUE(cpu.fair.need_resched());
  EXPECT_EQ(cpu.schedule(), running);
}

TEST(group_move, of_a_sleeper_waits_for_its_wakeup) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  task& sleeper = cpu.fork();
  cpu.fork();
  cpu.schedule();
  cpu.block();
  cpu.fair.move(sleeper, &g, cpu.now);
  EXPECT_EQ(cpu.fair.nr_queued(), 1U);
  EXPECT_EQ(g.nr_tasks(), 1U);
  cpu.fair.wake(sleeper, cpu.now);
  EXPECT_TRUE(cpu.level(g).queued);
  cpu.fair.move(sleeper, nullptr, cpu.now);
  EXPECT_EQ(cpu.level(g).queue.nr_queued(), 0U);
  EXPECT_EQ(cpu.tree.destroy(g, cpu.now), group_error::none);
}

// ---- Idle groups

TEST(idle_group, gives_way_to_whatever_else_wakes) {
  grouped_cpu cpu;
  task_group& idle = cpu.group();
  task_group& normal = cpu.group();
  EXPECT_EQ(idle.set_idle(1, cpu.now), group_error::none);
  task& waker = cpu.fork(&normal);
  cpu.schedule();
  cpu.block();
  cpu.fork(&idle);
  cpu.schedule();
  cpu.fair.wake(waker, cpu.now);
  EXPECT_TRUE(cpu.fair.need_resched());
  EXPECT_EQ(cpu.schedule(), &waker);
  cpu.run(2000 * ms);
  EXPECT_LT(share(cpu, cpu.service(idle)), 0.005);
}

TEST(idle_group, refuses_weights_and_forgets_its_own) {
  grouped_cpu cpu;
  task_group& g = cpu.group();
  g.set_weight(700, cpu.now);
  g.set_idle(1, cpu.now);
  EXPECT_EQ(g.shares(), 3U << 10U);
  EXPECT_EQ(g.set_weight(100, cpu.now), group_error::invalid);
  EXPECT_EQ(g.set_weight(0, cpu.now), group_error::out_of_range);
  g.set_idle(0, cpu.now);
  EXPECT_EQ(g.shares(), nice_0_weight);
}

TEST(idle_group, makes_its_tasks_idle_for_the_queues_above) {
  grouped_cpu cpu;
  task_group& outer = cpu.group();
  task_group& inner = cpu.group(outer);
  cpu.fork(&inner);
  cpu.fork(&inner, 0, 0, sched_policy::idle);
  cpu.fork(&outer);
  const fair_level& root = cpu.fair.level();
  EXPECT_EQ(root.h_nr_idle, 1U);
  inner.set_idle(1, cpu.now);
  EXPECT_EQ(cpu.level(inner).h_nr_idle, 1U);
  EXPECT_EQ(cpu.level(outer).h_nr_idle, 2U);
  EXPECT_EQ(cpu.level(outer).nr_idle, 1U);
  EXPECT_EQ(root.h_nr_idle, 2U);
  outer.set_idle(1, cpu.now);
  EXPECT_EQ(root.h_nr_idle, 3U);
  inner.set_idle(0, cpu.now);
  EXPECT_EQ(cpu.level(outer).h_nr_idle, 1U);
  EXPECT_EQ(root.h_nr_idle, 3U);
}

// ---- The tree

TEST(group_tree, refuses_what_would_break_it) {
  grouped_cpu cpu;
  grouped_cpu elsewhere;
  task_group& g = cpu.group();
  task_group& child = cpu.group(g);
  std::vector<std::byte> none;
  EXPECT_EQ(cpu.tree.create(g, cpu.tree.root(), none), group_error::invalid);
  task_group loose;
  EXPECT_EQ(cpu.tree.create(loose, elsewhere.tree.root(), none), group_error::invalid);
  EXPECT_EQ(cpu.tree.create(loose, g, none), group_error::no_memory);
  EXPECT_EQ(loose.tree(), nullptr);
  EXPECT_EQ(cpu.tree.destroy(cpu.tree.root(), 0), group_error::invalid);
  EXPECT_EQ(elsewhere.tree.destroy(g, 0), group_error::invalid);
  EXPECT_EQ(cpu.tree.destroy(g, 0), group_error::busy);
  task& t = cpu.fork(&child);
  EXPECT_EQ(cpu.tree.destroy(child, 0), group_error::busy);
  cpu.fair.remove(t, 0);
  EXPECT_EQ(cpu.tree.destroy(child, 0), group_error::none);
  EXPECT_EQ(cpu.tree.destroy(g, 0), group_error::none);
}

TEST(group_tree, a_full_storage_refuses_another_group_and_stays_as_it_was) {
  grouped_cpu cpu(three_ms_slices(), 2);
  while (cpu.storage.free_places() != 0) cpu.group();
  grouped_cpu::part_memory memory(cpu.tree.required_bytes());
  task_group g;
  EXPECT_EQ(cpu.tree.create(g, cpu.tree.root(), {memory.begin, memory.size}),
            group_error::no_memory);
  EXPECT_EQ(g.tree(), nullptr);
  EXPECT_EQ(cpu.tree.destroy(cpu.groups.front(), 0), group_error::none);
  EXPECT_EQ(cpu.tree.create(g, cpu.tree.root(), {memory.begin, memory.size}), group_error::none);
}

TEST(group_tree, is_walked_parents_first) {
  grouped_cpu cpu;
  task_group& a = cpu.group();
  task_group& b = cpu.group();
  task_group& aa = cpu.group(a);
  task_group& ab = cpu.group(a);
  std::vector<const task_group*> seen;
  for (const task_group* g = &cpu.tree.root(); g != nullptr;
       g = next_in_tree(*g, cpu.tree.root())) {
    seen.push_back(g);
  }
  EXPECT_EQ(seen, (std::vector<const task_group*>{&cpu.tree.root(), &b, &a, &ab, &aa}));
  EXPECT_EQ(next_in_tree(aa, a), nullptr);
}

TEST(group_tree, required_storage_is_what_create_takes) {
  grouped_cpu cpu;
  EXPECT_EQ(fair_class::required_storage(1, 1), cpu.tree.required_bytes());
  EXPECT_EQ(fair_class::required_storage(3, 4), 12 * cpu.tree.required_bytes());
}

}  // namespace
}  // namespace vlag::test

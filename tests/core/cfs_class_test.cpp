// SPDX-License-Identifier: Apache-2.0
//
// The CFS class: who runs, who preempts whom, what attribute changes do. In virtual ticks.
#include "core/cfs_cpu.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace vlag {
namespace {

constexpr auto batch = sched_policy::batch;
constexpr auto idle = sched_policy::idle;

double part(const task& a, const task& b) {
  return static_cast<double>(a.sum_exec_ns) / static_cast<double>(a.sum_exec_ns + b.sum_exec_ns);
}

// Shares of the CPU.

TEST(cfs_share, equal_hogs_share_equally) {
  cfs_cpu cpu;
  for (int i = 0; i < 3; ++i) cpu.fork();
  cpu.run_ticks(12'000 * ms);
  for (const task& t : cpu.tasks) EXPECT_NEAR(static_cast<double>(t.sum_exec_ns), 4e9, 8e6);
}

TEST(cfs_share, five_nice_levels_are_a_factor_of_three) {
  cfs_cpu cpu;
  const task& a = cpu.fork(0);
  const task& b = cpu.fork(5);
  cpu.run_ticks(60'000 * ms);
  EXPECT_NEAR(part(a, b), 1024.0 / (1024 + 335), 0.005);
}

TEST(cfs_share, one_task_alone_is_never_rescheduled) {
  cfs_cpu cpu;
  task& a = cpu.fork();
  EXPECT_EQ(cpu.schedule(), &a);
  for (int i = 0; i < 100; ++i) cpu.tick_after(4 * ms);
  EXPECT_FALSE(cpu.fair.need_resched());
}

TEST(cfs_tick, the_share_must_be_exceeded) {
  cfs_cpu cpu(without_debit());
  task& a = cpu.fork();
  cpu.fork();
  cpu.schedule();
  cpu.tick_after(cpu.fair.slice_of(a));
  EXPECT_FALSE(cpu.fair.need_resched());
  cpu.tick_after(1);
  EXPECT_TRUE(cpu.fair.need_resched());
}

TEST(cfs_tick, a_light_task_gives_way_before_its_share_is_over) {
  cfs_cpu cpu(without_debit());
  task& light = cpu.fork(19);
  task& heavy = cpu.fork(0);
  EXPECT_EQ(cpu.schedule(), &light);
  cpu.tick_after(750 * us - 1);
  EXPECT_FALSE(cpu.fair.need_resched());  // far ahead, but it did not run for min_granularity
  cpu.tick_after(1);
  EXPECT_TRUE(cpu.fair.need_resched());
  EXPECT_EQ(cpu.schedule(), &heavy);
}

TEST(cfs_tick, picking_the_same_task_again_starts_no_new_share) {
  cfs_cpu cpu;
  task& a = cpu.fork(0);
  cpu.schedule();
  cpu.fork(19);  // starts 50 virtual ms ahead
  cpu.tick_after(6 * ms);
  EXPECT_TRUE(cpu.fair.need_resched());
  EXPECT_EQ(cpu.schedule(), &a);
  EXPECT_EQ(a.prev_sum_exec_ns, 0U);
  cpu.tick_after(1);
  EXPECT_TRUE(cpu.fair.need_resched());
}

TEST(cfs_tick, an_expired_share_drops_the_buddy_roles) {
  cfs_cpu cpu(without_debit());
  task& a = cpu.fork();
  task& b = cpu.fork();
  cpu.schedule();
  cpu.fair.yield_to(b, cpu.now);
  EXPECT_EQ(cpu.fair.skip_buddy(), &a);
  cpu.tick_after(4 * ms);
  EXPECT_EQ(cpu.fair.skip_buddy(), nullptr);
  EXPECT_EQ(cpu.fair.next_buddy(), &b);
}

// Wake-ups.

TEST(cfs_wakeup, an_idle_cpu_is_rescheduled) {
  cfs_cpu cpu;
  cpu.fork();
  EXPECT_TRUE(cpu.fair.need_resched());
  cpu.schedule();
  EXPECT_FALSE(cpu.fair.need_resched());
}

TEST(cfs_wakeup, a_sleeper_preempts_a_hog_that_ran_on) {
  cfs_cpu cpu(without_debit());
  task& sleeper = cpu.fork();
  task& hog = cpu.fork();
  cpu.schedule();
  EXPECT_EQ(cpu.sleep(), &hog);
  cpu.run(10 * ms);
  cpu.wake(sleeper);
  EXPECT_TRUE(cpu.fair.need_resched());
  EXPECT_EQ(cpu.fair.next_buddy(), &sleeper);
  EXPECT_EQ(cpu.schedule(), &sleeper);
}

// The running task after `ran` ns, with one asleep that did not run.
struct waker {
  cfs_cpu cpu;
  task& sleeper;
  task& runner;
  waker(std::uint64_t ran, sched_policy sleeps, sched_policy runs,
        const cfs_config& config = without_debit())
      : cpu(config), sleeper(cpu.fork(0, sleeps)), runner(cpu.fork(0, runs)) {
    cpu.schedule();
    cpu.sleep();
    cpu.run(ran);
    cpu.wake(sleeper);
  }
  [[nodiscard]] bool preempts() const { return cpu.fair.need_resched(); }
};

TEST(cfs_wakeup, the_gap_must_exceed_the_granularity) {
  const auto normal = sched_policy::normal;
  EXPECT_FALSE(waker(1 * ms, normal, normal).preempts());
  EXPECT_TRUE(waker(1 * ms + 1, normal, normal).preempts());
}

TEST(cfs_wakeup, batch_preempts_only_idle_policy_and_idle_preempts_nobody) {
  const auto normal = sched_policy::normal;
  EXPECT_FALSE(waker(9 * ms, batch, normal).preempts());
  EXPECT_FALSE(waker(9 * ms, batch, batch).preempts());
  EXPECT_TRUE(waker(9 * ms, normal, batch).preempts());
  EXPECT_TRUE(waker(0, batch, idle).preempts());
  EXPECT_TRUE(waker(0, normal, idle).preempts());
  EXPECT_FALSE(waker(9 * ms, idle, idle).preempts());
  EXPECT_FALSE(waker(9 * ms, idle, normal).preempts());
}

TEST(cfs_wakeup, without_wakeup_preemption_only_idle_policy_gives_way) {
  cfs_config config = without_debit();
  config.features.set(feature::wakeup_preemption, false);
  const auto normal = sched_policy::normal;
  EXPECT_FALSE(waker(9 * ms, normal, normal, config).preempts());
  EXPECT_TRUE(waker(0, normal, idle, config).preempts());
}

TEST(cfs_wakeup, buddies_appear_only_by_preemption_and_last_only_in_a_crowd) {
  const auto normal = sched_policy::normal;
  const waker too_early(1 * ms, normal, normal);
  EXPECT_EQ(too_early.cpu.fair.next_buddy(), nullptr);
  const waker two(2 * ms, normal, normal);
  EXPECT_EQ(two.cpu.fair.next_buddy(), &two.sleeper);
  EXPECT_EQ(two.cpu.fair.last_buddy(), nullptr);
  cfs_config crowded = without_debit();
  crowded.nr_latency = 2;
  const waker crowd(2 * ms, normal, normal, crowded);
  EXPECT_EQ(crowd.cpu.fair.last_buddy(), &crowd.runner);
}

TEST(cfs_wakeup, an_idle_policy_runner_becomes_no_last_buddy) {
  cfs_config crowded = without_debit();
  crowded.nr_latency = 2;
  const waker crowd(2 * ms, sched_policy::normal, idle, crowded);
  EXPECT_TRUE(crowd.preempts());
  EXPECT_EQ(crowd.cpu.fair.last_buddy(), nullptr);
  EXPECT_EQ(crowd.cpu.fair.next_buddy(), nullptr);
}

TEST(cfs_wakeup, next_buddy_nominates_in_a_crowd_even_without_preemption) {
  cfs_config crowded = without_debit();
  crowded.features.set(feature::next_buddy, true);
  crowded.nr_latency = 2;
  const auto normal = sched_policy::normal;
  const waker two(0, normal, normal, crowded);
  EXPECT_FALSE(two.preempts());
  EXPECT_EQ(two.cpu.fair.next_buddy(), &two.sleeper);
  EXPECT_EQ(waker(0, idle, normal, crowded).cpu.fair.next_buddy(), nullptr);
  crowded.nr_latency = 3;
  EXPECT_EQ(waker(0, normal, normal, crowded).cpu.fair.next_buddy(), nullptr);
}

TEST(cfs_wakeup, next_buddy_does_not_nominate_a_new_task) {
  cfs_config crowded;
  crowded.features.set(feature::next_buddy, true);
  crowded.nr_latency = 1;
  cfs_cpu cpu(crowded);
  cpu.fork();
  cpu.schedule();
  cpu.fork();
  EXPECT_EQ(cpu.fair.next_buddy(), nullptr);
}

TEST(cfs_wakeup, the_last_buddy_gets_the_cpu_back_when_the_preemptor_sleeps) {
  cfs_config crowded = without_debit();
  crowded.nr_latency = 3;
  cfs_cpu cpu(crowded);
  task& sleeper = cpu.fork();
  task& hog = cpu.fork();
  const task& light = cpu.fork(5);  // may be kept waiting for 3 ms
  cpu.schedule();
  EXPECT_EQ(cpu.sleep(), &hog);
  cpu.run(1'500 * us);
  cpu.wake(sleeper);
  EXPECT_EQ(cpu.schedule(), &sleeper);
  EXPECT_EQ(cpu.fair.last_buddy(), &hog);
  EXPECT_EQ(cpu.fair.waiting().first(), &light);
  EXPECT_EQ(cpu.sleep(), &hog);
}

TEST(cfs_wakeup, waking_a_runnable_task_does_nothing) {
  cfs_cpu cpu(without_debit());
  cpu.fork();
  task& b = cpu.fork();
  cpu.schedule();
  cpu.now += 5 * ms;
  cpu.wake(b);
  EXPECT_FALSE(cpu.fair.need_resched());
  EXPECT_EQ(cpu.fair.current()->sum_exec_ns, 0U);
}

// What accounts the running task when time has passed.

TEST(cfs_accounting, wakeups_account_the_runner_also_when_they_cannot_preempt) {
  cfs_cpu cpu(without_debit());
  task& sleeper = cpu.fork(0, batch);
  task& runner = cpu.fork();
  cpu.schedule();
  cpu.sleep();
  cpu.now += 2 * ms;
  cpu.wake(sleeper);
  EXPECT_EQ(runner.sum_exec_ns, 2 * ms);
}

TEST(cfs_accounting, a_wakeup_of_a_queued_task_accounts_only_to_compare) {
  cfs_cpu cpu(without_debit());
  task& runner = cpu.fork();
  task& quiet = cpu.fork(0, batch);
  task& eager = cpu.fork();
  cpu.schedule();
  cpu.now += 2 * ms;
  cpu.fair.wake_queued(quiet, cpu.now);
  EXPECT_EQ(runner.sum_exec_ns, 0U);
  cpu.fair.wake_queued(eager, cpu.now);
  EXPECT_EQ(runner.sum_exec_ns, 2 * ms);
  EXPECT_TRUE(cpu.fair.need_resched());
}

TEST(cfs_accounting, a_pending_resched_ends_the_preemption_test_early) {
  cfs_cpu cpu(without_debit());
  task& runner = cpu.fork();
  task& eager = cpu.fork();
  cpu.schedule();
  cpu.fair.set_need_resched();
  cpu.now += 2 * ms;
  cpu.fair.wake_queued(eager, cpu.now);
  EXPECT_EQ(runner.sum_exec_ns, 0U);
  EXPECT_EQ(cpu.fair.next_buddy(), nullptr);
}

TEST(cfs_accounting, a_fork_accounts_the_parent_first) {
  cfs_cpu cpu(without_debit());
  task& parent = cpu.fork();
  cpu.fork();  // holds min_vruntime back
  cpu.schedule();
  cpu.now += 2 * ms;
  const task& child = cpu.fork();
  EXPECT_EQ(parent.vruntime, 2 * ms);
  EXPECT_EQ(child.vruntime, parent.vruntime);
}

TEST(cfs_accounting, an_older_time_accounts_nothing) {
  cfs_cpu cpu(without_debit());
  task& a = cpu.fork();
  task& b = cpu.fork();
  cpu.schedule();
  cpu.run(1 * ms);
  cpu.fair.tick(cpu.now - 500 * us);
  EXPECT_EQ(a.sum_exec_ns, 1 * ms);
  EXPECT_EQ(cpu.fair.schedule(cpu.now - 500 * us), &b);
  cpu.fair.account(cpu.now);
  EXPECT_EQ(b.sum_exec_ns, 0U);
}

// Fork.

TEST(cfs_fork, the_child_runs_first_when_asked_to_and_min_vruntime_stays) {
  cfs_cpu cpu;
  cpu.config.child_runs_first = true;
  task& parent = cpu.fork();
  cpu.schedule();
  cpu.run(1 * ms);
  const std::uint64_t parents = parent.vruntime;
  const std::uint64_t floor = cpu.fair.min_vruntime();
  task& child = cpu.fork();
  EXPECT_EQ(child.vruntime, parents);
  EXPECT_GT(parent.vruntime, parents);
  EXPECT_EQ(cpu.fair.min_vruntime(), floor);
  EXPECT_TRUE(cpu.fair.need_resched());
  EXPECT_EQ(cpu.schedule(), &child);
}

TEST(cfs_fork, the_child_pays_its_share_in_advance) {
  cfs_cpu cpu;
  task& parent = cpu.fork();
  cpu.schedule();
  cpu.run(1);
  const task& child = cpu.fork();
  EXPECT_EQ(child.vruntime - parent.vruntime, 2'999'998U);
}

TEST(cfs_fork, without_a_parent_the_sign_of_min_vruntime_decides) {
  cfs_cpu cpu(without_debit());
  cpu.fair.start_at((std::uint64_t{1} << 63) - 1);
  EXPECT_EQ(cpu.fork().vruntime, (std::uint64_t{1} << 63) - 1);
  cfs_cpu later(without_debit());
  later.fair.start_at((std::uint64_t{1} << 63) + 1);
  EXPECT_EQ(later.fork().vruntime, 0U);
}

TEST(cfs_fork, a_full_storage_refuses_and_a_leaving_task_makes_room) {
  cfs_cpu cpu;
  for (std::size_t i = 0; i < cfs_cpu::places; ++i) cpu.fork();
  task extra;
  set_initial_attributes(extra, sched_policy::normal, 0);
  EXPECT_FALSE(cpu.fair.fork(extra, cpu.now));
  EXPECT_EQ(cpu.fair.nr_queued(), cfs_cpu::places);
  cpu.schedule();
  cpu.fair.exit(cpu.now);
  cpu.schedule();
  EXPECT_TRUE(cpu.fair.fork(extra, cpu.now));
  EXPECT_EQ(cpu.storage.free_places(), 0U);
  cpu.fair.remove(extra, cpu.now);
  EXPECT_EQ(cpu.storage.free_places(), 1U);
}

TEST(cfs_fork, a_child_placed_early_keeps_its_distance_to_min_vruntime) {
  cfs_cpu cpu(without_debit());
  cpu.fork();
  cpu.schedule();
  task child;
  set_initial_attributes(child, sched_policy::normal, 0);
  ASSERT_TRUE(cpu.fair.place_new(child, cpu.now));
  EXPECT_EQ(child.vruntime, 0U);
  EXPECT_FALSE(child.queued);
  cpu.now += 2 * ms;
  cpu.fair.enqueue_new(child, cpu.now);
  EXPECT_EQ(child.vruntime, 2 * ms);
}

// Yield.

TEST(cfs_yield, alone_nothing_happens) {
  cfs_cpu cpu;
  task& a = cpu.fork();
  cpu.schedule();
  cpu.fair.yield(cpu.now);
  EXPECT_EQ(cpu.fair.skip_buddy(), nullptr);
  EXPECT_EQ(cpu.schedule(), &a);
}

TEST(cfs_yield, the_skip_buddy_is_passed_over_until_it_runs_again) {
  cfs_cpu cpu(without_debit());
  task& a = cpu.fork();
  task& b = cpu.fork();
  cpu.schedule();
  cpu.run(500 * us);
  EXPECT_EQ(cpu.schedule(), &b);
  cpu.run(200 * us);
  cpu.fair.yield(cpu.now);
  EXPECT_EQ(cpu.schedule(), &a);
  cpu.run(700 * us);
  EXPECT_EQ(cpu.schedule(), &a);  // b is exactly 1 ms behind
  EXPECT_EQ(cpu.fair.skip_buddy(), &b);
  cpu.run(1);
  EXPECT_EQ(cpu.schedule(), &b);
  EXPECT_EQ(cpu.fair.skip_buddy(), nullptr);
}

TEST(cfs_yield, a_batch_task_is_not_accounted_by_it) {
  for (const sched_policy policy : {sched_policy::normal, batch}) {
    cfs_cpu cpu(without_debit());
    task& a = cpu.fork(0, policy);
    cpu.fork();
    cpu.schedule();
    cpu.now += 1 * ms;
    cpu.fair.yield(cpu.now);
    EXPECT_EQ(a.sum_exec_ns, policy == batch ? 0 : 1 * ms);
    EXPECT_EQ(cpu.fair.skip_buddy(), &a);
  }
}

TEST(cfs_yield, yielding_to_one_that_is_not_too_far_ahead_picks_it) {
  cfs_cpu cpu(without_debit());
  cpu.fork();
  cpu.fork();
  task& c = cpu.fork();
  cpu.schedule();
  EXPECT_TRUE(cpu.fair.yield_to(c, cpu.now));
  EXPECT_EQ(cpu.schedule(), &c);
}

TEST(cfs_yield, yielding_to_one_that_is_too_far_ahead_is_refused_by_the_pick) {
  cfs_cpu cpu(without_debit());
  task& ahead = cpu.fork();
  task& a = cpu.fork();
  task& b = cpu.fork();
  cpu.schedule();
  cpu.run(1 * ms + 1);
  EXPECT_EQ(cpu.schedule(), &a);
  EXPECT_TRUE(cpu.fair.yield_to(ahead, cpu.now));
  EXPECT_EQ(cpu.fair.next_buddy(), &ahead);
  EXPECT_EQ(cpu.schedule(), &b);
}

TEST(cfs_yield, yielding_to_a_sleeper_changes_nothing) {
  cfs_cpu cpu;
  task& a = cpu.fork();
  task& b = cpu.fork();
  cpu.schedule();
  cpu.sleep();
  EXPECT_FALSE(cpu.fair.yield_to(cpu.fair.current() == &a ? b : a, cpu.now));
  EXPECT_EQ(cpu.fair.skip_buddy(), nullptr);
}

TEST(cfs_yield, an_idle_policy_target_is_not_nominated) {
  cfs_cpu cpu(without_debit());
  cpu.fork();
  task& b = cpu.fork(0, idle);
  cpu.schedule();
  EXPECT_TRUE(cpu.fair.yield_to(b, cpu.now));
  EXPECT_EQ(cpu.fair.next_buddy(), nullptr);
}

// Attributes.

TEST(cfs_attributes, a_new_nice_value_of_the_running_task_starts_a_new_share) {
  cfs_cpu cpu(without_debit());
  task& a = cpu.fork();
  cpu.fork();
  cpu.schedule();
  cpu.run(2 * ms);
  cpu.fair.set_nice(a, -1, cpu.now);
  EXPECT_EQ(a.prev_sum_exec_ns, 2 * ms);
  EXPECT_FALSE(cpu.fair.need_resched());  // a higher priority
  cpu.fair.set_nice(a, 0, cpu.now);
  EXPECT_TRUE(cpu.fair.need_resched());  // a lower one
}

TEST(cfs_attributes, a_queued_task_keeps_its_vruntime_but_goes_behind_its_equals) {
  cfs_cpu cpu(without_debit());
  cpu.fork();
  task& b = cpu.fork();
  task& c = cpu.fork();
  cpu.schedule();
  cpu.fair.set_nice(b, 3, cpu.now);
  EXPECT_EQ(b.vruntime, c.vruntime);
  EXPECT_EQ(cpu.fair.waiting().first(), &c);
  EXPECT_EQ(b.weight.full, 526U * 1024);
}

TEST(cfs_attributes, the_same_nice_value_changes_nothing) {
  cfs_cpu cpu(without_debit());
  cpu.fork();
  task& b = cpu.fork();
  cpu.fork();
  cpu.schedule();
  cpu.fair.set_nice(b, 0, cpu.now);
  EXPECT_EQ(cpu.fair.waiting().first(), &b);
  EXPECT_FALSE(cpu.fair.set_attributes(b, sched_policy::normal, 0, 0, cpu.now));
  EXPECT_FALSE(cpu.fair.set_slice(b, 1 * ms, cpu.now));
}

TEST(cfs_attributes, min_vruntime_moves_only_when_a_policy_change_brings_a_new_nice_value) {
  for (const int nice : {0, 1}) {
    cfs_cpu cpu(without_debit());
    cpu.fork();
    task& held_back = cpu.fork();
    cpu.schedule();
    cpu.run(2 * ms);
    EXPECT_EQ(cpu.fair.min_vruntime(), 0U);
    EXPECT_TRUE(cpu.fair.set_attributes(held_back, batch, nice, 0, cpu.now));
    EXPECT_EQ(cpu.fair.min_vruntime(), nice == 0 ? 0 : 2 * ms);
    EXPECT_EQ(held_back.vruntime, nice == 0 ? 0 : 2 * ms);
  }
}

TEST(cfs_attributes, idle_policy_keeps_the_nice_value_asked_for_before) {
  cfs_cpu cpu;
  task& a = cpu.fork(4);
  EXPECT_TRUE(cpu.fair.set_attributes(a, idle, 7, 0, cpu.now));
  EXPECT_EQ(a.static_nice, 4);
  EXPECT_EQ(a.prio_nice, 7);
  EXPECT_EQ(a.weight.full, 3U * 1024);
  EXPECT_EQ(cpu.fair.nr_idle_policy(), 1U);
  EXPECT_FALSE(cpu.fair.set_attributes(a, idle, 9, 0, cpu.now));
  EXPECT_TRUE(cpu.fair.set_attributes(a, sched_policy::normal, 4, 0, cpu.now));
  EXPECT_EQ(cpu.fair.nr_idle_policy(), 0U);
}

TEST(cfs_attributes, a_raised_task_may_preempt) {
  cfs_cpu cpu(without_debit());
  cpu.fork();
  task& b = cpu.fork();
  cpu.schedule();
  cpu.run(2 * ms);
  cpu.fair.set_nice(b, -1, cpu.now);
  EXPECT_TRUE(cpu.fair.need_resched());
  EXPECT_EQ(cpu.fair.next_buddy(), &b);
}

TEST(cfs_attributes, a_direct_weight_changes_the_load_and_nothing_else) {
  cfs_cpu cpu(without_debit());
  task& a = cpu.fork();
  task& b = cpu.fork();
  cpu.schedule();
  cpu.now += 1 * ms;
  cpu.fair.reweight(b, 2'000, cpu.now);
  EXPECT_EQ(cpu.fair.load(), nice_0_weight + 2'000);
  EXPECT_EQ(a.sum_exec_ns, 0U);
  cpu.fair.reweight(a, 3'000, cpu.now);  // the running one is accounted at its old weight first
  EXPECT_EQ(a.vruntime, 1 * ms);
  EXPECT_EQ(cpu.fair.load(), 5'000U);
}

// A higher class, removal, timers, the hook.

TEST(cfs_higher_class, wakeups_only_enqueue_while_it_runs) {
  cfs_cpu cpu(without_debit());
  task& a = cpu.fork();
  task& sleeper = cpu.fork();
  cpu.schedule();
  cpu.run(1 * ms);
  EXPECT_EQ(cpu.schedule(), &sleeper);
  EXPECT_EQ(cpu.sleep(), &a);
  cpu.fair.yield_cpu_to_higher_class(cpu.now);
  EXPECT_EQ(cpu.fair.current(), nullptr);
  EXPECT_EQ(cpu.fair.waiting().first(), &a);
  cpu.now += 5 * ms;
  cpu.wake(sleeper);
  cpu.fork();
  EXPECT_FALSE(cpu.fair.need_resched());
  EXPECT_EQ(a.sum_exec_ns, 1 * ms);
  EXPECT_EQ(cpu.schedule(), &sleeper);
}

TEST(cfs_higher_class, takes_over_from_a_task_that_just_blocked) {
  cfs_cpu cpu;
  cpu.fork();
  cpu.schedule();
  cpu.fair.block(cpu.now);
  cpu.fair.yield_cpu_to_higher_class(cpu.now);
  EXPECT_TRUE(cpu.fair.waiting().empty());
  EXPECT_EQ(cpu.schedule(), nullptr);
}

TEST(cfs_remove, a_waiting_task_leaves_with_its_buddy_role) {
  cfs_cpu cpu(without_debit());
  task& a = cpu.fork();
  task& b = cpu.fork();
  cpu.schedule();
  cpu.fair.yield_to(b, cpu.now);
  cpu.fair.remove(b, cpu.now);
  EXPECT_EQ(cpu.fair.next_buddy(), nullptr);
  EXPECT_EQ(cpu.fair.nr_queued(), 1U);
  EXPECT_EQ(cpu.schedule(), &a);
}

TEST(cfs_timer, tells_when_the_share_ends) {
  const auto never = std::numeric_limits<std::uint64_t>::max();
  cfs_cpu cpu(without_debit());
  EXPECT_EQ(cpu.fair.time_to_request_end(), never);
  cpu.fork();
  cpu.schedule();
  EXPECT_EQ(cpu.fair.time_to_request_end(), never);
  cpu.fork();
  cpu.run(1 * ms);
  EXPECT_EQ(cpu.fair.time_to_request_end(), 1'999'998U);
  cpu.run(3 * ms);
  EXPECT_EQ(cpu.fair.time_to_request_end(), 0U);
}

TEST(cfs_hook, hears_each_reason) {
  std::vector<decision> heard;
  cfs_cpu cpu(without_debit());
  cpu.fair.set_decision_hook(
      [](void* to, decision what, const entity&) {
        static_cast<std::vector<decision>*>(to)->push_back(what);
      },
      &heard);
  task& a = cpu.fork();
  cpu.schedule();
  task& b = cpu.fork();
  cpu.tick_after(4 * ms);
  cpu.fair.wake_queued(b, cpu.now);  // a resched is pending: no reason
  EXPECT_EQ(cpu.schedule(), &b);
  cpu.fair.set_nice(b, 5, cpu.now);
  cpu.schedule();
  cpu.run(5 * ms);
  cpu.fair.set_nice(a, 1, cpu.now);
  EXPECT_EQ(heard, (std::vector<decision>{decision::cpu_was_idle, decision::ran_its_share,
                                          decision::priority_changed, decision::wakeup_preempts}));
}

TEST(cfs_hook, hears_of_idle_policy_children_and_leads) {
  std::vector<decision> heard;
  cfs_cpu cpu(without_debit());
  task& light = cpu.fork(0, idle);
  cpu.schedule();
  cpu.fair.set_decision_hook(
      [](void* to, decision what, const entity&) {
        static_cast<std::vector<decision>*>(to)->push_back(what);
      },
      &heard);
  cpu.fork();
  cpu.schedule();
  cpu.run(10 * us);
  EXPECT_EQ(cpu.schedule(), &light);
  cpu.tick_after(750 * us);
  cpu.schedule();
  cpu.config.features.set(feature::start_debit, true);
  cpu.config.child_runs_first = true;
  cpu.fork();
  EXPECT_EQ(heard, (std::vector<decision>{decision::idle_policy_yields, decision::ran_ahead,
                                          decision::child_runs_first}));
}

}  // namespace
}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// What the EEVDF class does, one sentence a test.
#include "core/one_cpu.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace vlag::test {
namespace {

std::vector<std::uint32_t> order_of(const one_cpu& cpu) {
  std::vector<std::uint32_t> ids;
  cpu.fair.queue().waiting().for_each(
      [&](const entity& e) { ids.push_back(static_cast<const task&>(e).id); });
  return ids;
}

using ids = std::vector<std::uint32_t>;

// ---- Taking turns

TEST(eevdf_turns, equal_tasks_run_one_after_the_other) {
  one_cpu cpu;
  for (int i = 0; i < 3; ++i) cpu.fork();
  cpu.schedule();
  ids ran;
  for (int i = 0; i < 6; ++i) {
    ran.push_back(cpu.fair.current()->id);
    cpu.run_and_switch(3 * ms);
  }
  EXPECT_EQ(ran, (ids{1, 2, 3, 1, 2, 3}));
}

TEST(eevdf_turns, equal_deadlines_are_served_in_the_order_of_joining) {
  one_cpu cpu;
  for (int i = 0; i < 5; ++i) cpu.fork();
  EXPECT_EQ(order_of(cpu), (ids{1, 2, 3, 4, 5}));
  cpu.schedule();
  cpu.fair.yield_cpu_to_higher_class(cpu.now);  // going back is joining again
  EXPECT_EQ(order_of(cpu), (ids{2, 3, 4, 5, 1}));
}

TEST(eevdf_turns, a_new_task_asks_for_half_a_request_first) {
  one_cpu cpu;
  const task& t = cpu.fork();
  EXPECT_EQ(t.deadline - t.vruntime, 1500 * us);
  one_cpu plain(without(feature::place_deadline_initial));
  const task& u = plain.fork();
  EXPECT_EQ(u.deadline - u.vruntime, 3 * ms);
}

TEST(eevdf_turns, one_overrun_is_one_new_request_however_long_it_was) {
  one_cpu cpu;
  const task& t = cpu.fork();
  cpu.fork();
  cpu.schedule();
  cpu.run(50 * ms);
  EXPECT_EQ(t.deadline, t.vruntime + 3 * ms);
}

TEST(eevdf_turns, a_task_alone_is_never_told_to_give_way) {
  one_cpu cpu;
  cpu.fork();
  cpu.schedule();
  for (int i = 0; i < 20; ++i) {
    cpu.run(4 * ms);
    EXPECT_FALSE(cpu.fair.need_resched());
  }
}

TEST(eevdf_turns, a_waiting_task_wins_a_tie_with_the_running_one) {
  one_cpu cpu(without(feature::run_to_parity));
  cpu.fork();
  const task& waits = cpu.fork();
  const task* runs = cpu.schedule();
  ASSERT_EQ(runs->deadline, waits.deadline);
  EXPECT_EQ(cpu.fair.peek(), &waits);
}

TEST(eevdf_turns, weight_decides_how_long_a_request_is_in_virtual_time) {
  one_cpu cpu;
  const task& nice_5 = cpu.fork(5);
  EXPECT_EQ(nice_5.deadline - nice_5.vruntime, 9170149U / 2);
}

TEST(eevdf_turns, a_new_base_slice_acts_at_the_next_request) {
  one_cpu cpu;
  const task& t = cpu.fork();
  const task& own = cpu.fork(0, 2 * ms);
  cpu.schedule();
  cpu.config.base_slice_ns = 1 * ms;
  EXPECT_EQ(t.slice_ns, 3 * ms);
  for (int i = 0; i < 8; ++i) cpu.run_and_switch(3 * ms);
  EXPECT_EQ(t.slice_ns, 1 * ms);
  EXPECT_EQ(own.slice_ns, 2 * ms);
}

// ---- Slice protection

TEST(eevdf_protection, a_tick_inside_the_request_never_reschedules) {
  one_cpu cpu;
  cpu.fork(0, 10 * ms);
  cpu.schedule();
  cpu.run(1 * ms);
  const task& urgent = cpu.fork(0, 100 * us, sched_policy::batch);
  ASSERT_TRUE(before(urgent.deadline, cpu.fair.current()->deadline));
  cpu.run(1 * ms);
  EXPECT_FALSE(cpu.fair.need_resched());
  EXPECT_EQ(cpu.fair.peek(),
            cpu.fair.queue().eligible(*cpu.fair.current()) ? cpu.fair.current() : &urgent);
}

TEST(eevdf_protection, an_eligible_running_task_keeps_the_cpu_until_parity) {
  for (const bool parity : {true, false}) {
    one_cpu cpu(parity ? three_ms_slices() : without(feature::run_to_parity));
    task& runs = cpu.fork(0, 10 * ms);
    cpu.schedule();
    const task& urgent = cpu.fork(0, 1 * ms, sched_policy::batch);
    EXPECT_EQ(cpu.fair.peek(), parity ? &runs : &urgent);
  }
}

// A task that overran beside one that is owed time and was picked twice running.
struct picked_twice {
  explicit picked_twice(const eevdf_config& config = three_ms_slices()) : cpu(config) {
    other = &cpu.fork(0, 20 * ms);
    cpu.schedule();
    runs = &cpu.fork(0, 0, sched_policy::batch);
    cpu.run_and_switch(10 * ms);
    cpu.run_and_switch(4 * ms);
  }
  one_cpu cpu;
  task* other;
  task* runs;
};

TEST(eevdf_protection, picking_the_same_task_again_does_not_renew_it) {
  picked_twice s;
  ASSERT_EQ(s.cpu.fair.current(), s.runs);
  EXPECT_FALSE(s.cpu.fair.queue().slice_protected(*s.runs));
  s.cpu.fair.yield_cpu_to_higher_class(s.cpu.now);
  ASSERT_EQ(s.cpu.schedule(), s.runs);  // taking the CPU does
  EXPECT_TRUE(s.cpu.fair.queue().slice_protected(*s.runs));
}

TEST(eevdf_protection, an_unprotected_task_gives_way_as_soon_as_it_is_not_eligible) {
  for (const bool preempt_short : {true, false}) {
    picked_twice s(preempt_short ? three_ms_slices() : without(feature::preempt_short));
    while (s.cpu.fair.queue().eligible(*s.runs)) {
      s.cpu.schedule();
      ASSERT_EQ(s.cpu.fair.current(), s.runs);
      s.cpu.run(1 * ms);
    }
    ASSERT_EQ(s.runs->vruntime, s.other->vruntime + 1 * ms);
    ASSERT_TRUE(before(s.runs->vruntime, s.runs->deadline - 1 * ms));  // its request goes on
    EXPECT_EQ(s.cpu.fair.need_resched(), preempt_short);
  }
}

TEST(eevdf_protection, a_shorter_request_ends_it_even_where_it_does_not_preempt) {
  one_cpu cpu;
  task& runs = cpu.fork(0, 10 * ms);
  task& sleeper = cpu.fork(0, 4 * ms);
  ASSERT_EQ(cpu.schedule(), &sleeper);
  cpu.block();
  task& first = cpu.fork(0, 1 * ms);
  cpu.schedule();
  cpu.fair.yield_cpu_to_higher_class(cpu.now);
  cpu.fair.remove(first, cpu.now);
  task& earliest = cpu.fork(0, 100 * us, sched_policy::batch);
  ASSERT_EQ(cpu.schedule(), &earliest);
  cpu.block();
  ASSERT_EQ(cpu.fair.current(), &runs);
  ASSERT_TRUE(cpu.fair.queue().slice_protected(runs));
  cpu.wake(earliest);  // batch: waits, and has the earliest deadline
  ASSERT_TRUE(cpu.fair.queue().slice_protected(runs));
  cpu.wake(sleeper);
  EXPECT_FALSE(cpu.fair.need_resched());
  EXPECT_FALSE(cpu.fair.queue().slice_protected(runs));
}

TEST(eevdf_protection, a_pending_reschedule_leaves_it_alone) {
  one_cpu cpu;
  task& runs = cpu.fork(0, 10 * ms);
  cpu.schedule();
  cpu.fair.set_need_resched();
  cpu.fork(0, 1 * ms);
  EXPECT_TRUE(cpu.fair.queue().slice_protected(runs));
}

// ---- Wake-up preemption

struct runner_and_sleeper {
  explicit runner_and_sleeper(const eevdf_config& config, std::uint64_t slice_ns,
                              sched_policy policy = sched_policy::normal,
                              sched_policy policy_of_runner = sched_policy::normal)
      : cpu(config) {
    sleeper = &cpu.fork(0, slice_ns, policy);
    cpu.schedule();
    cpu.block();
    runner = &cpu.fork(0, 0, policy_of_runner);
    cpu.schedule();
    cpu.run(100 * us);
  }
  bool preempts() {
    cpu.wake(*sleeper);
    return cpu.fair.need_resched();
  }
  one_cpu cpu;
  task* sleeper;
  task* runner;
};

TEST(eevdf_wake_up, only_a_shorter_request_preempts_a_protected_task) {
  EXPECT_TRUE(runner_and_sleeper(three_ms_slices(), 1 * ms).preempts());
  EXPECT_FALSE(runner_and_sleeper(three_ms_slices(), 3 * ms).preempts());
  EXPECT_FALSE(runner_and_sleeper(without(feature::preempt_short), 1 * ms).preempts());
  EXPECT_FALSE(runner_and_sleeper(without(feature::wakeup_preemption), 1 * ms).preempts());
}

TEST(eevdf_wake_up, batch_and_idle_tasks_never_preempt) {
  EXPECT_FALSE(runner_and_sleeper(three_ms_slices(), 1 * ms, sched_policy::batch).preempts());
  EXPECT_FALSE(runner_and_sleeper(three_ms_slices(), 1 * ms, sched_policy::idle).preempts());
}

TEST(eevdf_wake_up, anything_preempts_an_idle_policy_task_but_another_such) {
  for (const auto policy : {sched_policy::normal, sched_policy::batch}) {
    runner_and_sleeper s(three_ms_slices(), 100 * ms, policy, sched_policy::idle);
    EXPECT_TRUE(s.preempts());
    EXPECT_FALSE(s.cpu.fair.queue().slice_protected(*s.runner));
  }
  EXPECT_FALSE(runner_and_sleeper(three_ms_slices(), 1 * ms, sched_policy::idle, sched_policy::idle)
                   .preempts());
}

TEST(eevdf_wake_up, an_idle_cpu_is_told_to_schedule) {
  one_cpu cpu;
  task& t = cpu.fork();
  EXPECT_TRUE(cpu.fair.need_resched());
  cpu.schedule();
  cpu.block();
  EXPECT_EQ(cpu.fair.current(), nullptr);
  EXPECT_FALSE(cpu.fair.need_resched());
  cpu.wake(t);
  EXPECT_TRUE(cpu.fair.need_resched());
}

TEST(eevdf_wake_up, of_a_runnable_task_does_nothing) {
  one_cpu cpu;
  task& runs = cpu.fork();
  task& waits = cpu.fork();
  cpu.schedule();
  cpu.wake(runs);
  cpu.wake(waits);
  EXPECT_EQ(cpu.fair.nr_queued(), 2U);
  EXPECT_FALSE(cpu.fair.need_resched());
}

TEST(eevdf_wake_up, accounts_the_running_task_first) {
  runner_and_sleeper s(three_ms_slices(), 3 * ms);
  s.cpu.pass(500 * us);
  s.cpu.wake(*s.sleeper);
  EXPECT_EQ(s.runner->sum_exec_ns, 600 * us);
}

TEST(eevdf_wake_up, next_buddy_lets_the_last_woken_task_run_next) {
  for (const auto policy : {sched_policy::normal, sched_policy::idle}) {
    one_cpu cpu(with(feature::next_buddy));
    task& sleeper = cpu.fork(0, 0, policy);
    cpu.schedule();
    cpu.block();
    cpu.fork();
    cpu.fork(0, 1 * ms);
    cpu.schedule();
    cpu.wake(sleeper);
    const bool nominated = policy == sched_policy::normal;
    EXPECT_EQ(cpu.fair.buddy(), nominated ? &sleeper : nullptr);
    EXPECT_EQ(cpu.schedule() == &sleeper, nominated);
    EXPECT_EQ(cpu.fair.buddy(), nullptr);
  }
}

// ---- Lag

// One task that is owed time and one that overran; the first is on the CPU.
struct creditor_and_debtor {
  explicit creditor_and_debtor(const eevdf_config& config = three_ms_slices()) : cpu(config) {
    debtor = &cpu.fork();
    creditor = &cpu.fork();
    cpu.schedule();
    cpu.run_and_switch(4 * ms);
  }
  one_cpu cpu;
  task* debtor;
  task* creditor;
};

TEST(eevdf_lag, credit_is_kept_over_sleep) {
  creditor_and_debtor s;
  ASSERT_EQ(s.cpu.fair.current(), s.creditor);
  EXPECT_FALSE(s.cpu.block());
  EXPECT_EQ(s.creditor->vlag, static_cast<std::int64_t>(2 * ms));
  s.cpu.run(100 * ms);
  s.cpu.wake(*s.creditor);
  EXPECT_EQ(s.cpu.fair.queue().lag(*s.creditor), static_cast<std::int64_t>(2 * ms));
}

TEST(eevdf_lag, without_inflation_half_of_it_goes_into_moving_the_average_of_two) {
  creditor_and_debtor s(without(feature::place_lag_inflate));
  s.cpu.block();
  s.cpu.run(100 * ms);
  s.cpu.wake(*s.creditor);
  EXPECT_EQ(s.cpu.fair.queue().lag(*s.creditor), static_cast<std::int64_t>(1 * ms));
}

TEST(eevdf_lag, a_sleepers_bonus_is_a_tick_or_half_of_it) {
  for (const bool gentle : {false, true}) {
    eevdf_config config = with(feature::fair_sleepers, without(feature::place_lag));
    config.features.set(feature::gentle_fair_sleepers, gentle);
    creditor_and_debtor s(config);
    s.cpu.block();
    s.cpu.run(100 * ms);
    const std::uint64_t average = s.cpu.fair.queue().average_vruntime();
    s.cpu.wake(*s.creditor);
    EXPECT_EQ(average - s.creditor->vruntime, gentle ? 2 * ms : 4 * ms);
  }
}

TEST(eevdf_lag, without_place_lag_a_sleeper_returns_at_the_average) {
  creditor_and_debtor s(without(feature::place_lag));
  s.cpu.block();
  s.cpu.run(100 * ms);
  s.cpu.wake(*s.creditor);
  EXPECT_EQ(s.cpu.fair.queue().lag(*s.creditor), 0);
}

TEST(eevdf_lag, an_empty_queue_forgets_it) {
  creditor_and_debtor s;
  s.cpu.block();
  ASSERT_EQ(s.cpu.fair.current(), s.debtor);
  s.cpu.block();
  ASSERT_EQ(s.cpu.fair.nr_queued(), 0U);
  s.cpu.wake(*s.creditor);
  EXPECT_EQ(s.cpu.fair.queue().lag(*s.creditor), 0);
  EXPECT_EQ(s.creditor->vlag, static_cast<std::int64_t>(2 * ms));  // but it is not cleared
}

std::int64_t lag_kept_by_a_starved_task(const eevdf_config& config) {
  one_cpu cpu(config);
  task& starved = cpu.fork(0, 500 * us);
  cpu.fork();
  task& hog = cpu.fork(0, 100 * ms);
  cpu.fair.set_nice(starved, 1, cpu.now);
  cpu.fair.set_nice(starved, 0, cpu.now);
  while (cpu.schedule() != &hog) cpu.run(3 * ms);
  cpu.run(50 * ms);
  EXPECT_GT(cpu.fair.queue().lag(starved), static_cast<std::int64_t>(4 * ms));
  cpu.fair.yield_cpu_to_higher_class(cpu.now);
  cpu.fair.remove(starved, cpu.now);
  return starved.vlag;
}

TEST(eevdf_lag, is_kept_to_within_two_requests_or_a_tick) {
  // The tick: 2 * 500 us is shorter.
  EXPECT_EQ(lag_kept_by_a_starved_task(three_ms_slices()), static_cast<std::int64_t>(4 * ms));
}

TEST(eevdf_lag, without_its_clamp_is_kept_whole) {
  EXPECT_GT(lag_kept_by_a_starved_task(without(feature::lag_clamp)),
            static_cast<std::int64_t>(10 * ms));
}

TEST(eevdf_lag, a_debtor_stays_queued_until_it_is_worked_off) {
  creditor_and_debtor s;
  s.cpu.run(1 * ms);
  s.cpu.fair.yield_cpu_to_higher_class(s.cpu.now);
  task& overrun = *s.debtor;
  // Have the debtor run once more while it is owed nothing.
  ASSERT_EQ(s.cpu.schedule(), s.creditor);
  s.cpu.run(6 * ms);
  EXPECT_TRUE(s.cpu.fair.block(s.cpu.now));
  EXPECT_TRUE(s.creditor->sched_delayed);
  EXPECT_EQ(s.cpu.fair.nr_queued(), 2U);
  EXPECT_EQ(s.cpu.fair.nr_runnable(), 1U);
  EXPECT_EQ(s.cpu.schedule(), &overrun);
  for (int i = 0; i < 10 && s.creditor->queued; ++i) s.cpu.run_and_switch(3 * ms);
  EXPECT_FALSE(s.creditor->queued);
  EXPECT_EQ(s.creditor->vlag, 0);  // DELAY_ZERO: no credit for the time asleep
  EXPECT_EQ(s.cpu.fair.nr_delayed(), 0U);
}

// A task that overran, blocked and is delayed, and one that runs now.
struct delayed_sleeper {
  explicit delayed_sleeper(const eevdf_config& config = three_ms_slices()) : cpu(config) {
    sleeper = &cpu.fork();
    runner = &cpu.fork();
    cpu.schedule();
    cpu.run(4 * ms);
    cpu.block();
  }
  one_cpu cpu;
  task* sleeper;
  task* runner;
};

TEST(eevdf_delayed, waking_it_does_not_account_the_running_task) {
  delayed_sleeper s;
  ASSERT_TRUE(s.sleeper->sched_delayed);
  s.cpu.fair.set_need_resched();  // so that no preemption check accounts either
  s.cpu.pass(1 * ms);
  s.cpu.wake(*s.sleeper);
  EXPECT_EQ(s.runner->sum_exec_ns, 0U);
  EXPECT_EQ(s.cpu.fair.nr_runnable(), 2U);
}

TEST(eevdf_delayed, woken_in_debt_it_keeps_its_place) {
  delayed_sleeper s;
  s.cpu.run(1 * ms);
  const std::uint64_t vruntime = s.sleeper->vruntime;
  const std::uint64_t deadline = s.sleeper->deadline;
  s.cpu.wake(*s.sleeper);
  EXPECT_EQ(s.sleeper->vruntime, vruntime);
  EXPECT_EQ(s.sleeper->deadline, deadline);
  EXPECT_LT(s.cpu.fair.queue().lag(*s.sleeper), 0);
}

TEST(eevdf_delayed, woken_after_that_it_starts_anew_at_the_average) {
  for (const bool zero : {true, false}) {
    delayed_sleeper s(zero ? three_ms_slices() : without(feature::delay_zero));
    s.cpu.run(20 * ms);
    ASSERT_GT(s.cpu.fair.queue().lag(*s.sleeper), 0);
    s.cpu.wake(*s.sleeper);
    EXPECT_EQ(s.cpu.fair.queue().lag(*s.sleeper) == 0, zero);
    if (zero) {
      EXPECT_EQ(s.sleeper->deadline, s.sleeper->vruntime + 3 * ms);
    }
  }
}

TEST(eevdf_delayed, leaving_at_last_it_takes_no_credit_along) {
  for (const bool zero : {true, false}) {
    delayed_sleeper s(zero ? three_ms_slices() : without(feature::delay_zero));
    s.cpu.run(7 * ms);
    ASSERT_GT(s.cpu.fair.queue().lag(*s.sleeper), 0);
    EXPECT_EQ(s.cpu.schedule(), s.runner);
    EXPECT_FALSE(s.sleeper->queued);
    EXPECT_EQ(s.sleeper->vlag, zero ? 0 : static_cast<std::int64_t>(1500 * us));
  }
}

TEST(eevdf_delayed, it_counts_as_company) {
  delayed_sleeper s;
  s.cpu.run(4 * ms);
  EXPECT_TRUE(s.cpu.fair.need_resched());  // though nobody else can run
  EXPECT_EQ(s.cpu.schedule(), s.runner);
}

TEST(eevdf_delayed, without_the_feature_a_debtor_leaves_at_once_with_its_debt) {
  delayed_sleeper s(without(feature::delay_dequeue));
  EXPECT_FALSE(s.sleeper->queued);
  EXPECT_EQ(s.sleeper->vlag, -static_cast<std::int64_t>(2 * ms));
}

TEST(eevdf_delayed, an_exit_is_never_delayed) {
  one_cpu cpu;
  cpu.fork();
  cpu.fork();
  task* runs = cpu.schedule();
  cpu.run(4 * ms);
  cpu.fair.exit(cpu.now);
  EXPECT_FALSE(runs->queued);
  EXPECT_EQ(cpu.fair.nr_queued(), 1U);
}

TEST(eevdf_delayed, a_runner_that_blocked_is_current_until_somebody_is_picked) {
  one_cpu cpu;
  cpu.fork();
  cpu.fork();
  task* runs = cpu.schedule();
  cpu.run(4 * ms);
  EXPECT_TRUE(cpu.fair.block(cpu.now));
  EXPECT_EQ(cpu.fair.current(), runs);
  cpu.schedule();
  EXPECT_EQ(order_of(cpu), ids{runs->id});
}

TEST(eevdf_delayed, it_may_be_reniced_and_stays_delayed) {
  delayed_sleeper s;
  s.cpu.fair.set_nice(*s.sleeper, 5, s.cpu.now);
  EXPECT_TRUE(s.sleeper->sched_delayed);
  EXPECT_TRUE(s.sleeper->queued);
  EXPECT_EQ(s.cpu.fair.nr_delayed(), 1U);
}

// ---- Yield

TEST(eevdf_yield, forfeits_what_is_left_of_the_request) {
  one_cpu cpu;
  task& t = cpu.fork();
  cpu.fork();
  cpu.schedule();
  cpu.run(100 * us);
  const std::uint64_t deadline = t.deadline;
  cpu.fair.set_nice(t, 0, cpu.now);
  ASSERT_FALSE(cpu.fair.queue().eligible(t));
  cpu.fair.yield(cpu.now);
  EXPECT_EQ(t.deadline, deadline);  // not eligible: nothing is forfeited
  task& u = cpu.fork();
  cpu.schedule();
  cpu.run_and_switch(3 * ms);
  while (cpu.fair.current() != &u) cpu.run_and_switch(3 * ms);
  ASSERT_TRUE(cpu.fair.queue().eligible(u));
  const std::uint64_t end = u.deadline;
  cpu.fair.yield(cpu.now);
  EXPECT_EQ(u.vruntime, end);
  EXPECT_EQ(u.deadline, end + 3 * ms);
}

TEST(eevdf_yield, alone_does_nothing_but_a_delayed_task_is_company) {
  delayed_sleeper s;
  const std::uint64_t deadline = s.runner->deadline;
  s.cpu.fair.yield(s.cpu.now);
  EXPECT_EQ(s.runner->vruntime, deadline);
  one_cpu alone;
  const task& t = alone.fork();
  alone.schedule();
  alone.fair.yield(alone.now);
  EXPECT_NE(t.vruntime, t.deadline);
  EXPECT_EQ(t.deadline - t.vruntime, 1500 * us);
}

TEST(eevdf_yield, to_a_task_makes_it_the_next_if_it_is_eligible) {
  for (const bool pick_buddy : {true, false}) {
    one_cpu cpu(pick_buddy ? three_ms_slices() : without(feature::pick_buddy));
    for (int i = 0; i < 2; ++i) cpu.fork();
    task& last = cpu.fork(0, 20 * ms);
    cpu.schedule();
    EXPECT_TRUE(cpu.fair.yield_to(last, cpu.now));
    EXPECT_EQ(cpu.schedule() == &last, pick_buddy);
  }
}

TEST(eevdf_yield, to_a_sleeping_task_is_refused) {
  one_cpu cpu;
  cpu.fork();
  cpu.fork();
  task* sleeper = cpu.schedule();
  cpu.block();
  const std::uint64_t deadline = cpu.fair.current()->deadline;
  EXPECT_FALSE(cpu.fair.yield_to(*sleeper, cpu.now));
  EXPECT_EQ(cpu.fair.current()->deadline, deadline);
}

// ---- Attributes

TEST(eevdf_attributes, renice_keeps_the_distance_of_the_deadline_in_virtual_time) {
  one_cpu cpu;
  cpu.fork();
  task& waits = cpu.fork();
  cpu.schedule();
  const std::uint64_t distance = waits.deadline - waits.vruntime;
  cpu.fair.set_nice(waits, 10, cpu.now);
  EXPECT_EQ(waits.deadline - waits.vruntime, distance);
  one_cpu fresh(without(feature::place_rel_deadline));
  fresh.fork();
  task& other = fresh.fork();
  fresh.schedule();
  fresh.fair.set_nice(other, 10, fresh.now);
  EXPECT_EQ(other.deadline - other.vruntime, to_virtual(3 * ms, weight_of_nice(10)));
}

TEST(eevdf_attributes, renice_of_a_sleeper_keeps_its_lag_in_wall_clock_time) {
  creditor_and_debtor s;
  s.cpu.block();
  s.cpu.fair.set_nice(*s.creditor, 5, s.cpu.now);
  EXPECT_EQ(s.creditor->vlag, static_cast<std::int64_t>(2 * ms * 1024 / 335));
}

TEST(eevdf_attributes, renice_of_the_running_task_renews_its_protection) {
  one_cpu cpu;
  task& t = cpu.fork();
  cpu.fork();
  cpu.schedule();
  cpu.fair.reweight(t, 2 * nice_0_weight, cpu.now);
  ASSERT_FALSE(cpu.fair.queue().slice_protected(t));
  cpu.fair.set_nice(t, 1, cpu.now);
  EXPECT_TRUE(cpu.fair.queue().slice_protected(t));
  EXPECT_EQ(cpu.fair.current(), &t);
}

TEST(eevdf_attributes, becoming_nicer_reschedules_the_running_task) {
  for (const int nice : {5, -5}) {
    one_cpu cpu;
    task& t = cpu.fork();
    cpu.fork();
    cpu.schedule();
    cpu.fair.set_nice(t, nice, cpu.now);
    EXPECT_EQ(cpu.fair.need_resched(), nice > 0);
  }
}

TEST(eevdf_attributes, a_slice_is_cut_to_its_range_after_it_was_compared) {
  one_cpu cpu;
  task& t = cpu.fork();
  EXPECT_TRUE(cpu.fair.set_slice(t, 1, cpu.now));
  EXPECT_EQ(t.slice_ns, 100 * us);
  EXPECT_TRUE(cpu.fair.set_slice(t, 1, cpu.now));  // so asking again does it again
  EXPECT_FALSE(cpu.fair.set_slice(t, 100 * us, cpu.now));
  EXPECT_TRUE(cpu.fair.set_slice(t, 1000 * ms, cpu.now));
  EXPECT_EQ(t.slice_ns, 100 * ms);
  EXPECT_TRUE(cpu.fair.set_slice(t, 0, cpu.now));
  EXPECT_EQ(t.slice_ns, 3 * ms);
  EXPECT_FALSE(t.custom_slice);
}

TEST(eevdf_attributes, a_new_slice_leaves_the_pending_deadline) {
  one_cpu cpu;
  task& t = cpu.fork();
  cpu.fork();
  cpu.schedule();
  const std::uint64_t deadline = t.deadline;
  cpu.fair.set_slice(t, 500 * us, cpu.now);
  EXPECT_EQ(t.deadline, deadline);
  EXPECT_FALSE(cpu.fair.need_resched());
}

TEST(eevdf_attributes, the_idle_policy_has_no_slice_and_a_fixed_weight) {
  one_cpu cpu;
  task& t = cpu.fork(5, 2 * ms, sched_policy::idle);
  EXPECT_FALSE(cpu.fair.set_slice(t, 5 * ms, cpu.now));
  cpu.fair.set_nice(t, -5, cpu.now);
  EXPECT_EQ(t.weight.full, 3U << 10);
  EXPECT_TRUE(cpu.fair.set_attributes(t, sched_policy::normal, -5, 2 * ms, cpu.now));
  EXPECT_EQ(t.weight.full, weight_of_nice(-5).full);
  EXPECT_FALSE(cpu.fair.set_attributes(t, sched_policy::normal, -5, 2 * ms, cpu.now));
}

TEST(eevdf_attributes, a_change_back_undoes_a_weight_of_no_nice_level) {
  one_cpu cpu;
  task& t = cpu.fork();
  cpu.fair.reweight(t, 12345U << 10, cpu.now);
  EXPECT_EQ(cpu.fair.queue().load(), 12345U << 10);
  cpu.fair.set_slice(t, 5 * ms, cpu.now);
  EXPECT_EQ(cpu.fair.queue().load(), nice_0_weight);
}

// ---- Sums

TEST(eevdf_sums, asking_for_the_average_moves_the_reference_and_nothing_else) {
  creditor_and_debtor s;
  s.cpu.run(1 * ms);
  const run_queue& queue = s.cpu.fair.queue();
  const std::uint64_t average = queue.average_vruntime();
  ASSERT_NE(queue.reference(), average);
  const std::int64_t lag = queue.lag(*s.debtor);
  s.cpu.fair.reweight(*s.creditor, nice_0_weight, s.cpu.now);  // asks
  EXPECT_EQ(queue.reference(), average);
  EXPECT_EQ(queue.average_vruntime(), average);
  EXPECT_EQ(queue.lag(*s.debtor), lag);
}

TEST(eevdf_sums, the_average_is_rounded_down_also_below_the_reference) {
  one_cpu cpu;
  task& a = cpu.fork();
  const task& b = cpu.fork();
  const task& c = cpu.fork();
  cpu.schedule();
  cpu.run_and_switch(3 * ms);
  ASSERT_EQ(cpu.fair.current(), &b);
  cpu.run(1);  // b is 1 ns ahead of c
  cpu.fair.remove(a, cpu.now);
  const run_queue& queue = cpu.fair.queue();
  ASSERT_TRUE(before(b.vruntime, queue.reference()));
  EXPECT_EQ(queue.average_vruntime(), c.vruntime);
}

TEST(eevdf_attributes, a_weight_given_to_a_sleeper_keeps_its_lag_in_wall_clock_time) {
  creditor_and_debtor s;
  s.cpu.block();
  s.cpu.fair.reweight(*s.creditor, 4 * nice_0_weight, s.cpu.now);
  EXPECT_EQ(s.creditor->vlag, static_cast<std::int64_t>(500 * us));
}

TEST(eevdf_sums, the_shortest_slice_counts_everybody) {
  one_cpu cpu;
  for (const std::uint64_t slice : {5U, 2U, 7U, 1U, 9U}) cpu.fork(0, slice * ms);
  EXPECT_EQ(cpu.fair.min_slice(), 1 * ms);
  cpu.schedule();  // the one of 1 ms
  EXPECT_EQ(cpu.fair.min_slice(), 1 * ms);
  cpu.block();
  EXPECT_EQ(cpu.fair.min_slice(), 2 * ms);
  cpu.fair.set_slice(cpu.tasks[4], 500 * us, cpu.now);
  EXPECT_EQ(cpu.fair.min_slice(), 500 * us);
}

TEST(eevdf_sums, a_divisor_is_cut_to_32_bits_and_counted) {
  one_cpu cpu;
  task& a = cpu.fork();
  task& b = cpu.fork();
  cpu.fair.reweight(a, std::uint64_t{1} << 41, cpu.now);
  EXPECT_GT(cpu.fair.anomalies(), 0U);
  cpu.fair.reweight(b, std::uint64_t{1} << 42, cpu.now);  // low 32 bits all 0: counts as 1
  EXPECT_EQ(b.vruntime, a.vruntime);
}

// A lag of 200 ms at weight 1024 is one of 10^14 virtual ns at weight 2; times the weight of the
// others that is more than 2^63.
TEST(eevdf_sums, where_they_wrapped_and_nobody_is_eligible_the_first_runs) {
  one_cpu cpu;
  cpu.fork(-20, 100 * ms);
  cpu.fork(-18, 100 * ms);
  cpu.schedule();
  task& owed = cpu.fork(0, 100 * ms);
  cpu.run(40'000 * ms);
  ASSERT_NE(cpu.schedule(), &owed);
  ASSERT_GT(cpu.fair.queue().lag(owed), static_cast<std::int64_t>(200 * ms));  // it is cut to that
  cpu.fair.reweight(owed, 2, cpu.now);
  ASSERT_EQ(cpu.fair.peek(), nullptr);
  const std::uint64_t counted = cpu.fair.anomalies();
  EXPECT_EQ(cpu.schedule(), &owed);
  EXPECT_GT(cpu.fair.anomalies(), counted);
}

// ---- The host

TEST(eevdf_host, under_a_higher_class_wake_ups_only_enqueue) {
  one_cpu cpu;
  task& runs = cpu.fork();
  task& other = cpu.fork(0, 100 * us);
  cpu.schedule();
  cpu.block();
  cpu.run(1 * ms);
  cpu.fair.yield_cpu_to_higher_class(cpu.now);
  EXPECT_EQ(cpu.fair.current(), nullptr);
  EXPECT_EQ(runs.sum_exec_ns, 1 * ms);
  cpu.pass(5 * ms);
  cpu.wake(other);
  EXPECT_FALSE(cpu.fair.need_resched());
  EXPECT_EQ(cpu.fair.nr_queued(), 2U);
  EXPECT_EQ(cpu.schedule(), &other);
  EXPECT_EQ(runs.sum_exec_ns, 1 * ms);
}

TEST(eevdf_host, a_timer_can_be_set_to_the_end_of_the_request) {
  one_cpu cpu;
  cpu.fork(0, 5 * ms);
  EXPECT_EQ(cpu.fair.time_to_request_end(), UINT64_MAX);
  cpu.schedule();
  EXPECT_EQ(cpu.fair.time_to_request_end(), UINT64_MAX);  // nobody waits
  cpu.fork(0, 10 * ms);
  cpu.run(2 * ms);
  EXPECT_EQ(cpu.fair.time_to_request_end(), 3 * ms);
  cpu.run(4 * ms);
  EXPECT_EQ(cpu.fair.time_to_request_end(), 0U);
}

TEST(eevdf_host, a_place_is_taken_from_fork_to_exit_and_a_full_storage_refuses) {
  one_cpu cpu(three_ms_slices(), 2);
  task& a = cpu.fork();
  cpu.fork();
  EXPECT_EQ(cpu.try_fork(), nullptr);
  EXPECT_EQ(cpu.fair.nr_queued(), 2U);
  ASSERT_EQ(cpu.schedule(), &a);
  cpu.run(4 * ms);
  cpu.block();
  ASSERT_TRUE(a.sched_delayed);
  EXPECT_EQ(cpu.storage.free_places(), 0U);
  cpu.fair.remove(a, cpu.now);  // killed while it was delayed
  EXPECT_EQ(cpu.fair.nr_delayed(), 0U);
  EXPECT_EQ(cpu.storage.free_places(), 1U);
  cpu.fair.exit(cpu.now);
  cpu.schedule();
  EXPECT_EQ(cpu.storage.free_places(), 2U);
  EXPECT_EQ(cpu.fair.current(), nullptr);
}

TEST(eevdf_host, an_older_time_accounts_nothing) {
  one_cpu cpu;
  task& t = cpu.fork();
  cpu.fork();
  cpu.now = 10 * ms;
  cpu.schedule();
  cpu.fair.tick(9 * ms);
  EXPECT_EQ(t.sum_exec_ns, 0U);
  cpu.fair.tick(11 * ms);
  EXPECT_EQ(t.sum_exec_ns, 1 * ms);
}

TEST(eevdf_host, is_told_why_something_was_decided) {
  one_cpu cpu;
  std::vector<decision> told;
  cpu.fair.set_decision_hook(
      [](void* context, decision what, const entity&) {
        static_cast<std::vector<decision>*>(context)->push_back(what);
      },
      &told);
  task& a = cpu.fork();
  cpu.fork();
  cpu.schedule();
  cpu.run(4 * ms);
  cpu.block();
  cpu.wake(a);
  EXPECT_EQ(told,
            (std::vector{decision::cpu_was_idle, decision::cpu_was_idle, decision::request_used_up,
                         decision::dequeue_delayed, decision::delayed_requeued}));
}

}  // namespace
}  // namespace vlag::test

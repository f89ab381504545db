// SPDX-License-Identifier: Apache-2.0
#include "workload/recorded_programs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "input/input_error.hpp"
#include "workload/recording_builder.hpp"

namespace vlag {
namespace {

using test::by;
using test::recording_builder;
using test::tick_timer;
using test::timer;

bool begins(const std::string& text, const std::string& with) { return text.starts_with(with); }

constexpr char lost_cpu[] = "lost the CPU without a switch on record";
constexpr char no_switch_in[] = "switched out without having been switched in";
constexpr char no_wakeup[] = "ran without a wake-up on record";
constexpr char cut_burst[] = "cut in the middle of a burst by the end";

TEST(recorded_programs, a_segment_survives_preemption) {
  recording_builder b;
  b.run(0, 0, 'R', 1).run(100, 1, 'R', 2).run(200, 2, 'S', 1).run(250, 1, 'S', 0).mark(1000, "x");
  const recorded_programs got = test::build(b);
  EXPECT_EQ(test::steps_of(got, 1), "run 150us, milestone, sleep 750001ns, end");
  EXPECT_EQ(test::steps_of(got, 2), "run 100us, milestone, sleep 800001ns, end");
  EXPECT_EQ(got.milestones, 2U);
  EXPECT_EQ(got.span_ns, 1'000'000U);
}

TEST(recorded_programs, an_edge_lies_where_the_waker_was_in_its_segment) {
  recording_builder b;
  b.run(0, 2, 'S', 1).run(30, 1, 'R', 3).run(50, 3, 'S', 1);
  b.wake(60, 2, by(1)).run(110, 1, 'S', 2).run(150, 2, 'S', 0).mark(1000, "x");
  const recorded_programs got = test::build(b);
  EXPECT_EQ(test::steps_of(got, 1), "run 40us, wake t2, run 50us, milestone, sleep 890001ns, end");
  EXPECT_EQ(test::steps_of(got, 2), "wait, run 40us, milestone, sleep 850001ns, end");
}

TEST(recorded_programs, a_timer_wake_up_is_a_sleep_of_the_recorded_length) {
  recording_builder b;
  b.run(0, 0, 'R', 1).run(100, 1, 'S', 0).wake(1234, 1, timer).run(1238, 0, 'R', 1);
  b.run(1300, 1, 'S', 0).mark(2000, "x");
  EXPECT_EQ(test::steps_of(test::build(b), 1),
            "run 100us, sleep 1134us, run 62us, milestone, sleep 700001ns, end");
}

TEST(recorded_programs, an_interrupt_does_not_make_its_victim_the_waker) {
  recording_builder b;
  b.run(0, 2, 'S', 1).wake(40, 2, {trace::context_kind::hardirq, 1}).run(90, 1, 'S', 2);
  b.mark(100, "x");
  const recorded_programs got = test::build(b);
  EXPECT_EQ(test::steps_of(got, 1), "run 90us, milestone, sleep 10001ns, end");
  EXPECT_EQ(test::steps_of(got, 2), "sleep 40us, run 10us, milestone, run forever");
}

TEST(recorded_programs, a_softirq_wake_up_keeps_its_distance_in_ticks) {
  recording_builder b;
  b.run(0, 0, 'R', 1).run(1100, 1, 'S', 0);
  b.wake(4003, 1, tick_timer).run(4005, 0, 'R', 1).run(5000, 1, 'S', 0);
  b.wake(16003, 1, tick_timer).run(16005, 0, 'R', 1).run(20100, 1, 'S', 0);
  b.wake(24003, 1, tick_timer).run(24005, 0, 'R', 1).run(24100, 1, 'S', 0).mark(25000, "x");
  const recorded_programs got = test::build(b);
  EXPECT_TRUE(got.machine.tick_phase_known);
  EXPECT_EQ(test::steps_of(got, 1),
            "run 1.1ms, sleep 1 ticks, run 995us, sleep 3 ticks, run 4095us, sleep 1 ticks, run "
            "95us, milestone, sleep 900001ns, end");
}

void add_periodic(recording_builder& b, std::uint64_t first_us, std::int32_t pid) {
  for (std::uint64_t i = 0; i < 12; ++i) {
    const std::uint64_t at = first_us + i * 10'000;
    b.wake(at, pid, timer).run(at + 5, 0, 'R', pid).run(at + 1000 + i * 300, pid, 'S', 0);
  }
}

TEST(recorded_programs, a_sleeper_to_the_next_multiple_is_periodic) {
  recording_builder b;
  b.mark(0, "x");
  add_periodic(b, 5000, 1);
  const recorded_programs got = test::build(b);
  ASSERT_EQ(got.machine.period_origins_ns.size(), 1U);
  EXPECT_EQ(got.machine.period_origins_ns[0] % 10'000'000, 5'000'000U);
  EXPECT_PRED2(begins, test::steps_of(got, 1),
               "sleep to 10ms of period 0, run 995us, sleep to 10ms of period 0, run 1295us, ");
}

TEST(recorded_programs, external_wakes_can_be_forced_to_be_relative_or_absolute) {
  recording_builder b;
  b.mark(0, "x");
  add_periodic(b, 5000, 1);
  replay_options options;
  options.wakes = external_wakes::relative;
  EXPECT_PRED2(begins, test::steps_of(test::build(b, options), 1),
               "sleep 5ms, run 995us, sleep 9ms, run 129");
  options.wakes = external_wakes::absolute;
  EXPECT_PRED2(begins, test::steps_of(test::build(b, options), 1),
               "sleep until 5ms, run 995us, sleep until 15ms, run 1295");
}

TEST(recorded_programs, absolute_holds_for_softirq_wake_ups_too) {
  recording_builder b;
  b.mark(0, "x");
  for (const std::uint64_t at : {4003U, 8003U, 16003U, 20003U}) {
    b.wake(at, 1, tick_timer).run(at + 2, 0, 'R', 1).run(at + 1000, 1, 'S', 0);
  }
  replay_options options;
  options.wakes = external_wakes::absolute;
  EXPECT_PRED2(begins, test::steps_of(test::build(b, options), 1),
               "sleep until 4003us, run 998us, sleep until 8003us, run ");
}

TEST(recorded_programs, a_periodic_wake_up_on_several_cpus_keeps_its_cpu) {
  recording_builder b;
  b.mark(0, "x").on(1);
  add_periodic(b, 5000, 1);
  EXPECT_PRED2(begins, test::steps_of(test::build(b), 1),
               "sleep to 10ms of period 0, move 1, run 995us, sleep to 10ms of period ");
}

TEST(recorded_programs, edges_of_an_endless_segment_follow_their_target) {
  recording_builder b;
  b.run(0, 2, 'S', 1);
  b.wake(30, 2, by(1)).run(32, 1, 'R', 2).run(40, 2, 'S', 1);
  b.wake(60, 2, by(1)).run(63, 1, 'R', 2).run(70, 2, 'S', 1);
  b.mark(100, "x");
  const recorded_programs got = test::build(b);
  EXPECT_EQ(test::steps_of(got, 1),
            "watch t2 30us, signal t2, watch t2 20us, signal t2, run 33us, milestone, run forever");
  EXPECT_EQ(test::steps_of(got, 2), "wait, run 8us, wait, run 7us, milestone, sleep 30001ns, end");
}

TEST(recorded_programs, an_edge_to_a_target_blocked_for_long_counts_from_the_edge_before) {
  recording_builder b;
  b.run(0, 2, 'S', 3).run(10, 3, 'S', 1);
  b.wake(30, 2, by(1)).wake(35, 3, by(1)).wake(35, 4, by(1)).mark(100, "x");
  EXPECT_EQ(test::steps_of(test::build(b), 1),
            "watch t2 20us, signal t2, watch t3 5us, signal t3, watch t4 0s, signal t4, run 65us, "
            "milestone, run forever");
}

TEST(recorded_programs, an_edge_from_another_cpu_counts_from_when_the_target_blocked) {
  recording_builder b;
  b.run(0, 0, 'R', 1).on(1).run(0, 0, 'R', 2).run(50, 2, 'S', 0).on(0);
  b.wake(60, 2, by(1), 1).mark(100, "x");
  EXPECT_EQ(test::steps_of(test::build(b), 1),
            "run 50us, watch t2 10us, signal t2, run 40us, milestone, run forever");
  // The same when the waker ran before anything was seen of it.
  recording_builder c;
  c.on(1).run(0, 0, 'R', 2).on(0).wake(20, 3, by(1)).on(1).run(50, 2, 'S', 0).on(0);
  c.wake(60, 2, by(1), 1).mark(100, "x");
  EXPECT_EQ(test::steps_of(test::build(c), 1),
            "watch t3 20us, signal t3, watch t2 10us, signal t2, run 40us, milestone, run forever");
}

TEST(recorded_programs, a_child_starts_where_its_parent_forked_it) {
  recording_builder b;
  b.run(0, 0, 'R', 1).start(40, 2, by(1)).run(90, 1, 'S', 2).run(100, 2, 'X', 0).mark(200, "x");
  const recorded_programs got = test::build(b);
  EXPECT_EQ(test::steps_of(got, 1), "run 40us, fork t2, run 50us, milestone, sleep 110001ns, end");
  EXPECT_EQ(test::steps_of(got, 2), "run 10us, milestone, exit");
  EXPECT_EQ(test::setup_of(got, 2).start, start_state::unborn);
}

TEST(recorded_programs, a_child_without_a_parent_starts_at_its_time) {
  recording_builder b;
  b.run(0, 0, 'R', 1).start(40, 2, timer).run(90, 1, 'S', 2).run(100, 2, 'Z', 0).mark(200, "x");
  const recorded_programs got = test::build(b);
  EXPECT_EQ(test::steps_of(got, 2), "sleep 40us, run 10us, milestone, exit");
  EXPECT_EQ(test::setup_of(got, 2).start, start_state::blocked);
  EXPECT_EQ(test::count_of(got, "new task without a parent on record"), 1U);
}

TEST(recorded_programs, a_pid_used_again_is_another_task) {
  recording_builder b;
  b.run(0, 0, 'R', 1).start(10, 2, by(1)).run(20, 1, 'S', 2).run(30, 2, 'X', 0);
  b.wake(50, 1, timer).run(50, 0, 'R', 1).name(2, "other").start(60, 2, by(1));
  b.run(70, 1, 'S', 2).run(90, 2, 'X', 0).mark(100, "x");
  const recorded_programs got = test::build(b);
  EXPECT_EQ(test::steps_of(got, 2, 0), "run 10us, milestone, exit");
  EXPECT_EQ(test::steps_of(got, 2, 1), "run 20us, milestone, exit");
  EXPECT_EQ(test::setup_of(got, 2, 1).name, "other");
  EXPECT_EQ(test::figures_of(got.figures, 2, 0).cpu_ns, 10'000U);
  EXPECT_EQ(test::figures_of(got.figures, 2, 1).cpu_ns, 20'000U);
}

TEST(recorded_programs, a_pid_used_again_while_its_exit_was_lost_does_not_count_time_twice) {
  recording_builder b;
  b.run(0, 0, 'R', 2).start(60, 2, timer).run(80, 2, 'S', 0).mark(100, "x");
  const recorded_programs got = test::build(b);
  EXPECT_LE(test::figures_of(got.figures, 2, 0).cpu_ns + test::figures_of(got.figures, 2, 1).cpu_ns,
            100'000U);
}

TEST(recorded_programs, kernel_priorities_become_classes_and_nice_values) {
  recording_builder b;
  b.prio(1, 49).prio(2, 125).prio(3, -1).prio(4, 100).prio(5, 99);
  b.run(0, 1, 'S', 2).run(10, 2, 'S', 3).run(20, 3, 'S', 4).run(30, 4, 'S', 5).run(40, 5, 'S', 0);
  const recorded_programs got = test::build(b);
  EXPECT_EQ(test::setup_of(got, 1).policy, sched_policy::fifo);
  EXPECT_EQ(test::setup_of(got, 1).rt_priority, 50);
  EXPECT_FALSE(test::figures_of(got.figures, 1).in_fair_class);
  EXPECT_EQ(test::setup_of(got, 2).nice, 5);
  EXPECT_TRUE(test::figures_of(got.figures, 2).in_fair_class);
  EXPECT_EQ(test::setup_of(got, 3).rt_priority, 100);
  EXPECT_EQ(test::setup_of(got, 4).nice, -20);
  EXPECT_GE(test::setup_of(got, 5).rt_priority, 1);
}

TEST(recorded_programs, a_nice_change_acts_where_it_is_first_seen) {
  recording_builder running;
  running.run(0, 0, 'R', 1).prio(1, 130).run(70, 1, 'S', 0).mark(100, "x");
  const recorded_programs got = test::build(running);
  EXPECT_EQ(test::setup_of(got, 1).nice, 0);
  EXPECT_EQ(test::steps_of(got, 1), "run 70us, nice 10, milestone, sleep 30001ns, end");

  recording_builder asleep;
  asleep.run(0, 0, 'R', 1).run(20, 1, 'S', 0).prio(1, 115).wake(50, 1, timer).run(50, 0, 'R', 1);
  asleep.run(60, 1, 'S', 0).mark(100, "x");
  EXPECT_EQ(test::steps_of(test::build(asleep), 1),
            "run 20us, nice -5, sleep 30us, run 10us, milestone, sleep 40001ns, end");
}

TEST(recorded_programs, a_nice_value_from_before_the_window_holds_at_its_start) {
  recording_builder b;
  b.run(0, 0, 'R', 1).prio(1, 130).run(10, 1, 'R', 2).run(1'500'000, 2, 'R', 1);
  b.run(2'500'000, 1, 'S', 2).mark(3'000'000, "x");
  replay_options options;
  options.window = "2s..3s";
  const recorded_programs got = test::build(b, options);
  EXPECT_EQ(test::setup_of(got, 1).nice, 10);
  EXPECT_EQ(test::steps_of(got, 1).find("nice"), std::string::npos);
}

TEST(recorded_programs, odd_priorities_stay_within_the_range_of_their_class) {
  recording_builder b;
  b.run(0, 0, 'R', 1).prio(1, 500).prio(2, INT32_MIN).run(10, 1, 'R', 2).prio(1, INT32_MAX);
  b.run(20, 2, 'S', 1).prio(1, 100).run(30, 1, 'S', 0).mark(40, "x");
  const recorded_programs got = test::build(b);
  EXPECT_EQ(test::setup_of(got, 2).rt_priority, 100);
  EXPECT_EQ(test::steps_of(got, 1),
            "run 10us, nice 19, nice 19, run 10us, nice -20, milestone, sleep 10001ns, end");
}

TEST(recorded_programs, a_task_caught_in_a_short_burst_is_out_of_program_at_the_end) {
  recording_builder b;
  b.run(0, 0, 'R', 1).run(100, 1, 'S', 0).wake(200, 1, timer).run(200, 0, 'R', 1).mark(250, "x");
  const recorded_programs got = test::build(b);
  EXPECT_EQ(test::steps_of(got, 1), "run 100us, sleep 100us, run 50us, milestone, end");
  EXPECT_EQ(test::count_of(got, cut_burst), 1U);
}

TEST(recorded_programs, a_task_in_its_longest_burst_goes_on_wanting_the_cpu) {
  recording_builder b;
  b.run(0, 0, 'R', 1).run(100, 1, 'S', 0).wake(200, 1, timer).run(200, 0, 'R', 1).mark(350, "x");
  const recorded_programs got = test::build(b);
  EXPECT_EQ(test::steps_of(got, 1), "run 100us, sleep 100us, run 150us, milestone, run forever");
  EXPECT_EQ(test::count_of(got, cut_burst), 0U);
}

TEST(recorded_programs, any_kind_of_event_can_be_the_first_of_a_task) {
  recording_builder b;
  b.wake(10, 2, by(1));                       // 1 by waking another, 2 by being woken
  b.run(20, 1, 'S', 3).run(30, 3, 'S', 2);    // 3 by running
  b.start(40, 4, by(2)).run(50, 2, 'S', 4);   // 4 by being born
  b.on(1).run(60, 5, 'S', 0).mark(100, "x");  // 5 by leaving the CPU
  const recorded_programs got = test::build(b);
  EXPECT_EQ(test::steps_of(got, 1), "wake t2, run 10us, milestone, sleep 80001ns, end");
  EXPECT_EQ(test::setup_of(got, 1).start, start_state::runnable);
  EXPECT_EQ(test::setup_of(got, 2).start, start_state::blocked);
  EXPECT_EQ(test::setup_of(got, 3).start, start_state::runnable);
  EXPECT_EQ(test::setup_of(got, 4).start, start_state::unborn);
  EXPECT_EQ(test::steps_of(got, 5), "run 50us, milestone, sleep 40001ns, end");
  EXPECT_EQ(test::setup_of(got, 5).cpu, 1U);
}

TEST(recorded_programs, a_task_that_ran_without_a_wake_up_slept_until_then) {
  recording_builder b;
  b.run(0, 0, 'R', 1).run(100, 1, 'S', 0).run(300, 0, 'R', 1).run(340, 1, 'S', 0).mark(400, "x");
  const recorded_programs got = test::build(b);
  EXPECT_EQ(test::count_of(got, no_wakeup), 1U);
  EXPECT_EQ(test::steps_of(got, 1),
            "run 100us, sleep 200us, run 40us, milestone, sleep 60001ns, end");
}

TEST(recorded_programs, a_task_first_seen_on_an_idle_cpu_had_not_waited_since_the_start) {
  recording_builder b;
  b.run(0, 0, 'R', 1).run(100, 1, 'S', 0).run(300, 0, 'R', 2).run(340, 2, 'S', 0).mark(400, "x");
  const recorded_programs got = test::build(b);
  EXPECT_EQ(test::count_of(got, no_wakeup), 1U);
  EXPECT_EQ(test::setup_of(got, 2).start, start_state::blocked);
  EXPECT_EQ(test::steps_of(got, 2), "sleep 300us, run 40us, milestone, sleep 60001ns, end");
}

TEST(recorded_programs, a_wait_under_way_at_the_end_counts_when_it_is_the_longest) {
  recording_builder b;
  b.run(0, 0, 'R', 1).run(100, 1, 'R', 2).mark(900, "x");
  const recorded_programs got = test::build(b);
  const task_figures& waiting = test::figures_of(got.figures, 1);
  EXPECT_EQ(waiting.preempt_wait.count(), 1U);
  EXPECT_EQ(waiting.preempt_wait.max_ns(), 800'000U);
}

TEST(recorded_programs, wake_ups_of_an_unknown_context_are_said) {
  recording_builder b;
  b.run(0, 0, 'R', 1).run(10, 1, 'S', 2);
  b.wake(50, 1, {trace::context_kind::unknown, 2}).run(90, 2, 'R', 1).mark(100, "x");
  const recorded_programs got = test::build(b);
  EXPECT_EQ(test::count_of(got,
                           "wake-ups that do not say whether an interrupt made them (no flags "
                           "column): taken for the running task's"),
            1U);
}

TEST(recorded_programs, a_cpu_never_counts_more_time_than_passes) {
  // The switches 1 -> 2 and 3 -> 4 are lost.
  recording_builder b;
  b.run(0, 0, 'R', 1).run(50, 2, 'S', 3).run(80, 4, 'S', 0).lost(2).mark(100, "x");
  const recorded_programs got = test::build(b);
  std::uint64_t sum = 0;
  for (const task_figures& t : got.figures.tasks) sum += t.cpu_ns;
  EXPECT_LE(sum, 80'000U);
  EXPECT_EQ(got.figures.cpus[0].busy_ns, sum);
  EXPECT_EQ(test::count_of(got, lost_cpu), 2U);
  EXPECT_EQ(test::count_of(got, no_switch_in), 2U);
  EXPECT_EQ(test::count_of(got, "lost events"), 2U);
}

TEST(recorded_programs, a_new_task_that_leaves_the_cpu_without_a_switch_in_did_not_run_since_ever) {
  recording_builder b;
  b.run(0, 0, 'R', 1).start(600, 2, by(1)).run(700, 1, 'S', 0).run(800, 2, 'S', 0).mark(900, "x");
  const recorded_programs got = test::build(b);
  EXPECT_EQ(test::figures_of(got.figures, 2).cpu_ns, 0U);
  EXPECT_EQ(test::count_of(got, no_switch_in), 1U);
}

TEST(recorded_programs, wake_ups_on_several_cpus_say_where) {
  recording_builder b;
  b.run(0, 2, 'S', 1).wake(20, 2, by(1), 1).on(1).run(25, 0, 'R', 2).run(40, 2, 'S', 0);
  b.on(0).wake(60, 2, by(1), 0).run(70, 1, 'S', 2).run(90, 2, 'S', 0).mark(100, "x");
  const recorded_programs got = test::build(b);
  EXPECT_EQ(got.machine.cpus, 2U);
  EXPECT_EQ(test::steps_of(got, 2),
            "wait, move 1, run 15us, wait, move 0, run 20us, milestone, sleep 10001ns, end");
  EXPECT_EQ(test::setup_of(got, 2).cpu, 0U);
  EXPECT_EQ(got.figures.cpus[0].busy_ns, 90'000U);
  EXPECT_EQ(got.figures.cpus[1].busy_ns, 15'000U);
  EXPECT_EQ(got.figures.cpus[1].idle_ns, 85'000U);
}

TEST(recorded_programs, the_recording_is_measured_exactly) {
  recording_builder b;
  b.run(0, 2, 'S', 1);
  b.wake(100, 2, by(1)).run(130, 1, 'R', 2);  // 2 waited 30
  b.run(180, 2, 'S', 1);                      // 1 waited 50
  b.wake(300, 2, timer).run(360, 1, 'R', 2);  // 2 waited 60
  b.run(400, 2, 'R', 1).run(490, 1, 'S', 2);  // 1 waited 40, 2 waited 90
  b.run(600, 2, 'S', 0).mark(1000, "x");
  const recorded_programs got = test::build(b);
  const task_figures& one = test::figures_of(got.figures, 1);
  EXPECT_EQ(one.cpu_ns, 400'000U);
  EXPECT_EQ(one.switches_in, 3U);
  EXPECT_EQ(one.voluntary, 1U);
  EXPECT_EQ(one.involuntary, 2U);
  EXPECT_EQ(one.preempt_wait.count(), 2U);
  EXPECT_EQ(one.preempt_wait.sum_ns(), 90'000U);
  EXPECT_EQ(one.max_wait_from_ns, 130'000U);
  EXPECT_EQ(one.max_wait_to_ns, 180'000U);
  const task_figures& two = test::figures_of(got.figures, 2);
  EXPECT_EQ(two.cpu_ns, 200'000U);
  EXPECT_EQ(two.wakeups, 2U);
  EXPECT_EQ(two.sleep_ns, 220'000U);
  EXPECT_EQ(two.switches_in, 3U);
  EXPECT_EQ(two.wake_latency.count(), 2U);
  EXPECT_EQ(two.wake_latency.sum_ns(), 90'000U);
  EXPECT_EQ(two.wake_latency.max_ns(), 60'000U);
  EXPECT_EQ(two.wake_latency.max_at_ns(), 360'000U);
  EXPECT_EQ(two.preempt_wait.sum_ns(), 90'000U);
  EXPECT_EQ(two.max_wait_from_ns, 400'000U);
  EXPECT_EQ(two.max_wait_to_ns, 490'000U);
  EXPECT_EQ(got.figures.cpus[0].busy_ns, 600'000U);
  EXPECT_EQ(got.figures.cpus[0].idle_ns, 400'000U);
  EXPECT_EQ(got.figures.cpus[0].switches, 7U);
  EXPECT_EQ(got.figures.work_done_ns, 600'000U);
}

TEST(recorded_programs, only_the_window_is_measured_and_what_leads_up_to_it_is_replayed) {
  recording_builder b;
  b.run(0, 0, 'R', 1).run(100, 1, 'R', 2).run(1'400'000, 2, 'S', 0);
  b.wake(1'900'000, 2, timer).run(1'900'010, 0, 'R', 1);  // 2's wait begins before the window
  b.run(2'100'000, 1, 'R', 2).run(2'200'000, 2, 'R', 1).run(2'300'000, 1, 'S', 2);
  b.mark(2'500'000, "x");
  replay_options options;
  options.window = "2s..2.5s";
  const recorded_programs got = test::build(b, options);
  EXPECT_EQ(got.span_ns, 1'500'000'000U);
  EXPECT_EQ(got.measure_from_ns, 1'000'000'000U);
  EXPECT_EQ(got.figures.from_ns, 1'000'000'000U);
  EXPECT_EQ(got.figures.to_ns, 1'500'000'000U);
  const task_figures& two = test::figures_of(got.figures, 2);
  EXPECT_EQ(two.wakeups, 0U);
  EXPECT_EQ(two.wake_latency.count(), 0U);
  EXPECT_EQ(two.preempt_wait.count(), 1U);
  EXPECT_EQ(two.cpu_ns, 300'000'000U);
  EXPECT_EQ(test::figures_of(got.figures, 1).cpu_ns, 200'000'000U);
  EXPECT_EQ(test::steps_of(got, 2), "run 400ms, sleep 500ms, run 300ms, milestone, end");
  EXPECT_EQ(got.figures.cpus[0].busy_ns, 500'000'000U);
}

TEST(recorded_programs, a_sleep_under_way_counts_from_the_start_of_the_window) {
  recording_builder b;
  b.run(0, 0, 'R', 1).run(100, 1, 'S', 0).mark(1000, "from").wake(1500, 1, timer);
  b.run(1510, 0, 'R', 1).mark(2000, "to");
  replay_options options;
  options.window = "from..to";
  EXPECT_EQ(test::figures_of(test::build(b, options).figures, 1).sleep_ns, 500'000U);
}

TEST(recorded_programs, a_task_that_does_nothing_in_the_window_is_not_in_it) {
  recording_builder b;
  b.run(0, 0, 'R', 1).run(100, 1, 'S', 2).run(1'500'000, 2, 'R', 3).run(3'000'000, 3, 'S', 0);
  replay_options options;
  options.window = "2s..3s";
  const recorded_programs got = test::build(b, options);
  ASSERT_EQ(got.tasks.size(), 2U);
  EXPECT_EQ(test::figures_of(got.figures, 2).cpu_ns, 0U);
  EXPECT_EQ(test::figures_of(got.figures, 3).cpu_ns, 1'000'000'000U);
}

TEST(recorded_programs, tasks_that_wait_at_the_start_come_in_the_order_in_which_they_waited) {
  recording_builder b;
  b.run(0, 0, 'R', 9).wake(10, 3, by(9)).wake(20, 2, by(9));
  b.run(1'500'000, 9, 'R', 3).run(1'600'000, 3, 'S', 2).run(2'500'000, 2, 'S', 9);
  b.mark(2'600'000, "x");
  replay_options options;
  options.window = "2.2s..";
  const recorded_programs got = test::build(b, options);
  ASSERT_EQ(got.tasks.size(), 3U);
  EXPECT_EQ(got.tasks[0].pid, 9);
  EXPECT_EQ(got.tasks[1].pid, 3);
  EXPECT_EQ(got.tasks[2].pid, 2);
}

TEST(recorded_programs, later_attributes_go_before_earlier_ones) {
  recording_builder b;
  b.run(0, 0, 'R', 1).run(1000, 1, 'R', 2).run(2000, 2, 'R', 1).mark(3000, "x");
  const auto entry = [](const char* pattern, std::int64_t nice) {
    recorded_attributes::task t;
    t.pattern = pattern;
    t.nice = nice;
    return t;
  };
  recorded_attributes attributes;
  attributes.tasks = {entry("1", 1), entry("t*", 2), entry("t2", 3), entry("t1", 4),
                      entry("2", 5), entry("3", 6),  entry("3", 7),  entry("u*", 8)};
  attributes.tasks[3].nice.reset();
  attributes.tasks[3].slice_ns = 1'000'000;
  const recorded_programs got = test::build(b, {}, attributes);
  EXPECT_EQ(test::setup_of(got, 1).nice, 2);
  EXPECT_EQ(test::setup_of(got, 1).slice_ns, 1'000'000U);
  EXPECT_EQ(test::setup_of(got, 2).nice, 5);
  EXPECT_EQ(test::count_of(got, "tasks of the attributes that match no task"), 3U);
}

TEST(recorded_programs, attributes_say_what_the_recording_cannot) {
  recording_builder b;
  b.prio(3, 49).run(0, 0, 'R', 1).run(10, 1, 'S', 2).run(20, 2, 'S', 3).run(30, 3, 'S', 0);
  recorded_attributes attributes;
  attributes.hz = 1000;
  attributes.clock_poll_ns = 5000;
  recorded_attributes::task first;
  first.pattern = "t[12]";
  first.slice_ns = 3'000'000;
  first.latency_nice = 4;
  recorded_attributes::task second;
  second.pattern = "2";
  second.nice = -7;
  second.latency_nice = -20;
  second.policy = sched_policy::round_robin;
  second.clock_poll_ns = 0;
  attributes.tasks = {first, second};
  const recorded_programs got = test::build(b, {}, attributes);
  EXPECT_EQ(got.machine.tick_ns, 1'000'000U);
  EXPECT_EQ(test::setup_of(got, 1).slice_ns, 3'000'000U);
  EXPECT_EQ(test::setup_of(got, 1).clock_poll_ns, 5000U);
  EXPECT_EQ(test::setup_of(got, 2).slice_ns, 3'000'000U);
  EXPECT_EQ(test::setup_of(got, 1).latency_nice, 4);
  EXPECT_EQ(test::setup_of(got, 2).latency_nice, -20);
  EXPECT_EQ(test::setup_of(got, 2).nice, -7);
  EXPECT_EQ(test::setup_of(got, 2).clock_poll_ns, 0U);
  EXPECT_EQ(test::setup_of(got, 2).policy, sched_policy::round_robin);
  EXPECT_GE(test::setup_of(got, 2).rt_priority, 1);
  EXPECT_FALSE(test::figures_of(got.figures, 2).in_fair_class);
  EXPECT_EQ(test::setup_of(got, 3).slice_ns, 0U);
  EXPECT_EQ(test::setup_of(got, 3).clock_poll_ns, 0U);
}

TEST(recorded_programs, more_cpus_than_a_machine_has_are_refused) {
  recording_builder b;
  b.on(511).run(0, 0, 'R', 1).run(10, 1, 'S', 0);
  EXPECT_EQ(test::build(b).machine.cpus, 512U);
  b.on(512).mark(20, "x");
  EXPECT_THROW(static_cast<void>(test::build(b)), input_error);
}

}  // namespace
}  // namespace vlag

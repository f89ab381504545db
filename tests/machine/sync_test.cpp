// SPDX-License-Identifier: Apache-2.0
#include "scenario.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace vlag::test {
namespace {

op sync(op_kind kind, std::uint32_t object, std::uint64_t value = 0) {
  return {kind, object, value};
}

TEST(sync, a_mutex_is_held_by_one_at_a_time) {
  scenario two("linux-6.12", 2);
  const auto m = two.simulated().add_mutex(mutex_kind::plain);
  const auto a = two.add_on(
      0, {sync(op_kind::lock, m), run(10 * ms), sync(op_kind::unlock, m), run(5 * ms), exit()});
  const auto b = two.add_on(
      1, {run(1 * ms), sync(op_kind::lock, m), run(10 * ms), sync(op_kind::unlock, m), exit()});
  two.run_until(100 * ms);
  EXPECT_EQ(two.stops_of(a), (times{15 * ms}));
  EXPECT_EQ(two.starts_of(b), (times{0, 10 * ms}));
  EXPECT_EQ(two.stops_of(b), (times{1 * ms, 20 * ms}));
}

// The releaser of a plain mutex that asks again before the woken one runs has it again.
TEST(sync, a_plain_mutex_may_be_taken_before_the_woken_waiter_runs) {
  for (const mutex_kind kind : {mutex_kind::plain, mutex_kind::inherits}) {
    scenario one;
    const auto m = one.simulated().add_mutex(kind);
    one.add_real_time({sync(op_kind::lock, m), sleep(5 * ms), sync(op_kind::unlock, m),
                       sync(op_kind::lock, m), run(10 * ms), sync(op_kind::unlock, m), exit()},
                      2);
    const auto waiter = one.add_real_time(
        {sleep(1 * ms), sync(op_kind::lock, m), run(1 * ms), sync(op_kind::unlock, m), exit()}, 1);
    one.run_until(100 * ms);
    const std::uint64_t got_it = kind == mutex_kind::plain ? 15 * ms : 5 * ms;
    const times starts = one.starts_of(waiter);
    EXPECT_NE(std::find(starts.begin(), starts.end(), got_it), starts.end());
    EXPECT_EQ(one.stops_of(waiter).back(), 16 * ms);
  }
}

TEST(sync, an_owner_inherits_the_priority_of_a_real_time_waiter) {
  for (const char* profile_name : {"linux-6.12", "linux-6.1", "paper95"}) {
    for (const mutex_kind kind : {mutex_kind::plain, mutex_kind::inherits}) {
      scenario one(profile_name);
      const auto m = one.simulated().add_mutex(kind);
      const auto owner = one.add(
          {sync(op_kind::lock, m), run(10 * ms), sync(op_kind::unlock, m), run(10 * ms), exit()});
      one.add_real_time({sleep(2 * ms), run(20 * ms), exit()}, 5);
      const auto high = one.add_real_time(
          {sleep(1 * ms), sync(op_kind::lock, m), run(1 * ms), sync(op_kind::unlock, m), exit()},
          10);
      one.run_until(200 * ms);
      const std::uint64_t done = one.stops_of(high).back();
      if (kind == mutex_kind::inherits) {
        EXPECT_EQ(done, 11 * ms) << profile_name;
      } else {
        EXPECT_GE(done, 30 * ms) << profile_name;  // behind the middle one
      }
      EXPECT_EQ(one.cpu_ns(owner), 20 * ms) << profile_name;
    }
  }
}

TEST(sync, priority_is_inherited_along_a_chain_and_given_back) {
  scenario one;
  const auto first = one.simulated().add_mutex(mutex_kind::inherits);
  const auto second = one.simulated().add_mutex(mutex_kind::inherits);
  const auto low = one.add({sync(op_kind::lock, first), run(10 * ms), sync(op_kind::unlock, first),
                            run(50 * ms), exit()});
  const auto middle = one.add_real_time(
      {sleep(1 * ms), sync(op_kind::lock, second), sync(op_kind::lock, first), run(1 * ms),
       sync(op_kind::unlock, first), sync(op_kind::unlock, second), run(2 * ms), exit()},
      3);
  const auto rival = one.add_real_time({sleep(3 * ms), run(20 * ms), exit()}, 5);
  const auto high = one.add_real_time({sleep(2 * ms), sync(op_kind::lock, second), run(1 * ms),
                                       sync(op_kind::unlock, second), exit()},
                                      10);
  one.run_until(200 * ms);
  EXPECT_EQ(one.stops_of(high).back(), 12 * ms);
  EXPECT_EQ(one.stops_of(rival).back(), 32 * ms);
  EXPECT_EQ(one.stops_of(middle).back(), 34 * ms);
  EXPECT_EQ(one.stops_of(low).back(), 84 * ms);
}

TEST(sync, of_several_that_wait_the_highest_priority_is_first) {
  for (const mutex_kind kind : {mutex_kind::plain, mutex_kind::inherits}) {
    scenario four("linux-6.12", 4);
    const auto m = four.simulated().add_mutex(kind);
    const auto asks_at = [&](unsigned cpu, std::uint64_t at_ns, int priority) {
      task_setup setup;
      setup.cpu = cpu;
      setup.policy = priority == 0 ? sched_policy::normal : sched_policy::fifo;
      setup.rt_priority = priority;
      setup.steps = {run(at_ns), sync(op_kind::lock, m), run(1 * ms), sync(op_kind::unlock, m),
                     exit()};
      return four.add(setup);
    };
    four.add_on(0, {sync(op_kind::lock, m), sleep(5 * ms), sync(op_kind::unlock, m), exit()});
    const auto low = asks_at(1, 1 * ms, 1);
    const auto fair = asks_at(2, 2 * ms, 0);
    const auto high = asks_at(3, 3 * ms, 3);
    four.run_until(100 * ms);
    EXPECT_EQ(four.stops_of(high).back(), 6 * ms);
    EXPECT_EQ(four.stops_of(low).back(), 7 * ms);
    EXPECT_EQ(four.stops_of(fair).back(), 8 * ms);
  }
}

TEST(sync, only_its_owner_unlocks_an_inheriting_mutex) {
  for (const mutex_kind kind : {mutex_kind::plain, mutex_kind::inherits}) {
    scenario one;
    const auto m = one.simulated().add_mutex(kind);
    one.add({sync(op_kind::lock, m), sleep(10 * ms), sync(op_kind::unlock, m), exit()});
    one.add({sleep(1 * ms), sync(op_kind::unlock, m), exit()});
    const auto asks = one.add({sleep(2 * ms), sync(op_kind::lock, m), exit()});
    one.run_until(100 * ms);
    EXPECT_EQ(one.stops_of(asks).back(), kind == mutex_kind::inherits ? 10 * ms : 2 * ms);
  }
}

TEST(sync, a_wake_up_is_kept_for_a_task_that_waits_for_something_else) {
  for (const op_kind kind : {op_kind::wake, op_kind::signal}) {
    scenario one;
    const auto cond = one.simulated().add_condition();
    const auto waiter = one.add({sync(op_kind::cond_wait, cond, no_mutex), wait(), exit()});
    one.add({sleep(1 * ms),
             {kind, waiter, 0},
             sleep(4 * ms),
             sync(op_kind::cond_signal, cond),
             exit()});
    one.run_until(100 * ms);
    EXPECT_EQ(one.starts_of(waiter), (times{0, 5 * ms}));
    const bool gone = one.simulated().snapshot().tasks[waiter].phase == task_phase::gone;
    EXPECT_EQ(gone, kind == op_kind::wake);
  }
}

TEST(sync, a_sleeping_owner_inherits_too) {
  scenario one;
  const auto m = one.simulated().add_mutex(mutex_kind::inherits);
  one.add({sync(op_kind::lock, m), sleep(5 * ms), run(2 * ms), sync(op_kind::unlock, m), exit()});
  const auto high = one.add_real_time(
      {sleep(1 * ms), sync(op_kind::lock, m), run(1 * ms), sync(op_kind::unlock, m), exit()}, 10);
  one.add_hog();
  one.run_until(100 * ms);
  EXPECT_EQ(one.stops_of(high).back(), 8 * ms);
}

TEST(sync, a_signal_wakes_one_in_order_a_broadcast_all_and_neither_is_kept) {
  scenario one;
  const auto cond = one.simulated().add_condition();
  const auto waits = sync(op_kind::cond_wait, cond, no_mutex);
  const auto first = one.add({waits, exit()});
  const auto second = one.add({sleep(5 * ms), waits, exit()});
  const auto third = one.add({sleep(6 * ms), waits, exit()});
  const auto late = one.add({sleep(20 * ms), waits, exit()});
  one.add({sleep(10 * ms), sync(op_kind::cond_signal, cond), sleep(2 * ms),
           sync(op_kind::cond_broadcast, cond), sync(op_kind::cond_broadcast, cond), exit()});
  one.run_until(100 * ms);
  EXPECT_EQ(one.stops_of(first).back(), 10 * ms);
  EXPECT_EQ(one.stops_of(second).back(), 12 * ms);
  EXPECT_EQ(one.stops_of(third).back(), 12 * ms);
  EXPECT_EQ(one.starts_of(late).back(), 20 * ms);
  EXPECT_TRUE(one.simulated().waits_for_others(late));
  EXPECT_FALSE(one.simulated().waits_for_others(first));
}

TEST(sync, waiting_for_a_condition_gives_the_mutex_up) {
  scenario one;
  const auto m = one.simulated().add_mutex(mutex_kind::inherits);
  const auto cond = one.simulated().add_condition();
  const auto consumer =
      one.add({sync(op_kind::lock, m), sync(op_kind::cond_wait, cond, m), sync(op_kind::lock, m),
               run(1 * ms), sync(op_kind::unlock, m), exit()});
  one.add({sleep(2 * ms), sync(op_kind::lock, m), sync(op_kind::cond_signal, cond), run(3 * ms),
           sync(op_kind::unlock, m), exit()});
  one.run_until(100 * ms);
  EXPECT_EQ(one.stops_of(consumer).back(), 6 * ms);
}

// The owner gives up an inherited priority with the mutex, and so the CPU, before it waits.
TEST(sync, waiting_for_a_condition_gives_the_mutex_up_each_time_round) {
  scenario one;
  machine& m = one.simulated();
  const auto mutex = m.add_mutex(mutex_kind::inherits);
  const auto told = m.add_condition();
  const auto low = one.add(
      {sync(op_kind::lock, mutex), run(2 * ms), sync(op_kind::cond_wait, told, mutex), jump(0)});
  one.add_real_time({sleep(1 * ms), sync(op_kind::lock, mutex), sync(op_kind::unlock, mutex),
                     sleep(1 * ms), sync(op_kind::cond_signal, told), jump(0)},
                    5);
  one.run_until(30 * ms);
  EXPECT_GE(one.cpu_ns(low), 16 * ms);
}

TEST(sync, a_barrier_lets_go_when_all_have_come_round_after_round) {
  scenario two("linux-6.12", 2);
  const auto b = two.simulated().add_barrier(2);
  const auto a = two.add_on(
      0, {run(1 * ms), sync(op_kind::barrier, b), run(7 * ms), sync(op_kind::barrier, b), exit()});
  const auto c = two.add_on(
      1, {run(4 * ms), sync(op_kind::barrier, b), run(1 * ms), sync(op_kind::barrier, b), exit()});
  two.run_until(100 * ms);
  EXPECT_EQ(two.starts_of(a), (times{0, 4 * ms}));
  EXPECT_EQ(two.starts_of(c), (times{0, 11 * ms}));
}

TEST(sync, a_semaphore_remembers) {
  scenario one;
  const auto s = one.simulated().add_semaphore();
  const auto wants = sync(op_kind::sem_wait, s);
  const auto waiter = one.add({sleep(1 * ms), wants, wants, wants, exit()});
  one.add({sync(op_kind::sem_post, s), sync(op_kind::sem_post, s), sleep(9 * ms),
           sync(op_kind::sem_post, s), exit()});
  one.run_until(100 * ms);
  EXPECT_EQ(one.stops_of(waiter), (times{0, 1 * ms, 9 * ms}));
}

TEST(sync, a_timer_late_moves_what_follows_unless_absolute) {
  for (const op_kind kind : {op_kind::timer, op_kind::timer_absolute}) {
    scenario one;
    const auto timer = one.simulated().add_timer();
    const auto t =
        one.add({sync(op_kind::timer_origin, 0, 0), sync(kind, timer, 10 * ms), run(15 * ms),
                 sync(kind, timer, 10 * ms), sync(kind, timer, 10 * ms), exit()});
    one.run_until(100 * ms);
    EXPECT_EQ(one.starts_of(t), (times{0, 10 * ms, (kind == op_kind::timer ? 35 : 30) * ms}));
  }
}

TEST(sync, busy_counts_the_time_in_which_others_run) {
  scenario one;
  const auto busy = one.add({{op_kind::busy, 0, 10 * ms}, {op_kind::busy_chunk, 0, 0}, exit()});
  one.add_real_time({sleep(1 * ms), run(4 * ms), exit()}, 1);
  one.run_until(100 * ms);
  EXPECT_GE(one.stops_of(busy).back(), 10 * ms);
  EXPECT_LT(one.stops_of(busy).back(), 10 * ms + busy_chunk_ns);
  EXPECT_LT(one.cpu_ns(busy), 6 * ms + busy_chunk_ns);
}

TEST(sync, loops_nest_and_begin_anew) {
  scenario one;
  const auto again = [](std::uint64_t times, std::uint64_t step) {
    return op{op_kind::repeat, 0, times << 32 | step};
  };
  const auto t = one.add({run(1 * us), run(1 * ms), again(3, 1), again(4, 0), exit()});
  one.run_until(100 * ms);
  EXPECT_EQ(one.cpu_ns(t), 4 * (1 * us + 3 * ms));
}

TEST(sync, a_task_changes_its_policy_and_back) {
  for (const char* profile_name : {"linux-6.12", "linux-6.1", "paper95"}) {
    scenario one(profile_name);
    const auto to = [](sched_policy policy, std::int64_t value) {
      return op{op_kind::set_policy, static_cast<std::uint32_t>(policy),
                static_cast<std::uint64_t>(value)};
    };
    one.add_hog();
    const auto t = one.add({to(sched_policy::fifo, 3), run(40 * ms), to(sched_policy::normal, 0),
                            run(40 * ms), to(sched_policy::batch, 0), run(10 * ms), exit()});
    one.run_until(400 * ms);
    EXPECT_EQ(one.cpu_ns(t), 90 * ms) << profile_name;
    EXPECT_GT(one.stops_of(t).back(), 100 * ms) << profile_name;
    EXPECT_LT(one.stops_of(t).back(), 200 * ms) << profile_name;
  }
}

TEST(sync, forks_come_from_a_pool_that_can_run_out) {
  scenario one;
  const auto first = one.add_unborn({run(1 * ms), {op_kind::finish, 0, 0}});
  one.add_unborn({run(1 * ms), {op_kind::finish, 0, 0}});
  const op fork_one{op_kind::fork_next, first, 2};
  const auto parent = one.add({fork_one, sleep(5 * ms), fork_one, sleep(5 * ms), fork_one, exit()});
  EXPECT_EQ(one.run_until(100 * ms), machine::stop_reason::program_ended);
  EXPECT_EQ(one.simulated().out_of_forks(), parent);
  EXPECT_EQ(one.cpu_ns(first + 1), 1 * ms);
}

TEST(sync, the_last_to_finish_ends_the_run) {
  scenario one;
  one.add({run(1 * ms), {op_kind::finish, 0, 0}});
  const auto last = one.add({run(5 * ms), sleep(1 * ms), {op_kind::finish, 0, 0}});
  EXPECT_EQ(one.run_until(100 * ms), machine::stop_reason::program_ended);
  EXPECT_EQ(one.simulated().now_ns(), 7 * ms);
  EXPECT_EQ(one.simulated().program_ended_by(), last);
  EXPECT_EQ(one.simulated().alive(), 0U);
}

}  // namespace
}  // namespace vlag::test

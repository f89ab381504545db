// SPDX-License-Identifier: Apache-2.0
//
// Pipes and signals.
#include "scenario.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace vlag::test {
namespace {

op write_to(std::uint32_t pipe, std::uint64_t bytes) { return {op_kind::pipe_write, pipe, bytes}; }
op read_from(std::uint32_t pipe, std::uint64_t bytes) { return {op_kind::pipe_read, pipe, bytes}; }
op kill(std::uint32_t task) { return {op_kind::kill, task, 0}; }
op repeat(std::uint64_t times, std::uint64_t from) {
  return {op_kind::repeat, 0, times << 32 | from};
}

std::uint64_t put_until_full(sync_pipe& pipe, std::uint64_t bytes) {
  std::uint64_t messages = 0;
  while (pipe.put(bytes, true) == bytes) ++messages;
  return messages;
}

TEST(pipe, holds_as_many_messages_as_linux_fits_into_its_pages) {
  sync_pipe small(default_pipe_bytes);
  EXPECT_EQ(put_until_full(small, 100), 640U);  // 40 a page: a message is not split to fill one up
  sync_pipe even(default_pipe_bytes);
  EXPECT_EQ(put_until_full(even, 4096), 16U);
  sync_pipe odd(default_pipe_bytes);
  EXPECT_EQ(put_until_full(odd, 2049), 16U);
  sync_pipe one(1);
  EXPECT_EQ(one.put(10'000, true), 4096U);
  EXPECT_TRUE(one.full());
}

// The beginning of a long write may share a page with what was there.
TEST(pipe, the_odd_part_of_a_long_write_fills_up_the_last_page) {
  sync_pipe pipe(2 * pipe_page_bytes);
  EXPECT_EQ(pipe.put(1000, true), 1000U);
  EXPECT_EQ(pipe.put(4096 + 3096, true), 4096U + 3096U);
  EXPECT_TRUE(pipe.full());
  EXPECT_EQ(pipe.take(4095), 4095U);
  EXPECT_TRUE(pipe.full());  // until all of a page is read
  EXPECT_EQ(pipe.take(1), 1U);
  EXPECT_FALSE(pipe.full());
  EXPECT_EQ(pipe.take(100'000), 4096U);
  EXPECT_TRUE(pipe.empty());
}

TEST(pipe, a_read_blocks_until_all_of_it_came) {
  scenario two("linux-6.12", 2);
  const auto p = two.simulated().add_pipe();
  const auto reader = two.add_on(0, {read_from(p, 300), run(1 * ms), exit()});
  two.add_on(1, {run(2 * ms), write_to(p, 200), run(3 * ms), write_to(p, 100), exit()});
  two.run_until(100 * ms);
  EXPECT_EQ(two.starts_of(reader), (times{0, 2 * ms, 5 * ms}));
  EXPECT_EQ(two.stops_of(reader), (times{0, 2 * ms, 6 * ms}));
}

TEST(pipe, a_write_blocks_while_there_is_no_room) {
  scenario two("linux-6.12", 2);
  const auto p = two.simulated().add_pipe(4096);
  const auto writer = two.add_on(0, {write_to(p, 10'000), run(1 * ms), exit()});
  two.add_on(1, {run(2 * ms), read_from(p, 4096), run(2 * ms), read_from(p, 4096), run(2 * ms),
                 read_from(p, 1808), exit()});
  two.run_until(100 * ms);
  EXPECT_EQ(two.starts_of(writer), (times{0, 2 * ms, 4 * ms}));
  EXPECT_EQ(two.stops_of(writer).back(), 5 * ms);
}

TEST(pipe, only_a_write_into_an_empty_one_wakes) {
  scenario two("linux-6.12", 2);
  const auto p = two.simulated().add_pipe();
  // Woken at the first message, it takes 5 ms over it, and finds the others there.
  const auto reader =
      two.add_on(0, {read_from(p, 100), run(5 * ms), read_from(p, 100), read_from(p, 100), exit()});
  two.add_on(1, {run(1 * ms), write_to(p, 100), run(1 * ms), write_to(p, 100), run(1 * ms),
                 write_to(p, 100), exit()});
  two.run_until(100 * ms);
  EXPECT_EQ(two.of(reader).wakeups, 1U);
  EXPECT_EQ(two.stops_of(reader).back(), 6 * ms);
}

// Also when the page is not free yet: the writer looks, and waits again behind the others.
TEST(pipe, a_read_from_a_full_one_wakes_a_writer) {
  scenario two("linux-6.12", 2);
  const auto p = two.simulated().add_pipe(8192);
  const auto first = two.add_on(0, {write_to(p, 8192), write_to(p, 100), exit()});
  const auto second = two.add_on(0, {write_to(p, 100), exit()});
  two.add_on(1, {run(1 * ms), read_from(p, 100), run(1 * ms), read_from(p, 100), run(1 * ms),
                 read_from(p, 7992), exit()});
  two.run_until(100 * ms);
  EXPECT_EQ(two.starts_of(first), (times{0, 1 * ms, 3 * ms}));
  // The one that got room wakes the next.
  EXPECT_EQ(two.starts_of(second), (times{0, 2 * ms, 3 * ms}));
}

TEST(pipe, calls_and_bytes_cost_time_of_who_makes_them) {
  scenario one;
  one.config.pipe_call_ns = 1 * us;
  one.config.pipe_byte_ps = 500;
  const auto p = one.simulated().add_pipe();
  const auto both = one.add({write_to(p, 4000), read_from(p, 4000), repeat(10, 0), exit()});
  one.run_until(1 * s);
  EXPECT_EQ(one.cpu_ns(both), 20 * (1 * us + 2 * us));
}

// Ten senders and ten receivers; who takes what depends on the policy, what is done does not.
TEST(pipe, no_byte_is_lost_under_any_policy) {
  for (const char* profile_name : {"linux-6.12", "linux-6.6", "linux-6.1", "paper95"}) {
    scenario one(profile_name);
    one.config.pipe_call_ns = 3 * us;
    std::vector<std::uint32_t> tasks;
    for (int i = 0; i < 10; ++i) one.simulated().add_pipe();
    for (int i = 0; i < 10; ++i) {
      program sender;
      for (std::uint32_t p = 0; p < 10; ++p) sender.push_back(write_to(p, 100));
      sender.insert(sender.end(), {repeat(400, 0), exit()});
      tasks.push_back(one.add(sender));
    }
    for (std::uint32_t p = 0; p < 10; ++p) {
      tasks.push_back(one.add({read_from(p, 100), repeat(4000, 0), exit()}));
    }
    one.run_until(10 * s);
    EXPECT_EQ(one.simulated().alive(), 0U) << profile_name;
    for (const std::uint32_t t : tasks) EXPECT_EQ(one.cpu_ns(t), 4000 * 3 * us) << profile_name;
  }
}

TEST(signal, ends_a_sleep) {
  scenario two("linux-6.12", 2);
  const auto sleeper = two.add_on(0, {sleep(50 * ms), run(1 * ms), sleep(10 * ms), exit()});
  two.add_on(1, {run(5 * ms), kill(sleeper), exit()});
  two.run_until(1 * s);
  EXPECT_EQ(two.starts_of(sleeper), (times{0, 5 * ms, 16 * ms}));
  EXPECT_EQ(two.simulated().signals_taken(sleeper), 1U);
}

TEST(signal, is_taken_once_however_often_it_is_sent_before) {
  scenario one;
  one.config.signal_cost_ns = 10 * us;
  const auto sleeper = one.add({sleep(50 * ms), run(1 * ms), exit()});
  one.add_real_time(
      {sleep(1 * ms), kill(sleeper), kill(sleeper), run(2 * ms), kill(sleeper), exit()}, 1);
  one.run_until(1 * s);
  EXPECT_EQ(one.simulated().signals_taken(sleeper), 1U);
  EXPECT_EQ(one.of(sleeper).wakeups, 1U);
  EXPECT_EQ(one.cpu_ns(sleeper), 1 * ms + 10 * us);
}

TEST(pipe, a_reader_that_leaves_something_wakes_the_next) {
  scenario one;
  const auto p = one.simulated().add_pipe();
  const auto first = one.add({read_from(p, 100), exit()});
  const auto second = one.add({read_from(p, 100), exit()});
  one.add({run(1 * ms), write_to(p, 200), exit()});
  one.run_until(1 * s);
  EXPECT_EQ(one.stops_of(first).back(), 1 * ms);
  EXPECT_EQ(one.stops_of(second).back(), 1 * ms);
  EXPECT_FALSE(one.simulated().waits_for_others(second));
}

TEST(signal, interrupts_the_work_of_a_running_task) {
  scenario two("linux-6.12", 2);
  two.config.signal_cost_ns = 10 * us;
  two.config.kill_cost_ns = 3 * us;
  const auto target = two.add_on(0, {run(5 * ms), exit()});
  const auto sender =
      two.add_on(1, {kill(target), run(1 * ms), kill(target), run(10 * ms), kill(target), exit()});
  two.run_until(1 * s);
  EXPECT_EQ(two.stops_of(target), (times{5 * ms + 20 * us}));
  EXPECT_EQ(two.cpu_ns(sender), 11 * ms + 9 * us);
  EXPECT_EQ(two.simulated().signals_taken(target), 2U);  // then it was gone
}

TEST(signal, costs_its_sender_more_where_none_is_pending) {
  scenario two("linux-6.12", 2);
  two.config.kill_cost_ns = 3 * us;
  two.config.queue_cost_ns = 1 * us;
  const auto waiter =
      two.add_on(0, {op{op_kind::cond_wait, two.simulated().add_condition(), no_mutex}});
  const auto sender = two.add_on(1, {run(1 * ms), kill(waiter), kill(waiter), exit()});
  two.run_until(1 * s);
  EXPECT_EQ(two.cpu_ns(sender), 1 * ms + 7 * us);
}

TEST(signal, of_a_task_to_itself_is_taken_at_once) {
  scenario one;
  one.config.signal_cost_ns = 10 * us;
  const auto own = one.add({kill(0), kill(0), exit()});
  one.run_until(1 * s);
  EXPECT_EQ(one.cpu_ns(own), 20 * us);
  EXPECT_EQ(one.simulated().signals_taken(own), 2U);
}

// The handler runs, and the wait begins anew; what it waits for is not lost.
TEST(signal, a_wait_for_others_goes_on_after_the_handler) {
  scenario two("linux-6.12", 2);
  two.config.signal_cost_ns = 10 * us;
  machine& m = two.simulated();
  const auto p = m.add_pipe();
  const auto mutex = m.add_mutex(mutex_kind::plain);
  const auto semaphore = m.add_semaphore();
  const auto barrier = m.add_barrier(2);
  const auto owner =
      two.add_on(0, {op{op_kind::lock, mutex, 0}, sleep(10 * ms), op{op_kind::unlock, mutex, 0},
                     sleep(10 * ms), op{op_kind::sem_post, semaphore, 0}, sleep(10 * ms),
                     op{op_kind::barrier, barrier, 0}, sleep(10 * ms), write_to(p, 1), exit()});
  const auto waiter =
      two.add_on(1, {run(1 * ms), op{op_kind::lock, mutex, 0}, op{op_kind::unlock, mutex, 0},
                     op{op_kind::sem_wait, semaphore, 0}, op{op_kind::barrier, barrier, 0},
                     read_from(p, 1), exit()});
  program killer{sleep(5 * ms), kill(waiter)};
  for (int i = 0; i < 3; ++i) killer.insert(killer.end(), {sleep(10 * ms), kill(waiter)});
  killer.push_back(exit());
  two.add_on(0, killer);
  two.run_until(1 * s);
  EXPECT_EQ(two.stops_of(owner).back(), 40 * ms);
  EXPECT_EQ(two.stops_of(waiter).back(), 40 * ms);
  EXPECT_EQ(m.signals_taken(waiter), 4U);
  EXPECT_EQ(two.of(waiter).wakeups, 8U);
  EXPECT_EQ(two.cpu_ns(waiter), 1 * ms + 40 * us);
}

// Its owner is known to inherit from it, so it stays in line.
TEST(signal, waits_until_an_inheriting_mutex_is_there) {
  scenario two("linux-6.12", 2);
  const auto mutex = two.simulated().add_mutex(mutex_kind::inherits);
  two.add_on(0,
             {op{op_kind::lock, mutex, 0}, sleep(10 * ms), op{op_kind::unlock, mutex, 0}, exit()});
  const auto waiter = two.add_on(1, {run(1 * ms), op{op_kind::lock, mutex, 0}, exit()});
  two.add_on(0, {sleep(5 * ms), kill(waiter), exit()});
  two.run_until(1 * s);
  EXPECT_EQ(two.starts_of(waiter), (times{0, 10 * ms}));
  EXPECT_EQ(two.simulated().signals_taken(waiter), 1U);
}

// A condition may not be told twice: the signal waits until the task runs again.
TEST(signal, waits_until_a_condition_is_told) {
  scenario two("linux-6.12", 2);
  const auto c = two.simulated().add_condition();
  const auto waiter = two.add_on(0, {op{op_kind::cond_wait, c, no_mutex}, exit()});
  two.add_on(1, {run(1 * ms), kill(waiter), run(4 * ms), op{op_kind::cond_signal, c, 0}, exit()});
  two.run_until(1 * s);
  EXPECT_EQ(two.starts_of(waiter), (times{0, 5 * ms}));
  EXPECT_EQ(two.simulated().signals_taken(waiter), 1U);
}

TEST(cost, of_a_wakeup_is_paid_by_a_waker_that_loses_the_cpu_over_it) {
  scenario one;
  one.config.wakeup_cost_ns = 50 * us;
  const auto sleeper = one.add_blocked({wait(), run(1 * ms), exit()});
  const auto waker = one.add({run(2 * ms), wake(sleeper), run(1 * ms), exit()});
  one.run_until(1 * s);
  EXPECT_EQ(one.cpu_ns(waker), 3 * ms + 50 * us);
}

}  // namespace
}  // namespace vlag::test

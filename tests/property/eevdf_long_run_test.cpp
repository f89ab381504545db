// SPDX-License-Identifier: Apache-2.0
//
// What only shows after a long time or with very many tasks.
#include "core/one_cpu.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace vlag::test {
namespace {

constexpr std::uint64_t second = 1000 * ms;

// A task that always sleeps 10 us just before its request is used up, beside four that never do.
// Its part of the CPU, in percent; a fifth is fair.
std::uint64_t share_of_micro_sleeper(eevdf_config config) {
  config.tick_ns = 1 * ms;
  one_cpu cpu(config);
  for (int i = 0; i < 4; ++i) cpu.fork();
  task& sleeper = cpu.fork();
  cpu.schedule();
  std::uint64_t wakes_at = UINT64_MAX;
  std::uint64_t next_tick = config.tick_ns;
  while (cpu.now < 20 * second) {
    const bool runs = cpu.fair.current() == &sleeper;
    std::uint64_t until = std::min(next_tick, wakes_at);
    const std::uint64_t used = sleeper.sum_exec_ns - sleeper.prev_sum_exec_ns;
    const std::uint64_t sleeps_at =
        runs ? cpu.now + std::max(used + 10 * us, sleeper.slice_ns) - used - 10 * us : UINT64_MAX;
    until = std::min(until, sleeps_at);
    cpu.pass(until - cpu.now);
    if (until == sleeps_at) {
      cpu.block();
      wakes_at = cpu.now + 10 * us;
    } else if (until == wakes_at) {
      cpu.wake(sleeper);
      wakes_at = UINT64_MAX;
    } else {
      cpu.fair.tick(cpu.now);
      next_tick += config.tick_ns;
    }
    if (cpu.fair.need_resched()) cpu.schedule();
  }
  return sleeper.sum_exec_ns * 100 / cpu.now;
}

TEST(eevdf_long_run, sleeping_briefly_gains_no_cpu_time) {
  EXPECT_LE(share_of_micro_sleeper(three_ms_slices()), 20U);
}

TEST(eevdf_long_run, sleeping_briefly_pays_when_debts_are_forgotten) {
  EXPECT_GE(share_of_micro_sleeper(without(feature::place_lag, without(feature::delay_dequeue))),
            25U);
}

TEST(eevdf_long_run, each_nice_step_is_a_quarter_more) {
  for (int nice = min_nice; nice < max_nice; ++nice) {
    one_cpu cpu;
    const task& more = cpu.fork(nice);
    const task& less = cpu.fork(nice + 1);
    cpu.schedule();
    while (cpu.now < 60 * second) cpu.run_and_switch(1 * ms);
    const std::uint64_t ratio = more.sum_exec_ns * 1000 / less.sum_exec_ns;
    const std::uint64_t expected = more.weight.full * 1000 / less.weight.full;
    EXPECT_NEAR(static_cast<double>(ratio), static_cast<double>(expected), 2.0) << "nice " << nice;
    EXPECT_NEAR(static_cast<double>(ratio), 1250.0, 55.0) << "nice " << nice;
  }
}

TEST(eevdf_long_run, keys_stay_small_while_one_task_runs_alone_for_days) {
  one_cpu cpu;
  const task& alone = cpu.fork(19);
  cpu.schedule();
  const run_queue& queue = cpu.fair.queue();
  for (int hour = 0; hour < 100 * 24; ++hour) {
    cpu.run_and_switch(3600 * second);
    cpu.run_and_switch(4 * ms);
    EXPECT_LE(std::abs(signed_difference(alone.vruntime, queue.reference())),
              static_cast<std::int64_t>(to_virtual(4 * ms, alone.weight)));
    EXPECT_EQ(queue.average_vruntime(), alone.vruntime);
  }
  const task& late = cpu.fork();
  EXPECT_EQ(late.vruntime, alone.vruntime);
  EXPECT_EQ(cpu.fair.anomalies(), 0U);
}

// 24,194 tasks of the greatest weight are the most whose weights add up to less than 2^31.
TEST(eevdf_long_run, weights_up_to_2_to_the_31_count_no_anomaly_and_more_do) {
  one_cpu cpu(three_ms_slices(), 24'200);
  for (int i = 0; i < 24'194; ++i) cpu.fork(-20);
  cpu.schedule();
  for (int i = 0; i < 100; ++i) cpu.run_and_switch(4 * ms);
  EXPECT_EQ(cpu.fair.queue().total_weight(), 2'147'483'634U);
  EXPECT_EQ(cpu.fair.anomalies(), 0U);
  cpu.fork(-20);
  for (int i = 0; i < 3; ++i) cpu.run_and_switch(4 * ms);
  EXPECT_GT(cpu.fair.anomalies(), 0U);
}

TEST(eevdf_long_run, a_million_tasks_of_nice_0_count_no_anomaly) {
  constexpr std::size_t many = 1'000'000;
  one_cpu cpu(three_ms_slices(), many);
  for (std::size_t i = 0; i < many; ++i) cpu.fork();
  cpu.schedule();
  for (int i = 0; i < 1000; ++i) cpu.run_and_switch(10 * ms);
  EXPECT_EQ(cpu.fair.queue().total_weight(), many * 1024);
  EXPECT_EQ(cpu.fair.anomalies(), 0U);
}

}  // namespace
}  // namespace vlag::test

// SPDX-License-Identifier: Apache-2.0
#include "report/schedstat.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "machine/machine.hpp"

namespace vlag {
namespace {

constexpr std::uint64_t ms = 1'000'000;

TEST(schedstat, table_of_several_cpus_has_their_total) {
  run_figures run;
  run.counters.resize(2);
  std::uint64_t value = 1;
  for (const sched_counter_info& c : all_sched_counters()) {
    run.counters[0].*c.value = value;
    run.counters[1].*c.value = 10 * value++;
  }
  run.counters[1].wait_sum = 5 * ms;
  EXPECT_EQ(schedstat_table(run, fair_engine::eevdf), R"(Counter              cpu#0  cpu#1  total
----------------------------------------
sched_count              1     10     11
tick_check_preempts      2     20     22
tick_preempts            3     30     33
check_deadline           4     40     44
update_deadline          5     50     55
preempt_deadline         6     60     66
wakeup_preempts          7     70     77
short_preempts           8     80     88
delayed                  9     90     99
delayed_requeued        10    100    110
delayed_completed       11    110    121
yields                  12    120    132
nvcsw                   13    130    143
nivcsw                  14    140    154
migrations_wakeup       15    150    165
migrations_fork         16    160    176
wait_sum (ms)        0.000  5.000  5.000
wait_count              18    180    198
)");
  EXPECT_EQ(schedstat_table(run, fair_engine::cfs), R"(Counter              cpu#0  cpu#1  total
----------------------------------------
sched_count              1     10     11
tick_check_preempts      2     20     22
tick_preempts            3     30     33
wakeup_preempts          7     70     77
yields                  12    120    132
nvcsw                   13    130    143
nivcsw                  14    140    154
migrations_wakeup       15    150    165
migrations_fork         16    160    176
wait_sum (ms)        0.000  5.000  5.000
wait_count              18    180    198
)");
}

run_figures counted(const char* profile_name, std::uint64_t reset_at_ns = 0) {
  machine_config config;
  config.tick_jitter_ns = 0;
  const policy_config policy = configure(*find_profile(profile_name), 1, config.tick_ns);
  machine simulated(config, policy, 3);
  simulated.count_decisions();
  for (int i = 0; i < 3; ++i) {
    task_setup setup;
    setup.pid = i + 1;
    setup.name = "t";
    if (i < 2) {
      setup.steps = {{op_kind::run, 0, forever_ns}};
    } else {
      setup.slice_ns = 100'000;
      setup.steps = {{op_kind::run, 0, 1'300'000}, {op_kind::sleep, 0, 2 * ms},
                     {op_kind::run, 0, 100'000},   {op_kind::yield, 0, 0},
                     {op_kind::run, 0, 5 * ms},    {op_kind::sleep, 0, 30 * ms},
                     {op_kind::jump, 0, 0}};
    }
    simulated.add_task(std::move(setup));
  }
  static_cast<void>(simulated.run_until(reset_at_ns));
  if (reset_at_ns != 0) simulated.reset_figures();
  static_cast<void>(simulated.run_until(1000 * ms));
  return simulated.figures();
}

// What the counters say must fit what the figures say, counted elsewhere.
void expect_consistent(const run_figures& run, fair_engine engine) {
  ASSERT_EQ(run.counters.size(), 1U);
  const sched_counters& c = run.counters.front();
  std::uint64_t voluntary = 0;
  std::uint64_t involuntary = 0;
  std::uint64_t waits = 0;
  std::uint64_t waited_ns = 0;
  for (const task_figures& t : run.tasks) {
    voluntary += t.voluntary;
    involuntary += t.involuntary;
    waits += t.wake_latency.count() + t.preempt_wait.count();
    waited_ns += t.wake_latency.sum_ns() + t.preempt_wait.sum_ns();
  }
  EXPECT_EQ(c.nvcsw, voluntary);
  EXPECT_EQ(c.nivcsw, involuntary);
  EXPECT_LE(waits, c.wait_count + 1);  // a wait under way at the end is no wait that ended
  EXPECT_LE(c.wait_sum, waited_ns);
  EXPECT_GE(c.sched_count, c.nvcsw + c.nivcsw);
  EXPECT_GE(c.tick_check_preempts, c.tick_preempts);
  EXPECT_GT(c.tick_preempts, 0U);
  EXPECT_GT(c.yields, 0U);
  EXPECT_LE(c.tick_check_preempts, run.cpus.front().ticks);
  if (engine == fair_engine::cfs) return;
  EXPECT_GE(c.check_deadline, c.update_deadline);
  EXPECT_GE(c.update_deadline, c.preempt_deadline);
  EXPECT_GT(c.preempt_deadline, 0U);
  EXPECT_GE(c.delayed + 1, c.delayed_requeued + c.delayed_completed);
  EXPECT_GT(c.delayed, 0U);
}

TEST(schedstat, counters_fit_the_figures) {
  expect_consistent(counted("linux-6.12"), fair_engine::eevdf);
  expect_consistent(counted("linux-6.1"), fair_engine::cfs);
}

TEST(schedstat, counters_start_anew_with_the_figures) {
  const run_figures whole = counted("linux-6.12");
  const run_figures part = counted("linux-6.12", 500 * ms);
  expect_consistent(part, fair_engine::eevdf);
  for (const sched_counter_info& c : all_sched_counters()) {
    EXPECT_LE(part.counters.front().*c.value, whole.counters.front().*c.value) << c.name;
  }
  EXPECT_LT(part.counters.front().check_deadline, whole.counters.front().check_deadline);
}

TEST(schedstat, counting_changes_nothing) {
  const run_figures with = counted("linux-6.12");
  EXPECT_EQ(with.tasks.size(), 3U);
  machine_config config;
  const policy_config policy = configure(*find_profile("linux-6.12"), 1, config.tick_ns);
  machine quiet(config, policy, 1);
  static_cast<void>(quiet.run_until(1));
  EXPECT_TRUE(quiet.figures().counters.empty());
}

}  // namespace
}  // namespace vlag

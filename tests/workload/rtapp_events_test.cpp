// SPDX-License-Identifier: Apache-2.0
//
// Every event acts: counts and times, exactly.
#include <gtest/gtest.h>

#include "rtapp_case.hpp"

namespace vlag {
namespace test {
namespace {

constexpr std::uint64_t slack_us = 50;  // of sleeps and timers of fair tasks

std::uint64_t cpu_us(const run_figures& run, std::string_view name) {
  return figures_of(run, name).cpu_ns / us;
}

// When the last task is done.
std::uint64_t done_us(std::string_view text, unsigned cpus = 4) {
  return run_workload(tasks(text, cpus)).to_ns / us;
}

TEST(rtapp_events, time_and_work) {
  EXPECT_EQ(done_us(R"("a":{"loop":3,"run":100})"), 300U);
  EXPECT_EQ(done_us(R"("a":{"loop":3,"sleep":100})"), 3 * (100 + slack_us));
  EXPECT_EQ(done_us(R"("a":{"loop":1,"policy":"SCHED_FIFO","sleep":100})"), 100U);
  EXPECT_EQ(done_us(R"("a":{"loop":1,"delay":700,"run":100})"), 700 + slack_us + 100);
  EXPECT_EQ(done_us(R"("a":{"loop":1,"mem":100000})"), 10U);
  EXPECT_EQ(done_us(R"("a":{"loop":1,"iorun":100000})"), 50U);
  EXPECT_EQ(done_us(R"("a":{"loop":1,"memrun":{"type":"chase","size":64,"count":1000}})"), 6U);
  EXPECT_EQ(done_us(R"("a":{"loop":1,"memrun":{"type":"write","count":1000,"stride":128}})"), 12U);
}

// Whole chunks of 32 us, one at least; time in which another task has the CPU counts.
TEST(rtapp_events, runtime_is_time_on_the_clock) {
  EXPECT_EQ(done_us(R"("a":{"loop":1,"runtime":0})"), 32U);
  EXPECT_EQ(done_us(R"("a":{"loop":1,"runtime":64})"), 64U);
  EXPECT_EQ(done_us(R"("a":{"loop":1,"runtime":65})"), 96U);
  const run_figures shared =
      run_workload(tasks(R"("a":{"loop":1,"runtime":40000},"b":{"loop":1,"run":100000})"));
  EXPECT_LT(cpu_us(shared, "a-0"), 25'000U);
  EXPECT_EQ(cpu_us(shared, "b-0"), 100'000U);
}

TEST(rtapp_events, loops_of_tasks_and_phases) {
  const run_figures run = run_workload(tasks(
      R"("a":{"loop":2,"phases":{"p":{"loop":3,"run":10},"q":{"run":100}}},
         "b":{"loop":4,"run":1000},"c":{"instance":2,"loop":1,"run":5})"));
  EXPECT_EQ(cpu_us(run, "a-0"), 2 * (3 * 10 + 100));
  EXPECT_EQ(cpu_us(run, "b-0"), 4000U);
  EXPECT_EQ(cpu_us(run, "c-1"), 5U);
}

TEST(rtapp_events, timers_have_a_period) {
  EXPECT_EQ(done_us(R"("a":{"loop":5,"run":100,"timer":{"ref":"unique","period":1000}})"),
            5000 + slack_us);
  // Late by 500: the next period begins then, or would have without that.
  EXPECT_EQ(done_us(R"("a":{"loop":1,"run":1500,"timer":{"ref":"x","period":1000},
                       "timer":{"ref":"x","period":1000}})"),
            2500 + slack_us);
  EXPECT_EQ(done_us(R"("a":{"loop":1,"run":1500,"timer":{"ref":"x","period":1000,"mode":"absolute"},
                       "timer":{"ref":"x","period":1000,"mode":"absolute"}})"),
            2000 + slack_us);
  // Two tasks take turns with a shared one; each has its own "unique".
  EXPECT_EQ(done_us(R"("a":{"instance":2,"loop":3,"timer":{"ref":"x","period":1000}})"),
            6000 + slack_us);
  EXPECT_EQ(done_us(R"("a":{"instance":2,"loop":3,"timer":{"ref":"unique7","period":1000}})"),
            3000 + slack_us);
  EXPECT_EQ(done_us(R"("a":{"loop":1,"delay":300,"timer":{"ref":"x","period":1000}})"),
            1300 + slack_us);
}

TEST(rtapp_events, a_mutex_has_one_owner) {
  EXPECT_EQ(done_us(R"("a":{"instance":3,"loop":1,"lock":"m","run":100,"unlock":"m"})"), 300U);
  EXPECT_EQ(done_us(R"("a":{"instance":3,"loop":1,"lock":"m","sleep":100,"unlock":"m"})"),
            3 * (100 + slack_us));
  EXPECT_EQ(done_us(R"("a":{"instance":3,"loop":1,"run":100})"), 100U);
}

// The low owner must not wait for the middle one while the high one waits for the mutex.
TEST(rtapp_events, an_owner_inherits_priority_where_the_file_asks_for_it) {
  const auto high_done_us = [](const char* inherits) {
    const std::string text = fmt::format(R"({{"global":{{"pi_enabled":{}}},"tasks":{{
"low":{{"loop":1,"policy":"SCHED_FIFO","priority":1,"lock":"m","run":1000,"unlock":"m"}},
"mid":{{"loop":1,"policy":"SCHED_FIFO","priority":2,"sleep":200,"run":9000}},
"high":{{"loop":1,"policy":"SCHED_FIFO","priority":3,"sleep":100,"lock":"m","run":10,"unlock":"m"}}}}}})",
                                         inherits);
    const run_figures run = run_workload(parse_rtapp(text, "w", {}));
    EXPECT_EQ(run.to_ns / us, 10'010U);
    return figures_of(run, "high-0").sleep_ns / us;
  };
  EXPECT_EQ(high_done_us("true"), 1000U);
  EXPECT_EQ(high_done_us("false"), 10'000U);
}

TEST(rtapp_events, conditions_wake_one_or_all_and_are_lost_otherwise) {
  constexpr const char* waiters =
      R"("a":{{"instance":3,"loop":1,"lock":"m","wait":{{"ref":"c","mutex":"m"}},"unlock":"m","run":10}},
         "b":{{"loop":1,"sleep":100,"lock":"m","{}":"c","unlock":"m"}})";
  const auto woken = [&](const char* how) {
    const run_figures run = run_workload(tasks(fmt::format(waiters, how), 4));
    return std::count_if(run.tasks.begin(), run.tasks.end(),
                         [](const task_figures& t) { return t.cpu_ns == 10 * us; });
  };
  EXPECT_EQ(woken("signal"), 1);
  EXPECT_EQ(woken("broad"), 3);
  const run_figures early = run_workload(tasks(
      R"("b":{"loop":1,"signal":"c"},
         "a":{"loop":1,"run":5,"lock":"m","wait":{"ref":"c","mutex":"m"},"unlock":"m","run":10})"));
  EXPECT_EQ(cpu_us(early, "a-0"), 5U);
}

// Each lets the other go on and waits for it.
TEST(rtapp_events, sync_signals_and_waits) {
  const run_figures run = run_workload(
      tasks(
          R"("a":{"instance":2,"loop":-1,"lock":"m","sync":{"ref":"c","mutex":"m"},"unlock":"m","run":100})"),
      100 * ms);
  EXPECT_EQ(cpu_us(run, "a-0") + cpu_us(run, "a-1"), 100'000U);
  EXPECT_LE(cpu_us(run, "a-0"), cpu_us(run, "a-1") + 100);
  EXPECT_LE(cpu_us(run, "a-1"), cpu_us(run, "a-0") + 100);
}

TEST(rtapp_events, a_barrier_waits_for_as_many_as_the_file_names) {
  // The third comes at 300 + 50; then each runs alone.
  EXPECT_EQ(done_us(R"("a":{"instance":2,"loop":1,"barrier":"b","run":10},
                       "c":{"loop":1,"sleep":300,"barrier":"b","run":20})"),
            300 + slack_us + 20);
}

TEST(rtapp_events, semaphores_remember) {
  const run_figures run = run_workload(
      tasks(R"("a":{"loop":3,"sem_post":"s"},"b":{"loop":-1,"run":5,"sem_wait":"s","run":100})"));
  EXPECT_EQ(cpu_us(run, "b-0"), 3 * 105 + 5);
}

TEST(rtapp_events, suspend_waits_to_be_resumed_by_its_name) {
  // Woken at 150, 300, 450; a resume at which it does not wait is lost.
  const run_figures named = run_workload(tasks(
      R"("a":{"loop":-1,"suspend":"me","run":10},"b":{"loop":3,"sleep":100,"resume":"me"})", 2));
  EXPECT_EQ(cpu_us(named, "a-0"), 30U);
  const run_figures bare = run_workload(
      tasks(R"("a":{"loop":-1,"suspend","run":200},"b":{"loop":3,"sleep":100,"resume":"a"})", 2));
  EXPECT_EQ(cpu_us(bare, "a-0"), 400U);
}

TEST(rtapp_events, yield_lets_the_other_run) {
  const run_figures run =
      run_workload(tasks(R"("a":{"instance":2,"loop":-1,"run":100,"yield":""})"), 20 * ms);
  EXPECT_GT(figures_of(run, "a-0").switches_in, 3U);
  EXPECT_EQ(figures_of(run, "a-0").voluntary, 0U);
}

TEST(rtapp_events, a_fork_begins_a_task_anew) {
  const run_figures run = run_workload(
      tasks(R"("a":{"loop":3,"fork":"c","sleep":100},"c":{"instance":0,"loop":2,"run":10})"));
  EXPECT_EQ(run.tasks.size(), 4U);
  for (const char* name : {"c-0-0", "c-0-1", "c-0-2"}) EXPECT_EQ(cpu_us(run, name), 20U);
}

TEST(rtapp_events, settings_of_a_phase_hold_from_there_on) {
  const rtapp_workload w = tasks(
      R"("a":{"loop":1,"priority":3,"dl-runtime":500,"taskgroup":"/g","phases":{"p":{"run":1},
         "q":{"policy":"SCHED_BATCH","cpus":[1],"run":2},
         "r":{"taskgroup":"/","dl-runtime":700,"run":3}}})");
  const task_setup& a = w.tasks.at(0);
  EXPECT_EQ(a.nice, 3);
  EXPECT_EQ(a.slice_ns, 500 * us);
  EXPECT_EQ(a.group, 1U);
  EXPECT_EQ(w.cpus, 2U);
  std::string steps;
  for (const op& o : a.steps) {
    if (o.kind == op_kind::move) steps += fmt::format("move {} ", o.target);
    if (o.kind == op_kind::run) steps += fmt::format("run {} ", o.value / us);
    if (o.kind == op_kind::set_policy) steps += fmt::format("policy {} {} ", o.target, o.value);
    if (o.kind == op_kind::set_slice) steps += fmt::format("slice {} ", o.value / us);
    if (o.kind == op_kind::join_group) steps += fmt::format("group {} ", o.target);
  }
  EXPECT_EQ(steps, fmt::format("run 1 move 1 policy {0} 3 slice 0 run 2 move 0 policy {0} 3 "
                               "slice 700 group 0 run 3 ",
                               static_cast<unsigned>(sched_policy::batch)));
}

// A file with every event and setting.
TEST(rtapp_events, a_phase_runs_on_its_cpus_each_time_round) {
  const run_figures run = run_workload(tasks(
      R"("a":{"loop":3,"phases":{"p":{"cpus":[0],"run":1000},"q":{"cpus":[1],"run":1000}}})"));
  ASSERT_EQ(run.cpus.size(), 2U);
  EXPECT_EQ(run.cpus[0].busy_ns, 3 * ms);
  EXPECT_EQ(run.cpus[1].busy_ns, 3 * ms);
}

TEST(rtapp_events, all_in_one_file) {
  const rtapp_workload w = read_rtapp(std::string(VLAG_TEST_DATA) + "/rtapp/features.json", {});
  EXPECT_EQ(w.mutexes.front(), mutex_kind::inherits);
  EXPECT_EQ(w.barriers, std::vector<std::uint32_t>{2});
  const run_figures run = run_workload(w);
  // Twenty loops: two of 200 us, 300 us on the clock in chunks, 100 + 500 ns, 640 ns.
  EXPECT_GE(cpu_us(run, "main-0"), 20 * (2 * 200 + 32U));
  EXPECT_LE(cpu_us(run, "main-0"), 20 * (2 * 200 + 320U + 2));
  EXPECT_EQ(figures_of(run, "rt-0").cpu_ns, 500 * us);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(cpu_us(run, fmt::format("child-0-{}", i)), 250U);
  }
  EXPECT_EQ(run.tasks.size(), 2 + 4 + 5U);
  EXPECT_EQ(cpu_us(run, "sleeper-0") % 100, 0U);
  EXPECT_GT(cpu_us(run, "sleeper-0"), 0U);
  // As often as `other` signals at most, and as semaphores were posted.
  EXPECT_LE(cpu_us(run, "consumer-0"), 80 * 50U);
  EXPECT_GT(cpu_us(run, "consumer-0"), 20 * 50U);
}

}  // namespace
}  // namespace test
}  // namespace vlag

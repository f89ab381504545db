// SPDX-License-Identifier: Apache-2.0
#include "workload/replay.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "input/input_error.hpp"
#include "report/self_check.hpp"
#include "trace/reader.hpp"
#include "workload/recording_builder.hpp"

namespace vlag {
namespace {

using test::by;
using test::recording_builder;
using test::timer;

constexpr std::uint64_t ms = 1'000'000;

recorded_workload load(const recording_builder& b, const replay_options& options = {}) {
  return {b.get(), {}, options};
}

run_figures replay(const recorded_workload& workload, const std::string& spec) {
  return workload.simulate(parse_variant(spec, {}, workload.cpus(), workload.tick_ns()));
}

void expect_same(const run_figures& a, const run_figures& b) {
  ASSERT_EQ(a.tasks.size(), b.tasks.size());
  EXPECT_EQ(a.to_ns, b.to_ns);
  EXPECT_EQ(a.work_done_ns, b.work_done_ns);
  for (std::size_t i = 0; i < a.tasks.size(); ++i) {
    EXPECT_EQ(a.tasks[i].pid, b.tasks[i].pid);
    EXPECT_EQ(a.tasks[i].cpu_ns, b.tasks[i].cpu_ns);
    EXPECT_EQ(a.tasks[i].switches_in, b.tasks[i].switches_in);
    EXPECT_EQ(a.tasks[i].wake_latency.sum_ns(), b.tasks[i].wake_latency.sum_ns());
    EXPECT_EQ(a.tasks[i].max_wait_from_ns, b.tasks[i].max_wait_from_ns);
  }
}

// Two endless tasks that take turns of 4 ms for a second.
recording_builder two_hogs() {
  recording_builder b;
  b.run(0, 0, 'R', 1);
  for (std::uint64_t at = 4000; at < 1'000'000; at += 8000) {
    b.run(at, 1, 'R', 2).run(at + 4000, 2, 'R', 1);
  }
  return b.mark(1'000'000, "x");
}

// As above, but each has a second of work in all and leaves when it is done.
recording_builder two_jobs() {
  recording_builder b;
  b.run(0, 0, 'R', 1);
  for (std::uint64_t at = 4000; at < 992'000; at += 8000) {
    b.run(at, 1, 'R', 2).run(at + 4000, 2, 'R', 1);
  }
  return b.run(996'000, 1, 'X', 2).run(1'000'000, 2, 'X', 0).mark(1'001'000, "x");
}

TEST(replay, equal_hogs_share_the_cpu) {
  const recorded_workload w = load(two_hogs());
  for (const char* spec : {"linux-6.12", "linux-6.1"}) {
    const run_figures got = replay(w, spec);
    EXPECT_EQ(got.label, spec);
    EXPECT_EQ(got.to_ns, 1000 * ms);
    EXPECT_NEAR(static_cast<double>(test::figures_of(got, 1).cpu_ns), 500e6, 5e6);
    EXPECT_EQ(test::figures_of(got, 1).cpu_ns + test::figures_of(got, 2).cpu_ns, 1000 * ms);
  }
}

TEST(replay, nice_policy_and_latency_nice_of_single_tasks_can_be_changed) {
  const recorded_workload w = load(two_hogs());
  const run_figures nice = replay(w, "linux-6.12,t1.nice=5");
  EXPECT_NEAR(static_cast<double>(test::figures_of(nice, 1).cpu_ns), 1000e6 * 335 / 1359, 8e6);
  const run_figures fifo = replay(w, "linux-6.12,2.policy=fifo");
  EXPECT_GE(test::figures_of(fifo, 2).cpu_ns, 990 * ms);
  EXPECT_FALSE(test::figures_of(fifo, 2).in_fair_class);
  const run_figures idle = replay(w, "linux-6.12,t2.policy=idle");
  EXPECT_LE(test::figures_of(idle, 2).cpu_ns, 20 * ms);
  EXPECT_EQ(replay(w, "linux-6.12,t*.latency_nice=-5").to_ns, 1000 * ms);
}

TEST(replay, a_slice_of_ones_own_shortens_its_turns) {
  const recorded_workload w = load(two_hogs());
  const run_figures longer = replay(w, "linux-6.12,t*.slice=20ms");
  const run_figures shorter = replay(w, "linux-6.12,t*.slice=1ms");
  EXPECT_LT(test::figures_of(longer, 1).switches_in * 3, test::figures_of(shorter, 1).switches_in);
}

TEST(replay, latency_nice_replaces_a_recorded_slice_and_a_slice_given_wins) {
  recorded_attributes attributes;
  recorded_attributes::task t1;
  t1.pattern = "t1";
  t1.slice_ns = 20 * ms;
  attributes.tasks = {t1};
  const recorded_workload w{two_hogs().get(), attributes, {}};
  const auto same = [&](const char* a, const char* b) {
    SCOPED_TRACE(a);
    expect_same(replay(w, a), replay(w, b));
  };
  // 0.7 ms * 1024 / 36 at 15.
  same("linux-6.12,t1.latency_nice=15", "linux-6.12,t1.slice=19911111ns");
  same("linux-6.12,t1.latency_nice=0", "linux-6.12,t1.slice=0");
  same("linux-6.12,t1.latency_nice=-10,t1.slice=5ms", "linux-6.12,t1.slice=5ms");
  same("linux-6.12,t1.slice=5ms,t1.latency_nice=-10", "linux-6.12,t1.slice=5ms");
  EXPECT_NE(test::figures_of(replay(w, "linux-6.12,t1.latency_nice=0"), 1).switches_in,
            test::figures_of(replay(w, "linux-6.12"), 1).switches_in);
}

TEST(replay, tasks_can_be_put_on_another_cpu) {
  recording_builder b = two_hogs();
  b.on(1).mark(1'000'000, "y");
  const recorded_workload w = load(b);
  ASSERT_EQ(w.cpus(), 2U);
  const run_figures got = replay(w, "linux-6.12,t2.cpus=1");
  EXPECT_EQ(test::figures_of(got, 1).cpu_ns, 1000 * ms);
  EXPECT_EQ(test::figures_of(got, 2).cpu_ns, 1000 * ms);
  EXPECT_EQ(got.cpus[1].busy_ns, 1000 * ms);
}

TEST(replay, a_pinned_task_does_not_follow_its_recorded_moves) {
  recording_builder b;
  b.run(0, 0, 'R', 1).run(1000, 1, 'S', 0);
  for (std::uint64_t at = 2000; at < 20'000; at += 2000) {
    const auto cpu = static_cast<unsigned>(at / 2000 % 2);
    b.on(cpu).wake(at, 1, timer).run(at, 0, 'R', 1).run(at + 1000, 1, 'S', 0);
  }
  const recorded_workload w = load(b);
  EXPECT_GT(replay(w, "linux-6.12").cpus[1].busy_ns, 4 * ms);
  EXPECT_EQ(replay(w, "linux-6.12,t1.cpus=0").cpus[1].busy_ns, 0U);
  EXPECT_EQ(replay(w, "linux-6.12,t1.cpus=1").cpus[0].busy_ns, 0U);
  EXPECT_GT(replay(w, "linux-6.12,t1.cpus=0-1").cpus[1].busy_ns, 4 * ms);
}

TEST(replay, more_ticks_than_can_be_simulated_are_refused) {
  recording_builder b;
  b.run(0, 0, 'R', 1).run(7'000'000'000'000, 1, 'S', 0);  // 81 days
  EXPECT_NO_THROW(load(b));
  recorded_attributes attributes;
  attributes.hz = 1000;
  try {
    recorded_workload(b.get(), attributes, {});
    FAIL();
  } catch (const input_error& e) {
    const std::string message = e.what();
    EXPECT_NE(message.find("7000000s on 1 CPUs make 7000000000 ticks, more than 2000000000"),
              std::string::npos)
        << message;
    EXPECT_NE(message.find("--window"), std::string::npos) << message;
  }
  attributes.hz = 250;
  attributes.clock_poll_ns = 1000;
  EXPECT_THROW(recorded_workload(b.get(), attributes, {}), input_error);
}

// 1 has 104 ms of work in one burst, interrupted by 2 all along, and then waits for a timer.
recording_builder interrupted_job() {
  recording_builder b;
  b.run(0, 0, 'R', 1);
  for (std::uint64_t at = 4000; at < 200'000; at += 8000) {
    b.run(at, 1, 'R', 2).run(at + 4000, 2, 'R', 1);
  }
  return b.run(204'000, 1, 'S', 2)
      .wake(208'000, 1, timer)
      .run(208'000, 2, 'R', 1)
      .mark(209'000, "x");
}

TEST(replay, running_out_early_ends_the_span_but_not_the_search_for_the_end_of_the_work) {
  const recorded_workload w = load(interrupted_job());
  const run_figures fast = replay(w, "linux-6.12,t1.nice=-20");
  EXPECT_LT(fast.to_ns, 160 * ms);
  EXPECT_NE(fast.work_done_ns, 0U);
  EXPECT_GT(fast.work_done_ns, fast.to_ns);
  const run_figures slow = replay(w, "linux-6.12,t1.policy=idle");
  EXPECT_EQ(slow.to_ns, 209 * ms);
  EXPECT_EQ(slow.work_done_ns, 0U);  // not within two spans
}

TEST(replay, work_may_be_done_after_the_span) {
  const recorded_workload w = load(two_jobs());
  EXPECT_EQ(w.recorded().work_done_ns, 1000 * ms);
  const run_figures got = replay(w, "linux-6.12");
  EXPECT_EQ(got.to_ns, 1001 * ms);
  EXPECT_NEAR(static_cast<double>(got.work_done_ns), 1000e6, 1e6);
}

TEST(replay, repeat_starts_programs_again) {
  replay_options options;
  options.repeat = true;
  const run_figures got = replay(load(interrupted_job(), options), "linux-6.12,t1.nice=-20");
  EXPECT_EQ(got.to_ns, 209 * ms);
  EXPECT_GT(test::figures_of(got, 1).cpu_ns, 180 * ms);
}

TEST(replay, repeat_leaves_alone_what_needs_no_cpu_time) {
  recording_builder b;  // 2 waits for the CPU to the end
  b.run(0, 0, 'R', 1).wake(10'000, 2, by(1)).run(15'000, 1, 'S', 0);
  b.wake(16'000, 1, timer).run(16'000, 0, 'R', 1).wake(16'000, 3, by(1)).mark(20'000, "x");
  replay_options options;
  options.repeat = true;
  EXPECT_EQ(replay(load(b, options), "linux-6.12").to_ns, 20 * ms);
}

TEST(replay, figures_begin_with_the_window) {
  recording_builder b = two_hogs();
  replay_options options;
  options.window = "900ms..";
  const recorded_workload w = load(b, options);
  const run_figures got = replay(w, "linux-6.12");
  EXPECT_EQ(got.from_ns, 900 * ms);
  EXPECT_EQ(got.to_ns, 1000 * ms);
  EXPECT_EQ(test::figures_of(got, 1).cpu_ns + test::figures_of(got, 2).cpu_ns, 100 * ms);
  EXPECT_NEAR(static_cast<double>(test::figures_of(got, 1).cpu_ns), 50e6, 5e6);
}

TEST(replay, progress_is_told_up_to_the_end) {
  const recorded_workload w = load(two_hogs());
  std::vector<unsigned> told;
  static_cast<void>(w.simulate(parse_variant("linux-6.12", {}, 1, w.tick_ns()),
                               [&](unsigned per_mille) { told.push_back(per_mille); }));
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), 1000U);
}

TEST(replay, twice_gives_the_same_and_another_seed_nearly_the_same) {
  const recording_builder b = two_hogs();
  const recorded_workload w = load(b);
  const run_figures first = replay(w, "linux-6.12");
  expect_same(first, replay(w, "linux-6.12"));
  replay_options options;
  options.seed = 2;
  const run_figures other = replay(load(b, options), "linux-6.12");
  EXPECT_EQ(other.to_ns, first.to_ns);
  EXPECT_NEAR(static_cast<double>(test::figures_of(other, 1).cpu_ns),
              static_cast<double>(test::figures_of(first, 1).cpu_ns), 8e6);
}

TEST(replay, of_recordings_under_their_own_policy_comes_back_to_them) {
  for (const std::string name : {"6.12-a-1cpu", "6.1-cspin-1cpu", "6.12-f-1cpu"}) {
    SCOPED_TRACE(name);
    const std::string path = VLAG_TEST_DATA "/traces/" + name;
    const recorded_attributes attributes = read_attributes(path + ".json");
    replay_options options;
    options.window = "runner: release..runner: stop";
    const recorded_workload w(trace::read_recording(path + ".trace.xz"), attributes, options);
    const auto variant = recorded_variant(attributes, w.cpus());
    ASSERT_TRUE(variant);
    const self_check_result result = self_check(w.recorded(), w.simulate(*variant));
    EXPECT_GE(result.cells.size(), 3U);
    for (const check_cell& cell : result.cells) {
      EXPECT_TRUE(cell.holds()) << cell.group << ' ' << to_string(cell.measure) << ": "
                                << cell.recorded << " recorded, " << cell.replayed << " replayed";
    }
  }
}

constexpr std::string_view states = "RRRSDXZIT";
constexpr unsigned stream_cpus = 3;
constexpr std::int32_t stream_pids = 6;

// A random event; any number is one.
trace::event random_event(std::uint64_t n, std::uint64_t& now_us) {
  const auto take = [&n](std::uint64_t below) {
    const std::uint64_t value = n % below;
    n /= below;
    return value;
  };
  trace::event e;
  constexpr trace::event_kind kinds[] = {
      trace::event_kind::sched_switch, trace::event_kind::sched_switch, trace::event_kind::wakeup,
      trace::event_kind::wakeup,       trace::event_kind::wakeup_new,   trace::event_kind::waking,
      trace::event_kind::fork,         trace::event_kind::exit,         trace::event_kind::migrate};
  e.kind = kinds[take(std::size(kinds))];
  constexpr std::uint64_t steps_us[] = {0, 1, 7, 100, 5000, 20'000};
  now_us += steps_us[take(std::size(steps_us))];
  e.time_ns = now_us * 1000;
  e.cpu = static_cast<std::uint16_t>(take(stream_cpus));
  e.context = static_cast<trace::context_kind>(take(5));
  e.context_pid = static_cast<std::int32_t>(take(stream_pids));
  e.pid = static_cast<std::int32_t>(take(stream_pids));
  e.other_pid = static_cast<std::int32_t>(take(stream_pids));
  e.prev_state.letter = states[take(states.size())];
  e.target_cpu = static_cast<std::int32_t>(take(stream_cpus + 1)) - 1;
  constexpr std::int32_t prios[] = {120, 120, 120, 100, 139, 130, 49, 99, 0, -1, 1000, INT32_MIN};
  e.prio = prios[take(std::size(prios))];
  e.other_prio = prios[take(std::size(prios))];
  return e;
}

trace::recording random_recording(const std::vector<std::uint64_t>& numbers) {
  trace::recording r;
  r.path = "random";
  r.cpus = stream_cpus;
  std::uint64_t now_us = 1000;
  for (const std::uint64_t n : numbers) r.events.push_back(random_event(n, now_us));
  return r;
}

std::uint64_t cpu_sum(const run_figures& run) {
  std::uint64_t sum = 0;
  for (const task_figures& t : run.tasks) sum += t.cpu_ns;
  return sum;
}

TEST(replay, any_stream_of_events_can_be_replayed) {
  EXPECT_TRUE(rc::check("any stream", [] {
    const auto numbers =
        *rc::gen::scale(4.0, rc::gen::container<std::vector<std::uint64_t>>(rc::gen::resize(
                                 10'000, rc::gen::inRange<std::uint64_t>(0, UINT64_MAX))));
    const trace::recording r = random_recording(numbers);
    replay_options options;
    options.wakes = *rc::gen::elementOf(std::vector<external_wakes>{
        external_wakes::automatic, external_wakes::relative, external_wakes::absolute});
    options.repeat = *rc::gen::arbitrary<bool>();
    options.window = *rc::gen::elementOf(std::vector<std::string>{"", "", "20ms..", "0..50ms"});
    try {
      const recorded_workload w(r, {}, options);
      RC_CLASSIFY(w.recorded().tasks.size() >= 4, "several tasks");
      const run_figures& was = w.recorded();
      RC_ASSERT(cpu_sum(was) <= (was.to_ns - was.from_ns) * w.cpus());
      for (const cpu_figures& c : was.cpus) RC_ASSERT(c.busy_ns <= was.to_ns - was.from_ns);
      for (const char* spec : {"linux-6.12", "linux-6.1"}) {
        const run_figures got = replay(w, spec);
        RC_ASSERT(got.to_ns <= was.to_ns);
        RC_ASSERT(cpu_sum(got) <= (got.to_ns - got.from_ns) * w.cpus());
      }
    } catch (const input_error& e) {
      // An empty window; nothing else is wrong with a stream.
      const std::string message = e.what();
      RC_ASSERT(message.find("loops") == std::string::npos);
      RC_ASSERT(message.find('\n') == std::string::npos);
    }
  }));
}

TEST(replay, programs_of_a_million_random_events_are_built_in_linear_time) {
  std::vector<std::uint64_t> numbers(std::size_t{1} << 20);
  std::uint64_t state = 1;
  for (std::uint64_t& n : numbers) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    n = state ^ (state >> 29);
  }
  const recorded_workload w(random_recording(numbers), {}, {});
  EXPECT_LE(cpu_sum(w.recorded()), w.recorded().to_ns * w.cpus());
}

}  // namespace
}  // namespace vlag

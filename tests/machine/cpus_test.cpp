// SPDX-License-Identifier: Apache-2.0
#include "scenario.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace vlag::test {
namespace {

TEST(cpus, work_on_one_does_not_touch_another) {
  const auto alone = [] {
    scenario one;
    one.add_hog();
    one.add_hog(3);
    one.add({run(300 * us), sleep(2 * ms), jump(0)});
    one.run_until(1 * s);
    return one.switches();
  }();
  scenario many("linux-6.12", 5);
  many.policy = configure(*find_profile("linux-6.12"), 1, 4 * ms);
  std::vector<std::uint32_t> first_of;
  for (unsigned cpu = 0; cpu < 5; ++cpu) {
    task_setup setup;
    setup.cpu = cpu;
    setup.steps = {run_forever()};
    first_of.push_back(many.add(setup));
    setup.nice = 3;
    many.add(setup);
    setup.nice = 0;
    setup.steps = {run(300 * us), sleep(2 * ms), jump(0)};
    many.add(setup);
  }
  many.run_until(1 * s);
  for (unsigned cpu = 0; cpu < 5; ++cpu) {
    switch_list seen = many.switches(cpu);
    for (auto& [at_ns, task] : seen) task -= first_of[cpu];
    EXPECT_EQ(seen, alone) << cpu;
  }
}

TEST(cpus, events_of_one_time_go_by_kind_and_then_by_cpu) {
  // Timers in the order of setting, then ticks, work and switches, each by CPU number.
  scenario one("linux-6.12", 3);
  one.config.switch_delay_ns = 0;
  task_setup sleeper;
  sleeper.start = start_state::blocked;
  sleeper.steps = {sleep(8 * ms), run(1 * ms), exit()};
  sleeper.cpu = 2;
  const auto a = one.add(sleeper);
  sleeper.cpu = 0;
  const auto b = one.add(sleeper);
  const auto c = one.add_on(1, {run(8 * ms), exit()});
  one.run_until(1 * s);
  const std::size_t n = one.wakeup_events.size();
  EXPECT_EQ(one.wakeup_events[n - 2], (wakeup_event{8 * ms, 2, a, no_task}));
  EXPECT_EQ(one.wakeup_events[n - 1], (wakeup_event{8 * ms, 0, b, no_task}));
  std::vector<switch_event> at_8_ms;
  std::copy_if(one.switch_events.begin(), one.switch_events.end(), std::back_inserter(at_8_ms),
               [](const switch_event& e) { return e.at_ns == 8 * ms; });
  EXPECT_EQ(at_8_ms, (std::vector<switch_event>{{8 * ms, 1, c, false, no_task},
                                                {8 * ms, 0, no_task, false, b},
                                                {8 * ms, 2, no_task, false, a}}));
}

TEST(cpus, a_wakeup_from_another_cpu_reaches_the_sleepers_own) {
  scenario one("linux-6.12", 2);
  const auto waiter = one.add_on(1, {wait(), run(1 * ms), jump(0)});
  one.add_on(0, {run(2 * ms), wake(waiter), jump(0)});
  one.run_until(21 * ms);
  EXPECT_EQ(one.figures().cpus[1].busy_ns, 10 * ms);
  EXPECT_EQ(one.figures().cpus[0].busy_ns, 21 * ms);
}

TEST(cpus, move_takes_effect_at_the_wakeup_it_follows) {
  for (const char* profile_name : {"linux-6.12", "linux-6.1"}) {
    scenario one(profile_name, 2);
    const auto mover = one.add_on(0, {run(1 * ms), sleep(1 * ms), move_to(1), run(1 * ms),
                                      sleep(1 * ms), move_to(0), run(1 * ms), exit()});
    one.run_until(1 * s);
    EXPECT_EQ(one.switches(0),
              (switch_list{{0, mover}, {1 * ms, no_task}, {4 * ms, mover}, {5 * ms, no_task}}));
    EXPECT_EQ(one.switches(1), (switch_list{{2 * ms, mover}, {3 * ms, no_task}}));
  }
}

TEST(cpus, a_move_without_a_wakeup_does_nothing) {
  scenario one("linux-6.12", 2);
  one.add_on(0, {run(1 * ms), sleep_until(500 * us), move_to(1), run(1 * ms), exit()});
  one.run_until(1 * s);
  EXPECT_TRUE(one.switches(1).empty());
}

TEST(cpus, a_task_that_leaves_while_its_dequeue_is_delayed_competes_no_more_where_it_was) {
  scenario one("linux-6.12", 2);
  const auto hog = one.add_on(0, {run_forever()});
  const auto mover = one.add_on(0, {run(3 * ms), sleep(100 * us), move_to(1), run_forever()});
  one.run_until(1 * s);
  const std::uint64_t busy_together = one.stops_of(mover).back();
  EXPECT_LT(busy_together, 20 * ms);
  EXPECT_EQ(one.cpu_ns(hog), 1 * s - 3 * ms);
}

TEST(cpus, a_task_that_moves_before_its_first_wakeup_belongs_to_the_cpu_it_moved_to) {
  for (const char* profile_name : {"linux-6.12", "linux-6.1"}) {
    scenario one(profile_name, 2);
    const auto mover = one.add_blocked({move_to(1), sleep(100 * ms), run_forever()});
    task_setup setup;
    setup.cpu = 1;
    setup.steps = {run_forever()};
    const auto hog = one.add(setup);
    one.run_until(2100 * ms);
    EXPECT_NEAR(static_cast<double>(one.cpu_ns(mover)), 1e9, 10e6) << profile_name;
    EXPECT_NEAR(static_cast<double>(one.cpu_ns(hog)), 1.1e9, 10e6) << profile_name;
  }
}

TEST(cpus, one_task_on_each_of_512_cpus) {
  scenario one("linux-6.12", 512, 512);
  for (unsigned i = 0; i < 512; ++i) one.add_on(i, {run((i + 1) * us), sleep(1 * ms), jump(0)});
  one.run_until(100 * ms);
  for (unsigned i = 0; i < 512; ++i) {
    const std::uint64_t work = (i + 1) * us;
    const std::uint64_t rounds = 100 * ms / (work + 1 * ms);
    const std::uint64_t rest = std::min(100 * ms % (work + 1 * ms), work);
    EXPECT_EQ(one.cpu_ns(i), rounds * work + rest) << i;
  }
}

TEST(cpus, two_runs_of_one_machine_are_the_same_event_for_event) {
  const auto events = [] {
    scenario one("linux-6.12", 4);
    one.config.tick_jitter_ns = 1'000;
    for (unsigned i = 0; i < 24; ++i) {
      one.add_on(i % 4, {run((i + 1) * 37 * us), wake((i + 5) % 24), sleep(i * 211 * us),
                         run(70 * us), signal((i + 9) % 24), jump(0)});
    }
    one.run_until(300 * ms);
    return std::pair{one.switch_events, one.wakeup_events};
  };
  const auto first = events();
  EXPECT_EQ(first, events());
  EXPECT_GT(first.first.size(), 1000U);
}

TEST(cpus, running_in_parts_is_running_at_once) {
  const auto events = [](std::uint64_t step_ns) {
    scenario one("linux-6.12", 2);
    for (unsigned i = 0; i < 6; ++i)
      one.add_on(i % 2, {run((i + 1) * 301 * us), sleep(1 * ms), jump(0)});
    for (std::uint64_t at = step_ns; at <= 60 * ms; at += step_ns) one.run_until(at);
    return one.switch_events;
  };
  EXPECT_EQ(events(60 * ms), events(100 * us));
}

TEST(cpus, a_hundred_thousand_tasks) {
  constexpr std::uint32_t count = 100'000;
  scenario one("linux-6.12", 8, count);
  for (std::uint32_t i = 0; i < count; ++i) {
    one.add_on(i % 8, {run(5 * us), sleep(100 * ms), run(5 * us), exit()});
  }
  EXPECT_EQ(one.run_until(10 * s), machine::stop_reason::nothing_left);
  const run_figures found = one.figures();
  std::uint64_t busy = 0;
  for (const cpu_figures& c : found.cpus) busy += c.busy_ns;
  EXPECT_EQ(busy, count * 10 * us);
  EXPECT_TRUE(std::all_of(found.tasks.begin(), found.tasks.end(), [](const task_figures& t) {
    return t.cpu_ns == 10 * us && t.voluntary == 2;
  }));
}

}  // namespace
}  // namespace vlag::test

// SPDX-License-Identifier: Apache-2.0
#include "workload/recorded_tick.hpp"

#include <gtest/gtest.h>

#include "workload/recording_builder.hpp"

namespace vlag {
namespace {

using test::by;
using test::recording_builder;
using test::tick_timer;
using test::timer;

recorded_machine infer(const recording_builder& recording, std::uint64_t from_us = 0) {
  recorded_machine out;
  const std::uint64_t to_ns = recording.get().events.back().time_ns;
  infer_ticks(recording.get(), {from_us * 1000, to_ns}, out);
  return out;
}

TEST(recorded_tick, shows_in_softirq_wake_ups) {
  recording_builder b;
  for (const std::uint64_t n : {1U, 2U, 5U, 9U}) b.wake(n * 4000 + 1503 + n, 1, tick_timer);
  const recorded_machine got = infer(b);
  EXPECT_TRUE(got.tick_phase_known);
  EXPECT_NEAR(static_cast<double>(got.tick_phase_ns), 1'501'000.0, 10'000.0);
}

TEST(recorded_tick, is_relative_to_the_window) {
  recording_builder b;
  for (const std::uint64_t n : {1U, 2U, 5U}) b.wake(n * 4000 + 1503, 1, tick_timer);
  EXPECT_EQ(infer(b, 1000).tick_phase_ns, 500'000U);
  EXPECT_EQ(infer(b, 2000).tick_phase_ns, 3'500'000U);
}

TEST(recorded_tick, shows_in_switches_that_no_wake_up_explains) {
  recording_builder b;
  for (std::uint64_t n = 0; n < 6; ++n) {
    const auto one = static_cast<std::int32_t>(1 + n % 2);
    b.run(n * 8000 + 2503, one, 'R', 3 - one);
  }
  const recorded_machine got = infer(b);
  EXPECT_TRUE(got.tick_phase_known);
  EXPECT_EQ(got.tick_phase_ns, 2'500'000U);
}

TEST(recorded_tick, is_not_told_by_preempting_wake_ups) {
  recording_builder b;
  for (std::uint64_t n = 0; n < 6; ++n) {
    b.wake(n * 8000 + 2500, 2, timer).run(n * 8000 + 2503, 1, 'R', 2);
    b.run(n * 8000 + 2600, 2, 'S', 1);
  }
  EXPECT_FALSE(infer(b).tick_phase_known);
}

TEST(recorded_tick, needs_three_moments_that_agree) {
  recording_builder b;
  b.wake(4003, 1, tick_timer).wake(8003, 1, tick_timer).wake(9500, 1, tick_timer);
  EXPECT_FALSE(infer(b).tick_phase_known);
  EXPECT_EQ(infer(b).tick_phase_ns, 0U);
}

TEST(recorded_tick, at_the_wrap_of_its_period_is_one_cluster) {
  recording_builder b;
  for (std::uint64_t n = 1; n < 9; ++n) {
    b.wake(n * 4000 + (n % 2 == 0 ? 5 : 0) - (n % 2 == 0 ? 0 : 5), 1, tick_timer);
  }
  EXPECT_EQ(infer(b).tick_phase_ns, 3'992'000U);
}

TEST(recorded_tick, of_the_shortest_kind_is_shorter_than_a_cluster) {
  recording_builder b;
  for (std::uint64_t n = 1; n < 9; ++n) b.wake(n * 10 + 4, 1, tick_timer);
  recorded_machine out;
  out.tick_ns = 10'000;
  infer_ticks(b.get(), {0, 100'000}, out);
  EXPECT_TRUE(out.tick_phase_known);
  EXPECT_EQ(out.tick_phase_ns, 1000U);
}

TEST(recorded_tick, switch_delays_are_the_mean_from_wake_up_to_switch) {
  recording_builder b;
  b.run(0, 0, 'R', 1);
  b.wake(100, 2, by(1)).run(103, 1, 'R', 2).run(200, 2, 'S', 1);
  b.wake(300, 2, by(1)).run(305, 1, 'R', 2).run(400, 2, 'S', 1).run(450, 1, 'S', 0);
  b.wake(500, 2, timer).run(507, 0, 'R', 2).run(600, 2, 'S', 0);
  b.wake(700, 2, timer).run(900, 0, 'R', 2);  // that late is no delay of a switch
  const recorded_machine got = infer(b);
  EXPECT_EQ(got.switch_delay_ns, 4000U);
  EXPECT_EQ(got.idle_switch_delay_ns, 7000U);
}

TEST(recorded_tick, one_kind_of_delay_stands_for_the_other) {
  recording_builder busy;
  busy.run(0, 0, 'R', 1).wake(100, 2, by(1)).run(103, 1, 'R', 2);
  EXPECT_EQ(infer(busy).idle_switch_delay_ns, 3000U);
  recording_builder idle;
  idle.mark(0, "x").wake(500, 2, timer).run(507, 0, 'R', 2);
  EXPECT_EQ(infer(idle).switch_delay_ns, 7000U);
}

}  // namespace
}  // namespace vlag

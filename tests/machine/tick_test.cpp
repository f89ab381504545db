// SPDX-License-Identifier: Apache-2.0
#include "scenario.hpp"

#include <gtest/gtest.h>

namespace vlag::test {
namespace {

TEST(tick, only_a_busy_cpu_has_ticks) {
  scenario one("linux-6.12", 2);
  one.add_on(0, {run_forever()});
  one.add_on(1, {run(9 * ms), sleep(80 * ms), run(9 * ms), exit()});
  one.run_until(100 * ms);
  EXPECT_EQ(one.figures().cpus[0].ticks, 25U);
  EXPECT_EQ(one.figures().cpus[1].ticks, 4U);  // 4, 8, 92 and 96 ms
}

TEST(tick, ticks_keep_their_phase_after_idleness) {
  scenario one;
  one.config.tick_phase_ns = 1 * ms;
  one.add_blocked({sleep(11 * ms), run_forever()});
  one.add_blocked({sleep(11 * ms), run_forever()});
  one.run_until(30 * ms);
  EXPECT_EQ(
      one.switches(),
      (switch_list{
          {11 * ms, 0}, {13 * ms, 1}, {17 * ms, 0}, {21 * ms, 1}, {25 * ms, 0}, {29 * ms, 1}}));
}

TEST(tick, its_period_is_the_machines) {
  scenario one;
  one.config.tick_ns = 1 * ms;
  one.add_hog();
  one.add_hog();
  one.run_until(100 * ms);
  EXPECT_EQ(one.figures().cpus[0].ticks, 100U);
  EXPECT_EQ(one.figures().cpus[0].switches, 101U);
}

// What hogs with a request of exactly three ticks do depends on the jitter alone.
std::vector<switch_event> with_jitter(std::uint64_t jitter_ns, std::uint64_t seed) {
  scenario one;
  one.config.tick_jitter_ns = jitter_ns;
  one.config.seed = seed;
  one.policy.eevdf.base_slice_ns = 12 * ms;
  for (int i = 0; i < 3; ++i) one.add_hog();
  one.run_until(10 * s);
  return one.switch_events;
}

TEST(tick, jitter_is_a_matter_of_the_seed) {
  EXPECT_EQ(with_jitter(1'000, 1), with_jitter(1'000, 1));
  EXPECT_NE(with_jitter(1'000, 1), with_jitter(1'000, 2));
  EXPECT_EQ(with_jitter(0, 1), with_jitter(0, 2));
}

TEST(tick, jitter_moves_the_clock_reading_not_the_tick) {
  for (const switch_event& e : with_jitter(1'000, 1)) EXPECT_EQ(e.at_ns % (4 * ms), 0U);
}

TEST(tick, jitter_is_bounded) {
  // A request that ends 1 us after the tick is found used up at that tick only if the reading is
  // late by as much: with less jitter never, with that much sometimes.
  const auto first_turns = [](std::uint64_t jitter_ns) {
    std::size_t early = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      scenario one;
      one.config.tick_jitter_ns = jitter_ns;
      one.config.seed = seed;
      one.policy.eevdf.base_slice_ns = 4 * ms + 1 * us;
      one.add_hog();
      one.add_hog();
      one.run_until(5 * ms);
      if (one.switches().size() > 1) ++early;
    }
    return early;
  };
  EXPECT_EQ(first_turns(999), 0U);
  EXPECT_GT(first_turns(2'000), 50U);
  EXPECT_LT(first_turns(2'000), 150U);
}

TEST(hrtick, ends_a_request_in_the_middle_of_a_tick) {
  scenario one;
  one.config.hrtick = true;
  one.add_hog();
  one.add_hog();
  one.run_until(2900 * us);
  EXPECT_EQ(one.switches(),
            (switch_list{{0, 0}, {700 * us, 1}, {1400 * us, 0}, {2100 * us, 1}, {2800 * us, 0}}));
}

TEST(hrtick, is_not_set_for_a_task_that_is_alone_until_company_comes) {
  scenario one;
  one.config.hrtick = true;
  one.policy.eevdf.base_slice_ns = 3 * ms;
  one.add_hog();
  one.add_blocked({sleep(1 * ms), run_forever()});
  one.run_until(900 * us);
  const std::uint64_t events = one.simulated().events();
  EXPECT_LE(events, 2U);
  one.run_until(3500 * us);
  EXPECT_EQ(one.stops_of(0), (times{3 * ms}));
}

TEST(hrtick, leaves_a_real_time_task_alone) {
  scenario one;
  one.config.hrtick = true;
  const auto fifo = one.add_real_time({run(100 * ms), exit()}, 1);
  one.add_hog();
  one.add_hog();
  one.run_until(100 * ms);
  EXPECT_EQ(one.switches(), (switch_list{{0, fifo}, {100 * ms, 1}}));
}

TEST(hrtick, is_never_nearer_than_10_us) {
  scenario one;
  one.config.hrtick = true;
  one.policy.eevdf.base_slice_ns = 1 * us;
  one.add_hog();
  one.add_hog();
  one.run_until(1 * ms);
  EXPECT_EQ(one.figures().cpus[0].switches, 101U);
}

}  // namespace
}  // namespace vlag::test

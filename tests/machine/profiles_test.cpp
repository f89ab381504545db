// SPDX-License-Identifier: Apache-2.0
//
// Where the profiles, and features of them, part: the direction of the difference, on one CPU.
#include "scenario.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

namespace vlag::test {
namespace {

struct switched {
  std::string_view feature;
  bool on;
};

// With the constants of a machine of many CPUs, which are those of the discussions.
scenario under(const char* profile_name, std::initializer_list<switched> changes = {}) {
  scenario one(profile_name);
  one.policy = configure(*find_profile(profile_name), 8, 4 * ms);
  for (const auto& [feature, on] : changes) {
    EXPECT_EQ(set_feature(one.policy, feature, on), set_result::ok) << feature;
  }
  return one;
}

// Per cent of the CPU that the task gets beside a hog in a minute.
std::uint64_t share_beside_hog(scenario one, program steps) {
  const auto it = one.add(std::move(steps));
  one.add_hog();
  one.run_until(60 * s);
  return one.cpu_ns(it) / (600 * ms);
}

const program half_asleep{run(10 * ms), sleep(10 * ms), jump(0)};

TEST(sleeper_beside_hog, gets_half_of_the_cpu_under_cfs_and_a_third_under_eevdf) {
  EXPECT_NEAR(static_cast<double>(share_beside_hog(under("linux-6.1"), half_asleep)), 50.0, 3.0);
  for (const char* eevdf : {"linux-6.12", "linux-6.6", "eevdf-rfc"}) {
    EXPECT_NEAR(static_cast<double>(share_beside_hog(under(eevdf), half_asleep)), 33.0, 3.0)
        << eevdf;
  }
}

TEST(sleeper_beside_hog, gets_more_with_a_bonus_and_less_of_it_with_a_gentle_one) {
  const auto none = share_beside_hog(under("eevdf-rfc"), half_asleep);
  const auto gentle = share_beside_hog(
      under("eevdf-rfc", {{"FAIR_SLEEPERS", true}, {"GENTLE_FAIR_SLEEPERS", true}}), half_asleep);
  const auto full = share_beside_hog(under("eevdf-rfc", {{"FAIR_SLEEPERS", true}}), half_asleep);
  const auto cfs = share_beside_hog(under("linux-6.1"), half_asleep);
  EXPECT_LT(none, gentle);
  EXPECT_LT(gentle, full);
  EXPECT_LT(full, cfs);
}

TEST(micro_sleeper, gains_nothing_while_debts_are_worked_off_on_the_queue) {
  const auto share = [](std::initializer_list<switched> changes) {
    scenario one = under("linux-6.12", changes);
    const auto napper = one.add({run(3'900 * us), sleep(1 * us), jump(0)});
    for (int i = 0; i < 4; ++i) one.add_hog();
    one.run_until(60 * s);
    return one.cpu_ns(napper) / (600 * ms);
  };
  EXPECT_LE(share({}), 20U);
  EXPECT_GE(share({{"PLACE_LAG", false}, {"DELAY_DEQUEUE", false}}), 22U);
}

TEST(yield, gives_the_request_away_since_6_12_and_only_postpones_the_deadline_before) {
  const program polite{run(1 * ms), yield(), jump(0)};
  const auto gives_away = share_beside_hog(under("linux-6.12"), polite);
  const auto postpones =
      share_beside_hog(under("linux-6.12", {{"YIELD_TO_DEADLINE", false}}), polite);
  EXPECT_LT(gives_away, postpones);
  EXPECT_NEAR(static_cast<double>(share_beside_hog(under("linux-6.6"), polite)),
              static_cast<double>(postpones), 3.0);
}

TEST(parity, makes_who_wakes_often_wait_for_the_ends_of_requests) {
  for (const char* eevdf : {"linux-6.12", "linux-6.6"}) {
    const auto rounds = [eevdf](bool parity) {
      scenario one = under(eevdf, {{"RUN_TO_PARITY", parity}});
      EXPECT_EQ(set_constant(one.policy, "base_slice", 12 * ms), set_result::ok);
      const auto writer = one.add({run(200 * us), sleep(1 * ms), jump(0)});
      for (int i = 0; i < 6; ++i) one.add_hog();
      one.run_until(60 * s);
      return one.cpu_ns(writer) / (200 * us);
    };
    EXPECT_LT(rounds(true) * 2, rounds(false)) << eevdf;
  }
}

TEST(tick, of_the_first_posting_switches_before_the_request_is_used_up) {
  const auto switches = [](bool repick) {
    scenario one = under("eevdf-rfc", {{"TICK_REPICK", repick}});
    EXPECT_EQ(set_constant(one.policy, "base_slice", 12 * ms), set_result::ok);
    for (int i = 0; i < 3; ++i) one.add_hog();
    one.run_until(3 * s);
    return one.switches().size();
  };
  EXPECT_GT(switches(true), switches(false) * 2);
}

TEST(own_slice, is_what_the_request_timer_goes_by_since_6_12_only) {
  const auto switches = [](const char* profile_name) {
    scenario one = under(profile_name);
    for (int i = 0; i < 2; ++i) {
      task_setup setup;
      setup.slice_ns = 40 * ms;
      setup.steps = {run_forever()};
      one.add(setup);
    }
    one.run_until(4 * s);
    return one.switches().size();
  };
  EXPECT_NEAR(static_cast<double>(switches("linux-6.12")), 100.0, 5.0);
  EXPECT_NEAR(static_cast<double>(switches("linux-6.6")), 1000.0, 5.0);
}

TEST(latency_slice, is_what_the_first_posting_and_6_12_have) {
  const auto switches = [](const char* profile_name) {
    scenario one = under(profile_name, {{"RUN_TO_PARITY", true}, {"TICK_REPICK", false}});
    for (int i = 0; i < 2; ++i) {
      task_setup setup;
      setup.latency_nice = 12;  // 41 and 44 ms
      setup.steps = {run_forever()};
      one.add(setup);
    }
    one.run_until(4 * s);
    return static_cast<double>(one.switches().size());
  };
  EXPECT_NEAR(switches("linux-6.12"), 91.0, 5.0);
  EXPECT_NEAR(switches("eevdf-rfc"), 91.0, 5.0);
  EXPECT_NEAR(switches("linux-6.6"), 1000.0, 5.0);
}

}  // namespace
}  // namespace vlag::test

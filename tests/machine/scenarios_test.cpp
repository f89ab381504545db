// SPDX-License-Identifier: Apache-2.0
//
// Public reports about Linux schedulers as small scenarios: each must show the direction, and where
// the report gives one the size, of what was seen.
#include "scenario.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace vlag::test {
namespace {

double as_ms(std::uint64_t ns) { return static_cast<double>(ns) / 1e6; }

// Real ticks come a little early of what HZ 1000 promises.
constexpr std::uint64_t short_tick_ns = 999 * us;

scenario short_ticks() {
  scenario one;
  one.config.tick_ns = short_tick_ns;
  return one;
}

std::uint32_t add_hog_of_slice(scenario& one, std::uint64_t slice_ns) {
  task_setup hog;
  hog.slice_ns = slice_ns;
  hog.steps = {run_forever()};
  return one.add(std::move(hog));
}

// lore.kernel.org 20240111115745.62813-2
TEST(slices_asymmetric, share_evenly_and_switch_as_seldom_as_the_longer_slice_says) {
  scenario one = short_ticks();
  const auto patient = add_hog_of_slice(one, 100 * ms);
  const auto brisk = add_hog_of_slice(one, 100 * us);
  one.run_until(10 * s);
  for (const auto hog : {patient, brisk}) {
    EXPECT_NEAR(as_ms(one.cpu_ns(hog)), 5000, 100) << hog;
    EXPECT_GE(one.of(hog).switches_in, 50U) << hog;
    EXPECT_LE(one.of(hog).switches_in, 70U) << hog;
    const double delay_ms = as_ms(one.of(hog).preempt_wait.mean_ns());
    // "Of the order of 80 ms": on that machine other tasks came in between.
    EXPECT_GT(delay_ms, 60) << hog;
    EXPECT_LT(delay_ms, 110) << hog;
  }
}

TEST(slices_asymmetric, equal_slices_of_3_and_10_ms_switch_as_reported) {
  struct reported {
    std::uint64_t slice_ns;
    double switches;
    double delay_ms;
  };
  for (const reported& r : {reported{3 * ms, 1250, 4}, reported{10 * ms, 456, 11}}) {
    scenario one = short_ticks();
    for (int i = 0; i < 2; ++i) add_hog_of_slice(one, r.slice_ns);
    one.run_until(10 * s);
    for (std::uint32_t hog = 0; hog < 2; ++hog) {
      EXPECT_NEAR(static_cast<double>(one.of(hog).switches_in), r.switches, r.switches / 100);
      EXPECT_NEAR(as_ms(one.of(hog).preempt_wait.mean_ns()), r.delay_ms, 0.1);
    }
  }
}

// Linux commit 2ae891b82695
TEST(extra_tick, a_slice_of_whole_ticks_takes_one_more_when_ticks_are_short) {
  struct expected {
    std::uint64_t slice_ns;
    std::uint64_t ticks;
  };
  for (const expected& e : {expected{3 * ms, 4}, expected{2800 * us, 3}}) {
    for (int hogs = 2; hogs <= 5; ++hogs) {
      scenario one = short_ticks();
      one.policy.eevdf.base_slice_ns = e.slice_ns;
      for (int i = 0; i < hogs; ++i) one.add_hog();
      one.run_until(1 * s);
      const switch_list all = one.switches();
      ASSERT_GT(all.size(), 100U);
      for (std::size_t i = 2; i < all.size(); ++i) {
        ASSERT_EQ(all[i].first - all[i - 1].first, e.ticks * short_tick_ns) << hogs << " hogs";
      }
    }
  }
}

// Linux commit 6d71a9c61604
TEST(reweight_roundtrip, a_lag_kept_off_the_queue_comes_back_any_number_of_times) {
  std::vector<std::byte> memory(timeline_storage::required_bytes(4) + 64);
  void* at = memory.data();
  std::size_t space = memory.size();
  std::align(64, timeline_storage::required_bytes(4), at, space);
  timeline_storage storage({static_cast<std::byte*>(at), timeline_storage::required_bytes(4)}, 4);
  const policy_config policy = configure(*find_profile("linux-6.12"), 1, 4 * ms);
  fair_class fair(policy.eevdf, storage);
  task t;
  set_initial_attributes(t, sched_policy::normal, 0);
  ASSERT_TRUE(fair.join_asleep(t, 1 * s));
  t.vlag = -1123;
  for (int i = 0; i < 1000; ++i) {
    fair.reweight(t, 2, 1 * s);
    EXPECT_EQ(t.vlag, -1123LL * 1048576 / 2);
    fair.reweight(t, 1048576, 1 * s);
    ASSERT_EQ(t.vlag, -1123) << i;
  }
}

// Linux commit 85e511df3cec
struct mixed_load {
  std::uint64_t mean_ns = 0;  // wake-up latency of the timer tasks
  std::uint64_t max_ns = 0;
  std::uint64_t hog_switches = 0;
};

mixed_load timers_beside_hogs(bool preempt_short) {
  scenario one;
  one.policy.eevdf.features.set(feature::preempt_short, preempt_short);
  for (std::uint64_t i = 0; i < 5; ++i) {
    task_setup hog;
    hog.slice_ns = 100 * ms;
    hog.steps = {run(8 * ms), sleep(1 * ms), jump(0)};
    one.add(std::move(hog));
  }
  for (std::uint64_t i = 0; i < 5; ++i) {
    task_setup timer;
    timer.slice_ns = 500 * us;
    timer.steps = {run(5 * us), sleep(1 * ms + i * 500 * us), jump(0)};
    one.add(std::move(timer));
  }
  one.run_until(20 * s);
  mixed_load seen;
  duration_histogram all;
  for (std::uint32_t i = 0; i < 5; ++i) seen.hog_switches += one.of(i).switches_in;
  for (std::uint32_t i = 5; i < 10; ++i) all.merge(one.of(i).wake_latency);
  seen.mean_ns = all.mean_ns();
  seen.max_ns = all.max_ns();
  return seen;
}

TEST(short_slice_vs_hogs, preempt_short_serves_timers_sooner_at_the_price_of_few_switches) {
  const mixed_load off = timers_beside_hogs(false);
  const mixed_load on = timers_beside_hogs(true);
  EXPECT_LT(on.mean_ns, off.mean_ns);
  EXPECT_LT(on.max_ns, off.max_ns);
  EXPECT_LT(static_cast<double>(on.hog_switches), 1.15 * static_cast<double>(off.hog_switches));
}

// kubernetes.io blog, 2025-10-25
TEST(k8s_weights, a_pods_weight_of_39_beside_100_gives_28_percent) {
  struct expected {
    const char* weight;
    double percent;
  };
  for (const expected& e : {expected{"39", 28}, expected{"100", 50}}) {
    scenario one("linux-6.12", 1, 64, 2);
    machine& m = one.simulated();
    ASSERT_EQ(m.add_group({"/pods", {{"cpu.weight", e.weight}}}).error, group_error::none);
    ASSERT_EQ(m.add_group({"/system", {{"cpu.weight", "100"}}}).error, group_error::none);
    for (std::uint32_t group = 1; group <= 2; ++group) {
      for (int i = 0; i < 4; ++i) {
        task_setup busy;
        busy.group = group;
        busy.steps = {run_forever()};
        one.add(std::move(busy));
      }
    }
    one.run_until(40 * s);
    EXPECT_NEAR(static_cast<double>(one.figures().groups[0].cpu_ns) / 40e9 * 100, e.percent, 0.5);
  }
}

// A child signals its sleeping parent in a tight loop; the parent wants so many signals. What of
// its work it has done after that time.
double served_by(const char* profile_name, std::uint64_t after_ns) {
  constexpr std::uint64_t signals = 20'000;
  scenario one(profile_name);
  one.config.tick_jitter_ns = 1'000;
  one.config.switch_delay_ns = 5 * us;
  program parent;
  for (std::uint64_t i = 0; i < signals; ++i) {
    parent.push_back(sleep(forever_ns));
    parent.push_back(run(6 * us));
  }
  parent.push_back(exit());
  const auto storm = one.add_blocked(std::move(parent));
  one.add({run(4 * us), signal(storm), jump(0)});
  one.run_until(after_ns);
  return static_cast<double>(one.cpu_ns(storm)) / static_cast<double>(signals * 6 * us);
}

TEST(starve, cfs_and_eevdf_of_6_12_let_the_parent_have_its_signals) {
  EXPECT_EQ(served_by("linux-6.1", 700 * ms), 1.0);
  EXPECT_EQ(served_by("linux-6.12", 700 * ms), 1.0);
}

TEST(starve, the_first_posting_of_eevdf_does_not_in_ten_times_that) {
  EXPECT_LT(served_by("eevdf-rfc", 7 * s), 0.9);
}

}  // namespace
}  // namespace vlag::test

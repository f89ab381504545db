// SPDX-License-Identifier: Apache-2.0
//
// One average, its clock and the estimate: what is known in closed form.
#include "vlag/pelt.hpp"
#include "vlag/pelt_queue.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace vlag {
namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t start = 10 * ms;
constexpr std::uint64_t period = 1024 * 1024;  // ns
constexpr entity_activity asleep{};
constexpr entity_activity waits{true, 1, false};
constexpr entity_activity runs{true, 1, true};

const double y = std::exp2(-1.0 / 32);
double y_to(double time_ns) { return std::pow(y, time_ns / period); }

class one_task {
 public:
  explicit one_task(std::uint64_t now = start) : now_(now) { average.last_update_ns = now; }

  void passes(std::uint64_t ns, const entity_activity& how) {
    now_ += ns;
    update_entity_average(average, now_, nice_0_weight, how);
  }
  // For so long, updated each step.
  void passes(std::uint64_t ns, const entity_activity& how, std::uint64_t step) {
    for (; ns > step; ns -= step) passes(step, how);
    passes(ns, how);
  }

  load_average average;

 private:
  std::uint64_t now_;
};

TEST(pelt, a_hog_reaches_full_utilisation_and_load_of_its_weight) {
  one_task hog;
  hog.passes(2'000 * ms, runs, ms);
  EXPECT_NEAR(static_cast<double>(hog.average.util_avg), 1024, 2);
  EXPECT_NEAR(static_cast<double>(hog.average.runnable_avg), 1024, 2);
  EXPECT_NEAR(static_cast<double>(hog.average.load_avg), 1024, 2);
}

TEST(pelt, waiting_counts_for_runnable_and_load_but_not_for_util) {
  one_task t;
  for (int i = 0; i < 500; ++i) {
    t.passes(2 * ms, runs);
    t.passes(2 * ms, waits);
  }
  EXPECT_NEAR(static_cast<double>(t.average.runnable_avg), 1024, 2);
  EXPECT_NEAR(static_cast<double>(t.average.load_avg), 1024, 2);
  EXPECT_NEAR(static_cast<double>(t.average.util_avg), 512, 25);
}

// Runs p of every q: after the run util is 1024 (1 - y^p) / (1 - y^q), and y^(q-p) of it when it
// runs again.
TEST(pelt, a_periodic_task_settles_at_the_analytical_utilisation) {
  for (const std::uint64_t q : {3U, 8U, 16U, 33U, 100U, 250U}) {
    for (std::uint64_t p = 1; p < q; p += 1 + q / 9) {
      one_task t;
      for (std::uint64_t done = 0; done < 1'500; done += q) {
        t.passes((q - p) * ms, asleep);
        t.passes(p * ms, runs);
      }
      const double high =
          1024 * (1 - y_to(static_cast<double>(p * ms))) / (1 - y_to(static_cast<double>(q * ms)));
      EXPECT_NEAR(static_cast<double>(t.average.util_avg), high, 8) << p << " of " << q;
      t.passes((q - p) * ms, asleep);
      const double low = high * y_to(static_cast<double>((q - p) * ms));
      EXPECT_NEAR(static_cast<double>(t.average.util_avg), low, 8) << p << " of " << q;
    }
  }
}

TEST(pelt, rises_from_nothing_as_the_series_says) {
  one_task t;
  for (int n = 1; n <= 300; ++n) {
    t.passes(period, runs);
    EXPECT_NEAR(static_cast<double>(t.average.util_avg), 1024 * (1 - std::pow(y, n)), 4) << n;
  }
}

TEST(pelt, halves_in_32_periods) {
  one_task t;
  t.passes(3'000 * ms, runs, ms);
  for (std::uint64_t util = t.average.util_avg; util > 2; util = t.average.util_avg) {
    t.passes(32 * period, asleep);
    EXPECT_LE(t.average.util_avg, util / 2);
    EXPECT_GE(t.average.util_avg + 2, util / 2);
  }
}

TEST(pelt, a_minute_of_sleep_leaves_nothing) {
  one_task t;
  t.passes(3'000 * ms, runs, ms);
  t.passes(60'000 * ms, asleep);
  EXPECT_EQ(t.average.util_sum, 0U);
  EXPECT_EQ(t.average.load_sum, 0U);
  EXPECT_EQ(t.average.runnable_sum, 0U);
  EXPECT_EQ(t.average.util_avg, 0U);
}

TEST(pelt, less_than_a_unit_stays_pending) {
  one_task t;
  for (int i = 0; i < 1'023; ++i) t.passes(1, runs);
  EXPECT_EQ(t.average.util_sum, 0U);
  EXPECT_EQ(t.average.last_update_ns, start);
  t.passes(1, runs);
  EXPECT_EQ(t.average.util_sum, 1'024U);
  EXPECT_EQ(t.average.last_update_ns, start + 1'024);
}

TEST(pelt, a_clock_that_goes_back_moves_the_time_stamp_only) {
  one_task t;
  t.passes(500 * ms, runs, ms);
  load_average before = t.average;
  EXPECT_FALSE(update_entity_average(t.average, start, nice_0_weight, runs));
  EXPECT_EQ(t.average.last_update_ns, start);
  EXPECT_EQ(t.average.util_sum, before.util_sum);
  EXPECT_EQ(t.average.util_avg, before.util_avg);
}

TEST(pelt, delayed_is_neither_runnable_nor_running_but_load) {
  one_task t;
  t.passes(2'000 * ms, {true, 0, false}, ms);
  EXPECT_EQ(t.average.runnable_sum, 0U);
  EXPECT_EQ(t.average.util_sum, 0U);
  EXPECT_NEAR(static_cast<double>(t.average.load_avg), 1024, 2);
}

TEST(pelt, interrupts_take_their_part) {
  load_average a;
  a.last_update_ns = start;
  const load_clock clock(start);
  for (std::uint64_t now = start; now < 2'000 * ms; now += ms) {
    update_interrupt_average(a, now, ms / 4, clock);
  }
  EXPECT_NEAR(static_cast<double>(a.util_avg), 256, 8);
}

TEST(load_clock, passes_at_the_speed_of_the_cpu_and_catches_up_when_idle) {
  load_clock clock(start);
  clock.set_scale(512, 512);
  clock.advance_busy(8 * ms);
  EXPECT_EQ(clock.load_ns(), start + 2 * ms);
  EXPECT_EQ(clock.task_ns(), start + 8 * ms);
  clock.go_idle(0);
  EXPECT_EQ(clock.now_ns(), start + 8 * ms);
  clock.advance_idle(5 * ms);
  EXPECT_EQ(clock.now_ns(), start + 13 * ms);
}

TEST(load_clock, a_cpu_without_idle_time_does_not_catch_up) {
  load_clock clock(start);
  clock.set_scale(1024, 512);
  clock.advance_busy(100 * ms);
  const std::uint64_t now = clock.now_ns();
  clock.go_idle(static_cast<std::uint32_t>(load_average_min * 1024));
  EXPECT_EQ(clock.now_ns(), now);
  EXPECT_EQ(clock.lost_idle_ns(), 50 * ms);
  clock.advance_idle(3 * ms);
  EXPECT_EQ(clock.now_ns(), now + 3 * ms);
}

TEST(load_clock, no_idle_time_is_a_utilisation_of_all_but_one) {
  constexpr std::uint32_t least = 46'718 * 1'024 - 47'742;
  for (const std::uint32_t below : {1U, 0U}) {
    load_clock clock(start);
    clock.set_scale(1024, 512);
    clock.advance_busy(100 * ms);
    clock.go_idle(least - below);
    EXPECT_EQ(clock.lost_idle_ns(), below == 0 ? 50 * ms : 0);
  }
}

// The same work at half the speed takes twice the time and counts the same.
TEST(load_clock, utilisation_does_not_depend_on_the_frequency) {
  std::uint64_t util[2] = {};
  for (const bool half : {false, true}) {
    load_clock clock(start);
    clock.set_scale(1024, half ? 512 : 1024);
    load_average a;
    a.last_update_ns = start;
    for (int i = 0; i < 40; ++i) {
      clock.advance_busy((half ? 20 : 10) * ms);
      update_entity_average(a, clock.now_ns(), nice_0_weight, runs);
      util[half ? 1 : 0] = a.util_avg;
      clock.go_idle(a.util_sum);
      clock.advance_idle((half ? 80 : 90) * ms);
      update_entity_average(a, clock.now_ns(), nice_0_weight, asleep);
    }
  }
  EXPECT_NEAR(static_cast<double>(util[0]), static_cast<double>(util[1]), 6);
}

TEST(estimate, rises_at_once_and_falls_by_a_quarter) {
  load_average a;
  a.util_avg = a.runnable_avg = 800;
  sample_estimate(a, full_capacity);
  EXPECT_EQ(estimated_util(a), 800U);
  double expected = 800;
  for (int i = 0; i < 12; ++i) {
    a.util_avg = a.runnable_avg = 100;
    a.util_est &= ~estimate_unchanged;
    sample_estimate(a, full_capacity);
    expected = 100 + (expected - 100) * 0.75;
    EXPECT_NEAR(static_cast<double>(estimated_util(a)), expected, 4);
  }
  for (int i = 0; i < 40; ++i) {
    a.util_est &= ~estimate_unchanged;
    sample_estimate(a, full_capacity);
  }
  EXPECT_EQ(estimated_util(a), 108U);  // from within 1 % of the capacity it does not move
}

TEST(estimate, is_not_lowered_by_a_sleep_that_follows_at_once_or_by_waiting) {
  load_average a;
  a.util_avg = a.runnable_avg = 800;
  sample_estimate(a, full_capacity);
  a.util_avg = a.runnable_avg = 100;
  sample_estimate(a, full_capacity);  // no period ended since
  EXPECT_EQ(estimated_util(a), 800U);
  a.util_est &= ~estimate_unchanged;
  a.runnable_avg = 111;
  sample_estimate(a, full_capacity);
  EXPECT_EQ(estimated_util(a), 800U);
  a.util_est &= ~estimate_unchanged;
  a.runnable_avg = 110;
  sample_estimate(a, full_capacity);
  EXPECT_EQ(estimated_util(a), 625U);
  a.util_est &= ~estimate_unchanged;
  sample_estimate(a, 99);  // more than the CPU has: not its own doing
  EXPECT_EQ(a.util_est, 625U);
}

TEST(estimate, the_sum_of_a_cpu_is_that_of_its_tasks) {
  load_average root, a, b;
  a.util_est = 300 | estimate_unchanged;
  b.util_est = 200;
  add_estimate(root, a);
  add_estimate(root, b);
  EXPECT_EQ(root.util_est, 500U);
  remove_estimate(root, a);
  EXPECT_EQ(root.util_est, 200U);
  b.util_est = 900;
  remove_estimate(root, b);
  EXPECT_EQ(root.util_est, 0U);
}

// What the others of its queue use for a weight like its own, but at most half of what is left.
TEST(new_task, is_estimated_from_its_queue) {
  const load_clock clock(start);
  queue_load queue;
  entity_load entity;
  const level_now level{.entity = &entity,
                        .full_weight = nice_0_weight,
                        .queue = {.load = &queue, .group = nullptr, .clock = &clock},
                        .own = {}};
  const auto estimated = [&](std::uint64_t util_avg, std::uint64_t load_avg) {
    queue.average.util_avg = util_avg;
    queue.average.load_avg = load_avg;
    start_task_load(entity, nice_0_weight);
    estimate_new_task(level);
    EXPECT_EQ(entity.average.runnable_avg, entity.average.util_avg);
    EXPECT_EQ(entity.average.load_avg, 1024U);
    return entity.average.util_avg;
  };
  EXPECT_EQ(estimated(0, 0), 512U);
  EXPECT_EQ(estimated(100, 999), 102U);  // 100 * 1024 / (999 + 1)
  EXPECT_EQ(estimated(100, 1'023), 100U);
  EXPECT_EQ(estimated(824, 100), 100U);
  EXPECT_EQ(estimated(1'023, 100), 0U);
  EXPECT_EQ(estimated(1'500, 100), 0U);
}

}  // namespace
}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// Laws of a single average under random histories: it follows the exact series, stays in bounds,
// grows with activity, and neither days nor the ends of the clock change that.
#include "vlag/pelt.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace vlag {
namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t day = 86'400'000 * ms;
constexpr std::uint64_t unit = 1024;  // ns
constexpr std::uint64_t units_of_period = 1024;

// The series has the limit 47788.4, of which load_average_max is what rounding at each period
// leaves. Sums that are scaled lose less by rounding and may come closer to it.
constexpr std::uint64_t scaled_excess = 47;

// The sums as real numbers, to any unit of time exactly.
class exact_series {
 public:
  void passes(std::uint64_t units, bool active) {
    while (units > 0) {
      const std::uint64_t part = std::min(units, units_of_period - into_);
      if (active) sum_ += static_cast<long double>(part);
      into_ += part;
      units -= part;
      if (into_ < units_of_period) continue;
      into_ = 0;
      sum_ *= y;
    }
  }
  long double sum() const { return sum_; }

 private:
  static inline const long double y = std::exp2(-1.0L / 32);
  long double sum_ = 0;
  std::uint64_t into_ = 0;
};

struct stretch {
  std::uint64_t ns;
  entity_activity how;
};

// Histories of a task, as real ones are: mostly short stretches, a few long ones.
std::vector<stretch> history(std::uint64_t seed, std::size_t length) {
  std::mt19937_64 random(seed);
  constexpr std::uint64_t most_ns[] = {2'000, 100'000, 4 * ms, 4 * ms, 40 * ms, 3'000 * ms};
  std::vector<stretch> all(length);
  for (stretch& s : all) {
    s.ns = random() % most_ns[random() % std::size(most_ns)];
    const std::uint64_t how = random() % 4;
    s.how.queued = how != 0;
    s.how.runnable = how >= 2 ? 1 : 0;  // 1: delayed
    s.how.running = how == 3;
  }
  return all;
}

void expect_in_bounds(const load_average& a) {
  const std::uint64_t most = a.divider();
  RC_ASSERT(a.period_contrib < units_of_period);
  RC_ASSERT(a.load_sum <= most);
  RC_ASSERT(a.runnable_sum <= (most + scaled_excess) * 1024);
  RC_ASSERT(a.util_sum <= a.runnable_sum);
  RC_ASSERT(a.util_avg <= 1024U);
  RC_ASSERT(a.runnable_avg <= 1024U);
  RC_ASSERT(a.load_avg <= 1024U);
}

RC_GTEST_PROP(pelt_law, decay_follows_the_power_rounded_down, (std::uint64_t value)) {
  long double exact = static_cast<long double>(value);
  const long double y = std::exp2(-1.0L / 32);
  std::uint64_t last = value;
  for (std::uint64_t n = 0; n <= 2100; ++n) {
    const std::uint64_t got = decayed_sum(value, n);
    const long double slack = 2 + exact * 0x1p-30L;  // the factors are 32 bits wide
    RC_ASSERT(static_cast<long double>(got) <= exact + slack);
    RC_ASSERT(static_cast<long double>(got) >= (n > 2016 ? 0 : exact - slack));
    RC_ASSERT(got <= last);
    last = got;
    exact *= y;
  }
}

RC_GTEST_PROP(pelt_law, sums_stay_within_what_can_be_reached, (std::uint64_t seed)) {
  load_average a;
  std::uint64_t now = a.last_update_ns = 10 * ms;
  for (const stretch& s : history(seed, 600)) {
    now += s.ns;
    update_entity_average(a, now, nice_0_weight, s.how);
    expect_in_bounds(a);
  }
}

// Every step rounds down, by less than one unit, and what was lost decays too: with an update each
// unit at worst the sums miss the series by a few hundredths.
RC_GTEST_PROP(pelt_law, sums_follow_the_exact_series, (std::uint64_t seed)) {
  load_average a;
  std::uint64_t now = a.last_update_ns = 10 * ms / unit * unit;
  exact_series util, load;
  for (const stretch& s : history(seed, 600)) {
    now += s.ns;
    const std::uint64_t units = (now - a.last_update_ns) / unit;
    update_entity_average(a, now, nice_0_weight, s.how);
    util.passes(units, s.how.running);
    load.passes(units, s.how.queued);
    const auto util_error = static_cast<long double>(a.util_sum) / 1024 - util.sum();
    const auto load_error = static_cast<long double>(a.load_sum) - load.sum();
    RC_ASSERT(util_error <= 5 && util_error >= -60);
    RC_ASSERT(load_error <= 5 && load_error >= -110);
  }
}

// Whoever was active whenever another was has no smaller sum at any time.
RC_GTEST_PROP(pelt_law, more_activity_never_counts_less, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  load_average more, less;
  std::uint64_t now = more.last_update_ns = less.last_update_ns = 10 * ms;
  for (const stretch& s : history(seed, 600)) {
    now += s.ns;
    const bool also = random() % 2 == 0;
    update_entity_average(more, now, nice_0_weight, s.how);
    update_entity_average(less, now, nice_0_weight, also ? s.how : entity_activity{});
    RC_ASSERT(more.load_sum >= less.load_sum);
    RC_ASSERT(more.runnable_sum >= less.runnable_sum);
    RC_ASSERT(more.util_sum >= less.util_sum);
    RC_ASSERT(more.util_avg >= less.util_avg);
  }
}

RC_GTEST_PROP(pelt_law, idle_only_decays_and_always_running_only_grows, (std::uint64_t seed)) {
  load_average idle, hog;
  std::uint64_t now = idle.last_update_ns = hog.last_update_ns = 10 * ms;
  for (int i = 0; i < 2'000; ++i) {
    now += ms;
    update_entity_average(idle, now, nice_0_weight, {true, 1, true});
  }
  for (const stretch& s : history(seed, 300)) {
    now += s.ns;
    const load_average idle_before = idle;
    const load_average hog_before = hog;
    update_entity_average(idle, now, nice_0_weight, {});
    update_entity_average(hog, now, nice_0_weight, {true, 1, true});
    RC_ASSERT(idle.util_sum <= idle_before.util_sum);
    RC_ASSERT(idle.load_sum <= idle_before.load_sum);
    RC_ASSERT(idle.util_avg <= idle_before.util_avg);
    RC_ASSERT(hog.util_avg + 1 >= hog_before.util_avg);  // one: rounding when a period ends
  }
  RC_ASSERT(hog.util_avg >= idle.util_avg);
}

// How finely time is cut changes the averages by what rounding loses, and no more.
RC_GTEST_PROP(pelt_law, updates_between_hardly_matter, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  load_average often, seldom;
  std::uint64_t now = often.last_update_ns = seldom.last_update_ns = 10 * ms / unit * unit;
  for (const stretch& s : history(seed, 200)) {
    const std::uint64_t end = now + s.ns / unit * unit;
    while (now < end) {
      now = std::min(end, now + (1 + random() % (4 * ms)) / unit * unit + unit);
      update_entity_average(often, now, nice_0_weight, s.how);
    }
    update_entity_average(seldom, now, nice_0_weight, s.how);
    RC_ASSERT(often.util_sum <= seldom.util_sum + 60 * 1024);
    RC_ASSERT(seldom.util_sum <= often.util_sum + 60 * 1024);
    RC_ASSERT(often.period_contrib == seldom.period_contrib);
  }
}

// A queue at the heaviest load whose sum fits 32 bits.
RC_GTEST_PROP(pelt_law, a_queue_counts_weights_and_tasks, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  const std::uint64_t load = 1 + random() % 88'761;
  const std::uint64_t tasks = 1 + random() % 50;
  load_average a;
  std::uint64_t now = a.last_update_ns = 10 * ms;
  for (int i = 0; i < 2'000; ++i) {
    now += 1 + random() % (4 * ms);
    update_queue_average(a, now, load << weight_resolution_bits, tasks, true);
    const std::uint64_t small = std::max<std::uint64_t>(load, 2);
    RC_ASSERT(a.load_sum <= small * (a.divider() + scaled_excess));
    RC_ASSERT(a.load_sum <= 0xffffffffU);
    RC_ASSERT(a.load_avg <= small + small * scaled_excess / load_average_min + 1);
    RC_ASSERT(a.runnable_avg <= 1024 * tasks + 2 * tasks);
  }
  RC_ASSERT(a.load_avg * 100 >= std::max<std::uint64_t>(load, 2) * 99 - 99);
  RC_ASSERT(a.runnable_avg * 100 >= 1024 * tasks * 99);
}

// 100 days in ticks of 4 ms for an hour, then in stretches of up to 3 s; and across the end of the
// clock's positive half and of the clock.
TEST(pelt_long_run, days_change_nothing) {
  for (const std::uint64_t start : {10 * ms, (std::uint64_t{1} << 63) - 50 * day, 0 - 50 * day}) {
    load_average hog, half;
    std::uint64_t now = hog.last_update_ns = half.last_update_ns = start;
    const auto both = [&](std::uint64_t ns) {
      now += ns;
      update_entity_average(hog, now, nice_0_weight, {true, 1, true});
      update_entity_average(half, now, nice_0_weight, {true, 1, true});
      now += ns;
      update_entity_average(hog, now, nice_0_weight, {true, 1, true});
      update_entity_average(half, now, nice_0_weight, {});
    };
    for (int i = 0; i < 450'000; ++i) both(4 * ms);
    ASSERT_GE(hog.util_avg, 1022U);
    ASSERT_NEAR(static_cast<double>(half.util_avg), 490, 8);
    std::mt19937_64 random(7);
    for (std::uint64_t passed = 0; passed < 100 * day;) {
      const std::uint64_t ns = random() % (3'000 * ms);
      passed += 2 * ns;
      both(ns);
      ASSERT_LE(hog.util_sum, (hog.divider() + scaled_excess) * 1024);
      ASSERT_LE(hog.util_avg, 1024U);
      ASSERT_LE(half.util_sum, hog.util_sum);
      ASSERT_EQ(half.period_contrib, hog.period_contrib);
      ASSERT_GE(hog.util_avg, 1022U);
      ASSERT_LT(now - hog.last_update_ns, unit);
    }
  }
}

}  // namespace
}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "machine/figures.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace vlag {
namespace {

using durations = std::vector<std::uint64_t>;

duration_histogram histogram_of(const durations& values) {
  duration_histogram result;
  for (std::size_t i = 0; i < values.size(); ++i) result.add(values[i], i);
  return result;
}

// Every magnitude as likely as every other.
rc::Gen<durations> any_durations() {
  return rc::gen::container<durations>(rc::gen::apply(
      [](std::uint64_t bits, int shift) { return bits >> shift; },
      rc::gen::noShrink(rc::gen::arbitrary<std::uint64_t>()), rc::gen::inRange(1, 64)));
}

bool within_one_percent(std::uint64_t found, std::uint64_t exact) {
  const std::uint64_t difference = found > exact ? found - exact : exact - found;
  return difference <= exact / 100;
}

void expect_same(const duration_histogram& a, const duration_histogram& b) {
  RC_ASSERT(a.count() == b.count());
  RC_ASSERT(a.sum_ns() == b.sum_ns());
  RC_ASSERT(a.min_ns() == b.min_ns());
  RC_ASSERT(a.max_ns() == b.max_ns());
  for (unsigned q = 0; q <= 1000; q += 25) RC_ASSERT(a.quantile_ns(q) == b.quantile_ns(q));
  const double of_a = std::sqrt(a.variance());
  const double of_b = std::sqrt(b.variance());
  RC_ASSERT(std::abs(of_a - of_b) <= 1e-6 * std::max(of_a, of_b));
}

TEST(histogram, quantiles_are_within_one_percent_of_an_exact_sort) {
  EXPECT_TRUE(rc::check([] {
    durations values = *any_durations();
    RC_PRE(!values.empty());
    const duration_histogram found = histogram_of(values);
    std::sort(values.begin(), values.end());
    for (const unsigned per_mille : {0U, 1U, 10U, 250U, 500U, 900U, 990U, 999U, 1000U}) {
      const std::size_t rank = std::max<std::size_t>((values.size() * per_mille + 999) / 1000, 1);
      RC_ASSERT(within_one_percent(found.quantile_ns(per_mille), values[rank - 1]));
    }
    RC_ASSERT(found.min_ns() == values.front());
    RC_ASSERT(found.max_ns() == values.back());
    RC_ASSERT(found.quantile_ns(1000) <= found.max_ns());
  }));
}

// More buckets in use than are kept as a list.
TEST(histogram, many_different_durations_are_counted_as_well_as_few) {
  duration_histogram few;
  duration_histogram many;
  for (std::uint64_t i = 0; i < 5'000; ++i) {
    many.add(i * i);
    if (i % 100 == 0) few.add(i * i);
  }
  EXPECT_LT(few.buckets().size(), 64U);
  EXPECT_GT(many.buckets().size(), 500U);
  for (const unsigned per_mille : {10U, 500U, 999U}) {
    const std::uint64_t rank = 5 * per_mille - 1;
    EXPECT_TRUE(within_one_percent(many.quantile_ns(per_mille), rank * rank)) << per_mille;
  }
  duration_histogram merged = few;
  merged.merge(many);
  EXPECT_EQ(merged.count(), 5'050U);
  EXPECT_EQ(merged.buckets().size(), many.buckets().size());
}

TEST(histogram, quantiles_never_fall_as_the_rank_rises) {
  EXPECT_TRUE(rc::check([] {
    const duration_histogram found = histogram_of(*any_durations());
    for (unsigned q = 1; q <= 1000; ++q)
      RC_ASSERT(found.quantile_ns(q - 1) <= found.quantile_ns(q));
  }));
}

TEST(histogram, merging_is_adding_all) {
  EXPECT_TRUE(rc::check([] {
    const durations first = *any_durations();
    const durations second = *any_durations();
    duration_histogram merged = histogram_of(first);
    merged.merge(histogram_of(second));
    durations all = first;
    all.insert(all.end(), second.begin(), second.end());
    expect_same(merged, histogram_of(all));
  }));
}

TEST(histogram, buckets_hold_every_value_once_and_none_overlaps) {
  EXPECT_TRUE(rc::check([] {
    durations values = *any_durations();
    std::uint64_t total = 0;
    std::uint64_t previous_high = 0;
    for (const auto& b : histogram_of(values).buckets()) {
      RC_ASSERT(b.low_ns >= previous_high);
      RC_ASSERT(b.high_ns > b.low_ns);
      RC_ASSERT(b.high_ns - b.low_ns <= 1 + b.low_ns / 64);
      const auto inside = std::count_if(values.begin(), values.end(), [&](std::uint64_t v) {
        return v >= b.low_ns && v < b.high_ns;
      });
      RC_ASSERT(b.count == static_cast<std::uint64_t>(inside));
      previous_high = b.high_ns;
      total += b.count;
    }
    RC_ASSERT(total == values.size());
  }));
}

TEST(histogram, empty_is_all_zero) {
  const duration_histogram empty;
  EXPECT_EQ(empty.count(), 0U);
  EXPECT_EQ(empty.mean_ns(), 0U);
  EXPECT_EQ(empty.min_ns(), 0U);
  EXPECT_EQ(empty.quantile_ns(500), 0U);
  EXPECT_EQ(empty.variance(), 0.0);
  EXPECT_TRUE(empty.buckets().empty());
}

TEST(histogram, holds_the_least_and_the_greatest_durations) {
  constexpr std::uint64_t greatest = std::uint64_t{1} << 63;
  const duration_histogram found = histogram_of({0, greatest});
  EXPECT_EQ(found.quantile_ns(500), 0U);
  EXPECT_EQ(found.quantile_ns(1000), greatest);
  EXPECT_EQ(found.max_at_ns(), 1U);
  ASSERT_EQ(found.buckets().size(), 2U);
  EXPECT_EQ(found.buckets()[0].high_ns, 1U);
  EXPECT_LE(found.buckets()[1].low_ns, greatest);
}

TEST(histogram, remembers_when_the_first_of_the_greatest_was) {
  duration_histogram found;
  found.add(5, 100);
  found.add(9, 200);
  found.add(9, 300);
  found.add(7, 400);
  EXPECT_EQ(found.max_at_ns(), 200U);
}

TEST(histogram, variance_is_that_of_a_sample) {
  const duration_histogram found = histogram_of({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_NEAR(found.variance(), 32.0 / 7, 1e-12);
  EXPECT_EQ(found.mean_ns(), 5U);
}

TEST(task_figures, a_wait_under_way_at_the_end_counts_when_it_is_the_longest) {
  task_figures starving;
  starving.add_open_wait(1'000, 5'000'000, false);
  EXPECT_EQ(starving.preempt_wait.count(), 1U);
  EXPECT_EQ(starving.preempt_wait.max_ns(), 4'999'000U);
  EXPECT_EQ(starving.max_wait_from_ns, 1'000U);

  task_figures served;
  served.wake_latency.add(700, 9'000);
  served.max_wait_from_ns = 8'300;
  served.max_wait_to_ns = 9'000;
  served.add_open_wait(9'500, 10'000, true);
  EXPECT_EQ(served.wake_latency.count(), 1U);
}

}  // namespace
}  // namespace vlag

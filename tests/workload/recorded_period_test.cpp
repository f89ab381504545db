// SPDX-License-Identifier: Apache-2.0
#include "workload/recorded_period.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace vlag {
namespace {

constexpr std::uint64_t us = 1000;
constexpr std::uint64_t ms = 1'000'000;

// Wakes at these moments after having slept that long.
class wakes {
 public:
  wakes& add(std::uint64_t woken_ns, std::uint64_t slept_ns) {
    list_.push_back({list_.size(), woken_ns - slept_ns, woken_ns});
    return *this;
  }
  [[nodiscard]] std::optional<wake_period> period() const { return find_period(list_); }

 private:
  std::vector<external_wake> list_;
};

TEST(recorded_period, a_sleeper_to_the_next_multiple) {
  wakes w;
  for (std::uint64_t i = 1; i <= 8; ++i) w.add(i * 10 * ms + 3 * ms, 2 * ms + i * 500 * us);
  const auto got = w.period();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->period_ns, 10 * ms);
  EXPECT_EQ(got->first_ns % (10 * ms), 3 * ms);
  EXPECT_TRUE(got->takes_next);
}

TEST(recorded_period, seven_wake_ups_are_too_few) {
  wakes w;
  for (std::uint64_t i = 1; i <= 7; ++i) w.add(i * 10 * ms, 2 * ms + i * 500 * us);
  EXPECT_FALSE(w.period());
  EXPECT_FALSE(find_period({}));
}

TEST(recorded_period, multiples_are_left_out_by_a_task_that_overruns) {
  wakes w;
  for (const std::uint64_t i : {1U, 2U, 3U, 5U, 6U, 9U, 10U, 11U, 12U, 13U}) {
    w.add(i * 10 * ms, 2 * ms + i * 300 * us);
  }
  const auto got = w.period();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->period_ns, 10 * ms);
  EXPECT_TRUE(got->takes_next);
}

TEST(recorded_period, a_task_that_picks_its_multiples_itself) {
  wakes w;
  for (const std::uint64_t i : {1U, 2U, 3U, 4U, 6U, 9U, 10U, 11U, 12U}) {
    w.add(i * 10 * ms, i == 9 ? 28 * ms : 5 * ms + i * 300 * us);
  }
  const auto got = w.period();
  ASSERT_TRUE(got);
  EXPECT_FALSE(got->takes_next);
}

TEST(recorded_period, a_sleep_of_one_length_is_none) {
  wakes constant_work;
  for (std::uint64_t i = 1; i <= 20; ++i) constant_work.add(i * 10 * ms, 8 * ms);
  EXPECT_FALSE(constant_work.period());
  wakes varying_work;
  std::uint64_t at = 0;
  for (std::uint64_t i = 1; i <= 20; ++i) varying_work.add(at += 8 * ms + i * 200 * us, 8 * ms);
  EXPECT_FALSE(varying_work.period());
}

TEST(recorded_period, jitter_within_one_per_cent_is_tolerated) {
  for (const std::uint64_t jitter_us : {90U, 120U}) {
    wakes w;
    for (std::uint64_t i = 1; i <= 21; ++i) {
      w.add(i * 10 * ms + (i % 3 == 1 ? jitter_us * us : 0), 2 * ms + i * 100 * us);
    }
    EXPECT_EQ(w.period().has_value(), jitter_us == 90) << jitter_us;
  }
}

TEST(recorded_period, jitter_is_never_tolerated_beyond_200_us) {
  for (const std::uint64_t jitter_us : {150U, 260U}) {
    wakes w;
    for (std::uint64_t i = 1; i <= 21; ++i) {
      w.add(i * 100 * ms + (i % 3 == 1 ? jitter_us * us : 0), 2 * ms + i * 1000 * us);
    }
    EXPECT_EQ(w.period().has_value(), jitter_us == 150) << jitter_us;
  }
}

TEST(recorded_period, of_many_wake_ups_stays_exact) {
  constexpr std::uint64_t period = 16'666'667;
  wakes w;
  for (std::uint64_t i = 1; i <= 20'000; ++i) w.add(i * period + i % 5 * us, 2 * ms + i % 7 * ms);
  const auto got = w.period();
  ASSERT_TRUE(got);
  EXPECT_NEAR(static_cast<double>(got->period_ns), static_cast<double>(period), 1.0);
}

TEST(recorded_period, wake_ups_at_one_moment_have_none) {
  wakes w;
  for (std::uint64_t i = 1; i <= 20; ++i) w.add(10 * ms, i * us);
  EXPECT_FALSE(w.period());
}

}  // namespace
}  // namespace vlag

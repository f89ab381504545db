// SPDX-License-Identifier: Apache-2.0
#include "vlag/profile.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace vlag::test {
namespace {

TEST(profile, is_found_by_name_and_no_other) {
  ASSERT_NE(find_profile("linux-6.12"), nullptr);
  EXPECT_EQ(find_profile("linux-6.12")->reference, "Linux 6.12.117");
  ASSERT_NE(find_profile("linux-6.1"), nullptr);
  EXPECT_EQ(find_profile("linux-6.1")->engine, fair_engine::cfs);
  EXPECT_EQ(find_profile("linux-6"), nullptr);
}

TEST(profile, scales_its_constants_with_the_cpus) {
  const profile& eevdf = *find_profile("linux-6.12");
  constexpr std::uint64_t expected_us[] = {700, 1400, 1400, 2100, 2100, 2100, 2100, 2800, 2800};
  for (unsigned cpus = 1; cpus <= 9; ++cpus) {
    EXPECT_EQ(configure(eevdf, cpus, 4'000'000).eevdf.base_slice_ns, expected_us[cpus - 1] * 1000);
  }
  const cfs_config cfs = configure(*find_profile("linux-6.1"), 8, 1'000'000).cfs;
  EXPECT_EQ(cfs.latency_ns, 24'000'000U);
  EXPECT_EQ(cfs.min_granularity_ns, 3'000'000U);
  EXPECT_EQ(cfs.wakeup_granularity_ns, 4'000'000U);
  EXPECT_EQ(cfs.idle_min_granularity_ns, 750'000U);
  EXPECT_EQ(cfs.nr_latency, 8U);
}

TEST(profile, every_constant_can_be_set_within_its_range_only) {
  for (const profile& p : all_profiles()) {
    policy_config config = configure(p, 1, 4'000'000);
    for (const constant_info& row : all_constants()) {
      if (row.engine != p.engine) {
        if (find_constant(p.engine, row.name) != nullptr) continue;
        EXPECT_EQ(set_constant(config, row.name, row.minimum), set_result::unknown_name);
        continue;
      }
      const std::uint64_t other =
          constant_value(config, row) == row.maximum ? row.minimum : row.maximum;
      EXPECT_EQ(set_constant(config, row.name, other), set_result::ok);
      EXPECT_EQ(constant_value(config, row), other) << row.name;
      EXPECT_EQ(set_constant(config, row.name, row.maximum + 1), set_result::out_of_range);
      if (row.minimum > 0) {
        EXPECT_EQ(set_constant(config, row.name, row.minimum - 1), set_result::out_of_range);
      }
      EXPECT_EQ(constant_value(config, row), other) << row.name;
    }
  }
  policy_config config = configure(*find_profile("linux-6.12"), 1, 4'000'000);
  EXPECT_EQ(set_constant(config, "base_slices", 1), set_result::unknown_name);
}

TEST(profile, every_feature_can_be_switched) {
  for (const feature_info& row : all_features()) {
    policy_config config;
    config.engine = row.engine;
    const auto now = [&] { return config.features().has(row.id); };
    EXPECT_EQ(now(), row.default_on) << row.name;
    EXPECT_EQ(set_feature(config, row.name, !row.default_on), set_result::ok);
    EXPECT_EQ(now(), !row.default_on) << row.name;
    EXPECT_EQ(find_feature(row.engine, row.name), &row);
  }
  policy_config config;
  EXPECT_EQ(set_feature(config, "LAST_BUDDY", true), set_result::unknown_name);  // CFS only
  EXPECT_EQ(set_feature(config, "NO_PLACE_LAG", true), set_result::unknown_name);
}

TEST(profile, the_newest_kernel_has_all_features_on_but_a_few) {
  const std::set<std::string_view> off{"NEXT_BUDDY", "TICK_REPICK", "FAIR_SLEEPERS"};
  for (const feature_info& row : all_features()) {
    const bool of_sleepers = row.id == feature::gentle_fair_sleepers;
    const bool expected = of_sleepers ? row.engine == fair_engine::cfs : !off.contains(row.name);
    EXPECT_EQ(row.default_on, expected) << row.name;
  }
}

TEST(profile, older_eevdf_kernels_lack_what_came_later) {
  const feature_set first = configure(*find_profile("linux-6.6"), 1, 4'000'000).features();
  const feature_set posted = configure(*find_profile("eevdf-rfc"), 1, 4'000'000).features();
  for (const feature f : {feature::delay_dequeue, feature::delay_zero, feature::preempt_short,
                          feature::own_slice, feature::yield_to_deadline}) {
    EXPECT_FALSE(first.has(f) || posted.has(f));
  }
  for (const feature f : {feature::run_to_parity, feature::place_lag_inflate, feature::lag_clamp,
                          feature::place_deadline_initial}) {
    EXPECT_TRUE(first.has(f));
    EXPECT_FALSE(posted.has(f));
  }
  EXPECT_TRUE(posted.has(feature::tick_repick) && posted.has(feature::latency_slice));
  EXPECT_FALSE(first.has(feature::tick_repick) || first.has(feature::latency_slice));
}

TEST(profile, the_base_slice_is_each_kernels_own) {
  constexpr std::uint64_t unscaled_us[] = {750, 1500, 1500, 2250, 2250, 2250, 2250, 3000};
  for (const char* name : {"linux-6.6", "eevdf-rfc"}) {
    for (unsigned cpus = 1; cpus <= 8; ++cpus) {
      EXPECT_EQ(configure(*find_profile(name), cpus, 4'000'000).eevdf.base_slice_ns,
                unscaled_us[cpus - 1] * 1000);
    }
  }
}

TEST(profile, rows_are_complete_and_names_unique) {
  std::set<std::string> seen;
  for (const feature_info& row : all_features()) {
    EXPECT_TRUE(
        seen.insert(std::to_string(static_cast<int>(row.engine)) + std::string(row.name)).second);
    EXPECT_FALSE(row.meaning.empty() || row.since.empty());
  }
  for (const constant_info& row : all_constants()) {
    EXPECT_TRUE(
        seen.insert(std::to_string(static_cast<int>(row.engine)) + std::string(row.name)).second);
    EXPECT_FALSE(row.meaning.empty() || row.since.empty());
    EXPECT_LE(row.minimum, row.maximum);
  }
}

}  // namespace
}  // namespace vlag::test

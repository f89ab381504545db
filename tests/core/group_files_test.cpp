// SPDX-License-Identifier: Apache-2.0
//
// The attributes of a group as the text of cgroup files.
#include "core/grouped_cpu.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace vlag::test {
namespace {

class group_files : public testing::Test {
 protected:
  group_error set(std::string_view file, std::string_view text) { return g.set(file, text, 0); }
  std::string get(std::string_view file) const { return grouped_cpu::text(g, file); }

  grouped_cpu cpu;
  task_group& g = cpu.group();
};

TEST_F(group_files, have_the_defaults_of_a_new_cgroup) {
  EXPECT_EQ(get("cpu.weight"), "100");
  EXPECT_EQ(get("cpu.weight.nice"), "0");
  EXPECT_EQ(get("cpu.shares"), "1024");
  EXPECT_EQ(get("cpu.idle"), "0");
  EXPECT_EQ(get("cpu.latency.nice"), "0");
  EXPECT_EQ(get("cpu.max"), "max 100000");
  EXPECT_EQ(get("cpu.max.burst"), "0");
  EXPECT_EQ(get("cpu.stat"), "nr_periods 0\nnr_throttled 0");
}

TEST_F(group_files, weight_is_shares_in_hundredths_of_the_default) {
  EXPECT_EQ(set("cpu.weight", " 300\n"), group_error::none);
  EXPECT_EQ(g.shares(), 3072U << 10U);
  EXPECT_EQ(get("cpu.weight"), "300");
  EXPECT_EQ(set("cpu.weight", "1"), group_error::none);
  EXPECT_EQ(get("cpu.shares"), "10");
  EXPECT_EQ(set("cpu.weight", "0x10"), group_error::none);
  EXPECT_EQ(get("cpu.weight"), "16");
  EXPECT_EQ(set("cpu.weight", "010"), group_error::none);
  EXPECT_EQ(get("cpu.weight"), "8");
}

TEST_F(group_files, every_weight_reads_as_written) {
  for (int weight = 1; weight <= 10'000; ++weight) {
    ASSERT_EQ(set("cpu.weight", std::to_string(weight)), group_error::none);
    ASSERT_EQ(get("cpu.weight"), std::to_string(weight));
  }
}

TEST_F(group_files, every_nice_level_reads_as_written) {
  for (int nice = min_nice; nice <= max_nice; ++nice) {
    ASSERT_EQ(set("cpu.weight.nice", std::to_string(nice)), group_error::none);
    EXPECT_EQ(get("cpu.weight.nice"), std::to_string(nice));
    EXPECT_EQ(g.shares(), weight_of_nice(nice).full);
  }
}

TEST_F(group_files, shares_are_clamped) {
  EXPECT_EQ(set("cpu.shares", "0"), group_error::none);
  EXPECT_EQ(get("cpu.shares"), "2");
  EXPECT_EQ(set("cpu.shares", "18446744073709551615"), group_error::none);
  EXPECT_EQ(get("cpu.shares"), "262144");
}

TEST_F(group_files, a_bad_number_is_invalid_and_one_out_of_range_says_so) {
  struct bad {
    const char* file;
    const char* text;
    group_error answer;
  };
  constexpr auto invalid = group_error::invalid;
  constexpr auto range = group_error::out_of_range;
  const std::array cases = {
      bad{"cpu.weight", "", invalid},
      bad{"cpu.weight", "ten", invalid},
      bad{"cpu.weight", "1 2", invalid},
      bad{"cpu.weight", "-1", invalid},
      bad{"cpu.weight", "1.5", invalid},
      bad{"cpu.weight", "+", invalid},
      bad{"cpu.weight", "0x", invalid},
      bad{"cpu.weight", "--1", invalid},
      bad{"cpu.weight", "0", range},
      bad{"cpu.weight", "10001", range},
      bad{"cpu.weight", "18446744073709551616", range},
      bad{"cpu.weight.nice", "-21", range},
      bad{"cpu.weight.nice", "20", range},
      bad{"cpu.weight.nice", "9223372036854775808", range},
      bad{"cpu.weight.nice", "-9223372036854775809", range},
      bad{"cpu.idle", "2", invalid},
      bad{"cpu.idle", "-1", invalid},
      bad{"cpu.latency.nice", "20", range},
      bad{"cpu.latency.nice", "-21", range},
      bad{"cpu.latency.nice", "x", invalid},
      bad{"cpu.max", "", invalid},
      bad{"cpu.max", "maximum", invalid},
      bad{"cpu.max", "999", invalid},
      bad{"cpu.max", "1000 999", invalid},
      bad{"cpu.max", "1000 1000001", invalid},
      bad{"cpu.max", "1000 1000 1000", invalid},
      bad{"cpu.max", "max x", invalid},
      bad{"cpu.max", "18446744073709551615", invalid},
      bad{"cpu.max.burst", "-1", invalid},
      bad{"cpu.stat", "0", group_error::not_allowed},
      bad{"cpu.weights", "1", group_error::no_such_file},
      bad{"", "1", group_error::no_such_file},
  };
  ASSERT_EQ(set("cpu.weight", "200"), group_error::none);
  for (const bad& c : cases) EXPECT_EQ(set(c.file, c.text), c.answer) << c.file << ": " << c.text;
  EXPECT_EQ(get("cpu.weight"), "200");
  EXPECT_EQ(get("cpu.idle"), "0");
  EXPECT_EQ(get("cpu.latency.nice"), "0");
  EXPECT_EQ(get("cpu.max"), "max 100000");
}

TEST_F(group_files, max_takes_a_quota_with_or_without_a_period) {
  EXPECT_EQ(set("cpu.max", "50000 200000"), group_error::none);
  EXPECT_EQ(get("cpu.max"), "50000 200000");
  EXPECT_EQ(set("cpu.max", "70000"), group_error::none);
  EXPECT_EQ(get("cpu.max"), "70000 200000");
  EXPECT_EQ(set("cpu.max.burst", "10000"), group_error::none);
  EXPECT_EQ(set("cpu.max.burst", "70001"), group_error::invalid);
  EXPECT_EQ(get("cpu.max.burst"), "10000");
  EXPECT_EQ(set("cpu.max", "max"), group_error::none);
  EXPECT_EQ(get("cpu.max"), "max 200000");
  EXPECT_EQ(set("cpu.max", "max 5000\n"), group_error::none);
  EXPECT_EQ(get("cpu.max"), "max 5000");
}

TEST_F(group_files, latency_nice_reads_as_written) {
  EXPECT_EQ(set("cpu.latency.nice", "-20"), group_error::none);
  EXPECT_EQ(get("cpu.latency.nice"), "-20");
  EXPECT_EQ(set("cpu.latency.nice", "+19"), group_error::none);
  EXPECT_EQ(get("cpu.latency.nice"), "19");
}

TEST_F(group_files, of_the_root_cannot_be_written) {
  task_group& root = cpu.tree.root();
  for (const char* file : {"cpu.weight", "cpu.shares", "cpu.idle", "cpu.max.burst"}) {
    EXPECT_EQ(root.set(file, "1", 0), group_error::invalid) << file;
  }
  EXPECT_EQ(root.set("cpu.weight.nice", "0", 0), group_error::invalid);
  EXPECT_EQ(root.set("cpu.latency.nice", "0", 0), group_error::invalid);
  EXPECT_EQ(root.set("cpu.max", "max", 0), group_error::invalid);
  EXPECT_EQ(root.set("cpu.weight", "0", 0), group_error::out_of_range);
}

TEST_F(group_files, a_buffer_that_is_too_small_is_left_out_of_range) {
  std::array<char, 3> small{};
  const group_text fits = g.get("cpu.weight", small);
  EXPECT_EQ(fits.error, group_error::none);
  EXPECT_EQ(std::string(small.data(), fits.size), "100");
  EXPECT_EQ(g.get("cpu.max", small).error, group_error::out_of_range);
  EXPECT_EQ(g.get("cpu.min", small).error, group_error::no_such_file);
}

}  // namespace
}  // namespace vlag::test

// SPDX-License-Identifier: Apache-2.0
#include "scenario.hpp"

#include <gtest/gtest.h>

namespace vlag::test {
namespace {

// One of each engine.
std::vector<const char*> group_profiles() { return {"linux-6.12", "linux-6.1"}; }

class grouped_scenario : public scenario {
 public:
  explicit grouped_scenario(const char* profile_name = "linux-6.12", unsigned cpus = 1)
      : scenario(profile_name, cpus, 64, 16) {}

  std::uint32_t add_group(const std::string& path, std::vector<group_file> files = {}) {
    const auto made = simulated().add_group({path, std::move(files)});
    EXPECT_EQ(made.error, group_error::none) << path;
    return made.number;
  }
  std::uint32_t add_hog_in(std::uint32_t group, unsigned cpu = 0) {
    return add_in(group, {run_forever()}, cpu);
  }
  std::uint32_t add_in(std::uint32_t group, program steps, unsigned cpu = 0) {
    task_setup setup;
    setup.steps = std::move(steps);
    setup.group = group;
    setup.cpu = cpu;
    return add(std::move(setup));
  }
  [[nodiscard]] group_figures of_group(std::uint32_t group) const {
    return figures().groups.at(group - 1);
  }
  [[nodiscard]] double share_of(std::uint32_t group) const {
    const run_figures f = figures();
    return static_cast<double>(f.groups.at(group - 1).cpu_ns) /
           static_cast<double>(f.to_ns - f.from_ns);
  }
};

TEST(groups, share_by_weight_whatever_is_inside) {
  for (const char* profile_name : group_profiles()) {
    grouped_scenario one(profile_name);
    const auto small = one.add_group("/small", {{"cpu.weight", "100"}});
    const auto large = one.add_group("/large", {{"cpu.weight", "300"}});
    for (int i = 0; i < 3; ++i) one.add_hog_in(small);
    one.add_hog_in(large);
    one.run_until(40 * s);
    EXPECT_NEAR(one.share_of(small), 0.25, 0.002) << profile_name;
    EXPECT_NEAR(one.share_of(large), 0.75, 0.002) << profile_name;
    EXPECT_NEAR(static_cast<double>(one.cpu_ns(0)), 40e9 / 12, 40e6) << profile_name;
  }
}

TEST(groups, nest_and_count_with_their_parents) {
  for (const char* profile_name : group_profiles()) {
    grouped_scenario one(profile_name);
    const auto outer = one.add_group("/a");
    const auto inner = one.add_group("/a/b", {{"cpu.weight", "300"}});
    one.add_hog_in(outer);
    one.add_hog_in(inner);
    one.add_hog();
    one.run_until(40 * s);
    EXPECT_NEAR(one.share_of(outer), 0.5, 0.002) << profile_name;
    EXPECT_NEAR(one.share_of(inner), 0.375, 0.002) << profile_name;
    EXPECT_EQ(one.of_group(outer).switches_in, one.of(0).switches_in + one.of(1).switches_in);
    EXPECT_EQ(one.of_group(inner).cpu_ns, one.cpu_ns(1));
    EXPECT_EQ(one.of_group(outer).preempt_wait.count(),
              one.of(0).preempt_wait.count() + one.of(1).preempt_wait.count());
  }
}

TEST(groups, weights_written_while_they_run_take_effect) {
  grouped_scenario one;
  const auto a = one.add_group("/a");
  const auto b = one.add_group("/b");
  one.add_hog_in(a);
  one.add_hog_in(b);
  one.run_until(10 * s);
  EXPECT_NEAR(one.share_of(a), 0.5, 0.002);
  EXPECT_EQ(one.simulated().set_group_file(a, {"cpu.weight", "900"}), group_error::none);
  one.simulated().reset_figures();
  one.run_until(50 * s);
  EXPECT_NEAR(one.share_of(a), 0.9, 0.002);
}

TEST(groups, a_program_writes_to_a_groups_file) {
  grouped_scenario one;
  const auto a = one.add_group("/a");
  const auto b = one.add_group("/b");
  const auto write = one.simulated().add_group_write({a, {"cpu.weight", "300"}});
  one.add_in(a, {run(1 * s), {op_kind::write_group, write, 0}, run_forever()});
  one.add_hog_in(b);
  one.run_until(2 * s);
  one.simulated().reset_figures();
  one.run_until(42 * s);
  EXPECT_NEAR(one.share_of(a), 0.75, 0.002);
}

TEST(groups, a_refused_write_of_a_program_is_counted) {
  grouped_scenario one;
  const auto a = one.add_group("/a");
  const auto write = one.simulated().add_group_write({a, {"cpu.weight", "0"}});
  one.add_in(a, {{op_kind::write_group, write, 0}, run_forever()});
  one.run_until(1 * s);
  ASSERT_EQ(one.figures().anomalies.size(), 1U);
  EXPECT_EQ(one.figures().anomalies[0].second, 1U);
  EXPECT_EQ(one.simulated().group(a).shares(), nice_0_weight);
}

TEST(groups, refuse_wrong_files_paths_and_more_than_there_is_room_for) {
  grouped_scenario one;
  machine& m = one.simulated();
  EXPECT_EQ(m.add_group({"a", {}}).error, group_error::invalid);
  EXPECT_EQ(m.add_group({"/", {}}).error, group_error::invalid);
  EXPECT_EQ(m.add_group({"/a/", {}}).error, group_error::invalid);
  EXPECT_EQ(m.add_group({"/a/b", {}}).error, group_error::invalid);
  const auto refused = m.add_group({"/a", {{"cpu.weight", "3"}, {"cpu.weight", "10001"}}});
  EXPECT_EQ(refused.error, group_error::out_of_range);
  EXPECT_EQ(refused.refused_file, 1U);
  EXPECT_EQ(m.find_group("/a"), no_group);
  EXPECT_EQ(m.groups(), 0U);
  for (std::uint32_t i = 1; i <= 16; ++i) one.add_group("/g" + std::to_string(i));
  EXPECT_EQ(m.add_group({"/g1", {}}).error, group_error::invalid);
  EXPECT_EQ(m.add_group({"/g17", {}}).error, group_error::no_memory);
  EXPECT_EQ(m.find_group("/g7"), 7U);
  EXPECT_EQ(m.set_group_file(7, {"cpu.max", "1 1"}), group_error::invalid);
  EXPECT_EQ(m.set_group_file(0, {"cpu.weight", "1"}), group_error::invalid);
}

TEST(groups, a_task_that_joins_another_group_counts_there_from_then_on) {
  for (const char* profile_name : group_profiles()) {
    grouped_scenario one(profile_name);
    const auto a = one.add_group("/a");
    const auto b = one.add_group("/b");
    one.add_in(a, {run(300 * ms), {op_kind::join_group, b, 0}, run_forever()});
    one.run_until(1 * s);
    EXPECT_EQ(one.of_group(a).cpu_ns, 300 * ms) << profile_name;
    EXPECT_EQ(one.of_group(b).cpu_ns, 700 * ms) << profile_name;
    EXPECT_EQ(one.of(0).group, b);
    EXPECT_EQ(one.simulated().group(a).nr_tasks(), 0U);
    EXPECT_EQ(one.simulated().group(b).nr_tasks(), 1U);
  }
}

TEST(groups, a_sleeping_and_a_waiting_task_can_be_moved) {
  grouped_scenario one;
  const auto a = one.add_group("/a");
  const auto b = one.add_group("/b");
  const auto sleeper = one.add_in(a, {sleep(500 * ms), run_forever()});
  const auto waiting = one.add_in(a, {run_forever()});
  one.add_in(a, {run_forever()});
  one.run_until(100 * ms + 1);
  one.simulated().move_to_group(sleeper, b);
  one.simulated().move_to_group(waiting, 0);
  one.run_until(500 * ms);
  one.simulated().reset_figures();
  one.run_until(30 * s + 500 * ms);
  for (std::uint32_t t = 0; t < 3; ++t) {
    EXPECT_NEAR(static_cast<double>(one.cpu_ns(t)), 10e9, 20e6) << t;
  }
}

TEST(bandwidth, a_quota_bounds_the_group_and_is_counted_as_cpu_stat_does) {
  for (const char* profile_name : group_profiles()) {
    grouped_scenario one(profile_name);
    const auto limited = one.add_group("/limited", {{"cpu.max", "20000 100000"}});
    one.add_hog_in(limited);
    const auto other = one.add_hog();
    one.run_until(10 * s);
    EXPECT_NEAR(one.share_of(limited), 0.2, 0.004) << profile_name;
    EXPECT_NEAR(static_cast<double>(one.cpu_ns(other)), 8e9, 40e6) << profile_name;
    const group_figures f = one.of_group(limited);
    EXPECT_NEAR(static_cast<double>(f.nr_periods), 100, 1) << profile_name;
    EXPECT_NEAR(static_cast<double>(f.nr_throttled), 100, 2) << profile_name;
    EXPECT_NEAR(static_cast<double>(f.throttled_ns), 6e9, 4e8) << profile_name;
  }
}

TEST(bandwidth, a_lone_throttled_task_leaves_the_cpu_idle_until_the_period_ends) {
  grouped_scenario one;
  const auto limited = one.add_group("/limited", {{"cpu.max", "50000 100000"}});
  one.add_hog_in(limited);
  one.run_until(10 * s);
  EXPECT_NEAR(one.share_of(limited), 0.5, 0.01);
  EXPECT_NEAR(static_cast<double>(one.figures().cpus[0].idle_ns), 5e9, 1e8);
  // It starts again when the pool is filled, not at a tick.
  const times starts = one.starts_of(0);
  ASSERT_GT(starts.size(), 50U);
  for (std::size_t i = 2; i < starts.size(); ++i) {
    EXPECT_EQ(starts[i] - starts[i - 1], 100 * ms) << i;
  }
}

TEST(bandwidth, a_limit_that_is_lifted_lets_the_group_go_on_at_once) {
  grouped_scenario one;
  const auto limited = one.add_group("/limited", {{"cpu.max", "1000 1000000"}});
  one.add_hog_in(limited);
  one.run_until(500 * ms);
  EXPECT_LT(one.of_group(limited).cpu_ns, 20 * ms);
  EXPECT_GT(one.of_group(limited).throttled_ns, 400 * ms);
  EXPECT_EQ(one.simulated().set_group_file(limited, {"cpu.max", "max"}), group_error::none);
  one.simulated().reset_figures();
  one.run_until(1 * s);
  EXPECT_EQ(one.of_group(limited).cpu_ns, 500 * ms);
  EXPECT_EQ(one.of_group(limited).throttled_ns, 0U);
}

TEST(bandwidth, a_burst_serves_what_was_not_used_before) {
  std::vector<std::uint64_t> got;
  for (const char* burst : {"0", "40000"}) {
    grouped_scenario one;
    const auto limited =
        one.add_group("/limited", {{"cpu.max", "40000 100000"}, {"cpu.max.burst", burst}});
    one.add_in(limited, {run(10 * ms), sleep(290 * ms), run(75 * ms), exit()});
    one.run_until(375 * ms + 4 * ms);
    got.push_back(one.of_group(limited).cpu_ns);
  }
  EXPECT_LT(got[0], 60 * ms);
  EXPECT_EQ(got[1], 85 * ms);
}

TEST(bandwidth, is_shared_by_the_cpus) {
  grouped_scenario two("linux-6.12", 2);
  const auto limited = two.add_group("/limited", {{"cpu.max", "100000 100000"}});
  two.add_hog_in(limited, 0);
  two.add_hog_in(limited, 1);
  two.run_until(10 * s);
  EXPECT_NEAR(two.share_of(limited), 1.0, 0.1);
}

}  // namespace
}  // namespace vlag::test

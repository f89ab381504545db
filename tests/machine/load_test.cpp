// SPDX-License-Identifier: Apache-2.0
//
// Load tracking in the machine: averages settle where the definition says, and groups divide their
// shares among CPUs by load.
#include "scenario.hpp"

#include <gtest/gtest.h>

namespace vlag::test {
namespace {

class tracked : public scenario {
 public:
  explicit tracked(const char* profile_name = "linux-6.12", unsigned cpus = 1)
      : scenario(profile_name, cpus, 64, 8) {
    config.track_load = true;
  }
  std::uint32_t add_hog_in(std::uint32_t group, unsigned cpu) {
    task_setup hog;
    hog.steps = {run_forever()};
    hog.group = group;
    hog.cpu = cpu;
    return add(std::move(hog));
  }
  std::uint32_t add_group(const std::string& path, std::vector<group_file> files = {}) {
    const auto made = simulated().add_group({path, std::move(files)});
    EXPECT_EQ(made.error, group_error::none);
    return made.number;
  }
  [[nodiscard]] double weight_of(std::uint32_t group, unsigned cpu) {
    return static_cast<double>(small_weight(simulated().group(group).part(cpu).weight.full));
  }
};

TEST(load, is_not_tracked_unless_asked_for) {
  scenario one;
  one.add_hog();
  one.run_until(1 * s);
  EXPECT_TRUE(one.figures().task_loads.empty());
  EXPECT_TRUE(one.figures().cpu_loads.empty());
}

TEST(load, of_a_lone_hog_is_full) {
  for (const char* profile_name : {"linux-6.12", "linux-6.1"}) {
    tracked one(profile_name);
    one.add_hog();
    one.run_until(2 * s);
    const run_figures f = one.figures();
    for (const load_figures& l : {f.task_loads.at(0), f.cpu_loads.at(0)}) {
      EXPECT_NEAR(static_cast<double>(l.util), 1024, 12);
      EXPECT_NEAR(static_cast<double>(l.runnable), 1024, 12);
      EXPECT_NEAR(static_cast<double>(l.load), 1024, 12);
    }
  }
}

TEST(load, of_two_hogs_is_half_the_util_and_full_runnable_each) {
  tracked one;
  one.add_hog();
  one.add_hog();
  one.run_until(2 * s);
  const run_figures f = one.figures();
  EXPECT_NEAR(static_cast<double>(f.task_loads[0].util), 512, 70);
  EXPECT_NEAR(static_cast<double>(f.task_loads[0].runnable), 1024, 12);
  EXPECT_NEAR(static_cast<double>(f.cpu_loads[0].util), 1024, 12);
  EXPECT_NEAR(static_cast<double>(f.cpu_loads[0].runnable), 2048, 24);
  EXPECT_NEAR(static_cast<double>(f.cpu_loads[0].load), 2048, 24);
}

TEST(load, of_a_periodic_task_is_its_part_of_the_time) {
  for (const char* profile_name : {"linux-6.12", "linux-6.1"}) {
    tracked one(profile_name);
    one.add({run(2 * ms), sleep(8 * ms), jump(0)});
    one.run_until(3 * s + 5 * ms);
    const run_figures f = one.figures();
    EXPECT_NEAR(static_cast<double>(f.task_loads[0].util), 205, 35);
    EXPECT_NEAR(static_cast<double>(f.task_loads[0].util_est), 215, 45);
    EXPECT_NEAR(static_cast<double>(f.cpu_loads[0].util), 205, 35);
  }
}

TEST(load, fades_when_a_task_has_left) {
  tracked one;
  one.add({run(1 * s), exit()});
  one.add_blocked({sleep(1100 * ms), run(1 * ms), sleep(1 * ms), jump(1)});
  one.run_until(1 * s + 1);
  EXPECT_GT(one.figures().cpu_loads[0].util, 1000U);
  one.run_until(1102 * ms);  // about 3 half-lives
  EXPECT_LT(one.figures().cpu_loads[0].util, 180U);
  EXPECT_EQ(one.figures().cpu_loads[0].util_est, one.figures().task_loads[1].util_est);
}

TEST(load, goes_with_a_task_to_another_cpu) {
  tracked two("linux-6.12", 2);
  two.add({run(500 * ms), sleep(1 * ms), move_to(1), run_forever()});
  two.run_until(520 * ms);
  const run_figures f = two.figures();
  EXPECT_GT(f.task_loads[0].util, 900U);
  EXPECT_GT(f.cpu_loads[1].util, 900U);
}

TEST(load, divides_a_groups_shares_by_its_load_on_each_cpu) {
  for (const char* profile_name : {"linux-6.12", "linux-6.1"}) {
    tracked two(profile_name, 2);
    const auto group = two.add_group("/a");
    for (int i = 0; i < 3; ++i) two.add_hog_in(group, 0);
    two.add_hog_in(group, 1);
    two.add_hog_in(0, 0);
    two.add_hog_in(0, 1);
    two.run_until(5 * s);
    EXPECT_NEAR(two.weight_of(group, 0), 768, 16) << profile_name;
    EXPECT_NEAR(two.weight_of(group, 1), 256, 16) << profile_name;
    // 768 beside 1024 on CPU 0, 256 beside 1024 on CPU 1.
    two.simulated().reset_figures();
    two.run_until(45 * s);
    EXPECT_NEAR(static_cast<double>(two.cpu_ns(4)), 40e9 * 1024 / 1792, 4e8) << profile_name;
    EXPECT_NEAR(static_cast<double>(two.cpu_ns(5)), 40e9 * 1024 / 1280, 4e8) << profile_name;
  }
}

TEST(load, a_groups_weight_follows_its_tasks) {
  tracked two("linux-6.12", 2);
  const auto group = two.add_group("/a", {{"cpu.weight", "200"}});
  task_setup first;
  first.group = group;
  first.steps = {run(2 * s), exit()};
  two.add(first);
  two.add_hog_in(group, 1);
  two.add_hog_in(0, 1);
  two.run_until(2 * s);
  EXPECT_NEAR(two.weight_of(group, 1), 1024, 40);
  two.run_until(4 * s);
  EXPECT_NEAR(two.weight_of(group, 1), 2048, 40);
  EXPECT_EQ(two.simulated().set_group_file(group, {"cpu.weight", "50"}), group_error::none);
  two.run_until(5 * s);
  EXPECT_NEAR(two.weight_of(group, 1), 512, 10);
}

TEST(load, tracking_changes_no_decision_on_one_cpu) {
  for (const char* profile_name : {"linux-6.12", "linux-6.1"}) {
    std::vector<switch_list> seen;
    for (const bool track : {false, true}) {
      tracked one(profile_name);
      one.config.track_load = track;
      const auto a = one.add_group("/a", {{"cpu.weight", "300"}});
      const auto b = one.add_group("/b", {{"cpu.max", "30000 50000"}});
      one.add_hog_in(a, 0);
      one.add_hog_in(b, 0);
      for (const std::uint32_t group : {0U, a, b}) {
        task_setup sleeper;
        sleeper.group = group;
        sleeper.steps = {run(700 * us), sleep(3 * ms + group * 100 * us), jump(0)};
        one.add(std::move(sleeper));
      }
      one.run_until(2 * s);
      seen.push_back(one.switches());
    }
    EXPECT_EQ(seen[0], seen[1]) << profile_name;
  }
}

}  // namespace
}  // namespace vlag::test

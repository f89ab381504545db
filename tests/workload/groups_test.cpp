// SPDX-License-Identifier: Apache-2.0
//
// Task groups in attributes files, in policy settings and in replays.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "input/input_error.hpp"
#include "input/scratch_file.hpp"
#include "report/self_check.hpp"
#include "trace/reader.hpp"
#include "workload/group_list.hpp"
#include "workload/recording_builder.hpp"
#include "workload/replay.hpp"

namespace vlag {
namespace {

using test::recording_builder;
using test::scratch_file;

recorded_attributes attributes(std::string_view content) {
  const scratch_file file(content);
  return read_attributes(file.path());
}

template <typename Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const input_error& e) {
    return e.what();
  }
  return "accepted";
}

std::string attributes_refusal(std::string_view content) {
  return refusal([&] { static_cast<void>(attributes(content)); });
}

std::string policy_refusal(const std::string& spec) {
  return refusal([&] { static_cast<void>(parse_variant(spec, {}, 1, 4'000'000)); });
}

void expect_says(const std::string& message, const std::vector<std::string>& parts) {
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
  }
}

TEST(group_paths, are_names_between_single_slashes) {
  for (const char* good : {"/", "/a", "/a/b", "/system.slice/x y"}) {
    EXPECT_TRUE(is_group_path(good)) << good;
  }
  for (const char* bad : {"", "a", "a/b", "//", "/a/", "/a//b"}) {
    EXPECT_FALSE(is_group_path(bad)) << bad;
  }
  EXPECT_FALSE(is_group_path("/" + std::string(1024, 'a')));
}

TEST(group_list, makes_parents_before_children) {
  group_list list;
  EXPECT_EQ(list.number_of("/a/b/c"), 3U);
  EXPECT_EQ(list.number_of("/a"), 1U);
  EXPECT_EQ(list.number_of("/"), 0U);
  EXPECT_EQ(list.parent_of(3), 2U);
  EXPECT_EQ(list.parent_of(1), 0U);
  EXPECT_TRUE(list.has("/a/b"));
  EXPECT_FALSE(list.has("/b"));
}

TEST(group_list, has_a_bound) {
  group_list list;
  for (std::size_t i = 0; i < max_workload_groups; ++i) list.number_of("/g" + std::to_string(i));
  expect_says(refusal([&] { list.number_of("/one/more"); }), {"more than 10000 task groups"});
}

TEST(group_attributes, are_read_with_the_names_of_the_files) {
  const recorded_attributes got = attributes(R"({"groups": [
    {"path": "/a", "cpu.weight": 300, "cpu.max": "50000 100000"}, {"path": "/b/c"}],
    "tasks": [{"name": "x", "group": "/a"}, {"pid": 3, "group": "/d"}]})");
  ASSERT_EQ(got.groups.all().size(), 4U);
  EXPECT_EQ(got.groups.all()[0].path, "/a");
  ASSERT_EQ(got.groups.all()[0].files.size(), 2U);
  EXPECT_EQ(got.groups.all()[0].files[0].name, "cpu.max");
  EXPECT_EQ(got.groups.all()[0].files[1].text, "300");
  EXPECT_EQ(got.groups.all()[1].path, "/b");
  EXPECT_EQ(got.groups.all()[3].path, "/d");
  EXPECT_EQ(got.tasks.at(0).group, "/a");
}

TEST(group_attributes, come_from_the_description_of_a_test_recording_too) {
  const recorded_attributes got = attributes(R"({
    "workload": "# two\ndur 3\ncgroup ga 100\ncgroup gb 300\ntask x cgroup=ga : run inf\n",
    "tasks_own_figures": [{"pid": 7, "cgroup": "gb"}, {"pid": 8, "cgroup": ""}, {"pid": 9}]})");
  ASSERT_EQ(got.groups.all().size(), 2U);
  EXPECT_EQ(got.groups.all()[1].path, "/gb");
  EXPECT_EQ(got.groups.all()[1].files.at(0).text, "300");
  ASSERT_EQ(got.tasks.size(), 1U);
  EXPECT_EQ(got.tasks[0].pattern, "7");
  EXPECT_EQ(got.tasks[0].group, "/gb");
}

TEST(group_attributes, that_are_wrong_are_refused_with_their_place) {
  expect_says(attributes_refusal(R"({"groups": {}})"), {"groups: expected a list"});
  expect_says(attributes_refusal(R"({"groups": [3]})"), {"groups[0]: expected an object"});
  expect_says(attributes_refusal(R"({"groups": [{"cpu.weight": 3}]})"), {"groups[0]", "path"});
  expect_says(attributes_refusal(R"({"groups": [{"path": "/"}]})"), {"groups[0]", "/a"});
  expect_says(attributes_refusal(R"({"groups": [{"path": "a"}]})"), {"groups[0]", "\"a\"", "/a/b"});
  expect_says(attributes_refusal(R"({"groups": [{"path": "/a", "cpu.weight": 0}]})"),
              {"groups[0]: cpu.weight cannot be '0'; expected 1..10000"});
  expect_says(attributes_refusal(R"({"groups": [{"path": "/a", "cpu.weight": [1]}]})"),
              {"groups[0]: 'cpu.weight': a list is neither a text nor a whole number"});
  expect_says(attributes_refusal(R"({"groups": [{"path": "/a", "cpu.wieght": 100}]})"),
              {"no file cpu.wieght; did you mean 'cpu.weight'?"});
  expect_says(attributes_refusal(R"({"groups": [{"path": "/a", "cpu.idle": 1, "cpu.weight": 9}]})"),
              {"an idle group has a fixed weight"});
  expect_says(attributes_refusal(R"({"tasks": [{"name": "x", "group": "a/b"}]})"),
              {"tasks[0].group: \"a/b\" is not a group"});
  expect_says(attributes_refusal(R"({"group": []})"), {"did you mean 'groups'?"});
  expect_says(attributes_refusal(R"({"tasks_own_figures": [{"pid": 7, "cgroup": "gb"}]})"),
              {"'gb' is not in the workload"});
}

TEST(group_settings, move_tasks_and_write_files) {
  const policy_variant v = parse_variant(
      "linux-6.12,x.group=/a,/a.cpu.max=50000 100000,/a/b.c.cpu.idle=1", {}, 1, 4'000'000);
  ASSERT_EQ(v.overrides.size(), 1U);
  EXPECT_EQ(v.overrides[0].attribute, task_attribute::group);
  EXPECT_EQ(v.overrides[0].group, "/a");
  ASSERT_EQ(v.group_files.size(), 2U);
  EXPECT_EQ(v.group_files[0].path, "/a");
  EXPECT_EQ(v.group_files[0].file.name, "cpu.max");
  EXPECT_EQ(v.group_files[0].file.text, "50000 100000");
  EXPECT_EQ(v.group_files[1].path, "/a/b.c");
  EXPECT_EQ(v.label, "linux-6.12,x.group=/a,/a.cpu.max=50000 100000,/a/b.c.cpu.idle=1");
}

TEST(group_settings, that_are_wrong_are_refused) {
  expect_says(policy_refusal("linux-6.12,x.group=a"), {"'a' is not a group"});
  expect_says(policy_refusal("linux-6.12,/a=3"), {"'/a' is no file of a group", "/a.cpu.weight"});
  expect_says(policy_refusal("linux-6.12,/a.weight=3"), {"'/a.weight' is no file of a group"});
  expect_says(policy_refusal("linux-6.12,/a.cpu.weight"), {"has no value"});
  expect_says(policy_refusal("linux-6.12,/a.cpu.weight=10001"), {"expected 1..10000"});
  expect_says(policy_refusal("linux-6.12,/a.cpu.whatever=1"), {"no file cpu.whatever"});
  expect_says(policy_refusal("linux-6.12,/.cpu.weight=1"), {"is no file of a group"});
}

// Two endless tasks that take turns of 4 ms for a second.
trace::recording two_hogs() {
  recording_builder b;
  b.run(0, 0, 'R', 1);
  for (std::uint64_t at = 4000; at < 1'000'000; at += 8000) {
    b.run(at, 1, 'R', 2).run(at + 4000, 2, 'R', 1);
  }
  return b.mark(1'000'000, "x").get();
}

run_figures replay_two_hogs(const std::string& spec, const recorded_attributes& attrs = {}) {
  const trace::recording recording = two_hogs();
  const recorded_workload workload(recording, attrs, {});
  return workload.simulate(parse_variant(spec, {}, 1, workload.tick_ns()));
}

std::uint64_t percent_of(const run_figures& run, std::size_t group) {
  return (run.groups.at(group).cpu_ns * 100 + 500'000'000) / (run.to_ns - run.from_ns);
}

TEST(group_replay, a_setting_makes_a_group_and_gives_it_weight) {
  const run_figures run = replay_two_hogs("linux-6.12,1.group=/a,2.group=/b,/a.cpu.weight=300");
  ASSERT_EQ(run.groups.size(), 2U);
  EXPECT_NEAR(static_cast<double>(percent_of(run, 0)), 75, 2);
  EXPECT_NEAR(static_cast<double>(percent_of(run, 1)), 25, 2);
}

TEST(group_replay, the_recording_is_measured_by_groups_too) {
  const recorded_attributes attrs =
      attributes(R"({"tasks": [{"pid": 1, "group": "/a/b"}, {"pid": 2, "group": "/a"}]})");
  const trace::recording recording = two_hogs();
  const recorded_workload workload(recording, attrs, {});
  const run_figures& run = workload.recorded();
  ASSERT_EQ(run.groups.size(), 2U);
  EXPECT_EQ(run.groups[0].path, "/a");
  EXPECT_EQ(run.groups[0].cpu_ns, run.tasks[0].cpu_ns + run.tasks[1].cpu_ns);
  EXPECT_EQ(run.groups[1].cpu_ns, run.tasks[0].cpu_ns);
  EXPECT_EQ(run.groups[1].switches_in, run.tasks[0].switches_in);
}

TEST(group_replay, the_last_setting_of_a_task_and_of_a_file_counts) {
  const recorded_attributes attrs = attributes(
      R"({"groups": [{"path": "/a", "cpu.weight": 7}], "tasks": [{"pid": 1, "group": "/a"}]})");
  const run_figures run =
      replay_two_hogs("linux-6.12,2.group=/c,2.group=/b,/a.cpu.weight=300", attrs);
  EXPECT_NEAR(static_cast<double>(percent_of(run, 0)), 75, 2);
  EXPECT_EQ(percent_of(run, 1), 0U);  // /c was made, and left
  EXPECT_NEAR(static_cast<double>(percent_of(run, 2)), 25, 2);
}

TEST(group_replay, a_quota_keeps_the_cpu_idle) {
  const run_figures run =
      replay_two_hogs("linux-6.12,?.group=/a,1.group=/a,2.group=/a,/a.cpu.max=50000 100000");
  EXPECT_NEAR(static_cast<double>(percent_of(run, 0)), 50, 2);
  EXPECT_GT(run.groups[0].throttled_ns, 400'000'000U);
}

TEST(group_replay, files_of_a_group_that_nobody_is_in_are_a_mistake) {
  expect_says(refusal([] { replay_two_hogs("linux-6.12,1.group=/web,/wob.cpu.weight=3"); }),
              {"no task is in a group /wob", "did you mean '/web'?"});
  expect_says(refusal([] {
                replay_two_hogs(
                    "linux-6.12,1.group=/a,/a.cpu.max=5000 10000,"
                    "/a.cpu.max.burst=5001");
              }),
              {"group /a: cpu.max.burst cannot be '5001'"});
}

// Real kernels with two groups of weight 100 and 300, three hogs each.
TEST(group_replay, comes_back_to_the_recording_of_two_groups) {
  const std::string base = std::string(VLAG_TEST_DATA "/traces/") + "6.12-k-1cpu";
  const recorded_attributes attrs = read_attributes(base + ".json");
  replay_options options;
  options.window = "runner: release..runner: stop";
  const trace::recording recording = trace::read_recording(base + ".trace.xz");
  const recorded_workload workload(recording, attrs, options);
  const auto variant = recorded_variant(attrs, workload.cpus());
  ASSERT_TRUE(variant.has_value());
  const self_check_result result = self_check(workload.recorded(), workload.simulate(*variant));
  EXPECT_EQ(result.cells.size(), 9U);
  for (const check_cell& cell : result.cells) {
    EXPECT_TRUE(cell.holds()) << cell.group << " " << to_string(cell.measure);
  }
}

}  // namespace
}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "report/compare.hpp"
#include "report/latency_table.hpp"
#include "report/task_groups.hpp"
#include "sample_runs.hpp"

namespace vlag {
namespace {

using sample::ms;
using sample::run;
using sample::task;

using columns = std::vector<const run_figures*>;

TEST(task_groups, names_lose_trailing_digits_only) {
  EXPECT_EQ(group_name("mi7"), "mi");
  EXPECT_EQ(group_name("mi10"), "mi");
  EXPECT_EQ(group_name("mi-10"), "mi");
  EXPECT_EQ(group_name("mi-"), "mi-");
  EXPECT_EQ(group_name("-1"), "-");
  EXPECT_EQ(group_name("a1b"), "a1b");
  EXPECT_EQ(group_name("123"), "123");
  EXPECT_EQ(group_name(""), "");
}

TEST(task_groups, share_is_of_all_cpus) {
  run_figures r = run("r", {});
  r.cpus.resize(4);
  EXPECT_EQ(share_ppm(r, 1000 * ms), 250'000U);
  r.to_ns = r.from_ns;
  EXPECT_EQ(share_ppm(r, 1000 * ms), 0U);
}

TEST(task_groups, instances_are_summed) {
  const run_figures r =
      run("r", {task(5, "mi0", 100, {1, 2}), task(6, "x", 10, {}), task(7, "mi1", 200, {9})});
  const auto groups = group_tasks(r);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].name, "mi");
  EXPECT_EQ(groups[0].tasks, 2U);
  EXPECT_EQ(groups[0].sum.cpu_ns, 300 * ms);
  EXPECT_EQ(groups[0].delay.count(), 3U);
  EXPECT_EQ(groups[0].delay.max_ns(), 9 * ms);
  EXPECT_EQ(groups[0].sum.max_wait_to_ns - groups[0].sum.max_wait_from_ns, 9 * ms);
  EXPECT_EQ(groups[1].one_name, "x");
}

TEST(task_groups, rows_are_the_same_for_all_runs) {
  const run_figures a =
      run("a", {task(1, "big", 500, {}), task(2, "late", 0, {}), task(3, "no", 0, {})});
  const run_figures b =
      run("b", {task(1, "big", 500, {}), task(2, "late", 100, {}), task(3, "no", 0, {})});
  const columns both{&a, &b};
  EXPECT_EQ(chosen_tasks(both, {}), (std::vector<std::int32_t>{1, 2}));
  row_choice one;
  one.max_rows = 1;
  EXPECT_EQ(chosen_tasks(both, one), std::vector<std::int32_t>{1});
  row_choice always;
  always.always = [](const task_figures& t) { return t.name == "no"; };
  EXPECT_EQ(chosen_tasks(both, always), (std::vector<std::int32_t>{1, 2, 3}));
  row_choice only;
  only.only = [](const task_figures& t) { return t.name == "no"; };
  EXPECT_EQ(chosen_tasks(both, only), std::vector<std::int32_t>{3});
}

TEST(latency_table, is_perfs_with_quantiles_and_drops_nothing) {
  task_figures hog = task(2, "hog", 600, {});
  hog.preempt_wait.add(4 * ms, 8 * ms);
  hog.max_wait_from_ns = 4 * ms;
  hog.max_wait_to_ns = 8 * ms;
  hog.switches_in = 1;
  const run_figures r = run("r", {task(1, "frame", 300, {1, 3}), hog, task(3, "idler", 0, {1})});
  const std::vector<std::int32_t> pids{1, 2};
  EXPECT_EQ(
      latency_table(r, pids),
      "Task       Runtime ms  Switches  Avg delay ms  P50 ms  P99 ms  Max delay ms  Max delay "
      "start s  Max delay end s\n" +
          std::string(111, '-') +
          "\n"
          "hog:2         600.000         1         4.000   4.000   4.000         4.000           "
          "0.004000         0.008000\n"
          "frame:1       300.000         2         2.000   1.004   2.998         3.000           "
          "1.997000         2.000000\n"
          "(1 other)       0.000         1         1.000   1.000   1.000         1.000           "
          "0.999000         1.000000\n" +
          std::string(111, '-') +
          "\n"
          "TOTAL:        900.000         4         2.250   1.004   4.000         4.000           "
          "0.004000         0.008000\n");
}

TEST(latency_table, totals_say_when_work_was_not_done) {
  run_figures a = run("recorded", {task(1, "a", 500, {1})});
  run_figures b = run("linux-6.12", {task(1, "a", 250, {1, 1})});
  b.work_done_ns = 0;
  EXPECT_EQ(totals_table(columns{&a, &b}),
            "Totals      Runtime ms  CPU %  Switches   Span ms  All work done at ms\n"
            "----------------------------------------------------------------------\n"
            "recorded       500.000   50.0         1  1000.000             1000.000\n"
            "linux-6.12     250.000   25.0         2  1000.000   not within the run\n");
}

TEST(compare, groups_stand_one_policy_below_the_other) {
  const run_figures a = run("recorded", {task(1, "mi0", 300, {2}), task(2, "mi1", 300, {4}),
                                         task(3, "frame", 50, {1}), task(4, "bit", 0, {})});
  const run_figures b = run("linux-6.12", {task(1, "mi0", 300, {2}), task(2, "mi1", 300, {4}),
                                           task(3, "frame", 100, {8}), task(4, "bit", 0, {})});
  EXPECT_EQ(comparison_table(columns{&a, &b}, {}),
            "Task       Policy      CPU %  Switches  Avg delay ms  P99 ms  Max delay ms\n"
            "--------------------------------------------------------------------------\n"
            "mi (2)     recorded     60.0         2         3.000   4.000         4.000\n"
            "           linux-6.12   60.0         2         3.000   4.000         4.000\n"
            "\n"
            "frame      recorded      5.0         1         1.000   1.000         1.000\n"
            "           linux-6.12   10.0         1         8.000   8.000         8.000\n"
            "\n"
            "(1 other)  recorded      0.0         0             -       -             -\n"
            "           linux-6.12    0.0         0             -       -             -\n");
}

TEST(compare, groups_beyond_the_rows_are_summed) {
  const run_figures a =
      run("recorded", {task(1, "a", 500, {1}), task(2, "b", 300, {2}), task(3, "c", 100, {3})});
  row_choice choice;
  choice.max_rows = 1;
  const std::string text = comparison_table(columns{&a}, choice);
  EXPECT_NE(text.find("(2 others)  recorded   40.0         2         2.500"), std::string::npos)
      << text;
  choice.only = [](const task_figures& t) { return t.name != "c"; };
  const std::string two = comparison_table(columns{&a}, choice);
  EXPECT_NE(two.find("(1 other)  recorded   10.0         1         3.000"), std::string::npos)
      << two;
}

TEST(compare, sentence_names_the_largest_ratio) {
  const run_figures a =
      run("recorded", {task(1, "frame", 100, {1, 2}, 60), task(2, "hog", 800, {})});
  const run_figures b =
      run("linux-6.12", {task(1, "frame", 100, {5, 9}, 60), task(2, "hog", 700, {})});
  EXPECT_EQ(what_changed_most(columns{&a, &b}, {}),
            "What changed most: the average delay of frame is 7.000 ms under linux-6.12 instead of "
            "1.500 ms under recorded: longer by a factor of 4.7.");
}

TEST(compare, sentence_compares_simulated_with_simulated) {
  const run_figures a = run("recorded", {task(1, "frame", 100, {50}, 60)});
  const run_figures b = run("linux-6.1", {task(1, "frame", 100, {4}, 60)});
  const run_figures c = run("linux-6.12", {task(1, "frame", 100, {2}, 60)});
  EXPECT_EQ(what_changed_most(columns{&a, &b, &c}, {}),
            "What changed most: the average delay of frame is 2.000 ms under linux-6.12 instead of "
            "4.000 ms under linux-6.1: shorter by a factor of 2.0.");
}

TEST(compare, few_waits_say_nothing_and_shares_do) {
  const run_figures a = run("recorded", {task(1, "frame", 100, {1}, 19)});
  const run_figures b = run("linux-6.12", {task(1, "frame", 300, {90}, 19)});
  EXPECT_EQ(
      what_changed_most(columns{&a, &b}, {}),
      "What changed most: the CPU share of frame is 30.0 % under linux-6.12 instead of 10.0 % "
      "under recorded: more by a factor of 3.0.");
}

TEST(compare, a_delay_of_nothing_gives_a_lower_bound) {
  const run_figures a = run("recorded", {task(1, "frame", 100, {10}, 60)});
  const run_figures b = run("linux-6.12", {task(1, "frame", 100, {0}, 60)});
  EXPECT_EQ(what_changed_most(columns{&a, &b}, {}),
            "What changed most: the average delay of frame is 0.000 ms under linux-6.12 instead of "
            "10.000 ms under recorded: shorter by a factor of more than 100.");
}

TEST(compare, sentence_says_when_nothing_changed) {
  const run_figures a = run("recorded", {task(1, "frame", 100, {1}, 200)});
  EXPECT_EQ(
      what_changed_most(columns{&a, &a}, {}),
      "No average delay, P99 or CPU share that rests on enough waits changed by more than a tenth "
      "against recorded.");
}

TEST(compare, sentence_names_a_task_that_starves) {
  const run_figures a = run("recorded", {task(1, "frame", 100, {1}, 200)});
  run_figures b = run("x", {task(1, "frame", 0, {})});
  b.tasks[0].add_open_wait(100'000'000, 1000'000'000, false);
  EXPECT_EQ(what_changed_most(columns{&a, &b}, {}),
            "frame starves under x: it waited 900.000 ms for the CPU in one go.");
}

TEST(compare, sentence_draws_nothing_from_a_run_that_covers_little) {
  const run_figures a = run("recorded", {task(1, "frame", 100, {10}, 200)});
  run_figures b = run("x", {task(1, "frame", 40, {1}, 200)});
  b.to_ns = 400'000'000;
  EXPECT_NE(what_changed_most(columns{&a, &b}, {}).find("changed by more than a tenth"),
            std::string::npos);
}

// Work that grows with the square of the names would be a minute here.
TEST(tables, thirty_thousand_names) {
  run_figures many = run("recorded", {});
  for (std::int32_t pid = 0; pid < 30'000; ++pid) {
    std::string name = std::to_string(pid);
    name.append("x");
    many.tasks.push_back(task(pid, name, 1, {}));
  }
  const std::vector<const run_figures*> runs{&many, &many, &many};
  row_choice choice;
  choice.always = [](const task_figures& t) { return t.pid == 29'999; };
  const std::string table = comparison_table(runs, choice);
  static_cast<void>(what_changed_most(runs, choice));
  EXPECT_NE(table.find("29999x"), std::string::npos) << table;
}

TEST(group_table, is_empty_without_groups_and_has_a_line_a_run_with) {
  run_figures a = sample::run("recorded", {});
  run_figures b = sample::run("linux-6.12", {});
  EXPECT_EQ(group_table(columns{&a, &b}), "");
  b.groups.resize(1);
  b.groups[0].path = "/a";
  b.groups[0].cpu_ns = 250 * sample::ms;
  b.groups[0].switches_in = 17;
  b.groups[0].nr_periods = 1;
  b.groups[0].throttled_ns = 3 * sample::ms;
  const std::string table = group_table(columns{&a, &b});
  for (const char* part : {"/a", "recorded", "linux-6.12", "25.0", "17", "3.000"}) {
    EXPECT_NE(table.find(part), std::string::npos) << part << " in\n" << table;
  }
}

}  // namespace
}  // namespace vlag

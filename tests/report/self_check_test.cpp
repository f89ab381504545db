// SPDX-License-Identifier: Apache-2.0
#include "report/self_check.hpp"

#include <gtest/gtest.h>

#include "sample_runs.hpp"

namespace vlag {
namespace {

using sample::ms;
using sample::run;
using sample::task;

const check_cell* find(const self_check_result& result, const std::string& group,
                       check_measure measure) {
  for (const check_cell& cell : result.cells) {
    if (cell.group == group && cell.measure == measure) return &cell;
  }
  return nullptr;
}

TEST(self_check, a_run_agrees_with_itself) {
  const run_figures r =
      run("recorded", {task(1, "mi0", 400, {1, 2}, 20), task(2, "mi1", 400, {3}, 20)});
  const self_check_result result = self_check(r, r);
  ASSERT_EQ(result.cells.size(), 4U);  // share, switches, mean; work
  EXPECT_EQ(result.held(), 4U);
  EXPECT_EQ(result.totals.size(), 2U);
  EXPECT_NE(self_check_verdict(result).find("4 of 4"), std::string::npos);
}

TEST(self_check, cells_only_where_there_is_enough) {
  const run_figures r =
      run("recorded", {task(1, "few", 100, {1}, 29), task(2, "some", 100, {1}, 30),
                       task(3, "many", 100, {1}, 500), task(4, "bit", 9, {1}, 900)});
  const self_check_result result = self_check(r, r);
  EXPECT_EQ(find(result, "few", check_measure::wake_mean), nullptr);
  EXPECT_NE(find(result, "some", check_measure::wake_mean), nullptr);
  EXPECT_EQ(find(result, "some", check_measure::wake_p99), nullptr);
  EXPECT_NE(find(result, "many", check_measure::wake_p99), nullptr);
  EXPECT_EQ(find(result, "bit", check_measure::share), nullptr);
}

TEST(self_check, bounds_are_as_stated) {
  const run_figures was =
      run("recorded", {task(1, "a", 500, {10}, 100), task(2, "b", 300, {8}, 40)});
  const auto cell = [&](const run_figures& is, const char* group, check_measure m) {
    const self_check_result result = self_check(was, is);
    const check_cell* c = find(result, group, m);
    EXPECT_NE(c, nullptr);
    return c != nullptr && c->holds();
  };
  EXPECT_TRUE(cell(run("r", {task(1, "a", 510, {})}), "a", check_measure::share));
  EXPECT_FALSE(cell(run("r", {task(1, "a", 511, {})}), "a", check_measure::share));
  EXPECT_TRUE(cell(run("r", {task(1, "a", 1, {1}, 90)}), "a", check_measure::switches));
  EXPECT_FALSE(cell(run("r", {task(1, "a", 1, {1}, 89)}), "a", check_measure::switches));
  EXPECT_TRUE(cell(run("r", {task(2, "b", 1, {1}, 30)}), "b", check_measure::switches));
  EXPECT_FALSE(cell(run("r", {task(2, "b", 1, {1}, 29)}), "b", check_measure::switches));
  EXPECT_TRUE(cell(run("r", {task(2, "b", 1, {6})}), "b", check_measure::wake_mean));
  EXPECT_FALSE(cell(run("r", {task(2, "b", 1, {5})}), "b", check_measure::wake_mean));
  EXPECT_FALSE(cell(run("r", {}), "a", check_measure::share));
}

TEST(self_check, two_standard_errors_widen_the_mean) {
  // 36 waits of 0 and 100 ms: mean 50 ms, deviation about 50.7 ms, error of the mean 8.45 ms.
  const run_figures was = run("recorded", {task(1, "a", 500, {0, 100}, 18)});
  const self_check_result result = self_check(was, was);
  const check_cell* cell = find(result, "a", check_measure::wake_mean);
  ASSERT_NE(cell, nullptr);
  EXPECT_EQ(cell->recorded, 50 * ms);
  EXPECT_NEAR(static_cast<double>(cell->allowed), 16.9e6, 0.1e6);
}

TEST(self_check, work_that_was_not_done_does_not_hold) {
  const run_figures was = run("recorded", {task(1, "a", 500, {})});
  run_figures is = was;
  is.work_done_ns = 1020 * ms;
  EXPECT_TRUE(find(self_check(was, is), "", check_measure::work_done)->holds());
  is.work_done_ns = 1021 * ms;
  EXPECT_FALSE(find(self_check(was, is), "", check_measure::work_done)->holds());
  is.work_done_ns = 0;
  const self_check_result result = self_check(was, is);
  EXPECT_FALSE(find(result, "", check_measure::work_done)->holds());
  EXPECT_NE(self_check_table(result).find("not done"), std::string::npos);
  EXPECT_NE(self_check_verdict(result).find("off are: all work done at"), std::string::npos);
}

TEST(self_check, a_replay_that_covers_little_is_not_trusted) {
  const run_figures recorded = run("recorded", {task(1, "hog", 1000, {})});
  run_figures replayed = recorded;
  replayed.to_ns = 300'000'000;
  replayed.tasks[0].cpu_ns = 300'000'000;
  EXPECT_NE(self_check_verdict(self_check(recorded, replayed))
                .find("covers only 300.000 of 1000.000 ms: do not trust"),
            std::string::npos);
}

TEST(self_check, table_shows_both_sides) {
  const run_figures was = run("recorded", {task(1, "a", 500, {10}, 100)});
  const run_figures is = run("linux-6.1", {task(1, "a", 470, {11}, 100)});
  EXPECT_EQ(
      self_check_table(self_check(was, is)),
      "Task   Measure                   Recorded     Replayed  Difference    Allowed  Holds\n"
      "------------------------------------------------------------------------------------\n"
      "a      CPU share                  50.00 %      47.00 %      3.00 %     1.00 %     NO\n"
      "a      switches                       100          100           0         10    yes\n"
      "a      wake-up latency, mean    10.000 ms    11.000 ms    1.000 ms   2.500 ms    yes\n"
      "(all)  all work done at       1000.000 ms  1000.000 ms    0.000 ms  20.000 ms    yes\n"
      "------------------------------------------------------------------------------------\n"
      "(all)  CPU share                  50.00 %      47.00 %      3.00 %     1.00 %     NO\n"
      "(all)  switches                       100          100           0         10    yes\n");
}

}  // namespace
}  // namespace vlag

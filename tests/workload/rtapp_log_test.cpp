// SPDX-License-Identifier: Apache-2.0
#include "workload/rtapp_log.hpp"

#include <gtest/gtest.h>

#include "rtapp_case.hpp"

namespace vlag {
namespace test {
namespace {

std::vector<rtapp_log::file> logs_of(std::string_view text, std::uint64_t duration_ns = 1000 * ms) {
  rtapp_options options;
  options.notes = true;
  const rtapp_workload w = parse_rtapp(text, "w", options);
  rtapp_log log(w);
  static_cast<void>(run_workload(w, duration_ns, &log));
  return log.files();
}

constexpr std::string_view head =
    "#idx     perf      run   period           start             end          rel_st      slack "
    "c_duration   c_period     wu_lat\n";

// The columns' meaning is that of rt-app 1.0, to which this very file was given: c_duration has
// run and runtime, c_period timers only; perf the loops of both; slack is the last timer's; a late
// timer has no wu_lat.
TEST(rtapp_log, a_line_for_each_iteration_of_a_phase) {
  const auto files = logs_of(R"({"tasks":{"A":{"loop":2,"phases":{
    "p":{"loop":2,"run":3000,"sleep":2000,"run1":1000,"timer":{"ref":"unique","period":20000},
         "runtime":1500,"lock":"m","unlock":"m","yield":"","mem":100000},
    "q":{"loop":1,"run":30000,"timer":{"ref":"unique","period":20000}}}}},
    "global":{"calibration":100,"log_basename":"l1","logdir":"./"}})");
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].name, "l1-A-0.log");
  EXPECT_EQ(files[0].text, std::string(head) +
                               // clang-format off
"   0    55040     5504    21564               0           21564               0      13950       5500      20000         50\n"
"   0    55040     5504    20000           21564           41564           21564      12386       5500      20000         50\n"
"   0   300000    30000    30000           41564           71564           41564     -11564      30000      20000          0\n"
"   0    55040     5504    21564           71564           93128           71564      13950       5500      20000         50\n"
"   0    55040     5504    20000           93128          113128           93128      12386       5500      20000         50\n"
"   0   300000    30000    30000          113128          143128          113128     -11564      30000      20000          0\n");
  // clang-format on
}

TEST(rtapp_log, waiting_for_the_cpu_counts_as_running) {
  const auto files = logs_of(R"({"tasks":{"a":{"instance":2,"loop":1,"run":10000}}})");
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[1].name, "rt-app-a-1.log");
  EXPECT_NE((files[0].text + files[1].text).find("   100000    20000    "), std::string::npos)
      << files[0].text << files[1].text;
}

TEST(rtapp_log, threads_are_numbered_as_they_begin_and_an_unfinished_iteration_has_no_line) {
  const auto files = logs_of(R"({"tasks":{
    "a":{"loop":2,"fork":"c","sleep":100},"b/x":{"loop":-1,"run":1000},
    "c":{"instance":0,"loop":1,"run":100}}})",
                             10'500 * us);
  ASSERT_EQ(files.size(), 4U);
  EXPECT_EQ(files[0].name, "rt-app-a-0.log");
  EXPECT_EQ(files[1].name, "rt-app-b_x-1.log");
  EXPECT_EQ(files[2].name, "rt-app-c-2-0.log");
  EXPECT_EQ(files[3].name, "rt-app-c-3-1.log");
  // The other two had 200 us of the CPU.
  EXPECT_EQ(std::count(files[1].text.begin(), files[1].text.end(), '\n'), 1 + 10);
  EXPECT_EQ(std::count(files[3].text.begin(), files[3].text.end(), '\n'), 1 + 1);
}

TEST(rtapp_log, slack_adds_up_where_the_file_asks_for_it) {
  constexpr std::string_view text =
      R"({"tasks":{"a":{"loop":1,"run":100,"timer":{"ref":"t","period":1000},
          "timer":{"ref":"t","period":1000}}},"global":{"cumulative_slack":)";
  EXPECT_NE(logs_of(std::string(text) + "true}}")[0].text.find("  1850 "), std::string::npos);
  EXPECT_NE(logs_of(std::string(text) + "false}}")[0].text.find("   950 "), std::string::npos);
}

TEST(rtapp_log, a_timer_that_is_over_clears_how_late_the_one_before_was) {
  const auto files = logs_of(R"({"tasks":{"a":{"loop":1,"run":100,
    "timer":{"ref":"t","period":1000},"run":3000,"timer":{"ref":"t","period":1000}}}})");
  EXPECT_TRUE(files[0].text.ends_with("       2000          0\n")) << files[0].text;
}

// The programs differ by what they note; nothing else does.
TEST(rtapp_log, does_not_change_what_happens) {
  rtapp_options with;
  with.notes = true;
  const std::string path = std::string(VLAG_TEST_DATA) + "/rtapp/features.json";
  const run_figures plain = run_workload(read_rtapp(path, {}));
  const run_figures noted = run_workload(read_rtapp(path, with));
  ASSERT_EQ(plain.tasks.size(), noted.tasks.size());
  for (std::size_t i = 0; i < plain.tasks.size(); ++i) {
    EXPECT_EQ(plain.tasks[i].cpu_ns, noted.tasks[i].cpu_ns);
    EXPECT_EQ(plain.tasks[i].switches_in, noted.tasks[i].switches_in);
  }
}

}  // namespace
}  // namespace test
}  // namespace vlag

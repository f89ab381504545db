// SPDX-License-Identifier: Apache-2.0
//
// The views beside what perf 6.1 printed of the same recording, and their rules one by one.
#include <gtest/gtest.h>

#include <array>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

#include "input/byte_source.hpp"
#include "input/input_error.hpp"
#include "report/sched_latency.hpp"
#include "report/sched_map.hpp"
#include "report/sched_timehist.hpp"
#include "report/schedule_streamed.hpp"
#include "trace/reader.hpp"

namespace vlag {
namespace {

const std::string folder = VLAG_TEST_DATA "/traces/perf-views/";

std::string content(const std::string& name) {
  const auto source = open_bytes(folder + name);
  std::string result;
  std::array<char, 65536> piece{};
  while (const std::size_t got = source->read(piece.data(), piece.size())) {
    result.append(piece.data(), got);
  }
  return result;
}

void tell_streamed(schedule_sink& sink) {
  trace::recording_info about;
  schedule_stream telling(about, sink);
  trace::visit_recording(folder + "6.18-build-2cpu.trace.xz", about, telling);
  telling.finish();
}

// Line by line: the first that differs says more than two long texts.
void expect_same_lines(const std::string& ours, const std::string& perfs) {
  std::istringstream a(ours);
  std::istringstream b(perfs);
  std::string ours_line;
  std::string perfs_line;
  for (int number = 1; std::getline(b, perfs_line); ++number) {
    ASSERT_TRUE(std::getline(a, ours_line)) << "ours ends before line " << number;
    ASSERT_EQ(ours_line, perfs_line) << "line " << number;
  }
  EXPECT_FALSE(std::getline(a, ours_line)) << "ours goes on: " << ours_line;
}

TEST(perf_views, latency_is_perfs) {
  latency_request request;
  request.as_perf_6_1 = true;
  sched_latency table(request);
  tell_streamed(table);
  expect_same_lines(table.text(), content("latency.txt.xz"));
}

TEST(perf_views, latency_per_pid_sorted_is_perfs) {
  latency_request request{.each_pid = true, .as_perf_6_1 = true};
  request.sort = parse_latency_keys("switch,max");
  sched_latency table(request);
  tell_streamed(table);
  expect_same_lines(table.text(), content("latency-pids.txt.xz"));
}

TEST(perf_views, map_is_perfs) {
  const trace::recording all = trace::read_recording(folder + "6.18-build-2cpu.trace.xz");
  std::string text;
  sched_map map({}, [&](std::string_view line) { text += line; });
  tell_recording(all, all.events.front().time_ns, all.events.back().time_ns, map);
  expect_same_lines(text, content("map.txt.xz"));
}

// perf learns of an exec at once, the events only tell at the task's next one: until then we show
// the name from before.
bool differs_in_the_name_from_before_exec(const std::string& ours, const std::string& perfs) {
  const auto without_name = [](const std::string& line) {
    return std::pair(line.substr(0, 23), line.substr(line.find('[', 23)));
  };
  const auto [ours_when, ours_rest] = without_name(ours);
  const auto [perfs_when, perfs_rest] = without_name(perfs);
  const auto words = [](const std::string& text) {
    std::istringstream in(text);
    return std::vector<std::string>(std::istream_iterator<std::string>(in), {});
  };
  return ours_when == perfs_when && words(ours_rest) == words(perfs_rest);
}

TEST(perf_views, timehist_is_perfs) {
  timehist_request request{
      .wakeups = true, .migrations = true, .next = true, .cpus = {}, .pids = {}};
  std::string text;
  sched_timehist table(request, [&](std::string_view line) { text += line; });
  tell_streamed(table);
  std::istringstream ours(text);
  std::istringstream perfs(content("timehist.txt.xz"));
  std::string ours_line;
  std::string perfs_line;
  int other_names = 0;
  while (std::getline(perfs, perfs_line)) {
    ASSERT_TRUE(std::getline(ours, ours_line));
    if (ours_line == perfs_line) continue;
    ASSERT_TRUE(differs_in_the_name_from_before_exec(ours_line, perfs_line)) << ours_line << "\n"
                                                                             << perfs_line;
    ++other_names;
  }
  EXPECT_FALSE(std::getline(ours, ours_line)) << ours_line;
  EXPECT_EQ(other_names, 3);
}

TEST(perf_views, timehist_of_one_cpu_is_perfs) {
  timehist_request request{.cpus = {1}, .pids = {}};
  std::string text;
  sched_timehist table(request, [&](std::string_view line) { text += line; });
  tell_streamed(table);
  expect_same_lines(text, content("timehist-cpu1.txt.xz"));
}

schedule_info three_tasks() {
  schedule_info info;
  info.cpus = 1;
  info.clock_at_start_ns = 10'000'000'000;
  info.tasks = {{1, "a", 120}, {2, "b", 120}, {3, "b", 120}};
  return info;
}

schedule_switch change(std::uint64_t at_ns, std::uint32_t from, char letter, std::uint32_t to) {
  schedule_switch e;
  e.at_ns = at_ns;
  e.previous = from;
  e.left.letter = letter;
  e.next = to;
  return e;
}

// a is woken at 1 ms, runs at 3 ms, loses the CPU at 5 ms to a b that nobody knew, runs again at
// 6 ms.
void tell_three(schedule_sink& sink) {
  sink.begin(three_tasks());
  sink.on_switch(change(500'000, 0, 'S', no_task));
  sink.on_wakeup({.at_ns = 1'000'000, .woken = 0});
  sink.on_switch(change(3'000'000, no_task, 'R', 0));
  sink.on_switch(change(5'000'000, 0, 'R', 1));
  sink.on_switch(change(6'000'000, 1, 'X', 0));
  sink.end(8'000'000);
}

TEST(sched_latency, counts_waits_after_wake_ups_and_after_losing_the_cpu) {
  sched_latency table({.each_pid = true});
  tell_three(table);
  const auto rows = table.rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "a");
  EXPECT_EQ(rows[0].delays, 2U);
  EXPECT_EQ(rows[0].delay_sum_ns, 3'000'000U);
  EXPECT_EQ(rows[0].longest_ns, 2'000'000U);
  EXPECT_EQ(rows[0].longest_from_ns, 10'001'000'000U);
  EXPECT_EQ(rows[0].runtime_ns, 4'000'000U);  // from switches; the first stay's start is not known
  EXPECT_EQ(rows[1].delays, 1U);              // the first stay, without delay
  EXPECT_EQ(rows[1].longest_ns, 0U);
}

TEST(sched_latency, takes_tasks_of_one_name_together) {
  sched_latency table({});
  schedule_sink& sink = table;
  sink.begin(three_tasks());
  sink.on_switch(change(0, no_task, 'R', 1));
  sink.on_switch(change(10, 1, 'R', 2));
  sink.on_switch(change(30, 2, 'R', 1));
  sink.end(40);
  ASSERT_EQ(table.rows().size(), 1U);
  EXPECT_EQ(table.rows()[0].merged, 2U);
  EXPECT_EQ(table.rows()[0].delays, 3U);
  EXPECT_EQ(table.rows()[0].longest_ns, 20U);
  EXPECT_NE(table.text().find("  b:(2)  "), std::string::npos);
}

TEST(sched_latency, says_when_a_switch_is_missing) {
  sched_latency table({});
  schedule_sink& sink = table;
  sink.begin(three_tasks());
  sink.on_switch(change(0, no_task, 'R', 1));
  sink.on_switch(change(10, 0, 'R', 2));
  sink.end(20);
  EXPECT_NE(table.text().find("INFO: 50.000% context switch bugs (1 out of 2)"), std::string::npos);
}

TEST(sched_latency, refuses_unknown_keys) {
  EXPECT_EQ(parse_latency_keys("max, avg"),
            (std::vector<latency_key>{latency_key::maximum, latency_key::average}));
  EXPECT_THROW(static_cast<void>(parse_latency_keys("")), input_error);
  EXPECT_THROW(static_cast<void>(parse_latency_keys("avg,,max")), input_error);
  EXPECT_THROW(static_cast<void>(parse_latency_keys("p99")), input_error);
}

TEST(sched_map, names_tasks_by_letters) {
  std::string text;
  sched_map map({}, [&](std::string_view line) { text += line; });
  tell_three(map);
  EXPECT_EQ(text,
            "  *.       10.000500 secs \n"
            "  *A0      10.003000 secs A0 => a:1\n"
            "  *B0      10.005000 secs B0 => b:2\n"
            "  *A0      10.006000 secs \n");
}

TEST(sched_timehist, sums_up) {
  std::string text;
  sched_timehist table({.lines = false, .summary = true, .cpus = {}, .pids = {}},
                       [&](std::string_view line) { text += line; });
  tell_three(table);
  for (
      const char* line :
      {"                          a[1]      -1          2        2.000      0.000       1.000      "
       " 2.000  100.00       0\n",
       "\nTerminated tasks:\n"
       "                          b[2]      -1          1        1.000      1.000       1.000      "
       " 1.000    0.00       0\n",
       "    CPU  0 idle for      2.500  msec  ( 45.45%)\n", "    Total number of unique tasks: 2\n",
       "Total number of context switches: 4\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nin\n" << text;
  }
}

}  // namespace
}  // namespace vlag

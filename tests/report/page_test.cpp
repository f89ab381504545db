// SPDX-License-Identifier: Apache-2.0
//
// The page's data, and the page around it.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/compact_numbers.hpp"
#include "report/html_report.hpp"
#include "report/page_data.hpp"
#include "report/page_rows.hpp"
#include "report/page_timeline.hpp"
#include "sample_runs.hpp"

namespace vlag {
namespace {

using json = nlohmann::ordered_json;
using sample::ms;
using sample::run;
using sample::task;

struct two_runs {
  run_figures recorded = run("recorded", {task(1, "frame", 100, {1, 2}), task(7, "hog0", 800, {5}),
                                          task(8, "hog1", 50, {})});
  run_figures simulated = run("linux-6.12", {task(1, "frame", 100, {3, 4}),
                                             task(7, "hog0", 800, {}), task(8, "hog1", 50, {})});
  result_policy policy{
      configure(*find_profile("linux-6.12"), 1, 4 * ms), false, {{"frame", "slice", 100'000}}};
  page_document page;

  two_runs() {
    page.results.version = "1";
    page.results.runs = {{&recorded, nullptr}, {&simulated, &policy}};
    page.change = {"Much changed.", 0, 1};
    page.command = "vlag replay x";
    page.trust = "Not known.";
    page.classes = coloured_groups(recorded);
  }
  [[nodiscard]] json data() const { return json::parse(page_data(page)); }
};

TEST(page_data, tasks_and_groups_have_a_figure_in_every_column) {
  const two_runs sample;
  const json data = sample.data();
  for (const char* rows : {"tasks", "groups"}) {
    const std::size_t n = data[rows]["pid"].size();
    EXPECT_EQ(data[rows]["runs"].size(), 2U);
    for (const json& columns : data[rows]["runs"]) {
      for (const auto& [name, column] : columns.items()) {
        if (name == "cdf") continue;
        EXPECT_EQ(column.size(), n) << rows << " " << name;
      }
    }
  }
  EXPECT_EQ(data["tasks"]["pid"], json({1, 7, 8}));
  EXPECT_EQ(data["tasks"]["group"], json({0, 1, 1}));
  EXPECT_EQ(data["groups"]["title"], json({"frame", "hog"}));
  EXPECT_EQ(data["groups"]["runs"][0]["cpu"], json({100 * ms, 850 * ms}));
  EXPECT_EQ(data["groups"]["class"], json({1, 0}));  // hog has more CPU time
}

TEST(page_data, distribution_ends_at_the_longest_wait_with_all_of_them) {
  const two_runs sample;
  const json cdf = sample.data()["tasks"]["runs"][1]["cdf"]["0"];
  std::uint64_t at = 0;
  std::uint64_t upto = 0;
  for (const json& step : cdf[0]) at += step.get<std::uint64_t>();
  for (const json& step : cdf[1]) upto += step.get<std::uint64_t>();
  EXPECT_EQ(at, 4 * ms);
  EXPECT_EQ(upto, 2U);
}

TEST(page_data, worst_waits_are_three_tasks_longest_first) {
  run_figures r = run("x", {task(1, "a", 1, {3}), task(2, "b", 1, {9}), task(3, "c", 1, {1}),
                            task(4, "d", 1, {4}), task(5, "e", 1, {})});
  const std::vector<worst_wait> waits = worst_waits(r);
  ASSERT_EQ(waits.size(), 3U);
  EXPECT_EQ(waits[0].pid, 2);
  EXPECT_EQ(waits[1].pid, 4);
  EXPECT_EQ(waits[2].pid, 1);
}

TEST(page_data, settings_say_each_run_and_the_changed_task) {
  const two_runs sample;
  const json settings = sample.data()["settings"];
  const auto named = [&](const std::string& name) {
    return *std::find_if(settings.begin(), settings.end(),
                         [&](const json& s) { return s["name"] == name; });
  };
  EXPECT_EQ(named("frame.slice")["values"], json({nullptr, "100us"}));
  EXPECT_EQ(named("base_slice")["values"], json({nullptr, "700us"}));
  EXPECT_EQ(named("PLACE_LAG")["values"], json({nullptr, "on"}));
}

TEST(page_data, same_run_gives_the_same_bytes) {
  EXPECT_EQ(page_data(two_runs().page), page_data(two_runs().page));
}

TEST(page_data, names_of_any_bytes_do_not_break_it) {
  two_runs sample;
  sample.recorded.tasks[0].name = "\xff</script><b>\x01";
  const std::string data = json_for_script(page_data(sample.page));
  EXPECT_EQ(data.find('<'), data.npos);
  EXPECT_EQ(json::parse(data)["tasks"]["title"][0], "\\xff</script><b>\\x01");
}

TEST(points_of, keeps_within_its_bound_and_loses_no_wait) {
  duration_histogram h;
  for (std::uint64_t i = 1; i < 200'000; i += 7) h.add(i * 101);
  const distribution_points p = points_of(h, 160);
  EXPECT_LE(p.at_ns.size(), 160U);
  EXPECT_GT(p.at_ns.size(), 100U);
  EXPECT_EQ(p.upto.back(), h.count());
  EXPECT_EQ(p.at_ns.back(), h.max_ns());
  EXPECT_TRUE(std::is_sorted(p.at_ns.begin(), p.at_ns.end()));
  EXPECT_TRUE(points_of(duration_histogram{}, 160).at_ns.empty());
}

TEST(compact_numbers, base64_as_the_standard_has_it) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(compact_numbers, varint_has_seven_bits_a_byte) {
  std::string bytes;
  append_varint(bytes, 0);
  append_varint(bytes, 300);
  EXPECT_EQ(bytes, std::string("\0\xac\x02", 3));
}

TEST(timeline_json, bins_are_parts_of_255_and_windows_say_their_count) {
  timeline_request request;
  request.to_ns = 100;
  request.bins_per_cpu = 2;
  request.windows = {{0, 100}};
  request.class_of = {{1, 0}};
  timeline_bins line(request);
  line.on_switch(0, 0, 0, leave_reason::cut, 1);
  line.on_switch(25, 0, 1, leave_reason::blocked, 0);
  line.finish();
  const json data = timeline_json(line);
  std::string expected(2 * timeline_classes, '\0');
  expected[0] = static_cast<char>(128);
  EXPECT_EQ(data["shares"], base64(expected));
  EXPECT_EQ(data["windows"][0]["count"], 1);
  EXPECT_EQ(data["windows"][0]["data"], base64(std::string("\0\x19\0\x01\0\0\0\0\0\0\0\0", 12)));
}

TEST(reason_texts, every_decision_that_takes_the_cpu_away_has_one) {
  const json texts = reason_texts();
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(decision::child_runs_first) + 1);
  EXPECT_NE(texts[static_cast<std::size_t>(decision::request_used_up)], "");
  EXPECT_EQ(texts[static_cast<std::size_t>(decision::dequeue_delayed)], "");
}

TEST(html_report, data_stands_where_the_page_has_its_place) {
  if (!has_html_report()) GTEST_SKIP() << "built without the page";
  const std::string page = html_report("{\"a\":\"<x>\"}");
  EXPECT_NE(page.find("id=\"data\">{\"a\":\"\\u003cx>\"}</script>"), page.npos);
  EXPECT_EQ(page.find("{{"), page.npos);
  EXPECT_EQ(page.find("http://"), page.npos);
  EXPECT_EQ(page.find("src="), page.npos);
}

}  // namespace
}  // namespace vlag

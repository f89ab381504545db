// SPDX-License-Identifier: Apache-2.0
#include "report/result_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sample_runs.hpp"

namespace vlag {
namespace {

using json = nlohmann::ordered_json;
using sample::ms;
using sample::run;
using sample::task;

std::vector<std::string> keys(const json& object) {
  std::vector<std::string> result;
  for (const auto& [key, value] : object.items()) result.push_back(key);
  return result;
}

struct two_runs {
  run_figures recorded = run("recorded", {task(1, "frame", 100, {1, 2}), task(7, "hog", 800, {})});
  run_figures simulated =
      run("linux-6.12", {task(1, "frame", 100, {3, 4}), task(7, "hog", 800, {})});
  result_policy policy{
      configure(*find_profile("linux-6.12"), 1, 4 * ms), true, {{"frame", "slice", 100'000}}};
  result_document document;

  two_runs() {
    document.arguments = {"replay", "x.trace"};
    document.version = "1";
    document.seed = 9;
    document.duration_ns = 1000 * ms;
    document.tick_ns = 4 * ms;
    document.runs = {{&recorded, nullptr}, {&simulated, &policy}};
    document.trace_anomalies = {{"lost events", 12, {"line 3: 12"}}};
    document.workload_anomalies = {{"open end", 2}};
    document.notes = {"a note"};
  }
};

TEST(result_json, keys_stand_in_fixed_order) {
  const two_runs sample;
  const json whole = json::parse(result_json(sample.document));
  EXPECT_EQ(whole["schema"], "vlag-result/1");
  EXPECT_EQ(keys(whole), (std::vector<std::string>{"schema", "run", "machine", "results",
                                                   "self_check", "anomalies"}));
  EXPECT_EQ(
      keys(whole["results"][1]),
      (std::vector<std::string>{"label", "policy", "from_ns", "to_ns", "work_done_ns", "tasks",
                                "names", "groups", "cpus", "histograms", "counters", "anomalies"}));
}

TEST(result_json, policy_lists_everything_in_force) {
  const two_runs sample;
  const json whole = json::parse(result_json(sample.document));
  EXPECT_TRUE(whole["results"][0]["policy"].is_null());
  const json& policy = whole["results"][1]["policy"];
  EXPECT_EQ(policy["profile"], "linux-6.12");
  std::size_t features = 1;  // HRTICK
  for (const feature_info& f : all_features()) features += f.engine == fair_engine::eevdf ? 1 : 0;
  EXPECT_EQ(policy["features"].size(), features);
  EXPECT_EQ(policy["features"]["HRTICK"], true);
  EXPECT_EQ(policy["constants"]["base_slice_ns"], 700'000);
  EXPECT_EQ(policy["overrides"][0]["value"], 100'000);
}

TEST(result_json, times_are_whole_ns_and_no_number_is_a_fraction) {
  const two_runs sample;
  const json whole = json::parse(result_json(sample.document));
  const auto no_fraction = [](const auto& self, const json& value) -> bool {
    if (value.is_number_float()) return false;
    for (const json& part : value) {
      if (part.is_structured() ? !self(self, part) : part.is_number_float()) return false;
    }
    return true;
  };
  EXPECT_TRUE(no_fraction(no_fraction, whole));
  EXPECT_EQ(whole["results"][0]["tasks"][0]["cpu_ns"], 100 * ms);
  EXPECT_EQ(whole["results"][0]["tasks"][0]["wake_latency"]["max_ns"], 2 * ms);
}

TEST(result_json, histograms_count_every_wait) {
  const two_runs sample;
  const json whole = json::parse(result_json(sample.document));
  const json& histograms = whole["results"][0]["histograms"];
  ASSERT_EQ(histograms.size(), 1U);
  std::uint64_t count = 0;
  for (const json& bucket : histograms[0]["buckets"]) {
    EXPECT_LT(bucket[0], bucket[1]);
    count += bucket[2].get<std::uint64_t>();
  }
  EXPECT_EQ(count, 2U);
}

TEST(result_json, anomalies_of_all_kinds_are_there) {
  const two_runs sample;
  const json whole = json::parse(result_json(sample.document));
  ASSERT_EQ(whole["anomalies"].size(), 3U);
  EXPECT_EQ(whole["anomalies"][0]["count"], 12);
  EXPECT_EQ(whole["anomalies"][0]["first"][0], "line 3: 12");
  EXPECT_EQ(whole["anomalies"][1]["kind"], "open end");
  EXPECT_EQ(whole["anomalies"][2]["kind"], "a note");
}

TEST(result_json, same_run_same_bytes) {
  const two_runs a;
  const two_runs b;
  EXPECT_EQ(result_json(a.document), result_json(b.document));
}

TEST(result_json, names_that_are_not_utf8_do_not_break_it) {
  two_runs sample;
  sample.recorded.tasks[0].name = "bad\xff\x01";
  EXPECT_TRUE(json::accept(result_json(sample.document)));
}

}  // namespace
}  // namespace vlag

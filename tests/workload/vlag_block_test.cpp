// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "input/input_error.hpp"
#include "workload/rtapp_run.hpp"

namespace vlag {
namespace {

constexpr std::string_view two_tasks =
    R"("tasks":{"a":{"run":1000,"taskgroup":"/g"},"b":{"run":3000}})";

std::string with_block(std::string_view block) {
  return "{" + std::string(two_tasks) + ",\n\"vlag\":{" + std::string(block) + "}}";
}

rtapp_workload read(std::string_view block) { return parse_rtapp(with_block(block), "w", {}); }

std::string refusal(std::string_view block) {
  try {
    static_cast<void>(read(block));
  } catch (const input_error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(vlag_block, is_optional_and_known_to_the_reader) {
  const rtapp_workload none = parse_rtapp("{" + std::string(two_tasks) + "}", "w", {});
  EXPECT_EQ(none.block.machine.tick_ns, 4'000'000U);
  EXPECT_EQ(none.block.machine.timer_slack_ns, 50'000U);
  EXPECT_TRUE(none.block.policies.empty());
  EXPECT_TRUE(read("").warnings.empty());
}

TEST(vlag_block, sets_the_machine) {
  const rtapp_workload w = read(
      R"("machine":{"cpus":3,"hz":1000,"hrtick":true,"track_load":true,"switch_cost_ns":"1us",
         "timer_slack_ns":0,"tick_jitter_ns":7},"duration":"30ms")");
  EXPECT_EQ(w.cpus, 3U);
  EXPECT_EQ(w.block.machine.tick_ns, 1'000'000U);
  EXPECT_TRUE(w.block.machine.hrtick);
  EXPECT_TRUE(w.block.machine.track_load);
  EXPECT_EQ(w.block.machine.switch_cost_ns, 1'000U);
  EXPECT_EQ(w.block.machine.timer_slack_ns, 0U);
  EXPECT_EQ(w.block.machine.tick_jitter_ns, 7U);
  EXPECT_EQ(w.duration_ns, 30'000'000U);
  EXPECT_EQ(
      parse_rtapp(with_block(R"("machine":{"cpus":3})"), "w", {key_reading::in_order, 2}).cpus, 2U);
}

TEST(vlag_block, gives_tasks_and_groups_what_rtapp_cannot) {
  const rtapp_workload w = read(
      R"("tasks":{"a*":{"nice":3,"latency_nice":-5},"b-0":{"slice":"0.2ms"}},
         "groups":{"/g":{"cpu.weight":39,"cpu.latency.nice":"-3"}})");
  EXPECT_EQ(w.tasks[0].nice, 3);
  EXPECT_EQ(w.tasks[0].latency_nice, -5);
  EXPECT_EQ(w.tasks[0].slice_ns, 0U);
  EXPECT_EQ(w.tasks[1].nice, 0);
  EXPECT_EQ(w.tasks[1].slice_ns, 200'000U);
  ASSERT_EQ(w.groups.all().size(), 1U);
  ASSERT_EQ(w.groups.all()[0].files.size(), 2U);
  EXPECT_EQ(w.groups.all()[0].files[0].name, "cpu.weight");
  EXPECT_EQ(w.groups.all()[0].files[0].text, "39");
  EXPECT_EQ(w.groups.all()[0].files[1].text, "-3");
}

TEST(vlag_block, what_is_wrong_is_told_with_its_place) {
  struct wrong {
    std::string_view block;
    std::string_view message;
  };
  constexpr std::string_view expect = R"("policies":["linux-6.12","linux-6.1"],"expect":[)";
  for (const wrong& w : std::vector<wrong>{
           {R"("machin":{})", "w:2:9: \"machin\" is not known here; did you mean \"machine\"?"},
           {R"("machine":3)", "w:2:19: \"machine\" is an integer; expected an object"},
           {R"("machine":{"cpus":0})", "w:2:27: \"cpus\" is 0; expected 1 to 512"},
           {R"("machine":{"cpus":1,"cpus":2})", "w:2:29: \"cpus\" is there twice"},
           {R"("machine":{"hz":100,"tick_ns":1000000})", "w:2:29: both \"hz\" and \"tick_ns\""},
           {R"("machine":{"tick_ns":5})", "w:2:30: \"tick_ns\" is no time from 10us to 1s"},
           {R"("machine":{"switch_cost_ns":"5 ms"})", "w:2:37: \"switch_cost_ns\" is no time"},
           {R"("machine":{"switch_cost_ns":-1})", "w:2:37: \"switch_cost_ns\" is no time"},
           {R"("machine":{"hrtick":1})", "w:2:29: \"hrtick\" is an integer; expected true or"},
           {R"("policies":[])", "w:2:20: 0 policies; expected 1 to 64"},
           {R"("policies":["linux-6.13"])", "w:2:21: policy linux-6.13: unknown profile"},
           {R"("policies":["linux-6.12,a.cpus=0"])", "w:2:21: \"linux-6.12,a.cpus=0\" sets cpus"},
           {R"("tasks":{"c*":{"nice":1}})", "w:2:18: no task is called \"c*\""},
           {R"("tasks":{"a-0":{"nice":20}})", "w:2:32: \"nice\" is 20; expected -20 to 19"},
           {R"("tasks":{"a-0":{"slice":"0.05ms"}})", "w:2:33: \"slice\" is no time from 100us"},
           {R"("groups":{"g":{}})", "w:2:19: \"g\" is no group; expected a path"},
           {R"("groups":{"/h":{}})", "w:2:19: no task is in a group \"/h\""},
           {R"("groups":{"/g":{"cpu.weight":0}})", "w:2:25: cpu.weight cannot be '0'"},
           {R"("groups":{"/g":{"cpu.wait":1}})", "w:2:25: there is no file cpu.wait"},
           {R"("summary":"")", "w:2:19: \"summary\" is empty"},
           {R"("expect":[])", "w:2:9: \"expect\" without \"policies\""}}) {
    EXPECT_EQ(refusal(w.block).substr(0, w.message.size()), w.message) << refusal(w.block);
  }
  for (const wrong& w : std::vector<wrong>{
           {R"({"max":1})", "no \"what\"; expected one of share, runtime,"},
           {R"({"what":"shar","max":1})", "figure \"shar\"; expected one of share,"},
           {R"({"what":"share"})", "neither \"min\" nor \"max\""},
           {R"({"what":"share","max":"1"})", "\"max\" is no number from 0"},
           {R"({"what":"share","max":-0.5})", "\"max\" is no number from 0"},
           {R"({"what":"share","max":0.1234567})", "\"max\" is no number from 0"},
           {R"({"what":"share","max":1e3})", "\"max\" is no number from 0"},
           {R"({"what":"share","min":0.6,"max":0.5})", "\"min\" is above \"max\""},
           {R"({"what":"p99","max":0.5})", "\"max\" is no time from 0s"},
           {R"({"what":"switches","max":0.5})", "\"max\" is a number with a fraction; expected an"},
           {R"({"what":"share","policy":3,"max":1})", "\"policy\" is 3; expected 1 to 2"},
           {R"({"what":"share","policy":0,"max":1})", "\"policy\" is 0; expected 1 to 2"},
           {R"({"what":"share","task":"c","max":1})", "no task is called \"c\""},
           {R"({"what":"share","group":"/h","max":1})", "no task is in a group \"/h\""},
           {R"({"what":"share","task":"a*","group":"/g","max":1})", "both \"task\" and \"group\""},
           {R"({"what":"wakeups","group":"/g","max":1})", "groups do not have this figure"},
           {R"({"what":"share","over":{"what":"p99"},"max":1})", "a ratio of two kinds of figures"},
           {R"({"what":"share","over":{},"max":1})", "\"over\" is the figure itself"},
           {R"({"what":"share","over":{"tsk":"a"},"max":1})", "\"tsk\" is not known here; did you"},
           {R"({"what":"share","most":1})", "\"most\" is not known here"}}) {
    const std::string message = refusal(std::string(expect) + std::string(w.block) + "]");
    EXPECT_EQ(message.substr(0, 4), "w:2:") << message;
    EXPECT_NE(message.find(w.message), std::string::npos) << message;
  }
}

// ---- Expectations

std::vector<judged_expectation> judged(std::string_view expectations,
                                       std::string_view tasks = two_tasks) {
  const std::string text =
      "{" + std::string(tasks) +
      R"(,"vlag":{"duration":"1s","machine":{"tick_jitter_ns":0,"timer_slack_ns":0},
         "policies":["linux-6.12","linux-6.12,/g.cpu.weight=33"],"expect":[)" +
      std::string(expectations) + "]}}";
  const rtapp_workload w = parse_rtapp(text, "w", {});
  std::vector<run_figures> runs;
  for (const std::string& spec : w.block.policies) {
    runs.push_back(run_rtapp(w, parse_variant(spec, {}, w.cpus, w.block.machine.tick_ns), {}));
  }
  return judge(w.block.expectations, runs);
}

TEST(expectation, compares_a_figure_with_its_bounds) {
  const auto all = judged(
      R"({"says":"half","what":"share","task":"a*","min":0.49,"max":0.51},
         {"what":"share","group":"/g","policy":1,"min":0.49,"max":0.51},
         {"what":"runtime","policy":1,"min":"1s","max":"1s"},
         {"what":"run_mean","task":"b*","policy":1,"min":"3.5ms","max":"4.5ms"},
         {"what":"max","task":"b*","policy":1,"max":"1ms"})");
  ASSERT_EQ(all.size(), 6U);
  EXPECT_TRUE(all[0].holds) << all[0].value;
  EXPECT_EQ(all[0].figure, "CPU share of a* under linux-6.12");
  EXPECT_EQ(all[0].expected, "49 % to 51 %");
  EXPECT_EQ(all[0].says, "half");
  EXPECT_FALSE(all[1].holds) << all[1].value;  // 33 beside 100
  EXPECT_NEAR(static_cast<double>(*all[1].number), 248'000, 4'000);
  EXPECT_TRUE(all[2].holds) << all[2].value;
  EXPECT_TRUE(all[3].holds) << all[3].value;
  EXPECT_EQ(all[3].expected, "1s");
  EXPECT_TRUE(all[4].holds) << all[4].value;
  EXPECT_FALSE(all[5].holds) << all[5].value;
}

TEST(expectation, compares_two_policies_or_two_tasks) {
  const auto all = judged(
      R"({"what":"share","task":"a-0","policy":2,"over":{"policy":1},"min":0.4,"max":0.6},
         {"what":"share","task":"a-0","policy":2,"over":{"task":"b-0"},"max":0.25})");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].figure,
            "CPU share of a-0 under linux-6.12,/g.cpu.weight=33 / that under linux-6.12");
  EXPECT_TRUE(all[0].holds) << all[0].value;
  EXPECT_EQ(all[1].figure, "CPU share of a-0 / CPU share of b-0 under linux-6.12,/g.cpu.weight=33");
  EXPECT_FALSE(all[1].holds) << all[1].value;  // 33 / 100
}

TEST(expectation, delays_are_waits_after_wake_ups_and_after_losing_the_cpu) {
  run_figures run;
  task_figures& t = run.tasks.emplace_back();
  t.pid = 1;
  t.name = "a-0";
  t.wake_latency.add(1'000'000, 0);
  t.preempt_wait.add(9'000'000, 0);
  const auto value = [&](figure_measure what) {
    expectation e;
    e.figure.what = what;
    e.max = 0;
    return judge({&e, 1}, {&run, 1}).front().number;
  };
  EXPECT_EQ(value(figure_measure::mean), 5'000'000U);
  EXPECT_EQ(value(figure_measure::max), 9'000'000U);
  EXPECT_EQ(value(figure_measure::wake_mean), 1'000'000U);
  EXPECT_EQ(value(figure_measure::wake_max), 1'000'000U);
}

TEST(expectation, without_a_value_does_not_hold) {
  const auto all = judged(
      R"({"what":"wake_mean","policy":1,"max":"1s"},
         {"what":"finished","task":"a*","policy":1,"max":"1s"},
         {"what":"wakeups","policy":1,"over":{"what":"preemptions"},"max":10})",
      R"("tasks":{"a":{"run":1000,"taskgroup":"/g"}})");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].value, "not finished");
  EXPECT_EQ(all[2].value, "the second figure is 0");
  EXPECT_FALSE(all[1].holds);
  EXPECT_FALSE(all[2].holds);
}

TEST(expectation, knows_when_tasks_finished) {
  const auto all = judged(R"({"what":"finished","task":"a*","min":"5ms","max":"5ms"},
                             {"what":"finished","policy":1,"min":"12ms","max":"12ms"})",
                          R"("tasks":{"a":{"loop":5,"run":1000,"taskgroup":"/g","cpus":[0]},
                             "b":{"loop":3,"run":4000,"cpus":[1]}})");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_TRUE(all[0].holds) << all[0].value;
  EXPECT_TRUE(all[2].holds) << all[2].value;
}

}  // namespace
}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// What is refused in rt-app files, what is warned of, and JSON as rt-app takes it.
#include <gtest/gtest.h>

#include "rtapp_case.hpp"

namespace vlag {
namespace test {
namespace {

std::string refused(std::string_view events) {
  return refusal(fmt::format("{{\"tasks\":{{\"a\":{{\"loop\":1,\n{}}}}}}}", events));
}

TEST(rtapp, what_is_wrong_is_told_with_its_place) {
  EXPECT_EQ(refused("\"run\":-1"), "w:2:7: \"run\" is -1; expected 0 to 1000000000000");
  EXPECT_EQ(refused("\"run\":1.5"),
            "w:2:7: \"run\" is a number with a fraction; expected an integer");
  EXPECT_EQ(refused("\"slep\":1"), "w:2:1: \"slep\" is no event; expected \"sleep\"?");
  EXPECT_EQ(refused("\"ruun_2\":1"), "w:2:1: \"ruun_2\" is no event; expected \"run\"?");
  EXPECT_EQ(refused("\"run\""),
            "w:2:1: \"run\" has no value; only \"suspend\" may lack one; expected :");
  EXPECT_EQ(refused("\"fork\":\"b\""),
            "w:2:8: fork of \"b\", which is no task here; expected one of \"tasks\"");
  EXPECT_EQ(refused("\"unlock\":\"m\""),
            "w:2:10: unlock of mutex \"m\", which no task locks; expected a lock of it");
  EXPECT_EQ(refused("\"wait\":{\"ref\":\"c\",\"mutex\":\"m\"}"),
            "w:2:1: wait of mutex \"m\", which no task locks; expected a lock of it");
  EXPECT_EQ(refused("\"wait\":{\"ref\":\"c\"}"),
            "w:2:8: \"wait\" lacks \"mutex\"; expected a string there");
  EXPECT_EQ(refused("\"policy\":\"SCHED_DEADLINE\",\"run\":1"),
            "w:2:10: policy \"SCHED_DEADLINE\"; expected SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, "
            "SCHED_RR or SCHED_FIFO (deadline is not simulated)");
  EXPECT_EQ(refused("\"priority\":20,\"run\":1"), "w:2:12: \"priority\" is 20; expected -20 to 19");
  EXPECT_EQ(refused("\"util_max\":1025,\"run\":1"),
            "w:2:12: \"util_max\" is 1025; expected -1 to 1024");
  EXPECT_EQ(refused("\"taskgroup\":\"a\",\"run\":1"),
            "w:2:13: taskgroup \"a\"; expected a path like /a/b");
  EXPECT_EQ(refused("\"timer\":{\"mode\":\"late\"}"),
            "w:2:17: timer mode \"late\"; expected relative or absolute");
  EXPECT_EQ(refused("\"cpus\":[512],\"run\":1"), "w:2:9: \"cpus\" is 512; expected 0 to 511");
  EXPECT_EQ(refused("\"suspend\":7"), "w:2:11: \"suspend\" is an integer; expected a string");
  EXPECT_EQ(refused("\"frag\":1"), "w:1:15: no events; expected at least one");
  EXPECT_EQ(refused("\"phases\":{}"), "w:2:10: no phases; expected at least one");
  EXPECT_EQ(refused("\"phases\":{\"p\":{}}"), "w:2:15: no events; expected at least one");
  EXPECT_EQ(refused("\"instance\":0,\"run\":1"),
            "w:1:10: every task has 0 instances; expected one that begins by itself");
  EXPECT_EQ(refusal(R"({"tasks":{}})"), "w:1:10: no task; expected at least one in \"tasks\"");
  EXPECT_EQ(refusal("{}"), "w:1:1: no tasks; expected an object \"tasks\"");
  EXPECT_EQ(refusal(R"({"tasks":{"a":{"run":1}},"global":{"duration":0}})"),
            "w:1:47: \"duration\" is 0; expected -1 or 1 or more");
  EXPECT_EQ(refusal(R"({"tasks":{"a":{"run":1}},"global":{"pi_enabled":1}})"),
            "w:1:49: \"pi_enabled\" is an integer; expected true or false");
}

TEST(rtapp, a_long_name_is_refused) {
  EXPECT_EQ(refusal(fmt::format("{{\"tasks\":{{\"{:a>256}\":{{\"run\":1}}}}}}", "")),
            "w:1:11: a task's name of 256 bytes; expected at most 255");
}

TEST(rtapp, a_task_that_nobody_begins_is_checked_all_the_same) {
  EXPECT_EQ(refusal(R"({"tasks":{"a":{"loop":1,"run":1},
"b":{"instance":0,"run":"x"}}})"),
            "w:2:25: \"run\" is a string; expected an integer");
}

TEST(rtapp, tasks_that_fork_without_end_are_refused) {
  EXPECT_EQ(refused("\"fork\":\"a\"").substr(0, 6), "w:2:1:");
  EXPECT_EQ(refusal(R"({"tasks":{"a":{"loop":1,"fork":"b"},
"b":{"instance":0,"loop":1,"fork":"c"},
"c":{"instance":0,"loop":1,"fork":"b"}}})"),
            "w:3:28: task \"b\" forks itself again and again; expected forks that end");
  EXPECT_EQ(refusal(R"({"tasks":{"a":{"loop":-1,
"fork":"b","run":1},"b":{"instance":0,"loop":1,"run":1}}})"),
            "w:2:1: task a-0 forks once too often; expected at most 1024 of one task");
}

TEST(rtapp, loops_go_round_once_or_more_and_tasks_are_bounded) {
  EXPECT_EQ(refusal(R"({"tasks":{"a":{"loop":0,"run":1}}})"),
            "w:1:23: \"loop\" is 0; expected -1 or 1 or more");
  EXPECT_EQ(refusal(R"({"tasks":{"a":{"instance":16384,"loop":1,"run":1},"b":{"run":1}}})"),
            "w:1:10: 16385 tasks with 1024 for each that is forked; expected at most 16384");
}

TEST(rtapp, loops_without_time_passing_are_refused_with_who_takes_part) {
  EXPECT_EQ(refused("\"yield\":\"\",\"a\":1").substr(0, 8), "accepted");
  for (const char* loop :
       {"\"yield\":\"\"", "\"run\":0", "\"timer\":{\"ref\":\"t\",\"period\":0}",
        "\"barrier\":\"b\"", "\"sem_post\":\"s\"", "\"lock\":\"m\",\"unlock\":\"m\"",
        "\"signal\":\"c\"", "\"mem\":10", "\"policy\":\"SCHED_FIFO\",\"sleep\":0"}) {
    const std::string text = fmt::format("{{\"tasks\":{{\"a\":{{\"loop\":-1,\n{}}}}}}}", loop);
    EXPECT_NE(refusal(text).find("task a-0 loops here without time passing"), std::string::npos)
        << loop << ": " << refusal(text);
  }
  EXPECT_EQ(refusal(R"({"tasks":{
"a":{"loop":-1,"sem_post":"s","sem_wait":"t"},
"b":{"loop":-1,"sem_wait":"s","sem_post":"t"},
"c":{"loop":-1,"run":10,"sleep":10}}})"),
            "w:2:16: 2 tasks go round without time passing (a-0 at 2:16, b-0 at 3:16), at 10 us; "
            "expected a run or a sleep in the loop");
}

TEST(rtapp, fair_tasks_that_sleep_for_no_time_go_on) {
  // The timer slack of 50 us.
  const run_figures run = run_workload(tasks(R"("a":{"loop":-1,"sleep":0})"), 10 * ms);
  EXPECT_EQ(figures_of(run, "a-0").wakeups, 200U);
}

std::string anomaly(const run_figures& run) {
  return run.anomalies.empty() ? "none" : run.anomalies.front().first;
}

TEST(rtapp, tasks_that_wait_for_good_are_told_with_what_for) {
  EXPECT_EQ(anomaly(run_workload(tasks(R"("a":{"loop":1,"lock":"m","sleep":9,"lock":"n"},
"b":{"loop":1,"lock":"n","sleep":9,"lock":"m"})"))),
            "tasks wait for good: a-0 at 1:46 for mutex n that b-0 has, "
            "b-0 at 2:36 for mutex m that a-0 has");
  EXPECT_EQ(anomaly(run_workload(tasks(R"("a":{"loop":1,"sem_wait":"s"},
"b":{"loop":1,"suspend"},"c":{"loop":1,"barrier":"b"},"d":{"loop":1,"sleep":9,"barrier":"b","barrier":"b"},
"e":{"loop":1,"lock":"m","wait":{"ref":"x","mutex":"m"}})"))),
            "tasks wait for good: a-0 at 1:25 for semaphore s, b-0 at 2:15 to be woken as b, "
            "c-0 at 2:40 for 3 tasks at barrier b, d-0 at 2:79 for 3 tasks at barrier b, "
            "e-0 at 3:26 to be woken as x");
  EXPECT_EQ(anomaly(run_workload(tasks(R"("a":{"loop":1,"sleep":9})"))), "none");
}

TEST(rtapp, an_inherited_mutex_that_is_never_given_back_is_told_too) {
  const rtapp_workload w = parse_rtapp(R"({"global":{"pi_enabled":true},"tasks":{
"a":{"loop":1,"lock":"m","run":5},"b":{"loop":1,"run":1,"lock":"m"}}})",
                                       "w", {});
  EXPECT_EQ(anomaly(run_workload(w)), "tasks wait for good: b-0 at 2:57 for mutex m that a-0 has");
}

std::vector<std::string> warnings(std::string_view text) { return tasks(text).warnings; }

TEST(rtapp, what_changes_nothing_is_warned_of_once_with_its_place) {
  using list = std::vector<std::string>;
  EXPECT_EQ(warnings(R"("a":{"instance":2,"frag":1,"loop":1,"run":1},"b":{"frag":2,"run":1})"),
            list{"w:1:29: \"frag\" is not known and changes nothing"});
  EXPECT_EQ(warnings(R"("a":{"loop":1,"phases":{"p":{"delay":3,"run":1}}})"),
            list{"w:1:40: \"delay\" is a setting of tasks and changes nothing in a phase"});
  EXPECT_EQ(warnings(R"("a":{"run":3,"phases":{"p":{"run":1}}})"),
            list{"w:1:16: \"run\" is an event beside \"phases\" and changes nothing"});
  EXPECT_EQ(warnings(R"("a":{"loop":1,"loop":2,"run":1})"),
            list{"w:1:25: \"loop\" is there twice; the first counts"});
  EXPECT_EQ(warnings(R"("a":{"timer":{"perod":1}})"),
            list{"w:1:25: \"perod\" is not known and changes nothing"});
  EXPECT_EQ(warnings(R"("a":{"run":1},"b":{"instance":0,"run":1})"),
            list{"w:1:25: task \"b\" has 0 instances and nobody forks it: it never runs"});
  EXPECT_EQ(warnings(R"("a":{"suspend":"x"})"),
            list{"w:1:16: suspend of \"x\", which nobody wakes: waits for good"});
  EXPECT_EQ(warnings(R"("a":{"resume":"x"})"),
            list{"w:1:16: nobody waits for \"x\": this wakes nobody"});
  EXPECT_EQ(warnings(R"("a":{"sem_wait":"x"})"),
            list{"w:1:16: sem_wait of \"x\", which nobody posts: waits for good"});
  EXPECT_EQ(
      parse_rtapp(R"({"tasks":{"a":{"run":1}},"global":{"speed":1},"x":{}})", "w", {}).warnings,
      (list{"w:1:47: \"x\" is not known and changes nothing",
            "w:1:36: \"speed\" is not known and changes nothing"}));
}

// ---- The dialect

std::uint64_t cpu_us(std::string_view text, key_reading keys = key_reading::in_order) {
  rtapp_options options;
  options.keys = keys;
  return run_workload(parse_rtapp(text, "w", options)).tasks.at(0).cpu_ns / us;
}

TEST(rtapp, equal_keys_count_in_order_unless_strict) {
  const std::string_view text = R"({"tasks":{"a":{"loop":1,"run":1000,"run":3000}}})";
  EXPECT_EQ(cpu_us(text), 4000U);
  EXPECT_EQ(cpu_us(text, key_reading::strict), 3000U);
  rtapp_options options;
  options.keys = key_reading::strict;
  EXPECT_EQ(parse_rtapp(text, "w", options).warnings,
            std::vector<std::string>{"w:1:25: replaced by a later key of the same name"});
}

TEST(rtapp, json_is_taken_as_json_c_takes_it) {
  EXPECT_EQ(cpu_us("/* a */ {'tasks':{'a':{'loop':1,'run':2,},},// b\n}"), 2U);
  EXPECT_EQ(cpu_us("{\"tasks\":{\"a\":{\"loop\":1,\"r\\u0075n\":2}}}\n\n"), 2U);
  EXPECT_EQ(refused("\"run\":1,\"suspend\",").substr(0, 8), "accepted");
  EXPECT_EQ(refusal(R"({"tasks":{"a":{"loop":1,"suspend"}}})", key_reading::strict),
            "w:1:34: expected : after the key \"suspend\"; found '}'");
  EXPECT_EQ(refusal(R"({"tasks":{"a":{"run":1}})"),
            "w:1:25: expected , or } after a member; the file ends");
  EXPECT_EQ(refusal("{\"tasks\":{\"a\":{\"run\":1}}} 1"),
            "w:1:27: expected the end of the file after the closing }");
  EXPECT_EQ(refusal("{ /* "), "w:1:3: a comment that never ends; expected */");
  EXPECT_EQ(refusal("{\"tasks\": 99999999999999999999}"),
            "w:1:11: a number beyond 64 bits; expected a smaller one");
  EXPECT_EQ(refusal(std::string(100, '{')).substr(0, 8), "w:1:2: e");
  EXPECT_NE(refusal("{" +
                    [] {
                      std::string deep;
                      for (int i = 0; i < 40; ++i) deep += "\"a\":{";
                      return deep;
                    }())
                .find("nested too deep"),
            std::string::npos);
}

// The order matters: "runtime" before "run", "memrun" before "mem".
TEST(rtapp, events_are_told_by_how_a_key_begins) {
  EXPECT_EQ(cpu_us(R"({"tasks":{"a":{"loop":1,"running_hot":5}}})"), 5U);
  EXPECT_EQ(cpu_us(R"({"tasks":{"a":{"loop":1,"runtimely":70}}})"), 96U);
  EXPECT_EQ(cpu_us(R"({"tasks":{"a":{"loop":1,"memory":50000}}})"), 5U);
  EXPECT_EQ(cpu_us(R"({"tasks":{"a":{"loop":1,"memrun9":{"type":"read","count":10000}}}})"), 64U);
  EXPECT_EQ(cpu_us(R"({"tasks":{"a":{"loop":1,"sleepy":5,"run":1}}})"), 1U);
  EXPECT_EQ(refused("\"lockfoo\":1"), "w:2:11: \"lockfoo\" is an integer; expected a string");
}

}  // namespace
}  // namespace test
}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// `vlag run` and `vlag scenarios`, as a user runs them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command/shell.hpp"

namespace {

using json = nlohmann::ordered_json;
using vlag::test::scratch_shell;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class run_command : public ::testing::Test {
 protected:
  run_command() {
    shell_.write("w.json", R"({"tasks":{
      "frame":{"run":3000,"timer":{"ref":"unique","period":16000}},
      "hog":{"instance":2,"run":1000}},
      "global":{"duration":1}})");
  }
  // With expectations on share of the hogs under two policies.
  void write_expecting(const std::string& max) const {
    shell_.write("e.json", R"({"tasks":{"hog":{"instance":2,"run":1000}},
      "vlag":{"duration":"200ms","policies":["linux-6.1","linux-6.12"],
      "expect":[{"says":"even","what":"share","task":"hog-0","max":)" +
                               max + "}]}}");
  }
  scratch_shell::outcome vlag(const std::string& arguments) const {
    return shell_.run(VLAG_COMMAND " " + arguments);
  }
  void refuses(const std::string& arguments, const std::vector<std::string>& parts) const {
    const auto o = vlag(arguments);
    EXPECT_EQ(o.code, 2) << arguments << "\n" << o.err;
    EXPECT_EQ(o.out, "") << arguments;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << arguments << "\n" << o.err;
    for (const std::string& part : parts) {
      EXPECT_TRUE(has(o.err, part)) << arguments << "\n" << o.err << "lacks: " << part;
    }
  }
  bool exists(const std::string& name) const {
    return std::filesystem::exists(shell_.folder() / name);
  }

  scratch_shell shell_;
};

TEST_F(run_command, compares_policies_without_a_recording) {
  const auto o = vlag("run w.json --policy linux-6.1 --policy linux-6.12,frame*.slice=0.1ms");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_FALSE(has(o.out, "recorded"));
  EXPECT_TRUE(has(o.out, "What changed most:")) << o.out;
  EXPECT_TRUE(has(o.out, "instead of"));
  EXPECT_TRUE(has(o.out, "under linux-6.1:")) << o.out;  // the first is the baseline
  EXPECT_TRUE(has(o.out, "\nlinux-6.12,frame*.slice=0.1ms\n"));
}

TEST_F(run_command, shows_the_tasks_that_are_asked_for) {
  const auto o = vlag("run w.json --quiet --tasks 'frame*'");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(o.out, "frame-0"));
  EXPECT_FALSE(has(o.out, "\nhog")) << o.out;
  EXPECT_TRUE(has(o.out, "(2 others)")) << o.out;
  refuses("run w.json --tasks fram-0", {"--tasks", "did you mean 'frame-0'?"});
}

TEST_F(run_command, writes_results_that_compare_reads) {
  const auto o = vlag("run w.json --policy linux-6.1 --policy linux-6.12 --schedstat --json a");
  ASSERT_EQ(o.code, 0) << o.err;
  const json result = json::parse(shell_.content("a"));
  EXPECT_EQ(result["schema"], "vlag-result/1");
  EXPECT_EQ(result["run"]["arguments"][1], "w.json");
  ASSERT_EQ(result["results"].size(), 2U);
  EXPECT_EQ(result["results"][0]["policy"]["profile"], "linux-6.1");
  EXPECT_TRUE(result["results"][0]["counters"].contains("schedstat"));
  EXPECT_FALSE(result.contains("expectations"));
  EXPECT_EQ(result["self_check"], nullptr);
  EXPECT_EQ(vlag("run w.json --policy linux-6.1 --policy linux-6.12 --schedstat --json -").out,
            shell_.content("a"));
  const auto compared = vlag("compare a");
  EXPECT_EQ(compared.code, 0) << compared.err;
  EXPECT_TRUE(has(compared.out, "hog"));
}

TEST_F(run_command, draws_a_page_and_a_perfetto_trace) {
  const auto o = vlag("run w.json --policy linux-6.1 --policy linux-6.12 --html p --perfetto t");
  if (has(o.err, "built without npm")) GTEST_SKIP() << o.err;
  ASSERT_EQ(o.code, 0) << o.err;
  const std::string page = shell_.content("p");
  const std::string opening = "<script type=\"application/json\" id=\"data\">";
  const auto begin = page.find(opening);
  ASSERT_NE(begin, std::string::npos);
  const auto from = begin + opening.size();
  const json data = json::parse(page.substr(from, page.find("</script>", from) - from));
  EXPECT_EQ(data["trace"]["events"], nullptr);
  EXPECT_EQ(data["trace"]["name"], "w.json");
  ASSERT_EQ(data["runs"].size(), 2U);
  EXPECT_EQ(data["runs"][0]["profile"], "linux-6.1");
  EXPECT_EQ(data["runs"][0]["span"], 1'000'000'000);
  EXPECT_TRUE(data["runs"][0]["timeline"].is_object());
  EXPECT_EQ(data["change"]["base"], 0);
  EXPECT_EQ(data["change"]["run"], 1);
  EXPECT_TRUE(has(data["command"].get<std::string>(), "vlag run w.json"));
  const auto summary = vlag("trace info t");
  EXPECT_EQ(summary.code, 0) << summary.err;
  EXPECT_TRUE(has(summary.out, "CPUs         2")) << summary.out;  // of two runs
}

TEST_F(run_command, one_policy_has_a_page_too) {
  const auto o = vlag("run w.json --html p");
  if (has(o.err, "built without npm")) GTEST_SKIP() << o.err;
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(exists("p"));
}

TEST_F(run_command, dumps_the_queues_at_a_time) {
  const auto o = vlag("run w.json --debug-at 33ms --policy linux-6.1 --policy linux-6.12");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(o.out, "linux-6.12, at 33ms"));
  EXPECT_TRUE(has(o.out, "hog-1"));
  refuses("run w.json --debug-at 2s", {"--debug-at 2s", "at most 1s"});
  refuses("run w.json --debug-at x", {"--debug-at x"});
  refuses("run w.json --debug-at 1ms --json -", {"--debug-at"});
}

TEST_F(run_command, explain_takes_workload_files) {
  const auto o = vlag("explain w.json --at 40ms");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(o.out, "CPU 0, at ")) << o.out;
  EXPECT_TRUE(has(o.out, "hog-")) << o.out;
  refuses("explain w.json --at 40ms --window 0..1ms", {"--window", "workload file"});
  refuses("explain w.json --at 40s", {"--at 40s", "at most 1s"});
  refuses("explain w.json --at 40ms --cpu 1", {"--cpu: 1 is not in the machine"});
  refuses("explain w.json --at 40ms --policy linux-6.1 --policy linux-6.12", {"2 policies"});
  refuses("explain slices-asymmetric --at 1s", {"slices-asymmetric names 3 policies"});
  EXPECT_EQ(vlag("explain slices-asymmetric --policy linux-6.12 --at 1s").code, 0);
}

TEST_F(run_command, says_whether_what_the_file_expects_was_seen) {
  write_expecting("0.6");
  const auto holds = vlag("run e.json");
  EXPECT_EQ(holds.code, 0) << holds.err;
  EXPECT_TRUE(has(holds.out, "Expectations\n  even\n  holds  CPU share of hog-0 under linux-6.1"))
      << holds.out;
  EXPECT_TRUE(has(holds.out, "under linux-6.12: 50")) << holds.out;
  write_expecting("0.4");
  const auto fails = vlag("run e.json --json r");
  EXPECT_EQ(fails.code, 1) << fails.err;
  EXPECT_TRUE(has(fails.out, "FAILS  CPU share of hog-0 under linux-6.12: 50")) << fails.out;
  EXPECT_TRUE(has(fails.out, "expected at most 40 %"));
  const json all = json::parse(shell_.content("r"))["expectations"];
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["holds"], false);
  EXPECT_EQ(all[0]["max"], 400'000);
  EXPECT_EQ(all[0]["unit"], "ppm");
  const auto both = vlag("run e.json --json -");
  EXPECT_EQ(both.code, 1);
  EXPECT_EQ(both.out, shell_.content("r"));
}

TEST_F(run_command, another_case_than_the_files_is_not_judged) {
  write_expecting("0.4");
  for (const std::string option :
       {"--policy linux-6.12", "--set NO_PLACE_LAG", "--duration 100ms", "--cpus 2"}) {
    const auto o = vlag("run e.json --quiet " + option);
    EXPECT_EQ(o.code, 0) << option << o.err;
    EXPECT_FALSE(has(o.out, "Expectations")) << option;
    EXPECT_TRUE(has(o.out, "what the file expects is not checked: --")) << o.out;
  }
  EXPECT_EQ(vlag("run e.json --seed 2").code, 1);  // still the file's
}

TEST_F(run_command, bad_input_is_told_in_one_line) {
  shell_.write("bad.json", "{\"tasks\":{\"a\":{\n\"slep\":1}}}");
  shell_.write("block.json", "{\"tasks\":{\"a\":{\"run\":1}},\n\"vlag\":{\"machin\":{}}}");
  refuses("run", {"WORKLOAD is required"});
  refuses("run none.json", {"none.json"});
  refuses("run bad.json", {"bad.json:2:1:", "slep"});
  refuses("run block.json", {"block.json:2:9:", "machin"});
  refuses("run k8s-weight", {"no such file or scenario", "did you mean k8s-weights?"});
  refuses("run nonsense", {"nonsense: no such file or scenario", "vlag scenarios"});
  refuses("run w.json --duration 0", {"--duration 0"});
  refuses("run w.json --duration 1x", {"--duration 1x"});
  refuses("run w.json --cpus 0", {"--cpus"});
  refuses("run w.json --policy linux-6.13", {"unknown profile"});
  refuses("run w.json --policy linux-6.12,frme-0.nice=1", {"did you mean 'frame-0'?"});
  refuses("run w.json --policy linux-6.12,hog*.cpus=0", {"cpus is for recordings"});
  refuses("run w.json --set TICK_WHAT=1", {"--set TICK_WHAT=1"});
  refuses("run w.json --json w.json", {"w.json"});
  refuses("run w.json --json x --perfetto x", {"both are x"});
  refuses("run w.json --perfetto nowhere/x", {"nowhere"});
  refuses("run random:tasks=0", {"random:tasks=0"});
  EXPECT_FALSE(exists("x"));
}

TEST_F(run_command, writes_the_log_of_rt_app) {
  std::filesystem::create_directory(shell_.folder() / "log");
  const auto o = vlag("run w.json --policy linux-6.12 --rtapp-log log --quiet");
  EXPECT_EQ(o.code, 0) << o.err;
  for (const char* name : {"frame-0", "hog-1", "hog-2"}) {
    EXPECT_TRUE(exists(std::string("log/rt-app-") + name + ".log")) << name;
  }
  const auto lines = shell_.run("tail -n +2 log/rt-app-frame-0.log | wc -l");
  EXPECT_EQ(std::stoi(lines.out), 62);  // of 16 ms, in a second
  refuses("run w.json --rtapp-log none", {"--rtapp-log none", "a folder that exists"});
  refuses("run w.json --policy linux-6.1 --policy linux-6.12 --rtapp-log log",
          {"--rtapp-log log: 2 policies", "expected one"});
}

TEST_F(run_command, reads_standard_input_and_random_workloads) {
  EXPECT_EQ(vlag("run - --quiet < w.json").code, 0);
  const auto o = vlag("run random:tasks=5,seed=3 --quiet --policy linux-6.1 --policy linux-6.12");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(vlag("run random:tasks=5,seed=3 --json -").out,
            vlag("run random:tasks=5,seed=3 --json -").out);
}

TEST_F(run_command, scenarios_are_listed_and_found_by_name) {
  const auto list = vlag("scenarios");
  EXPECT_EQ(list.code, 0) << list.err;
  for (const auto& file : std::filesystem::directory_iterator(VLAG_SOURCE "/scenarios")) {
    EXPECT_TRUE(has(list.out, "\n" + file.path().stem().string() + " ")) << list.out;
  }
  EXPECT_EQ(shell_.run("VLAG_SCENARIOS=. " VLAG_COMMAND " run w --quiet").code, 0);
  refuses("scenarios extra", {"extra"});
  const auto none = shell_.run("VLAG_SCENARIOS=nowhere " VLAG_COMMAND " scenarios");
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(has(none.err, "nowhere"));
}

}  // namespace

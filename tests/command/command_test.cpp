// SPDX-License-Identifier: Apache-2.0
//
// The built command, run as a user runs it: exit codes, messages, tables.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

const std::string recording = "tests/data/traces/6.1-dspin-1cpu";
const std::string replay = "replay " + recording + ".trace.xz ";
const std::string attrs = "--attrs " + recording + ".json ";

struct outcome {
  int code;
  std::string out;
  std::string err;
};

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class command : public ::testing::Test {
 protected:
  command()
      : folder_(fs::temp_directory_path() /
                ("vlag-command-" + std::to_string(::getpid()) + "-" +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::create_directories(folder_);
  }
  ~command() override { fs::remove_all(folder_); }

  outcome shell(const std::string& line) const {
    const fs::path out = folder_ / "stdout";
    const fs::path err = folder_ / "stderr";
    const std::string whole = "cd '" VLAG_SOURCE "' && { " + line + "; } >'" + out.string() +
                              "' 2>'" + err.string() + "' </dev/null";
    const int status = std::system(whole.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(out), content(err)};
  }
  outcome vlag(const std::string& arguments) const { return shell(VLAG_COMMAND " " + arguments); }

  std::string file(const std::string& name, const std::string& text) const {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

  // Exit code 2, nothing on stdout, one line on stderr that holds all parts.
  void refuses(const std::string& arguments, const std::vector<std::string>& parts) const {
    const outcome o = vlag(arguments);
    EXPECT_EQ(o.code, 2) << arguments << "\n" << o.err;
    EXPECT_EQ(o.out, "") << arguments;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << arguments << "\n" << o.err;
    EXPECT_EQ(o.err.rfind("vlag: ", 0), 0U) << o.err;
    for (const std::string& part : parts) {
      EXPECT_TRUE(has(o.err, part)) << arguments << "\n" << o.err << "lacks: " << part;
    }
  }

  fs::path folder_;
};

TEST_F(command, says_its_version) {
  const outcome o = vlag("--version");
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.out, "vlag " VLAG_VERSION "\n");
}

TEST_F(command, help_of_each_subcommand_shows_an_example_that_works) {
  for (const std::string name :
       {"replay", "run", "scenarios", "explain", "latency", "timehist", "map", "verify",
        "trace info", "trace convert", "profiles", "features"}) {
    const outcome help = vlag(name + " --help");
    EXPECT_EQ(help.code, 0);
    const auto at = help.out.find("Example:\n");
    ASSERT_NE(at, std::string::npos) << help.out;
    std::string example = help.out.substr(help.out.find("vlag ", at));
    example.replace(0, 4, VLAG_COMMAND);
    const outcome o = shell(example.substr(0, example.find_last_not_of(" \n") + 1));
    EXPECT_EQ(o.code, 0) << example << o.err;
    EXPECT_NE(o.out, "");
  }
}

TEST_F(command, wrong_usage_is_told_with_the_nearest_name) {
  refuses("", {"no command given", "--help"});
  refuses("repla", {"unknown command repla", "did you mean replay?"});
  refuses("replay", {"TRACE is required"});
  refuses(replay + "--polcy linux-6.1", {"unknown option --polcy", "did you mean --policy?"});
  refuses(replay + "--polcy=linux-6.1", {"unknown option --polcy", "did you mean --policy?"});
  refuses(replay + "another", {"unknown argument another"});
  for (const std::string seed : {"abc", "''", "-1", "+1", "1.5", "0x10", "18446744073709551616"}) {
    refuses(replay + "--seed " + seed, {"--seed", "from 0 to 18446744073709551615"});
  }
  refuses(replay + "--json ''", {"--json", "empty"});
  refuses(replay + "--attrs ''", {"--attrs", "empty"});
  refuses(replay + "--external-wakes sometimes",
          {"--external-wakes", "automatic,relative,absolute"});
  refuses(replay + "--policy", {"--policy"});
  refuses("features --cpus 0", {"--cpus", "1"});
}

TEST_F(command, files_that_are_no_recording_are_refused) {
  refuses("replay /nonexistent", {"/nonexistent", "No such file"});
  refuses("replay '" + folder_.string() + "'", {"is a directory"});
  refuses("replay '" + file("empty", "") + "'", {"is empty"});
  refuses("replay /bin/sh", {"/bin/sh", "ELF"});
  refuses("replay README.md", {"README.md", "text"});
  refuses("replay '" +
              file("no-switch",
                   "# tracer: nop\n          <idle>-0       [000] dNh4.     0.928249: "
                   "sched_wakeup: comm=x pid=92 prio=49 target_cpu=000\n") +
              "'",
          {"no sched_switch"});
  refuses("replay -", {"empty"});
  refuses(replay + "--attrs /nonexistent", {"/nonexistent"});
  refuses(replay + "--attrs '" + file("no.json", "{") + "'", {"no.json"});
}

TEST_F(command, wrong_policies_are_refused) {
  refuses(replay + "--policy linux-6.13",
          {"unknown profile 'linux-6.13'", "did you mean 'linux-6.12'?"});
  refuses(replay + "--policy linux-6.12,PLACE_LAGG", {"did you mean 'PLACE_LAG'?"});
  refuses(replay + "--set PLACE_LAGG", {"did you mean 'PLACE_LAG'?"});
  refuses(replay + "--policy linux-6.12,base_slice=2s", {"out of range", "1s"});
  refuses(replay + "--policy linux-6.12,base_slice=3mz", {"'3mz' is not a duration"});
  refuses(replay + "--policy linux-6.12,frame.slice=1s", {"out of range", "100us..100ms"});
  refuses(replay + "--policy linux-6.12,fram.slice=1ms",
          {"no task 'fram'", "did you mean 'frame'?"});
  refuses(replay + "--tasks fram", {"no task 'fram'", "did you mean 'frame'?"});
  refuses(replay + "--policy linux-6.1 --set base_slice=1ms", {"none of the policies has it"});
  refuses(replay + "--self-check", {"policy of the recording is not known", "--attrs"});
  refuses("features --profile linux-6.13", {"--profile", "did you mean 'linux-6.12'?"});
  refuses("features --profile ''", {"--profile", "unknown profile ''"});
}

TEST_F(command, outputs_that_cannot_be_written_are_refused_before_work) {
  refuses(replay + "--json /nonexistent/r.json", {"/nonexistent/r.json", "cannot be written"});
  refuses(replay + "--json '" + folder_.string() + "'", {"it is a directory"});
  refuses(replay + "--json " + recording + ".trace.xz", {"it is an input of this run"});
  for (const std::string& what :
       {std::string("profiles"), std::string("--version"), replay + "--json -"}) {
    const outcome full = shell(VLAG_COMMAND " " + what + " >/dev/full");
    EXPECT_EQ(full.code, 2) << what;
    EXPECT_EQ(full.err, "vlag: standard output cannot be written: No space left on device\n");
  }
}

TEST_F(command, standard_input_is_an_input_as_well) {
  const std::string trace = file("x", "not a recording");
  for (const std::string inputs : {"- ", "/nonexistent --attrs - "}) {
    const std::string line =
        VLAG_COMMAND " replay " + inputs + "--json '" + trace + "' <'" + trace + "'";
    const outcome o = shell(line);
    EXPECT_EQ(o.code, 2);
    EXPECT_TRUE(has(o.err, "it is an input of this run")) << o.err;
  }
  EXPECT_EQ(content(trace), "not a recording");
  refuses("replay - --attrs -", {"TRACE and --attrs cannot both be standard input"});
}

TEST_F(command, the_exit_code_holds_without_standard_error) {
  for (const std::string stream : {"2>&-", "2>/dev/full"}) {
    EXPECT_EQ(shell(VLAG_COMMAND " replay /nonexistent " + stream).code, 2) << stream;
    EXPECT_EQ(shell(VLAG_COMMAND " profiles " + stream + " >/dev/full").code, 2) << stream;
    EXPECT_EQ(shell(VLAG_COMMAND " --polcy " + stream).code, 2) << stream;
  }
}

const std::string perf_data = "tests/data/traces/formats/6.18-load-2cpu.perf.data.xz";

TEST_F(command, trace_info_says_what_is_in_a_recording) {
  const outcome got = vlag("trace info " + perf_data);
  EXPECT_EQ(got.code, 0);
  for (const char* part :
       {"format       perf.data\n", "kernel       6.18.44-example\n", "clock        perf\n",
        "CPUs         2\n", "events       1748\n", "lost events  0\n", "sched_stat_runtime"}) {
    EXPECT_TRUE(has(got.out, part)) << part << "\n" << got.out;
  }
  refuses("trace info README.md", {"README.md", "text"});
  refuses("trace", {"subcommand"});
}

TEST_F(command, trace_convert_writes_what_is_read_back) {
  const std::string out = (folder_ / "converted").string();
  EXPECT_EQ(vlag("trace convert " + perf_data + " '" + out + "' --to ftrace-text").code, 0);
  EXPECT_EQ(content(out), vlag("trace convert " + perf_data + " -").out);
  EXPECT_TRUE(has(vlag("trace info '" + out + "'").out, "events       1748\n"));
  refuses("trace convert " + perf_data + " /nonexistent/x",
          {"/nonexistent/x", "cannot be written"});
  refuses("trace convert '" + out + "' '" + out + "'", {"it is an input of this run"});
  refuses("trace convert README.md '" + (folder_ / "none").string() + "'", {"README.md"});
  EXPECT_FALSE(fs::exists(folder_ / "none"));
}

TEST_F(command, profiles_name_their_patch_levels) {
  const outcome o = vlag("profiles");
  EXPECT_EQ(o.code, 0);
  EXPECT_TRUE(has(o.out, "linux-6.12 means Linux 6.12.117, linux-6.1 means Linux 6.1.192"))
      << o.out;
  EXPECT_EQ(json::parse(vlag("profiles --json").out)["profiles"].size(), 5U);
}

TEST_F(command, features_show_value_and_meaning) {
  const outcome o = vlag("features --profile linux-6.12 --cpus 4");
  EXPECT_EQ(o.code, 0);
  EXPECT_TRUE(has(o.out, "RUN_TO_PARITY           on")) << o.out;
  EXPECT_TRUE(has(o.out, "base_slice              2.1ms ")) << o.out;
  EXPECT_FALSE(has(o.out, "START_DEBIT"));
  const json all = json::parse(vlag("features --json").out);
  EXPECT_EQ(all["profiles"][2]["constants"][0]["name"], "latency");
}

TEST_F(command, replay_prints_comparison_totals_and_a_table_each) {
  const outcome o =
      vlag(replay + attrs + "--policy linux-6.1 --policy linux-6.12,frame.slice=0.1ms");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");  // no bar without a terminal
  for (const char* part : {"mi (8)", "frame ", "Totals", "\nrecorded\n", "\nlinux-6.1\n",
                           "\nlinux-6.12,frame.slice=0.1ms\n", "frame:101", "Max delay start s",
                           "TOTAL:", "against linux-6.1|What changed most: "}) {
    const std::string text = part;
    const auto bar = text.find('|');
    EXPECT_TRUE(has(o.out, text.substr(0, bar)) ||
                (bar != std::string::npos && has(o.out, text.substr(bar + 1))))
        << part << "\n"
        << o.out;
  }
}

TEST_F(command, replay_lines_fit_a_wide_terminal) {
  const outcome o = vlag(replay + attrs + "--policy linux-6.1 --policy linux-6.12");
  std::istringstream lines(o.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("What changed", 0) == 0 || line.rfind("  ", 0) == 0) continue;
    EXPECT_LE(line.size(), 120U) << line;
  }
}

TEST_F(command, recorded_policy_is_the_default) {
  EXPECT_TRUE(has(vlag(replay + attrs + "--quiet").out, "linux-6.1"));
  const outcome unknown = vlag(replay + "--quiet");
  EXPECT_EQ(unknown.code, 0) << unknown.err;
  EXPECT_TRUE(has(unknown.out, "linux-6.12"));
}

TEST_F(command, a_slice_under_cfs_is_noted) {
  const outcome o = vlag(replay + "--quiet --policy linux-6.1,frame.slice=1ms");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(o.out, "note: frame.slice has no effect under linux-6.1")) << o.out;
}

TEST_F(command, tasks_option_shows_just_these) {
  const outcome o = vlag(replay + "--policy linux-6.12 --tasks frame");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(o.out, "frame:101"));
  EXPECT_FALSE(has(o.out, "mi0:"));
  EXPECT_TRUE(has(o.out, " others)"));
}

TEST_F(command, self_check_gives_a_verdict) {
  const outcome o = vlag(replay + attrs + "--quiet --self-check");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(o.out, "self-check: the recording and its replay under linux-6.1")) << o.out;
  EXPECT_TRUE(has(o.out, "Self-check: "));
}

TEST_F(command, results_are_the_same_bytes_each_time) {
  const std::string run =
      replay + attrs + "--policy linux-6.1 --policy linux-6.12 --self-check --json ";
  const fs::path a = folder_ / "a.json";
  const fs::path b = folder_ / "b.json";
  ASSERT_EQ(vlag(run + "'" + a.string() + "'").code, 0);
  ASSERT_EQ(vlag(run + "'" + b.string() + "'").code, 0);
  EXPECT_EQ(content(a), content(b));
  const outcome out = vlag(run + "-");
  EXPECT_EQ(out.out, content(a));
  const json whole = json::parse(content(a));
  EXPECT_EQ(whole["schema"], "vlag-result/1");
  ASSERT_EQ(whole["results"].size(), 3U);
  EXPECT_EQ(whole["results"][0]["label"], "recorded");
  EXPECT_EQ(whole["results"][2]["policy"]["reference"], "Linux 6.12.117");
  EXPECT_GT(whole["self_check"]["of"], 0);
}

// The data of a page, or null when this vlag was built without it.
json page_of(const outcome& o, const fs::path& file) {
  if (has(o.err, "built without npm")) return nullptr;
  EXPECT_EQ(o.code, 0) << o.err;
  const std::string page = content(file);
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t from = page.find(begin) + begin.size();
  return json::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST_F(command, page_is_the_same_bytes_each_time_and_changes_no_other_output) {
  fs::create_directories(folder_ / "b");
  const std::string run = replay + attrs + "--policy linux-6.1 --policy linux-6.12 --json ";
  const fs::path a = folder_ / "r.html";
  const fs::path b = folder_ / "b" / "r.html";
  const outcome plain = vlag(run + "-");
  const outcome with_page = vlag(run + "- --html '" + a.string() + "'");
  const json data = page_of(with_page, a);
  if (data.is_null()) GTEST_SKIP() << "built without the page";
  EXPECT_EQ(with_page.out, plain.out);
  ASSERT_EQ(vlag(run + "- --html '" + b.string() + "'").code, 0);
  EXPECT_EQ(content(a), content(b));
  EXPECT_EQ(content(a).find(folder_.string()), std::string::npos);
}

TEST_F(command, page_has_a_timeline_a_run_and_a_self_check_that_nobody_asked_for) {
  const fs::path file = folder_ / "r.html";
  const json data =
      page_of(vlag(replay + attrs + "--policy linux-6.1 --policy linux-6.12 --html '" +
                   file.string() + "'"),
              file);
  if (data.is_null()) GTEST_SKIP() << "built without the page";
  ASSERT_EQ(data["runs"].size(), 3U);
  for (const json& run : data["runs"]) {
    ASSERT_EQ(run["timeline"]["windows"].size(), 1U) << run["label"];
    EXPECT_EQ(run["timeline"]["windows"][0]["dropped"], 0);
    // Switches to a task, and those to one that already had the CPU when the span began.
    const auto stretches = run["timeline"]["stretches"].get<std::uint64_t>();
    const auto switches = run["switches"].get<std::uint64_t>();
    EXPECT_GE(stretches, switches) << run["label"];
    EXPECT_LE(stretches, switches + 1) << run["label"];
  }
  EXPECT_GT(data["check"]["of"], 0);
  EXPECT_EQ(data["change"]["base"], 1);
}

TEST_F(command, long_run_keeps_single_stretches_around_the_worst_waits_only) {
  const fs::path file = folder_ / "r.html";
  const json data = page_of(
      vlag("replay tests/data/traces/6.1-f-1cpu.trace.xz --html '" + file.string() + "'"), file);
  if (data.is_null()) GTEST_SKIP() << "built without the page";
  for (const json& run : data["runs"]) {
    std::uint64_t kept = 0;
    for (const json& window : run["timeline"]["windows"]) {
      kept += window["count"].get<std::uint64_t>();
    }
    EXPECT_GT(run["timeline"]["stretches"], 50'000);
    EXPECT_GT(kept, 100U);
    EXPECT_LE(kept, 50'000U);
    for (const json& wait : run["worst"]) {
      const auto covers = [&](const json& w) {
        return w["completeFrom"] <= wait["from"] && w["to"] >= wait["to"];
      };
      const json& windows = run["timeline"]["windows"];
      EXPECT_TRUE(std::any_of(windows.begin(), windows.end(), covers)) << wait;
    }
  }
  EXPECT_TRUE(has(data["check"]["text"].get<std::string>(), "not known"));
}

TEST_F(command, outputs_must_be_different_files) {
  const std::string path = (folder_ / "same").string();
  refuses(replay + "--html '" + path + "' --json '" + path + "'",
          {"--json and --html", "two files"});
  refuses(replay + "--html no-such-file-here --json ./no-such-file-here",
          {"--json and --html", "two files"});
  refuses(replay + "--perfetto -", {"--perfetto: - is not taken"});
}

TEST_F(command, verify_takes_a_folder_of_any_compression) {
  shell("for f in tests/data/vectors/eevdf/*.jsonl.xz; do xz -dc \"$f\" >'" + folder_.string() +
        "/v.jsonl'; break; done; cd '" + folder_.string() +
        "'; gzip -k v.jsonl; mv v.jsonl w.jsonl");
  const outcome o = vlag("verify '" + folder_.string() + "'");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(o.out, "2 vectors, ")) << o.out;
}

TEST_F(command, what_others_wrote_cannot_steer_the_terminal) {
  const std::string from = recording + ".trace.xz";
  const std::string strange = (folder_ / "strange").string();
  ASSERT_EQ(
      shell("xz -dc " + from + " | LC_ALL=C sed 's/frame/fr\\x1bm\\xff/g' >'" + strange + "'").code,
      0);
  const outcome o = vlag("replay '" + strange + "' --policy linux-6.12");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_FALSE(has(o.out, "\x1b"));
  EXPECT_TRUE(has(o.out, "fr\\x1bm\\xff:101")) << o.out;
  const json whole = json::parse(vlag("replay '" + strange + "' --json -").out);
  EXPECT_TRUE(has(whole.dump(), "fr\\u001bm\xef\xbf\xbd"));
  refuses(replay + "--policy \"$(printf 'linux-6.12\\nx\\033[2J')\"", {"\\x0ax\\x1b[2J"});
}

TEST_F(command, seeds_are_decimal) {
  const json ten = json::parse(vlag(replay + "--json - --seed 010").out);
  EXPECT_EQ(ten["run"]["seed"], 10U);
  const json most = json::parse(vlag(replay + "--json - --seed 18446744073709551615").out);
  EXPECT_EQ(most["run"]["seed"], 18446744073709551615U);
}

TEST_F(command, a_recording_can_come_by_pipe) {
  const outcome file = vlag(replay + "--quiet");
  const outcome piped =
      shell("xz -dc " + recording + ".trace.xz | " VLAG_COMMAND " replay - --quiet");
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(piped.out, file.out);
}

TEST_F(command, schedstat_counts_under_each_policy) {
  const std::string both = replay + "--policy linux-6.12 --policy linux-6.1 ";
  const outcome o = vlag(both + "--quiet --schedstat");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(o.out, "\nlinux-6.12\n\nCounter ")) << o.out;
  EXPECT_TRUE(has(o.out, "\nlinux-6.1\n\nCounter ")) << o.out;
  EXPECT_TRUE(has(o.out, "\npreempt_deadline "));
  EXPECT_FALSE(has(vlag(both + "--quiet").out, "preempt_deadline"));

  json with = json::parse(vlag(both + "--schedstat --json -").out);
  json without = json::parse(vlag(both + "--json -").out);
  EXPECT_FALSE(with["results"][0]["counters"].contains("schedstat"));  // the recording
  for (std::size_t i = 1; i <= 2; ++i) {
    json& counters = with["results"][i]["counters"];
    const json& total = counters["schedstat"]["total"];
    ASSERT_EQ(counters["schedstat"]["cpus"].size(), 1U);
    EXPECT_EQ(total["nvcsw"], counters["voluntary"]);
    EXPECT_EQ(total["nivcsw"], counters["involuntary"]);
    EXPECT_EQ(total["preempt_deadline"] != 0, i == 1);
    counters.erase("schedstat");
    EXPECT_EQ(with["results"][i], without["results"][i]) << "counting changed the run";
  }
}

TEST_F(command, debug_at_shows_queues_and_tasks_of_each_policy) {
  const outcome o = vlag(replay + "--policy linux-6.12 --policy linux-6.1 --debug-at 1.5s");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out.rfind("linux-6.12, 1.5s after the first event\n\ncpu#0\n", 0), 0U) << o.out;
  EXPECT_TRUE(has(o.out, "\nlinux-6.1, 1.5s after the first event\n\ncpu#0\n")) << o.out;
  EXPECT_TRUE(has(o.out, "\n  .zero_vruntime ")) << o.out;
  EXPECT_TRUE(has(o.out, "\n  .min_vruntime ")) << o.out;
  EXPECT_EQ(o.out, vlag(replay + "--policy linux-6.12 --policy linux-6.1 --debug-at 1500ms").out);
  const outcome nicer = vlag(replay + "--policy linux-6.12,frame.latency_nice=-5 --debug-at 1s");
  EXPECT_TRUE(has(nicer.out, "   120            -5  ")) << nicer.out;
  const std::string group = "tests/data/traces/6.12-k-1cpu";
  const outcome groups =
      vlag("replay " + group + ".trace.xz --attrs " + group + ".json --debug-at 1s");
  EXPECT_TRUE(has(groups.out, "\n\ncfs_rq[0]:/ga\n  .left_deadline ")) << groups.out;
  EXPECT_TRUE(has(groups.out, "  /gb\n")) << groups.out;
  EXPECT_EQ(vlag(replay + "--policy paper95 --debug-at 1s").code, 0);
  refuses(replay + "--debug-at 4s", {"--debug-at: 4s lies after the end of", "which spans 3.0"});
  refuses(replay + "--debug-at 1s --window 2s..", {"--debug-at: 1s lies outside of --window"});
  refuses(replay + "--debug-at ''", {"the value is empty"});
  refuses(replay + "--debug-at noon", {"'noon' is neither a marker of", "(like 1.5s)"});
  for (const std::string other : {"--json -", "--html x", "--schedstat", "--self-check"}) {
    refuses(replay + "--debug-at 1s " + other, {"--debug-at", other.substr(0, other.find(' '))});
  }
}

TEST_F(command, explain_says_who_won_and_why) {
  const std::string explain = "explain " + recording + ".trace.xz " + attrs;
  const outcome o = vlag(explain + "--policy linux-6.12 --at 1.5s");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(has(content(VLAG_SOURCE "/docs/explain.md"), "```\n" + o.out + "```\n")) << o.out;
  const outcome cfs = vlag(explain + "--at 1.5s");  // as recorded
  EXPECT_EQ(cfs.code, 0) << cfs.err;
  EXPECT_TRUE(has(cfs.out, ", under linux-6.1")) << cfs.out;
  EXPECT_TRUE(has(cfs.out, "had used up its share of the period")) << cfs.out;

  refuses(explain, {"--at is required"});
  refuses(explain + "--at 4s", {"--at: 4s lies after the end of", "which spans 3.0"});
  refuses(explain + "--at 1s --cpu 1", {"--cpu: 1 is not in the recording; expected 0 .. 0"});
  refuses(explain + "--at 1s --cpu -1", {"--cpu"});
  refuses(explain + "--at 1s --policy linux-6.1 --policy linux-6.12",
          {"--policy: 2 policies given; expected one"});
  refuses(explain + "--at 1s --policy linux-6.1,frme.slice=1ms", {"no task 'frme'", "frame"});
  refuses(explain + "--at 1s --policy paper95", {"--policy: decisions of paper95"});
  refuses(explain + "--at 1s --json -", {"unknown option --json"});
  refuses("explain no-such-file --at 1s", {"no-such-file"});
}

TEST_F(command, replay_writes_a_perfetto_trace_whole_or_not_at_all) {
  const std::string path = (folder_ / "out.pftrace").string();
  const outcome written = vlag(replay + attrs + "--policy linux-6.1 --quiet --perfetto " + path);
  EXPECT_EQ(written.code, 0) << written.err;
  EXPECT_GT(fs::file_size(path), 100'000U);
  const outcome info = vlag("trace info " + path);
  EXPECT_EQ(info.code, 0) << info.err;
  EXPECT_TRUE(has(info.out, "CPUs         2\n")) << info.out;  // one a run

  fs::remove(path);
  const outcome refused = vlag(replay + "--policy linux-6.1,nobody.nice=3 --perfetto " + path);
  EXPECT_EQ(refused.code, 2);
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(vlag(replay + "--perfetto " + recording + ".trace.xz").code, 2);  // its own input
}

TEST_F(command, views_of_perf_take_a_recording_or_its_replay) {
  const std::string trace = recording + ".trace.xz";
  for (const std::string& source : {trace, trace + " --policy linux-6.12",
                                    trace + " --window 'runner: release..runner: stop'"}) {
    const outcome latency = vlag("latency " + source);
    EXPECT_EQ(latency.code, 0) << latency.err;
    EXPECT_TRUE(has(latency.out, "  frame:")) << latency.out;
    const outcome timehist = vlag("timehist -w -n -S " + source);
    EXPECT_EQ(timehist.code, 0) << timehist.err;
    EXPECT_TRUE(has(timehist.out, "awakened: frame["));
    EXPECT_TRUE(has(timehist.out, "Runtime summary"));
    const outcome map = vlag("map " + source);
    EXPECT_EQ(map.code, 0) << map.err;
    EXPECT_TRUE(has(map.out, " => frame:"));
  }
  EXPECT_EQ(vlag("latency --sort p99 " + trace).code, 2);
  EXPECT_EQ(vlag("latency --set RUN_TO_PARITY=0 " + trace).code, 2);  // changes nothing recorded
  EXPECT_EQ(vlag("timehist --cpu 3-1 " + trace).code, 2);
  EXPECT_EQ(vlag("map --cpus x " + trace).code, 2);
}

TEST_F(command, compare_fails_when_a_condition_is_true) {
  const std::string path = (folder_ / "out").string();
  const std::string policies = "--policy linux-6.1 --policy linux-6.12 --quiet ";
  for (const char* seed : {"1", "2", "3"}) {
    const outcome run =
        vlag(replay + attrs + policies + "--seed " + seed + " --json " + path + seed + ".json");
    ASSERT_EQ(run.code, 0) << run.err;
  }
  const std::string files = path + "1.json " + path + "2.json " + path + "3.json ";
  const outcome table = vlag("compare " + files + "--fail-if 'frame.mean<0.1ms'");
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_TRUE(has(table.out, "Changes are against linux-6.1."));
  const outcome failed = vlag("compare " + files + "--fail-if 'frame.mean>+50%'");
  EXPECT_EQ(failed.code, 1);
  EXPECT_TRUE(has(failed.out, "Failed\n  frame.mean>+50%: frame under linux-6.12: "));
  EXPECT_EQ(vlag("compare " + files + "--fail-if 'mean'").code, 2);
  EXPECT_EQ(vlag("compare " + path + "1.json " + path + "1.json").code, 2);  // one seed twice
  EXPECT_EQ(vlag("compare " + recording + ".json").code, 2);                 // no results file
}

}  // namespace

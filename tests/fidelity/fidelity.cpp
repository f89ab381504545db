// SPDX-License-Identifier: Apache-2.0
//
// How close replays come to the real kernels. Prints docs/fidelity.md; with --check prints only the
// count and exits with 1 when fewer than nine cells in ten hold.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/self_check.hpp"
#include "report/task_groups.hpp"
#include "trace/reader.hpp"
#include "workload/replay.hpp"
#include "workload/rtapp_run.hpp"

namespace vlag {
namespace {

constexpr std::string_view window = "runner: release..runner: stop";
constexpr unsigned needed_percent = 90;

struct recorded_case {
  std::string name;
  bool totals_only = false;  // a chaotic workload: only totals and run time compare
};

const std::vector<recorded_case>& cases() {
  static const std::vector<recorded_case> all = {
      {"6.1-a-1cpu"},
      {"6.1-b-1cpu"},
      {"6.1-c-1cpu"},
      {"6.1-cspin-1cpu"},
      {"6.1-d-1cpu"},
      {"6.1-dspin-1cpu"},
      {"6.1-f-1cpu"},
      {"6.1-h-1cpu", true},
      {"6.1-k-1cpu"},
      {"6.1-m-1cpu"},
      {"6.12-a-1cpu"},
      {"6.12-a-1cpu-HRTICK"},
      {"6.12-a-1cpu-slice12ms"},
      {"6.12-b-1cpu"},
      {"6.12-c-1cpu"},
      {"6.12-cspin-1cpu"},
      {"6.12-cspin-1cpu-NO_RUN_TO_PARITY"},
      {"6.12-cspin-1cpu-slice12ms"},
      {"6.12-d-1cpu"},
      {"6.12-dspin-1cpu"},
      {"6.12-dspin-1cpu-NO_DELAY_DEQUEUE"},
      {"6.12-f-1cpu"},
      {"6.12-f-1cpu-NO_PLACE_LAG"},
      {"6.12-h-1cpu", true},
      {"6.12-k-1cpu"},
      {"6.12-m-1cpu"},
  };
  return all;
}

constexpr std::array<std::string_view, 6> what_if_workloads = {"b", "cspin", "dspin",
                                                               "f", "k",     "m"};

// Why a cell does not hold, where it was found out. A miss without an entry says so.
struct known_miss {
  std::string_view recording;
  std::string_view group;
  check_measure measure;
  std::string_view reason;
};

constexpr std::array<known_miss, 2> known_replay_misses = {{
    {"6.1-d-1cpu", "frame", check_measure::wake_mean,
     "one wake-up in five waits for other tasks and makes up nearly all of the mean (33 of 163 in "
     "the "
     "recording, 28 of 165 replayed); the recording has eight such waits in a row near 2.5 s, "
     "which "
     "no replay repeats, and waits that come in rows have a larger error than the two standard "
     "errors "
     "allowed"},
    {"6.1-h-1cpu", "", check_measure::work_done,
     "one sender still wants the CPU when the recording ends, in the longest burst it ever had, "
     "and "
     "is taken for a task that never blocks"},
}};

constexpr std::array<known_miss, 0> known_file_misses = {};

std::string path_of(const std::string& name, const char* suffix) {
  return std::string(VLAG_TEST_DATA "/traces/") + name + suffix;
}

recorded_workload load(const std::string& name, recorded_attributes& attributes) {
  attributes = read_attributes(path_of(name, ".json"));
  replay_options options;
  options.window = window;
  return {trace::read_recording(path_of(name, ".trace.xz")), attributes, options};
}

struct checked_case {
  const recorded_case* which = nullptr;
  std::vector<check_cell> cells;  // those that count
};

checked_case check(const recorded_case& which, const self_check_result& result,
                   bool work_has_an_end) {
  checked_case checked{&which, {}};
  for (const check_cell& cell : result.cells) {
    const bool is_end = cell.measure == check_measure::work_done;
    if (is_end ? work_has_an_end : !which.totals_only) checked.cells.push_back(cell);
  }
  if (which.totals_only) checked.cells.push_back(result.totals.front());  // busy share
  return checked;
}

// "hog" for "hog-2" and "late1-0-0".
std::string name_in_file(std::string name) {
  for (;;) {
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    if (digits == 0 || digits == name.size() || name[digits - 1] != '-') return name;
    name.resize(digits - 1);
  }
}

// "dspin" for "6.12-dspin-1cpu-NO_DELAY_DEQUEUE".
std::string_view script_of(std::string_view recording) {
  recording.remove_prefix(recording.find('-') + 1);
  return recording.substr(0, recording.find('-'));
}

machine_config temporary_machine() {
  machine_config m;
  const auto get = [](const char* n, std::uint64_t d) {
    const char* t = std::getenv(n);
    return t ? std::strtoull(t, nullptr, 10) : d;
  };
  m.tick_phase_ns = get("phase", 2476000);
  m.switch_delay_ns = get("delay", 2200);
  m.idle_switch_delay_ns = get("idle", 2400);
  m.tick_switch_delay_ns = get("tickd", 3000);
  m.switch_clock_lead_ns = get("lead", 367);
  m.switch_cost_ns = get("sw", 1500);
  m.wakeup_cost_ns = get("wk", 3540);
  m.pipe_call_ns = get("pipe", 1255);
  m.kill_cost_ns = get("kill", 1450);
  m.queue_cost_ns = get("queue", 1260);
  m.signal_cost_ns = get("sig", 5785);
  m.poll_switch_delay_ns = get("poll", 0);
  return m;
}

// The recording's script, as a workload file.
run_figures run_script(const recorded_case& which, const policy_variant& variant) {
  const std::string path =
      fmt::format("{}/workloads/{}.json", VLAG_TEST_DATA, script_of(which.name));
  rtapp_run_options options;
  options.machine = temporary_machine();
  policy_variant v = variant;
  if (script_of(which.name) == "k") {
    v.group_files.push_back({"/ga", {"cpu.weight", "100"}});
    v.group_files.push_back({"/gb", {"cpu.weight", "300"}});
  }
  run_figures figures = run_rtapp(read_rtapp(path, {}), v, options);
  for (task_figures& t : figures.tasks) t.name = name_in_file(t.name);
  figures.work_done_ns = figures.to_ns - figures.from_ns;
  return figures;
}

std::string cell_row(const checked_case& c, const check_cell& cell) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", c.which->name,
                     cell.group.empty() ? "(all)" : cell.group, to_string(cell.measure),
                     check_value(cell.measure, cell.recorded),
                     check_value(cell.measure, cell.replayed),
                     check_value(cell.measure, cell.allowed), cell.holds() ? "yes" : "**no**");
}

std::string misses_text(const std::vector<checked_case>& all,
                        std::span<const known_miss> known_misses) {
  std::string text;
  for (const checked_case& c : all) {
    for (const check_cell& cell : c.cells) {
      if (cell.holds()) continue;
      const auto known = std::find_if(known_misses.begin(), known_misses.end(), [&](const auto& m) {
        return m.recording == c.which->name && m.group == cell.group && m.measure == cell.measure;
      });
      text += fmt::format("- {}, {}, {}: {}.\n", c.which->name,
                          cell.group.empty() ? "all tasks" : cell.group, to_string(cell.measure),
                          known == known_misses.end() ? "reason not found yet" : known->reason);
    }
  }
  return text.empty() ? "None.\n" : text;
}

std::string cells_text(const std::vector<checked_case>& all, std::string_view column,
                       std::span<const known_miss> known_misses) {
  std::string text = fmt::format(
      "| recording | tasks | figure | recorded | {} | allowed | holds |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n",
      column);
  for (const checked_case& c : all) {
    for (const check_cell& cell : c.cells) text += cell_row(c, cell);
  }
  return text + "\n### What does not hold, and why\n\n" + misses_text(all, known_misses);
}

const name_group* find_group(const std::vector<name_group>& groups, const std::string& name) {
  const auto at = std::find_if(groups.begin(), groups.end(),
                               [&](const name_group& g) { return g.name == name; });
  return at == groups.end() ? nullptr : &*at;
}

// The workload recorded under one kernel, replayed as the other, beside the other's own recording.
std::string what_if_rows(std::string_view workload, const char* from, const char* to) {
  recorded_attributes attributes;
  const std::string source_name = fmt::format("{}-{}-1cpu", from, workload);
  const std::string target_name = fmt::format("{}-{}-1cpu", to, workload);
  const recorded_workload source = load(source_name, attributes);
  recorded_attributes target_attributes;
  const recorded_workload target = load(target_name, target_attributes);
  const auto variant = recorded_variant(target_attributes, target.cpus());
  const run_figures replayed = source.simulate(*variant);
  const std::vector<name_group> was = group_tasks(source.recorded());
  const std::vector<name_group> is = group_tasks(replayed);
  std::string rows;
  for (const name_group& real : group_tasks(target.recorded())) {
    if (share_ppm(target.recorded(), real.sum.cpu_ns) < 10'000) continue;
    const name_group* before = find_group(was, real.name);
    const name_group* after = find_group(is, real.name);
    if (before == nullptr || after == nullptr) continue;
    const auto share = [](const run_figures& run, const name_group& g) {
      return check_value(check_measure::share, share_ppm(run, g.sum.cpu_ns));
    };
    const auto per_second = [](const run_figures& run, const name_group& g) {
      return g.sum.switches_in * 1'000'000'000 /
             std::max<std::uint64_t>(run.to_ns - run.from_ns, 1);
    };
    const auto latency = [](const name_group& g) {
      return g.sum.wake_latency.count() == 0
                 ? std::string("-")
                 : check_value(check_measure::wake_mean, g.sum.wake_latency.mean_ns());
    };
    rows +=
        fmt::format("| {} → {} | {} | {} / {} / {} | {} / {} / {} | {} / {} / {} |\n", source_name,
                    to, real.name, share(source.recorded(), *before), share(replayed, *after),
                    share(target.recorded(), real), per_second(source.recorded(), *before),
                    per_second(replayed, *after), per_second(target.recorded(), real),
                    latency(*before), latency(*after), latency(real));
  }
  return rows;
}

struct checked_cases {
  std::vector<checked_case> cases;
  std::size_t cells = 0;
  std::size_t held = 0;

  void add(checked_case checked) {
    cells += checked.cells.size();
    for (const check_cell& cell : checked.cells) held += cell.holds() ? 1 : 0;
    cases.push_back(std::move(checked));
  }
  [[nodiscard]] bool enough() const { return held * 100 >= cells * needed_percent; }
  [[nodiscard]] std::string count() const {
    return fmt::format("{} of {} cells hold ({}.{} %)", held, cells, held * 1000 / cells / 10,
                       held * 1000 / cells % 10);
  }
};

int run(bool only_check) {
  checked_cases replays;
  checked_cases files;
  for (const recorded_case& which : cases()) {
    recorded_attributes attributes;
    const recorded_workload workload = load(which.name, attributes);
    const auto variant = recorded_variant(attributes, workload.cpus());
    const run_figures& recorded = workload.recorded();
    replays.add(check(which, self_check(recorded, workload.simulate(*variant)), true));
    files.add(check(which, self_check(recorded, run_script(which, *variant)), which.totals_only));
  }
  if (only_check) {
    fmt::print("replays: {}\nworkload files: {}\n{} % are needed of each\n", replays.count(),
               files.count(), needed_percent);
    return replays.enough() && files.enough() ? 0 : 1;
  }
  fmt::print(
      "# How close replays come to the real kernels\n\n"
      "Printed by `make fidelity`. The recordings are those of `tests/data/traces`, made on "
      "Debian's\n"
      "kernels 6.1 and 6.12 on one CPU; figures are over the window from release to stop.\n\n"
      "## Replay under the policy that was recorded\n\n"
      "A cell is one figure of one group of tasks (instances of a name together, at least 1 % of "
      "the\n"
      "CPU), or of a task group (/ga: share and switches). It holds when the CPU share is within\n"
      "1 percentage point, the number of switches within 10 % or 10, the mean wake-up latency "
      "(from\n"
      "30 wake-ups) within 25 %, 100 us or two standard errors of the recording, its 99th "
      "percentile\n"
      "(from 500) within 25 % or 100 us, and the time at which all recorded work is done within "
      "2 %. Of\n"
      "the h recordings, which are chaotic, only the busy share and that time count.\n\n"
      "**{}.**\n\n{}",
      replays.count(), cells_text(replays.cases, "replayed", known_replay_misses));
  fmt::print(
      "\n## Workload files\n\n"
      "The scripts that the recordings were made with, as files in `tests/data/workloads`, run "
      "under\n"
      "the recorded kernel's policy and settings by the same rules. Nothing of the recording goes\n"
      "into such a run: the machine has one set of delays and costs for all of them, which the "
      "files\n"
      "state, and one phase of the ticks. Work without an end has no time at which it is done; i "
      "and j\n"
      "need several CPUs and load balancing and are not compared.\n\n"
      "**{}.**\n\n{}",
      files.count(), cells_text(files.cases, "simulated", known_file_misses));
  fmt::print(
      "\n## What if: one kernel's recording under the other's policy\n\n"
      "Each cell: as recorded / replayed under the other policy / as the other kernel really did "
      "with\n"
      "the same workload. Switches are a second. Means of few wake-ups (b, m) say little; no bound "
      "is\n"
      "set here.\n\n"
      "| replay | tasks | CPU share | switches/s | mean wake-up latency |\n"
      "| --- | --- | --- | --- | --- |\n");
  for (const std::string_view workload : what_if_workloads) {
    fmt::print("{}", what_if_rows(workload, "6.1", "6.12"));
    fmt::print("{}", what_if_rows(workload, "6.12", "6.1"));
  }
  return 0;
}

}  // namespace
}  // namespace vlag

int main(int argc, char** argv) {
  try {
    return vlag::run(argc > 1 && std::string_view(argv[1]) == "--check");
  } catch (const std::exception& e) {
    fmt::print(stderr, "fidelity: {}\n", e.what());
    return 2;
  }
}

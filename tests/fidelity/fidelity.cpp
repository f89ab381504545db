// SPDX-License-Identifier: Apache-2.0
//
// How close replays come to the real kernels. Prints docs/fidelity.md; with --check prints only the
// count and exits with 1 when fewer than nine cells in ten hold.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "input/input_error.hpp"
#include "report/self_check.hpp"
#include "report/task_groups.hpp"
#include "trace/reader.hpp"
#include "workload/recorded_programs.hpp"
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

constexpr std::array<known_miss, 4> known_file_misses = {{
    {"6.1-d-1cpu", "frame", check_measure::wake_mean,
     "as in the replay: few waits make up nearly all of the mean, and eight in a row near 2.5 s of "
     "the recording are its own"},
    {"6.1-dspin-1cpu", "mi (8)", check_measure::wake_mean,
     "the script's 8 ms are two ticks to the ns; the recorded loop, calibrated once, took 8.19 ms "
     "of CPU time (`tasks_own_figures`), and with 8.02 to 8.11 ms in the file this cell holds, but "
     "not the frame's, of which see 6.1-d"},
    {"6.1-h-1cpu", "", check_measure::work_done,
     "the order in which the first senders fill the pipes, which the first tick decides, leads "
     "into one of two ways to go on: few long turns, or switches at nearly each message"},
    {"6.12-cspin-1cpu-slice12ms", "per", check_measure::wake_mean,
     "the request of 12 ms and the task's cycle lock to the ticks: in the recording every fourth "
     "wake-up waits 3.9 ms, here hardly any; which pattern it is depends on a few us of the task's "
     "work (with 1013 us, about what the recorded loop took, it is the recorded one)"},
}};

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

rtapp_workload read_script(std::string_view script) {
  return read_rtapp(fmt::format("{}/workloads/{}.json", VLAG_TEST_DATA, script), {});
}

// The machine that all the files state.
machine_config machine_of_files() {
  const auto same = [](const machine_config& a, const machine_config& b) {
    return a.tick_ns == b.tick_ns && a.tick_phase_ns == b.tick_phase_ns &&
           a.tick_jitter_ns == b.tick_jitter_ns && a.timer_slack_ns == b.timer_slack_ns &&
           a.switch_delay_ns == b.switch_delay_ns &&
           a.idle_switch_delay_ns == b.idle_switch_delay_ns &&
           a.tick_switch_delay_ns == b.tick_switch_delay_ns &&
           a.poll_switch_delay_ns == b.poll_switch_delay_ns &&
           a.switch_clock_lead_ns == b.switch_clock_lead_ns &&
           a.switch_cost_ns == b.switch_cost_ns && a.wakeup_cost_ns == b.wakeup_cost_ns &&
           a.tick_cost_ns == b.tick_cost_ns && a.pipe_call_ns == b.pipe_call_ns &&
           a.pipe_byte_ps == b.pipe_byte_ps && a.kill_cost_ns == b.kill_cost_ns &&
           a.queue_cost_ns == b.queue_cost_ns && a.signal_cost_ns == b.signal_cost_ns;
  };
  const machine_config first = read_script(script_of(cases().front().name)).block.machine;
  for (const recorded_case& which : cases()) {
    if (same(first, read_script(script_of(which.name)).block.machine)) continue;
    throw input_error(
        fmt::format("{}: another machine than in the other workload files", script_of(which.name)));
  }
  return first;
}

// The recording's script, as a workload file.
run_figures run_script(const recorded_case& which, const policy_variant& variant,
                       std::uint64_t tick_phase_ns) {
  rtapp_workload workload = read_script(script_of(which.name));
  workload.block.machine.tick_phase_ns = tick_phase_ns;
  run_figures figures = run_rtapp(workload, variant, {});
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

constexpr std::array<std::uint64_t, 8> other_phases_ns = {
    500'000, 1'000'000, 1'500'000, 2'000'000, 2'500'000, 3'000'000, 3'500'000, 4'000'000};

struct all_checks {
  checked_cases replays;
  checked_cases files;
  std::array<checked_cases, other_phases_ns.size()> files_at_other_phases;
};

all_checks check_all(bool other_phases) {
  const std::uint64_t phase_ns = machine_of_files().tick_phase_ns;
  all_checks all;
  for (const recorded_case& which : cases()) {
    recorded_attributes attributes;
    const recorded_workload workload = load(which.name, attributes);
    const auto variant = recorded_variant(attributes, workload.cpus());
    const run_figures& recorded = workload.recorded();
    all.replays.add(check(which, self_check(recorded, workload.simulate(*variant)), true));
    const auto check_file = [&](std::uint64_t at_phase_ns) {
      return check(which, self_check(recorded, run_script(which, *variant, at_phase_ns)),
                   which.totals_only);
    };
    all.files.add(check_file(phase_ns));
    for (std::size_t i = 0; other_phases && i < other_phases_ns.size(); ++i) {
      all.files_at_other_phases[i].add(check_file(other_phases_ns[i]));
    }
  }
  return all;
}

// What a cell that is missed is where the ticks come at other times.
std::string phases_text(const all_checks& all) {
  std::string text;
  for (std::size_t i = 0; i < all.files.cases.size(); ++i) {
    for (std::size_t k = 0; k < all.files.cases[i].cells.size(); ++k) {
      const check_cell& cell = all.files.cases[i].cells[k];
      if (cell.holds()) continue;
      text += fmt::format("| {} | {} | {} | {} |", all.files.cases[i].which->name,
                          cell.group.empty() ? "(all)" : cell.group, to_string(cell.measure),
                          check_value(cell.measure, cell.recorded));
      for (const checked_cases& other : all.files_at_other_phases) {
        const check_cell& there = other.cases[i].cells[k];
        text += fmt::format(" {}{} |", check_value(there.measure, there.replayed),
                            there.holds() ? "" : " (no)");
      }
      text += "\n";
    }
  }
  text += "| all cells that hold | | | |";
  for (const checked_cases& other : all.files_at_other_phases) {
    text += fmt::format(" {} of {} |", other.held, other.cells);
  }
  return text + "\n";
}

// What the recordings say of the machine, where replay measures it.
struct measured_machine {
  std::uint64_t phase_ns = 0;  // after release
  std::uint64_t switch_delay_ns = 0;
  std::uint64_t idle_switch_delay_ns = 0;
  std::uint64_t message_ns = 0;
  std::uint64_t parent_turn_ns = 0;
};

std::uint64_t cpu_of(const run_figures& run, std::string_view name) {
  std::uint64_t ns = 0;
  for (const task_figures& t : run.tasks) {
    if (group_name(t.name) == name) ns += t.cpu_ns;
  }
  return ns;
}

measured_machine measure_machine() {
  constexpr std::uint64_t messages = 10 * 4000;
  measured_machine sum;
  std::uint64_t turns = 0;
  for (const recorded_case& which : cases()) {
    const recorded_attributes attributes = read_attributes(path_of(which.name, ".json"));
    replay_options options;
    options.window = window;
    const recorded_programs programs = build_programs(
        trace::read_recording(path_of(which.name, ".trace.xz")), attributes, options);
    const recorded_machine& m = programs.machine;
    sum.phase_ns +=
        (m.tick_phase_ns + m.tick_ns - programs.measure_from_ns % m.tick_ns) % m.tick_ns;
    sum.idle_switch_delay_ns += m.idle_switch_delay_ns;
    if (which.name == "6.1-h-1cpu") sum.message_ns = cpu_of(programs.figures, "rcv") / messages;
    if (which.name != "6.1-f-1cpu" && which.name != "6.12-f-1cpu") continue;
    for (const task_figures& t : programs.figures.tasks) {
      if (t.name != "parent") continue;
      turns += t.switches_in;
      sum.switch_delay_ns += m.switch_delay_ns * t.switches_in;
      sum.parent_turn_ns += t.cpu_ns;
    }
  }
  sum.phase_ns /= cases().size();
  sum.idle_switch_delay_ns /= cases().size();
  sum.switch_delay_ns /= std::max<std::uint64_t>(turns, 1);
  sum.parent_turn_ns /= std::max<std::uint64_t>(turns, 1);
  return sum;
}

std::string machine_text() {
  const machine_config m = machine_of_files();
  const measured_machine measured = measure_machine();
  std::string text =
      "| the machine of all files | ns | measured | how |\n| --- | --- | --- | --- |\n";
  const auto row = [&](std::string_view what, std::uint64_t ns, std::uint64_t found,
                       std::string_view how) {
    text += fmt::format("| {} | {} | {} | {} |\n", what, ns,
                        found == 0 ? "" : fmt::format("{}", found), how);
  };
  row("tick", m.tick_ns, 0, "HZ 250");
  row("first tick, after the start", m.tick_phase_ns, measured.phase_ns,
      "mean over the recordings of what replay finds after release");
  row("timer slack", m.timer_slack_ns, 0, "Linux's default");
  row("wake-up to switch, on a busy CPU", m.switch_delay_ns, measured.switch_delay_ns,
      "mean over all wake-ups of both f recordings, which have most of all");
  row("wake-up to switch, on an idle CPU", m.idle_switch_delay_ns, measured.idle_switch_delay_ns,
      "mean over the recordings of what replay finds");
  row("tick to switch", m.tick_switch_delay_ns, 0, "as replay assumes");
  row("a switch reads its clock earlier by", m.switch_clock_lead_ns, 0,
      "as replay: a sixth of wake-up to switch");
  row("switch, to the incoming task", m.switch_cost_ns, 0, "assumed: 1 to 2 us");
  row("wake-up, to the waker", m.wakeup_cost_ns, 0,
      "read off h: from one wake-up to the next by the same task, less a message");
  row("message of 100 bytes, to each side", m.pipe_call_ns, measured.message_ns,
      "CPU time of the receivers of 6.1-h, by messages");
  row("signal, to the sender", m.kill_cost_ns, 0,
      "read off f: the child's CPU time by signals that wake nobody");
  row("signal, where none is pending, more", m.queue_cost_ns, 0,
      "read off f: the child's turns, less signal, switch and wake-up");
  row("signal, to who takes it", m.signal_cost_ns, measured.parent_turn_ns - m.switch_cost_ns,
      "mean turn of the parent in both f recordings, less the switch");
  return text;
}

int run(bool only_check) {
  const all_checks all = check_all(!only_check);
  const checked_cases& replays = all.replays;
  const checked_cases& files = all.files;
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
      "the recorded kernel's policy and settings; the same rules. Nothing of the single recording "
      "goes\n"
      "into such a run: one machine, with delays and costs that the files state, serves for all. "
      "Work\n"
      "without an end has no time at which it is done. Left out: i (four CPUs) and j (two), which "
      "need\n"
      "load balancing.\n\n"
      "**{}.**\n\n{}\n{}",
      files.count(), machine_text(), cells_text(files.cases, "simulated", known_file_misses));
  fmt::print(
      "\n### Where the ticks come at other times\n\n"
      "The cells that are missed, with the first tick at 0.5 to 4 ms.\n\n"
      "| recording | tasks | figure | recorded | 0.5 ms | 1 ms | 1.5 ms | 2 ms | 2.5 ms | 3 ms | "
      "3.5 ms | 4 ms |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n{}",
      phases_text(all));
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

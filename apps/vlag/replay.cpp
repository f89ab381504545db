// SPDX-License-Identifier: Apache-2.0
#include "workload/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "input/input_error.hpp"
#include "input/printable.hpp"
#include "input/text.hpp"
#include "progress_bar.hpp"
#include "replay_options.hpp"
#include "replay_page.hpp"
#include "report/compare.hpp"
#include "report/html_report.hpp"
#include "report/latency_table.hpp"
#include "report/output_file.hpp"
#include "report/perfetto_writer.hpp"
#include "report/result_json.hpp"
#include "report/schedule.hpp"
#include "report/self_check.hpp"
#include "report/task_groups.hpp"
#include "trace/reader.hpp"
#include "workload/variant.hpp"

namespace vlag {
namespace {

constexpr unsigned any_cpus = 63;
constexpr std::uint64_t any_tick_ns = 4'000'000;
constexpr std::size_t max_compared_groups = 10;  // each takes a line a policy

// All that one invocation knows, filled from top to bottom.
struct replay_run {
  const replay_request& request;
  trace::recording recording{};
  recorded_attributes attributes{};
  std::unique_ptr<recorded_workload> workload{};
  std::vector<policy_variant> variants{};
  std::vector<run_figures> simulated{};       // one a variant
  std::optional<policy_variant> reference{};  // the recorded policy, when it is to be checked
  bool reference_is_first = false;            // variants[0] is the same
  std::optional<self_check_result> check{};
  std::vector<std::string> notes{};
  schedule_sink* pictures = nullptr;  // is told every run; nullptr: nobody asked

  [[nodiscard]] progress_bar::show progress() const {
    return request.quiet ? progress_bar::show::never : progress_bar::show::when_terminal;
  }
  [[nodiscard]] std::vector<const run_figures*> columns() const {
    std::vector<const run_figures*> result{&workload->recorded()};
    for (const run_figures& run : simulated) result.push_back(&run);
    return result;
  }
};

bool any_matches(const std::vector<std::string>& patterns, const task_figures& task) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return matches_task(pattern, task.name, task.pid);
  });
}

void read_inputs(replay_run& run) {
  if (!run.request.attributes_file.empty()) {
    run.attributes = read_attributes(run.request.attributes_file);
  }
  progress_bar bar(run.progress(), "reading");
  run.recording = trace::read_recording(
      run.request.trace, [&](std::uint64_t done, std::uint64_t all, std::uint64_t events) {
        bar.update(done, all, static_cast<double>(events), "events");
      });
}

// A misspelt policy is told before a long recording is read.
void check_spelling(const replay_request& request) {
  for (const std::string& spec : request.policies) {
    static_cast<void>(parse_variant(spec, request.settings, any_cpus, any_tick_ns));
  }
  if (request.policies.empty()) {
    static_cast<void>(parse_variant("linux-6.12", request.settings, any_cpus, any_tick_ns));
  }
}

void note_unused_attributes(replay_run& run) {
  std::vector<std::string> unused = unused_attributes(run.attributes);
  if (!run.attributes.kernel.empty() && run.request.policies.empty()) {
    unused.front() += fmt::format("; replayed under {}", run.variants.front().config.source->name);
  }
  run.notes.insert(run.notes.end(), unused.begin(), unused.end());
}

void choose_variants(replay_run& run) {
  const replay_request& request = run.request;
  const unsigned cpus = run.workload->cpus();
  const std::uint64_t tick_ns = run.workload->tick_ns();
  for (const std::string& spec : request.policies) {
    run.variants.push_back(parse_variant(spec, request.settings, cpus, tick_ns));
  }
  const auto recorded = recorded_variant(run.attributes, cpus);
  if (request.policies.empty()) {
    policy_variant variant = recorded ? *recorded : parse_variant("linux-6.12", {}, cpus, tick_ns);
    apply_settings(variant, request.settings, cpus);
    run.variants.push_back(std::move(variant));
  }
  if (!recorded) note_unused_attributes(run);
  if (!request.self_check && request.html_path.empty()) return;
  if (!recorded && !request.self_check) return;  // the page says that it is not known
  if (!recorded && request.policies.size() != 1) {
    throw input_error(fmt::format(
        "--self-check: {}; expected --attrs FILE that names {}, or one --policy to check against",
        run.attributes.kernel.empty() ? "the policy of the recording is not known"
                                      : unused_attributes(run.attributes).front(),
        run.attributes.kernel.empty() ? "the kernel" : "a policy"));
  }
  run.reference = recorded ? *recorded : run.variants.front();
  run.reference_is_first = !recorded || (request.policies.empty() && request.settings.empty());
}

// Settings that change nothing are said; a --set that no policy knows is a mistake.
void note_settings(replay_run& run) {
  for (const std::string& text : run.request.settings) {
    const auto ignores = [&](const policy_variant& v) {
      return std::find(v.ignored_settings.begin(), v.ignored_settings.end(), text) !=
             v.ignored_settings.end();
    };
    if (std::all_of(run.variants.begin(), run.variants.end(), ignores)) {
      throw input_error(
          fmt::format("--set {}: none of the policies has it (vlag features lists what "
                      "each has)",
                      text));
    }
    for (const policy_variant& v : run.variants) {
      if (ignores(v)) run.notes.push_back(fmt::format("{} does not apply to {}", text, v.label));
    }
  }
  for (const policy_variant& v : run.variants) {
    for (const std::string& text : settings_without_effect(v)) {
      run.notes.push_back(fmt::format("{} has no effect under {}, which has no such attribute",
                                      text, v.config.source->name));
    }
  }
}

void require_match(const std::vector<task_figures>& tasks, const std::string& option,
                   const std::string& pattern) {
  const bool found = std::any_of(tasks.begin(), tasks.end(), [&](const task_figures& task) {
    return matches_task(pattern, task.name, task.pid);
  });
  if (found) return;
  std::vector<std::string_view> names;
  for (const task_figures& task : tasks) names.push_back(task.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const auto near = nearest_name(pattern, names);
  std::string known;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 8); ++i) {
    known += fmt::format("{}{}", i == 0 ? "" : ", ", shown_name(names[i]));
  }
  if (names.size() > 8) known += fmt::format(" and {} more", names.size() - 8);
  throw input_error(fmt::format("{}: no task '{}' in the recording{} (tasks: {})", option, pattern,
                                near ? fmt::format("; did you mean '{}'?", *near) : std::string{},
                                known));
}

void check_patterns(const replay_run& run) {
  const std::vector<task_figures>& tasks = run.workload->recorded().tasks;
  for (const policy_variant& v : run.variants) {
    for (const task_override& o : v.overrides) {
      require_match(tasks, fmt::format("--policy {}", v.label), o.pattern);
    }
  }
  for (const std::string& pattern : run.request.tasks) require_match(tasks, "--tasks", pattern);
}

run_figures simulate(const replay_run& run, const policy_variant& variant,
                     schedule_sink* pictures = nullptr) {
  progress_bar bar(run.progress(), printable(variant.label));
  const run_figures& recorded = run.workload->recorded();
  const double span_s = static_cast<double>(recorded.to_ns - recorded.from_ns) / 1e9;
  std::optional<simulated_schedule> schedule;
  if (pictures != nullptr) {
    schedule.emplace(simulated_schedule::frame{variant.label, run.workload->cpus(),
                                               recorded.to_ns - recorded.from_ns,
                                               run.workload->window_from_ns()},
                     *pictures);
  }
  run_figures figures = run.workload->simulate(
      variant,
      [&](unsigned per_mille) {
        bar.update(per_mille, 1000, span_s * per_mille / 1000, "simulated s");
      },
      schedule ? &*schedule : nullptr);
  figures.label = variant.label;
  return figures;
}

void simulate_all(replay_run& run) {
  if (run.pictures != nullptr) {
    tell_recording(run.recording, run.workload->window_from_ns(), run.workload->window_to_ns(),
                   *run.pictures);
  }
  for (const policy_variant& v : run.variants) {
    run.simulated.push_back(simulate(run, v, run.pictures));
  }
  if (!run.reference) return;
  const run_figures& recorded = run.workload->recorded();
  run.check = run.reference_is_first ? self_check(recorded, run.simulated.front())
                                     : self_check(recorded, simulate(run, *run.reference));
}

row_choice rows_of(const replay_run& run) {
  row_choice choice;
  if (!run.request.tasks.empty()) {
    choice.only = [&](const task_figures& t) { return any_matches(run.request.tasks, t); };
  }
  std::vector<std::string> overridden;
  for (const policy_variant& v : run.variants) {
    for (const task_override& o : v.overrides) overridden.push_back(o.pattern);
  }
  choice.always = [overridden = std::move(overridden)](const task_figures& t) {
    return any_matches(overridden, t);
  };
  return choice;
}

void print_anomalies(const replay_run& run) {
  std::vector<std::string> lines;
  for (const trace::anomaly& a : run.recording.anomalies) {
    std::string line = fmt::format("recording: {}: {}", a.kind, a.count);
    if (!a.first.empty()) line += fmt::format(" (first: {})", a.first.front());
    lines.push_back(std::move(line));
  }
  for (const auto& [name, count] : run.workload->anomalies()) {
    lines.push_back(fmt::format("workload: {}: {}", name, count));
  }
  for (const run_figures* column : run.columns()) {
    if (column->anomalies == run.workload->anomalies()) continue;  // the same, told already
    for (const auto& [name, count] : column->anomalies) {
      lines.push_back(fmt::format("{}: {}: {}", column->label, name, count));
    }
  }
  for (const std::string& note : run.notes) lines.push_back(fmt::format("note: {}", note));
  if (lines.empty()) return;
  fmt::print("\nAnomalies\n");
  for (const std::string& line : lines) fmt::print("  {}\n", printable(line));
}

void print_tables(const replay_run& run) {
  const std::vector<const run_figures*> columns = run.columns();
  const row_choice choice = rows_of(run);
  row_choice compared = choice;
  compared.max_rows = max_compared_groups;
  fmt::print("{}\n", comparison_table(columns, compared));
  if (const std::string groups = group_table(columns); !groups.empty()) fmt::print("{}\n", groups);
  fmt::print("{}\n{}\n", totals_table(columns), what_changed_most(columns, compared));
  if (!run.request.quiet) {
    const std::vector<std::int32_t> pids = chosen_tasks(columns, choice);
    for (const run_figures* column : columns) {
      fmt::print("\n{}\n\n{}", printable(column->label), latency_table(*column, pids));
    }
  }
  if (run.check && run.request.self_check) {
    fmt::print("\nself-check: the recording and its replay under {}\n\n{}\n{}\n",
               printable(run.reference->label), self_check_table(*run.check),
               self_check_verdict(*run.check));
  }
  print_anomalies(run);
}

result_policy policy_result(const policy_variant& variant) {
  result_policy result{variant.config, variant.hrtick, {}, {}};
  for (const task_override& o : variant.overrides) {
    result.overrides.push_back({o.pattern, std::string(to_string(o.attribute)), o.value, o.group});
  }
  for (const group_override& o : variant.group_files) {
    result.group_files.push_back({o.path, o.file.name, o.file.text});
  }
  return result;
}

// Points into the run and into policies, which it fills.
result_document results_of(const replay_run& run, std::vector<result_policy>& policies) {
  const run_figures& recorded = run.workload->recorded();
  for (const policy_variant& v : run.variants) policies.push_back(policy_result(v));
  result_document document;
  document.arguments = normalised_arguments(run.request);
  document.version = VLAG_VERSION;
  document.seed = run.request.replay.seed;
  document.duration_ns = recorded.to_ns - recorded.from_ns;
  document.cpus = run.workload->cpus();
  document.tick_ns = run.workload->tick_ns();
  document.runs.push_back({&recorded, nullptr});
  for (std::size_t i = 0; i < policies.size(); ++i) {
    document.runs.push_back({&run.simulated[i], &policies[i]});
  }
  if (run.check) {
    document.check = &*run.check;
    document.check_label = run.reference->label;
  }
  document.trace_anomalies = run.recording.anomalies;
  document.workload_anomalies = run.workload->anomalies();
  document.notes = run.notes;
  return document;
}

std::string results_text(const replay_run& run) {
  std::vector<result_policy> policies;
  result_document document = results_of(run, policies);
  if (!run.request.self_check) document.check = nullptr;  // it is the page's
  return result_json(document);
}

std::string page_text(const replay_run& run) {
  std::vector<result_policy> policies;
  row_choice compared = rows_of(run);
  compared.max_rows = max_compared_groups;
  page_source source{.request = run.request,
                     .recording = run.recording,
                     .workload = *run.workload,
                     .variants = run.variants,
                     .results = results_of(run, policies),
                     .change = biggest_change(run.columns(), compared)};
  return replay_page(source, run.progress());
}

void require_page() {
  if (has_html_report()) return;
  throw input_error(
      "--html: this vlag was built without npm, which brings the page's charts; expected a build "
      "with it (scripts/setup)");
}

void require_output(const replay_request& request, const std::string& path) {
  require_writable(path);
  require_other_file(path, request.trace);
  require_other_file(path, request.attributes_file);
}

void require_different_outputs(const replay_request& request) {
  const std::pair<const char*, const std::string&> outputs[] = {
      {"--json", request.json_path},
      {"--html", request.html_path},
      {"--perfetto", request.perfetto_path}};
  for (const auto& [name, path] : outputs) {
    for (const auto& [other, other_path] : outputs) {
      if (path.empty() || &path == &other_path || path != other_path) continue;
      throw input_error(
          fmt::format("{} and {}: both are {}; expected two files", name, other, path));
    }
  }
}

// Simulates, and writes the Perfetto trace as it goes.
void simulate_and_write(replay_run& run) {
  if (run.request.perfetto_path.empty()) {
    simulate_all(run);
    return;
  }
  whole_file file(run.request.perfetto_path);
  perfetto_writer writer([&](std::string_view piece) { file.write(piece); });
  run.pictures = &writer;
  simulate_all(run);
  run.pictures = nullptr;
  file.finish();
}

int replay(replay_request& request) {
  if (request.trace == "-" && request.attributes_file == "-") {
    throw input_error("TRACE and --attrs cannot both be standard input; expected a file for one");
  }
  const bool to_file = !request.json_path.empty() && request.json_path != "-";
  require_different_outputs(request);
  if (to_file) require_output(request, request.json_path);
  if (!request.perfetto_path.empty()) require_output(request, request.perfetto_path);
  if (!request.html_path.empty()) {
    require_page();
    require_output(request, request.html_path);
  }
  request.replay.wakes = wakes_named(request.wakes);
  check_spelling(request);

  replay_run run{.request = request};
  read_inputs(run);
  run.workload = std::make_unique<recorded_workload>(run.recording, run.attributes, request.replay);
  choose_variants(run);
  note_settings(run);
  check_patterns(run);
  simulate_and_write(run);

  if (!request.html_path.empty()) write_whole_file(request.html_path, page_text(run));
  if (request.json_path == "-") {
    fmt::print("{}", results_text(run));
    return 0;
  }
  if (to_file) write_whole_file(request.json_path, results_text(run));
  print_tables(run);
  return 0;
}

}  // namespace

void add_replay_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "replay", "what a recorded workload would do under other policies and settings");
  command->footer(
      "Example:\n"
      "  vlag replay tests/data/traces/6.1-dspin-1cpu.trace.xz \\\n"
      "    --attrs tests/data/traces/6.1-dspin-1cpu.json \\\n"
      "    --policy linux-6.1 --policy linux-6.12 --policy linux-6.12,frame.slice=0.1ms");
  auto request = std::make_shared<replay_request>();
  declare_options(*command, *request);
  command->callback([request, &exit_code] { exit_code = replay(*request); });
}

}  // namespace vlag

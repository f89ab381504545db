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
#include "machine/machine.hpp"
#include "progress_bar.hpp"
#include "replay_options.hpp"
#include "replay_page.hpp"
#include "replay_source.hpp"
#include "report/compare.hpp"
#include "report/debug_dump.hpp"
#include "report/html_report.hpp"
#include "report/latency_table.hpp"
#include "report/output_file.hpp"
#include "report/perfetto_writer.hpp"
#include "report/result_json.hpp"
#include "report/schedstat.hpp"
#include "report/schedule.hpp"
#include "report/self_check.hpp"
#include "report/task_groups.hpp"
#include "trace/reader.hpp"
#include "workload/variant.hpp"

namespace vlag {
namespace {

constexpr std::size_t max_compared_groups = 10;  // each takes a line a policy

// All that one invocation knows, filled from top to bottom.
struct replay_run : replay_source {
  explicit replay_run(replay_request& asked) : replay_source(open_source(asked)), request(asked) {}

  const replay_request& request;
  std::vector<run_figures> simulated;       // one a variant
  std::optional<policy_variant> reference;  // the recorded policy, when it is to be checked
  bool reference_is_first = false;          // variants[0] is the same
  std::optional<self_check_result> check;
  schedule_sink* pictures = nullptr;  // is told every run; nullptr: nobody asked

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

// What the self-check compares the recording with.
void choose_reference(replay_run& run) {
  const replay_request& request = run.request;
  if (!request.self_check && request.html_path.empty()) return;
  if (!run.recorded_under && !request.self_check) return;  // the page says that it is not known
  if (!run.recorded_under && request.policies.size() != 1) {
    throw input_error(fmt::format(
        "--self-check: {}; expected --attrs FILE that names {}, or one --policy to check against",
        run.attributes.kernel.empty() ? "the policy of the recording is not known"
                                      : unused_attributes(run.attributes).front(),
        run.attributes.kernel.empty() ? "the kernel" : "a policy"));
  }
  run.reference = run.recorded_under ? *run.recorded_under : run.variants.front();
  run.reference_is_first =
      !run.recorded_under || (request.policies.empty() && request.settings.empty());
}

run_figures simulate(const replay_run& run, const policy_variant& variant,
                     schedule_sink* pictures = nullptr) {
  progress_bar bar(shown_progress(run.request), printable(variant.label));
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
  if (run.request.schedstat) {
    for (std::size_t i = 0; i < run.simulated.size(); ++i) {
      fmt::print("\n{}\n\n{}", printable(run.simulated[i].label),
                 schedstat_table(run.simulated[i], run.variants[i].config.engine));
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
  return replay_page(source, shown_progress(run.request));
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
  if (request.html_path == "-" || request.perfetto_path == "-") {
    throw input_error(fmt::format("{}: - is not taken; expected a file (or /dev/stdout)",
                                  request.html_path == "-" ? "--html" : "--perfetto"));
  }
  const std::pair<const char*, const std::string&> outputs[] = {
      {"--json", request.json_path},
      {"--html", request.html_path},
      {"--perfetto", request.perfetto_path}};
  for (const auto& [name, path] : outputs) {
    for (const auto& [other, other_path] : outputs) {
      if (path.empty() || other_path.empty() || &path == &other_path) continue;
      if (!same_output(path, other_path)) continue;
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

// The queues and tasks of each policy's run at one moment.
void print_debug_dumps(const replay_run& run) {
  const replay_moment when =
      run.workload->moment(run.recording, "--debug-at", run.request.debug_at);
  std::vector<std::string> notes = run.notes;
  for (const policy_variant& v : run.variants) {
    const auto stopped = run.workload->run_to(v, when);
    fmt::print("{}, {} after the first event\n\n{}\n", printable(v.label),
               format_duration(when.after_first_event_ns),
               debug_dump(stopped.simulated->snapshot()));
    for (const std::string& name : stopped.ran_out) {
      notes.push_back(fmt::format("{}: {} had run out of recorded work before", v.label, name));
    }
  }
  for (const std::string& note : notes) fmt::print("note: {}\n", printable(note));
}

int replay(replay_request& request) {
  const bool to_file = !request.json_path.empty() && request.json_path != "-";
  require_different_outputs(request);
  if (to_file) require_output(request, request.json_path);
  if (!request.perfetto_path.empty()) require_output(request, request.perfetto_path);
  if (!request.html_path.empty()) {
    require_page();
    require_output(request, request.html_path);
  }
  request.replay.count_decisions = request.schedstat;

  replay_run run(request);
  choose_reference(run);
  for (const std::string& pattern : request.tasks) require_match(run, "--tasks", pattern);
  if (!request.debug_at.empty()) {
    print_debug_dumps(run);
    return 0;
  }
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

// SPDX-License-Identifier: Apache-2.0
#include "workload/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "compared_runs.hpp"
#include "input/input_error.hpp"
#include "input/printable.hpp"
#include "input/text.hpp"
#include "machine/machine.hpp"
#include "progress_bar.hpp"
#include "replay_options.hpp"
#include "replay_source.hpp"
#include "report/debug_dump.hpp"
#include "report/output_file.hpp"
#include "report/result_json.hpp"
#include "report/schedule.hpp"
#include "report/self_check.hpp"
#include "trace/reader.hpp"
#include "workload/variant.hpp"

namespace vlag {
namespace {

// All that one invocation knows, filled from top to bottom.
struct replay_run : replay_source {
  explicit replay_run(replay_request& asked) : replay_source(open_source(asked)), request(asked) {}

  const replay_request& request;
  std::vector<run_figures> simulated;       // one a variant
  std::optional<policy_variant> reference;  // the recorded policy, when it is to be checked
  bool reference_is_first = false;          // variants[0] is the same
  std::optional<self_check_result> check;

  [[nodiscard]] compared_runs compared() const {
    return {&workload->recorded(), variants, simulated, request.tasks};
  }
};

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

// clock_at_start_ns: what the recording's clock is taken to be where the window begins.
run_figures simulate(const replay_run& run, const policy_variant& variant, const std::string& title,
                     schedule_sink* pictures = nullptr, std::uint64_t clock_at_start_ns = 0) {
  progress_bar bar(shown_progress(run.request), title);
  const run_figures& recorded = run.workload->recorded();
  const double span_s = static_cast<double>(recorded.to_ns - recorded.from_ns) / 1e9;
  std::optional<simulated_schedule> schedule;
  if (pictures != nullptr) {
    schedule.emplace(
        simulated_schedule::frame{variant.label, run.workload->cpus(),
                                  recorded.to_ns - recorded.from_ns, clock_at_start_ns},
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

// pictures are told every run; nullptr: nobody asked.
void simulate_all(replay_run& run, schedule_sink* pictures) {
  const std::uint64_t from_ns = run.workload->window_from_ns();
  if (pictures != nullptr) {
    tell_recording(run.recording, from_ns, run.workload->window_to_ns(), *pictures);
  }
  for (const policy_variant& v : run.variants) {
    run.simulated.push_back(simulate(run, v, printable(v.label), pictures, from_ns));
  }
  if (!run.reference) return;
  const run_figures& recorded = run.workload->recorded();
  run.check =
      run.reference_is_first
          ? self_check(recorded, run.simulated.front())
          : self_check(recorded, simulate(run, *run.reference, printable(run.reference->label)));
}

std::vector<std::string> anomalies_of(const replay_run& run) {
  std::vector<std::string> lines;
  for (const trace::anomaly& a : run.recording.anomalies) {
    std::string line = fmt::format("recording: {}: {}", a.kind, a.count);
    if (!a.first.empty()) line += fmt::format(" (first: {})", a.first.front());
    lines.push_back(std::move(line));
  }
  for (const auto& [name, count] : run.workload->anomalies()) {
    lines.push_back(fmt::format("workload: {}: {}", name, count));
  }
  for (const run_figures* column : run.compared().columns()) {
    if (column->anomalies == run.workload->anomalies()) continue;  // the same, told already
    for (const auto& [name, count] : column->anomalies) {
      lines.push_back(fmt::format("{}: {}: {}", column->label, name, count));
    }
  }
  for (const std::string& note : run.notes) lines.push_back(fmt::format("note: {}", note));
  return lines;
}

void print_tables(const replay_run& run) {
  print_comparison(run.compared(),
                   run.request.quiet ? table_detail::comparison : table_detail::each_run);
  if (run.request.schedstat) print_schedstat(run.compared());
  if (run.check && run.request.self_check) {
    fmt::print("\nself-check: the recording and its replay under {}\n\n{}\n{}\n",
               printable(run.reference->label), self_check_table(*run.check),
               self_check_verdict(*run.check));
  }
  print_anomalies(anomalies_of(run));
}

// Refers to the run and to policies, which it fills.
result_document results_of(const replay_run& run, std::vector<result_policy>& policies) {
  const run_figures& recorded = run.workload->recorded();
  result_document document;
  document.arguments = normalised_arguments(run.request);
  document.version = VLAG_VERSION;
  document.seed = run.request.replay.seed;
  document.duration_ns = recorded.to_ns - recorded.from_ns;
  document.cpus = run.workload->cpus();
  document.tick_ns = run.workload->tick_ns();
  add_runs(document, run.compared(), policies);
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

std::string trust_of(const result_document& results) {
  if (results.check != nullptr) return self_check_verdict(*results.check);
  return "How far to trust this is not known: the policy of the recording is not. An --attrs file "
         "that names the kernel would tell.";
}

std::string page_text(const replay_run& run) {
  std::vector<result_policy> policies;
  page_source source;
  page_document& page = source.page;
  page.results = results_of(run, policies);
  page.change = run.compared().change();
  page.command = page_command(page.results.arguments, run.request.html_path);
  page.trust = trust_of(page.results);
  page.name = run.request.trace == "-"
                  ? "standard input"
                  : std::filesystem::path(run.request.trace).filename().string();
  page.format = run.recording.format;
  page.trace_events = run.recording.events.size();
  source.span_ns = run.workload->window_to_ns() - run.workload->window_from_ns();
  source.tell = [&run](std::size_t number, schedule_sink& sink) {
    if (number == 0) {
      tell_recording(run.recording, run.workload->window_from_ns(), run.workload->window_to_ns(),
                     sink);
    } else {
      const policy_variant& variant = run.variants[number - 1];
      static_cast<void>(
          simulate(run, variant, "timeline of " + printable(variant.label), &sink, 0));
    }
  };
  return runs_page(source);
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
  const std::string inputs[] = {request.trace, request.attributes_file};
  check_outputs(request, inputs);
  request.replay.count_decisions = request.schedstat;

  replay_run run(request);
  choose_reference(run);
  for (const std::string& pattern : request.tasks) require_match(run, "--tasks", pattern);
  if (!request.debug_at.empty()) {
    print_debug_dumps(run);
    return 0;
  }
  simulate_and_draw(request, [&](schedule_sink* pictures) { simulate_all(run, pictures); });

  if (!request.html_path.empty()) write_whole_file(request.html_path, page_text(run));
  if (request.json_path == "-") {
    fmt::print("{}", results_text(run));
    return 0;
  }
  if (!request.json_path.empty()) write_whole_file(request.json_path, results_text(run));
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

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
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
#include "output_options.hpp"
#include "progress_bar.hpp"
#include "replay_options.hpp"
#include "report/debug_dump.hpp"
#include "report/output_file.hpp"
#include "report/result_json.hpp"
#include "workload/expectation.hpp"
#include "workload/rtapp_log.hpp"
#include "workload_source.hpp"

namespace vlag {
namespace {

struct run_request : workload_request, output_request {
  bool quiet = false;
};

// All that one invocation knows, filled from top to bottom.
struct workload_run : workload_source {
  explicit workload_run(const run_request& asked)
      : workload_source(open_workload(asked)), request(asked) {}

  const run_request& request;
  std::vector<run_figures> simulated;  // one a variant
  // What the file says must be seen; nullopt: nothing, or this is another case than the file's.
  std::optional<std::vector<judged_expectation>> judged;

  [[nodiscard]] compared_runs compared() const {
    return {nullptr, variants, simulated, request.tasks};
  }
};

// The command line in a fixed order, without what does not change results.
std::vector<std::string> arguments_of(const run_request& request) {
  std::vector<std::string> result{"run", request.workload};
  for (const std::string& text : request.policies) result.push_back("--policy=" + text);
  for (const std::string& text : request.settings) result.push_back("--set=" + text);
  if (!request.duration.empty()) result.push_back("--duration=" + request.duration);
  if (request.cpus != 0) result.push_back(fmt::format("--cpus={}", request.cpus));
  if (request.strict_json) result.emplace_back("--strict-json");
  if (request.schedstat) result.emplace_back("--schedstat");
  result.push_back(fmt::format("--seed={}", request.seed));
  for (const std::string& text : request.tasks) result.push_back("--tasks=" + text);
  return result;
}

run_figures simulate(const workload_run& run, const policy_variant& variant,
                     const std::string& title, schedule_sink* pictures, std::uint64_t span_ns) {
  progress_bar bar(
      run.request.quiet ? progress_bar::show::never : progress_bar::show::when_terminal, title);
  const double span_s = static_cast<double>(longest_run_ns(run.workload, run.options)) / 1e9;
  std::optional<simulated_schedule> schedule;
  if (pictures != nullptr) {
    schedule.emplace(simulated_schedule::frame{variant.label, run.workload.cpus, span_ns, 0},
                     *pictures);
  }
  return run_rtapp(
      run.workload, variant, run.options,
      [&](unsigned per_mille) {
        bar.update(per_mille, 1000, span_s * per_mille / 1000, "simulated s");
      },
      schedule ? &*schedule : nullptr);
}

// Before anything is simulated.
void check_log_folder(const workload_run& run) {
  const std::string& folder = run.request.log_folder;
  if (folder.empty()) return;
  if (run.variants.size() != 1) {
    throw input_error(fmt::format("--rtapp-log {}: {} policies; expected one with --policy", folder,
                                  run.variants.size()));
  }
  if (!std::filesystem::is_directory(folder)) {
    throw input_error(fmt::format("--rtapp-log {}: expected a folder that exists", folder));
  }
  require_writable((std::filesystem::path(folder) / "log").string());
}

void write_log(const workload_run& run, const rtapp_log& log) {
  const std::filesystem::path folder = run.request.log_folder;
  for (const rtapp_log::file& file : log.files()) {
    write_whole_file((folder / file.name).string(), file.text);
  }
}

void judge_all(workload_run& run) {
  const std::vector<expectation>& expected = run.workload.block.expectations;
  if (expected.empty()) return;
  if (run.changed.empty()) {
    run.judged = judge(expected, run.simulated);
    return;
  }
  run.notes.push_back(fmt::format("what the file expects is not checked: {} {} another case",
                                  fmt::join(run.changed, " and "),
                                  run.changed.size() == 1 ? "makes it" : "make it"));
}

bool all_hold(const workload_run& run) {
  return !run.judged || std::all_of(run.judged->begin(), run.judged->end(),
                                    [](const judged_expectation& j) { return j.holds; });
}

void print_expectations(const workload_run& run) {
  if (!run.judged) return;
  fmt::print("\nExpectations\n");
  std::string told;
  for (const judged_expectation& j : *run.judged) {
    if (!j.says.empty() && j.says != told) fmt::print("  {}\n", printable(j.says));
    told = j.says;
    fmt::print("  {:<6} {}: {}; expected {}\n", j.holds ? "holds" : "FAILS", printable(j.figure),
               printable(j.value), j.expected);
  }
}

std::vector<std::string> anomalies_of(const workload_run& run) {
  std::vector<std::string> lines;
  for (const run_figures& figures : run.simulated) {
    for (const auto& [what, count] : figures.anomalies) {
      lines.push_back(fmt::format("{}: {}: {}", figures.label, what, count));
    }
  }
  for (const std::string& note : run.notes) lines.push_back("note: " + note);
  return lines;
}

void print_tables(const workload_run& run) {
  print_comparison(run.compared(),
                   run.request.quiet ? table_detail::comparison : table_detail::each_run);
  if (run.request.schedstat) print_schedstat(run.compared());
  print_expectations(run);
  print_anomalies(anomalies_of(run));
}

std::uint64_t longest_span_ns(const workload_run& run) {
  std::uint64_t longest = 0;
  for (const run_figures& figures : run.simulated) {
    longest = std::max(longest, figures.to_ns - figures.from_ns);
  }
  return longest;
}

std::string_view unit_name(figure_unit unit) {
  switch (unit) {
    case figure_unit::ppm:
      return "ppm";
    case figure_unit::ns:
      return "ns";
    case figure_unit::ratio:
      return "millionths";
    case figure_unit::count:
      break;
  }
  return "";
}

// Refers to the run and to policies, which it fills.
result_document results_of(const workload_run& run, std::vector<result_policy>& policies) {
  result_document document;
  document.arguments = arguments_of(run.request);
  document.version = VLAG_VERSION;
  document.seed = run.request.seed;
  document.duration_ns = longest_span_ns(run);
  document.cpus = run.workload.cpus;
  document.tick_ns = run.workload.block.machine.tick_ns;
  add_runs(document, run.compared(), policies);
  document.notes = run.notes;
  if (run.judged) {
    document.expectations.emplace();
    for (const judged_expectation& j : *run.judged) {
      document.expectations->push_back({j.says, j.figure, std::string(unit_name(j.unit)), j.number,
                                        j.min, j.max, j.value, j.expected, j.holds});
    }
  }
  return document;
}

std::string results_text(const workload_run& run) {
  std::vector<result_policy> policies;
  return result_json(results_of(run, policies));
}

std::string page_text(const workload_run& run) {
  std::vector<result_policy> policies;
  page_source source;
  page_document& page = source.page;
  page.results = results_of(run, policies);
  page.change = run.compared().change();
  if (page.change.sentence.empty()) page.change.sentence = run.workload.block.summary;
  page.command = page_command(page.results.arguments, run.request.html_path);
  page.trust = "Made from a workload file: no recording stands beside these figures.";
  page.name =
      run.path == "-" ? "standard input" : std::filesystem::path(run.path).filename().string();
  page.format = "workload file";
  source.span_ns = longest_span_ns(run);
  source.tell = [&run, &source](std::size_t number, schedule_sink& sink) {
    const policy_variant& variant = run.variants[number];
    static_cast<void>(
        simulate(run, variant, "timeline of " + printable(variant.label), &sink, source.span_ns));
  };
  return runs_page(source);
}

// The queues and tasks of each policy's run at one moment.
void print_debug_dumps(const workload_run& run) {
  const std::uint64_t at_ns = moment_of(run, "--debug-at", run.request.debug_at);
  for (const policy_variant& v : run.variants) {
    const auto stopped = run_rtapp_to(run.workload, v, run.options, at_ns);
    fmt::print("{}, at {}\n\n{}\n", printable(v.label), format_duration(stopped->now_ns()),
               debug_dump(stopped->snapshot()));
  }
  for (const std::string& note : run.notes) fmt::print("note: {}\n", printable(note));
}

int run_workload(const run_request& request) {
  workload_run run(request);
  const std::string inputs[] = {run.path};
  check_outputs(request, inputs);
  for (const std::string& pattern : request.tasks) require_match(run.workload, "--tasks", pattern);
  if (!request.debug_at.empty()) {
    print_debug_dumps(run);
    return 0;
  }
  check_log_folder(run);
  run.options.count_decisions = request.schedstat;
  std::optional<rtapp_log> log;
  if (!request.log_folder.empty()) run.options.log = &log.emplace(run.workload);
  simulate_and_draw(request, [&run](schedule_sink* pictures) {
    for (const policy_variant& v : run.variants) {
      run.simulated.push_back(simulate(run, v, printable(v.label), pictures,
                                       longest_run_ns(run.workload, run.options)));
    }
  });
  run.options.count_decisions = false;
  run.options.log = nullptr;
  if (log) write_log(run, *log);
  judge_all(run);

  if (!request.html_path.empty()) write_whole_file(request.html_path, page_text(run));
  if (request.json_path == "-") {
    fmt::print("{}", results_text(run));
  } else {
    if (!request.json_path.empty()) write_whole_file(request.json_path, results_text(run));
    print_tables(run);
  }
  return all_hold(run) ? 0 : 1;
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "run", "what an rt-app workload file or a scenario does under one or more policies");
  command->footer(
      "Exit code: 0 done, 1 something that the file expects was not seen.\n\n"
      "Example:\n"
      "  vlag run tests/data/rtapp/periodic.json --policy linux-6.1 --policy linux-6.12");
  auto request = std::make_shared<run_request>();
  command
      ->add_option("WORKLOAD", request->workload,
                   "an rt-app JSON file, or a name that vlag scenarios lists;\n"
                   "random:tasks=8,seed=3 a random one; - reads standard input")
      ->check(check_not_empty)
      ->required();
  declare_policies(*command, request->policies, request->settings,
                   "those that the file names, else linux-6.12");
  declare_seed(*command, request->seed);
  declare_workload_options(*command, *request);
  declare_outputs(*command, *request, "a time of the run");
  command
      ->add_option("--rtapp-log", request->log_folder,
                   "write there what rt-app logs, a file for each thread, in its format")
      ->type_name("DIR")
      ->check(check_not_empty);
  command->add_flag("--quiet", request->quiet,
                    "no progress, no table for each policy: comparison, totals, conclusion only");
  command->callback([request, &exit_code] { exit_code = run_workload(*request); });
}

}  // namespace vlag

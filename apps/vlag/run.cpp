// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "input/input_error.hpp"
#include "input/printable.hpp"
#include "input/text.hpp"
#include "progress_bar.hpp"
#include "replay_options.hpp"
#include "report/compare.hpp"
#include "report/latency_table.hpp"
#include "report/output_file.hpp"
#include "report/result_json.hpp"
#include "report/schedstat.hpp"
#include "report/task_groups.hpp"
#include "workload/rtapp_run.hpp"
#include "workload/variant.hpp"

namespace vlag {
namespace {

struct run_request {
  std::string workload;
  std::vector<std::string> policies;
  std::vector<std::string> settings;
  std::string duration;
  std::string json_path;  // empty: none; "-": standard output, instead of the tables
  unsigned cpus = 0;
  std::uint64_t seed = 1;
  bool strict_json = false;
  bool schedstat = false;
  bool quiet = false;
};

std::vector<std::string> arguments_of(const run_request& request) {
  std::vector<std::string> result{"run", request.workload};
  for (const std::string& text : request.policies) result.push_back("--policy=" + text);
  for (const std::string& text : request.settings) result.push_back("--set=" + text);
  if (!request.duration.empty()) result.push_back("--duration=" + request.duration);
  if (request.cpus != 0) result.push_back(fmt::format("--cpus={}", request.cpus));
  if (request.strict_json) result.emplace_back("--strict-json");
  if (request.schedstat) result.emplace_back("--schedstat");
  result.push_back(fmt::format("--seed={}", request.seed));
  return result;
}

std::vector<policy_variant> variants_of(const run_request& request, const rtapp_workload& workload,
                                        std::uint64_t tick_ns) {
  std::vector<policy_variant> variants;
  std::vector<std::string> specs = request.policies;
  if (specs.empty()) specs.emplace_back("linux-6.12");
  for (const std::string& spec : specs) {
    variants.push_back(parse_variant(spec, request.settings, workload.cpus, tick_ns));
    for (const task_override& o : variants.back().overrides) {
      const bool found =
          std::any_of(workload.tasks.begin(), workload.tasks.end(),
                      [&](const task_setup& t) { return matches_task(o.pattern, t.name, t.pid); });
      if (!found) {
        throw input_error(
            fmt::format("--policy {}: no task '{}' in the workload; tasks are called "
                        "NAME-INSTANCE, like {}",
                        spec, o.pattern, workload.tasks.front().name));
      }
      if (o.attribute == task_attribute::cpus) {
        throw input_error(fmt::format(
            "--policy {}: cpus is for recordings; expected \"cpus\" in the workload file", spec));
      }
    }
  }
  for (const std::string& text : request.settings) {
    if (std::all_of(variants.begin(), variants.end(), [&](const policy_variant& v) {
          return std::count(v.ignored_settings.begin(), v.ignored_settings.end(), text) != 0;
        })) {
      throw input_error(fmt::format(
          "--set {}: none of the policies has it (vlag features lists what each has)", text));
    }
  }
  return variants;
}

std::vector<std::string> notes_of(const std::vector<policy_variant>& variants,
                                  const rtapp_workload& workload) {
  std::vector<std::string> notes = workload.warnings;
  for (const policy_variant& v : variants) {
    for (const std::string& text : v.ignored_settings) {
      notes.push_back(fmt::format("{} does not apply to {}", text, v.label));
    }
    for (const std::string& text : settings_without_effect(v)) {
      notes.push_back(fmt::format("{} has no effect under {}", text, v.config.source->name));
    }
  }
  if (workload.cpus > 1) {
    notes.emplace_back("tasks stay on the CPU that they begin on: there is no load balancing");
  }
  return notes;
}

std::string results_text(const run_request& request, const rtapp_workload& workload,
                         const std::vector<policy_variant>& variants,
                         const std::vector<run_figures>& runs, std::uint64_t tick_ns,
                         const std::vector<std::string>& notes) {
  std::vector<result_policy> policies;
  for (const policy_variant& v : variants) {
    result_policy& p = policies.emplace_back(result_policy{v.config, v.hrtick, {}, {}});
    for (const task_override& o : v.overrides) {
      p.overrides.push_back({o.pattern, std::string(to_string(o.attribute)), o.value, o.group});
    }
    for (const group_override& o : v.group_files) {
      p.group_files.push_back({o.path, o.file.name, o.file.text});
    }
  }
  result_document document;
  document.arguments = arguments_of(request);
  document.version = VLAG_VERSION;
  document.seed = request.seed;
  for (const run_figures& run : runs) {
    document.duration_ns = std::max(document.duration_ns, run.to_ns - run.from_ns);
  }
  document.cpus = workload.cpus;
  document.tick_ns = tick_ns;
  for (std::size_t i = 0; i < runs.size(); ++i) document.runs.push_back({&runs[i], &policies[i]});
  document.notes = notes;
  return result_json(document);
}

void print_tables(const run_request& request, const std::vector<policy_variant>& variants,
                  const std::vector<run_figures>& runs, const std::vector<std::string>& notes) {
  std::vector<const run_figures*> columns;
  for (const run_figures& run : runs) columns.push_back(&run);
  const row_choice choice;
  fmt::print("{}\n", comparison_table(columns, choice));
  if (const std::string groups = group_table(columns); !groups.empty()) fmt::print("{}\n", groups);
  fmt::print("{}", totals_table(columns));
  if (columns.size() > 1) {
    // Of three or more columns the second is the baseline there.
    std::vector<const run_figures*> compared = columns;
    if (compared.size() > 2) compared.insert(compared.begin(), compared.front());
    fmt::print("\n{}\n", what_changed_most(compared, choice));
  }
  if (!request.quiet) {
    const std::vector<std::int32_t> pids = chosen_tasks(columns, choice);
    for (const run_figures* column : columns) {
      fmt::print("\n{}\n\n{}", printable(column->label), latency_table(*column, pids));
    }
  }
  for (std::size_t i = 0; request.schedstat && i < runs.size(); ++i) {
    fmt::print("\n{}\n\n{}", printable(runs[i].label),
               schedstat_table(runs[i], variants[i].config.engine));
  }
  std::vector<std::string> lines;
  for (const run_figures& run : runs) {
    for (const auto& [what, count] : run.anomalies) {
      lines.push_back(fmt::format("{}: {}: {}", run.label, what, count));
    }
  }
  for (const std::string& note : notes) lines.push_back("note: " + note);
  if (!lines.empty()) fmt::print("\nAnomalies\n");
  for (const std::string& line : lines) fmt::print("  {}\n", printable(line));
}

int run_workload(const run_request& request) {
  rtapp_run_options options;
  options.seed = request.seed;
  options.count_decisions = request.schedstat;
  if (!request.duration.empty()) {
    options.duration_ns = parse_duration(request.duration);
    if (!options.duration_ns || *options.duration_ns == 0 ||
        *options.duration_ns > 1'000'000'000'000'000) {
      throw input_error(fmt::format(
          "--duration {}: expected a time like 500ms or 10s, at most 1000000s", request.duration));
    }
  }
  const bool to_file = !request.json_path.empty() && request.json_path != "-";
  if (to_file) {
    require_writable(request.json_path);
    require_other_file(request.json_path, request.workload);
  }
  const rtapp_workload workload =
      read_rtapp(request.workload,
                 {request.strict_json ? key_reading::strict : key_reading::in_order, request.cpus});
  const std::vector<policy_variant> variants = variants_of(request, workload, options.tick_ns);
  const std::vector<std::string> notes = notes_of(variants, workload);
  std::vector<run_figures> runs;
  for (const policy_variant& v : variants) {
    progress_bar bar(request.quiet ? progress_bar::show::never : progress_bar::show::when_terminal,
                     printable(v.label));
    runs.push_back(run_rtapp(workload, v, options, [&](unsigned per_mille) {
      bar.update(per_mille, 1000, per_mille, "per mille");
    }));
  }
  if (!request.json_path.empty()) {
    const std::string text =
        results_text(request, workload, variants, runs, options.tick_ns, notes);
    if (!to_file) {
      fmt::print("{}", text);
      return 0;
    }
    write_whole_file(request.json_path, text);
  }
  print_tables(request, variants, runs, notes);
  return 0;
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("run", "what an rt-app workload file does under one or more policies");
  command->footer(
      "Example:\n  vlag run tests/data/rtapp/periodic.json --policy linux-6.1 "
      "--policy linux-6.12");
  auto request = std::make_shared<run_request>();
  command->add_option("WORKLOAD", request->workload, "an rt-app JSON file; - reads standard input")
      ->required();
  declare_policies(*command, request->policies, request->settings, "linux-6.12");
  declare_seed(*command, request->seed);
  command
      ->add_option("--duration", request->duration,
                   "simulated time, instead of the file's duration")
      ->type_name("TIME")
      ->check(check_not_empty);
  command
      ->add_option("--cpus", request->cpus,
                   "CPUs of the machine (default: as many as the file names)")
      ->type_name("N")
      ->check(CLI::Range(1, 512));
  command->add_flag("--strict-json", request->strict_json,
                    "of equal keys use the last only, as rt-app does without workgen");
  command->add_flag("--schedstat", request->schedstat,
                    "count what each policy's scheduler does: checks, preemptions, delays…");
  command
      ->add_option(
          "--json", request->json_path,
          "write the results to a file, or with - to standard output instead of the tables")
      ->type_name("FILE")
      ->check(check_not_empty);
  command->add_flag("--quiet", request->quiet,
                    "no progress, no table for each policy: comparison, totals, conclusion only");
  command->callback([request, &exit_code] { exit_code = run_workload(*request); });
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "input/input_error.hpp"
#include "input/printable.hpp"
#include "report/results_compare.hpp"

namespace vlag {
namespace {

struct compare_options {
  std::vector<std::string> files;
  std::vector<std::string> conditions;
};

int compare(const compare_options& options) {
  std::vector<fail_condition> conditions;
  for (const std::string& text : options.conditions) {
    conditions.push_back(parse_fail_condition(text));
  }
  std::vector<result_column> columns;
  for (const std::string& file : options.files) {
    std::vector<result_column> read = read_results(file);
    std::move(read.begin(), read.end(), std::back_inserter(columns));
  }
  const std::vector<result_variant> variants = variants_of(std::move(columns));
  const std::size_t baseline = baseline_of(variants);
  const fail_verdict verdict = judge(variants, baseline, conditions);
  fmt::print("{}", results_table(variants, baseline));
  for (const std::string& note : verdict.notes) fmt::print("note: {}\n", printable(note));
  if (verdict.failures.empty()) return 0;
  fmt::print("\nFailed\n");
  for (const std::string& line : verdict.failures) fmt::print("  {}\n", printable(line));
  return 1;
}

}  // namespace

void add_compare_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("compare", "results files side by side");
  const auto options = std::make_shared<compare_options>();
  command
      ->add_option("RESULTS", options->files,
                   "files that --json wrote; those of one policy and workload that differ in\n"
                   "their --seed are taken together")
      ->required();
  command
      ->add_option("--fail-if", options->conditions,
                   "exit with 1 if [TASK.]MEASURE>VALUE or <VALUE for some task and policy.\n"
                   "MEASURE: share, runtime, switches, wakeups, or of the delays mean, p50, p90,\n"
                   "p99, p99.9, max. VALUE with a sign is a difference from the first policy\n"
                   "(+10%, +0.5ms, -2pp), without the value itself (20ms); several times for more")
      ->type_name("CONDITION")
      ->allow_extra_args(false);
  command->footer(
      "Exit code: 0 no condition is true, 1 one is.\n\nExample:\n"
      "  vlag replay tests/data/traces/6.1-dspin-1cpu.trace.xz --policy linux-6.1 \\\n"
      "    --policy linux-6.12 --json out.json && vlag compare out.json --fail-if 'p99>+10%'");
  command->callback([options, &exit_code] { exit_code = compare(*options); });
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "compared_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "input/printable.hpp"
#include "report/latency_table.hpp"
#include "report/schedstat.hpp"

namespace vlag {
namespace {

constexpr std::size_t max_compared_groups = 10;

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

}  // namespace

bool any_matches(const std::vector<std::string>& patterns, const task_figures& task) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return matches_task(pattern, task.name, task.pid);
  });
}

std::vector<const run_figures*> compared_runs::columns() const {
  std::vector<const run_figures*> result;
  if (recorded != nullptr) result.push_back(recorded);
  for (const run_figures& run : simulated) result.push_back(&run);
  return result;
}

row_choice compared_runs::rows() const {
  row_choice choice;
  if (!shown.empty()) {
    choice.only = [&patterns = shown](const task_figures& t) { return any_matches(patterns, t); };
  }
  std::vector<std::string> overridden;
  for (const policy_variant& v : variants) {
    for (const task_override& o : v.overrides) overridden.push_back(o.pattern);
  }
  choice.always = [overridden = std::move(overridden)](const task_figures& t) {
    return any_matches(overridden, t);
  };
  return choice;
}

row_choice compared_runs::compared_rows() const {
  row_choice choice = rows();
  choice.max_rows = max_compared_groups;
  return choice;
}

change_summary compared_runs::change() const {
  const std::vector<const run_figures*> runs = columns();
  if (runs.size() < 2) return {};
  return biggest_change(runs, compared_rows(),
                        recorded != nullptr ? first_run::recorded : first_run::simulated);
}

void print_comparison(const compared_runs& runs, table_detail detail) {
  const std::vector<const run_figures*> columns = runs.columns();
  fmt::print("{}\n", comparison_table(columns, runs.compared_rows()));
  if (const std::string groups = group_table(columns); !groups.empty()) fmt::print("{}\n", groups);
  fmt::print("{}", totals_table(columns));
  if (columns.size() > 1) fmt::print("\n{}\n", runs.change().sentence);
  if (detail == table_detail::comparison) return;
  const std::vector<std::int32_t> pids = chosen_tasks(columns, runs.rows());
  for (const run_figures* column : columns) {
    fmt::print("\n{}\n\n{}", printable(column->label), latency_table(*column, pids));
  }
}

void print_schedstat(const compared_runs& runs) {
  for (std::size_t i = 0; i < runs.simulated.size(); ++i) {
    fmt::print("\n{}\n\n{}", printable(runs.simulated[i].label),
               schedstat_table(runs.simulated[i], runs.variants[i].config.engine));
  }
}

void print_anomalies(const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  fmt::print("\nAnomalies\n");
  for (const std::string& line : lines) fmt::print("  {}\n", printable(line));
}

void add_runs(result_document& document, const compared_runs& runs,
              std::vector<result_policy>& policies) {
  for (const policy_variant& v : runs.variants) policies.push_back(policy_result(v));
  if (runs.recorded != nullptr) document.runs.push_back({runs.recorded, nullptr});
  for (std::size_t i = 0; i < policies.size(); ++i) {
    document.runs.push_back({&runs.simulated[i], &policies[i]});
  }
}

}  // namespace vlag

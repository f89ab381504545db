// SPDX-License-Identifier: Apache-2.0
//
// Simulated runs side by side, after the recording that they replay or without one: the tables, and
// the parts of the results file and of the page that are the same for both.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/figures.hpp"
#include "progress_bar.hpp"
#include "report/compare.hpp"
#include "report/page_data.hpp"
#include "report/result_json.hpp"
#include "report/schedule.hpp"
#include "report/task_groups.hpp"
#include "workload/variant.hpp"

namespace vlag {

struct compared_runs {
  const run_figures* recorded = nullptr;  // nullptr: nothing was
  const std::vector<policy_variant>& variants;
  const std::vector<run_figures>& simulated;  // one a variant
  const std::vector<std::string>& shown;      // patterns of --tasks; empty: those that matter

  [[nodiscard]] std::vector<const run_figures*> columns() const;  // the recording first
  [[nodiscard]] row_choice rows() const;
  [[nodiscard]] row_choice compared_rows() const;  // fewer: each takes a line a run
  // Without words when there is but one run.
  [[nodiscard]] change_summary change() const;
};

[[nodiscard]] bool any_matches(const std::vector<std::string>& patterns, const task_figures& task);

enum class table_detail : std::uint8_t { comparison, each_run };
void print_comparison(const compared_runs& runs, table_detail detail);
void print_schedstat(const compared_runs& runs);
// "Anomalies" and the lines; nothing when there are none.
void print_anomalies(const std::vector<std::string>& lines);

// Fills document.runs; they refer to the runs and to policies, which it fills.
void add_runs(result_document& document, const compared_runs& runs,
              std::vector<result_policy>& policies);

struct page_source {
  page_document page;         // all but classes and timelines
  std::uint64_t span_ns = 0;  // of the longest run
  // Tells the schedule of run number i of page.results to a sink, progress on its way.
  std::function<void(std::size_t run, schedule_sink& sink)> tell;
};
// Fills in the rest. Has each schedule told, twice where one is too long to be kept in full.
[[nodiscard]] std::string runs_page(page_source& source);

// Arguments as a POSIX shell reads them back, one blank apart.
[[nodiscard]] std::string shell_command(const std::vector<std::string>& arguments);

// The command that makes a page: the normalised arguments and --html.
[[nodiscard]] std::string page_command(const std::vector<std::string>& arguments,
                                       const std::string& html_path);

}  // namespace vlag

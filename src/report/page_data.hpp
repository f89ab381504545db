// SPDX-License-Identifier: Apache-2.0
//
// What the HTML report shows, as one JSON document: schema "vlag-page/1". Keys in fixed order;
// times in ns from the start of each run, so that they fit a JavaScript number; nothing of the
// host. The same run gives the same bytes.
//
// Tasks and groups (tasks of one name, as the tables take them) are listed once; each run has a
// column a measure over that list. Its size is bounded: distributions of at most 200 rows with 160
// points each, timelines as timeline_bins holds them.
#pragma once

#include "machine/figures.hpp"
#include "report/compare.hpp"
#include "report/result_json.hpp"
#include "report/timeline_bins.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace vlag {

struct page_document {
  result_document results;  // Requires: at least one simulated run; the recording first, if any
  change_summary change;    // without words when there is but one run
  std::string command;      // to make the page again
  std::string trust;        // the verdict of the self-check, or why there is none
  std::string name;         // of the recording or workload, without its folder
  std::string format;       // "ftrace text", "rt-app workload"
  std::optional<std::uint64_t> trace_events;    // nullopt: no recording
  std::vector<std::string> classes;             // names of groups with a colour, at most eight
  std::vector<const timeline_bins*> timelines;  // one a run
};

// Groups that get a colour: those with the most CPU time in the first run; ties by lowest pid.
[[nodiscard]] std::vector<std::string> coloured_groups(const run_figures& first);

// The class of each task of the runs, for timeline_request.
[[nodiscard]] std::unordered_map<std::int32_t, unsigned> classes_of(
    const run_figures& first, const std::vector<std::string>& classes);

// The longest waits of a run, one a task, the longest first; at most three. Times as in the
// figures.
struct worst_wait {
  std::int32_t pid = 0;
  time_window span;
};
[[nodiscard]] std::vector<worst_wait> worst_waits(const run_figures& run);

[[nodiscard]] std::string page_data(const page_document& page);

}  // namespace vlag

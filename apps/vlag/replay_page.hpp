// SPDX-License-Identifier: Apache-2.0
//
// The HTML page of a replay: adds timelines to its figures.
#pragma once

#include <string>
#include <vector>

#include "progress_bar.hpp"
#include "replay_options.hpp"
#include "report/compare.hpp"
#include "report/result_json.hpp"
#include "trace/event.hpp"
#include "workload/replay.hpp"

namespace vlag {

struct page_source {
  const replay_request& request;
  const trace::recording& recording;
  const recorded_workload& workload;
  const std::vector<policy_variant>& variants;
  result_document results;
  change_summary change;
};

// Runs each variant again, twice when it is too long to be kept in full.
[[nodiscard]] std::string replay_page(const page_source& source, progress_bar::show progress);

// Arguments as a POSIX shell reads them back, one blank apart.
[[nodiscard]] std::string shell_command(const std::vector<std::string>& arguments);

}  // namespace vlag

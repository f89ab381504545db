// SPDX-License-Identifier: Apache-2.0
//
// Tasks and groups of tasks as the page's data: one list, a column a run and measure.
#pragma once

#include "machine/figures.hpp"

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace vlag {

// Index i means the same in every column. Groups stand in the order in which the runs have them,
// tasks in ascending pid; each task says the index of its group.
struct page_rows {
  nlohmann::ordered_json groups;
  nlohmann::ordered_json tasks;
};
[[nodiscard]] page_rows page_rows_of(std::span<const run_figures* const> runs,
                                     const std::vector<std::string>& classes);

// A distribution as at most `most` points, ascending: at[i] ns is the upper bound of the waits up
// to which upto[i] are counted. The longest waits keep their own points; the last is the maximum.
struct distribution_points {
  std::vector<std::uint64_t> at_ns;
  std::vector<std::uint64_t> upto;
};
[[nodiscard]] distribution_points points_of(const duration_histogram& durations, std::size_t most);

}  // namespace vlag

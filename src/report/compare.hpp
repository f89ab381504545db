// SPDX-License-Identifier: Apache-2.0
//
// Runs side by side: the compact table, and one sentence on what changed most.
#pragma once

#include "machine/figures.hpp"
#include "report/task_groups.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace vlag {

// For each group of tasks one line a run: share of all CPUs, switches, average, P99 and longest
// delay. Groups without a row of their own are summed in one.
[[nodiscard]] std::string comparison_table(std::span<const run_figures* const> runs,
                                           const row_choice& choice);

// What the first of the runs is.
enum class first_run : std::uint8_t { recorded, simulated };

// What differs most from the baseline: of all groups with rows, runs other than the baseline, and
// the measures P99 delay (from 100 waits in both), average delay (from 20) and share (from 1 % in
// one), the one with the largest ratio; delays below 0.1 ms and shares below 0.1 % count as these.
// On a tie the first in the order of runs, groups, measures. "Nothing changed…" when no ratio
// reaches 1.1. The baseline is the first simulated run when there are two or more, so that
// simulated figures are compared with simulated ones, else the recording. Requires: two runs.
[[nodiscard]] std::string what_changed_most(std::span<const run_figures* const> runs,
                                            const row_choice& choice,
                                            first_run first = first_run::recorded);

// The same sentence, and the two runs that it compares: the baseline, and the run that it names;
// the last one when nothing changed much.
struct change_summary {
  std::string sentence;
  std::size_t base = 0;
  std::size_t run = 0;
};
[[nodiscard]] change_summary biggest_change(std::span<const run_figures* const> runs,
                                            const row_choice& choice,
                                            first_run first = first_run::recorded);

}  // namespace vlag

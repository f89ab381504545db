// SPDX-License-Identifier: Apache-2.0
//
// The table of `perf sched latency`, with P50 and P99; and the totals of each run.
#pragma once

#include "machine/figures.hpp"
#include "report/task_groups.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace vlag {

// One row a task (name:pid), the longest average delay first as perf does; then the tasks without a
// row in one, then the total. Delays are waits after wake-ups and after losing the CPU.
[[nodiscard]] std::string latency_table(const run_figures& run, std::span<const std::int32_t> pids);

// One line a run: CPU time, switches, span, when all recorded work was done.
[[nodiscard]] std::string totals_table(std::span<const run_figures* const> runs);

// For each task group one line a run, with what is in the groups below it: share of all CPUs,
// switches, delays; the time that its own quota kept it off. Empty when no run has groups.
[[nodiscard]] std::string group_table(std::span<const run_figures* const> runs);

}  // namespace vlag

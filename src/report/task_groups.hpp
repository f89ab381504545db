// SPDX-License-Identifier: Apache-2.0
//
// Tasks as the tables show them: instances of one name (mi0, mi1…: the name without its trailing
// digits) taken together; shares; which tasks matter enough for a row of their own.
#pragma once

#include "machine/figures.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

using task_filter = std::function<bool(const task_figures&)>;

// Which tasks get rows. The rest is summed in one row, never dropped.
struct row_choice {
  // When set: exactly these. Otherwise those with at least min_share_ppm of the CPU time in any of
  // the runs, and at most max_rows of them.
  task_filter only;
  task_filter always;  // shown in any case; may be empty
  std::uint64_t min_share_ppm = 1000;
  std::size_t max_rows = 20;
};

// "mi" for "mi7" and "mi-7"; a name of digits only stays.
[[nodiscard]] std::string_view group_name(std::string_view task_name) noexcept;

// As tables and sentences show it: printable; "(no name)" for an empty one.
[[nodiscard]] std::string shown_name(std::string_view name);

// CPU time as a part of what all CPUs had in the run's span, in parts per million.
[[nodiscard]] std::uint64_t share_ppm(const run_figures& run, std::uint64_t cpu_ns) noexcept;

// The tasks of one name in one run.
struct name_group {
  std::string name;      // as group_name() says
  std::string one_name;  // of its only task; empty when it has several
  std::size_t tasks = 0;
  task_figures sum;  // pid: the lowest; max_wait_*: the longest
  duration_histogram delay;
};

// "mi (8)", or the name of the only task.
[[nodiscard]] std::string group_title(const name_group& group);

// In order of the lowest pid.
[[nodiscard]] std::vector<name_group> group_tasks(const run_figures& run,
                                                  const task_filter& which = {});

// pids that get a row, ascending; chosen over all runs, so that each table shows the same ones.
[[nodiscard]] std::vector<std::int32_t> chosen_tasks(std::span<const run_figures* const> runs,
                                                     const row_choice& choice);

}  // namespace vlag

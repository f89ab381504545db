// SPDX-License-Identifier: Apache-2.0
//
// How near a replay under the recorded policy comes to the recording: so far, no further, can its
// what-if be trusted.
//
// A cell is one measure of the tasks of one name (without trailing digits) that had at least 1 % of
// the CPU time in the recording. It holds when the replay is within:
//   share           1 percentage point (of all CPUs' time)
//   switches        10 %, or 10
//   wake-up mean    25 %, 100 us, or two standard errors of the recording; from 30 recorded
//   wake-ups wake-up P99     25 %, or 100 us; from 500 recorded wake-ups
// share and switches of each task group ("/a") as well, and one cell of the whole: the time at
// which all recorded work was done, 2 %.
#pragma once

#include "machine/figures.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

enum class check_measure : std::uint8_t { share, switches, wake_mean, wake_p99, work_done };

struct check_cell {
  std::string group;  // empty: of the whole
  check_measure measure = check_measure::share;
  // ppm for share, a count for switches, ns for the rest.
  std::uint64_t recorded = 0;
  std::uint64_t replayed = 0;
  std::uint64_t allowed = 0;  // the largest difference with which the cell holds
  [[nodiscard]] std::uint64_t difference() const noexcept {
    return recorded > replayed ? recorded - replayed : replayed - recorded;
  }
  [[nodiscard]] bool holds() const noexcept { return difference() <= allowed; }
};

struct self_check_result {
  // Tasks of a name in order of their lowest pid, task groups in order of the tree; work_done last.
  std::vector<check_cell> cells;
  // Busy share and switches of all tasks, judged alike but no cells of the count.
  std::vector<check_cell> totals;
  // Of the recorded span, how much the replay's figures cover.
  std::uint64_t recorded_span_ns = 0;
  std::uint64_t replayed_span_ns = 0;
  [[nodiscard]] std::size_t held() const noexcept;
};

// A recording that does not say when its work was done is taken to have done it at its end; a
// replay that did not do all of it within its run (work_done_ns 0) does not hold.
[[nodiscard]] self_check_result self_check(const run_figures& recorded,
                                           const run_figures& replayed);

[[nodiscard]] std::string_view to_string(check_measure measure) noexcept;

// "ppm", "" (a count) or "ns".
[[nodiscard]] std::string_view unit_of(check_measure measure) noexcept;

// "12.34 %", "1281" or "4.567 ms".
[[nodiscard]] std::string check_value(check_measure measure, std::uint64_t value);

// The table, and the verdict in a sentence or two.
[[nodiscard]] std::string self_check_table(const self_check_result& result);
[[nodiscard]] std::string self_check_verdict(const self_check_result& result);

}  // namespace vlag

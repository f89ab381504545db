// SPDX-License-Identifier: Apache-2.0
//
// What a workload file says must be seen: bounds on figures of its runs, or on the ratio of two.
#pragma once

#include "machine/figures.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

enum class figure_unit : std::uint8_t { ppm, count, ns, ratio };  // ratio: in millionths

// Delays are waits for a CPU after a wake-up and after losing it; wake_*: those after wake-ups.
enum class figure_measure : std::uint8_t {
  share,        // of what all CPUs had
  runtime,      // CPU time
  switches,     // to a CPU
  preemptions,  // lost the CPU while runnable
  wakeups,
  run_mean,  // CPU time for each switch to a CPU
  mean,
  p50,
  p90,
  p99,
  max,
  wake_mean,
  wake_p99,
  wake_max,
  finished,  // when the last of them exited; only if each did
};

[[nodiscard]] std::optional<figure_measure> measure_named(std::string_view name) noexcept;
[[nodiscard]] std::string measure_names();  // "share, runtime, …"
[[nodiscard]] figure_unit unit_of(figure_measure what) noexcept;
// Whether a task group has it.
[[nodiscard]] bool groups_have(figure_measure what) noexcept;

struct figure_choice {
  figure_measure what = figure_measure::share;
  std::string task;        // a name glob: all that match, together
  std::string group;       // a path, instead; neither: all tasks together
  std::size_t policy = 0;  // from 1; 0: each
};

struct expectation {
  std::string says;  // in words; may be empty
  figure_choice figure;
  std::optional<figure_choice> over;  // the ratio to this one
  // Both included, in the figure's unit; of a ratio in millionths. At least one is there.
  std::optional<std::uint64_t> min, max;
};

struct judged_expectation {
  std::string says;
  std::string figure;    // "P99 delay of frame* under linux-6.12"
  std::string value;     // as a user reads it, or why there is none
  std::string expected;  // "at most 5ms"
  figure_unit unit = figure_unit::count;
  std::optional<std::uint64_t> number;  // the value; a ratio of more than 2^63 millionths is that
  std::optional<std::uint64_t> min, max;
  bool holds = false;  // never without a value
};

// One result a run for those that are about each. Requires: a run for each policy that they name.
[[nodiscard]] std::vector<judged_expectation> judge(std::span<const expectation> expectations,
                                                    std::span<const run_figures> runs);

}  // namespace vlag

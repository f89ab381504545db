// SPDX-License-Identifier: Apache-2.0
//
// Results files side by side, and the conditions under which a comparison fails.
//
// Runs of one policy and one workload that differ in their seeds are samples of one variant;
// figures are then means over the seeds, and a difference is significant if Welch's t-test says so
// at 95 % (two-sided). The first variant that was simulated is the baseline.
#pragma once

#include "report/result_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

enum class result_measure : std::uint8_t {
  share,     // of all CPUs' time
  runtime,   // CPU time
  switches,  // times the CPU was got
  wakeups,
  mean,  // of the delays: every wait for the CPU
  p50,
  p90,
  p99,
  p99_9,
  max,
};

struct result_variant {
  std::string title;  // the label; with the file's name where two have the same
  bool recorded = false;
  std::vector<result_column> samples;  // one a seed
};

// In order of first appearance. The same file or seed twice is one sample twice: throws input_error
// for a sample that is there already.
[[nodiscard]] std::vector<result_variant> variants_of(std::vector<result_column> columns);

// Place of the baseline: the first simulated one, or the first.
[[nodiscard]] std::size_t baseline_of(const std::vector<result_variant>& variants);

// One measure of a group in a variant and in the baseline.
struct result_difference {
  double base = 0;  // mean over the seeds; ns, ppm or a count
  double value = 0;
  std::size_t base_samples = 0;
  std::size_t samples = 0;
  bool enough_waits = true;         // 100 for P99, 1000 for P99.9, 20 for others of delay
  std::optional<bool> significant;  // empty: one seed only
};
// nullopt: the group is not in one of them.
[[nodiscard]] std::optional<result_difference> difference(const result_variant& base,
                                                          const result_variant& variant,
                                                          const std::string& group,
                                                          result_measure what);

// A condition, [TASK.]MEASURE OP VALUE without blanks:
//   TASK     a name glob; without it every group with at least 1 % of the CPU time
//   MEASURE  share, runtime, switches, wakeups, mean, p50, p90, p99, p99.9, max
//   OP       > or <
//   VALUE    with a sign: the difference from the baseline, as a part of it (+10%) or absolute
//            (+0.5ms; +100 for counts; percentage points of share are written +2pp);
//            without: the value itself (20ms; 1000; for share 40%)
// "p99>+10%": some group's P99 delay is longer than the baseline's by more than a tenth.
struct fail_condition {
  std::string text;
  std::string task;  // empty: all
  result_measure what = result_measure::p99;
  bool above = true;
  enum class amount : std::uint8_t { value, difference, part } kind = amount::value;
  double limit = 0;  // ns, ppm, a count; per cent for `part`; signed for the last two
};
// Throws input_error: says what is wrong and what was expected.
[[nodiscard]] fail_condition parse_fail_condition(std::string_view text);

// A line for each group and variant of which a condition is true: nothing is wrong if there is
// none. Groups with too few waits are left out, and so are differences that are not significant
// where there are several seeds. notes: one line for each condition that judged nothing. Throws
// input_error for a TASK that is in no variant.
struct fail_verdict {
  std::vector<std::string> failures;
  std::vector<std::string> notes;
};
[[nodiscard]] fail_verdict judge(const std::vector<result_variant>& variants, std::size_t baseline,
                                 const std::vector<fail_condition>& conditions);

// The table: a group a block, a line a variant, with differences from the baseline; groups below
// 0.1 % of the CPU time everywhere are summed in the totals only. And what the signs in it mean.
[[nodiscard]] std::string results_table(const std::vector<result_variant>& variants,
                                        std::size_t baseline);

}  // namespace vlag

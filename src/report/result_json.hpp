// SPDX-License-Identifier: Apache-2.0
//
// The results file, schema "vlag-result/1": everything that the tables are made from. Keys in fixed
// order, times in ns as integers, nothing of the host: the same run gives the same bytes.
#pragma once

#include "machine/figures.hpp"
#include "report/self_check.hpp"
#include "trace/event.hpp"
#include "vlag/profile.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vlag {

struct result_override {
  std::string task;
  std::string attribute;
  std::int64_t value = 0;
  std::string text{};  // instead of value, for an attribute that is none
};

// A file of a task group that was written to.
struct result_group_file {
  std::string group;
  std::string file;
  std::string text;
};

// The policy in force in a simulated run.
struct result_policy {
  policy_config config;
  bool hrtick = false;
  std::vector<result_override> overrides;
  std::vector<result_group_file> group_files{};
};

// One entry of "results"; the recording has no policy that was in force here.
struct result_run {
  const run_figures* figures = nullptr;
  const result_policy* policy = nullptr;
};

// Something that a workload file says must be seen, and whether it was.
struct result_expectation {
  std::string says;
  std::string figure;
  std::string unit;  // "ppm", "ns", "millionths" of a ratio, "" for a count
  std::optional<std::uint64_t> value, min, max;
  std::string value_text, expected_text;
  bool holds = false;
};

struct result_document {
  // Normalised: in a fixed order, without output paths and thread counts.
  std::vector<std::string> arguments;
  std::string version;
  std::uint64_t seed = 0;
  std::uint64_t duration_ns = 0;
  unsigned cpus = 1;
  std::uint64_t tick_ns = 0;
  std::vector<result_run> runs;
  const self_check_result* check = nullptr;  // when one was asked for
  std::string check_label;                   // the policy that it was made under
  std::vector<trace::anomaly> trace_anomalies;
  std::vector<std::pair<std::string, std::uint64_t>> workload_anomalies;
  std::vector<std::string> notes;
  std::optional<std::vector<result_expectation>> expectations{};  // nullopt: none was checked
};

// Indented by two, ends with a line end. Text that is not UTF-8 is replaced character by character.
[[nodiscard]] std::string result_json(const result_document& document);

}  // namespace vlag

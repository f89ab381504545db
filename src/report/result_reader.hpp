// SPDX-License-Identifier: Apache-2.0
//
// Reads results files ("vlag-result/1", see result_json.hpp) as far as a comparison needs them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vlag {

// Of the tasks of one name in one run. Times in ns, shares in parts per million of all CPUs.
struct result_figures {
  std::uint64_t share_ppm = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t switches = 0;
  std::uint64_t wakeups = 0;
  std::uint64_t waits = 0;  // what the delays are over
  std::uint64_t delay_sum_ns = 0;
  std::uint64_t mean_ns = 0;
  std::uint64_t p50_ns = 0;
  std::uint64_t p90_ns = 0;
  std::uint64_t p99_ns = 0;
  std::uint64_t p99_9_ns = 0;
  std::uint64_t max_ns = 0;
};

struct result_group {
  std::string name;
  std::uint64_t tasks = 0;
  result_figures figures;
};

// One entry of a file's "results".
struct result_column {
  std::string file;
  std::string label;
  bool recorded = false;  // no policy: a recording as it was
  std::uint64_t seed = 0;
  // What was run, without seed and policies: runs of different seeds are of one kind if it is
  // equal.
  std::string workload;
  std::vector<result_group> groups;
};

// In the file's order. Throws input_error: unreadable, not JSON (says the byte), another schema, a
// key that is missing or of another type; more than 8 million values.
[[nodiscard]] std::vector<result_column> read_results(const std::string& path);

}  // namespace vlag

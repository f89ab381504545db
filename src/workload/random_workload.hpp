// SPDX-License-Identifier: Apache-2.0
//
// Random workloads, as text of an rt-app file: whatever is odd about one can be kept and looked at.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vlag {

// The same request gives the same text, on every machine.
struct random_request {
  std::uint64_t seed = 1;
  unsigned tasks = 8;   // 1 .. 1000; one more keeps waking those that wait
  unsigned cpus = 1;    // 1 .. 64
  unsigned groups = 0;  // 0 .. 64 task groups, in a tree
  unsigned rt = 10;     // per cent of the tasks that are real-time
  bool sync = true;     // mutexes, conditions, barriers, semaphores, suspend and resume
  bool fork = true;
  bool policies = true;          // phases change policy, priority, slice, group and CPU
  std::uint64_t duration_s = 1;  // 1 .. 1000
};

// "tasks=8,seed=3,cpus=2": what follows "random:". Throws input_error: a key that is not known, a
// value out of range.
[[nodiscard]] random_request parse_random_request(std::string_view text);

[[nodiscard]] std::string random_workload_text(const random_request& request);

}  // namespace vlag

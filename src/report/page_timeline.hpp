// SPDX-License-Identifier: Apache-2.0
//
// A run's timeline as the page's data, in little space.
#pragma once

#include "report/timeline_bins.hpp"

#include <nlohmann/json_fwd.hpp>

namespace vlag {

// bins: base64 of one byte a class, bin and CPU (CPU slowest): its part of the bin's time, in
// 1/255. Windows: varints, a stretch after the other in order of their ends; for each
//   zigzag(from - previous from), length, CPU, pid, waited, how the wait began (0 not, 1 woken, 2
//   lost the CPU), waker, how it left (0 blocked, 1 exited, 2 preempted, 3 cut), next.
// Requires: finish() was called.
[[nodiscard]] nlohmann::ordered_json timeline_json(const timeline_bins& line);

}  // namespace vlag

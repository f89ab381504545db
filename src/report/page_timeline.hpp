// SPDX-License-Identifier: Apache-2.0
//
// A run's timeline as the page's data, in little space.
#pragma once

#include "report/timeline_bins.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace vlag {

// bins: base64 of one byte a class, bin and CPU (CPU slowest): its part of the bin's time, in
// 1/255. Windows: varints, a stretch after the other in order of their ends; for each
//   zigzag(from - previous from), length, CPU, pid, waited, how the wait began (0 not, 1 woken, 2
//   lost the CPU), waker, how it left (as leave_reason), next, why (0 not known, else the place
//   in reason_texts() + 1), lag and distance to the deadline (0 not known, else zigzag + 1).
// Requires: finish() was called.
[[nodiscard]] nlohmann::ordered_json timeline_json(const timeline_bins& line);

// Why a task lost the CPU, as the end of a sentence; by the number of the decision. Empty for
// decisions that take no CPU away.
[[nodiscard]] nlohmann::ordered_json reason_texts();
[[nodiscard]] std::string_view reason_text(decision why) noexcept;

}  // namespace vlag

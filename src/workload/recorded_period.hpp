// SPDX-License-Identifier: Apache-2.0
//
// Finds out whether a task's timer wake-ups are periodic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace vlag {

// A wake-up by an interrupt: the operation that stands for the sleep, and the sleep's two ends.
struct external_wake {
  std::size_t step = 0;
  std::uint64_t blocked_ns = 0;
  std::uint64_t woken_ns = 0;
};

struct wake_period {
  std::uint64_t period_ns = 0;
  std::uint64_t first_ns = 0;  // a moment of the period
  // Each sleep ended at the first multiple after it began: the task sleeps to the next period. Else
  // it picks its multiples itself.
  bool takes_next = true;
};

// Periodic: at least 8 wake-ups, each within 1 % of the period (and 200 us) of a multiple of it,
// while the sleeps before them differ by more than that. A task that sleeps for a fixed time after
// varying work is not. O(n log n).
[[nodiscard]] std::optional<wake_period> find_period(const std::vector<external_wake>& wakes);

}  // namespace vlag

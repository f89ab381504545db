// SPDX-License-Identifier: Apache-2.0
//
// One EEVDF run queue: weighted average V, lag, placement, eligibility, deadlines, pick.
// (The text and the private part are the implementer's; the public part below is what others use.)
#pragma once

#include "vlag/entity.hpp"
#include "vlag/features.hpp"
#include "vlag/timeline.hpp"

#include <cstdint>

namespace vlag {

class run_queue {
 public:
  // Observers; none moves the reference or changes a bound.
  [[nodiscard]] const entity* current() const noexcept;
  [[nodiscard]] std::uint32_t nr_queued() const noexcept;       // delayed and running included
  [[nodiscard]] std::uint64_t average_vruntime() const noexcept;  // V
  [[nodiscard]] std::uint64_t reference() const noexcept;         // z (zero_vruntime)
  [[nodiscard]] std::int64_t weighted_sum() const noexcept;       // S, running entity excluded
  [[nodiscard]] std::uint64_t waiting_weight() const noexcept;    // W_q, running entity excluded
  [[nodiscard]] std::uint64_t total_weight() const noexcept;      // W, running entity included
  [[nodiscard]] std::uint64_t load() const noexcept;              // sum of full weights
  [[nodiscard]] bool eligible(const entity& e) const noexcept;
  // Lag of a queued entity now, virtual ns, unclamped.
  [[nodiscard]] std::int64_t lag(const entity& e) const noexcept;
  [[nodiscard]] bool slice_protected(const entity& e) const noexcept;
  [[nodiscard]] std::uint64_t min_slice() noexcept;  // running included; UINT64_MAX when empty
  [[nodiscard]] const timeline& waiting() const noexcept;
  // The reference starts at 2^64 - 2^20; this sets another. Requires: the queue is empty.
  void start_at(std::uint64_t reference) noexcept;
};

}  // namespace vlag

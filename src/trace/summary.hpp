// SPDX-License-Identifier: Apache-2.0
//
// What a recording holds, counted while it is read.
#pragma once

#include "trace/event.hpp"
#include "trace/time_order.hpp"

#include <array>
#include <cstdint>
#include <unordered_set>

namespace vlag::trace {

class trace_summary final : public event_visitor {
 public:
  // More tasks than this are not told apart.
  static constexpr std::size_t most_tasks = std::size_t{1} << 20;

  void visit(const event& entry) override;

  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  [[nodiscard]] std::uint64_t events(event_kind kind) const noexcept {
    return by_kind_[static_cast<std::size_t>(kind)];
  }
  // Of all events; 0 without any.
  [[nodiscard]] std::uint64_t first_ns() const noexcept { return first_ns_; }
  [[nodiscard]] std::uint64_t last_ns() const noexcept { return last_ns_; }
  // That ran, woke up, were made or ended; the idle task is none.
  [[nodiscard]] std::size_t tasks() const noexcept { return pids_.size(); }

 private:
  void see(std::int32_t pid);

  std::array<std::uint64_t, event_kinds> by_kind_{};
  std::unordered_set<std::int32_t> pids_;  // never iterated
  std::uint64_t events_ = 0;
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ns_ = 0;
};

}  // namespace vlag::trace

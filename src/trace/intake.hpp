// SPDX-License-Identifier: Apache-2.0
//
// What every reader does with what it reads: names are interned, oddities counted, events passed
// on. Memory is bounded whatever the input says.
#pragma once

#include "trace/event.hpp"
#include "trace/time_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace vlag::trace {

// Told now and then how far reading is: bytes consumed, bytes in all (0 unknown), events so far.
using progress = std::function<void(std::uint64_t, std::uint64_t, std::uint64_t)>;

class intake {
 public:
  // Events are passed on as they are read (`held` 0), or in the order of time with up to that many
  // held back; what comes too late even then is left out and counted.
  intake(recording_info& about, event_visitor& to, std::size_t held);

  [[nodiscard]] recording_info& about() noexcept { return about_; }

  // The name of a task. Names repeat task by task, so the last one of each pid is looked at first.
  [[nodiscard]] std::uint32_t name(std::string_view comm, std::int32_t pid);
  [[nodiscard]] std::uint32_t text(std::string_view text);

  // Requires: entry's CPUs are at most highest_cpu.
  void take(const event& entry);
  // See time_order.
  void round_ended();
  // To be called once, at the end.
  void finish();

  void count_other(std::string_view name);
  void count_lost(std::uint64_t events) noexcept { about_.lost_events += events; }

  // An oddity at a place ("line 12", "byte 96"). `what` gives the text, which only the first few
  // need.
  template <typename text_of>
  void note(std::string_view kind, std::string_view unit, std::uint64_t where,
            const text_of& what) {
    anomaly& entry = anomaly_of(kind);
    ++entry.count;
    if (entry.first.size() < most_shown) {
      entry.first.push_back(fmt::format("{} {}: {}", unit, where, what()));
    }
  }

  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  // Some event is earlier than one that was taken before it.
  [[nodiscard]] bool disordered() const noexcept { return disordered_; }
  // The latest so far.
  [[nodiscard]] std::uint64_t latest_ns() const noexcept { return latest_ns_; }

 private:
  static constexpr std::size_t most_shown = 5;

  [[nodiscard]] anomaly& anomaly_of(std::string_view kind);

  recording_info& about_;
  event_visitor& to_;
  std::optional<time_order> order_;
  std::array<std::uint32_t, 1024> names_{};
  std::uint64_t text_bytes_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t latest_ns_ = 0;
  std::int32_t highest_cpu_ = 0;
  std::size_t last_other_ = 0;
  bool disordered_ = false;
};

}  // namespace vlag::trace

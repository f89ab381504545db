// SPDX-License-Identifier: Apache-2.0
//
// A schedule as it is told, kept for the page's timeline.
#pragma once

#include "report/schedule.hpp"
#include "report/timeline_bins.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace vlag {

class timeline_sink final : public schedule_sink {
 public:
  // Span, CPUs and bins are the schedule's; the rest is the request's.
  explicit timeline_sink(timeline_request request) : request_(std::move(request)) {}

  void begin(const schedule_info& info) override;
  void on_start(unsigned cpu, std::uint32_t running) override;
  void on_switch(const schedule_switch& e) override;
  void on_wakeup(const schedule_wakeup& e) override;
  void on_reason(const schedule_reason& e) override;
  void on_reading(const schedule_reading& e) override;
  void end(std::uint64_t at_ns) override;

  // Requires: end() was called.
  [[nodiscard]] const timeline_bins& line() const { return *line_; }

 private:
  [[nodiscard]] std::int32_t pid_of(std::uint32_t task) const;

  timeline_request request_;
  std::optional<timeline_bins> line_;
  std::vector<std::int32_t> pids_;
  wakeup_kind wait_begins_ = wakeup_kind::queued;
  bool simulated_ = false;
};

}  // namespace vlag

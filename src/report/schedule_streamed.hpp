// SPDX-License-Identifier: Apache-2.0
//
// A recording told as a schedule while it is read, in O(tasks) memory.
//
// What comes at the end of a reading is not known at its beginning: begin() has no tasks, no span
// and 0 CPUs. Each task is told by on_task() before its first event, on_wait_begins() says when it
// turns out that wake-ups are told as waking, CPUs are known when they come. For sinks that take
// this: sched_latency and sched_timehist.
#pragma once

#include "report/schedule_events.hpp"
#include "trace/reader.hpp"

#include <cstdint>
#include <optional>

namespace vlag {

class schedule_stream final : public trace::event_visitor {
 public:
  // Both must outlive it; about is the one that the reader fills.
  schedule_stream(const trace::recording_info& about, schedule_sink& sink)
      : about_(about), sink_(sink) {}

  void visit(const trace::event& e) override;
  // Requires: the reading is at its end.
  void finish();

 private:
  const trace::recording_info& about_;
  schedule_sink& sink_;
  std::optional<event_telling> telling_;
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  bool has_waking_ = false;
};

}  // namespace vlag

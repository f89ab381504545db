// SPDX-License-Identifier: Apache-2.0
//
// One decision of a CPU: who runs from now on, with all that it was made from.
#pragma once

#include "machine/snapshot.hpp"
#include "vlag/fair_class.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace vlag {

// What the fair class told since the decision before: why a choice is due, what left the queue.
struct told_decision {
  std::uint64_t at_ns = 0;
  decision what{};
  entity_name who;
};

enum class previous_fate : std::uint8_t {
  none,      // the CPU was idle
  runnable,  // it wants to run on
  yielded,   // likewise, but gives up its turn
  blocked,
  gone,
};

struct pick_record {
  std::uint64_t at_ns = 0;
  unsigned cpu = 0;
  bool previous_exists = false;
  std::uint32_t previous = 0;  // task number
  previous_fate fate = previous_fate::none;
  std::vector<told_decision> told;
  // Each queue that was chosen from, as it was just before: the root, the group that won there…;
  // again from the root after a delayed entity has left. Empty: the fair class had nothing to
  // choose from, or was not asked since a real-time task runs.
  std::vector<queue_view> steps;
  bool chosen_exists = false;  // false: idle
  std::uint32_t chosen = 0;
  bool chosen_real_time = false;
};

class pick_observer {
 public:
  virtual ~pick_observer() = default;
  virtual void on_pick(const pick_record& record) = 0;
};

}  // namespace vlag

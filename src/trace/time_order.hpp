// SPDX-License-Identifier: Apache-2.0
//
// Puts events into the order of time in bounded memory. Files hold them in the order in which
// buffers were emptied: sorted for each CPU, but one CPU after the other.
#pragma once

#include "trace/event.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vlag::trace {

// Takes events one at a time; what it is given holds for the call only.
class event_visitor {
 public:
  event_visitor() = default;
  virtual ~event_visitor() = default;
  event_visitor(const event_visitor&) = delete;
  event_visitor& operator=(const event_visitor&) = delete;
  virtual void visit(const event& entry) = 0;
};

// Events of one time keep the order in which they were added. O(log n) an event, amortised; none
// but a copy when they come in order.
class time_order {
 public:
  // Requires: most_held > 1. It takes 72 bytes an event, half as much again while sorting.
  time_order(event_visitor& to, std::size_t most_held);

  // False: earlier than what has been passed on already, so there is no place for it any more.
  [[nodiscard]] bool add(const event& entry);

  // The writer has emptied all its buffers once (perf's FINISHED_ROUND): what is added from here on
  // is no earlier than anything that was added before the round that ends here.
  void round_ended();

  // Passes on all that is held.
  void finish();

 private:
  void pass_on(std::uint64_t until_ns);
  void pass_on_first(std::size_t count);
  void sort();

  event_visitor& to_;
  std::size_t most_held_;
  std::vector<event> held_;
  std::uint64_t passed_ns_ = 0;        // of the last event passed on
  std::uint64_t latest_ns_ = 0;        // added so far
  std::uint64_t round_latest_ns_ = 0;  // added before the present round
  bool sorted_ = true;
};

}  // namespace vlag::trace

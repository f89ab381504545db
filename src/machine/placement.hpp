// SPDX-License-Identifier: Apache-2.0
//
// Which CPU a woken or new task goes to.
#pragma once

#include <cstdint>

namespace vlag {

class wake_placement {
 public:
  virtual ~wake_placement() = default;
  // previous: the CPU the task is on; waker: the CPU of the task that wakes it (previous for a
  // timer).
  [[nodiscard]] virtual unsigned cpu_for_wakeup(std::uint32_t task, unsigned previous,
                                                unsigned waker) = 0;
  [[nodiscard]] virtual unsigned cpu_for_new(std::uint32_t task, unsigned asked,
                                             unsigned parent) = 0;
};

// Every task stays where its program puts it.
class recorded_placement final : public wake_placement {
 public:
  unsigned cpu_for_wakeup(std::uint32_t, unsigned previous, unsigned) override { return previous; }
  unsigned cpu_for_new(std::uint32_t, unsigned asked, unsigned) override { return asked; }
};

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// The FIFO/RR class of one CPU: waiting tasks by real-time priority, first come first served among
// equals. The running task is not in it.
#pragma once

#include <cstdint>
#include <vector>

namespace vlag {

class rt_queue {
 public:
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  // Highest priority waiting. Requires: not empty.
  [[nodiscard]] int top_priority() const noexcept { return waiting_.back().priority; }

  void push_back(std::uint32_t task, int priority) { insert(task, priority, false); }
  // Ahead of its equals: what a preempted task gets.
  void push_front(std::uint32_t task, int priority) { insert(task, priority, true); }

  // Requires: not empty.
  std::uint32_t pop() {
    const std::uint32_t task = waiting_.back().task;
    waiting_.pop_back();
    return task;
  }

  // Requires: it is in the queue.
  void remove(std::uint32_t task) {
    std::erase_if(waiting_, [task](const entry& e) { return e.task == task; });
  }

 private:
  struct entry {
    int priority;
    std::uint32_t task;
  };

  void insert(std::uint32_t task, int priority, bool ahead) {
    auto at = waiting_.end();
    while (at != waiting_.begin() &&
           (ahead ? (at - 1)->priority > priority : (at - 1)->priority >= priority)) {
      --at;
    }
    waiting_.insert(at, {priority, task});
  }

  std::vector<entry> waiting_;  // ascending priority, the next to run last
};

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// Pending timers of the machine: a 4-ary heap ordered by time, then by order of insertion.
// Cancelling is lazy: a timer carries the generation of its task's sleep, and one of an older
// generation is dropped when it comes up.
#pragma once

#include <cstdint>
#include <vector>

namespace vlag {

struct timer {
  std::uint64_t at_ns;
  std::uint64_t sequence;
  std::uint32_t task;
  std::uint32_t generation;
};

class timer_queue {
 public:
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  // Requires: not empty.
  [[nodiscard]] const timer& top() const noexcept { return heap_.front(); }

  // O(log n).
  void push(std::uint64_t at_ns, std::uint32_t task, std::uint32_t generation) {
    std::size_t i = heap_.size();
    const timer added{at_ns, sequence_++, task, generation};
    heap_.push_back(added);
    while (i != 0) {
      const std::size_t parent = (i - 1) / 4;
      if (!earlier(added, heap_[parent])) break;
      heap_[i] = heap_[parent];
      i = parent;
    }
    heap_[i] = added;
  }

  // O(log n). Requires: not empty.
  void pop() {
    const timer last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    std::size_t i = 0;
    for (;;) {
      std::size_t least = 4 * i + 1;
      if (least >= heap_.size()) break;
      const std::size_t end = least + 4 < heap_.size() ? least + 4 : heap_.size();
      for (std::size_t child = least + 1; child < end; ++child) {
        if (earlier(heap_[child], heap_[least])) least = child;
      }
      if (!earlier(heap_[least], last)) break;
      heap_[i] = heap_[least];
      i = least;
    }
    heap_[i] = last;
  }

 private:
  static bool earlier(const timer& a, const timer& b) noexcept {
    return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.sequence < b.sequence;
  }

  std::vector<timer> heap_;
  std::uint64_t sequence_ = 0;
};

}  // namespace vlag

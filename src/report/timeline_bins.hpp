// SPDX-License-Identifier: Apache-2.0
//
// Who had each CPU when, in bounded memory however long the run: bins over all of it, with the CPU
// time of a few classes of tasks, and every single stretch within windows. Times in ns.
//
// 1. A bin counts all CPU time that falls into it, also that of stretches without detail.
// 2. A window holds at most its part of max_stretches: of a busier one the last of them are kept,
//    and complete_from_ns says from when on nothing is missing.
#pragma once

#include "vlag/fair_class.hpp"

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace vlag {

enum class leave_reason : std::uint8_t {
  blocked,    // waits for something
  exited,     // is gone
  preempted,  // lost the CPU while it could have gone on
  yielded,    // gave it away
  cut,        // still on the CPU where the run ends
};

enum class wait_cause : std::uint8_t {
  none,      // did not wait, or began before the run
  woken,     // from a wake-up
  lost_cpu,  // from losing the CPU
};

// One stay of a task on a CPU, and the wait before it. Pids; 0 is idle or nobody.
struct cpu_stretch {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
  std::uint64_t waited_ns = 0;  // without a break before from_ns
  std::int32_t pid = 0;
  std::int32_t waker = 0;  // who woke it; 0: an interrupt, or not woken
  std::int32_t next = 0;   // who had the CPU after it
  std::uint16_t cpu = 0;
  wait_cause wait = wait_cause::none;
  leave_reason left = leave_reason::cut;
  std::optional<decision> why{};  // it was preempted, where that is known
  // Where it stood when it was chosen, where that is known: virtual ns.
  std::optional<std::int64_t> lag{};
  std::optional<std::int64_t> to_deadline{};
};

struct time_window {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
  friend bool operator==(const time_window&, const time_window&) = default;
};

// Ascending and apart: overlapping windows become one; empty ones are dropped.
[[nodiscard]] std::vector<time_window> merged_windows(std::vector<time_window> windows);

inline constexpr unsigned timeline_classes = 9;  // eight of their own, and the rest

struct timeline_request {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;  // Requires: above from_ns
  unsigned cpus = 1;
  unsigned bins_per_cpu = 4000;        // Requires: at least 1
  std::vector<time_window> windows{};  // Requires: as merged_windows() gives them
  std::size_t max_stretches = 50'000;  // in all windows together
  // Class of each pid, below timeline_classes; others are in the last one. Looked up only.
  std::unordered_map<std::int32_t, unsigned> class_of{};
};

// As many bins a CPU as keep those of all CPUs together near 65,536; 128 to 4,000.
[[nodiscard]] unsigned bins_for(unsigned cpus) noexcept;

struct timeline_window {
  time_window span;
  std::uint64_t complete_from_ns = 0;
  std::uint64_t dropped = 0;
  std::deque<cpu_stretch> stretches;  // by CPU in ascending time
};

class timeline_bins {
 public:
  explicit timeline_bins(timeline_request request);

  // That task had the CPU when the span began. Otherwise the first switch tells.
  void on_start(unsigned cpu, std::int32_t pid);
  // In ascending time. What happens after to_ns is ignored. Amortised O(1), plus the bins crossed.
  void on_switch(std::uint64_t at_ns, unsigned cpu, std::int32_t previous, leave_reason left,
                 std::int32_t next);
  // Why the switch that comes next on that CPU does.
  void on_reason(unsigned cpu, decision why);
  // Where the task that has that CPU stood when it was chosen.
  void on_reading(unsigned cpu, std::optional<std::int64_t> lag,
                  std::optional<std::int64_t> to_deadline);
  // The task can run from now on.
  void on_wakeup(std::uint64_t at_ns, std::int32_t pid, std::int32_t waker);
  // Ends what is under way at to_ns, or at the time given when the run stopped before.
  void finish(std::uint64_t at_ns = std::numeric_limits<std::uint64_t>::max());

  [[nodiscard]] const timeline_request& request() const noexcept { return request_; }
  [[nodiscard]] std::uint64_t bin_ns() const noexcept { return bin_ns_; }
  // Where the run ended; at most to_ns.
  [[nodiscard]] std::uint64_t ended_ns() const noexcept { return ended_ns_; }
  [[nodiscard]] std::uint64_t stretches() const noexcept { return all_stretches_; }
  // CPU time in that bin, ns.
  [[nodiscard]] std::uint64_t busy_ns(unsigned cpu, unsigned bin, unsigned which) const;
  // Ascending. Requires: finish() was called.
  [[nodiscard]] const std::vector<timeline_window>& windows() const noexcept { return windows_; }
  [[nodiscard]] bool all_detail_kept() const noexcept;

 private:
  struct waiting {
    std::uint64_t since_ns = 0;
    std::int32_t waker = 0;
    wait_cause cause = wait_cause::none;
  };
  struct running {
    cpu_stretch stretch;
    bool busy = false;
    bool known = false;  // a switch was seen
    std::optional<decision> reason{};
  };

  void begin(std::uint64_t at_ns, unsigned cpu, std::int32_t pid);
  void end(std::uint64_t at_ns, unsigned cpu, leave_reason left, std::int32_t next);
  void add_to_bins(const cpu_stretch& s);
  void keep(const cpu_stretch& s);

  timeline_request request_;
  std::uint64_t bin_ns_;
  std::uint64_t ended_ns_;
  std::size_t most_a_window_ = 0;
  std::uint64_t all_stretches_ = 0;
  std::vector<std::uint64_t> bins_;  // CPU, bin, class
  std::vector<running> cpus_;
  std::unordered_map<std::int32_t, waiting> waits_;  // looked up only
  std::vector<timeline_window> windows_;
};

}  // namespace vlag

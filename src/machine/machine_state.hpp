// SPDX-License-Identifier: Apache-2.0
//
// The private state of a machine: its tasks and CPUs.
#pragma once

#include "machine/machine.hpp"

namespace vlag {

// The quantum of a round-robin task.
inline constexpr std::uint32_t round_robin_ns = 100'000'000;

enum class task_state : std::uint8_t { unborn, blocked, runnable, running, gone };

// State changes, each checked in debug builds:
//   unborn -> runnable (fork)          blocked -> runnable (wake-up)
//   runnable <-> running (switch)      running -> blocked (wait, sleep, end)   running -> gone
//   (exit)
struct machine::sim_task : task {
  program steps;                    // fewer than 2^32
  std::uint64_t remaining_ns = 0;   // of the operation that runs
  std::uint64_t until_poll_ns = 0;  // CPU time until the clock is read again
  std::uint64_t clock_poll_ns = 0;
  std::uint64_t blocked_since_ns = 0;
  std::uint64_t waiting_since_ns = 0;
  std::uint64_t switched_in_ns = 0;
  std::uint32_t generation = 0;     // of its sleep: timers of older ones are void
  std::uint32_t pending_wakes = 0;  // wakes that came before the wait they are for
  std::uint32_t first_watcher = no_task;
  std::uint32_t next_watcher = no_task;
  std::uint64_t watch_after_ns = 0;
  std::uint64_t slice_at_start_ns = 0;
  unsigned cpu = 0;
  int rt_priority = 0;
  std::uint32_t round_robin_ticks_left = 0;
  std::uint32_t next_step = 0;
  task_state state = task_state::blocked;
  start_state start = start_state::runnable;
  bool in_class = false;        // known to the fair class of its CPU
  bool waits_for_wake = false;  // blocked in `wait`, not in a sleep
  bool ended = false;           // reached the end of its program
  bool signal_pending = false;  // that it takes when it runs
  bool wait_began_by_wakeup = false;
  bool wait_counts = true;  // false: it waited from before time 0
  task_figures figures;

  [[nodiscard]] bool real_time() const noexcept {
    return policy == sched_policy::fifo || policy == sched_policy::round_robin;
  }
};

// Listens to the fair class of one CPU: counts what it decides and, for an observer, records each
// decision.
class machine::cpu_watch final : public choice_watcher {
 public:
  cpu_watch(const machine& owner, cpu& c, pick_observer* observer)
      : owner_(&owner), cpu_(&c), observer_(observer) {}

  void on_decision(decision what, const entity& who);
  void before_choice(queue_view queue) override;
  void before_tick();
  void after_tick();
  // Around a choice.
  void begin(const sim_task* previous);
  void finish(const sim_task* chosen);

 private:
  const machine* owner_;
  cpu* cpu_;
  pick_observer* observer_;  // nullptr: counts only
  bool asked_before_tick_ = false;
  pick_record record_;
};

struct machine::sim_group {
  sim_group() = default;
  task_group group;
  std::unique_ptr<std::byte[]> memory;  // of its parts
  sim_group* parent = nullptr;          // nullptr: the root
  group_figures figures;
  // The counters of the group's bandwidth when measuring began.
  std::uint64_t periods_before = 0;
  std::uint64_t throttled_before = 0;
  std::uint64_t throttled_ns_before = 0;
};

struct machine::cpu {
  static_assert(sizeof(sim_task) <= 512);  // a run of 100,000 tasks must fit

  unsigned number = 0;
  const machine* owner = nullptr;  // while its decisions are told
  std::unique_ptr<fair_policy> fair;
  rt_queue rt;
  sim_task* current = nullptr;  // nullptr: idle
  // The task that the fair class takes for running while a higher class has the CPU: none.
  bool fair_displaced = false;
  bool rt_yields = false;
  bool yields = false;  // the switch that comes next is a yield
  bool skip_clock_update = false;
  std::uint64_t steps_since_ns = 0;  // operations of programs since then: steps
  std::uint32_t steps = 0;
  std::uint64_t clock_ns = 0;   // last clock reading
  std::uint64_t synced_ns = 0;  // the current task's work is accounted up to here
  std::uint64_t tick_at_ns = never_ns;
  std::uint64_t hrtick_at_ns = never_ns;
  std::uint64_t work_at_ns = never_ns;
  std::uint64_t switch_at_ns = never_ns;
  bool yielded = false;  // the current task, since the last choice
  cpu_figures figures;
  sched_counters counters;        // what the class decides counts only while watched
  sched_counters counted_before;  // the last reset
  std::unique_ptr<cpu_watch> watch;
};

}  // namespace vlag

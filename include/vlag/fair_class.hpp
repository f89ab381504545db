// SPDX-License-Identifier: Apache-2.0
//
// The EEVDF fair class on one CPU: which task runs next, and when the running one must give way.
//
// A class knows no clock, no thread and allocates nothing. The caller reports what happens (a task
// wakes, the running one blocks, a tick) with the time at which it happens, asks need_resched(),
// and calls schedule() to be told who runs. Decisions equal those of the reference kernel of the
// profile bit for bit (see profile.hpp); the arithmetic is in run_queue.hpp.
//
// Time is a CPU clock in ns that never goes back from one call to the next; a call with an older
// time is accepted and accounts nothing.
//
// Typical use:
//
//   fair.fork(a, now); fair.fork(b, now);
//   task* running = fair.schedule(now);          // a
//   fair.tick(now + 4'000'000);
//   if (fair.need_resched()) running = fair.schedule(now + 4'000'000);   // b
//
// Not thread safe: one class, one thread at a time.
#pragma once

#include "vlag/entity.hpp"
#include "vlag/features.hpp"
#include "vlag/run_queue.hpp"
#include "vlag/timeline.hpp"

#include <cstdint>

namespace vlag {

// Why something was decided; told to the decision hook.
enum class decision : std::uint8_t {
  request_used_up,       // the running task's request is served: resched
  ineligible_gives_way,  // the running task is unprotected and not eligible: resched
  wakeup_preempts,       // a woken task is picked over the running one: resched
  idle_policy_yields,    // a task of another policy woke while a SCHED_IDLE one ran: resched
  priority_changed,      // the running task's priority was lowered: resched
  cpu_was_idle,          // something woke on an idle CPU: resched
  protection_cancelled,  // a shorter request arrived: slice protection ends
  dequeue_delayed,       // a blocking task stays queued until its lag is worked off
  delayed_completed,     // and now it has left
  delayed_requeued,      // or it woke before that
  // CFS only
  ran_its_share,     // the running task had its share of the period: resched
  ran_ahead,         // it is ahead of the first waiting one by more than its share: resched
  child_runs_first,  // a new task was put before its parent: resched
};

// Where a slice comes from that is not the base slice.
enum class slice_origin : std::uint8_t {
  own,           // asked for; clamped to 0.1 .. 100 ms
  latency_nice,  // follows from latency_nice (attr.hpp); taken as it is
};

// Called at each decision with the entity that it is about. Must not call back into the class.
using decision_hook = void (*)(void* context, decision what, const entity& who);

class fair_class {
 public:
  // config may be changed by its owner between calls; it must outlive the class, as storage must.
  fair_class(const eevdf_config& config, timeline_storage& storage) noexcept;

  // A new task joins and is put on the queue. False: the storage is full and nothing has changed.
  // Requires: t is in no class; set_initial_attributes() was called. O(log n).
  [[nodiscard]] bool fork(task& t, std::uint64_t now_ns) noexcept;

  // A task that has lived elsewhere joins asleep, with the lag that it carries (none when it is
  // fresh); wake() puts it on the queue. False: the storage is full. O(1).
  // Requires: t is in no class; set_initial_attributes() was called.
  [[nodiscard]] bool join_asleep(task& t, std::uint64_t now_ns) noexcept;

  // A task that blocked becomes runnable. Requires: t blocked (and did not exit). O(log n).
  // Waking a task that is runnable does nothing.
  void wake(task& t, std::uint64_t now_ns) noexcept;

  // The running task blocks, or leaves for good. schedule() must follow at the same time; until
  // then an exiting task must stay in memory. True: the task stays queued (delayed dequeue).
  // Requires: current() is not null.
  bool block(std::uint64_t now_ns) noexcept;
  void exit(std::uint64_t now_ns) noexcept;

  // A task that is not running leaves for good (killed while asleep or waiting). O(log n).
  // Requires: t is in the class and not current().
  void remove(task& t, std::uint64_t now_ns) noexcept;

  // Decides who runs from now on; nullptr: nobody. Clears need_resched(). O(log n), amortised.
  task* schedule(std::uint64_t now_ns) noexcept;

  // A higher scheduling class takes the CPU: the running task, if any, goes back to the queue.
  // Wake-ups only enqueue until the next schedule().
  void yield_cpu_to_higher_class(std::uint64_t now_ns) noexcept;

  // The periodic tick. Accounts the running task.
  void tick(std::uint64_t now_ns) noexcept;
  // Brings the running task's counters up to date, as reading its CPU clock does: a scheduling
  // point, since its request may turn out to be used up.
  void account(std::uint64_t now_ns) noexcept;

  // The running task gives up its turn; schedule() must follow at the same time.
  void yield(std::uint64_t now_ns) noexcept;
  // The same in favour of t. False: t is not on the queue and nothing has changed.
  bool yield_to(task& t, std::uint64_t now_ns) noexcept;

  // Attribute changes, on a task in any state. Requires: values in range (attr.hpp checks).
  void set_nice(task& t, int nice, std::uint64_t now_ns) noexcept;
  // 0: follow the base slice. Otherwise clamped to 0.1 .. 100 ms. False: nothing changes.
  bool set_slice(task& t, std::uint64_t slice_ns, std::uint64_t now_ns) noexcept;
  // Policy, nice and slice together. False: nothing changes.
  bool set_attributes(task& t, sched_policy policy, int nice, std::uint64_t slice_ns,
                      std::uint64_t now_ns, slice_origin origin = slice_origin::own) noexcept;
  // A weight of no nice level, in place (what groups do). Requires: full_weight != 0.
  void reweight(task& t, std::uint64_t full_weight, std::uint64_t now_ns) noexcept;

  // The running task, also between block() and schedule(); nullptr: idle or a higher class.
  [[nodiscard]] task* current() const noexcept { return static_cast<task*>(queue_.current()); }
  // The CPU should call schedule() at its next chance.
  [[nodiscard]] bool need_resched() const noexcept { return need_resched_; }
  void set_need_resched() noexcept { need_resched_ = true; }

  // ns of CPU time until the running task's request ends, 0 when overdue; for a one-shot timer.
  // UINT64_MAX when nobody runs or nobody else waits.
  [[nodiscard]] std::uint64_t time_to_request_end() const noexcept;

  // Who would be picked now, no time passing; may name a delayed task. nullptr: the queue is empty,
  // or sums wrapped so far that nobody is eligible (schedule() then takes the first in order).
  [[nodiscard]] const task* peek() noexcept;
  [[nodiscard]] const task* buddy() const noexcept;

  // Tasks on the queue without and with the delayed ones (running included in both).
  [[nodiscard]] std::uint32_t nr_runnable() const noexcept {
    return queue_.nr_queued() - nr_delayed_;
  }
  [[nodiscard]] std::uint32_t nr_queued() const noexcept { return queue_.nr_queued(); }
  [[nodiscard]] std::uint32_t nr_delayed() const noexcept { return nr_delayed_; }

  // The shortest slice on the queue, running one included; UINT64_MAX when it is empty.
  [[nodiscard]] std::uint64_t min_slice() noexcept { return queue_.min_slice(); }

  // Times at which sums wrapped and the answer is ours, not the reference's.
  [[nodiscard]] std::uint64_t anomalies() const noexcept { return queue_.anomalies(); }

  [[nodiscard]] const eevdf_config& config() const noexcept { return *config_; }
  [[nodiscard]] const run_queue& queue() const noexcept { return queue_; }
  // Where virtual time starts; 2^64 - 2^20 otherwise. Requires: the class is empty.
  void start_at(std::uint64_t reference) noexcept { queue_.start_at(reference); }

  void set_decision_hook(decision_hook hook, void* context) noexcept {
    hook_ = hook;
    hook_context_ = context;
  }

 private:
  struct interrupted {  // what a task was doing when a change of its attributes took it out
    bool queued;
    bool running;
  };

  void tell(decision what, const entity& who) const noexcept {
    if (hook_ != nullptr) hook_(hook_context_, what, who);
  }
  void reschedule(decision why, const entity& who) noexcept;
  void account_running(std::uint64_t now_ns) noexcept;
  void enqueue(task& t, placement how, std::uint64_t now_ns) noexcept;
  void leave_for_good(task& t) noexcept;
  void complete_delayed(task& t, std::uint64_t now_ns) noexcept;
  void check_preemption(task& woken, bool may_nominate, std::uint64_t now_ns) noexcept;
  [[nodiscard]] bool shorter_request_wins(const task& woken, const task& running) const noexcept;
  void nominate(task& t) noexcept;
  [[nodiscard]] interrupted take_out(task& t, std::uint64_t now_ns) noexcept;
  void put_back(task& t, interrupted was, std::uint64_t now_ns) noexcept;
  void apply_weight(task& t) noexcept;
  void apply_slice(task& t, std::uint64_t slice_ns, slice_origin origin) const noexcept;
  void priority_changed(task& t, int old_nice, std::uint64_t now_ns) noexcept;

  run_queue queue_;
  const eevdf_config* config_;
  timeline_storage* storage_;
  decision_hook hook_ = nullptr;
  void* hook_context_ = nullptr;
  std::uint32_t nr_delayed_ = 0;
  bool need_resched_ = false;
  bool higher_class_runs_ = false;
};

}  // namespace vlag

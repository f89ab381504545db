// SPDX-License-Identifier: Apache-2.0
//
// The CFS fair class of Linux 6.1 on one CPU, with the same calls as fair_class (EEVDF): a host can
// run either. See fair_class.hpp for the contract of the calls that both have, cfs_queue.hpp for
// the arithmetic. Decisions equal those of Linux 6.1.192 bit for bit.
//
// What the CPU runs, and which calls lead there:
//
//                 idle              a fair task                  a higher class
//   schedule()    the first pick    the pick; idle when empty    as from idle
//   yield_cpu_to_higher_class()     every state -> a higher class
//
// Not thread safe. Allocates nothing.
#pragma once

#include "vlag/cfs_queue.hpp"
#include "vlag/entity.hpp"
#include "vlag/fair_class.hpp"
#include "vlag/features.hpp"
#include "vlag/timeline.hpp"

#include <cstdint>

namespace vlag {

class cfs_class {
 public:
  // config may be changed by its owner between calls; it must outlive the class, as storage must.
  cfs_class(const cfs_config& config, timeline_storage& storage) noexcept;

  // Starts t's counters (exec_start_ns, sum_exec_ns, ...) at 0.
  [[nodiscard]] bool fork(task& t, std::uint64_t now_ns) noexcept;
  // fork() in two steps, for a host that tells the moment of placement from that of the first
  // enqueue: place_new() (may fail as fork() does), then enqueue_new(). In between vruntime is
  // relative to min_vruntime().
  [[nodiscard]] bool place_new(task& t, std::uint64_t now_ns) noexcept;
  void enqueue_new(task& t, std::uint64_t now_ns) noexcept;

  // As fair_class: the vruntime that t carries is taken relative to min_vruntime, which is what
  // remove() leaves behind.
  [[nodiscard]] bool join_asleep(task& t, std::uint64_t now_ns) noexcept;
  void wake(task& t, std::uint64_t now_ns) noexcept;
  // A wake-up of a task that is still queued and not running: it may preempt, nothing else.
  void wake_queued(task& t, std::uint64_t now_ns) noexcept;
  bool block(std::uint64_t now_ns) noexcept;  // always false: CFS delays no dequeue
  void exit(std::uint64_t now_ns) noexcept;
  void remove(task& t, std::uint64_t now_ns) noexcept;
  task* schedule(std::uint64_t now_ns) noexcept;
  void yield_cpu_to_higher_class(std::uint64_t now_ns) noexcept;
  void tick(std::uint64_t now_ns) noexcept;
  void account(std::uint64_t now_ns) noexcept;  // never asks to reschedule
  void yield(std::uint64_t now_ns) noexcept;
  bool yield_to(task& t, std::uint64_t now_ns) noexcept;
  void set_nice(task& t, int nice, std::uint64_t now_ns) noexcept;
  // CFS has no slice of a task's own: always false, nothing changes.
  bool set_slice(task& t, std::uint64_t slice_ns, std::uint64_t now_ns) noexcept;
  // slice_ns is ignored. False: nothing changes.
  bool set_attributes(task& t, sched_policy policy, int nice, std::uint64_t slice_ns,
                      std::uint64_t now_ns) noexcept;
  // What a task asks for and CFS does not read: see attr.hpp. 0: nothing.
  void carry_slice(task& t, std::uint64_t slice_ns) noexcept;
  void reweight(task& t, std::uint64_t full_weight, std::uint64_t now_ns) noexcept;

  [[nodiscard]] task* current() const noexcept { return current_; }
  [[nodiscard]] bool need_resched() const noexcept { return need_resched_; }
  void set_need_resched() noexcept { need_resched_ = true; }
  [[nodiscard]] std::uint64_t time_to_request_end() const noexcept;
  [[nodiscard]] const task* peek() const noexcept;
  [[nodiscard]] const task* next_buddy() const noexcept;
  [[nodiscard]] const task* last_buddy() const noexcept;
  [[nodiscard]] const task* skip_buddy() const noexcept;
  [[nodiscard]] std::uint32_t nr_runnable() const noexcept { return queue_.nr_queued(); }
  [[nodiscard]] std::uint32_t nr_queued() const noexcept { return queue_.nr_queued(); }
  [[nodiscard]] std::uint32_t nr_delayed() const noexcept { return 0; }
  [[nodiscard]] std::uint32_t nr_idle_policy() const noexcept { return queue_.nr_idle(); }
  [[nodiscard]] std::uint64_t anomalies() const noexcept { return queue_.anomalies(); }
  [[nodiscard]] std::uint64_t load() const noexcept { return queue_.load(); }
  // Never goes back.
  [[nodiscard]] std::uint64_t min_vruntime() const noexcept { return queue_.min_vruntime(); }
  // The wall-clock share of the period of a task, ns; see cfs_queue::slice().
  [[nodiscard]] std::uint64_t slice_of(const task& t) const noexcept;
  [[nodiscard]] const timeline& waiting() const noexcept { return queue_.waiting(); }
  [[nodiscard]] const cfs_queue& queue() const noexcept { return queue_; }
  // The initial min_vruntime is 2^64 - 2^20; this sets another. Requires: the class is empty.
  void start_at(std::uint64_t min_vruntime) noexcept { queue_.start_at(min_vruntime); }

  void set_decision_hook(decision_hook hook, void* context) noexcept;

 private:
  void read_clock(std::uint64_t now_ns) noexcept;
  void tell(decision what, const task& who) const noexcept;
  void resched_for(decision what, const task& who) noexcept;

  void place_child(task& child) noexcept;
  void leave(task& t) noexcept;
  enum class wake_kind : std::uint8_t { wakeup, fork };
  void preempt_for(task& woken, wake_kind kind) noexcept;
  void priority_changed(task& t, int old_nice) noexcept;
  struct attributes {
    sched_policy policy;
    int static_nice;
    int prio_nice;
  };
  void change(task& t, attributes to, floor_update floor) noexcept;

  const cfs_config* config_;
  timeline_storage* storage_;
  cfs_queue queue_;
  task* current_ = nullptr;
  std::uint64_t clock_ns_ = 0;  // the latest time told
  bool need_resched_ = false;
  bool higher_class_runs_ = false;
  decision_hook hook_ = nullptr;
  void* hook_context_ = nullptr;
};

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// The CFS fair class of Linux 6.1 on one CPU, with the same calls as fair_class (EEVDF): a host can
// run either. See fair_class.hpp for the contract of the calls that both have.
//
// Not thread safe. Allocates nothing.
#pragma once

#include "vlag/entity.hpp"
#include "vlag/fair_class.hpp"
#include "vlag/features.hpp"
#include "vlag/timeline.hpp"

#include <cstdint>

namespace vlag {

class cfs_class {
 public:
  cfs_class(const cfs_config& config, timeline_storage& storage) noexcept;

  [[nodiscard]] bool fork(task& t, std::uint64_t now_ns) noexcept;
  // fork() in two steps, for a host that tells the moment of placement from that of the first
  // enqueue: place_new() (may fail as fork() does), then enqueue_new().
  [[nodiscard]] bool place_new(task& t, std::uint64_t now_ns) noexcept;
  void enqueue_new(task& t, std::uint64_t now_ns) noexcept;

  void wake(task& t, std::uint64_t now_ns) noexcept;
  // A wake-up of a task that is still queued and not running: it may preempt, nothing else.
  void wake_queued(task& t, std::uint64_t now_ns) noexcept;
  bool block(std::uint64_t now_ns) noexcept;  // always false: CFS delays no dequeue
  void exit(std::uint64_t now_ns) noexcept;
  void remove(task& t, std::uint64_t now_ns) noexcept;
  task* schedule(std::uint64_t now_ns) noexcept;
  void yield_cpu_to_higher_class(std::uint64_t now_ns) noexcept;
  void tick(std::uint64_t now_ns) noexcept;
  void account(std::uint64_t now_ns) noexcept;
  void yield(std::uint64_t now_ns) noexcept;
  bool yield_to(task& t, std::uint64_t now_ns) noexcept;
  void set_nice(task& t, int nice, std::uint64_t now_ns) noexcept;
  // CFS has no slice of a task's own: always false, nothing changes.
  bool set_slice(task& t, std::uint64_t slice_ns, std::uint64_t now_ns) noexcept;
  // slice_ns is ignored. False: nothing changes.
  bool set_attributes(task& t, sched_policy policy, int nice, std::uint64_t slice_ns,
                      std::uint64_t now_ns) noexcept;
  void reweight(task& t, std::uint64_t full_weight, std::uint64_t now_ns) noexcept;

  [[nodiscard]] task* current() const noexcept;
  [[nodiscard]] bool need_resched() const noexcept;
  void set_need_resched() noexcept;
  [[nodiscard]] std::uint64_t time_to_request_end() const noexcept;
  [[nodiscard]] const task* peek() noexcept;
  [[nodiscard]] const task* next_buddy() const noexcept;
  [[nodiscard]] const task* last_buddy() const noexcept;
  [[nodiscard]] const task* skip_buddy() const noexcept;
  [[nodiscard]] std::uint32_t nr_runnable() const noexcept;
  [[nodiscard]] std::uint32_t nr_queued() const noexcept;  // the same: nothing is delayed
  [[nodiscard]] std::uint32_t nr_delayed() const noexcept;  // 0
  [[nodiscard]] std::uint32_t nr_idle_policy() const noexcept;
  [[nodiscard]] std::uint64_t anomalies() const noexcept;
  [[nodiscard]] std::uint64_t load() const noexcept;          // sum of full weights
  [[nodiscard]] std::uint64_t min_vruntime() const noexcept;  // never goes back
  // The wall-clock share of the period of a task, ns.
  [[nodiscard]] std::uint64_t slice_of(const task& t) const noexcept;
  [[nodiscard]] const timeline& waiting() const noexcept;
  // The initial min_vruntime is 2^64 - 2^20; this sets another. Requires: the class is empty.
  void start_at(std::uint64_t min_vruntime) noexcept;

  void set_decision_hook(decision_hook hook, void* context) noexcept;
};

}  // namespace vlag

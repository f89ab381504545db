// SPDX-License-Identifier: Apache-2.0
//
// The fair class of one simulated CPU, whichever engine the policy asks for.
#pragma once

#include "machine/snapshot.hpp"
#include "vlag/cfs_class.hpp"
#include "vlag/fair_class.hpp"
#include "vlag/group.hpp"
#include "vlag/paper_class.hpp"
#include "vlag/profile.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace vlag {

// Told each queue just before a choice is made from it.
class choice_watcher {
 public:
  virtual void before_choice(queue_view queue) = 0;

 protected:
  ~choice_watcher() = default;
};

// The queue on which a task is, and where the task stands on it. Virtual ns.
struct fair_reading {
  std::int64_t virtual_time = 0;  // EEVDF: V; CFS: min_vruntime
  std::int64_t vruntime = 0;
  std::optional<std::int64_t> lag;          // V - vruntime; CFS has none
  std::optional<std::int64_t> to_deadline;  // deadline - vruntime; CFS has none
};

// The calls of fair_class and cfs_class that a CPU needs; see fair_class.hpp for their contract.
class fair_policy {
 public:
  virtual ~fair_policy() = default;
  [[nodiscard]] virtual bool fork(task& t, std::uint64_t now_ns) = 0;
  [[nodiscard]] virtual bool join_asleep(task& t, std::uint64_t now_ns) = 0;
  virtual void wake(task& t, std::uint64_t now_ns) = 0;
  virtual bool block(std::uint64_t now_ns) = 0;
  virtual void exit(std::uint64_t now_ns) = 0;
  virtual void remove(task& t, std::uint64_t now_ns) = 0;
  virtual task* schedule(std::uint64_t now_ns) = 0;
  virtual void yield_cpu_to_higher_class(std::uint64_t now_ns) = 0;
  virtual void tick(std::uint64_t now_ns) = 0;
  virtual void account(std::uint64_t now_ns) = 0;
  virtual void yield(std::uint64_t now_ns) = 0;
  virtual void set_nice(task& t, int nice, std::uint64_t now_ns) = 0;
  virtual bool set_slice(task& t, std::uint64_t slice_ns, std::uint64_t now_ns) = 0;
  // A slice of its own wins; without effect under CFS. Requires: min_nice .. max_nice.
  virtual void set_latency_nice(task& t, int latency_nice, std::uint64_t now_ns) = 0;
  // The task goes to another group of the tree that the class has joined; nullptr: its root.
  virtual void move(task& t, task_group* group, std::uint64_t now_ns) = 0;
  // What a group_tree joins; nullptr: the policy knows no groups (and move() does nothing).
  [[nodiscard]] virtual group_scheduler* groups() = 0;
  [[nodiscard]] virtual bool need_resched() const = 0;
  virtual void set_need_resched() = 0;
  [[nodiscard]] virtual std::uint64_t time_to_request_end() const = 0;
  [[nodiscard]] virtual std::uint32_t nr_runnable() const = 0;
  [[nodiscard]] virtual std::uint32_t nr_queued() const = 0;
  [[nodiscard]] virtual std::uint64_t anomalies() const = 0;
  // Requires: t is on a queue of the class.
  [[nodiscard]] virtual fair_reading reading(const task& t) const = 0;
  virtual void set_decision_hook(decision_hook hook, void* context) = 0;

  // All queues, the root's first, then in the order of the group tree; a task, wherever it is. The
  // paper's policy has no queue to show.
  [[nodiscard]] virtual std::vector<queue_view> queues() const = 0;
  [[nodiscard]] virtual entity_view view(const task& t) const = 0;
  // EEVDF: how often it was looked whether a request is used up, and how often it was.
  [[nodiscard]] virtual std::uint64_t deadline_checks() const = 0;
  [[nodiscard]] virtual std::uint64_t deadline_updates() const = 0;
  // Copies queues at each choice from now on.
  virtual void watch_choices(choice_watcher& watcher) = 0;
};

// config must outlive the policy and stay where it is.
[[nodiscard]] std::unique_ptr<fair_policy> make_fair_policy(const policy_config& config,
                                                            timeline_storage& storage);

}  // namespace vlag

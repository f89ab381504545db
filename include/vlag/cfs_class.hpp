// SPDX-License-Identifier: Apache-2.0
//
// The CFS fair class of Linux 6.1 on one CPU, with the same calls as fair_class (EEVDF): a host can
// run either. Tasks may be in groups (group.hpp); without any there is one queue. See
// fair_class.hpp for the contract of the calls that both have, cfs_queue.hpp for the arithmetic of
// one queue.
//
// The share of an entity of a tree is the period divided down its path:
//     share(e) = period * product over the queues from e's up to the root of weight / load
// where each queue asks for the share of what runs on it at each tick, so that a task must give way
// when it, or a group above it, has had its share.
//
// Decisions equal those of Linux 6.1.192 bit for bit, with groups too. Bandwidth follows the rules
// of Linux 6.12 (bandwidth_pool); there is no reference for it here.
//
// What the CPU runs, and which calls lead there:
//
//                 idle              a fair task                  a higher class
//   schedule()    the first pick    the pick; idle when empty    as from idle
//   yield_cpu_to_higher_class()     every state -> a higher class
//
// Not thread safe. Allocates nothing.
#pragma once

#include "vlag/cfs_level.hpp"
#include "vlag/cfs_queue.hpp"
#include "vlag/entity.hpp"
#include "vlag/fair_class.hpp"
#include "vlag/features.hpp"
#include "vlag/group.hpp"
#include "vlag/timeline.hpp"

#include <cstddef>
#include <cstdint>

namespace vlag {

class cfs_class final : public group_scheduler {
 public:
  // As fair_class.
  [[nodiscard]] static constexpr std::size_t required_storage(std::size_t groups,
                                                              std::size_t cpus) noexcept {
    return groups * cpus * sizeof(cfs_level);
  }

  // config may be changed by its owner between calls; it must outlive the class, as storage must.
  cfs_class(const cfs_config& config, timeline_storage& storage) noexcept;

  // Starts t's counters (exec_start_ns, sum_exec_ns, ...) at 0.
  [[nodiscard]] bool fork(task& t, std::uint64_t now_ns) noexcept;
  // fork() in two steps, for a host that tells the moment of placement from that of the first
  // enqueue: place_new() (may fail as fork() does), then enqueue_new(). It is placed on the queue
  // of the running task, whatever group it starts in; in between vruntime is relative to the
  // min_vruntime of that queue.
  [[nodiscard]] bool place_new(task& t, std::uint64_t now_ns) noexcept;
  void enqueue_new(task& t, std::uint64_t now_ns) noexcept;

  // As fair_class: the vruntime that t carries is taken relative to the min_vruntime of its group's
  // queue, which is what remove() leaves behind.
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
  // The task goes to another group, in any state, and keeps its distance to min_vruntime; a sleeper
  // is first placed where it would have woken, and one that never ran keeps its vruntime as it is.
  // nullptr: the root. Requires: the group is in the tree of this class. O(depth * log n).
  void move(task& t, task_group* group, std::uint64_t now_ns) noexcept;

  [[nodiscard]] task* current() const noexcept { return running_; }
  [[nodiscard]] bool need_resched() const noexcept { return need_resched_; }
  void set_need_resched() noexcept { need_resched_ = true; }
  // Of the level whose share ends first.
  [[nodiscard]] std::uint64_t time_to_request_end() const noexcept;
  [[nodiscard]] const task* peek() const noexcept;
  // On the queue of the root: a task, or the entity of a group.
  [[nodiscard]] const entity* next_buddy() const noexcept { return root_.queue.next_buddy(); }
  [[nodiscard]] const entity* last_buddy() const noexcept { return root_.queue.last_buddy(); }
  [[nodiscard]] const entity* skip_buddy() const noexcept { return root_.queue.skip_buddy(); }
  // Tasks in the whole tree, throttled groups left out.
  [[nodiscard]] std::uint32_t nr_runnable() const noexcept { return root_.h_nr_queued; }
  [[nodiscard]] std::uint32_t nr_queued() const noexcept { return root_.h_nr_queued; }
  [[nodiscard]] std::uint32_t nr_delayed() const noexcept { return 0; }
  // Those of SCHED_IDLE or in an idle group.
  [[nodiscard]] std::uint32_t nr_idle_policy() const noexcept { return root_.h_nr_idle; }
  // The wall-clock share of the period of a task or a group's entity, ns. O(depth) divisions.
  [[nodiscard]] std::uint64_t slice_of(const entity& e) const noexcept;

  // The same on one group's queue (nullptr: the root); a task, or the entity of a group inside.
  [[nodiscard]] const entity* peek_in(const task_group* group) const noexcept {
    return level(group).queue.pick();
  }
  // On all queues of groups that still exist.
  [[nodiscard]] std::uint64_t anomalies() const noexcept;

  // The root's queue, and the part of a group on this CPU (nullptr: the root).
  [[nodiscard]] const cfs_queue& queue() const noexcept { return root_.queue; }
  [[nodiscard]] const cfs_level& level(const task_group* group = nullptr) const noexcept;
  [[nodiscard]] std::uint64_t load() const noexcept { return root_.queue.load(); }
  // Never goes back.
  [[nodiscard]] std::uint64_t min_vruntime() const noexcept { return root_.queue.min_vruntime(); }
  [[nodiscard]] const timeline& waiting() const noexcept { return root_.queue.waiting(); }
  // The initial min_vruntime is 2^64 - 2^20; this sets another, of the root's queue. Requires: the
  // class is empty.
  void start_at(std::uint64_t min_vruntime) noexcept { root_.queue.start_at(min_vruntime); }

  void set_decision_hook(decision_hook hook, void* context) noexcept;
  // As fair_class.
  using choice_hook = void (*)(void* context, const cfs_level& level);
  void set_choice_hook(choice_hook hook, void* context) noexcept {
    choice_hook_ = hook;
    choice_context_ = context;
  }

  // For group_tree and task_group: see group.hpp.
  void join_tree(task_group& root, unsigned cpu) noexcept override;
  [[nodiscard]] group_part& root_part() noexcept override { return root_; }
  [[nodiscard]] std::size_t part_bytes() const noexcept override { return sizeof(cfs_level); }
  [[nodiscard]] group_part* make_part(void* memory, task_group& g,
                                      group_part& parent) noexcept override;
  void remove_part(group_part& part, std::uint64_t now_ns) noexcept override;
  [[nodiscard]] bool is_current(const group_part& part) const noexcept override;
  void idle_changed(group_part& part) noexcept override;
  void shares_changed(group_part& part, std::uint64_t now_ns) noexcept override;
  // Nothing here depends on it: CFS has no slice of a group's own.
  void latency_nice_changed(group_part& /*part*/, std::uint64_t /*now_ns*/) noexcept override {}
  void bandwidth_changed(group_part& part, std::uint64_t now_ns) noexcept override;
  void bandwidth_refilled(group_part& part, std::uint64_t now_ns) noexcept override;
  [[nodiscard]] bool is_throttled(const group_part& part) const noexcept override;

 private:
  enum class wake_kind : std::uint8_t { wakeup, fork };
  enum class entry : std::uint8_t { woken, relative };
  // What a task was doing when a change took it out.
  struct interrupted {
    bool queued;
    bool running;
  };
  struct attributes {
    sched_policy policy;
    int static_nice;
    int prio_nice;
  };

  void read_clock(std::uint64_t now_ns) noexcept;
  void tell(decision what, const entity& who) const noexcept;
  void reschedule(decision what, const entity& who) noexcept;
  [[nodiscard]] cfs_level& level_for(const task_group* group) noexcept;
  void adopt(task& t) noexcept;
  void place_child(task& child) noexcept;
  void leave_for_good(task& t) noexcept;
  void preempt_for(task& woken, wake_kind kind) noexcept;
  void priority_changed(task& t, int old_nice) noexcept;
  void change(task& t, attributes to, floor_update floor) noexcept;
  [[nodiscard]] interrupted take_out(task& t, floor_update floor) noexcept;
  void put_in(task& t, interrupted was) noexcept;

  // One queue (cfs_tree.cpp).
  void account_queue(cfs_level& level) noexcept {
    if (level.limited) {
      charge_limited(level);
    } else {
      level.queue.account(clock_ns_);
    }
  }
  void charge_limited(cfs_level& level) noexcept;
  void enqueue_entity(entity& e, entry how) noexcept;
  void dequeue_entity(entity& e, kept_vruntime keep, floor_update floor) noexcept;
  void put(cfs_level& level) noexcept;
  void put_limited(cfs_level& level) noexcept;
  void set(cfs_level& level, entity& e) noexcept;
  [[nodiscard]] std::uint64_t slice_on(const cfs_queue& queue, const entity& e) const noexcept;
  void check_share(cfs_level& level) noexcept;

  // The tree (cfs_tree.cpp).
  void enqueue(task& t, entry how) noexcept;
  void dequeue(task& t, kept_vruntime keep, floor_update floor) noexcept;
  static void nominate_next(entity& e) noexcept;
  static void nominate_last(entity& e) noexcept;
  static void skip_once(entity& e) noexcept;
  static void drop_buddies(const entity& e) noexcept;
  // Each role is lost on the queues above too, up to the first on which another entity has it.
  static void drop_above(const entity& e, buddy_roles lost) noexcept {
    for (const entity* at = e.parent; lost != no_role && at->parent != nullptr; at = at->parent) {
      lost = cfs_level_of(*at).queue.drop_buddies(*at, lost);
    }
  }
  [[nodiscard]] task* pick() noexcept;
  void put_all(task& t) noexcept;
  void set_all(task& t) noexcept;

  // Bandwidth (bandwidth_rules.hpp). level.limited is false for nearly everyone.
  template <typename Class, typename Level>
  friend struct bandwidth_rules;
  using bandwidth = bandwidth_rules<cfs_class, cfs_level>;
  void leave_throttled(entity& e, std::uint64_t now_ns) noexcept;
  [[nodiscard]] bool join_unthrottled(entity& e, std::uint64_t now_ns) noexcept;

  cfs_level root_;
  task* running_ = nullptr;
  const cfs_config* config_;
  timeline_storage* storage_;
  std::uint64_t clock_ns_ = 0;  // the latest time told
  unsigned cpu_ = 0;
  bool need_resched_ = false;
  bool higher_class_runs_ = false;
  decision_hook hook_ = nullptr;
  void* hook_context_ = nullptr;
  choice_hook choice_hook_ = nullptr;
  void* choice_context_ = nullptr;
};

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// Load tracking of a machine: the averages of every task, group and queue on all CPUs, and the
// weight that each group's entity gets on a CPU for its part of the load (pelt_queue.hpp).
//
// It follows the fair classes: after a call into one, the machine says what happened to which task,
// and the tracker brings up to now what changed. It counts queues itself, so that what was true up
// to now is still known when it is told.
//
// Differences from the kernel, where these steps lie inside of the fair class: a group's new weight
// acts right after the step that led to it and not in its middle; a throttled group counts as
// waiting.
#pragma once

#include "machine/figures.hpp"
#include "vlag/group.hpp"
#include "vlag/pelt_queue.hpp"

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace vlag {

class load_tracker {
 public:
  // schedulers: of the CPUs that share groups; empty where there are no groups. It and what it
  // refers to must outlive the tracker.
  load_tracker(unsigned cpus, std::span<group_scheduler* const> schedulers, std::uint64_t start_ns);
  load_tracker(const load_tracker&) = delete;
  load_tracker& operator=(const load_tracker&) = delete;

  // Times are readings of a CPU's clock; an older one counts as the latest.

  // In order of their numbers: groups from 1, with their parent's (0: the root); tasks from 0.
  void add_group(task_group& group, std::uint32_t parent);
  void add_task();

  // The task is queued, delayed, off its queue or of another weight than before, or nothing of
  // that. Its first time on a queue makes its first averages.
  void task_changed(const task& t, unsigned cpu, std::uint32_t group, std::uint64_t now_ns);
  // It leaves this CPU, or ends. Requires: it is off its queue.
  void task_leaves(std::uint32_t id, std::uint64_t now_ns);
  // It went to another group, with what else changed thereby.
  void task_moved(const task& t, std::uint32_t group, std::uint64_t now_ns);
  // Delayed entities of the CPU that a pick took off.
  void after_pick(unsigned cpu, std::uint64_t now_ns);
  // nullptr: idle; real_time: a task of a higher class runs.
  void switched(unsigned cpu, const task* next, bool real_time, std::uint64_t now_ns);
  void tick(unsigned cpu, std::uint64_t now_ns);
  void shares_changed(std::uint32_t group, std::uint64_t now_ns);

  // The averages as of each thing's last update.
  [[nodiscard]] std::vector<load_figures> task_loads() const;
  [[nodiscard]] std::vector<load_figures> cpu_loads() const;

 private:
  struct queue;
  struct entity_state {
    entity_load load;
    std::uint64_t weight = nice_0_weight;  // full
    const task* of_task = nullptr;
    group_part* part = nullptr;  // of a group
    queue* on = nullptr;
    queue* own = nullptr;  // of a group
    bool queued = false;
    bool delayed = false;
    bool known = false;
  };
  struct queue {
    queue_load load;
    group_load* group = nullptr;  // nullptr: the root
    unsigned cpu = 0;
    std::uint64_t weight = 0;  // full, all queued
    std::uint32_t queued = 0;  // tasks in the subtree
    std::uint32_t delayed = 0;
    entity_state* running = nullptr;
    entity_state* owner = nullptr;  // the group's entity; nullptr: the root
  };
  struct group_state {
    group_load load;
    task_group* group = nullptr;
    std::deque<queue> queues;  // one a CPU
    std::deque<entity_state> entities;
  };
  struct cpu_state {
    explicit cpu_state(std::uint64_t start_ns) : clock(start_ns) {}
    load_clock clock;
    load_average real_time;
    entity_state* current = nullptr;
    bool busy = false;
    bool real_time_runs = false;
    std::vector<entity_state*> delayed;
  };

  [[nodiscard]] queue_now now(queue& q);
  [[nodiscard]] level_now now(entity_state& e);
  [[nodiscard]] load_average& root_average(const entity_state& e);
  void advance(unsigned cpu, std::uint64_t now_ns);
  void step(entity_state& e, load_moment moment);
  void refresh_group_weight(entity_state& e);
  void set_weight(entity_state& e, std::uint64_t full_weight);
  static void count(queue& q, const entity_state& t, std::uint32_t by);
  void enqueue(entity_state& t);
  void dequeue(entity_state& t, bool to_sleep);
  void depart(entity_state& e, std::uint32_t tasks);
  void set_delayed(entity_state& t, bool delayed);
  void decay(unsigned cpu);
  void put_current(cpu_state& c);
  void set_current(cpu_state& c, entity_state& t);
  void pass_up(const entity_state& e);

  std::span<group_scheduler* const> schedulers_;
  std::vector<cpu_state> cpus_;
  std::deque<group_state> groups_;  // by number; 0 is the root
  std::deque<entity_state> tasks_;
  std::uint64_t next_decay_ns_ = 0;
};

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// What the load-tracking vectors run on: two CPUs, a tree of groups and tasks, queues that count
// but order nothing, and the order in which a fair class calls the load-tracking steps.
//
// Which task runs where is told (switch), not chosen. Every function has as precondition that what
// it names exists; what more it requires is said beside it.
#pragma once

#include "vlag/pelt_queue.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace vlag {

class pelt_system {
 public:
  static constexpr std::size_t cpu_count = 2;

  struct queue;
  struct group;
  struct entity {
    entity_load load;
    std::uint64_t weight = nice_0_weight;  // full
    bool queued = false;
    bool delayed = false;
    queue* on = nullptr;        // where it is, or would be
    queue* own = nullptr;       // group: its queue on this CPU
    const group* of = nullptr;  // group
  };
  struct queue {
    queue_load load;
    group_load* group = nullptr;  // root: none
    std::size_t cpu = 0;
    std::uint64_t weight = 0;  // full
    std::uint32_t h_nr_queued = 0;
    std::uint32_t h_nr_delayed = 0;
    entity* running = nullptr;
    entity* owner = nullptr;  // the group's entity; root: none
  };
  struct group {
    group_load load;
    std::uint64_t shares = 0;  // full
    std::array<queue, cpu_count> queues;
    std::array<entity, cpu_count> entities;
  };
  struct task : entity {
    std::uint32_t id = 0;
    std::uint32_t group_id = 0;
  };
  struct cpu {
    load_clock clock;
    task* current = nullptr;
  };

  explicit pelt_system(std::uint64_t start_ns);
  pelt_system(const pelt_system&) = delete;
  pelt_system& operator=(const pelt_system&) = delete;

  // Group 0 is the root and always there.
  [[nodiscard]] const std::map<std::uint32_t, group>& groups() const noexcept { return groups_; }
  [[nodiscard]] const std::map<std::uint32_t, task>& tasks() const noexcept { return tasks_; }
  [[nodiscard]] cpu& cpu_at(std::size_t index) noexcept { return cpus_[index]; }
  [[nodiscard]] const cpu& cpu_at(std::size_t index) const noexcept { return cpus_[index]; }
  // nullptr: there is none.
  [[nodiscard]] task* find_task(std::uint32_t id) noexcept;
  [[nodiscard]] bool is_current(const task& t) const noexcept;

  void advance(std::size_t cpu, std::uint64_t ns) noexcept;
  void make_group(std::uint32_t id, std::uint32_t parent, std::uint64_t full_shares);
  void set_shares(std::uint32_t id, std::uint64_t full_shares) noexcept;
  void start(std::uint32_t id, std::size_t cpu, std::uint64_t full_weight, std::uint32_t group);
  void enqueue(task& t) noexcept;                 // not queued
  void dequeue(task& t, bool to_sleep) noexcept;  // queued, not delayed
  void delay(task& t) noexcept;                   // queued, not delayed
  void undelay(task& t) noexcept;                 // delayed
  void finish_delayed(task& t) noexcept;          // delayed
  void switch_to(task& t) noexcept;
  void go_idle(std::size_t cpu) noexcept;
  void tick(std::size_t cpu) noexcept;
  bool decay(std::size_t cpu, std::uint32_t group) noexcept;
  void migrate(task& t, std::size_t cpu) noexcept;  // not its CPU's current
  void move(task& t, std::uint32_t group) noexcept;
  void reweight(task& t, std::uint64_t full_weight) noexcept;
  void exit(task& t);  // not queued, not its CPU's current

 private:
  [[nodiscard]] queue_now now(queue& q) noexcept;
  [[nodiscard]] level_now now(entity& e) noexcept;
  [[nodiscard]] load_average& root_average(const task& t) noexcept;
  static void count(queue& q, const task& t, int by) noexcept;
  void set_weight(entity& e, std::uint64_t full_weight) noexcept;
  void refresh_group_weight(entity& e) noexcept;
  void step(entity& e, load_moment moment) noexcept;
  void depart(task& t, load_moment moment) noexcept;
  void put_current(std::size_t cpu) noexcept;
  void set_current(task& t) noexcept;
  void pass_up(const entity& e) noexcept;
  void leave_group(task& t) noexcept;
  void enter_group(task& t, std::uint32_t group) noexcept;

  std::array<cpu, cpu_count> cpus_;
  std::map<std::uint32_t, group> groups_;
  std::map<std::uint32_t, task> tasks_;
};

}  // namespace vlag

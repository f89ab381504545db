// SPDX-License-Identifier: Apache-2.0
//
// A CPU for tests of the fair classes with task groups: a clock that the test moves, the class, the
// tree, its groups and tasks.
#pragma once

#include "core/one_cpu.hpp"
#include "vlag/cfs_class.hpp"
#include "vlag/group.hpp"

#include <array>
#include <cstdlib>
#include <deque>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>

namespace vlag::test {

template <typename Class, typename Config>
class grouped_cpu_of {
 public:
  static constexpr std::size_t default_tasks = 256;
  static constexpr std::size_t most_groups = 64;

  explicit grouped_cpu_of(const Config& set, std::size_t tasks_at_once = default_tasks)
      : config(set),
        places_(tasks_at_once + most_groups),
        memory_(places_, 1 + most_groups),
        storage(memory_.bytes(), places_, 1 + most_groups),
        fair(config, storage),
        cpus_{&fair},
        tree(cpus_) {}

  struct part_memory {
    explicit part_memory(std::size_t bytes)
        : size(bytes),
          begin(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{64}))) {}
    part_memory(const part_memory&) = delete;
    part_memory& operator=(const part_memory&) = delete;
    ~part_memory() { ::operator delete(begin, std::align_val_t{64}); }
    std::size_t size;
    std::byte* begin;
  };

  task_group& group(task_group& parent) {
    part_memory& memory = part_memories_.emplace_back(tree.required_bytes());
    task_group& g = groups.emplace_back();
    g.id = groups.size();
    if (tree.create(g, parent, {memory.begin, memory.size}) != group_error::none) std::abort();
    return g;
  }
  task_group& group() { return group(tree.root()); }

  task& fork(task_group* in = nullptr, int nice = 0, std::uint64_t slice_ns = 0,
             sched_policy policy = sched_policy::normal) {
    task& t = tasks.emplace_back();
    t.id = static_cast<std::uint32_t>(tasks.size());
    set_initial_attributes(t, policy, nice);
    t.custom_slice = slice_ns != 0;
    t.slice_ns = slice_ns;
    t.group = in;
    if (!fair.fork(t, now)) std::abort();
    return t;
  }

  // Time passes, with ticks, switches and period timers where they are due.
  void run(std::uint64_t ns, std::uint64_t step_ns = 1 * ms) {
    for (const std::uint64_t end = now + ns; now < end;) {
      now += step_ns;
      tree.run_timers(now);
      fair.tick(now);
      if (fair.need_resched()) fair.schedule(now);
    }
  }

  task* schedule() { return fair.schedule(now); }
  bool block() {
    const bool delayed = fair.block(now);
    schedule();
    return delayed;
  }
  void wake(task& t) {
    fair.wake(t, now);
    if (fair.need_resched()) schedule();
  }
  // CPU time that the tasks of a group and of those inside it have had.
  [[nodiscard]] std::uint64_t service(const task_group& g) const {
    std::uint64_t sum = 0;
    for (const task& t : tasks) {
      for (const task_group* at = t.group; at != nullptr; at = at->parent()) {
        if (at == &g) sum += t.sum_exec_ns;
      }
    }
    return sum;
  }
  [[nodiscard]] const auto& level(const task_group& g) const { return fair.level(&g); }
  [[nodiscard]] static std::string text(const task_group& g, std::string_view file) {
    std::array<char, 128> buffer{};
    const group_text read = g.get(file, buffer);
    return read.error == group_error::none ? std::string(buffer.data(), read.size) : "refused";
  }

  Config config;
  std::uint64_t now = 0;
  std::deque<task> tasks;
  std::deque<task_group> groups;

 private:
  std::deque<part_memory> part_memories_;
  std::size_t places_;
  storage_memory memory_;

 public:
  timeline_storage storage;
  Class fair;

 private:
  std::array<group_scheduler*, 1> cpus_;

 public:
  group_tree tree;
};

class grouped_cpu : public grouped_cpu_of<fair_class, eevdf_config> {
 public:
  explicit grouped_cpu(const eevdf_config& set = three_ms_slices(),
                       std::size_t tasks_at_once = default_tasks)
      : grouped_cpu_of(set, tasks_at_once) {}
};

class grouped_cfs_cpu : public grouped_cpu_of<cfs_class, cfs_config> {
 public:
  explicit grouped_cfs_cpu(const cfs_config& set = {}, std::size_t tasks_at_once = default_tasks)
      : grouped_cpu_of(set, tasks_at_once) {}
};

}  // namespace vlag::test

// SPDX-License-Identifier: Apache-2.0
//
// What a machine looks like at one moment: its queues and tasks, copied, for reports to read. Field
// names are those of the kernel's scheduler debug file where it has them. Times are ns; virtual
// times wrap (entity.hpp).
#pragma once

#include "vlag/features.hpp"
#include "vlag/group.hpp"
#include "vlag/weight.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace vlag {

class fair_class;
class cfs_class;
struct fair_level;
struct cfs_level;

// Something that waits or runs on a queue: a task, or a group that stands for its tasks.
struct entity_name {
  bool is_group = false;
  std::uint64_t id = 0;  // the task's number, or the group's id
  std::int32_t pid = 0;  // tasks
  std::string name;      // of the task; the path of the group
};

struct entity_view : entity_name {
  std::uint64_t vruntime = 0;
  std::uint64_t deadline = 0;  // EEVDF
  std::uint64_t slice_ns = 0;  // CFS: its share of the period
  load_weight weight;
  std::uint64_t sum_exec_ns = 0;
  std::uint64_t ran_ns = 0;  // since it took the CPU; 0 unless running
  std::int64_t lag = 0;      // on the queue: V - vruntime, virtual ns; off it: what was kept
  bool queued = false;
  bool running = false;
  bool eligible = false;         // vruntime <= V
  bool protected_slice = false;  // it may use up its request before others are looked at
  bool delayed = false;          // asleep, but queued until its lag is worked off
  bool custom_slice = false;
  bool idle = false;        // SCHED_IDLE, or a group marked idle
  bool next_buddy = false;  // EEVDF: the buddy
  bool last_buddy = false;  // CFS only, as skip
  bool skip_buddy = false;
};

struct queue_view {
  fair_engine engine = fair_engine::eevdf;
  std::uint64_t group = 0;  // id; the root's is 0
  std::string path = "/";
  std::uint32_t depth = 0;
  std::uint32_t nr_queued = 0;  // entities
  std::uint32_t h_nr_queued = 0;
  std::uint32_t h_nr_runnable = 0;
  std::uint32_t h_nr_idle = 0;
  std::uint64_t reference = 0;         // zero_vruntime; CFS: min_vruntime
  std::uint64_t average_vruntime = 0;  // V; EEVDF
  std::uint64_t load = 0;              // sum of full weights
  bool throttled = false;
  // The running one first if it is queued, then the waiting ones in their order: by deadline, CFS
  // by vruntime.
  std::vector<entity_view> entities;
};

enum class task_phase : std::uint8_t { unborn, blocked, runnable, running, gone };

struct task_view {
  entity_view entity;
  task_phase phase = task_phase::blocked;
  unsigned cpu = 0;
  bool in_fair_class = true;
  int prio = 120;  // as the kernel counts it: 100 .. 139 for nice -20 .. 19, below for real time
  int latency_nice = 0;
  std::uint64_t switches = 0;
  std::uint64_t wait_sum_ns = 0;   // runnable without the CPU; a wait under way counts so far
  std::uint64_t sleep_sum_ns = 0;  // likewise
  std::string group_path = "/";
};

struct cpu_view {
  unsigned number = 0;
  std::uint64_t clock_ns = 0;  // machine time at which the class was last told the time
  std::uint64_t switches = 0;
  bool idle = true;
  std::string current;  // the running task's name; empty: idle
  std::int32_t current_pid = 0;
  std::vector<queue_view> queues;  // the root's first, then in the order of the group tree
};

struct machine_snapshot {
  std::uint64_t at_ns = 0;
  fair_engine engine = fair_engine::eevdf;
  std::vector<cpu_view> cpus;
  std::vector<task_view> tasks;  // in ascending pid
};

// Copies; names and paths are left to who knows them. O(n log n).
[[nodiscard]] queue_view view_of(const fair_class& fair, const fair_level& level);
[[nodiscard]] queue_view view_of(const cfs_class& fair, const cfs_level& level);
// Of the paper's policy: what is no matter of its queue.
[[nodiscard]] entity_view view_of(const task& t);
// On its queue, if it is on one.
[[nodiscard]] entity_view view_of(const fair_class& fair, const fair_level& level, const entity& e);
[[nodiscard]] entity_view view_of(const cfs_class& fair, const cfs_level& level, const entity& e);

}  // namespace vlag

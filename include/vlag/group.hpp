// SPDX-License-Identifier: Apache-2.0
//
// Task groups: a tree in which each group competes, as one entity with a weight, on the queue of
// its parent. What an embedding program sees of them; shared by both fair classes.
//
// A group exists once, with its attributes, and has one part per CPU: the entity that stands for
// it in its parent's queue there, and its own queue. The caller owns the group and the memory of
// its parts; nothing here allocates. A tree joins the classes of all CPUs that share its groups.
//
//   group_scheduler* cpus[] = {&fair};                 // a fair_class or a cfs_class per CPU
//   group_tree tree(cpus);
//   task_group web;
//   tree.create(web, tree.root(), memory);             // fair_class::required_storage(1, 1) bytes
//   web.set("cpu.weight", "300", now);
//   t.group = &web;
//   fair.fork(t, now);
//
// Attributes have the names, ranges and formats of the files of the cgroup v2 cpu controller (and
// cpu.shares of v1, and cpu.latency.nice, which no kernel has). A refused value changes nothing.
// Depth is bounded by nothing but memory; each operation costs O(log n) a level.
//
// Not thread safe: a tree and all its classes belong to one thread at a time.
// Source: task groups and CPU bandwidth of Linux 6.12 and 6.1.
#pragma once

#include "vlag/entity.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace vlag {

class group_tree;

// Why a group operation was refused, with the numbers of errno, negated.
enum class group_error : int {
  none = 0,
  no_such_file = -2,  // ENOENT: no attribute of that name
  no_memory = -12,    // ENOMEM: memory or a timeline storage is too small
  not_allowed = -13,  // EACCES: the attribute can only be read
  busy = -16,         // EBUSY: there are tasks or groups inside
  invalid = -22,      // EINVAL
  out_of_range = -34  // ERANGE
};

inline constexpr std::uint64_t no_quota = std::numeric_limits<std::uint64_t>::max();

// CPU time that a group may use: at most quota in each period, and what it did not use before, up
// to burst, on top. Exact ranges: task_group::set_bandwidth().
struct bandwidth_limit {
  std::uint64_t quota_ns = no_quota;
  std::uint64_t period_ns = 100'000'000;
  std::uint64_t burst_ns = 0;
};

// Tasks that join or leave a subtree, by what the queues above count. Unsigned: what leaves is
// counted by adding what wraps.
struct task_counts {
  std::uint32_t queued, runnable, delayed, idle;
};

// One CPU's part of a group, what both classes have of it. As an entity it stands for the group;
// entity::parent is then the part on whose queue it waits. The classes derive from it and add the
// group's own queue; the counters are of that queue.
//
// Invariant, outside of a call into the class: throttle_count is the number of throttled parts from
// this one up to the root.
struct group_part : entity {
  std::uint32_t depth = 0;      // of the own queue's entities: 0 on the root's
  task_group* group = nullptr;  // nullptr: the root part of a class that is in no tree
  // What the entity weighs (full) where load tracking divides the group's shares among CPUs: set by
  // who does that (pelt_queue.hpp, group_weight()), who then calls shares_changed(). 0: all shares.
  std::uint64_t shares_here = 0;
  // Tasks in the subtree: queued (delayed ones included), and how many of those are idle: of
  // SCHED_IDLE or in an idle group between them and this queue. The next two are EEVDF's.
  std::uint32_t h_nr_queued = 0;
  std::uint32_t h_nr_idle = 0;
  std::uint32_t h_nr_runnable = 0;
  std::uint32_t h_nr_delayed = 0;

  // Of a group with a quota: it is charged for its CPU time, and throttled when the time in hand is
  // used up and the pool has none.
  bool limited = false;
  bool throttled = false;
  std::uint32_t throttle_count = 0;
  std::int64_t remaining_ns = 0;         // CPU time in hand; below 0: overdrawn
  std::uint64_t throttled_since_ns = 0;  // of a throttled part: the class's time when it began

  [[nodiscard]] bool of_idle_group() const noexcept;
  // Requires: of a group.
  [[nodiscard]] std::uint64_t shares() const noexcept;
  // Counts a change on this queue, and makes it what the queue above has to count.
  void count_tasks(task_counts& change) noexcept {
    h_nr_queued += change.queued;
    h_nr_runnable += change.runnable;
    h_nr_delayed += change.delayed;
    h_nr_idle += change.idle;
    if (of_idle_group()) change.idle = change.queued;
  }
};

// What a fair class does for groups on its CPU. Called by group_tree and task_group only.
class group_scheduler {
 public:
  // The class becomes CPU `cpu` of a tree; root_part().group is then the tree's root.
  virtual void join_tree(task_group& root, unsigned cpu) noexcept = 0;
  [[nodiscard]] virtual group_part& root_part() noexcept = 0;
  [[nodiscard]] virtual std::size_t part_bytes() const noexcept = 0;

  // Makes the part of g in memory of part_bytes(), aligned to 64 bytes. nullptr: the timeline
  // storage of this CPU has no place for one more entity.
  [[nodiscard]] virtual group_part* make_part(void* memory, task_group& g,
                                              group_part& parent) noexcept = 0;
  // Requires: no task and no group is inside; not is_current(part).
  virtual void remove_part(group_part& part, std::uint64_t now_ns) noexcept = 0;
  // The part is what runs on its parent's queue (also between exit() and schedule()).
  [[nodiscard]] virtual bool is_current(const group_part& part) const noexcept = 0;

  // Attributes of part.group have changed. idle_changed() is told of queued parts only.
  virtual void idle_changed(group_part& part) noexcept = 0;
  virtual void shares_changed(group_part& part, std::uint64_t now_ns) noexcept = 0;
  virtual void latency_nice_changed(group_part& part, std::uint64_t now_ns) noexcept = 0;
  virtual void bandwidth_changed(group_part& part, std::uint64_t now_ns) noexcept = 0;
  [[nodiscard]] virtual bool is_throttled(const group_part& part) const noexcept = 0;
  // There is new CPU time in the group's pool: a throttled part may take what it needs to go on.
  // Requires: is_throttled(part).
  virtual void bandwidth_refilled(group_part& part, std::uint64_t now_ns) noexcept = 0;

 protected:
  ~group_scheduler() = default;
};

// State of a group's bandwidth that all its CPUs share.
struct bandwidth_pool {
  bandwidth_limit limit;
  std::uint64_t runtime_ns = 0;        // not yet handed out to a CPU
  bool idle = false;                   // nothing was handed out in this period
  bool period_active = false;          // the period goes on by itself
  bool timer_armed = false;            // the host is to call period_timer()
  std::uint64_t timer_expires_ns = 0;  // at this time
  std::uint64_t nr_periods = 0;
  std::uint64_t nr_throttled = 0;  // periods at whose end the group was throttled
  std::uint64_t throttled_ns = 0;  // on all CPUs together, up to the last end of a throttling
};

// What a text read gave: the first `size` bytes of the buffer, if there was no error.
struct group_text {
  group_error error;
  std::size_t size;
};

class task_group {
 public:
  task_group() noexcept = default;
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;

  std::uint64_t id = 0;  // for the owner; no decision reads it

  // nullptr: the root, or in no tree.
  [[nodiscard]] task_group* parent() const noexcept { return parent_; }
  [[nodiscard]] group_tree* tree() const noexcept { return tree_; }
  [[nodiscard]] bool is_root() const noexcept { return tree_ != nullptr && parent_ == nullptr; }
  [[nodiscard]] task_group* first_child() const noexcept { return first_child_; }
  [[nodiscard]] task_group* next_sibling() const noexcept { return next_sibling_; }
  // Tasks of the group itself, asleep or not, on all CPUs. Kept by the classes.
  [[nodiscard]] std::uint32_t nr_tasks() const noexcept { return nr_tasks_; }
  [[nodiscard]] group_part& part(unsigned cpu) const noexcept;

  [[nodiscard]] std::uint64_t shares() const noexcept { return shares_; }  // a full weight
  [[nodiscard]] bool idle() const noexcept { return idle_; }
  [[nodiscard]] int latency_nice() const noexcept { return latency_nice_; }
  [[nodiscard]] const bandwidth_pool& bandwidth() const noexcept { return bandwidth_; }

  // Typed writes. The root: invalid, always. Requires: the group is in a tree. O(CPUs * depth *
  // log n).
  group_error set_weight(std::uint64_t weight, std::uint64_t now_ns) noexcept;     // 1 .. 10000
  group_error set_weight_nice(std::int64_t nice, std::uint64_t now_ns) noexcept;   // -20 .. 19
  group_error set_shares(std::uint64_t shares, std::uint64_t now_ns) noexcept;     // clamped
  group_error set_idle(std::int64_t idle, std::uint64_t now_ns) noexcept;          // 0 or 1
  group_error set_latency_nice(std::int64_t nice, std::uint64_t now_ns) noexcept;  // -20 .. 19
  // quota >= 1 ms or no_quota; 1 ms <= period <= 1 s; with a quota burst <= quota, and both
  // together at most 2^44 - 1 us.
  group_error set_bandwidth(const bandwidth_limit& limit, std::uint64_t now_ns) noexcept;

  // The same by the name of a file, with the text that would be written to it ("300", "max",
  // "50000 100000"), spaces around allowed: cpu.weight, cpu.weight.nice, cpu.shares, cpu.idle,
  // cpu.latency.nice, cpu.max, cpu.max.burst. In cpu.max a period left out stays as it is.
  group_error set(std::string_view file, std::string_view text, std::uint64_t now_ns) noexcept;
  // What reading the file gives, without its line end; also cpu.stat (several lines).
  // out_of_range: the buffer is too small; 128 bytes are enough for all.
  [[nodiscard]] group_text get(std::string_view file, std::span<char> buffer) const noexcept;

  // The host's timer: to be called at bandwidth().timer_expires_ns while timer_armed, or later.
  // Does nothing unless it is due.
  void period_timer(std::uint64_t now_ns) noexcept;

 private:
  friend class group_tree;
  friend class fair_class;
  friend class cfs_class;
  template <typename Class, typename Level>
  friend struct bandwidth_rules;

  group_error change_shares(std::uint64_t small, std::uint64_t now_ns) noexcept;
  void apply_shares(std::uint64_t full, std::uint64_t now_ns) noexcept;
  void count_idle(group_part& part, group_scheduler& cpu) const noexcept;
  void start_period_timer(std::uint64_t now_ns) noexcept;
  void stop_period_timer() noexcept;
  std::uint64_t forward_period(std::uint64_t now_ns) noexcept;
  [[nodiscard]] bool hand_out(std::uint64_t now_ns) noexcept;
  void refill() noexcept;
  [[nodiscard]] bool fetch_runtime(group_part& part, std::int64_t target_ns,
                                   std::uint64_t now_ns) noexcept;
  void take_refill(group_part& part) noexcept;
  void give_back_runtime(group_part& part) noexcept;

  task_group* parent_ = nullptr;
  task_group* first_child_ = nullptr;
  task_group* next_sibling_ = nullptr;
  group_tree* tree_ = nullptr;
  std::byte* parts_ = nullptr;   // one behind the other; nullptr: the root
  std::size_t part_stride_ = 0;  // bytes
  std::uint64_t shares_ = nice_0_weight;
  std::uint32_t nr_tasks_ = 0;
  bool idle_ = false;
  std::int8_t latency_nice_ = 0;
  bandwidth_pool bandwidth_;
};

class group_tree {
 public:
  // cpus: the class of each CPU, all of one kind. Requires: the classes hold no task, are in no
  // other tree, and live as long as the tree; so does the array. Once the tree is gone the classes
  // must not be called any more.
  explicit group_tree(std::span<group_scheduler* const> cpus) noexcept;
  group_tree(const group_tree&) = delete;
  group_tree& operator=(const group_tree&) = delete;

  [[nodiscard]] task_group& root() noexcept { return root_; }
  [[nodiscard]] std::span<group_scheduler* const> cpus() const noexcept { return cpus_; }

  // Bytes that the parts of one group take, all CPUs together; aligned to 64 bytes.
  [[nodiscard]] std::size_t required_bytes() const noexcept;

  // g becomes an empty group inside parent, with the default attributes. memory belongs to it until
  // destroy(). Besides, each CPU's timeline storage must have a place for the group's entity and
  // blocks for its queue: size it for so many tasks and groups over 1 + groups timelines.
  // invalid: g is in a tree, or parent is not in this one. no_memory: see above.
  group_error create(task_group& g, task_group& parent, std::span<std::byte> memory) noexcept;

  // g leaves the tree. busy: there are tasks or groups inside, or its last task has exited but
  // schedule() was not called yet. invalid: the root, or not in this tree.
  group_error destroy(task_group& g, std::uint64_t now_ns) noexcept;

  // When the next period timer of any group is due; UINT64_MAX: none is armed. O(groups).
  [[nodiscard]] std::uint64_t next_timer_ns() const noexcept;
  // Runs all that are due, in the order of the tree. O(groups).
  void run_timers(std::uint64_t now_ns) noexcept;

 private:
  std::span<group_scheduler* const> cpus_;
  task_group root_;
};

// The next group in the order of the tree (a group, then its children), nullptr at the end; the
// walk stays below `top`.
[[nodiscard]] task_group* next_in_tree(const task_group& at, const task_group& top) noexcept;

// A task, or the part of a group, counts as idle: SCHED_IDLE, or cpu.idle of that very group.
[[nodiscard]] inline bool is_idle(const entity& e) noexcept {
  if (!e.is_group) return static_cast<const task&>(e).policy == sched_policy::idle;
  return static_cast<const group_part&>(e).of_idle_group();
}

inline bool group_part::of_idle_group() const noexcept { return group != nullptr && group->idle(); }

inline std::uint64_t group_part::shares() const noexcept {
  return shares_here != 0 ? shares_here : group->shares();
}

}  // namespace vlag

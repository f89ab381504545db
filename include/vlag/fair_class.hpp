// SPDX-License-Identifier: Apache-2.0
//
// The EEVDF fair class on one CPU: which task runs next, and when the running one must give way.
// Tasks may be in groups (group.hpp); without any there is one queue.
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
//   fair_class fair(config, storage);          // both the caller's: see examples/tenants
//   set_initial_attributes(a, sched_policy::normal, 0);                  // and so b
//   if (!fair.fork(a, now) || !fair.fork(b, now)) ...                   // the storage is full
//   task* running = fair.schedule(now);          // a
//   fair.tick(now + 4'000'000);
//   if (fair.need_resched()) running = fair.schedule(now + 4'000'000);   // b
//
// Not thread safe: one class, one thread at a time.
#pragma once

#include "vlag/entity.hpp"
#include "vlag/fair_level.hpp"
#include "vlag/features.hpp"
#include "vlag/group.hpp"
#include "vlag/run_queue.hpp"
#include "vlag/timeline.hpp"

#include <cstddef>
#include <cstdint>

namespace vlag {

template <typename Class, typename Level>
struct bandwidth_rules;

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
  moved_while_running,   // the running task changed its group: resched
  out_of_bandwidth,      // the running task's group, or one above, used up its quota: resched
  group_throttled,       // a group is off the queue until its bandwidth is refilled
  group_unthrottled,     // and now it is back
  tick_repicks,          // a tick found that another would be picked: resched
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

// Called at each decision with the entity that it is about, which may be a group's (is_group). Must
// not call back into the class.
using decision_hook = void (*)(void* context, decision what, const entity& who);

// Called before each choice from a queue, when time was accounted and everything that the choice
// depends on stands: with the part of the group whose queue it is. One schedule() may choose
// several times: on each level down to a task, and again from the root after a delayed entity has
// left. Must not call back into the class, and observe const.
using choice_hook = void (*)(void* context, const fair_level& level);

class fair_class final : public group_scheduler {
 public:
  // Bytes for the parts of so many groups on so many CPUs (group_tree::create takes those of one).
  // Besides, each CPU's timeline storage must be sized for tasks and groups over 1 + groups
  // timelines.
  [[nodiscard]] static constexpr std::size_t required_storage(std::size_t groups,
                                                              std::size_t cpus) noexcept {
    return groups * cpus * sizeof(fair_level);
  }

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

  // Attribute changes, on a task in any state. Requires: values in range.
  void set_nice(task& t, int nice, std::uint64_t now_ns) noexcept;
  // 0: follow the base slice. Otherwise clamped to 0.1 .. 100 ms. False: nothing changes.
  bool set_slice(task& t, std::uint64_t slice_ns, std::uint64_t now_ns) noexcept;
  // Policy, nice and slice together. False: nothing changes.
  bool set_attributes(task& t, sched_policy policy, int nice, std::uint64_t slice_ns,
                      std::uint64_t now_ns, slice_origin origin = slice_origin::own) noexcept;
  // A weight of no nice level, in place (what groups do). Requires: full_weight != 0.
  void reweight(task& t, std::uint64_t full_weight, std::uint64_t now_ns) noexcept;

  // The task goes to another group, in any state; its lag goes with it. nullptr: the root.
  // Requires: the group is in the tree of this class. O(depth * log n).
  void move(task& t, task_group* group, std::uint64_t now_ns) noexcept;

  // The running task, also between block() and schedule(); nullptr: idle or a higher class.
  [[nodiscard]] task* current() const noexcept { return running_; }
  // The CPU should call schedule() at its next chance.
  [[nodiscard]] bool need_resched() const noexcept { return need_resched_; }
  void set_need_resched() noexcept { need_resched_ = true; }

  // ns of CPU time until the running task's request ends, 0 when overdue; for a one-shot timer.
  // UINT64_MAX when nobody runs or nobody else waits.
  [[nodiscard]] std::uint64_t time_to_request_end() const noexcept;

  // Who would be picked now, no time passing; may name a delayed task. nullptr: the queue is empty,
  // a delayed group would be picked, or sums wrapped so far that nobody is eligible (schedule()
  // then takes the first in order).
  [[nodiscard]] const task* peek() noexcept;
  [[nodiscard]] const task* buddy() const noexcept;

  // Tasks on the queues without and with the delayed ones (running included in both), throttled
  // groups left out.
  [[nodiscard]] std::uint32_t nr_runnable() const noexcept { return root_.h_nr_runnable; }
  [[nodiscard]] std::uint32_t nr_queued() const noexcept { return root_.h_nr_queued; }
  [[nodiscard]] std::uint32_t nr_delayed() const noexcept { return root_.h_nr_delayed; }

  // The same on one group's queue (nullptr: the root); a task, or the entity of a group inside.
  [[nodiscard]] const entity* peek_in(const task_group* group) noexcept {
    return level_for(group).queue.pick();
  }
  // The shortest slice on that queue, running one included; UINT64_MAX when it is empty.
  [[nodiscard]] std::uint64_t min_slice(const task_group* group = nullptr) noexcept {
    return level_for(group).queue.min_slice();
  }

  // Times at which sums wrapped and the answer is ours, not the reference's, on any queue of a
  // group that still exists.
  [[nodiscard]] std::uint64_t anomalies() const noexcept;

  [[nodiscard]] const eevdf_config& config() const noexcept { return *config_; }
  // The root's queue, and the part of a group on this CPU (nullptr: the root).
  [[nodiscard]] const run_queue& queue() const noexcept { return root_.queue; }
  [[nodiscard]] const fair_level& level(const task_group* group = nullptr) const noexcept;
  // Where virtual time starts; 2^64 - 2^20 otherwise. Requires: the class is empty.
  void start_at(std::uint64_t reference) noexcept { root_.queue.start_at(reference); }

  void set_decision_hook(decision_hook hook, void* context) noexcept {
    hook_ = hook;
    hook_context_ = context;
  }
  void set_choice_hook(choice_hook hook, void* context) noexcept {
    choice_hook_ = hook;
    choice_context_ = context;
  }

  // For group_tree and task_group: see group.hpp.
  void join_tree(task_group& root, unsigned cpu) noexcept override;
  [[nodiscard]] group_part& root_part() noexcept override { return root_; }
  [[nodiscard]] std::size_t part_bytes() const noexcept override { return sizeof(fair_level); }
  [[nodiscard]] group_part* make_part(void* memory, task_group& g,
                                      group_part& parent) noexcept override;
  void remove_part(group_part& part, std::uint64_t now_ns) noexcept override;
  [[nodiscard]] bool is_current(const group_part& part) const noexcept override;
  void idle_changed(group_part& part) noexcept override;
  void shares_changed(group_part& part, std::uint64_t now_ns) noexcept override;
  void latency_nice_changed(group_part& part, std::uint64_t now_ns) noexcept override;
  void bandwidth_changed(group_part& part, std::uint64_t now_ns) noexcept override;
  void bandwidth_refilled(group_part& part, std::uint64_t now_ns) noexcept override;
  [[nodiscard]] bool is_throttled(const group_part& part) const noexcept override;

 private:
  struct interrupted {  // what a task was doing when a change of its attributes took it out
    bool queued;
    bool running;
  };
  // Why an entity leaves its queue, and what that permits.
  enum class leaving : std::uint8_t {
    to_sleep,        // may be delayed
    for_good,        // never delayed: an exit, a throttled group
    to_be_changed,   // comes back at once
    delay_complete,  // was delayed, and leaves now
  };
  enum class entry : std::uint8_t { forked, woken, changed };

  void tell(decision what, const entity& who) const noexcept {
    if (hook_ != nullptr) hook_(hook_context_, what, who);
  }
  void reschedule(decision why, const entity& who) noexcept;
  [[nodiscard]] fair_level& level_for(const task_group* group) noexcept;
  void leave_for_good(task& t, std::uint64_t now_ns) noexcept;
  void check_preemption(task& woken, entry how, std::uint64_t now_ns) noexcept;
  [[nodiscard]] bool shorter_request_wins(const run_queue& queue, const entity& woken,
                                          const entity& running) const noexcept;

  // One queue (fair_tree.cpp).
  // Charges what runs on the queue for the time since it was last charged.
  void account_queue(fair_level& level, std::uint64_t now_ns) noexcept {
    const entity* c = level.queue.current();
    if (c != nullptr && before(c->exec_start_ns, now_ns)) charge_time(level, now_ns);
  }
  void charge_time(fair_level& level, std::uint64_t now_ns) noexcept;
  // Kept out of charge_time(), which is inlined wherever it is called.
  [[gnu::noinline]] void give_way(const entity& running, run_queue::verdict why) noexcept;
  // Kept out of the tick of the profiles that do not ask for it.
  [[gnu::noinline]] void repick() noexcept;
  void enqueue_entity(entity& e, placement how, std::uint64_t now_ns) noexcept;
  [[nodiscard]] bool dequeue_entity(entity& e, leaving why, std::uint64_t now_ns) noexcept;
  void put(fair_level& level, entity& e, std::uint64_t now_ns) noexcept;
  void set(fair_level& level, entity& e, std::uint64_t now_ns) noexcept;
  void refresh_weight(entity& e, std::uint64_t now_ns) noexcept;
  [[nodiscard]] std::uint64_t slice_of_group(const entity& e,
                                             std::uint64_t shortest_inside_ns) const noexcept;

  // The tree (fair_tree.cpp).
  [[nodiscard]] static placement placement_of(entry how) noexcept;
  void enqueue(task& t, entry how, std::uint64_t now_ns) noexcept;
  bool dequeue(entity& e, leaving why, std::uint64_t now_ns) noexcept;
  void refresh_ancestors(entity& group_entity, task_counts change, std::uint64_t now_ns) noexcept;
  void refresh_ancestors(entity& group_entity, std::uint64_t shortest_ns, task_counts change,
                         std::uint64_t now_ns) noexcept;
  static void count_runnable(const entity& e, std::uint32_t tasks) noexcept;
  void begin_delay(entity& e) noexcept;
  static void count_end_of_delay(const entity& e) noexcept;
  void requeue_delayed(entity& e) noexcept;
  void nominate(entity& e) noexcept;
  void drop_buddy(const entity& e) noexcept {
    if (level_of(e).queue.buddy() == &e) drop_buddies(e);
  }
  static void drop_buddies(const entity& e) noexcept;
  [[nodiscard]] task* pick(std::uint64_t now_ns) noexcept;
  void complete_delayed(entity& e, std::uint64_t now_ns) noexcept;
  void switch_tasks(task& previous, task& next, std::uint64_t now_ns) noexcept;
  void put_all(task& t, std::uint64_t now_ns) noexcept;
  void set_all(task& t, std::uint64_t now_ns) noexcept;

  // Attributes (fair_attributes.cpp).
  [[nodiscard]] interrupted take_out(task& t, std::uint64_t now_ns) noexcept;
  void put_back(task& t, interrupted was, std::uint64_t now_ns) noexcept;
  void apply_weight(task& t) noexcept;
  // Of another slice than the base slice, by its origin.
  [[nodiscard]] bool may_have_slice(const task& t) const noexcept {
    return config_->features.has(t.latency_slice ? feature::latency_slice : feature::own_slice);
  }
  void apply_slice(task& t, std::uint64_t slice_ns, slice_origin origin) const noexcept;
  void priority_changed(task& t, int old_nice, std::uint64_t now_ns) noexcept;

  // Bandwidth (bandwidth_rules.hpp). level.limited is false for nearly everyone.
  template <typename Class, typename Level>
  friend struct bandwidth_rules;
  using bandwidth = bandwidth_rules<fair_class, fair_level>;
  void leave_throttled(entity& e, std::uint64_t now_ns) noexcept;
  [[nodiscard]] bool join_unthrottled(entity& e, std::uint64_t now_ns) noexcept;

  fair_level root_;
  task* running_ = nullptr;
  const eevdf_config* config_;
  timeline_storage* storage_;
  unsigned cpu_ = 0;
  decision_hook hook_ = nullptr;
  void* hook_context_ = nullptr;
  choice_hook choice_hook_ = nullptr;
  void* choice_context_ = nullptr;
  bool need_resched_ = false;
  bool higher_class_runs_ = false;
};

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// The operations of the CFS class. What they do to the tree of queues is in cfs_tree.cpp.
#include "vlag/cfs_class.hpp"

#include "core/tree_walk.hpp"
#include "vlag/weight.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace vlag {

cfs_class::cfs_class(const cfs_config& config, timeline_storage& storage) noexcept
    : root_(config, storage), config_(&config), storage_(&storage) {}

void cfs_class::read_clock(std::uint64_t now_ns) noexcept {
  clock_ns_ = std::max(clock_ns_, now_ns);
}

void cfs_class::set_decision_hook(decision_hook hook, void* context) noexcept {
  hook_ = hook;
  hook_context_ = context;
}

void cfs_class::tell(decision what, const entity& who) const noexcept {
  if (hook_ != nullptr) hook_(hook_context_, what, who);
}

void cfs_class::reschedule(decision what, const entity& who) noexcept {
  need_resched_ = true;
  tell(what, who);
}

// ---- Joining, waking, leaving

cfs_level& cfs_class::level_for(const task_group* group) noexcept {
  return group == nullptr ? root_ : static_cast<cfs_level&>(group->part(cpu_));
}

const cfs_level& cfs_class::level(const task_group* group) const noexcept {
  return group == nullptr ? root_ : static_cast<const cfs_level&>(group->part(cpu_));
}

void cfs_class::adopt(task& t) noexcept {
  cfs_level& level = level_for(t.group);
  t.parent = &level;
  if (level.group != nullptr) ++level.group->nr_tasks_;
}

bool cfs_class::fork(task& t, std::uint64_t now_ns) noexcept {
  if (!place_new(t, now_ns)) return false;
  enqueue_new(t, now_ns);
  return true;
}

bool cfs_class::place_new(task& t, std::uint64_t now_ns) noexcept {
  assert(!t.queued);
  if (!storage_->reserve_place()) return false;
  read_clock(now_ns);
  adopt(t);
  t.exec_start_ns = 0;
  t.sum_exec_ns = 0;
  t.prev_sum_exec_ns = 0;
  place_child(t);
  return true;
}

// Without a parent the child starts from 0, which is ahead of everybody once min_vruntime has
// passed 2^63: the reference's answer, kept.
void cfs_class::place_child(task& child) noexcept {
  cfs_level& level = running_ == nullptr ? root_ : cfs_level_of(*running_);
  child.vruntime = 0;
  if (running_ != nullptr) {
    account_queue(level);
    child.vruntime = running_->vruntime;
  }
  level.queue.place_new(child, slice_on(level.queue, child));
  if (config_->child_runs_first && running_ != nullptr &&
      before(running_->vruntime, child.vruntime)) {
    std::swap(running_->vruntime, child.vruntime);
    reschedule(decision::child_runs_first, child);
  }
  child.vruntime -= level.queue.min_vruntime();
}

void cfs_class::enqueue_new(task& t, std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  enqueue(t, entry::relative);
  preempt_for(t, wake_kind::fork);
}

bool cfs_class::join_asleep(task& t, std::uint64_t now_ns) noexcept {
  assert(!t.queued);
  if (!storage_->reserve_place()) return false;
  read_clock(now_ns);
  adopt(t);
  t.vruntime += cfs_level_of(t).queue.min_vruntime();
  if (t.exec_start_ns == 0) t.exec_start_ns = clock_ns_;
  return true;
}

void cfs_class::wake(task& t, std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  if (t.queued) return;
  enqueue(t, entry::woken);
  preempt_for(t, wake_kind::wakeup);
}

void cfs_class::wake_queued(task& t, std::uint64_t now_ns) noexcept {
  assert(t.queued);
  read_clock(now_ns);
  preempt_for(t, wake_kind::wakeup);
}

bool cfs_class::block(std::uint64_t now_ns) noexcept {
  assert(running_ != nullptr);
  read_clock(now_ns);
  dequeue(*running_, kept_vruntime::absolute, floor_update::advance);
  return false;
}

void cfs_class::leave_for_good(task& t) noexcept {
  if (t.queued) dequeue(t, kept_vruntime::absolute, floor_update::advance);
  if (task_group* group = t.parent->group; group != nullptr) --group->nr_tasks_;
  storage_->release_place();
}

void cfs_class::exit(std::uint64_t now_ns) noexcept {
  assert(running_ != nullptr);
  read_clock(now_ns);
  leave_for_good(*running_);
}

void cfs_class::remove(task& t, std::uint64_t now_ns) noexcept {
  assert(&t != running_);
  read_clock(now_ns);
  leave_for_good(t);
  t.vruntime -= cfs_level_of(t).queue.min_vruntime();
}

// ---- Who runs

void cfs_class::yield_cpu_to_higher_class(std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  if (running_ != nullptr) put_all(*running_);
  running_ = nullptr;
  need_resched_ = false;
  higher_class_runs_ = true;
}

void cfs_class::account(std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  if (running_ != nullptr) account_queue(cfs_level_of(*running_));
}

const task* cfs_class::peek() const noexcept {
  const entity* e = root_.queue.pick();
  while (e != nullptr && e->is_group) e = static_cast<const cfs_level&>(*e).queue.pick();
  return static_cast<const task*>(e);
}

// ---- Wake-up preemption

void cfs_class::preempt_for(task& woken_task, wake_kind kind) noexcept {
  if (higher_class_runs_) return;
  if (running_ == nullptr) return reschedule(decision::cpu_was_idle, woken_task);
  if (&woken_task == running_ || woken_task.parent->throttle_count != 0) return;

  const bool crowded = cfs_level_of(*running_).queue.nr_queued() >= config_->nr_latency;
  const bool nominated =
      crowded && kind == wake_kind::wakeup && config_->features.has(feature::next_buddy);
  if (nominated) nominate_next(woken_task);
  if (need_resched_) return;

  entity* running = running_;
  entity* woken = &woken_task;
  decision reason = decision::idle_policy_yields;
  // The policies of the tasks are asked before those of the groups they are in.
  if (!is_idle(*running) || is_idle(*woken)) {
    if (woken_task.policy != sched_policy::normal) return;
    if (!config_->features.has(feature::wakeup_preemption)) return;
    lift_to_siblings(running, woken);
    const bool runs_idle = is_idle(*running);
    if (!runs_idle && is_idle(*woken)) return;
    if (!runs_idle || is_idle(*woken)) {
      cfs_level& level = cfs_level_of(*running);
      account_queue(level);
      if (!level.queue.far_behind(*woken, *running)) return;
      if (!nominated) nominate_next(*woken);
      reason = decision::wakeup_preempts;
    }
  }
  reschedule(reason, woken_task);
  if (crowded && running == running_ && config_->features.has(feature::last_buddy)) {
    nominate_last(*running);
  }
}

// ---- Yield

void cfs_class::yield(std::uint64_t now_ns) noexcept {
  assert(running_ != nullptr);
  read_clock(now_ns);
  if (root_.h_nr_queued == 1) return;
  drop_buddies(*running_);
  if (running_->policy != sched_policy::batch) account_queue(cfs_level_of(*running_));
  skip_once(*running_);
}

bool cfs_class::yield_to(task& t, std::uint64_t now_ns) noexcept {
  if (!t.queued || t.parent->throttle_count != 0) return false;
  nominate_next(t);
  yield(now_ns);
  return true;
}

// ---- Attributes

void cfs_class::set_nice(task& t, int nice, std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  if (nice == t.static_nice) return;
  const int old_nice = t.prio_nice;
  change(t, {t.policy, nice, nice}, floor_update::hold);
  priority_changed(t, old_nice);
}

bool cfs_class::set_slice(task&, std::uint64_t, std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  return false;
}

bool cfs_class::set_attributes(task& t, sched_policy policy, int nice, std::uint64_t,
                               std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  const bool same_nice = policy == sched_policy::idle || nice == t.static_nice;
  if (policy == t.policy && same_nice) return false;
  const int old_nice = t.prio_nice;
  const int static_nice = policy == sched_policy::idle ? t.static_nice : nice;
  change(t, {policy, static_nice, nice},
         nice != old_nice ? floor_update::advance : floor_update::hold);
  if (nice != old_nice) priority_changed(t, old_nice);
  return true;
}

void cfs_class::carry_slice(task& t, std::uint64_t slice_ns) noexcept {
  t.custom_slice = slice_ns != 0;
  t.slice_ns = slice_ns;
  if (!t.queued) return;
  cfs_queue& queue = cfs_level_of(t).queue;
  if (queue.current() != &t) queue.slice_changed(t);
}

cfs_class::interrupted cfs_class::take_out(task& t, floor_update floor) noexcept {
  const interrupted was{t.queued, &t == running_};
  if (was.queued) dequeue(t, kept_vruntime::relative, floor);
  if (was.running) put_all(t);
  return was;
}

void cfs_class::put_in(task& t, interrupted was) noexcept {
  if (was.queued) enqueue(t, entry::relative);
  if (was.running) set_all(t);
}

// Takes t off, changes it and puts it back: a queued task goes behind its equals, a running one
// starts a new share. Groups that it leaves empty are placed anew, as sleepers.
void cfs_class::change(task& t, attributes to, floor_update floor) noexcept {
  const interrupted was = take_out(t, floor);
  t.policy = to.policy;
  t.static_nice = static_cast<std::int8_t>(to.static_nice);
  t.prio_nice = static_cast<std::int8_t>(to.prio_nice);
  t.weight =
      to.policy == sched_policy::idle ? weight_of_idle_policy() : weight_of_nice(to.static_nice);
  put_in(t, was);
}

void cfs_class::priority_changed(task& t, int old_nice) noexcept {
  if (!t.queued || root_.queue.nr_queued() == 1) return;
  if (&t != running_) return preempt_for(t, wake_kind::wakeup);
  if (t.prio_nice > old_nice) reschedule(decision::priority_changed, t);
}

void cfs_class::reweight(task& t, std::uint64_t full_weight, std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  cfs_level& level = cfs_level_of(t);
  if (level.limited && t.queued && level.queue.current() == &t) account_queue(level);
  level.queue.reweight(t, full_weight, clock_ns_);
}

void cfs_class::move(task& t, task_group* group, std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  cfs_level& from = cfs_level_of(t);
  cfs_level& to = level_for(group);
  const interrupted was = take_out(t, floor_update::advance);
  const bool relative = was.queued || t.sum_exec_ns == 0;
  if (!relative) {
    from.queue.place_woken(t, kind_of(t), clock_ns_);
    t.vruntime -= from.queue.min_vruntime();
  }
  if (from.group != nullptr) --from.group->nr_tasks_;
  if (to.group != nullptr) ++to.group->nr_tasks_;
  t.group = group;
  t.parent = &to;
  if (!relative) t.vruntime += to.queue.min_vruntime();
  put_in(t, was);
  if (was.running) reschedule(decision::moved_while_running, t);
}

// ---- What is shown

std::uint64_t cfs_class::slice_of(const entity& e) const noexcept {
  return slice_on(cfs_level_of(e).queue, e);
}

std::uint64_t cfs_class::time_to_request_end() const noexcept {
  std::uint64_t least_ns = std::numeric_limits<std::uint64_t>::max();
  if (running_ == nullptr || !running_->queued) return least_ns;
  for (const entity* e = running_; e->parent != nullptr; e = e->parent) {
    if (cfs_level_of(*e).queue.nr_queued() <= 1) continue;
    // The levels above may not have been charged for what the task was.
    const std::int64_t behind_ns = signed_difference(running_->exec_start_ns, e->exec_start_ns);
    const std::uint64_t ran_ns = e->sum_exec_ns - e->prev_sum_exec_ns +
                                 static_cast<std::uint64_t>(std::max<std::int64_t>(behind_ns, 0));
    const std::uint64_t slice_ns = slice_of(*e);
    least_ns = std::min(least_ns, slice_ns > ran_ns ? slice_ns - ran_ns : 0);
  }
  return least_ns;
}

std::uint64_t cfs_class::anomalies() const noexcept {
  std::uint64_t sum = root_.queue.anomalies();
  if (root_.group == nullptr) return sum;
  for (const task_group* g = next_in_tree(*root_.group, *root_.group); g != nullptr;
       g = next_in_tree(*g, *root_.group)) {
    sum += level(g).queue.anomalies();
  }
  return sum;
}

}  // namespace vlag

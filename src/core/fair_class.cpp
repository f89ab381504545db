// SPDX-License-Identifier: Apache-2.0
//
// The operations of the EEVDF class. What they do to the tree of queues is in fair_tree.cpp.
#include "vlag/fair_class.hpp"

#include "core/mutant.hpp"
#include "core/tree_walk.hpp"

#include <limits>

namespace vlag {

fair_class::fair_class(const eevdf_config& config, timeline_storage& storage) noexcept
    : root_(config, storage), config_(&config), storage_(&storage) {}

void fair_class::reschedule(decision why, const entity& who) noexcept {
  need_resched_ = true;
  tell(why, who);
}

// ---- Joining, waking, leaving

fair_level& fair_class::level_for(const task_group* group) noexcept {
  return group == nullptr ? root_ : static_cast<fair_level&>(group->part(cpu_));
}

const fair_level& fair_class::level(const task_group* group) const noexcept {
  return group == nullptr ? root_ : static_cast<const fair_level&>(group->part(cpu_));
}

bool fair_class::join_asleep(task& t, std::uint64_t) noexcept {
  if (!storage_->reserve_place()) return false;
  fair_level& level = level_for(t.group);
  t.parent = &level;
  if (level.group != nullptr) ++level.group->nr_tasks_;
  t.queued = false;
  t.sched_delayed = false;
  t.rel_deadline = false;
  t.custom_slice = t.custom_slice && may_have_slice(t);
  return true;
}

bool fair_class::fork(task& t, std::uint64_t now_ns) noexcept {
  if (!join_asleep(t, now_ns)) return false;
  t.vruntime = 0;
  t.vlag = 0;
  t.sum_exec_ns = 0;
  t.prev_sum_exec_ns = 0;
  enqueue(t, entry::forked, now_ns);
  check_preemption(t, entry::forked, now_ns);
  return true;
}

void fair_class::wake(task& t, std::uint64_t now_ns) noexcept {
  if (!t.queued) {
    enqueue(t, entry::woken, now_ns);
  } else if (t.sched_delayed) {
    requeue_delayed(t);
  } else {
    return;
  }
  check_preemption(t, entry::woken, now_ns);
}

bool fair_class::block(std::uint64_t now_ns) noexcept {
  return dequeue(*running_, leaving::to_sleep, now_ns);
}

void fair_class::leave_for_good(task& t, std::uint64_t now_ns) noexcept {
  if (t.queued) {
    dequeue(t, t.sched_delayed ? leaving::delay_complete : leaving::for_good, now_ns);
  }
  if (task_group* group = level_of(t).group; group != nullptr) --group->nr_tasks_;
  storage_->release_place();
}

void fair_class::exit(std::uint64_t now_ns) noexcept { leave_for_good(*running_, now_ns); }
void fair_class::remove(task& t, std::uint64_t now_ns) noexcept { leave_for_good(t, now_ns); }

// ---- Who runs

void fair_class::yield_cpu_to_higher_class(std::uint64_t now_ns) noexcept {
  if (running_ != nullptr) {
    account_queue(level_of(*running_), now_ns);
    put_all(*running_, now_ns);
    running_ = nullptr;
  }
  higher_class_runs_ = true;
  need_resched_ = false;
}

const task* fair_class::peek() noexcept {
  entity* e = root_.queue.pick();
  while (e != nullptr && e->is_group) e = own_level(*e).queue.pick();
  return static_cast<const task*>(e);
}

const task* fair_class::buddy() const noexcept {
  const entity* e = root_.queue.buddy();
  while (e != nullptr && e->is_group) e = static_cast<const fair_level&>(*e).queue.buddy();
  return static_cast<const task*>(e);
}

std::uint64_t fair_class::time_to_request_end() const noexcept {
  if (running_ == nullptr || root_.h_nr_queued < 2)
    return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t served = running_->sum_exec_ns - running_->prev_sum_exec_ns;
  return running_->slice_ns > served ? running_->slice_ns - served : 0;
}

// ---- Wake-up preemption

bool fair_class::shorter_request_wins(const run_queue& queue, const entity& woken,
                                      const entity& running) const noexcept {
  return config_->features.has(feature::preempt_short) && woken.slice_ns < running.slice_ns &&
         queue.eligible(woken) &&
         (before(woken.deadline, running.deadline) || !queue.eligible(running));
}

void fair_class::check_preemption(task& woken_task, entry how, std::uint64_t now_ns) noexcept {
  if (higher_class_runs_) return;
  if (running_ == nullptr) {
    reschedule(decision::cpu_was_idle, woken_task);
    return;
  }
  if (&woken_task == running_ || level_of(woken_task).throttle_count != 0) return;
  if (how != entry::forked && !woken_task.sched_delayed &&
      config_->features.has(feature::next_buddy)) {
    nominate(woken_task);
  }
  if (need_resched_ || !config_->features.has(feature::wakeup_preemption)) return;

  entity* running = running_;
  entity* woken = &woken_task;
  lift_to_siblings(running, woken);
  run_queue& queue = level_of(*running).queue;
  const bool runs_idle = is_idle(*running);
  const bool woken_idle = is_idle(*woken);
  if (runs_idle && !woken_idle) {
    if (!mutant(fault::idle_keeps_protection)) queue.cancel_protection(*running);
    reschedule(decision::idle_policy_yields, woken_task);
    return;
  }
  if (runs_idle != woken_idle || woken_task.policy != sched_policy::normal) return;

  account_queue(level_of(*running), now_ns);
  if (shorter_request_wins(queue, *woken, *running) && queue.slice_protected(*running)) {
    queue.cancel_protection(*running);
    tell(decision::protection_cancelled, *running);
  }
  if (queue.pick() == woken) reschedule(decision::wakeup_preempts, woken_task);
}

// ---- Yield

void fair_class::yield(std::uint64_t now_ns) noexcept {
  if (running_ == nullptr || root_.h_nr_queued == 1) return;
  fair_level& level = level_of(*running_);
  drop_buddy(*running_);
  account_queue(level, now_ns);
  if (!config_->features.has(feature::yield_to_deadline)) {
    level.queue.postpone_request();
  } else if (mutant(fault::yield_while_ineligible) || level.queue.eligible(*running_)) {
    level.queue.forfeit_request();
  }
}

bool fair_class::yield_to(task& t, std::uint64_t now_ns) noexcept {
  if (!t.queued || level_of(t).throttle_count != 0) return false;
  nominate(t);
  yield(now_ns);
  return true;
}

}  // namespace vlag

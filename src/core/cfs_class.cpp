// SPDX-License-Identifier: Apache-2.0
#include "vlag/cfs_class.hpp"

#include "vlag/weight.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace vlag {
namespace {

constexpr entity_kind kind_of(const task& t) noexcept {
  return t.policy == sched_policy::idle ? entity_kind::idle : entity_kind::ordinary;
}

const task* as_task(const entity* e) noexcept { return static_cast<const task*>(e); }

}  // namespace

cfs_class::cfs_class(const cfs_config& config, timeline_storage& storage) noexcept
    : config_(&config), storage_(&storage), queue_(config, storage) {}

void cfs_class::read_clock(std::uint64_t now_ns) noexcept {
  clock_ns_ = std::max(clock_ns_, now_ns);
}

void cfs_class::set_decision_hook(decision_hook hook, void* context) noexcept {
  hook_ = hook;
  hook_context_ = context;
}

void cfs_class::tell(decision what, const task& who) const noexcept {
  if (hook_ != nullptr) hook_(hook_context_, what, who);
}

void cfs_class::resched_for(decision what, const task& who) noexcept {
  need_resched_ = true;
  tell(what, who);
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
  t.exec_start_ns = 0;
  t.sum_exec_ns = 0;
  t.prev_sum_exec_ns = 0;
  place_child(t);
  t.vruntime -= queue_.min_vruntime();
  return true;
}

// Without a parent the child starts from 0, which is ahead of everybody once min_vruntime has
// passed 2^63: the reference's answer, kept.
void cfs_class::place_child(task& child) noexcept {
  child.vruntime = 0;
  if (current_ != nullptr) {
    queue_.account(clock_ns_);
    child.vruntime = current_->vruntime;
  }
  queue_.place_new(child, kind_of(child));
  if (config_->child_runs_first && current_ != nullptr &&
      before(current_->vruntime, child.vruntime)) {
    std::swap(current_->vruntime, child.vruntime);
    resched_for(decision::child_runs_first, child);
  }
}

void cfs_class::enqueue_new(task& t, std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  queue_.enqueue_relative(t, kind_of(t), clock_ns_);
  preempt_for(t, wake_kind::fork);
}

bool cfs_class::join_asleep(task& t, std::uint64_t now_ns) noexcept {
  assert(!t.queued);
  if (!storage_->reserve_place()) return false;
  read_clock(now_ns);
  t.vruntime += queue_.min_vruntime();
  if (t.exec_start_ns == 0) t.exec_start_ns = clock_ns_;
  return true;
}

void cfs_class::wake(task& t, std::uint64_t now_ns) noexcept {
  assert(&t != current_ || t.queued);
  read_clock(now_ns);
  if (t.queued) return;
  queue_.enqueue_woken(t, kind_of(t), clock_ns_);
  preempt_for(t, wake_kind::wakeup);
}

void cfs_class::wake_queued(task& t, std::uint64_t now_ns) noexcept {
  assert(t.queued);
  read_clock(now_ns);
  preempt_for(t, wake_kind::wakeup);
}

void cfs_class::preempt_for(task& woken, wake_kind kind) noexcept {
  if (higher_class_runs_) return;
  if (current_ == nullptr) return resched_for(decision::cpu_was_idle, woken);
  if (&woken == current_) return;

  const bool crowded = queue_.nr_queued() >= config_->nr_latency;
  const bool nominated =
      crowded && kind == wake_kind::wakeup && config_->features.has(feature::next_buddy);
  if (nominated && woken.policy != sched_policy::idle) queue_.set_next(woken);
  if (need_resched_) return;

  decision reason = decision::idle_policy_yields;
  const bool idle_yields =
      current_->policy == sched_policy::idle && woken.policy != sched_policy::idle;
  if (!idle_yields) {
    if (woken.policy != sched_policy::normal) return;
    if (!config_->features.has(feature::wakeup_preemption)) return;
    queue_.account(clock_ns_);
    if (!queue_.far_behind(woken, *current_)) return;
    if (!nominated) queue_.set_next(woken);
    reason = decision::wakeup_preempts;
  }
  resched_for(reason, woken);
  if (crowded && current_->policy != sched_policy::idle &&
      config_->features.has(feature::last_buddy)) {
    queue_.set_last(*current_);
  }
}

bool cfs_class::block(std::uint64_t now_ns) noexcept {
  assert(current_ != nullptr);
  read_clock(now_ns);
  leave(*current_);
  return false;
}

void cfs_class::exit(std::uint64_t now_ns) noexcept {
  block(now_ns);
  storage_->release_place();
}

void cfs_class::remove(task& t, std::uint64_t now_ns) noexcept {
  assert(&t != current_);
  read_clock(now_ns);
  if (t.queued) leave(t);
  t.vruntime -= queue_.min_vruntime();
  storage_->release_place();
}

void cfs_class::leave(task& t) noexcept {
  queue_.dequeue(t, kind_of(t), kept_vruntime::absolute, floor_update::advance, clock_ns_);
}

task* cfs_class::schedule(std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  higher_class_runs_ = false;
  need_resched_ = false;
  if (current_ != nullptr && current_->queued) queue_.account(clock_ns_);
  entity* const chosen = queue_.pick();
  // The same task again goes on with its share and keeps its buddy roles.
  if (chosen == nullptr || chosen != current_) {
    queue_.put_back(clock_ns_);
    if (chosen != nullptr) queue_.set_running(*chosen, clock_ns_);
    current_ = static_cast<task*>(chosen);
  }
  return current_;
}

void cfs_class::yield_cpu_to_higher_class(std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  queue_.put_back(clock_ns_);
  current_ = nullptr;
  need_resched_ = false;
  higher_class_runs_ = true;
}

void cfs_class::account(std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  queue_.account(clock_ns_);
}

void cfs_class::tick(std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  queue_.account(clock_ns_);
  if (current_ == nullptr || !current_->queued || queue_.nr_queued() <= 1) return;
  switch (queue_.check_share(slice_of(*current_))) {
    case share_state::used_up:
      return resched_for(decision::ran_its_share, *current_);
    case share_state::ahead_of_others:
      return resched_for(decision::ran_ahead, *current_);
    case share_state::not_used_up:
      return;
  }
}

void cfs_class::yield(std::uint64_t now_ns) noexcept {
  assert(current_ != nullptr);
  read_clock(now_ns);
  if (queue_.nr_queued() == 1) return;
  queue_.drop_buddies(*current_);
  if (current_->policy != sched_policy::batch) queue_.account(clock_ns_);
  queue_.set_skip(*current_);
}

bool cfs_class::yield_to(task& t, std::uint64_t now_ns) noexcept {
  if (!t.queued) return false;
  if (t.policy != sched_policy::idle) queue_.set_next(t);
  yield(now_ns);
  return true;
}

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
  if (t.queued && &t != current_) queue_.slice_changed(t);
}

// Takes t off, changes it and puts it back: a queued task goes behind its equals, a running one
// starts a new share.
void cfs_class::change(task& t, attributes to, floor_update floor) noexcept {
  const bool was_queued = t.queued;
  const bool was_running = &t == current_;
  if (was_queued) {
    queue_.dequeue(t, kind_of(t), kept_vruntime::relative, floor, clock_ns_);
  }
  if (was_running) queue_.put_back(clock_ns_);

  t.policy = to.policy;
  t.static_nice = static_cast<std::int8_t>(to.static_nice);
  t.prio_nice = static_cast<std::int8_t>(to.prio_nice);
  t.weight =
      to.policy == sched_policy::idle ? weight_of_idle_policy() : weight_of_nice(to.static_nice);

  if (was_queued) queue_.enqueue_relative(t, kind_of(t), clock_ns_);
  if (was_running) queue_.set_running(t, clock_ns_);
}

void cfs_class::priority_changed(task& t, int old_nice) noexcept {
  if (!t.queued || queue_.nr_queued() == 1) return;
  if (&t != current_) return preempt_for(t, wake_kind::wakeup);
  if (t.prio_nice > old_nice) resched_for(decision::priority_changed, t);
}

void cfs_class::reweight(task& t, std::uint64_t full_weight, std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  queue_.reweight(t, full_weight, clock_ns_);
}

std::uint64_t cfs_class::slice_of(const task& t) const noexcept {
  return queue_.slice(t, kind_of(t));
}

std::uint64_t cfs_class::time_to_request_end() const noexcept {
  if (current_ == nullptr || !current_->queued || queue_.nr_queued() <= 1) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  const std::uint64_t slice_ns = slice_of(*current_);
  const std::uint64_t ran_ns = current_->sum_exec_ns - current_->prev_sum_exec_ns;
  return slice_ns > ran_ns ? slice_ns - ran_ns : 0;
}

const task* cfs_class::peek() const noexcept { return as_task(queue_.pick()); }
const task* cfs_class::next_buddy() const noexcept { return as_task(queue_.next_buddy()); }
const task* cfs_class::last_buddy() const noexcept { return as_task(queue_.last_buddy()); }
const task* cfs_class::skip_buddy() const noexcept { return as_task(queue_.skip_buddy()); }

}  // namespace vlag

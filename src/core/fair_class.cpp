// SPDX-License-Identifier: Apache-2.0
#include "vlag/fair_class.hpp"

#include "vlag/sched_attr.hpp"

#include <algorithm>
#include <limits>

namespace vlag {
fair_class::fair_class(const eevdf_config& config, timeline_storage& storage) noexcept
    : queue_(config, storage), config_(&config), storage_(&storage) {}

void fair_class::reschedule(decision why, const entity& who) noexcept {
  need_resched_ = true;
  tell(why, who);
}

void fair_class::account_running(std::uint64_t now_ns) noexcept {
  const run_queue::verdict found = queue_.account(now_ns);
  if (found == run_queue::verdict::may_go_on) return;
  reschedule(found == run_queue::verdict::request_used_up ? decision::request_used_up
                                                          : decision::ineligible_gives_way,
             *queue_.current());
}

void fair_class::tick(std::uint64_t now_ns) noexcept { account_running(now_ns); }
void fair_class::account(std::uint64_t now_ns) noexcept { account_running(now_ns); }

// ---- Joining, waking, leaving

void fair_class::enqueue(task& t, placement how, std::uint64_t now_ns) noexcept {
  // A task that wakes between its block() and schedule() is placed before its own time is counted.
  if (&t == queue_.current()) queue_.place(t, how);
  account_running(now_ns);
  if (&t != queue_.current()) queue_.place(t, how);
  queue_.attach(t);
}

bool fair_class::fork(task& t, std::uint64_t now_ns) noexcept {
  if (!storage_->reserve_place()) return false;
  t.vruntime = 0;
  t.vlag = 0;
  t.sum_exec_ns = 0;
  t.prev_sum_exec_ns = 0;
  t.queued = false;
  t.sched_delayed = false;
  t.rel_deadline = false;
  enqueue(t, placement::of_new_task, now_ns);
  check_preemption(t, false, now_ns);
  return true;
}

bool fair_class::join_asleep(task& t, std::uint64_t) noexcept {
  if (!storage_->reserve_place()) return false;
  t.queued = false;
  t.sched_delayed = false;
  t.rel_deadline = false;
  return true;
}

void fair_class::wake(task& t, std::uint64_t now_ns) noexcept {
  if (!t.queued) {
    enqueue(t, placement::of_known_entity, now_ns);
  } else if (t.sched_delayed) {
    queue_.requeue_delayed(t);
    --nr_delayed_;
    tell(decision::delayed_requeued, t);
  } else {
    return;
  }
  check_preemption(t, true, now_ns);
}

bool fair_class::block(std::uint64_t now_ns) noexcept {
  task& t = *current();
  account_running(now_ns);
  queue_.drop_buddy(t);
  if (config_->features.has(feature::delay_dequeue) && !queue_.eligible(t)) {
    t.sched_delayed = true;
    ++nr_delayed_;
    tell(decision::dequeue_delayed, t);
    return true;
  }
  queue_.detach(t, departure::to_sleep);
  return false;
}

void fair_class::leave_for_good(task& t) noexcept {
  if (t.queued) queue_.detach(t, departure::to_sleep);
  if (t.sched_delayed) {
    t.sched_delayed = false;
    --nr_delayed_;
  }
  storage_->release_place();
}

void fair_class::exit(std::uint64_t now_ns) noexcept {
  account_running(now_ns);
  leave_for_good(*current());
}

void fair_class::remove(task& t, std::uint64_t now_ns) noexcept {
  if (t.queued) account_running(now_ns);
  leave_for_good(t);
}

void fair_class::complete_delayed(task& t, std::uint64_t now_ns) noexcept {
  account_running(now_ns);
  queue_.complete_delayed(t);
  --nr_delayed_;
  tell(decision::delayed_completed, t);
}

// ---- Who runs

task* fair_class::schedule(std::uint64_t now_ns) noexcept {
  entity* const previous = queue_.current();
  entity* next = nullptr;
  while (queue_.nr_queued() != 0) {
    if (previous != nullptr && previous->queued) account_running(now_ns);
    next = queue_.pick_next();
    if (!next->sched_delayed) break;
    complete_delayed(static_cast<task&>(*next), now_ns);
    next = nullptr;
  }
  if (next != previous) {
    queue_.put_current();
    if (next != nullptr) queue_.set_current(*next, now_ns);
  }
  higher_class_runs_ = false;
  need_resched_ = false;
  return static_cast<task*>(next);
}

void fair_class::yield_cpu_to_higher_class(std::uint64_t now_ns) noexcept {
  account_running(now_ns);
  queue_.put_current();
  higher_class_runs_ = true;
  need_resched_ = false;
}

const task* fair_class::peek() noexcept { return static_cast<const task*>(queue_.pick()); }

const task* fair_class::buddy() const noexcept { return static_cast<const task*>(queue_.buddy()); }

std::uint64_t fair_class::time_to_request_end() const noexcept {
  const entity* running = queue_.current();
  if (running == nullptr || queue_.nr_queued() < 2)
    return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t served = running->sum_exec_ns - running->prev_sum_exec_ns;
  return running->slice_ns > served ? running->slice_ns - served : 0;
}

// ---- Wake-up preemption

void fair_class::nominate(task& t) noexcept {
  if (t.policy != sched_policy::idle) queue_.set_buddy(t);
}

bool fair_class::shorter_request_wins(const task& woken, const task& running) const noexcept {
  return config_->features.has(feature::preempt_short) && woken.slice_ns < running.slice_ns &&
         queue_.eligible(woken) &&
         (before(woken.deadline, running.deadline) || !queue_.eligible(running));
}

void fair_class::check_preemption(task& woken, bool may_nominate, std::uint64_t now_ns) noexcept {
  if (higher_class_runs_) return;
  task* const running = current();
  if (running == nullptr) {
    reschedule(decision::cpu_was_idle, woken);
    return;
  }
  if (&woken == running) return;
  if (may_nominate && !woken.sched_delayed && config_->features.has(feature::next_buddy)) {
    nominate(woken);
  }
  if (need_resched_ || !config_->features.has(feature::wakeup_preemption)) return;

  const bool runs_idle = running->policy == sched_policy::idle;
  const bool woken_idle = woken.policy == sched_policy::idle;
  if (runs_idle && !woken_idle) {
    queue_.cancel_protection(*running);
    reschedule(decision::idle_policy_yields, woken);
    return;
  }
  if (woken.policy != sched_policy::normal) return;

  account_running(now_ns);
  if (shorter_request_wins(woken, *running) && queue_.slice_protected(*running)) {
    queue_.cancel_protection(*running);
    tell(decision::protection_cancelled, *running);
  }
  if (queue_.pick() == &woken) reschedule(decision::wakeup_preempts, woken);
}

// ---- Yield

void fair_class::yield(std::uint64_t now_ns) noexcept {
  entity* const running = queue_.current();
  if (running == nullptr || queue_.nr_queued() == 1) return;
  queue_.drop_buddy(*running);
  account_running(now_ns);
  if (queue_.eligible(*running)) queue_.forfeit_request();
}

bool fair_class::yield_to(task& t, std::uint64_t now_ns) noexcept {
  if (!t.queued) return false;
  nominate(t);
  yield(now_ns);
  return true;
}

// ---- Attributes: out of the queue, the change, back in

fair_class::interrupted fair_class::take_out(task& t, std::uint64_t now_ns) noexcept {
  const interrupted was{t.queued, &t == queue_.current()};
  if (was.queued) {
    account_running(now_ns);
    queue_.detach(t, departure::to_be_changed);
  }
  if (was.running) queue_.put_current();
  return was;
}

void fair_class::put_back(task& t, interrupted was, std::uint64_t now_ns) noexcept {
  if (was.queued) enqueue(t, placement::of_known_entity, now_ns);
  if (was.running) queue_.set_current(t, now_ns);
}

void fair_class::apply_weight(task& t) noexcept {
  const load_weight weight =
      t.policy == sched_policy::idle ? weight_of_idle_policy() : weight_of_nice(t.static_nice);
  queue_.rescale_lag(t, weight.full);
  t.weight = weight;
}

void fair_class::apply_slice(task& t, std::uint64_t slice_ns, slice_origin origin) const noexcept {
  t.custom_slice = slice_ns != 0;
  t.latency_slice = origin == slice_origin::latency_nice;
  if (slice_ns == 0) {
    t.slice_ns = config_->base_slice_ns;
  } else {
    t.slice_ns = t.latency_slice
                     ? slice_ns
                     : std::clamp(slice_ns, shortest_own_slice_ns, longest_own_slice_ns);
  }
}

void fair_class::priority_changed(task& t, int old_nice, std::uint64_t now_ns) noexcept {
  if (!t.queued || queue_.nr_queued() == 1) return;
  if (&t != queue_.current()) {
    check_preemption(t, true, now_ns);
  } else if (t.prio_nice > old_nice) {
    reschedule(decision::priority_changed, t);
  }
}

void fair_class::set_nice(task& t, int nice, std::uint64_t now_ns) noexcept {
  if (nice == t.static_nice) return;
  const int old_nice = t.prio_nice;
  const interrupted was = take_out(t, now_ns);
  t.static_nice = static_cast<std::int8_t>(nice);
  t.prio_nice = static_cast<std::int8_t>(nice);
  apply_weight(t);
  put_back(t, was, now_ns);
  priority_changed(t, old_nice, now_ns);
}

bool fair_class::set_slice(task& t, std::uint64_t slice_ns, std::uint64_t now_ns) noexcept {
  return set_attributes(t, t.policy, t.static_nice, slice_ns, now_ns);
}

bool fair_class::set_attributes(task& t, sched_policy policy, int nice, std::uint64_t slice_ns,
                                std::uint64_t now_ns, slice_origin origin) noexcept {
  const bool idle = policy == sched_policy::idle;
  if (policy == t.policy && (idle || (nice == t.static_nice && slice_ns == t.slice_ns))) {
    return false;
  }
  const int old_nice = t.prio_nice;
  const interrupted was = take_out(t, now_ns);
  t.policy = policy;
  t.prio_nice = static_cast<std::int8_t>(nice);
  if (!idle) {
    t.static_nice = static_cast<std::int8_t>(nice);
    apply_slice(t, slice_ns, origin);
  }
  apply_weight(t);
  put_back(t, was, now_ns);
  if (t.prio_nice != old_nice) priority_changed(t, old_nice, now_ns);
  return true;
}

void fair_class::reweight(task& t, std::uint64_t full_weight, std::uint64_t now_ns) noexcept {
  if (t.queued) account_running(now_ns);
  queue_.reweight(t, full_weight);
}

}  // namespace vlag

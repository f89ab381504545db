// SPDX-License-Identifier: Apache-2.0
//
// The operations of the exact model, and bandwidth.
#include "property/tree_model.hpp"

#include "property/exact_arithmetic.hpp"

#include <algorithm>

namespace vlag::test {

// ---- Tasks

int tree_model::fork(int group, sched_policy policy, int nice, std::uint64_t own_slice_ns,
                     std::uint64_t now) {
  const int who = static_cast<int>(rows_.size());
  row& r = rows_.emplace_back();
  r.parent = group;
  r.policy = policy;
  r.static_nice = nice;
  r.prio_nice = nice;
  r.own_slice = own_slice_ns != 0 && on(feature::own_slice);
  r.slice_ns = own_slice_ns;
  give_weight(who);
  at(who).vlag = 0;
  enqueue(who, arrival::of_fork, now);
  preempt(who, false, now);
  return who;
}

void tree_model::wake(int who, std::uint64_t now) {
  if (at(who).queued && !at(who).delayed) return;
  if (at(who).queued) {
    requeue(who);
  } else {
    enqueue(who, arrival::of_wake, now);
  }
  preempt(who, true, now);
}

bool tree_model::block(std::uint64_t now) { return dequeue(current_, way::to_sleep, now); }

void tree_model::exit(std::uint64_t now) { remove(current_, now); }

void tree_model::remove(int who, std::uint64_t now) {
  at(who).alive = false;
  if (at(who).queued) dequeue(who, at(who).delayed ? way::delay_over : way::for_good, now);
}

void tree_model::preempt(int woken, bool nominated, std::uint64_t now) {
  if (higher_) return;
  if (current_ < 0) {
    need_resched_ = true;
    return;
  }
  if (woken == current_ || throttled_above(at(woken).parent) > 0) return;
  if (on(feature::next_buddy) && nominated && !at(woken).delayed) nominate(woken);
  if (need_resched_ || !on(feature::wakeup_preemption)) return;
  int a = current_;
  int b = woken;
  while (depth(a) > depth(b)) a = at(a).parent;
  while (depth(b) > depth(a)) b = at(b).parent;
  while (at(a).parent != at(b).parent) {
    a = at(a).parent;
    b = at(b).parent;
  }
  row& runs = at(a);
  const row& wakes = at(b);
  const auto end_protection = [&runs] {
    if (runs.token == runs.deadline) runs.token = runs.deadline + 1;
  };
  if (is_idle(a) && !is_idle(b)) {
    end_protection();
    need_resched_ = true;
    return;
  }
  if (is_idle(b) != is_idle(a) || at(woken).policy != sched_policy::normal) return;
  account(runs.parent, now);
  const bool urgent = distance(wakes.deadline, runs.deadline) < 0 || !eligible(a);
  if (on(feature::preempt_short) && wakes.slice_ns < runs.slice_ns && eligible(b) && urgent) {
    end_protection();
  }
  if (pick(runs.parent) == b) need_resched_ = true;
}

void tree_model::yield(std::uint64_t now) {
  if (current_ < 0 || tasks_below(0).queued == 1) return;
  drop_buddy(current_);
  run(now);
  if (!on(feature::yield_to_deadline)) {
    row& r = at(current_);
    r.deadline += stretched(r.slice_ns, r.full_weight, r.inverse);
    return;
  }
  if (!eligible(current_)) return;
  at(current_).vruntime = at(current_).deadline;
  renew(current_);
}

bool tree_model::yield_to(int who, std::uint64_t now) {
  if (!at(who).queued || throttled_above(at(who).parent) > 0) return false;
  nominate(who);
  yield(now);
  return true;
}

tree_model::was tree_model::take_out(int who, std::uint64_t now) {
  const was before{at(who).queued, who == current_};
  if (before.queued) dequeue(who, way::to_be_changed, now);
  if (before.running) put_all(now);
  return before;
}

// A task that stays delayed is put back delayed.
void tree_model::put_back(int who, was before, std::uint64_t now) {
  if (before.queued) enqueue(who, arrival::other, now);
  if (before.running) set_all(who, now);
}

void tree_model::give_weight(int who) {
  row& r = at(who);
  const load_weight w =
      r.policy == sched_policy::idle ? weight_of_idle_policy() : weight_of_nice(r.static_nice);
  r.vlag = mul_div(r.vlag, r.full_weight, w.full);
  r.token = static_cast<std::uint64_t>(r.vlag);
  r.full_weight = w.full;
  r.inverse = w.inverse;
}

void tree_model::after_priority(int who, int old_nice, std::uint64_t now) {
  if (!at(who).queued || on_queue(0).size() == 1) return;
  if (who == current_) {
    need_resched_ = need_resched_ || at(who).prio_nice > old_nice;
  } else {
    preempt(who, true, now);
  }
}

void tree_model::set_nice(int who, int nice, std::uint64_t now) {
  if (at(who).static_nice == nice) return;
  const int old_nice = at(who).prio_nice;
  const was before = take_out(who, now);
  at(who).static_nice = at(who).prio_nice = nice;
  give_weight(who);
  put_back(who, before, now);
  after_priority(who, old_nice, now);
}

bool tree_model::set_attributes(int who, sched_policy policy, int nice, std::uint64_t slice_ns,
                                std::uint64_t now) {
  row& r = at(who);
  const bool idle = policy == sched_policy::idle;
  const bool same = idle || (r.static_nice == nice && r.slice_ns == slice_ns);
  if (r.policy == policy && same) return false;
  const int old_nice = r.prio_nice;
  const was before = take_out(who, now);
  r.policy = policy;
  r.prio_nice = nice;
  if (!idle) {
    r.static_nice = nice;
    r.own_slice = slice_ns > 0 && on(feature::own_slice);
    r.slice_ns = r.own_slice ? std::clamp<std::uint64_t>(slice_ns, 100'000, 100'000'000)
                             : config_.base_slice_ns;
  }
  give_weight(who);
  put_back(who, before, now);
  if (r.prio_nice != old_nice) after_priority(who, old_nice, now);
  return true;
}

void tree_model::move(int who, int group, std::uint64_t now) {
  const was before = take_out(who, now);
  at(who).parent = group;
  put_back(who, before, now);
  if (before.running) need_resched_ = true;
}

// ---- Groups

int tree_model::make_group(int parent) {
  row& g = rows_.emplace_back();
  g.is_group = true;
  g.parent = parent;
  g.rest = std::uint64_t{0} - (std::uint64_t{1} << 20);
  return static_cast<int>(rows_.size()) - 1;
}

void tree_model::remove_group(int g, std::uint64_t now) {
  if (at(g).delayed) dequeue(g, way::delay_over, now);
  at(g).alive = false;
  at(g).throttled = false;
}

void tree_model::set_shares(int g, std::uint64_t shares, std::uint64_t now) {
  if (at(g).shares == shares) return;
  at(g).shares = shares;
  for (const int up : path(g)) refresh_weight(up, now);
}

void tree_model::set_idle(int g, bool idle, std::uint64_t now) {
  if (at(g).idle == idle) return;
  at(g).idle = idle;
  at(g).shares = idle ? 3 << 10 : nice_0_weight;
  for (const int up : path(g)) refresh_weight(up, now);
}

void tree_model::set_latency_nice(int g, int nice) {
  if (at(g).latency_nice == nice) return;
  at(g).latency_nice = nice;
  for (const int up : path(g)) {
    if (!at(up).queued || at(up).delayed) return;
    refresh_slice(up, min_slice(up));
  }
}

// ---- Bandwidth

void tree_model::start_timer(int g, std::uint64_t now) {
  bandwidth_pool& pool = at(g).pool;
  if (pool.period_active) return;
  pool.period_active = pool.timer_armed = true;
  while (distance(now, pool.timer_expires_ns) >= 0) pool.timer_expires_ns += pool.limit.period_ns;
}

bool tree_model::fetch(int g, std::int64_t target_ns, std::uint64_t now) {
  bandwidth_pool& pool = at(g).pool;
  std::int64_t wanted = target_ns - at(g).in_hand_ns;
  if (pool.limit.quota_ns != no_quota) {
    start_timer(g, now);
    if (pool.runtime_ns > 0) pool.idle = false;
    wanted = std::min(wanted, static_cast<std::int64_t>(pool.runtime_ns));
    pool.runtime_ns -= static_cast<std::uint64_t>(wanted);
  }
  at(g).in_hand_ns += wanted;
  return at(g).in_hand_ns > 0;
}

void tree_model::charge(int g, std::uint64_t ns, std::uint64_t now) {
  if (!at(g).limited) return;
  at(g).in_hand_ns -= static_cast<std::int64_t>(ns);
  if (at(g).in_hand_ns > 0 || at(g).throttled) return;
  const auto slice_ns = static_cast<std::int64_t>(config_.bandwidth_slice_ns);
  if (!fetch(g, slice_ns, now) && at(g).running >= 0) need_resched_ = true;
}

bool tree_model::must_stop(int g, std::uint64_t now) {
  if (!at(g).limited || at(g).in_hand_ns > 0) return false;
  return at(g).throttled || throttle(g, now);
}

bool tree_model::throttle(int g, std::uint64_t now) {
  if (fetch(g, 1, now)) return false;
  at(g).throttled = true;
  for (const int up : path(g)) {
    if (!at(up).queued) break;
    leave_queue(up, at(up).delayed ? way::delay_over : way::for_good, now);
    if (!on_queue(at(up).parent).empty()) break;
  }
  return true;
}

void tree_model::unthrottle(int g, std::uint64_t now) {
  at(g).throttled = false;
  if (on_queue(g).empty()) return;
  for (const int up : path(g)) {
    if (at(up).delayed) {
      leave_queue(up, way::delay_over, now);
    } else if (at(up).queued) {
      break;
    }
    join_queue(up, arrival::other, now);
    if (queue_of(up).throttled) break;
  }
  if (current_ < 0 && !higher_ && !on_queue(0).empty()) need_resched_ = true;
}

void tree_model::set_limit(int g, const bandwidth_limit& limit, std::uint64_t now) {
  bandwidth_pool& pool = at(g).pool;
  pool.limit = limit;
  at(g).limited = limit.quota_ns != no_quota;
  if (at(g).limited) {
    pool.runtime_ns = std::min(pool.runtime_ns + limit.quota_ns, limit.quota_ns + limit.burst_ns);
    start_timer(g, now);
  }
  at(g).in_hand_ns = 0;
  if (at(g).throttled) unthrottle(g, now);
}

void tree_model::period_timer(int g, std::uint64_t now) {
  bandwidth_pool& pool = at(g).pool;
  if (!pool.timer_armed || distance(now, pool.timer_expires_ns) < 0) return;
  std::uint64_t periods = 0;
  for (; distance(now, pool.timer_expires_ns) >= 0; ++periods) {
    pool.timer_expires_ns += pool.limit.period_ns;
  }
  const auto& limit = pool.limit;
  if (limit.quota_ns == no_quota) {
    pool.period_active = pool.timer_armed = false;
    return;
  }
  pool.nr_periods += periods;
  pool.runtime_ns = std::min(pool.runtime_ns + limit.quota_ns, limit.quota_ns + limit.burst_ns);
  if (!at(g).throttled) {
    if (pool.idle) pool.period_active = pool.timer_armed = false;
    pool.idle = true;
    return;
  }
  pool.nr_throttled += periods;
  pool.idle = false;
  const std::int64_t gift =
      std::min(1 - at(g).in_hand_ns, static_cast<std::int64_t>(pool.runtime_ns));
  pool.runtime_ns -= static_cast<std::uint64_t>(gift);
  at(g).in_hand_ns += gift;
  if (at(g).in_hand_ns > 0) unthrottle(g, now);
  pool.idle = false;
}

}  // namespace vlag::test

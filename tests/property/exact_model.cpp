// SPDX-License-Identifier: Apache-2.0
#include "property/exact_model.hpp"

#include "property/exact_arithmetic.hpp"
#include "vlag/weight.hpp"

#include <algorithm>
#include <limits>

namespace vlag::test {
namespace {

std::int64_t small(const exact_model::row& r) { return small_of(r.full_weight); }

std::uint64_t stretch(std::uint64_t ns, const exact_model::row& r) {
  return stretched(ns, r.full_weight, r.inverse);
}

}  // namespace

int exact_model::count_queued() const {
  return static_cast<int>(
      std::count_if(rows_.begin(), rows_.end(), [](const row& r) { return r.queued; }));
}

int exact_model::count_delayed() const {
  return static_cast<int>(
      std::count_if(rows_.begin(), rows_.end(), [](const row& r) { return r.delayed; }));
}

std::int64_t exact_model::total_weight() const {
  std::int64_t total = 0;
  for (const row& r : rows_) total += r.queued ? small(r) : 0;
  return total;
}

std::uint64_t exact_model::average() const {
  if (count_queued() == 0) return rest_;
  wide sum = 0;
  for (const row& r : rows_) {
    if (r.queued) sum += static_cast<wide>(distance(r.vruntime, rest_)) * small(r);
  }
  return rest_ + static_cast<std::uint64_t>(floor_div(sum, total_weight()));
}

bool exact_model::eligible(int who) const {
  wide ahead = 0;  // of the others, seen from this one
  for (const row& r : rows_) {
    if (r.queued) ahead += static_cast<wide>(distance(r.vruntime, at(who).vruntime)) * small(r);
  }
  return ahead >= 0;
}

std::uint64_t exact_model::min_slice() const {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const row& r : rows_) {
    if (r.queued) least = std::min(least, r.slice_ns);
  }
  return least;
}

std::vector<int> exact_model::waiting() const {
  std::vector<int> order;
  for (int who = 0; who < static_cast<int>(rows_.size()); ++who) {
    if (is_waiting(who)) order.push_back(who);
  }
  std::sort(order.begin(), order.end(), [this](int a, int b) {
    const std::int64_t later = distance(at(a).deadline, at(b).deadline);
    return later != 0 ? later < 0 : at(a).turn < at(b).turn;
  });
  return order;
}

int exact_model::pick() const {
  const bool here = running_ >= 0 && at(running_).queued;
  const std::vector<int> order = waiting();
  if (count_queued() == 1) return here ? running_ : order.front();
  int candidate = here && eligible(running_) ? running_ : -1;
  if (candidate >= 0 && on(feature::run_to_parity) &&
      at(candidate).token == at(candidate).deadline) {
    return candidate;
  }
  const auto best =
      std::find_if(order.begin(), order.end(), [this](int who) { return eligible(who); });
  if (best == order.end()) return candidate;
  if (candidate >= 0 && distance(at(candidate).deadline, at(*best).deadline) < 0) return candidate;
  return *best;
}

std::uint64_t exact_model::settle() { return rest_ = average(); }

std::int64_t exact_model::lag_of(int who) const {
  const row& r = at(who);
  if (!on(feature::lag_clamp)) return distance(average(), r.vruntime);
  const auto most = static_cast<std::int64_t>(
      stretch(std::max<std::uint64_t>(2 * r.slice_ns, config_.tick_ns), r));
  return std::clamp(distance(average(), r.vruntime), -most, most);
}

void exact_model::renew(int who) {
  row& r = at(who);
  if (!r.own_slice) r.slice_ns = config_.base_slice_ns;
  r.deadline = r.vruntime + stretch(r.slice_ns, r);
  settle();
}

void exact_model::account(std::uint64_t now) {
  if (running_ < 0) return;
  row& r = at(running_);
  if (distance(now, r.charged_until_ns) <= 0) return;
  const std::uint64_t used = now - r.charged_until_ns;
  r.charged_until_ns = now;
  r.service_ns += used;
  r.vruntime += stretch(used, r);
  const bool done = distance(r.vruntime, r.deadline) >= 0;
  if (done) renew(running_);
  if (count_queued() == 1) return;
  const bool outstayed = on(feature::preempt_short) && r.token != r.deadline && !eligible(running_);
  if (!done && !outstayed) return;
  need_resched_ = need_resched_ || !on(feature::tick_repick);
  if (buddy_ == running_) buddy_ = -1;
}

void exact_model::tick(std::uint64_t now) {
  if (running_ < 0) return;
  account(now);
  if (on(feature::tick_repick) && pick() != running_) need_resched_ = true;
}

void exact_model::place(int who, arrival how) {
  row& r = at(who);
  const std::uint64_t average_now = settle();
  if (!r.own_slice) r.slice_ns = config_.base_slice_ns;
  std::int64_t lag = 0;
  if (on(feature::place_lag) && count_queued() > 0) {
    const std::int64_t others = total_weight();
    lag = r.vlag;
    if (on(feature::place_lag_inflate)) {
      lag = static_cast<std::int64_t>(static_cast<wide>(r.vlag) * (others + small(r)) / others);
    }
  }
  r.vruntime = average_now - static_cast<std::uint64_t>(lag);
  if (how == arrival::of_wake && on(feature::fair_sleepers)) {
    r.vruntime -= stretch(config_.tick_ns / (on(feature::gentle_fair_sleepers) ? 2 : 1), r);
  }
  if (on(feature::place_rel_deadline) && r.relative) {
    r.deadline += r.vruntime;
    r.relative = false;
    return;
  }
  const std::uint64_t request = stretch(r.slice_ns, r);
  r.deadline =
      r.vruntime +
      (how == arrival::of_fork && on(feature::place_deadline_initial) ? request / 2 : request);
}

void exact_model::join(int who, arrival how, std::uint64_t now) {
  if (who == running_) place(who, how);
  account(now);
  if (who != running_) place(who, how);
  at(who).queued = true;
  at(who).turn = ++turns_;
}

void exact_model::leave(int who) {
  if (buddy_ == who) buddy_ = -1;
  settle();
  at(who).vlag = lag_of(who);
  at(who).token = static_cast<std::uint64_t>(at(who).vlag);
  at(who).queued = false;
}

void exact_model::stop_running() {
  if (running_ >= 0 && at(running_).queued) at(running_).turn = ++turns_;
  running_ = -1;
}

void exact_model::start_running(int who, std::uint64_t now) {
  if (buddy_ == who) buddy_ = -1;
  running_ = who;
  at(who).charged_until_ns = now;
  if (at(who).queued) at(who).token = at(who).deadline;
}

int exact_model::fork(sched_policy policy, int nice, std::uint64_t own_slice_ns,
                      std::uint64_t now) {
  const int who = static_cast<int>(rows_.size());
  row& r = rows_.emplace_back();
  r.policy = policy;
  r.static_nice = nice;
  r.prio_nice = nice;
  r.own_slice = own_slice_ns != 0 && on(feature::own_slice);
  r.slice_ns = own_slice_ns;
  give_weight(who);
  r.vlag = 0;
  join(who, arrival::of_fork, now);
  preempt(who, false, now);
  return who;
}

void exact_model::wake(int who, std::uint64_t now) {
  row& r = at(who);
  if (r.queued && !r.delayed) return;
  if (!r.queued) {
    join(who, arrival::of_wake, now);
  } else {
    r.delayed = false;
    if (on(feature::delay_zero)) {
      settle();
      r.vlag = lag_of(who);
      r.token = static_cast<std::uint64_t>(r.vlag);
      if (r.vlag > 0) {
        r.queued = false;
        r.vlag = 0;
        r.token = 0;
        place(who, arrival::other);
        r.queued = true;
        r.turn = ++turns_;
      }
    }
  }
  preempt(who, true, now);
}

bool exact_model::block(std::uint64_t now) {
  account(now);
  if (buddy_ == running_) buddy_ = -1;
  if (on(feature::delay_dequeue) && !eligible(running_)) return at(running_).delayed = true;
  leave(running_);
  return false;
}

void exact_model::exit(std::uint64_t now) {
  account(now);
  leave(running_);
  at(running_).alive = false;
}

void exact_model::remove(int who, std::uint64_t now) {
  if (at(who).queued) {
    account(now);
    leave(who);
  }
  at(who).delayed = false;
  at(who).alive = false;
}

int exact_model::schedule(std::uint64_t now) {
  int next = -1;
  while (count_queued() > 0) {
    if (running_ >= 0 && at(running_).queued) account(now);
    next = on(feature::pick_buddy) && buddy_ >= 0 && eligible(buddy_) ? buddy_ : pick();
    if (!at(next).delayed) break;
    account(now);
    leave(next);
    at(next).delayed = false;
    if (on(feature::delay_zero)) at(next).vlag = std::min<std::int64_t>(at(next).vlag, 0);
    next = -1;
  }
  if (next != running_) {
    stop_running();
    if (next >= 0) start_running(next, now);
  }
  higher_ = false;
  need_resched_ = false;
  return next;
}

void exact_model::higher_class(std::uint64_t now) {
  account(now);
  stop_running();
  higher_ = true;
  need_resched_ = false;
}

void exact_model::preempt(int woken, bool nominate, std::uint64_t now) {
  if (higher_ || woken == running_) return;
  if (running_ < 0) {
    need_resched_ = true;
    return;
  }
  const row& p = at(woken);
  if (on(feature::next_buddy) && nominate && !p.delayed && p.policy != sched_policy::idle) {
    buddy_ = woken;
  }
  if (need_resched_ || !on(feature::wakeup_preemption)) return;
  row& c = at(running_);
  const auto end_protection = [&c] {
    if (c.token == c.deadline) c.token = c.deadline + 1;
  };
  if (c.policy == sched_policy::idle && p.policy != sched_policy::idle) {
    end_protection();
    need_resched_ = true;
    return;
  }
  if (p.policy != sched_policy::normal) return;
  account(now);
  const bool urgent = distance(p.deadline, c.deadline) < 0 || !eligible(running_);
  if (on(feature::preempt_short) && p.slice_ns < c.slice_ns && eligible(woken) && urgent) {
    end_protection();
  }
  if (pick() == woken) need_resched_ = true;
}

void exact_model::yield(std::uint64_t now) {
  if (running_ < 0 || count_queued() == 1) return;
  if (buddy_ == running_) buddy_ = -1;
  account(now);
  if (!on(feature::yield_to_deadline)) {
    at(running_).deadline += stretch(at(running_).slice_ns, at(running_));
    return;
  }
  if (!eligible(running_)) return;
  at(running_).vruntime = at(running_).deadline;
  renew(running_);
}

bool exact_model::yield_to(int who, std::uint64_t now) {
  if (!at(who).queued) return false;
  if (at(who).policy != sched_policy::idle) buddy_ = who;
  yield(now);
  return true;
}

exact_model::was exact_model::take_out(int who, std::uint64_t now) {
  const was before{at(who).queued, who == running_};
  if (before.queued) {
    account(now);
    leave(who);
    if (on(feature::place_rel_deadline)) {
      at(who).deadline -= at(who).vruntime;
      at(who).relative = true;
    }
  }
  if (before.running) running_ = -1;
  return before;
}

void exact_model::put_back(int who, was before, std::uint64_t now) {
  if (before.queued) join(who, arrival::other, now);
  if (before.running) start_running(who, now);
}

void exact_model::give_weight(int who) {
  row& r = at(who);
  const load_weight w =
      r.policy == sched_policy::idle ? weight_of_idle_policy() : weight_of_nice(r.static_nice);
  r.vlag = mul_div(r.vlag, r.full_weight, w.full);
  r.token = static_cast<std::uint64_t>(r.vlag);
  r.full_weight = w.full;
  r.inverse = w.inverse;
}

void exact_model::after_priority(int who, int old_nice, std::uint64_t now) {
  if (!at(who).queued || count_queued() == 1) return;
  if (who == running_) {
    need_resched_ = need_resched_ || at(who).prio_nice > old_nice;
  } else {
    preempt(who, true, now);
  }
}

void exact_model::set_nice(int who, int nice, std::uint64_t now) {
  if (at(who).static_nice == nice) return;
  const int old_nice = at(who).prio_nice;
  const was before = take_out(who, now);
  at(who).static_nice = at(who).prio_nice = nice;
  give_weight(who);
  put_back(who, before, now);
  after_priority(who, old_nice, now);
}

bool exact_model::set_attributes(int who, sched_policy policy, int nice, std::uint64_t slice_ns,
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

void exact_model::reweight(int who, std::uint64_t full_weight, std::uint64_t now) {
  row& r = at(who);
  if (!r.queued) {
    r.vlag = mul_div(r.vlag, r.full_weight, full_weight);
    r.token = static_cast<std::uint64_t>(r.vlag);
  } else {
    account(now);
    const std::uint64_t centre = settle();
    const std::int64_t lag = mul_div(lag_of(who), r.full_weight, full_weight);
    if (centre != r.vruntime) r.vruntime = centre - static_cast<std::uint64_t>(lag);
    const std::int64_t ahead = distance(r.deadline, centre);
    r.deadline = centre + static_cast<std::uint64_t>(mul_div(ahead, r.full_weight, full_weight));
    r.turn = ++turns_;
  }
  r.full_weight = full_weight;
  r.inverse = 0xffffffffU / static_cast<std::uint64_t>(std::max<std::int64_t>(
                                2, static_cast<std::int64_t>(full_weight / 1024)));
}

}  // namespace vlag::test

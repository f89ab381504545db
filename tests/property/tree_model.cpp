// SPDX-License-Identifier: Apache-2.0
#include "property/tree_model.hpp"

#include "property/exact_arithmetic.hpp"

#include <algorithm>
#include <limits>

namespace vlag::test {
namespace {

std::int64_t small(const tree_model::row& r) { return small_of(r.full_weight); }

std::uint64_t virtual_ns(std::uint64_t ns, const tree_model::row& r) {
  return stretched(ns, r.full_weight, r.inverse);
}

std::uint64_t inverse_of_group(std::uint64_t full_weight) {
  return 0xffffffffU / static_cast<std::uint64_t>(small_of(full_weight));
}

constexpr std::uint64_t first_reference = std::uint64_t{0} - (std::uint64_t{1} << 20);

}  // namespace

tree_model::tree_model(const eevdf_config& config, std::uint64_t start) : config_(config) {
  row& root = rows_.emplace_back();
  root.is_group = true;
  root.parent = -1;
  root.rest = start;
}

// ---- Questions

std::vector<int> tree_model::path(int who) const {
  std::vector<int> up;
  for (; who > 0; who = at(who).parent) up.push_back(who);
  return up;
}

std::vector<int> tree_model::on_queue(int g) const {
  std::vector<int> found;
  for (int who = 1; who < static_cast<int>(rows_.size()); ++who) {
    if (at(who).queued && at(who).parent == g) found.push_back(who);
  }
  return found;
}

std::vector<int> tree_model::waiting(int g) const {
  std::vector<int> order = on_queue(g);
  std::erase(order, at(g).running);
  std::sort(order.begin(), order.end(), [this](int a, int b) {
    const std::int64_t later = distance(at(a).deadline, at(b).deadline);
    return later != 0 ? later < 0 : at(a).turn < at(b).turn;
  });
  return order;
}

std::int64_t tree_model::total_weight(int g) const {
  std::int64_t total = 0;
  for (const int who : on_queue(g)) total += small(at(who));
  return total;
}

std::uint64_t tree_model::average(int g) const {
  wide sum = 0;
  wide weight = 0;
  for (const int who : on_queue(g)) {
    sum += static_cast<wide>(distance(at(who).vruntime, at(g).rest)) * small(at(who));
    weight += small(at(who));
  }
  if (weight == 0) return at(g).rest;
  return at(g).rest + static_cast<std::uint64_t>(floor_div(sum, weight));
}

bool tree_model::eligible(int who) const {
  wide ahead = 0;  // of the others, seen from this one
  for (const int other : on_queue(at(who).parent)) {
    ahead += static_cast<wide>(distance(at(other).vruntime, at(who).vruntime)) * small(at(other));
  }
  return ahead >= 0;
}

std::uint64_t tree_model::min_slice(int g) const {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const int who : on_queue(g)) least = std::min(least, at(who).slice_ns);
  return least;
}

int tree_model::pick(int g) const {
  const std::vector<int> order = waiting(g);
  const int c = at(g).running;
  const bool here = c >= 0 && at(c).queued;
  if (order.size() + (here ? 1 : 0) == 1) return here ? c : order.front();
  const int candidate = here && eligible(c) ? c : -1;
  if (candidate >= 0 && on(feature::run_to_parity) && at(c).token == at(c).deadline) return c;
  const auto best =
      std::find_if(order.begin(), order.end(), [this](int who) { return eligible(who); });
  if (best == order.end()) return candidate;
  if (candidate >= 0 && distance(at(c).deadline, at(*best).deadline) < 0) return c;
  return *best;
}

bool tree_model::is_idle(int who) const {
  return at(who).is_group ? at(who).idle : at(who).policy == sched_policy::idle;
}

tree_model::counts tree_model::tasks_below(int g) const {
  counts found{};
  for (int who = 1; who < static_cast<int>(rows_.size()); ++who) {
    if (at(who).is_group || !at(who).queued) continue;
    bool reached = at(who).parent == g;
    bool idle = is_idle(who);
    for (int up = at(who).parent; !reached && up > 0 && !at(up).throttled; up = at(up).parent) {
      idle = idle || at(up).idle;
      reached = at(up).parent == g;
    }
    if (!reached) continue;
    ++found.queued;
    found.delayed += at(who).delayed ? 1 : 0;
    found.idle += idle ? 1 : 0;
  }
  return found;
}

int tree_model::throttled_above(int g) const {
  int found = 0;
  for (const int up : path(g)) found += at(up).throttled ? 1 : 0;
  return found;
}

std::int64_t tree_model::lag_of(int who) const {
  const row& r = at(who);
  const auto most = static_cast<std::int64_t>(
      virtual_ns(std::max<std::uint64_t>(2 * r.slice_ns, config_.tick_ns), r));
  return std::clamp(distance(average(r.parent), r.vruntime), -most, most);
}

// ---- One queue

void tree_model::renew(int who) {
  row& r = at(who);
  if (!r.own_slice) r.slice_ns = config_.base_slice_ns;
  r.deadline = r.vruntime + virtual_ns(r.slice_ns, r);
  settle(r.parent);
}

void tree_model::account(int g, std::uint64_t now) {
  const int c = at(g).running;
  if (c < 0 || distance(now, at(c).charged_until_ns) <= 0) return;
  row& r = at(c);
  const std::uint64_t used = now - r.charged_until_ns;
  r.charged_until_ns = now;
  r.service_ns += used;
  r.vruntime += virtual_ns(used, r);
  const bool done = distance(r.vruntime, r.deadline) >= 0;
  if (done) renew(c);
  charge(g, used, now);
  if (on_queue(g).size() == 1) return;
  const bool outstayed = on(feature::preempt_short) && r.token != r.deadline && !eligible(c);
  if (!done && !outstayed) return;
  need_resched_ = true;
  drop_buddy(c);
}

void tree_model::place(int who, bool first) {
  row& r = at(who);
  const int g = r.parent;
  const std::uint64_t average_now = settle(g);
  if (!r.own_slice) r.slice_ns = config_.base_slice_ns;
  std::int64_t lag = 0;
  if (on(feature::place_lag) && !on_queue(g).empty()) {
    const std::int64_t others = total_weight(g);
    lag = static_cast<std::int64_t>(static_cast<wide>(r.vlag) * (others + small(r)) / others);
  }
  r.vruntime = average_now - static_cast<std::uint64_t>(lag);
  if (on(feature::place_rel_deadline) && r.relative) {
    r.deadline += r.vruntime;
    r.relative = false;
    return;
  }
  const std::uint64_t request = virtual_ns(r.slice_ns, r);
  r.deadline = r.vruntime + (first && on(feature::place_deadline_initial) ? request / 2 : request);
}

void tree_model::join_queue(int who, bool first, std::uint64_t now) {
  const int g = at(who).parent;
  const bool runs = at(g).running == who;
  if (runs) place(who, first);
  account(g, now);
  refresh_weight(who, now);
  if (!runs) place(who, first);
  at(who).queued = true;
  at(who).turn = ++turns_;
  if (!at(g).limited || on_queue(g).size() != 1 || at(g).running >= 0 || at(g).throttled) return;
  charge(g, 0, now);
  if (at(g).in_hand_ns <= 0) throttle(g, now);
}

// False: it stays, delayed.
bool tree_model::leave_queue(int who, way why, std::uint64_t now) {
  row& r = at(who);
  const int g = r.parent;
  account(g, now);
  drop_buddy(who);
  if (why == way::to_sleep && on(feature::delay_dequeue) && !eligible(who)) {
    r.delayed = true;
    return false;
  }
  settle(g);
  r.vlag = lag_of(who);
  r.token = static_cast<std::uint64_t>(r.vlag);
  if (why == way::to_be_changed && on(feature::place_rel_deadline)) {
    r.deadline -= r.vruntime;
    r.relative = true;
  }
  r.queued = false;
  constexpr std::int64_t kept_ns = 1'000'000;
  if (at(g).limited && on_queue(g).empty() && at(g).in_hand_ns > kept_ns) {
    at(g).pool.runtime_ns += static_cast<std::uint64_t>(at(g).in_hand_ns - kept_ns);
    at(g).in_hand_ns = kept_ns;
  }
  refresh_weight(who, now);
  if (why == way::delay_over) {
    r.delayed = false;
    if (on(feature::delay_zero)) r.vlag = std::min<std::int64_t>(r.vlag, 0);
    r.token = static_cast<std::uint64_t>(r.vlag);
  }
  return true;
}

void tree_model::requeue(int who) {
  row& r = at(who);
  r.delayed = false;
  if (!on(feature::delay_zero)) return;
  settle(r.parent);
  r.vlag = lag_of(who);
  r.token = static_cast<std::uint64_t>(r.vlag);
  if (r.vlag <= 0) return;
  r.queued = false;
  r.vlag = 0;
  r.token = 0;
  place(who, false);
  r.queued = true;
  r.turn = ++turns_;
}

void tree_model::refresh_weight(int g, std::uint64_t now) {
  row& r = at(g);
  if (!r.is_group || on_queue(g).empty() || throttled_above(g) > 0) return;
  if (r.full_weight == r.shares) return;
  if (!r.queued) {
    r.vlag = mul_div(r.vlag, r.full_weight, r.shares);
    r.token = static_cast<std::uint64_t>(r.vlag);
  } else {
    account(r.parent, now);
    const std::uint64_t centre = settle(r.parent);
    const std::int64_t lag = mul_div(lag_of(g), r.full_weight, r.shares);
    if (centre != r.vruntime) r.vruntime = centre - static_cast<std::uint64_t>(lag);
    const std::int64_t ahead = distance(r.deadline, centre);
    r.deadline = centre + static_cast<std::uint64_t>(mul_div(ahead, r.full_weight, r.shares));
    r.turn = ++turns_;
  }
  r.full_weight = r.shares;
  r.inverse = inverse_of_group(r.shares);
}

void tree_model::refresh_slice(int g, std::uint64_t slice_ns) {
  constexpr std::uint64_t weights[40] = {
      88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
      3906,  3121,  2501,  1991,  1586,  1277,  1024,  820,   655,   526,   423,  335,  272,  215,
      172,   137,   110,   87,    70,    56,    45,    36,    29,    23,    18,   15};
  const int nice = at(g).latency_nice;
  at(g).slice_ns = nice == 0 ? slice_ns : config_.base_slice_ns * 1024 / weights[nice + 20];
}

void tree_model::refresh_from(int g, std::uint64_t slice_ns, std::uint64_t now) {
  for (const int up : path(g)) {
    refresh_weight(up, now);
    refresh_slice(up, slice_ns);
    if (queue_of(up).throttled) return;
    slice_ns = min_slice(at(up).parent);
  }
}

// ---- The tree

void tree_model::enqueue(int who, bool first, std::uint64_t now) {
  for (const int up : path(who)) {
    if (up != who) {
      const std::uint64_t slice_ns = min_slice(up);
      if (at(up).queued) {
        if (at(up).delayed) requeue(up);
        return refresh_from(up, slice_ns, now);
      }
      refresh_slice(up, slice_ns);
      at(up).own_slice = true;
    }
    join_queue(up, first && up == who, now);
    if (queue_of(up).throttled) return;
  }
}

bool tree_model::dequeue(int who, way why, std::uint64_t now) {
  const bool sleeps = why != way::to_be_changed;
  for (const int up : path(who)) {
    const int g = at(up).parent;
    if (!leave_queue(up, up == who ? why : way::to_sleep, now)) {
      if (!at(up).is_group) return true;
      refresh_from(up, min_slice(g), now);
      return false;
    }
    if (at(g).throttled) return false;
    if (on_queue(g).empty()) continue;
    if (g == 0) return false;
    if (sleeps && throttled_above(g) == 0) nominate(g);
    refresh_from(g, min_slice(g), now);
    return false;
  }
  return false;
}

void tree_model::nominate(int who) {
  for (const int up : path(who)) {
    if (!at(up).queued || is_idle(up)) return;
    queue_of(up).buddy = up;
  }
}

void tree_model::drop_buddy(int who) {
  for (const int up : path(who)) {
    if (queue_of(up).buddy != up) return;
    queue_of(up).buddy = -1;
  }
}

int tree_model::pick_task(std::uint64_t now) {
  int g = 0;
  while (!on_queue(0).empty()) {
    if (at(g).running >= 0 && at(at(g).running).queued) account(g, now);
    if (must_stop(g, now)) {
      g = 0;
      continue;
    }
    const int buddy = at(g).buddy;
    const int best = on(feature::pick_buddy) && buddy >= 0 && eligible(buddy) ? buddy : pick(g);
    if (at(best).delayed) {
      dequeue(best, way::delay_over, now);
      g = 0;
      continue;
    }
    if (!at(best).is_group) return best;
    g = best;
  }
  return -1;
}

void tree_model::put(int who, std::uint64_t now) {
  const int g = at(who).parent;
  if (at(who).queued) account(g, now);
  must_stop(g, now);
  if (at(who).queued) at(who).turn = ++turns_;
  at(g).running = -1;
}

void tree_model::set(int who, std::uint64_t now) {
  drop_buddy(who);
  if (at(who).queued) at(who).token = at(who).deadline;
  at(who).charged_until_ns = now;
  queue_of(who).running = who;
}

void tree_model::put_all(std::uint64_t now) {
  for (const int up : path(current_)) put(up, now);
}

void tree_model::set_all(int who, std::uint64_t now) {
  for (const int up : path(who)) {
    set(up, now);
    charge(at(up).parent, 0, now);
  }
}

int tree_model::schedule(std::uint64_t now) {
  const int next = pick_task(now);
  if (next != current_ && current_ >= 0 && next >= 0) {
    int on_cpu = current_;
    int comes = next;
    while (at(on_cpu).parent != at(comes).parent) {
      const int a = depth(comes);
      const int b = depth(on_cpu);
      if (a <= b) {
        put(on_cpu, now);
        on_cpu = at(on_cpu).parent;
      }
      if (a >= b) {
        set(comes, now);
        comes = at(comes).parent;
      }
    }
    put(on_cpu, now);
    set(comes, now);
  } else if (next != current_) {
    if (next < 0) put_all(now);
    if (next >= 0) set_all(next, now);
  }
  current_ = next;
  higher_ = false;
  need_resched_ = false;
  return next;
}

void tree_model::higher_class(std::uint64_t now) {
  run(now);
  if (current_ >= 0) put_all(now);
  current_ = -1;
  higher_ = true;
  need_resched_ = false;
}

void tree_model::run(std::uint64_t now) {
  if (current_ >= 0) account(at(current_).parent, now);
}

void tree_model::tick(std::uint64_t now) {
  if (current_ < 0) return;
  for (const int up : path(current_)) {
    account(at(up).parent, now);
    refresh_weight(up, now);
  }
}

// ---- Tasks

int tree_model::fork(int group, sched_policy policy, int nice, std::uint64_t own_slice_ns,
                     std::uint64_t now) {
  const int who = static_cast<int>(rows_.size());
  row& r = rows_.emplace_back();
  r.parent = group;
  r.policy = policy;
  r.static_nice = nice;
  r.prio_nice = nice;
  r.own_slice = own_slice_ns != 0;
  r.slice_ns = own_slice_ns;
  give_weight(who);
  at(who).vlag = 0;
  enqueue(who, true, now);
  preempt(who, false, now);
  return who;
}

void tree_model::wake(int who, std::uint64_t now) {
  if (at(who).queued && !at(who).delayed) return;
  if (at(who).queued) {
    requeue(who);
  } else {
    enqueue(who, false, now);
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
  if (before.queued) enqueue(who, false, now);
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
    r.own_slice = slice_ns > 0;
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
  g.rest = first_reference;
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
    join_queue(up, false, now);
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

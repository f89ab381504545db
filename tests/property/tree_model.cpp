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
  if (!on(feature::lag_clamp)) return distance(average(r.parent), r.vruntime);
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
  need_resched_ = need_resched_ || !on(feature::tick_repick);
  drop_buddy(c);
}

void tree_model::place(int who, arrival how) {
  row& r = at(who);
  const int g = r.parent;
  const std::uint64_t average_now = settle(g);
  if (!r.own_slice) r.slice_ns = config_.base_slice_ns;
  std::int64_t lag = 0;
  if (on(feature::place_lag) && !on_queue(g).empty()) {
    const std::int64_t others = total_weight(g);
    lag = r.vlag;
    if (on(feature::place_lag_inflate)) {
      lag = static_cast<std::int64_t>(static_cast<wide>(r.vlag) * (others + small(r)) / others);
    }
  }
  r.vruntime = average_now - static_cast<std::uint64_t>(lag);
  if (how == arrival::of_wake && on(feature::fair_sleepers)) {
    r.vruntime -= virtual_ns(config_.tick_ns / (on(feature::gentle_fair_sleepers) ? 2 : 1), r);
  }
  if (on(feature::place_rel_deadline) && r.relative) {
    r.deadline += r.vruntime;
    r.relative = false;
    return;
  }
  const std::uint64_t request = virtual_ns(r.slice_ns, r);
  r.deadline =
      r.vruntime +
      (how == arrival::of_fork && on(feature::place_deadline_initial) ? request / 2 : request);
}

void tree_model::join_queue(int who, arrival how, std::uint64_t now) {
  const int g = at(who).parent;
  const bool runs = at(g).running == who;
  if (runs) place(who, how);
  account(g, now);
  refresh_weight(who, now);
  if (!runs) place(who, how);
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
  place(who, arrival::other);
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
  const int nice = on(feature::latency_slice) ? at(g).latency_nice : 0;
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

void tree_model::enqueue(int who, arrival how, std::uint64_t now) {
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
    join_queue(up, up == who ? how : arrival::other, now);
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
  if (!on(feature::tick_repick)) return;
  for (const int up : path(current_)) {
    need_resched_ = need_resched_ || (at(up).queued && pick(at(up).parent) != up);
  }
}

}  // namespace vlag::test

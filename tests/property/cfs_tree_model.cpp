// SPDX-License-Identifier: Apache-2.0
#include "property/cfs_tree_model.hpp"

#include "property/exact_arithmetic.hpp"

#include <algorithm>
#include <utility>

namespace vlag::test {
namespace {

std::uint64_t virtual_ns(std::uint64_t ns, const cfs_tree_model::row& r) {
  return stretched(ns, r.full_weight, r.inverse);
}

std::uint64_t later(std::uint64_t a, std::uint64_t b) { return distance(b, a) > 0 ? b : a; }

}  // namespace

cfs_tree_model::cfs_tree_model(const cfs_config& config, std::uint64_t start) : config_(config) {
  row& root = rows_.emplace_back();
  root.is_group = true;
  root.parent = -1;
  root.floor = start;
}

// ---- Questions

std::vector<int> cfs_tree_model::path(int who) const {
  std::vector<int> up;
  for (; who > 0; who = at(who).parent) up.push_back(who);
  return up;
}

std::vector<int> cfs_tree_model::on_queue(int g) const {
  std::vector<int> found;
  for (int who = 1; who < static_cast<int>(rows_.size()); ++who) {
    if (at(who).queued && at(who).parent == g) found.push_back(who);
  }
  return found;
}

std::vector<int> cfs_tree_model::waiting(int g) const {
  std::vector<int> order = on_queue(g);
  std::erase(order, at(g).running);
  std::sort(order.begin(), order.end(), [this](int a, int b) {
    const std::int64_t after = distance(at(a).vruntime, at(b).vruntime);
    return after != 0 ? after < 0 : at(a).turn < at(b).turn;
  });
  return order;
}

std::uint64_t cfs_tree_model::load(int g) const {
  std::uint64_t sum = 0;
  for (const int who : on_queue(g)) sum += at(who).full_weight;
  return sum;
}

bool cfs_tree_model::is_idle(int who) const {
  return at(who).is_group ? at(who).idle : at(who).policy == sched_policy::idle;
}

std::uint32_t cfs_tree_model::idle_here(int g) const {
  std::uint32_t found = 0;
  for (const int who : on_queue(g)) found += is_idle(who) ? 1 : 0;
  return found;
}

cfs_tree_model::counts cfs_tree_model::tasks_below(int g) const {
  counts found{};
  for (int who = 1; who < static_cast<int>(rows_.size()); ++who) {
    if (at(who).is_group || !at(who).queued) continue;
    bool idle = false;
    bool below = false;
    for (const int up : path(who)) {
      idle = idle || is_idle(up);
      below = at(up).parent == g;
      if (below) break;
    }
    if (!below) continue;
    ++found.queued;
    found.idle += idle ? 1 : 0;
  }
  return found;
}

bool cfs_tree_model::far_behind(int behind, int ahead) const {
  const std::int64_t gap = distance(at(ahead).vruntime, at(behind).vruntime);
  return gap > static_cast<std::int64_t>(virtual_ns(config_.wakeup_granularity_ns, at(behind)));
}

int cfs_tree_model::pick(int g) const {
  std::vector<int> all = waiting(g);
  const row& queue = at(g);
  if (const int c = queue.running; c >= 0 && at(c).queued) {
    const auto behind = std::find_if(all.begin(), all.end(), [this, c](int who) {
      return distance(at(c).vruntime, at(who).vruntime) < 0;
    });
    all.insert(behind, c);
  }
  if (all.empty()) return -1;
  const auto near = [&](int who) { return who >= 0 && !far_behind(all[0], who); };
  if (near(queue.next)) return queue.next;
  if (near(queue.last)) return queue.last;
  return queue.skip == all[0] && all.size() > 1 && near(all[1]) ? all[1] : all[0];
}

// As if it were on the queue of g.
std::uint64_t cfs_tree_model::slice_on(int g, int who) const {
  const std::size_t here = on_queue(g).size();
  const std::size_t n =
      (on(feature::alt_period) ? tasks_below(0).queued : here) + (at(who).queued ? 0 : 1);
  wide share = config_.latency_ns;
  if (n > config_.nr_latency) share = static_cast<wide>(n) * config_.min_granularity_ns;
  for (const int up : path(who)) {
    const row& r = at(up);
    const std::uint64_t whole = load(r.parent) + (r.queued ? 0 : r.full_weight);
    const wide inverse = std::max<wide>(1, 0xffffffffU / small_of(whole));
    share = share * small_of(r.full_weight) * inverse / (wide{1} << 32);
  }
  if (on(feature::base_slice)) {
    const bool all_idle = here > 0 && here == idle_here(g);
    share = std::max<wide>(share, is_idle(who) && !all_idle ? config_.idle_min_granularity_ns
                                                            : config_.min_granularity_ns);
  }
  return static_cast<std::uint64_t>(share);
}

// ---- One queue

void cfs_tree_model::raise_floor(int g) {
  const std::vector<int> members = on_queue(g);
  if (members.empty()) return;
  std::uint64_t least = at(members.front()).vruntime;
  for (const int who : members) {
    if (distance(at(who).vruntime, least) < 0) least = at(who).vruntime;
  }
  at(g).floor = later(at(g).floor, least);
}

void cfs_tree_model::account(int g, std::uint64_t now) {
  const int c = at(g).running;
  if (c < 0 || distance(now, at(c).charged_until_ns) <= 0) return;
  row& r = at(c);
  const std::uint64_t used = now - r.charged_until_ns;
  r.charged_until_ns = now;
  r.service_ns += used;
  r.vruntime += virtual_ns(used, r);
  raise_floor(g);
}

void cfs_tree_model::place(int g, int who, std::uint64_t now) {
  row& r = at(who);
  std::uint64_t credit = is_idle(who) ? config_.min_granularity_ns : config_.latency_ns;
  if (on(feature::gentle_fair_sleepers)) credit /= 2;
  const std::uint64_t start = at(g).floor - credit;
  constexpr std::uint64_t days_104 = std::uint64_t{1} << 53;
  const bool forgotten =
      r.charged_until_ns != 0 && now > r.charged_until_ns && now - r.charged_until_ns > days_104;
  r.vruntime = forgotten ? start : later(r.vruntime, start);
}

void cfs_tree_model::join_queue(int who, bool woken, std::uint64_t now) {
  const int g = at(who).parent;
  account(g, now);
  if (woken) {
    place(g, who, now);
  } else {
    at(who).vruntime += at(g).floor;
  }
  at(who).queued = true;
  at(who).turn = ++turns_;
}

void cfs_tree_model::leave_queue(int who, bool sleeps, bool advance, std::uint64_t now) {
  const int g = at(who).parent;
  account(g, now);
  drop_buddies(who);
  at(who).queued = false;
  if (!sleeps) at(who).vruntime -= at(g).floor;
  if (advance) raise_floor(g);
}

void cfs_tree_model::put(int who, std::uint64_t now) {
  if (at(who).queued) {
    account(at(who).parent, now);
    at(who).turn = ++turns_;
  }
  queue_of(who).running = -1;
}

void cfs_tree_model::set(int who, std::uint64_t now) {
  drop_buddies(who);
  row& r = at(who);
  r.charged_until_ns = now;
  r.service_at_start_ns = r.service_ns;
  queue_of(who).running = who;
}

// ---- The tree

void cfs_tree_model::enqueue(int who, bool woken, std::uint64_t now) {
  for (const int up : path(who)) {
    if (at(up).queued) return;
    join_queue(up, woken || up != who, now);
  }
}

void cfs_tree_model::dequeue(int who, bool sleeps, bool advance, std::uint64_t now) {
  for (const int up : path(who)) {
    leave_queue(up, sleeps || up != who, advance, now);
    if (on_queue(at(up).parent).empty()) continue;
    if (sleeps) nominate(at(up).parent, &row::next);
    return;
  }
}

void cfs_tree_model::nominate(int who, int row::* slot) {
  for (const int up : path(who)) {
    if (!at(up).queued || is_idle(up)) return;
    queue_of(up).*slot = up;
  }
}

void cfs_tree_model::drop_buddies(int who) {
  for (int row::* slot : {&row::next, &row::last, &row::skip}) {
    for (const int up : path(who)) {
      if (queue_of(up).*slot != up) break;
      queue_of(up).*slot = -1;
    }
  }
}

int cfs_tree_model::schedule(std::uint64_t now) {
  higher_ = false;
  need_resched_ = false;
  int chosen = on_queue(0).empty() ? -1 : 0;
  while (chosen >= 0 && at(chosen).is_group) {
    const int c = at(chosen).running;
    if (c >= 0 && at(c).queued) account(chosen, now);
    chosen = pick(chosen);
  }
  if (chosen == current_) return chosen;
  // What is on both paths stays. The model puts everything back first, and then sets.
  std::vector<int> off = path(current_);
  std::vector<int> in = path(chosen);
  while (off.size() > 1 && in.size() > 1 && off.back() == in.back()) {
    off.pop_back();
    in.pop_back();
  }
  for (const int up : off) put(up, now);
  for (const int up : in) set(up, now);
  return current_ = chosen;
}

// ---- Tasks

int cfs_tree_model::fork(int group, sched_policy policy, int nice, std::uint64_t,
                         std::uint64_t now) {
  const int who = static_cast<int>(rows_.size());
  row& r = rows_.emplace_back();
  r.parent = group;
  r.policy = policy;
  r.static_nice = nice;
  r.prio_nice = nice;
  give_weight(who);
  const int where = current_ < 0 ? 0 : at(current_).parent;
  if (current_ >= 0) {
    account(where, now);
    r.vruntime = at(current_).vruntime;
  }
  std::uint64_t start = at(where).floor;
  if (on(feature::start_debit)) start += virtual_ns(slice_on(where, who), r);
  r.vruntime = later(r.vruntime, start);
  if (config_.child_runs_first && current_ >= 0 &&
      distance(at(current_).vruntime, r.vruntime) < 0) {
    std::swap(at(current_).vruntime, r.vruntime);
    need_resched_ = true;
  }
  r.vruntime -= at(where).floor;
  enqueue(who, false, now);
  preempt(who, true, now);
  return who;
}

void cfs_tree_model::wake(int who, std::uint64_t now) {
  if (at(who).queued) return;
  enqueue(who, true, now);
  preempt(who, false, now);
}

bool cfs_tree_model::block(std::uint64_t now) {
  dequeue(current_, true, true, now);
  return false;
}

void cfs_tree_model::exit(std::uint64_t now) { remove(current_, now); }

void cfs_tree_model::remove(int who, std::uint64_t now) {
  at(who).alive = false;
  if (at(who).queued) dequeue(who, true, true, now);
}

void cfs_tree_model::higher_class(std::uint64_t now) {
  for (const int up : path(current_)) put(up, now);
  current_ = -1;
  need_resched_ = false;
  higher_ = true;
}

void cfs_tree_model::run(std::uint64_t now) {
  if (current_ >= 0) account(at(current_).parent, now);
}

void cfs_tree_model::tick(std::uint64_t now) {
  for (const int up : path(current_)) {
    const int g = at(up).parent;
    account(g, now);
    if (!at(up).queued || on_queue(g).size() < 2) continue;
    const std::uint64_t ideal = slice(up);
    const std::uint64_t ran = at(up).service_ns - at(up).service_at_start_ns;
    if (ran > ideal) {
      need_resched_ = true;
      drop_buddies(up);
    } else if (ran >= config_.min_granularity_ns) {
      const wide lead = distance(at(up).vruntime, at(waiting(g).front()).vruntime);
      need_resched_ = need_resched_ || lead > static_cast<wide>(ideal);
    }
  }
}

void cfs_tree_model::preempt(int woken, bool forked, std::uint64_t now) {
  if (higher_ || woken == current_) return;
  if (current_ < 0) {
    need_resched_ = true;
    return;
  }
  const bool many = on_queue(at(current_).parent).size() >= config_.nr_latency;
  const bool marked = on(feature::next_buddy) && many && !forked;
  if (marked) nominate(woken, &row::next);
  if (need_resched_) return;
  int a = current_;
  if (!is_idle(current_) || is_idle(woken)) {
    if (at(woken).policy != sched_policy::normal || !on(feature::wakeup_preemption)) return;
    // The first ancestors, seen from the root, that differ.
    const std::vector<int> up_a = path(current_);
    const std::vector<int> up_b = path(woken);
    std::size_t shared = 0;
    while (up_a[up_a.size() - 1 - shared] == up_b[up_b.size() - 1 - shared]) ++shared;
    a = up_a[up_a.size() - 1 - shared];
    const int b = up_b[up_b.size() - 1 - shared];
    if (!is_idle(a) && is_idle(b)) return;
    if (is_idle(a) == is_idle(b)) {
      account(at(a).parent, now);
      if (!far_behind(b, a)) return;
      if (!marked) nominate(b, &row::next);
    }
  }
  need_resched_ = true;
  if (on(feature::last_buddy) && many && a == current_) nominate(current_, &row::last);
}

void cfs_tree_model::yield(std::uint64_t now) {
  if (tasks_below(0).queued == 1) return;
  drop_buddies(current_);
  if (at(current_).policy != sched_policy::batch) run(now);
  for (const int up : path(current_)) queue_of(up).skip = up;
}

bool cfs_tree_model::yield_to(int who, std::uint64_t now) {
  if (!at(who).queued) return false;
  nominate(who, &row::next);
  yield(now);
  return true;
}

cfs_tree_model::was cfs_tree_model::take_out(int who, bool advance, std::uint64_t now) {
  const was before{at(who).queued, who == current_};
  if (before.queued) dequeue(who, false, advance, now);
  if (before.running) {
    for (const int up : path(who)) put(up, now);
  }
  return before;
}

void cfs_tree_model::put_back(int who, was before, std::uint64_t now) {
  if (before.queued) enqueue(who, false, now);
  if (!before.running) return;
  for (const int up : path(who)) set(up, now);
}

void cfs_tree_model::give_weight(int who) {
  row& r = at(who);
  const load_weight w =
      r.policy == sched_policy::idle ? weight_of_idle_policy() : weight_of_nice(r.static_nice);
  r.full_weight = w.full;
  r.inverse = w.inverse;
}

void cfs_tree_model::after_priority(int who, int old_nice, std::uint64_t now) {
  if (!at(who).queued || on_queue(0).size() == 1) return;
  if (who != current_) return preempt(who, false, now);
  need_resched_ = need_resched_ || at(who).prio_nice > old_nice;
}

void cfs_tree_model::set_nice(int who, int nice, std::uint64_t now) {
  if (at(who).static_nice == nice) return;
  const int old_nice = at(who).prio_nice;
  const was before = take_out(who, false, now);
  at(who).static_nice = at(who).prio_nice = nice;
  give_weight(who);
  put_back(who, before, now);
  after_priority(who, old_nice, now);
}

bool cfs_tree_model::set_attributes(int who, sched_policy policy, int nice, std::uint64_t,
                                    std::uint64_t now) {
  const bool idle = policy == sched_policy::idle;
  if (at(who).policy == policy && (idle || at(who).static_nice == nice)) return false;
  const int old_nice = at(who).prio_nice;
  const was before = take_out(who, nice != old_nice, now);
  row& r = at(who);
  r.policy = policy;
  r.prio_nice = nice;
  if (!idle) r.static_nice = nice;
  give_weight(who);
  put_back(who, before, now);
  if (nice != old_nice) after_priority(who, old_nice, now);
  return true;
}

void cfs_tree_model::move(int who, int group, std::uint64_t now) {
  const int from = at(who).parent;
  const was before = take_out(who, true, now);
  const bool stays_as_it_is = before.queued || at(who).service_ns == 0;
  if (!stays_as_it_is) {
    place(from, who, now);
    at(who).vruntime += at(group).floor - at(from).floor;
  }
  at(who).parent = group;
  put_back(who, before, now);
  if (before.running) need_resched_ = true;
}

// ---- Groups

int cfs_tree_model::make_group(int parent) {
  row& g = rows_.emplace_back();
  g.is_group = true;
  g.parent = parent;
  return static_cast<int>(rows_.size()) - 1;
}

void cfs_tree_model::set_shares(int g, std::uint64_t shares, std::uint64_t now) {
  row& r = at(g);
  if (r.shares == shares) return;
  if (r.queued && queue_of(g).running == g) account(r.parent, now);
  r.shares = r.full_weight = shares;
  r.inverse = 0xffffffffU / static_cast<std::uint64_t>(small_of(shares));
}

void cfs_tree_model::set_idle(int g, bool idle, std::uint64_t now) {
  if (at(g).idle == idle) return;
  at(g).idle = idle;
  set_shares(g, idle ? 3 << 10 : nice_0_weight, now);
}

}  // namespace vlag::test

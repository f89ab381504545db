// SPDX-License-Identifier: Apache-2.0
#include "property/cfs_model.hpp"

#include "vlag/weight.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace vlag {
namespace {

constexpr wide one = 1;
constexpr wide two_32 = one << 32;
constexpr wide two_63 = one << 63;
constexpr wide two_64 = one << 64;

// The value congruent to v that lies within 2^63 of where.
wide nearest(wide v, wide where) {
  wide off = (v - where) % two_64;
  if (off >= two_63) off -= two_64;
  if (off < -two_63) off += two_64;
  return where + off;
}

wide small(std::uint64_t weight) { return std::max<wide>(2, weight / 1024); }

wide inverse_of_small(wide s) { return std::max<wide>(1, (two_32 - 1) / s); }

void set_table_weight(model_task& t) {
  t.weight = t.idle() ? 3 * 1024 : weight_of_nice(t.static_nice).full;
  t.inverse = t.idle() ? 1431655765 : weight_of_nice(t.static_nice).inverse;
}

}  // namespace

cfs_model::cfs_model(const cfs_config& config, std::uint64_t start)
    : min_vruntime(start), config_(&config) {}

model_task& cfs_model::at(std::uint32_t id) {
  const auto found =
      std::find_if(tasks.begin(), tasks.end(), [&](const auto& t) { return t.id == id; });
  if (found == tasks.end()) throw std::logic_error("the model has no task " + std::to_string(id));
  return *found;
}

const model_task& cfs_model::get(std::uint32_t id) const {
  return const_cast<cfs_model*>(this)->at(id);
}

const model_task* cfs_model::running() const {
  return current != 0 && get(current).queued ? &get(current) : nullptr;
}

std::uint64_t cfs_model::load() const {
  std::uint64_t sum = 0;
  for (const auto& t : tasks) sum += t.queued ? t.weight : 0;
  return sum;
}

std::uint32_t cfs_model::nr_queued() const {
  return static_cast<std::uint32_t>(
      std::count_if(tasks.begin(), tasks.end(), [](const auto& t) { return t.queued; }));
}

std::uint32_t cfs_model::nr_idle() const {
  return static_cast<std::uint32_t>(std::count_if(
      tasks.begin(), tasks.end(), [](const auto& t) { return t.queued && t.idle(); }));
}

std::vector<std::uint32_t> cfs_model::waiting() const {
  std::vector<const model_task*> found;
  for (const auto& t : tasks) {
    if (t.queued && t.id != current) found.push_back(&t);
  }
  std::sort(found.begin(), found.end(), [](const auto* a, const auto* b) {
    return a->vruntime != b->vruntime ? a->vruntime < b->vruntime : a->joined < b->joined;
  });
  std::vector<std::uint32_t> ids;
  for (const auto* t : found) ids.push_back(t->id);
  return ids;
}

// All comparisons are made between queued tasks and the minimum.
void cfs_model::check_range() {
  wide low = min_vruntime;
  wide high = min_vruntime;
  for (const auto& t : tasks) {
    if (!t.queued) continue;
    low = std::min(low, t.vruntime);
    high = std::max(high, t.vruntime);
  }
  if (high - low >= two_63) comparable_ = false;
}

wide cfs_model::virtual_time(std::uint64_t ns, const model_task& t) const {
  if (t.weight == 1024 * 1024) return ns;
  const wide inverse = t.inverse != 0 ? t.inverse : inverse_of_small(small(t.weight));
  return wide{ns} * 1024 * inverse / two_32;
}

std::uint64_t cfs_model::slice(const model_task& t) const {
  const std::uint64_t n = nr_queued() + (t.queued ? 0U : 1U);
  wide share = config_->latency_ns;
  if (n > config_->nr_latency) share = wide{n} * config_->min_granularity_ns;
  const wide whole = small(load() + (t.queued ? 0 : t.weight));
  share = share * small(t.weight) * inverse_of_small(whole) / two_32;
  if (on(feature::base_slice)) {
    const bool only_idle = nr_queued() > 0 && nr_queued() == nr_idle();
    const bool small_floor = t.idle() && !only_idle;
    share = std::max<wide>(
        share, small_floor ? config_->idle_min_granularity_ns : config_->min_granularity_ns);
  }
  return static_cast<std::uint64_t>(share);
}

std::uint64_t cfs_model::time_to_request_end() const {
  if (running() == nullptr || waiting().empty()) return UINT64_MAX;
  const wide left = wide{slice(get(current))} - get(current).sum_exec + get(current).prev_sum_exec;
  return static_cast<std::uint64_t>(std::max<wide>(0, left));
}

int cfs_model::gap(const model_task& ahead, const model_task& behind) const {
  const wide distance = ahead.vruntime - behind.vruntime;
  if (distance <= 0) return -1;
  return distance > virtual_time(config_->wakeup_granularity_ns, behind) ? 1 : 0;
}

std::uint32_t cfs_model::pick() const {
  const model_task* const c = running();
  const auto order = waiting();
  if (order.empty()) return c != nullptr ? c->id : 0;
  std::vector<std::uint32_t> all = order;
  // The running task stands before the first one that it is strictly before.
  if (c != nullptr) {
    const auto place = std::find_if(
        all.begin(), all.end(), [&](std::uint32_t id) { return c->vruntime < get(id).vruntime; });
    all.insert(place, c->id);
  }
  const model_task& left = get(all[0]);
  std::uint32_t chosen = left.id;
  if (skip == left.id && all.size() > 1 && gap(get(all[1]), left) < 1) chosen = all[1];
  if (next != 0 && gap(get(next), left) < 1) {
    chosen = next;
  } else if (last != 0 && gap(get(last), left) < 1) {
    chosen = last;
  }
  return chosen;
}

void cfs_model::charge(std::uint64_t now) {
  if (current == 0) return;
  model_task& c = at(current);
  if (now <= c.exec_start) return;
  const std::uint64_t ran = now - c.exec_start;
  c.exec_start = now;
  c.sum_exec += ran;
  const wide charged = virtual_time(ran, c);
  if (charged >= two_63) comparable_ = false;
  c.vruntime += charged;
  check_range();
  raise_min();
}

void cfs_model::raise_min() {
  std::optional<wide> lowest;
  for (const auto& t : tasks) {
    if (t.queued && (!lowest || t.vruntime < *lowest)) lowest = t.vruntime;
  }
  if (lowest) min_vruntime = std::max(min_vruntime, *lowest);
}

void cfs_model::place(model_task& t, bool fresh, std::uint64_t now) {
  wide x = min_vruntime;
  if (fresh) {
    if (on(feature::start_debit)) x += virtual_time(slice(t), t);
  } else {
    std::uint64_t credit = t.idle() ? config_->min_granularity_ns : config_->latency_ns;
    if (on(feature::gentle_fair_sleepers)) credit /= 2;
    x -= credit;
  }
  constexpr std::uint64_t days_104 = std::uint64_t{1} << 53;
  const bool long_sleeper =
      t.exec_start != 0 && now > t.exec_start && now - t.exec_start > days_104;
  t.vruntime = long_sleeper ? x : std::max(nearest(t.vruntime, x), x);
}

void cfs_model::join(model_task& t, bool woken, std::uint64_t now) {
  charge(now);
  if (woken) {
    place(t, false, now);
  } else {
    t.vruntime += min_vruntime;
  }
  t.queued = true;
  t.joined = ++insertions_;
  check_range();
}

void cfs_model::leave(model_task& t, bool sleeps, bool advance, std::uint64_t now) {
  charge(now);
  forget_buddy(t.id);
  t.queued = false;
  if (!sleeps) t.vruntime -= min_vruntime;
  if (advance) raise_min();
}

void cfs_model::put(std::uint64_t now) {
  if (running() != nullptr) {
    charge(now);
    at(current).joined = ++insertions_;
  }
  current = 0;
}

void cfs_model::set(model_task& t, std::uint64_t now) {
  forget_buddy(t.id);
  t.exec_start = now;
  t.prev_sum_exec = t.sum_exec;
  current = t.id;
}

void cfs_model::forget_buddy(std::uint32_t id) {
  for (std::uint32_t* buddy : {&next, &last, &skip}) {
    if (*buddy == id) *buddy = 0;
  }
}

void cfs_model::preempt(const model_task& woken, bool fork, std::uint64_t now) {
  if (higher_) return;
  if (current == 0) {
    resched = true;
    return;
  }
  if (woken.id == current) return;
  const bool many = nr_queued() >= config_->nr_latency;
  const bool marked = on(feature::next_buddy) && many && !fork;
  if (marked && !woken.idle()) next = woken.id;
  if (resched) return;
  if (!(get(current).idle() && !woken.idle())) {
    if (woken.policy != sched_policy::normal || !on(feature::wakeup_preemption)) return;
    charge(now);
    if (gap(get(current), woken) != 1) return;
    if (!marked) next = woken.id;
  }
  resched = true;
  if (on(feature::last_buddy) && many && !get(current).idle()) last = current;
}

void cfs_model::place_new(std::uint32_t id, sched_policy policy, int nice, std::uint64_t now) {
  model_task fresh;
  fresh.id = id;
  fresh.policy = policy;
  fresh.static_nice = nice;
  fresh.prio_nice = nice;
  set_table_weight(fresh);
  const auto where = std::find_if(tasks.begin(), tasks.end(), [&](auto& t) { return t.id > id; });
  model_task& child = *tasks.insert(where, fresh);
  if (current != 0) {
    charge(now);
    child.vruntime = at(current).vruntime;
  }
  place(child, true, now);
  if (config_->child_runs_first && current != 0 && at(current).vruntime < child.vruntime) {
    std::swap(at(current).vruntime, child.vruntime);
    resched = true;
  }
  child.vruntime -= min_vruntime;
}

void cfs_model::enqueue_new(std::uint32_t id, std::uint64_t now) {
  join(at(id), false, now);
  preempt(at(id), true, now);
}

void cfs_model::wake(std::uint32_t id, std::uint64_t now) {
  if (at(id).queued) return;
  join(at(id), true, now);
  preempt(at(id), false, now);
}

void cfs_model::wake_queued(std::uint32_t id, std::uint64_t now) { preempt(at(id), false, now); }

void cfs_model::block(std::uint64_t now) { leave(at(current), true, true, now); }

// The leaving task is listed until schedule().
void cfs_model::exit(std::uint64_t now) { block(now); }

void cfs_model::remove(std::uint32_t id, std::uint64_t now) {
  if (at(id).queued) leave(at(id), true, true, now);
  std::erase_if(tasks, [&](const auto& t) { return t.id == id; });
}

void cfs_model::schedule(std::uint64_t now) {
  higher_ = false;
  resched = false;
  if (nr_queued() == 0) return put(now);
  if (running() != nullptr) charge(now);
  const std::uint32_t chosen = pick();
  if (chosen == current) return;
  put(now);
  set(at(chosen), now);
}

void cfs_model::yield_cpu_to_higher_class(std::uint64_t now) {
  put(now);
  resched = false;
  higher_ = true;
}

void cfs_model::account(std::uint64_t now) { charge(now); }

void cfs_model::tick(std::uint64_t now) {
  if (current == 0) return;
  charge(now);
  if (nr_queued() <= 1) return;
  const model_task& c = at(current);
  const std::uint64_t ideal = slice(c);
  const std::uint64_t ran = c.sum_exec - c.prev_sum_exec;
  if (ran > ideal) {
    resched = true;
    forget_buddy(current);
    return;
  }
  if (ran < config_->min_granularity_ns) return;
  if (c.vruntime - get(waiting()[0]).vruntime > wide{ideal}) resched = true;
}

void cfs_model::yield(std::uint64_t now) {
  if (nr_queued() == 1) return;
  forget_buddy(current);
  if (at(current).policy != sched_policy::batch) charge(now);
  skip = current;
}

bool cfs_model::yield_to(std::uint32_t id, std::uint64_t now) {
  if (!at(id).queued) return false;
  if (!at(id).idle()) next = id;
  yield(now);
  return true;
}

void cfs_model::change(model_task& t, sched_policy policy, int static_nice, int prio_nice,
                       bool advance, std::uint64_t now) {
  const bool was_queued = t.queued;
  const bool was_running = t.id == current;
  if (was_queued) leave(t, false, advance, now);
  if (was_running) put(now);
  t.policy = policy;
  t.static_nice = static_nice;
  t.prio_nice = prio_nice;
  set_table_weight(t);
  if (was_queued) join(t, false, now);
  if (was_running) set(t, now);
}

void cfs_model::priority_changed(const model_task& t, int old_nice, std::uint64_t now) {
  if (!t.queued || nr_queued() == 1) return;
  if (t.id != current) {
    preempt(t, false, now);
  } else if (t.prio_nice > old_nice) {
    resched = true;
  }
}

void cfs_model::set_nice(std::uint32_t id, int nice, std::uint64_t now) {
  model_task& t = at(id);
  if (nice == t.static_nice) return;
  const int old_nice = t.prio_nice;
  change(t, t.policy, nice, nice, false, now);
  priority_changed(t, old_nice, now);
}

bool cfs_model::set_attributes(std::uint32_t id, sched_policy policy, int nice, std::uint64_t now) {
  model_task& t = at(id);
  if (policy == t.policy && (t.idle() || nice == t.static_nice)) return false;
  const int old_nice = t.prio_nice;
  const bool keeps_nice = policy == sched_policy::idle;
  change(t, policy, keeps_nice ? t.static_nice : nice, nice, nice != old_nice, now);
  if (nice != old_nice) priority_changed(t, old_nice, now);
  return true;
}

void cfs_model::reweight(std::uint32_t id, std::uint64_t weight, std::uint64_t now) {
  model_task& t = at(id);
  if (t.queued && t.id == current) charge(now);
  t.weight = weight;
  t.inverse = 0;
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// The tree of queues. Each step works on one queue; an operation climbs from a task to the root and
// stops having to move entities where a queue keeps others, or has them already. Without groups
// every climb ends after its first step.
#include "core/bandwidth_rules.hpp"
#include "core/tree_walk.hpp"
#include "vlag/cfs_class.hpp"

#include <new>

namespace vlag {

// ---- One queue

void cfs_class::charge_limited(cfs_level& level) noexcept {
  const entity* const c = level.queue.current();
  if (c == nullptr) return;
  const std::uint64_t before_ns = c->sum_exec_ns;
  level.queue.account(clock_ns_);
  const std::uint64_t ran_ns = c->sum_exec_ns - before_ns;
  if (ran_ns != 0) bandwidth::charge(*this, level, ran_ns, clock_ns_);
}

inline void cfs_class::enqueue_entity(entity& e, entry how) noexcept {
  cfs_level& level = cfs_level_of(e);
  if (level.limited) charge_limited(level);
  if (how == entry::woken) {
    level.queue.enqueue_woken(e, kind_of(e), clock_ns_);
  } else {
    level.queue.enqueue_relative(e, kind_of(e), clock_ns_);
  }
  if (level.limited) bandwidth::throttle_on_enqueue(*this, level, clock_ns_);
}

inline void cfs_class::dequeue_entity(entity& e, kept_vruntime keep, floor_update floor) noexcept {
  cfs_level& level = cfs_level_of(e);
  if (level.limited) charge_limited(level);
  drop_above(e, level.queue.dequeue(e, kind_of(e), keep, floor, clock_ns_));
  if (level.limited) bandwidth::give_back(level);
}

void cfs_class::put_limited(cfs_level& level) noexcept {
  const entity* const c = level.queue.current();
  if (c != nullptr && c->queued) charge_limited(level);
  static_cast<void>(bandwidth::throttle_if_used_up(*this, level, clock_ns_));
}

inline void cfs_class::put(cfs_level& level) noexcept {
  if (level.limited) put_limited(level);
  level.queue.put_back(clock_ns_);
}

inline void cfs_class::set(cfs_level& level, entity& e) noexcept {
  drop_above(e, level.queue.set_running(e, clock_ns_));
}

// As if e were on that queue; the tree is climbed from where e really is.
std::uint64_t cfs_class::slice_on(const cfs_queue& queue, const entity& e) const noexcept {
  const bool all_tasks = config_->features.has(feature::alt_period);
  const std::uint64_t n =
      (all_tasks ? root_.h_nr_queued : queue.nr_queued()) + (e.queued ? 0U : 1U);
  std::uint64_t slice_ns = queue.period(n);
  for (const entity* at = &e; at->parent != nullptr; at = at->parent) {
    slice_ns = cfs_level_of(*at).queue.part_of(slice_ns, *at);
  }
  return queue.at_least_granularity(slice_ns, kind_of(e));
}

inline void cfs_class::check_share(cfs_level& level) noexcept {
  const entity& c = *level.queue.current();
  switch (level.queue.check_share(slice_of(c))) {
    case share_state::used_up:
      drop_buddies(c);
      return reschedule(decision::ran_its_share, c);
    case share_state::ahead_of_others:
      return reschedule(decision::ran_ahead, c);
    case share_state::not_used_up:
      return;
  }
}

void cfs_class::tick(std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  if (running_ == nullptr) return;
  for (entity* e = running_; e->parent != nullptr; e = e->parent) {
    cfs_level& level = cfs_level_of(*e);
    account_queue(level);
    if (e->queued && level.queue.nr_queued() > 1) check_share(level);
  }
}

// ---- Joining and leaving

void cfs_class::enqueue(task& t, entry how) noexcept {
  task_counts joined{1, 1, 0, is_idle(t) ? 1U : 0U};
  bool joins = true;
  for (entity* e = &t; e->parent != nullptr; e = e->parent) {
    joins = joins && !e->queued;
    if (joins) enqueue_entity(*e, how);
    cfs_level& level = cfs_level_of(*e);
    level.count_tasks(joined);
    if (level.throttled) return;
    how = entry::woken;
  }
}

void cfs_class::dequeue(task& t, kept_vruntime keep, floor_update floor) noexcept {
  const bool sleeps = keep == kept_vruntime::absolute;
  task_counts left{0U - 1U, 0U - 1U, 0, is_idle(t) ? 0U - 1U : 0U};
  bool leaves = true;
  for (entity* e = &t; e->parent != nullptr; e = e->parent) {
    if (leaves) dequeue_entity(*e, keep, floor);
    cfs_level& level = cfs_level_of(*e);
    level.count_tasks(left);
    if (level.throttled) return;
    if (leaves && level.queue.nr_queued() != 0) {
      leaves = false;
      if (sleeps && level.throttle_count == 0) nominate_next(level);
    }
    keep = kept_vruntime::absolute;
  }
}

// ---- Buddies

void cfs_class::nominate_next(entity& e) noexcept {
  for (entity* at = &e; at->parent != nullptr; at = at->parent) {
    if (!at->queued || is_idle(*at)) return;
    cfs_level_of(*at).queue.set_next(*at);
  }
}

void cfs_class::nominate_last(entity& e) noexcept {
  for (entity* at = &e; at->parent != nullptr; at = at->parent) {
    if (!at->queued || is_idle(*at)) return;
    cfs_level_of(*at).queue.set_last(*at);
  }
}

void cfs_class::skip_once(entity& e) noexcept {
  for (entity* at = &e; at->parent != nullptr; at = at->parent) {
    cfs_level_of(*at).queue.set_skip(*at);
  }
}

void cfs_class::drop_buddies(const entity& e) noexcept {
  drop_above(e, cfs_level_of(e).queue.drop_buddies(e));
}

// ---- Who runs

inline task* cfs_class::pick() noexcept {
  cfs_level* level = &root_;
  while (root_.queue.nr_queued() != 0) {
    const entity* const c = level->queue.current();
    if (c != nullptr && c->queued) account_queue(*level);
    if (level->limited && bandwidth::throttle_if_used_up(*this, *level, clock_ns_)) {
      level = &root_;
      continue;
    }
    if (choice_hook_ != nullptr) choice_hook_(choice_context_, *level);
    entity* const best = level->queue.pick();
    if (!best->is_group) return static_cast<task*>(best);
    level = static_cast<cfs_level*>(best);
  }
  return nullptr;
}

void cfs_class::put_all(task& t) noexcept {
  for (entity* e = &t; e->parent != nullptr; e = e->parent) put(cfs_level_of(*e));
}

void cfs_class::set_all(task& t) noexcept {
  for (entity* e = &t; e->parent != nullptr; e = e->parent) {
    cfs_level& level = cfs_level_of(*e);
    set(level, *e);
    if (level.limited) bandwidth::charge(*this, level, 0, clock_ns_);
  }
}

// The same task again goes on with its share and keeps its buddy roles, and so do the groups that
// both tasks are in.
task* cfs_class::schedule(std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  task* const previous = running_;
  task* const next = pick();
  if (next != previous) {
    if (next == nullptr) {
      put_all(*previous);
    } else if (previous == nullptr) {
      set_all(*next);
    } else {
      walk_switch(
          *previous, *next, [&](entity& e) { put(cfs_level_of(e)); },
          [&](entity& e) { set(cfs_level_of(e), e); });
    }
    running_ = next;
  }
  higher_class_runs_ = false;
  need_resched_ = false;
  return next;
}

// ---- Groups

void cfs_class::join_tree(task_group& root, unsigned cpu) noexcept {
  root_.group = &root;
  cpu_ = cpu;
}

group_part* cfs_class::make_part(void* memory, task_group& g, group_part& parent) noexcept {
  if (!storage_->reserve_place()) return nullptr;
  auto* part = new (memory) cfs_level(*config_, *storage_);
  part->group = &g;
  part->parent = &parent;
  part->depth = parent.depth + 1;
  part->throttle_count = parent.throttle_count;
  return part;
}

void cfs_class::remove_part(group_part& part, std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  drop_buddies(part);
  static_cast<cfs_level&>(part).~cfs_level();
  storage_->release_place();
}

bool cfs_class::is_current(const group_part& part) const noexcept {
  return cfs_level_of(part).queue.current() == &part;
}

void cfs_class::idle_changed(group_part& part) noexcept {
  cfs_level_of(part).queue.kind_changed(kind_of(part));
}

// The entity changes at once, also while it is empty, and only on its own queue.
void cfs_class::shares_changed(group_part& part, std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  const std::uint64_t shares = part.shares();
  if (part.weight.full == shares) return;
  cfs_level& level = cfs_level_of(part);
  if (level.limited && part.queued && level.queue.current() == &part) charge_limited(level);
  level.queue.reweight(part, shares, clock_ns_);
}

// ---- Bandwidth

void cfs_class::leave_throttled(entity& e, std::uint64_t /*now_ns*/) noexcept {
  dequeue_entity(e, kept_vruntime::absolute, floor_update::advance);
}

bool cfs_class::join_unthrottled(entity& e, std::uint64_t /*now_ns*/) noexcept {
  if (e.queued) return false;
  enqueue_entity(e, entry::woken);
  return true;
}

void cfs_class::bandwidth_changed(group_part& part, std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  bandwidth::limit_changed(*this, static_cast<cfs_level&>(part), clock_ns_);
}

void cfs_class::bandwidth_refilled(group_part& part, std::uint64_t now_ns) noexcept {
  read_clock(now_ns);
  bandwidth::refilled(*this, static_cast<cfs_level&>(part), clock_ns_);
}

bool cfs_class::is_throttled(const group_part& part) const noexcept { return part.throttled; }

}  // namespace vlag

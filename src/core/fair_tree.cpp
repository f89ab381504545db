// SPDX-License-Identifier: Apache-2.0
//
// The tree of queues. Each step works on one queue; an operation climbs from a task to the root and
// stops having to move entities where a queue keeps others, or has them already. Without groups
// every climb ends after its first step.
#include "core/bandwidth_rules.hpp"
#include "core/mutant.hpp"
#include "core/tree_walk.hpp"
#include "vlag/fair_class.hpp"
#include "vlag/weight.hpp"

namespace vlag {

// ---- One queue

void fair_class::charge_time(fair_level& level, std::uint64_t now_ns) noexcept {
  entity* const c = level.queue.current();
  const std::uint64_t before_ns = c->sum_exec_ns;
  const run_queue::verdict found = level.queue.account(now_ns);
  if (level.limited) bandwidth::charge(*this, level, c->sum_exec_ns - before_ns, now_ns);
  if (found == run_queue::verdict::may_go_on) return;
  give_way(*c, found);
}

void fair_class::give_way(const entity& running, run_queue::verdict why) noexcept {
  drop_buddy(running);
  if (config_->features.has(feature::tick_repick)) return;
  need_resched_ = true;
  tell(why == run_queue::verdict::request_used_up ? decision::request_used_up
                                                  : decision::ineligible_gives_way,
       running);
}

void fair_class::account(std::uint64_t now_ns) noexcept {
  if (running_ != nullptr) account_queue(level_of(*running_), now_ns);
}

void fair_class::tick(std::uint64_t now_ns) noexcept {
  if (running_ == nullptr) return;
  fair_level* level = &level_of(*running_);
  account_queue(*level, now_ns);
  for (; level->parent != nullptr; level = &level_of(*level)) {
    account_queue(level_of(*level), now_ns);
    refresh_weight(*level, now_ns);
  }
  if (config_->features.has(feature::tick_repick)) [[unlikely]]
    repick();
}

// Whoever runs, on each queue up to the root, is still whom that queue would pick, or must go.
void fair_class::repick() noexcept {
  for (entity* e = running_; e->parent != nullptr; e = e->parent) {
    run_queue& queue = level_of(*e).queue;
    if (queue.nr_queued() > 1 && queue.pick() != e) {
      reschedule(decision::tick_repicks, *e);
      return;
    }
  }
}

// The weight of a group takes effect while something in it competes.
void fair_class::refresh_weight(entity& e, std::uint64_t now_ns) noexcept {
  if (!e.is_group) return;
  const fair_level& own = own_level(e);
  if (own.queue.load() == 0 || own.throttle_count != 0) return;
  const std::uint64_t shares = own.shares();
  if (e.weight.full == shares) return;
  if (e.queued) account_queue(level_of(e), now_ns);
  level_of(e).queue.reweight(e, shares);
}

std::uint64_t fair_class::slice_of_group(const entity& e,
                                         std::uint64_t shortest_inside_ns) const noexcept {
  const int latency_nice = static_cast<const group_part&>(e).group->latency_nice();
  return latency_nice == 0 || !config_->features.has(feature::latency_slice)
             ? shortest_inside_ns
             : latency_slice_ns(config_->base_slice_ns, latency_nice);
}

void fair_class::enqueue_entity(entity& e, placement how, std::uint64_t now_ns) noexcept {
  fair_level& level = level_of(e);
  // What comes back before it has left the CPU is placed before its own time is counted.
  const bool runs = &e == level.queue.current();
  if (runs) level.queue.place(e, how);
  account_queue(level, now_ns);
  refresh_weight(e, now_ns);
  if (!runs) level.queue.place(e, how);
  level.queue.attach(e);
  level.nr_idle += is_idle(e) ? 1 : 0;
  if (level.limited) bandwidth::throttle_on_enqueue(*this, level, now_ns);
}

// False: it stays, delayed.
bool fair_class::dequeue_entity(entity& e, leaving why, std::uint64_t now_ns) noexcept {
  fair_level& level = level_of(e);
  account_queue(level, now_ns);
  drop_buddy(e);
  if (why == leaving::to_sleep && config_->features.has(feature::delay_dequeue) &&
      !level.queue.eligible(e)) {
    begin_delay(e);
    return false;
  }
  level.queue.detach(
      e, why == leaving::to_be_changed ? departure::to_be_changed : departure::to_sleep);
  level.nr_idle -= is_idle(e) ? 1 : 0;
  if (level.limited) bandwidth::give_back(level);
  refresh_weight(e, now_ns);
  if (why == leaving::delay_complete) {
    count_end_of_delay(e);
    level.queue.end_delay(e);
  }
  return true;
}

void fair_class::put(fair_level& level, entity& e, std::uint64_t now_ns) noexcept {
  if (e.queued) account_queue(level, now_ns);
  if (level.limited) static_cast<void>(bandwidth::throttle_if_used_up(*this, level, now_ns));
  level.queue.put_current();
}

void fair_class::set(fair_level& level, entity& e, std::uint64_t now_ns) noexcept {
  if (level.queue.buddy() == &e) drop_buddies(e);
  level.queue.set_current(e, now_ns);
}

// ---- Joining

placement fair_class::placement_of(entry how) noexcept {
  if (how == entry::forked) return placement::of_new_task;
  return how == entry::woken ? placement::of_sleeper : placement::of_known_entity;
}

void fair_class::enqueue(task& t, entry how, std::uint64_t now_ns) noexcept {
  const bool delayed = how != entry::woken && t.sched_delayed;
  task_counts joined{1, delayed ? 0U : 1U, delayed ? 1U : 0U, is_idle(t) ? 1U : 0U};
  placement place = placement_of(how);
  for (entity* e = &t;;) {
    fair_level& level = level_of(*e);
    enqueue_entity(*e, place, now_ns);
    level.count_tasks(joined);
    if (level.throttled || level.parent == nullptr) return;

    place = placement::of_known_entity;
    e = &level;
    if (e->queued) {
      if (e->sched_delayed) requeue_delayed(*e);
      refresh_ancestors(*e, joined, now_ns);
      return;
    }
    e->slice_ns = slice_of_group(*e, level.queue.min_slice());
    e->custom_slice = true;
  }
}

// From the entity of a group up, for groups that stay where they are: what changed inside shows in
// their weight, their slice and the counts of tasks.
void fair_class::refresh_ancestors(entity& group_entity, task_counts change,
                                   std::uint64_t now_ns) noexcept {
  std::uint64_t shortest_ns = own_level(group_entity).queue.min_slice();
  refresh_ancestors(group_entity, shortest_ns, change, now_ns);
}

void fair_class::refresh_ancestors(entity& group_entity, std::uint64_t shortest_ns,
                                   task_counts change, std::uint64_t now_ns) noexcept {
  for (entity* e = &group_entity; e->parent != nullptr; e = e->parent) {
    fair_level& level = level_of(*e);
    refresh_weight(*e, now_ns);
    if (!mutant(fault::slice_stays_below)) {
      level.queue.set_slice(*e, slice_of_group(*e, shortest_ns));
    }
    shortest_ns = level.queue.min_slice();
    level.count_tasks(change);
    if (level.throttled) return;
  }
}

// ---- Leaving

// Takes out e, and the groups that it leaves empty. True: e is a task and stays, delayed.
bool fair_class::dequeue(entity& leaver, leaving why, std::uint64_t now_ns) noexcept {
  const bool sleeps = why != leaving::to_be_changed;
  task_counts left{};
  if (!leaver.is_group) {
    const bool delayed = leaver.sched_delayed && !sleeps;
    left = {0U - 1U, delayed ? 0U : 0U - 1U, delayed ? 0U - 1U : 0U,
            is_idle(leaver) ? 0U - 1U : 0U};
  }
  for (entity* e = &leaver;;) {
    fair_level& level = level_of(*e);
    if (!dequeue_entity(*e, why, now_ns)) {
      if (!e->is_group) return true;
      // An empty group has no slice of its own: it takes that of the queue it waits on.
      fair_level& slices = mutant(fault::empty_group_infinite) ? own_level(*e) : level;
      refresh_ancestors(*e, slices.queue.min_slice(), left, now_ns);
      return false;
    }
    level.count_tasks(left);
    if (level.throttled || level.parent == nullptr) return false;
    if (level.queue.load() != 0) {
      if (sleeps && level.throttle_count == 0) nominate(level);
      refresh_ancestors(level, left, now_ns);
      return false;
    }
    e = &level;
    why = leaving::to_sleep;
  }
}

// ---- Delayed entities

void fair_class::begin_delay(entity& e) noexcept {
  e.sched_delayed = true;
  tell(decision::dequeue_delayed, e);
  if (mutant(fault::delayed_counts_runnable)) return;
  if (!e.is_group) count_runnable(e, 0U - 1U);
}

void fair_class::count_end_of_delay(const entity& e) noexcept {
  if (mutant(fault::delayed_counts_runnable)) return;
  if (!e.is_group) count_runnable(e, 1);
}

// So many tasks become runnable that were delayed, on all queues above.
void fair_class::count_runnable(const entity& e, std::uint32_t tasks) noexcept {
  for (const entity* at = &e; at->parent != nullptr; at = at->parent) {
    fair_level& level = level_of(*at);
    level.h_nr_runnable += tasks;
    level.h_nr_delayed -= tasks;
    if (level.throttled) return;
  }
}

void fair_class::requeue_delayed(entity& e) noexcept {
  level_of(e).queue.requeue_delayed(e);
  count_end_of_delay(e);
  tell(decision::delayed_requeued, e);
}

// ---- Buddies: each queue's favourite for the next pick

void fair_class::nominate(entity& e) noexcept {
  for (entity* at = &e; at->parent != nullptr; at = at->parent) {
    if (!at->queued || is_idle(*at)) return;
    level_of(*at).queue.set_buddy(*at);
  }
}

void fair_class::drop_buddies(const entity& e) noexcept {
  for (const entity* at = &e; at->parent != nullptr; at = at->parent) {
    run_queue& queue = level_of(*at).queue;
    if (queue.buddy() != at) return;
    queue.drop_buddy(*at);
  }
}

// ---- Who runs

inline task* fair_class::pick(std::uint64_t now_ns) noexcept {
  fair_level* level = &root_;
  while (root_.queue.nr_queued() != 0) {
    const entity* c = level->queue.current();
    if (c != nullptr && c->queued) account_queue(*level, now_ns);
    if (level->limited && bandwidth::throttle_if_used_up(*this, *level, now_ns)) {
      level = &root_;
      continue;
    }
    if (choice_hook_ != nullptr) choice_hook_(choice_context_, *level);
    entity* best = level->queue.pick_next();
    if (best->sched_delayed) {
      complete_delayed(*best, now_ns);
      level = &root_;
      continue;
    }
    if (!best->is_group) return static_cast<task*>(best);
    level = &own_level(*best);
  }
  return nullptr;
}

void fair_class::complete_delayed(entity& e, std::uint64_t now_ns) noexcept {
  dequeue(e, leaving::delay_complete, now_ns);
  tell(decision::delayed_completed, e);
}

// The groups that both are in stay where they are: their requests go on, whoever runs inside.
inline void fair_class::switch_tasks(task& previous, task& next, std::uint64_t now_ns) noexcept {
  walk_switch(
      previous, next, [&](entity& e) { put(level_of(e), e, now_ns); },
      [&](entity& e) { set(level_of(e), e, now_ns); });
}

void fair_class::put_all(task& t, std::uint64_t now_ns) noexcept {
  for (entity* e = &t; e->parent != nullptr; e = e->parent) put(level_of(*e), *e, now_ns);
}

void fair_class::set_all(task& t, std::uint64_t now_ns) noexcept {
  for (entity* e = &t; e->parent != nullptr; e = e->parent) {
    set(level_of(*e), *e, now_ns);
    if (level_of(*e).limited) bandwidth::charge(*this, level_of(*e), 0, now_ns);
  }
}

task* fair_class::schedule(std::uint64_t now_ns) noexcept {
  task* const previous = running_;
  task* const next = pick(now_ns);
  if (next != previous) {
    if (next == nullptr) {
      put_all(*previous, now_ns);
    } else if (previous == nullptr) {
      set_all(*next, now_ns);
    } else {
      switch_tasks(*previous, *next, now_ns);
    }
    running_ = next;
  }
  higher_class_runs_ = false;
  need_resched_ = false;
  return next;
}

}  // namespace vlag

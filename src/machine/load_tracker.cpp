// SPDX-License-Identifier: Apache-2.0
#include "machine/load_tracker.hpp"

#include <algorithm>
#include <cassert>

namespace vlag {
namespace {

// Queues without a task that runs or comes and goes are brought up to now that often, as the kernel
// does for idle CPUs.
constexpr std::uint64_t decay_interval_ns = 32'000'000;

load_figures figures_of(const load_average& a) {
  return {a.load_avg, a.runnable_avg, a.util_avg, estimated_util(a)};
}

}  // namespace

load_tracker::load_tracker(unsigned cpus, std::span<group_scheduler* const> schedulers,
                           std::uint64_t start_ns)
    : schedulers_(schedulers) {
  group_state& root = groups_.emplace_back();
  for (unsigned i = 0; i < cpus; ++i) {
    cpus_.emplace_back(start_ns);
    root.queues.emplace_back().cpu = i;
  }
}

void load_tracker::add_group(task_group& group, std::uint32_t parent) {
  group_state& g = groups_.emplace_back();
  g.group = &group;
  for (unsigned i = 0; i < cpus_.size(); ++i) {
    queue& q = g.queues.emplace_back();
    entity_state& e = g.entities.emplace_back();
    q.cpu = i;
    q.group = &g.load;
    q.owner = &e;
    e.on = &groups_[parent].queues[i];
    e.own = &q;
    e.part = &group.part(i);
    update_load(now(e), load_moment::put);
    attach_load(now(e));
  }
}

void load_tracker::add_task() { tasks_.emplace_back(); }

queue_now load_tracker::now(queue& q) {
  return {.load = &q.load,
          .group = q.group,
          .clock = &cpus_[q.cpu].clock,
          .full_load = q.weight,
          .runnable = q.queued - q.delayed,
          .running = q.running != nullptr};
}

level_now load_tracker::now(entity_state& e) {
  level_now level{.entity = &e.load,
                  .full_weight = e.weight,
                  .queued = e.queued,
                  .delayed = e.delayed,
                  .running = e.on->running == &e,
                  .queue = now(*e.on),
                  .own = {}};
  if (e.own != nullptr) level.own = now(*e.own);
  return level;
}

load_average& load_tracker::root_average(const entity_state& e) {
  return groups_[0].queues[e.on->cpu].load.average;
}

void load_tracker::advance(unsigned cpu, std::uint64_t now_ns) {
  cpu_state& c = cpus_[cpu];
  if (now_ns <= c.clock.task_ns()) return;
  const std::uint64_t passed = now_ns - c.clock.task_ns();
  if (c.busy) {
    c.clock.advance_busy(passed);
  } else {
    c.clock.advance_idle(passed);
  }
}

// ---- Weights

void load_tracker::set_weight(entity_state& e, std::uint64_t full_weight) {
  reweight_load(now(e), full_weight);
  if (e.queued) e.on->weight += full_weight - e.weight;
  e.weight = full_weight;
}

// On one CPU a group has all its shares there, whatever its load.
void load_tracker::refresh_group_weight(entity_state& e) {
  if (e.own == nullptr) return;
  const task_group& group = *e.part->group;
  const std::uint64_t weight = group_weight(now(*e.own), group.shares(), e.weight);
  if (weight != e.weight) set_weight(e, weight);
  if (e.own->weight == 0 || e.part->shares_here == weight) return;
  e.part->shares_here = weight;
  const unsigned cpu = e.on->cpu;
  schedulers_[cpu]->shares_changed(*e.part, cpus_[cpu].clock.task_ns());
}

void load_tracker::step(entity_state& e, load_moment moment) {
  update_load(now(e), moment);
  refresh_group_weight(e);
}

void load_tracker::shares_changed(std::uint32_t group, std::uint64_t now_ns) {
  group_state& g = groups_[group];
  for (entity_state& each : g.entities) {
    advance(each.on->cpu, now_ns);
    for (entity_state* e = &each; e != nullptr; e = e->on->owner) step(*e, load_moment::tick);
  }
}

// ---- Joining and leaving

void load_tracker::count(queue& q, const entity_state& t, std::uint32_t by) {
  q.queued += by;
  if (t.delayed) q.delayed += by;
}

void load_tracker::enqueue(entity_state& t) {
  if (!t.delayed) add_estimate(root_average(t), t.load.average);
  entity_state* e = &t;
  for (; e != nullptr && !e->queued; e = e->on->owner) {
    step(*e, load_moment::enqueue);
    e->queued = true;
    e->on->weight += e->weight;
    count(*e->on, t, 1);
  }
  for (; e != nullptr; e = e->on->owner) {
    step(*e, load_moment::passing);
    e->delayed = false;
    count(*e->on, t, 1);
  }
}

// From e up: the entities that leave, then those that stay. An emptied group may stay, delayed.
void load_tracker::depart(entity_state& leaver, std::uint32_t tasks) {
  entity_state* e = &leaver;
  for (bool leaves = true; e != nullptr && leaves; e = e->on->owner) {
    update_load(now(*e), load_moment::dequeue);
    e->queued = false;
    e->on->weight -= e->weight;
    e->on->queued -= tasks;
    if (leaver.delayed) e->on->delayed -= tasks;
    leaves = e->on->weight == 0;
    entity_state* const above = e->on->owner;
    if (leaves && above != nullptr && above->part->sched_delayed) {
      above->delayed = true;
      cpus_[above->on->cpu].delayed.push_back(above);
      leaves = false;
    }
  }
  for (; e != nullptr; e = e->on->owner) {
    step(*e, load_moment::passing);
    e->on->queued -= tasks;
    if (leaver.delayed) e->on->delayed -= tasks;
  }
  leaver.delayed = false;
}

void load_tracker::dequeue(entity_state& t, bool to_sleep) {
  if (!t.delayed) {
    remove_estimate(root_average(t), t.load.average);
    if (to_sleep) sample_estimate(t.load.average, cpus_[t.on->cpu].clock.capacity());
  }
  depart(t, 1);
}

void load_tracker::set_delayed(entity_state& t, bool delayed) {
  cpu_state& c = cpus_[t.on->cpu];
  if (delayed) {
    remove_estimate(root_average(t), t.load.average);
    sample_estimate(t.load.average, c.clock.capacity());
    c.delayed.push_back(&t);
  } else {
    add_estimate(root_average(t), t.load.average);
  }
  update_load(now(t), load_moment::delay);
  t.delayed = delayed;
  const std::uint32_t change = delayed ? 1 : 0U - 1U;
  for (entity_state* e = &t; e != nullptr; e = e->on->owner) e->on->delayed += change;
}

// ---- What the machine tells

void load_tracker::task_changed(const task& t, unsigned cpu, std::uint32_t group,
                                std::uint64_t now_ns) {
  advance(cpu, now_ns);
  entity_state& e = tasks_[t.id];
  if (!e.known) {
    if (!t.queued) return;
    e.known = true;
    e.of_task = &t;
    e.on = &groups_[group].queues[cpu];
    e.weight = t.weight.full;
    start_task_load(e.load, e.weight);
    estimate_new_task(now(e));
  }
  if (!e.queued) e.on = &groups_[group].queues[cpu];
  if (e.weight != t.weight.full) set_weight(e, t.weight.full);
  if (e.queued && !t.queued) {
    dequeue(e, true);
  } else if (!e.queued && t.queued) {
    enqueue(e);
  } else if (e.queued && e.delayed != t.sched_delayed) {
    set_delayed(e, t.sched_delayed);
  }
  assert(e.queued == t.queued && e.delayed == t.sched_delayed);
}

void load_tracker::task_leaves(std::uint32_t id, std::uint64_t now_ns) {
  entity_state& e = tasks_[id];
  if (!e.known) return;
  advance(e.on->cpu, now_ns);
  if (e.queued) dequeue(e, true);
  leave_load(now(e));
}

void load_tracker::pass_up(const entity_state& e) {
  for (entity_state* above = e.on->owner; above != nullptr; above = above->on->owner) {
    update_load(now(*above), load_moment::set);
  }
}

void load_tracker::task_moved(const task& t, std::uint32_t group, std::uint64_t now_ns) {
  entity_state& e = tasks_[t.id];
  if (!e.known) return;
  cpu_state& c = cpus_[e.on->cpu];
  advance(e.on->cpu, now_ns);
  const bool running = c.current == &e;
  const bool was_delayed = e.delayed;
  if (e.queued) dequeue(e, false);
  if (running) put_current(c);
  if (e.load.average.last_update_ns != 0) {
    update_load(now(e), load_moment::put);
    detach_load(now(e));
    pass_up(e);
  }
  e.load.average.last_update_ns = 0;
  e.on = &groups_[group].queues[e.on->cpu];
  update_load(now(e), load_moment::put);
  attach_load(now(e));
  pass_up(e);
  e.delayed = was_delayed && t.queued;
  if (t.queued) enqueue(e);
  if (running) set_current(c, e);
}

void load_tracker::after_pick(unsigned cpu, std::uint64_t now_ns) {
  cpu_state& c = cpus_[cpu];
  if (c.delayed.empty()) return;
  advance(cpu, now_ns);
  for (std::size_t i = 0; i < c.delayed.size();) {
    entity_state& e = *c.delayed[i];
    const entity& real = e.part != nullptr ? static_cast<const entity&>(*e.part) : *e.of_task;
    const bool elsewhere = e.on->cpu != cpu;
    if (!elsewhere && e.queued && e.delayed && real.queued && real.sched_delayed) {
      ++i;
      continue;
    }
    c.delayed.erase(c.delayed.begin() + static_cast<std::ptrdiff_t>(i));
    if (elsewhere || !e.queued || !e.delayed || real.queued) continue;
    depart(e, e.part != nullptr ? 0 : 1);
  }
}

void load_tracker::put_current(cpu_state& c) {
  for (entity_state* e = c.current; e != nullptr; e = e->on->owner) {
    if (e->queued) update_load(now(*e), load_moment::put);
    e->on->running = nullptr;
  }
  c.current = nullptr;
}

void load_tracker::set_current(cpu_state& c, entity_state& t) {
  for (entity_state* e = &t; e != nullptr; e = e->on->owner) {
    if (e->queued) update_load(now(*e), load_moment::set);
    e->on->running = e;
  }
  c.current = &t;
}

void load_tracker::switched(unsigned cpu, const task* next, bool real_time, std::uint64_t now_ns) {
  advance(cpu, now_ns);
  cpu_state& c = cpus_[cpu];
  put_current(c);
  update_class_average(c.real_time, c.clock.now_ns(), c.real_time_runs);
  c.real_time_runs = next != nullptr && real_time;
  if (next == nullptr) {
    if (c.busy) {
      c.clock.go_idle(groups_[0].queues[cpu].load.average.util_sum + c.real_time.util_sum);
    }
  } else if (!real_time) {
    set_current(c, tasks_[next->id]);
  }
  c.busy = next != nullptr;
}

void load_tracker::tick(unsigned cpu, std::uint64_t now_ns) {
  advance(cpu, now_ns);
  cpu_state& c = cpus_[cpu];
  for (entity_state* e = c.current; e != nullptr; e = e->on->owner) step(*e, load_moment::tick);
  if (c.real_time_runs) {
    update_class_average(c.real_time, c.clock.now_ns(), true);
    decay_queue_load(now(groups_[0].queues[cpu]));
  }
  if (now_ns < next_decay_ns_) return;
  next_decay_ns_ = now_ns + decay_interval_ns;
  for (unsigned each = 0; each < cpus_.size(); ++each) {
    advance(each, now_ns);
    decay(each);
  }
}

// Children come behind their parents, and are brought up to now first.
void load_tracker::decay(unsigned cpu) {
  for (auto g = groups_.rbegin(); g != groups_.rend(); ++g) {
    queue& q = g->queues[cpu];
    decay_queue_load(now(q));
    if (q.owner != nullptr) update_load(now(*q.owner), load_moment::set);
  }
}

// ---- Figures

std::vector<load_figures> load_tracker::task_loads() const {
  std::vector<load_figures> result;
  for (const entity_state& e : tasks_) result.push_back(figures_of(e.load.average));
  return result;
}

std::vector<load_figures> load_tracker::cpu_loads() const {
  std::vector<load_figures> result;
  for (const queue& q : groups_[0].queues) result.push_back(figures_of(q.load.average));
  return result;
}

}  // namespace vlag

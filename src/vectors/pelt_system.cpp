// SPDX-License-Identifier: Apache-2.0
#include "vectors/pelt_system.hpp"

namespace vlag {

pelt_system::pelt_system(std::uint64_t start_ns)
    : cpus_{cpu{load_clock(start_ns)}, cpu{load_clock(start_ns)}} {
  group& root = groups_[0];
  for (std::size_t c = 0; c < cpu_count; ++c) root.queues[c].cpu = c;
}

pelt_system::task* pelt_system::find_task(std::uint32_t id) noexcept {
  const auto found = tasks_.find(id);
  return found == tasks_.end() ? nullptr : &found->second;
}

bool pelt_system::is_current(const task& t) const noexcept {
  return cpus_[t.on->cpu].current == &t;
}

queue_now pelt_system::now(queue& q) noexcept {
  return {.load = &q.load,
          .group = q.group,
          .clock = &cpus_[q.cpu].clock,
          .full_load = q.weight,
          .runnable = q.h_nr_queued - q.h_nr_delayed,
          .running = q.running != nullptr};
}

level_now pelt_system::now(entity& e) noexcept {
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

void pelt_system::set_weight(entity& e, std::uint64_t full_weight) noexcept {
  reweight_load(now(e), full_weight);
  if (e.queued) e.on->weight += full_weight - e.weight;
  e.weight = full_weight;
}

void pelt_system::refresh_group_weight(entity& e) noexcept {
  if (e.own == nullptr) return;
  const std::uint64_t weight = group_weight(now(*e.own), e.of->shares, e.weight);
  if (weight != e.weight) set_weight(e, weight);
}

void pelt_system::step(entity& e, load_moment moment) noexcept {
  update_load(now(e), moment);
  refresh_group_weight(e);
}

void pelt_system::advance(std::size_t index, std::uint64_t ns) noexcept {
  cpu& c = cpus_[index];
  if (c.current == nullptr) {
    c.clock.advance_idle(ns);
  } else {
    c.clock.advance_busy(ns);
  }
}

void pelt_system::make_group(std::uint32_t id, std::uint32_t parent, std::uint64_t full_shares) {
  group& above = groups_.at(parent);
  group& g = groups_[id];
  g.shares = full_shares;
  for (std::size_t c = 0; c < cpu_count; ++c) {
    entity& e = g.entities[c];
    queue& q = g.queues[c];
    e.on = &above.queues[c];
    e.own = &q;
    e.of = &g;
    q.cpu = c;
    q.group = &g.load;
    q.owner = &e;
    update_load(now(e), load_moment::put);
    attach_load(now(e));
  }
}

void pelt_system::set_shares(std::uint32_t id, std::uint64_t full_shares) noexcept {
  group& g = groups_.at(id);
  g.shares = full_shares;
  for (std::size_t c = 0; c < cpu_count; ++c) {
    for (entity* e = &g.entities[c]; e != nullptr; e = e->on->owner) step(*e, load_moment::tick);
  }
}

void pelt_system::start(std::uint32_t id, std::size_t cpu_index, std::uint64_t full_weight,
                        std::uint32_t group_id) {
  task& t = tasks_[id];
  t.id = id;
  t.group_id = group_id;
  t.weight = full_weight;
  t.on = &groups_.at(group_id).queues[cpu_index];
  start_task_load(t.load, full_weight);
  estimate_new_task(now(t));
  enqueue(t);
}

void pelt_system::enqueue(task& t) noexcept {
  if (!t.delayed) add_estimate(root_average(t), t.load.average);
  entity* e = &t;
  for (; e != nullptr && !e->queued; e = e->on->owner) {
    step(*e, load_moment::enqueue);
    e->queued = true;
    e->on->weight += e->weight;
    count(*e->on, t, 1);
  }
  for (; e != nullptr; e = e->on->owner) {
    step(*e, load_moment::passing);
    count(*e->on, t, 1);
  }
}

void pelt_system::depart(task& t, load_moment moment) noexcept {
  entity* e = &t;
  bool emptied = true;
  for (; e != nullptr && emptied; e = e->on->owner) {
    update_load(now(*e), moment);
    e->queued = false;
    e->on->weight -= e->weight;
    count(*e->on, t, -1);
    emptied = e->on->weight == 0;
    moment = load_moment::dequeue;
  }
  for (; e != nullptr; e = e->on->owner) {
    step(*e, load_moment::passing);
    count(*e->on, t, -1);
  }
}

void pelt_system::dequeue(task& t, bool to_sleep) noexcept {
  if (!t.delayed) remove_estimate(root_average(t), t.load.average);
  if (to_sleep) sample_estimate(t.load.average, cpus_[t.on->cpu].clock.capacity());
  depart(t, load_moment::dequeue);
}

void pelt_system::delay(task& t) noexcept {
  remove_estimate(root_average(t), t.load.average);
  sample_estimate(t.load.average, cpus_[t.on->cpu].clock.capacity());
  update_load(now(t), load_moment::delay);
  t.delayed = true;
  for (entity* e = &t; e != nullptr; e = e->on->owner) ++e->on->h_nr_delayed;
}

void pelt_system::undelay(task& t) noexcept {
  add_estimate(root_average(t), t.load.average);
  update_load(now(t), load_moment::delay);
  t.delayed = false;
  for (entity* e = &t; e != nullptr; e = e->on->owner) --e->on->h_nr_delayed;
}

void pelt_system::finish_delayed(task& t) noexcept {
  depart(t, load_moment::dequeue);
  t.delayed = false;
}

void pelt_system::put_current(std::size_t index) noexcept {
  for (entity* e = cpus_[index].current; e != nullptr; e = e->on->owner) {
    if (e->queued) update_load(now(*e), load_moment::put);
    e->on->running = nullptr;
  }
}

void pelt_system::set_current(task& t) noexcept {
  for (entity* e = &t; e != nullptr; e = e->on->owner) {
    if (e->queued) update_load(now(*e), load_moment::set);
    e->on->running = e;
  }
}

void pelt_system::switch_to(task& t) noexcept {
  put_current(t.on->cpu);
  set_current(t);
  cpus_[t.on->cpu].current = &t;
}

void pelt_system::go_idle(std::size_t index) noexcept {
  put_current(index);
  cpus_[index].current = nullptr;
  // Neither the real-time nor the deadline class has tasks here.
  cpus_[index].clock.go_idle(groups_.at(0).queues[index].load.average.util_sum);
}

void pelt_system::tick(std::size_t index) noexcept {
  for (entity* e = cpus_[index].current; e != nullptr; e = e->on->owner) {
    step(*e, load_moment::tick);
  }
}

bool pelt_system::decay(std::size_t index, std::uint32_t group_id) noexcept {
  queue& q = groups_.at(group_id).queues[index];
  const bool changed = decay_queue_load(now(q));
  if (q.owner != nullptr) update_load(now(*q.owner), load_moment::set);
  return changed;
}

void pelt_system::migrate(task& t, std::size_t index) noexcept {
  const bool queued = t.queued;
  if (queued) {
    if (!t.delayed) remove_estimate(root_average(t), t.load.average);
    depart(t, load_moment::dequeue_to_migrate);
    t.load.average.last_update_ns = 0;
  } else {
    leave_load(now(t));
  }
  t.on = &groups_.at(t.group_id).queues[index];
  if (queued) enqueue(t);
}

void pelt_system::pass_up(const entity& e) noexcept {
  for (entity* above = e.on->owner; above != nullptr; above = above->on->owner) {
    update_load(now(*above), load_moment::set);
  }
}

void pelt_system::leave_group(task& t) noexcept {
  if (t.load.average.last_update_ns == 0) return;
  update_load(now(t), load_moment::put);
  detach_load(now(t));
  pass_up(t);
}

void pelt_system::enter_group(task& t, std::uint32_t group_id) noexcept {
  t.load.average.last_update_ns = 0;
  t.group_id = group_id;
  t.on = &groups_.at(group_id).queues[t.on->cpu];
  update_load(now(t), load_moment::put);
  attach_load(now(t));
  pass_up(t);
}

void pelt_system::move(task& t, std::uint32_t group_id) noexcept {
  const bool queued = t.queued;
  const bool running = is_current(t);
  if (queued) dequeue(t, false);
  if (running) put_current(t.on->cpu);
  leave_group(t);
  enter_group(t, group_id);
  if (queued) enqueue(t);
  if (running) set_current(t);
}

void pelt_system::reweight(task& t, std::uint64_t full_weight) noexcept {
  set_weight(t, full_weight);
}

void pelt_system::exit(task& t) {
  leave_load(now(t));
  tasks_.erase(t.id);
}

void pelt_system::count(queue& q, const task& t, int by) noexcept {
  q.h_nr_queued += static_cast<std::uint32_t>(by);
  if (t.delayed) q.h_nr_delayed += static_cast<std::uint32_t>(by);
}

load_average& pelt_system::root_average(const task& t) noexcept {
  return groups_.at(0).queues[t.on->cpu].load.average;
}

}  // namespace vlag

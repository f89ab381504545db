// SPDX-License-Identifier: Apache-2.0
//
// What a machine lets others see: counters, decisions as they are made, its state at a moment.
#include "machine/machine.hpp"
#include "machine/machine_state.hpp"

#include <algorithm>
#include <utility>

namespace vlag {

// ---- Names

std::string machine::path_of_group(std::uint64_t id) const {
  return id == 0 ? "/" : group_path(static_cast<std::uint32_t>(id));
}

void machine::name(entity_name& e) const {
  if (e.is_group) {
    e.name = path_of_group(e.id);
    return;
  }
  const task_figures& figures = tasks_[e.id].figures;
  e.name = figures.name;
  e.pid = figures.pid;
}

void machine::name(queue_view& queue) const {
  queue.path = path_of_group(queue.group);
  for (entity_view& e : queue.entities) name(e);
}

entity_name machine::name_of(std::uint32_t task) const {
  entity_name result;
  result.id = task;
  name(result);
  return result;
}

// ---- Counters and decisions

void machine::watch(cpu& c, pick_observer* observer) {
  c.watch = std::make_unique<cpu_watch>(*this, c, observer);
  listen(c);
  if (observer != nullptr) c.fair->watch_choices(*c.watch);
}

void machine::count_decisions() {
  for (auto& c : cpus_) {
    if (c->watch == nullptr) watch(*c, nullptr);
  }
}

void machine::observe_picks(pick_observer& observer) {
  for (auto& c : cpus_) watch(*c, &observer);
}

sched_counters machine::counters_of(const cpu& c) const {
  sched_counters result = c.counters;
  result.check_deadline = c.fair->deadline_checks();
  result.update_deadline = c.fair->deadline_updates();
  result -= c.counted_before;
  return result;
}

void machine::cpu_watch::on_decision(decision what, const entity& who) {
  sched_counters& counters = cpu_->counters;
  switch (what) {
    case decision::request_used_up:
      ++counters.preempt_deadline;
      break;
    case decision::wakeup_preempts:
    case decision::idle_policy_yields:
    case decision::child_runs_first:
      ++counters.wakeup_preempts;
      break;
    case decision::protection_cancelled:
      ++counters.short_preempts;
      break;
    case decision::dequeue_delayed:
      ++counters.delayed;
      break;
    case decision::delayed_requeued:
      ++counters.delayed_requeued;
      break;
    case decision::delayed_completed:
      ++counters.delayed_completed;
      break;
    default:
      break;
  }
  if (observer_ == nullptr) return;
  told_decision& told = record_.told.emplace_back();
  told.at_ns = owner_->now_;
  told.what = what;
  told.who.is_group = who.is_group;
  if (who.is_group) {
    const task_group* group = static_cast<const group_part&>(who).group;
    told.who.id = group == nullptr ? 0 : group->id;
  } else {
    told.who.id = static_cast<const task&>(who).id;
  }
  owner_->name(told.who);
}

void machine::cpu_watch::before_tick() {
  if (cpu_->fair->nr_queued() > 1) ++cpu_->counters.tick_check_preempts;
  asked_before_tick_ = cpu_->fair->need_resched();
}

void machine::cpu_watch::after_tick() {
  if (!asked_before_tick_ && cpu_->fair->need_resched()) ++cpu_->counters.tick_preempts;
}

void machine::cpu_watch::before_choice(queue_view queue) {
  owner_->name(queue);
  record_.steps.push_back(std::move(queue));
}

void machine::cpu_watch::begin(const sim_task* previous) {
  if (observer_ == nullptr) return;
  record_.at_ns = owner_->now_;
  record_.cpu = cpu_->number;
  record_.previous_exists = previous != nullptr;
  record_.fate = previous_fate::none;
  if (previous == nullptr) return;
  record_.previous = previous->id;
  if (previous->state == task_state::blocked) {
    record_.fate = previous_fate::blocked;
  } else if (previous->state == task_state::gone) {
    record_.fate = previous_fate::gone;
  } else {
    record_.fate = cpu_->yields ? previous_fate::yielded : previous_fate::runnable;
  }
}

void machine::cpu_watch::finish(const sim_task* chosen) {
  if (observer_ == nullptr) return;
  record_.chosen_exists = chosen != nullptr;
  record_.chosen = chosen == nullptr ? 0 : chosen->id;
  record_.chosen_real_time = chosen != nullptr && chosen->real_time();
  observer_->on_pick(record_);
  record_ = {};
}

// ---- The state at a moment

namespace {

task_phase phase_of(task_state state) {
  switch (state) {
    case task_state::unborn:
      return task_phase::unborn;
    case task_state::blocked:
      return task_phase::blocked;
    case task_state::runnable:
      return task_phase::runnable;
    case task_state::running:
      return task_phase::running;
    case task_state::gone:
      break;
  }
  return task_phase::gone;
}

}  // namespace

task_view machine::view_of_task(const sim_task& t) const {
  constexpr int prio_of_nice_0 = 120;
  constexpr int prio_above_real_time = 99;
  task_view view;
  view.in_fair_class = !t.real_time();
  if (t.in_class) {
    view.entity = cpus_[t.cpu]->fair->view(t);
  } else {
    view.entity.id = t.id;
    view.entity.weight = t.weight;
  }
  name(view.entity);
  view.phase = phase_of(t.state);
  view.cpu = t.cpu;
  view.prio = t.real_time() ? prio_above_real_time - t.rt_priority : prio_of_nice_0 + t.static_nice;
  view.latency_nice = t.latency_nice;
  view.switches = t.figures.switches_in;
  view.wait_sum_ns = t.figures.wake_latency.sum_ns() + t.figures.preempt_wait.sum_ns();
  view.sleep_sum_ns = t.figures.sleep_ns;
  if (t.state == task_state::runnable) {
    view.wait_sum_ns += now_ - std::max(t.waiting_since_ns, measured_from_);
  } else if (t.state == task_state::blocked) {
    view.sleep_sum_ns += now_ - t.blocked_since_ns;
  }
  if (!view.in_fair_class) {
    view.entity.sum_exec_ns = t.figures.cpu_ns;
    if (t.state == task_state::running) view.entity.sum_exec_ns += now_ - t.switched_in_ns;
  }
  view.group_path = path_of_group(t.group == nullptr ? 0 : t.group->id);
  return view;
}

machine_snapshot machine::snapshot() const {
  machine_snapshot result;
  result.at_ns = now_;
  result.engine = policy_.engine;
  for (const auto& c : cpus_) {
    cpu_view& view = result.cpus.emplace_back();
    view.number = c->number;
    view.clock_ns = c->clock_ns - std::min(c->clock_ns, clock(0));
    view.switches = c->figures.switches;
    view.idle = c->current == nullptr;
    if (!view.idle) {
      view.current = c->current->figures.name;
      view.current_pid = c->current->figures.pid;
    }
    view.queues = c->fair->queues();
    for (queue_view& queue : view.queues) name(queue);
  }
  for (const sim_task& t : tasks_) result.tasks.push_back(view_of_task(t));
  std::stable_sort(
      result.tasks.begin(), result.tasks.end(),
      [](const task_view& a, const task_view& b) { return a.entity.pid < b.entity.pid; });
  return result;
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// The part of the machine that wakes tasks and switches between them.
#include "machine/machine.hpp"
#include "machine/machine_state.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace vlag {

void machine::wake(sim_task& t, std::uint32_t waker) {
  assert(t.state == task_state::blocked);
  ++t.generation;
  t.waits_for_wake = false;
  sync_.of_task[t.id].waits = false;
  t.state = task_state::runnable;
  t.waiting_since_ns = now_;
  t.wait_began_by_wakeup = true;
  t.wait_counts = true;
  ++t.figures.wakeups;
  t.figures.sleep_ns += now_ - t.blocked_since_ns;
  const unsigned waker_cpu = waker == no_task ? t.cpu : tasks_[waker].cpu;
  unsigned target_cpu = placement_->cpu_for_wakeup(t.id, t.cpu, waker_cpu);
  while (t.next_step < t.steps.size() && t.steps[t.next_step].kind == op_kind::move) {
    target_cpu = t.steps[t.next_step++].target;
  }
  cpu* c = cpus_[t.cpu].get();
  if (target_cpu != t.cpu) {
    if (observer_ != nullptr) observer_->on_migrate(now_, t.id, t.cpu, target_cpu);
    if (t.in_class) c->fair->remove(t, std::max(c->clock_ns, clock(now_)));
    if (load_ != nullptr) load_->task_leaves(t.id, std::max(c->clock_ns, clock(now_)));
    t.cpu = target_cpu;
    c = cpus_[t.cpu].get();
    ++c->counters.migrations_wakeup;
    if (t.in_class) t.in_class = c->fair->join_asleep(t, std::max(c->clock_ns, clock(now_)));
  }
  c->clock_ns = std::max(c->clock_ns, clock(now_));
  if (t.real_time()) {
    c->rt.push_back(t.id, t.rt_priority);
  } else {
    c->fair->wake(t, c->clock_ns);
    track_change(*c, t);
  }
  if (observer_ != nullptr) observer_->on_wakeup(now_, c->number, t.id, waker);
  if (waker != no_task && config_.wakeup_cost_ns != 0) {
    cpu& w = *cpus_[waker_cpu];
    if (w.current == &tasks_[waker]) {
      w.synced_ns = std::max(w.synced_ns, now_) + config_.wakeup_cost_ns;
    }
  }
  after_wakeup(*c, t);
}

void machine::start_new(sim_task& t, std::uint32_t parent) {
  const unsigned parent_cpu = parent == no_task ? t.cpu : tasks_[parent].cpu;
  t.cpu = placement_->cpu_for_new(t.id, t.cpu, parent_cpu);
  cpu& c = *cpus_[t.cpu];
  if (t.cpu != parent_cpu) ++c.counters.migrations_fork;
  t.state = task_state::runnable;
  ++alive_;
  sync_.of_task[t.id].timer_origin_ns = now_;
  t.waiting_since_ns = now_;
  t.wait_began_by_wakeup = true;
  t.wait_counts = true;
  ++t.figures.wakeups;
  c.clock_ns = std::max(c.clock_ns, clock(now_));
  if (t.real_time()) {
    c.rt.push_back(t.id, t.rt_priority);
  } else {
    use_slice_at_start(t);
    t.in_class = c.fair->fork(t, c.clock_ns);
    track_change(c, t);
  }
  if (observer_ != nullptr) {
    observer_->on_birth(now_, c.number, t.id);
    observer_->on_wakeup(now_, c.number, t.id, parent);
  }
  after_wakeup(c, t);
}

void machine::after_wakeup(cpu& c, sim_task& t) {
  bool resched = false;
  std::uint64_t delay = config_.switch_delay_ns;
  if (c.current == nullptr) {
    resched = true;
    delay = config_.idle_switch_delay_ns;
  } else if (t.real_time()) {
    resched = !c.current->real_time() || c.current->rt_priority < t.rt_priority;
    if (resched && !c.current->real_time()) c.fair->set_need_resched();
  } else {
    resched = !c.current->real_time() && c.fair->need_resched();
    if (!resched) arm_hrtick(c);
  }
  if (resched) {
    c.skip_clock_update = config_.skip_clock_update;
    request_switch(c, delay);
  }
  refresh(c);
}

void machine::track_change(const cpu& c, const sim_task& t) {
  if (load_ != nullptr) load_->task_changed(t, c.number, t.figures.group, c.clock_ns);
}

void machine::request_switch(cpu& c, std::uint64_t delay_ns) {
  c.switch_at_ns = std::min(c.switch_at_ns, now_ + delay_ns);
}

std::uint64_t machine::clock_for_schedule(cpu& c) const {
  if (c.skip_clock_update) return c.clock_ns;
  return std::max(c.clock_ns, clock(now_) - config_.switch_clock_lead_ns);
}

void machine::schedule(cpu& c) {
  synchronise(c);
  c.clock_ns = clock_for_schedule(c);
  c.skip_clock_update = false;
  c.switch_at_ns = never_ns;
  sim_task* const previous = c.current;
  if (c.watch != nullptr) c.watch->begin(previous);
  sim_task* const next = choose(c, c.clock_ns);
  if (c.watch != nullptr) c.watch->finish(next);
  ++c.counters.sched_count;
  if (load_ != nullptr) load_->after_pick(c.number, c.clock_ns);
  if (next != previous || (previous != nullptr && previous->state != task_state::running)) {
    if (observer_ != nullptr) tell_switch(c, previous, next);
    if (previous != nullptr) switch_out(c, *previous);
    if (next != nullptr) switch_in(c, *next);
    if (load_ != nullptr) {
      load_->switched(c.number, next, next != nullptr && next->real_time(), c.clock_ns);
    }
    if (next == nullptr) {
      c.current = nullptr;
      c.tick_at_ns = never_ns;
    }
    ++c.figures.switches;
    if (tells_decisions_ && next != nullptr && !next->real_time()) {
      observer_->on_choice(now_, c.number, next->id, c.fair->reading(*next));
    }
  }
  c.yields = false;
  arm_work(c);
  arm_hrtick(c);
}

machine::sim_task* machine::choose(cpu& c, std::uint64_t clock_ns) {
  sim_task* const previous = c.current;
  const bool yields = std::exchange(c.rt_yields, false);
  if (previous != nullptr && previous->real_time() && previous->state == task_state::running) {
    if (c.rt.empty() || c.rt.top_priority() < previous->rt_priority ||
        (!yields && c.rt.top_priority() == previous->rt_priority)) {
      return previous;
    }
    if (yields) {
      c.rt.push_back(previous->id, previous->rt_priority);
    } else {
      c.rt.push_front(previous->id, previous->rt_priority);
    }
  }
  if (!c.rt.empty()) {
    if (!std::exchange(c.fair_displaced, true)) c.fair->yield_cpu_to_higher_class(clock_ns);
    return &tasks_[c.rt.pop()];
  }
  c.fair_displaced = false;
  task* const chosen = c.fair->schedule(clock_ns);
  return chosen == nullptr ? nullptr : static_cast<sim_task*>(chosen);
}

void machine::switch_out(cpu& c, sim_task& t) {
  const std::uint64_t ran = now_ - t.switched_in_ns;
  t.figures.cpu_ns += ran;
  c.figures.busy_ns += ran;
  // What it was still to pay.
  if (c.synced_ns > now_ && t.remaining_ns != forever_ns) t.remaining_ns += c.synced_ns - now_;
  for (sim_group* g = group_of(t); g != nullptr; g = g->parent) g->figures.cpu_ns += ran;
  if (t.state != task_state::running) {
    ++c.counters.nvcsw;
    return;
  }
  ++c.counters.nivcsw;
  t.state = task_state::runnable;
  t.waiting_since_ns = now_;
  t.wait_began_by_wakeup = false;
  t.wait_counts = true;
  ++t.figures.involuntary;
}

void machine::switch_in(cpu& c, sim_task& t) {
  assert(t.state == task_state::runnable);
  c.current = &t;
  t.state = task_state::running;
  t.switched_in_ns = now_;
  ++t.figures.switches_in;
  for (sim_group* g = group_of(t); g != nullptr; g = g->parent) ++g->figures.switches_in;
  if (t.policy == sched_policy::round_robin && t.round_robin_ticks_left == 0) {
    t.round_robin_ticks_left =
        std::max<std::uint32_t>(1, static_cast<std::uint32_t>(round_robin_ns / config_.tick_ns));
  }
  if (t.wait_counts) {
    const std::uint64_t waited = now_ - t.waiting_since_ns;
    c.counters.wait_sum += waited;
    ++c.counters.wait_count;
    if (waited > t.figures.max_wait_to_ns - t.figures.max_wait_from_ns) {
      t.figures.max_wait_from_ns = t.waiting_since_ns;
      t.figures.max_wait_to_ns = now_;
    }
    (t.wait_began_by_wakeup ? t.figures.wake_latency : t.figures.preempt_wait).add(waited, now_);
    for (sim_group* g = group_of(t); g != nullptr; g = g->parent) {
      (t.wait_began_by_wakeup ? g->figures.wake_latency : g->figures.preempt_wait)
          .add(waited, now_);
    }
  }
  c.synced_ns = now_ + config_.switch_cost_ns;
  if (t.signal_pending) take_signal(t);
  if (c.tick_at_ns == never_ns) c.tick_at_ns = next_tick_after(now_);
}

}  // namespace vlag

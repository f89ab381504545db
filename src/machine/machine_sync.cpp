// SPDX-License-Identifier: Apache-2.0
//
// The part of the machine in which tasks wait for each other, and changes of policy.
#include "machine/machine.hpp"
#include "machine/machine_state.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace vlag {
namespace {

// A chain of owners that wait for each other may be a circle.
constexpr int max_inheritance_depth = 1024;

bool real_time(sched_policy policy) {
  return policy == sched_policy::fifo || policy == sched_policy::round_robin;
}

template <typename Object>
std::uint32_t added(std::vector<Object>& objects, Object object) {
  objects.push_back(std::move(object));
  return static_cast<std::uint32_t>(objects.size()) - 1;
}

}  // namespace

std::uint32_t machine::add_mutex(mutex_kind kind) {
  return added(sync_.mutexes, {kind, sync_mutex::nobody, {}});
}
std::uint32_t machine::add_condition() { return added(sync_.conditions, {}); }
std::uint32_t machine::add_barrier(std::uint32_t users) {
  return added(sync_.barriers, {std::max<std::uint32_t>(users, 1), {}});
}
std::uint32_t machine::add_semaphore() { return added(sync_.semaphores, {}); }
std::uint32_t machine::add_timer() { return added(sync_.timers, {}); }
std::uint32_t machine::add_pipe(std::uint32_t capacity_bytes) {
  return added(sync_.pipes, sync_pipe(capacity_bytes));
}

bool machine::waits_for_others(std::uint32_t task) const noexcept {
  return sync_.of_task[task].waits;
}

std::uint32_t machine::waits_at(std::uint32_t task) const noexcept {
  const sync_place& place = sync_.of_task[task];
  const bool tries_again =
      place.call_begun || (place.blocking_mutex != sync_place::none &&
                           sync_.mutexes[place.blocking_mutex].kind == mutex_kind::plain);
  return tasks_[task].next_step - (tries_again ? 0 : 1);
}

std::uint32_t machine::owner_of(std::uint32_t mutex) const noexcept {
  const std::uint32_t owner = sync_.mutexes[mutex].owner;
  return owner == sync_mutex::nobody ? no_task : owner;
}

std::uint32_t machine::step_of(std::uint32_t task) const noexcept { return tasks_[task].next_step; }

bool machine::perform_sync(cpu& c, sim_task& t, const op& step) {
  switch (step.kind) {
    case op_kind::lock:
      return lock_mutex(c, t, step.target);
    case op_kind::unlock:
      unlock_mutex(t, step.target);
      return c.current == &t;
    case op_kind::cond_wait: {
      if (step.value != no_mutex) unlock_mutex(t, static_cast<std::uint32_t>(step.value));
      if (c.current != &t) {  // it lost an inherited priority: waits when it is here again, where
        --t.next_step;        // to unlock what it does not own changes nothing
        return false;
      }
      wait_in(c, t, sync_.conditions[step.target].waiters);
      return false;
    }
    case op_kind::cond_signal:
      wake_first(sync_.conditions[step.target].waiters, t);
      return true;
    case op_kind::cond_broadcast:
      wake_all(sync_.conditions[step.target].waiters, t);
      return true;
    case op_kind::barrier: {
      sync_barrier& b = sync_.barriers[step.target];
      if (b.waiters.size() + 1 < b.users) {
        wait_in(c, t, b.waiters);
        return false;
      }
      wake_all(b.waiters, t);
      return true;
    }
    case op_kind::sem_post: {
      sync_semaphore& s = sync_.semaphores[step.target];
      if (s.waiters.empty()) {
        ++s.count;
      } else {
        wake_first(s.waiters, t);
      }
      return true;
    }
    case op_kind::sem_wait: {
      sync_semaphore& s = sync_.semaphores[step.target];
      if (s.count == 0) {
        wait_in(c, t, s.waiters);
        return false;
      }
      --s.count;
      return true;
    }
    case op_kind::timer_origin:
      sync_.of_task[t.id].timer_origin_ns = now_ + std::min(step.value, never_ns);
      return true;
    case op_kind::timer:
    case op_kind::timer_absolute:
      return wait_for_timer(c, t, step);
    case op_kind::pipe_write:
      return write_pipe(c, t, step);
    case op_kind::pipe_read:
      return read_pipe(c, t, step);
    case op_kind::kill:
      return send_signal(c, t, step);
    case op_kind::set_policy:
      change_policy(t, step);
      return c.current == &t;
    default:
      assert(false);
      return true;
  }
}

// ---- Waiting and waking

void machine::wait_in(cpu& c, sim_task& t, waiter_list& list) {
  list.push_back(t.id);
  sync_.of_task[t.id].waits = true;
  leave_cpu(c, t, false);
}

machine::sim_task& machine::take_first(waiter_list& list) {
  const auto priority = [this](std::uint32_t number) {
    const sim_task& t = tasks_[number];
    return t.real_time() ? t.rt_priority : 0;
  };
  const auto first =
      std::max_element(list.begin(), list.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return priority(a) < priority(b); });
  sim_task& t = tasks_[*first];
  list.erase(first);
  return t;
}

void machine::wake_first(waiter_list& list, const sim_task& waker) {
  if (!list.empty()) wake(take_first(list), waker.id);
}

void machine::wake_all(waiter_list& list, const sim_task& waker) {
  while (!list.empty()) wake(take_first(list), waker.id);
}

bool machine::wait_for_timer(cpu& c, sim_task& t, const op& step) {
  sync_timer& timer = sync_.timers[step.target];
  if (!timer.used) timer = {true, sync_.of_task[t.id].timer_origin_ns};
  timer.next_ns = std::min(timer.next_ns + std::min(step.value, never_ns), never_ns);
  if (notes_ != nullptr) notes_->on_timer(now_, t.id, timer.next_ns);
  if (now_ < timer.next_ns) {
    set_timer(t, timer.next_ns + (t.real_time() ? 0 : config_.timer_slack_ns));
    leave_cpu(c, t, false);
    return false;
  }
  if (step.kind == op_kind::timer) timer.next_ns = now_;
  return true;
}

// ---- Mutexes

bool machine::lock_mutex(cpu& c, sim_task& t, std::uint32_t number) {
  sync_mutex& m = sync_.mutexes[number];
  if (m.owner == sync_mutex::nobody) {
    own_mutex(t, number);
    return true;
  }
  sync_.of_task[t.id].blocking_mutex = number;
  if (m.kind == mutex_kind::plain) --t.next_step;  // tries again when it is woken
  // In this order: the owner may get this very CPU.
  sim_task& owner = tasks_[m.owner];
  wait_in(c, t, m.waiters);
  if (m.kind == mutex_kind::inherits) inherit_priority(owner);
  return false;
}

void machine::own_mutex(const sim_task& t, std::uint32_t number) {
  sync_.mutexes[number].owner = t.id;
  if (sync_.mutexes[number].kind == mutex_kind::inherits) {
    sync_.of_task[t.id].held.push_back(number);
  }
}

void machine::unlock_mutex(sim_task& t, std::uint32_t number) {
  sync_mutex& m = sync_.mutexes[number];
  if (m.kind == mutex_kind::plain) {
    m.owner = sync_mutex::nobody;
    if (m.waiters.empty()) return;
    sim_task& next = take_first(m.waiters);
    sync_.of_task[next.id].blocking_mutex = sync_place::none;
    wake(next, t.id);
    return;
  }
  if (m.owner != t.id) return;
  m.owner = sync_mutex::nobody;
  std::erase(sync_.of_task[t.id].held, number);
  if (!m.waiters.empty()) {
    sim_task& next = take_first(m.waiters);
    own_mutex(next, number);
    sync_.of_task[next.id].blocking_mutex = sync_place::none;
    wake(next, t.id);  // of the highest priority: it has nothing to inherit from the rest
  }
  inherit_priority(t);
}

// Gives the task what it inherits now, and so on along the chain of owners that wait.
void machine::inherit_priority(sim_task& owner) {
  sim_task* t = &owner;
  for (int depth = 0; depth < max_inheritance_depth; ++depth) {
    sched_policy policy = sync_.of_task[t->id].own_policy;
    int priority = sync_.of_task[t->id].own_rt_priority;
    for (const std::uint32_t held : sync_.of_task[t->id].held) {
      for (const std::uint32_t number : sync_.mutexes[held].waiters) {
        const sim_task& waiter = tasks_[number];
        if (!waiter.real_time() || waiter.rt_priority <= priority) continue;
        if (!vlag::real_time(policy)) policy = sched_policy::fifo;
        priority = waiter.rt_priority;
      }
    }
    if (policy == t->policy && priority == t->rt_priority) return;
    change_class(*t, policy, priority);
    const std::uint32_t blocking = sync_.of_task[t->id].blocking_mutex;
    if (blocking == sync_place::none) return;
    const sync_mutex& next = sync_.mutexes[blocking];
    if (next.kind != mutex_kind::inherits || next.owner == sync_mutex::nobody) return;
    t = &tasks_[next.owner];
  }
}

// ---- Policy

void machine::change_policy(sim_task& t, const op& step) {
  const auto policy = static_cast<sched_policy>(step.target);
  const auto value = static_cast<int>(static_cast<std::int64_t>(step.value));
  sync_place& own = sync_.of_task[t.id];
  const bool inherits = t.policy != own.own_policy || t.rt_priority != own.own_rt_priority;
  const bool was_fair = !vlag::real_time(own.own_policy);
  own.own_policy = policy;
  own.own_rt_priority = vlag::real_time(policy) ? static_cast<std::uint8_t>(value) : 0;
  if (vlag::real_time(policy)) {
    if (!inherits) change_class(t, policy, value);
  } else if (was_fair && !inherits) {
    cpu& c = *cpus_[t.cpu];
    c.clock_ns = std::max(c.clock_ns, clock(now_));
    c.fair->set_policy(t, policy, value, c.clock_ns);
    track_change(c, t);
    if (c.fair->need_resched()) request_switch(c, config_.switch_delay_ns);
    arm_hrtick(c);
  } else if (!inherits) {
    t.static_nice = static_cast<std::int8_t>(value);
    change_class(t, policy, 0);
  }
  if (inherits) inherit_priority(t);
}

void machine::leave_queue(cpu& c, sim_task& t) {
  if (t.state == task_state::running) {
    if (t.real_time()) return;
    c.fair->exit(c.clock_ns);
    if (!std::exchange(c.fair_displaced, true)) c.fair->yield_cpu_to_higher_class(c.clock_ns);
    t.in_class = false;
  } else if (t.real_time()) {
    if (t.state == task_state::runnable) c.rt.remove(t.id);
  } else if (t.in_class) {
    c.fair->remove(t, c.clock_ns);
    t.in_class = false;
  }
  if (load_ != nullptr && !t.real_time()) load_->task_leaves(t.id, c.clock_ns);
}

void machine::enter_queue(cpu& c, sim_task& t) {
  if (t.real_time()) {
    if (t.state == task_state::runnable) c.rt.push_back(t.id, t.rt_priority);
    return;
  }
  t.in_class = c.fair->join_asleep(t, c.clock_ns);
  if (t.state != task_state::blocked) c.fair->wake(t, c.clock_ns);
  track_change(c, t);
}

// The kernel's two steps: off the queue of the one class, on that of the other. A running task
// stays on its CPU unless another comes first now. Where the fair class takes it back, the class
// chooses at once, since it has no running task until then.
void machine::change_class(sim_task& t, sched_policy policy, int rt_priority) {
  cpu& c = *cpus_[t.cpu];
  const bool present = t.state != task_state::unborn && t.state != task_state::gone;
  const bool runs = t.state == task_state::running;
  if (present) {
    synchronise(c);
    c.clock_ns = std::max(c.clock_ns, clock(now_));
    leave_queue(c, t);
  }
  if (vlag::real_time(policy)) {
    t.policy = policy;
  } else {
    set_initial_attributes(t, policy, t.static_nice);
  }
  t.rt_priority = rt_priority;
  if (!present) return;
  enter_queue(c, t);
  if (runs) {
    schedule(c);
    refresh(c);
  } else if (t.state == task_state::runnable) {
    after_wakeup(c, t);
  }
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "machine/machine.hpp"

#include "machine/machine_state.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <memory>
#include <span>
#include <utility>

namespace vlag {
namespace {

// CPU clocks do not start at 0, where CFS takes a task for one that never ran.
constexpr std::uint64_t clock_origin_ns = 1'000'000'000;
constexpr std::uint32_t round_robin_ns = 100'000'000;
constexpr std::uint64_t min_hrtick_ns = 10'000;
constexpr std::uint32_t max_steps_without_time = 1'000'000;

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

bool is_timed_sleep(op_kind kind) {
  return kind == op_kind::sleep || kind == op_kind::sleep_until || kind == op_kind::sleep_ticks ||
         kind == op_kind::sleep_to_period;
}

}  // namespace

machine::machine(machine_config config, const policy_config& policy, std::size_t max_tasks)
    : config_(std::move(config)),
      policy_(policy),
      placement_(std::make_unique<recorded_placement>()),
      random_state_(mix(config_.seed)) {
  const std::size_t bytes = timeline_storage::required_bytes(max_tasks, config_.cpus);
  storage_memory_ = std::make_unique<std::byte[]>(bytes + 64);
  void* memory = storage_memory_.get();
  std::size_t space = bytes + 64;
  std::align(64, bytes, memory, space);
  storage_ = std::make_unique<timeline_storage>(
      std::span<std::byte>(static_cast<std::byte*>(memory), bytes), max_tasks, config_.cpus);
  for (unsigned i = 0; i < config_.cpus; ++i) {
    auto c = std::make_unique<cpu>();
    c->number = i;
    c->fair = make_fair_policy(policy_, *storage_);
    cpus_.push_back(std::move(c));
  }
  winners_.resize(2 * std::bit_ceil(cpus_.size()));
}

machine::~machine() = default;

std::uint32_t machine::add_task(task_setup setup) {
  const auto number = static_cast<std::uint32_t>(tasks_.size());
  sim_task& t = tasks_.emplace_back();
  t.id = number;
  set_initial_attributes(t, setup.policy, std::clamp(setup.nice, min_nice, max_nice));
  t.slice_at_start_ns = setup.slice_ns;
  t.steps = std::move(setup.steps);
  t.clock_poll_ns = setup.clock_poll_ns;
  t.until_poll_ns = setup.clock_poll_ns;
  t.cpu = setup.cpu;
  t.rt_priority = setup.rt_priority;
  t.start = setup.start;
  t.state = setup.start == start_state::unborn ? task_state::unborn : task_state::blocked;
  t.figures.pid = setup.pid;
  t.figures.name = std::move(setup.name);
  t.figures.in_fair_class = !t.real_time();
  return number;
}

std::uint64_t machine::clock(std::uint64_t at_ns) const noexcept { return at_ns + clock_origin_ns; }

std::uint64_t machine::jitter() {
  if (config_.tick_jitter_ns == 0) return 0;
  random_state_ += 0x9e3779b97f4a7c15U;
  return mix(random_state_) % (config_.tick_jitter_ns + 1);
}

std::uint64_t machine::next_tick_after(std::uint64_t at_ns) const {
  const std::uint64_t phase = config_.tick_phase_ns % config_.tick_ns;
  if (at_ns < phase) return phase;
  return phase + ((at_ns - phase) / config_.tick_ns + 1) * config_.tick_ns;
}

void machine::start() {
  started_ = true;
  for (sim_task& t : tasks_) {
    if (t.state == task_state::unborn) continue;
    if (t.start == start_state::blocked) begin_sleep_of_start(t);
    if (t.real_time()) continue;
    use_own_slice(t);
    t.in_class = cpus_[t.cpu]->fair->join_asleep(t, clock(0));
  }
  for (sim_task& t : tasks_) {
    if (t.state != task_state::blocked || t.start != start_state::runnable) continue;
    wake(t, no_task);
    t.figures.wakeups = 0;
    t.wait_counts = false;
  }
  for (auto& c : cpus_) refresh(*c);
}

void machine::use_own_slice(sim_task& t) {
  if (t.slice_at_start_ns == 0) return;
  t.slice_ns = t.slice_at_start_ns;
  t.custom_slice = true;
}

void machine::begin_sleep_of_start(sim_task& t) {
  while (t.next_step < t.steps.size()) {
    const op& step = t.steps[t.next_step];
    if (step.kind == op_kind::milestone) {
      ++milestones_;
    } else if (step.kind == op_kind::move) {
      t.cpu = step.target;
    } else if (step.kind == op_kind::wait || step.kind == op_kind::end) {
      t.waits_for_wake = step.kind == op_kind::wait;
      ++t.next_step;
      return;
    } else if (is_timed_sleep(step.kind)) {
      set_timer(t, timer_for(t, step));
      ++t.next_step;
      return;
    } else {
      break;
    }
    ++t.next_step;
  }
  t.start = start_state::runnable;
}

// The earliest event of the machine is that of the tournament's winner or of the first timer.
void machine::refresh(cpu& c) {
  std::uint64_t at_ns = c.tick_at_ns;
  event_kind kind = event_kind::tick;
  const auto consider = [&](std::uint64_t other_ns, event_kind other) {
    if (other_ns < at_ns) {
      at_ns = other_ns;
      kind = other;
    }
  };
  consider(c.hrtick_at_ns, event_kind::hrtick);
  consider(c.work_at_ns, event_kind::work);
  consider(c.switch_at_ns, event_kind::switch_);

  std::size_t node = winners_.size() / 2 + c.number;
  winners_[node].at_ns = at_ns;
  winners_[node].order = std::uint64_t{static_cast<std::uint8_t>(kind)} << 32 | c.number;
  while (node > 1) {
    node /= 2;
    const cpu_event& left = winners_[2 * node];
    const cpu_event& right = winners_[2 * node + 1];
    const bool right_first =
        right.at_ns != left.at_ns ? right.at_ns < left.at_ns : right.order < left.order;
    winners_[node] = right_first ? right : left;
  }
}

machine::stop_reason machine::run_until(std::uint64_t end_ns) {
  if (!started_) start();
  ended_by_ = no_task;
  while (step(end_ns)) {
    if (ended_by_ != no_task || livelocked_ != no_task) return stop_reason::program_ended;
  }
  const bool pending = winners_[1].at_ns < never_ns || !timers_.empty();
  now_ = std::max(now_, end_ns);
  return pending ? stop_reason::time_reached : stop_reason::nothing_left;
}

bool machine::step(std::uint64_t end_ns) {
  const cpu_event& first = winners_[1];
  if (!timers_.empty() && timers_.top().at_ns <= first.at_ns) {
    const timer due = timers_.top();
    if (tasks_[due.task].generation != due.generation) {
      timers_.pop();
      return true;
    }
    if (due.at_ns > end_ns || due.at_ns >= never_ns) return false;
    timers_.pop();
    now_ = due.at_ns;
    ++events_;
    expire_timer(due);
    return true;
  }
  if (first.at_ns > end_ns || first.at_ns >= never_ns) return false;
  now_ = first.at_ns;
  ++events_;
  cpu& c = *cpus_[static_cast<std::uint32_t>(first.order)];
  switch (static_cast<event_kind>(first.order >> 32)) {
    case event_kind::tick:
      tick(c);
      break;
    case event_kind::hrtick:
      synchronise(c);
      c.hrtick_at_ns = never_ns;
      c.clock_ns = std::max(c.clock_ns, clock(now_));
      c.fair->account(c.clock_ns);
      c.fair->set_need_resched();
      request_switch(c, config_.tick_switch_delay_ns);
      break;
    case event_kind::work:
      work_done(c);
      break;
    case event_kind::timer:
    case event_kind::switch_:
      schedule(c);
      break;
  }
  refresh(c);
  return true;
}

void machine::expire_timer(const timer& due) {
  sim_task& t = tasks_[due.task];
  wake(t, no_task);
}

void machine::tick(cpu& c) {
  synchronise(c);
  ++c.figures.ticks;
  c.tick_at_ns += config_.tick_ns;
  if (c.current == nullptr) {
    c.tick_at_ns = never_ns;
    return;
  }
  c.clock_ns = std::max(c.clock_ns, clock(now_) + jitter());
  sim_task& t = *c.current;
  if (config_.tick_cost_ns != 0) {
    c.synced_ns = std::max(c.synced_ns, now_) + config_.tick_cost_ns;
    arm_work(c);
  }
  if (!t.real_time()) {
    c.fair->tick(c.clock_ns);
    if (c.fair->need_resched()) request_switch(c, config_.tick_switch_delay_ns);
    return;
  }
  if (t.policy == sched_policy::round_robin && --t.round_robin_ticks_left == 0) {
    t.round_robin_ticks_left =
        std::max<std::uint32_t>(1, static_cast<std::uint32_t>(round_robin_ns / config_.tick_ns));
    if (!c.rt.empty() && c.rt.top_priority() == t.rt_priority) {
      c.rt_yields = true;
      request_switch(c, config_.tick_switch_delay_ns);
    }
  }
}

void machine::synchronise(cpu& c) {
  if (c.current == nullptr || now_ <= c.synced_ns) return;
  sim_task& t = *c.current;
  const std::uint64_t done = now_ - c.synced_ns;
  if (t.remaining_ns != forever_ns) t.remaining_ns -= std::min(done, t.remaining_ns);
  if (t.clock_poll_ns != 0) t.until_poll_ns -= std::min(done, t.until_poll_ns);
  c.synced_ns = now_;
}

void machine::arm_work(cpu& c) {
  if (c.current == nullptr) {
    c.work_at_ns = never_ns;
    return;
  }
  const sim_task& t = *c.current;
  std::uint64_t left = t.remaining_ns;
  if (t.clock_poll_ns != 0) left = std::min(left, t.until_poll_ns);
  c.work_at_ns = left >= never_ns ? never_ns : std::max(now_, c.synced_ns) + left;
}

void machine::arm_hrtick(cpu& c) {
  if (!config_.hrtick) return;
  c.hrtick_at_ns = never_ns;
  if (c.current == nullptr || c.current->real_time()) return;
  const std::uint64_t left = c.fair->time_to_request_end();
  if (left < never_ns) c.hrtick_at_ns = now_ + std::max(left, min_hrtick_ns);
}

void machine::work_done(cpu& c) {
  synchronise(c);
  if (c.current == nullptr) {
    c.work_at_ns = never_ns;
    return;
  }
  sim_task& t = *c.current;
  if (t.remaining_ns == 0) {
    run_program(c);
    return;
  }
  t.until_poll_ns = t.clock_poll_ns;
  arm_work(c);
  if (t.real_time()) return;
  c.clock_ns = std::max(c.clock_ns, clock(now_));
  c.fair->account(c.clock_ns);
  if (c.fair->need_resched()) request_switch(c, config_.poll_switch_delay_ns);
}

void machine::run_program(cpu& c) {
  sim_task& t = *c.current;
  for (;;) {
    if (c.synced_ns > now_) {  // what the last step cost comes first
      arm_work(c);
      return;
    }
    if (now_ != steps_at_ns_) {
      steps_at_ns_ = now_;
      steps_without_time_ = 0;
    }
    if (++steps_without_time_ > max_steps_without_time) {
      livelocked_ = t.id;
      return;
    }
    static constexpr op no_more{op_kind::end, 0, 0};
    const op& step = t.next_step < t.steps.size() ? t.steps[t.next_step++] : no_more;
    if (!perform(c, t, step)) return;
  }
}

bool machine::perform(cpu& c, sim_task& t, const op& step) {
  switch (step.kind) {
    case op_kind::run:
      if (step.value == 0) return true;
      t.remaining_ns = step.value;
      arm_work(c);
      return false;
    case op_kind::watch: {
      sim_task& target = tasks_[step.target];
      const bool blocked = target.state == task_state::blocked || target.state == task_state::gone;
      t.remaining_ns = blocked ? step.value : forever_ns;
      if (!blocked) {
        t.watch_after_ns = step.value;
        t.next_watcher = target.first_watcher;
        target.first_watcher = t.id;
      }
      if (t.remaining_ns == 0) return true;
      arm_work(c);
      return false;
    }
    case op_kind::wake:
    case op_kind::signal: {
      sim_task& target = tasks_[step.target];
      if (target.state == task_state::blocked &&
          (target.waits_for_wake || step.kind == op_kind::signal)) {
        wake(target, t.id);
      } else if (step.kind == op_kind::wake) {
        ++target.pending_wakes;
      }
      if (config_.wakeup_cost_ns != 0) {
        c.synced_ns = std::max(c.synced_ns, now_) + config_.wakeup_cost_ns;
      }
      return true;
    }
    case op_kind::wait:
      if (t.pending_wakes != 0) {
        --t.pending_wakes;
        return true;
      }
      t.waits_for_wake = true;
      leave_cpu(c, t, false);
      return false;
    case op_kind::sleep_until:
      if (step.value <= now_) return true;
      [[fallthrough]];
    case op_kind::sleep:
    case op_kind::sleep_ticks:
    case op_kind::sleep_to_period:
      set_timer(t, timer_for(t, step));
      leave_cpu(c, t, false);
      return false;
    case op_kind::fork:
      if (tasks_[step.target].state == task_state::unborn) start_new(tasks_[step.target], t.id);
      return true;
    case op_kind::exit:
      leave_cpu(c, t, true);
      return false;
    case op_kind::yield:
      c.clock_ns = clock_for_schedule(c);
      if (t.real_time()) {
        c.rt_yields = true;
      } else {
        c.fair->yield(c.clock_ns);
      }
      arm_work(c);
      schedule(c);
      return false;
    case op_kind::set_nice:
      if (!t.real_time()) {
        c.clock_ns = std::max(c.clock_ns, clock(now_));
        c.fair->set_nice(t, static_cast<int>(static_cast<std::int64_t>(step.value)), c.clock_ns);
        if (c.fair->need_resched()) request_switch(c, config_.switch_delay_ns);
        arm_hrtick(c);
      }
      return true;
    case op_kind::set_slice:
      if (!t.real_time()) {
        c.clock_ns = std::max(c.clock_ns, clock(now_));
        c.fair->set_slice(t, step.value, c.clock_ns);
        if (c.fair->need_resched()) request_switch(c, config_.switch_delay_ns);
        arm_hrtick(c);
      }
      return true;
    case op_kind::move:  // acts at a wake-up; a task that did not block stays where it is
      return true;
    case op_kind::milestone:
      ++milestones_;
      last_milestone_ns_ = now_;
      return true;
    case op_kind::jump:
      t.next_step = static_cast<std::uint32_t>(step.value);
      return true;
    case op_kind::end:
      ended_by_ = t.id;
      leave_cpu(c, t, false);
      return false;
  }
  return false;
}

std::uint64_t machine::timer_for(const sim_task& t, const op& step) const {
  const std::uint64_t slack = t.real_time() ? 0 : config_.timer_slack_ns;
  switch (step.kind) {
    case op_kind::sleep:
      return now_ + std::min(step.value, never_ns) + slack;
    case op_kind::sleep_until:
      return std::max(now_, std::min(step.value, never_ns)) + slack;
    case op_kind::sleep_ticks:
      return next_tick_after(now_) +
             (std::clamp<std::uint64_t>(step.value, 1, never_ns / config_.tick_ns) - 1) *
                 config_.tick_ns +
             config_.tick_timer_delay_ns;
    case op_kind::sleep_to_period: {
      const std::uint64_t origin = config_.period_origins_ns.at(step.target);
      if (now_ < origin) return origin;
      return origin + ((now_ - origin) / step.value + 1) * step.value;
    }
    default:
      return now_;
  }
}

void machine::set_timer(sim_task& t, std::uint64_t at_ns) {
  timers_.push(at_ns, t.id, t.generation);
}

void machine::leave_cpu(cpu& c, sim_task& t, bool gone) {
  assert(t.state == task_state::running);
  t.state = gone ? task_state::gone : task_state::blocked;
  t.blocked_since_ns = now_;
  ++t.figures.voluntary;
  c.clock_ns = clock_for_schedule(c);
  if (!t.real_time()) {
    if (gone) {
      c.fair->exit(c.clock_ns);
    } else {
      c.fair->block(c.clock_ns);
    }
  }
  schedule(c);
  notify_watchers(t);
}

void machine::notify_watchers(sim_task& t) {
  std::uint32_t next = t.first_watcher;
  t.first_watcher = no_task;
  while (next != no_task) {
    sim_task& watcher = tasks_[next];
    next = watcher.next_watcher;
    watcher.next_watcher = no_task;
    cpu& c = *cpus_[watcher.cpu];
    if (c.current == &watcher) synchronise(c);
    watcher.remaining_ns = watcher.watch_after_ns;
    if (c.current == &watcher) {
      arm_work(c);
      refresh(c);
    }
  }
}

void machine::wake(sim_task& t, std::uint32_t waker) {
  assert(t.state == task_state::blocked);
  ++t.generation;
  t.waits_for_wake = false;
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
    if (t.in_class) c->fair->remove(t, std::max(c->clock_ns, clock(now_)));
    t.cpu = target_cpu;
    c = cpus_[t.cpu].get();
    if (t.in_class) t.in_class = c->fair->join_asleep(t, std::max(c->clock_ns, clock(now_)));
  }
  c->clock_ns = std::max(c->clock_ns, clock(now_));
  if (t.real_time()) {
    c->rt.push_back(t.id, t.rt_priority);
  } else {
    c->fair->wake(t, c->clock_ns);
  }
  if (observer_ != nullptr) observer_->on_wakeup(now_, c->number, t.id, waker);
  after_wakeup(*c, t);
}

void machine::start_new(sim_task& t, std::uint32_t parent) {
  t.cpu = placement_->cpu_for_new(t.id, t.cpu, parent == no_task ? t.cpu : tasks_[parent].cpu);
  cpu& c = *cpus_[t.cpu];
  t.state = task_state::runnable;
  t.waiting_since_ns = now_;
  t.wait_began_by_wakeup = true;
  t.wait_counts = true;
  ++t.figures.wakeups;
  c.clock_ns = std::max(c.clock_ns, clock(now_));
  if (t.real_time()) {
    c.rt.push_back(t.id, t.rt_priority);
  } else {
    use_own_slice(t);
    t.in_class = c.fair->fork(t, c.clock_ns);
  }
  if (observer_ != nullptr) observer_->on_wakeup(now_, c.number, t.id, parent);
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
  sim_task* const next = choose(c, c.clock_ns);
  if (next != previous || (previous != nullptr && previous->state != task_state::running)) {
    if (observer_ != nullptr) {
      observer_->on_switch(now_, c.number, previous == nullptr ? no_task : previous->id,
                           previous != nullptr && previous->state == task_state::running,
                           next == nullptr ? no_task : next->id);
    }
    if (previous != nullptr) switch_out(c, *previous);
    if (next != nullptr) switch_in(c, *next);
    if (next == nullptr) {
      c.current = nullptr;
      c.tick_at_ns = never_ns;
    }
    ++c.figures.switches;
  }
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
  if (t.state != task_state::running) return;
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
  if (t.policy == sched_policy::round_robin && t.round_robin_ticks_left == 0) {
    t.round_robin_ticks_left =
        std::max<std::uint32_t>(1, static_cast<std::uint32_t>(round_robin_ns / config_.tick_ns));
  }
  if (t.wait_counts) {
    const std::uint64_t waited = now_ - t.waiting_since_ns;
    if (waited > t.figures.max_wait_to_ns - t.figures.max_wait_from_ns) {
      t.figures.max_wait_from_ns = t.waiting_since_ns;
      t.figures.max_wait_to_ns = now_;
    }
    (t.wait_began_by_wakeup ? t.figures.wake_latency : t.figures.preempt_wait).add(waited, now_);
  }
  c.synced_ns = now_ + config_.switch_cost_ns;
  if (c.tick_at_ns == never_ns) c.tick_at_ns = next_tick_after(now_);
}

void machine::reset_figures() {
  measured_from_ = now_;
  for (sim_task& t : tasks_) {
    task_figures fresh;
    fresh.pid = t.figures.pid;
    fresh.name = std::move(t.figures.name);
    fresh.in_fair_class = t.figures.in_fair_class;
    t.figures = std::move(fresh);
    t.wait_counts = false;
    t.switched_in_ns = now_;
    if (t.state == task_state::blocked) t.blocked_since_ns = now_;
  }
  for (auto& c : cpus_) c->figures = {};
}

run_figures machine::figures() const {
  run_figures result;
  result.from_ns = measured_from_;
  result.to_ns = now_;
  for (const sim_task& t : tasks_) {
    result.tasks.push_back(t.figures);
    if (t.state == task_state::running) result.tasks.back().cpu_ns += now_ - t.switched_in_ns;
  }
  std::sort(result.tasks.begin(), result.tasks.end(),
            [](const task_figures& a, const task_figures& b) { return a.pid < b.pid; });
  std::uint64_t anomalies = 0;
  for (const auto& c : cpus_) {
    cpu_figures f = c->figures;
    if (c->current != nullptr) f.busy_ns += now_ - c->current->switched_in_ns;
    f.idle_ns = now_ - measured_from_ - f.busy_ns;
    result.cpus.push_back(f);
    anomalies += c->fair->anomalies();
  }
  if (anomalies != 0) result.anomalies.emplace_back("sums wrapped", anomalies);
  return result;
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "machine/machine.hpp"

#include "machine/machine_state.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

namespace vlag {
namespace {

constexpr std::uint64_t min_hrtick_ns = 10'000;

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

std::vector<load_figures> loads_by_pid(const std::vector<task_figures>& tasks,
                                       const std::vector<load_figures>& loads) {
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return tasks[a].pid < tasks[b].pid; });
  std::vector<load_figures> result;
  for (const std::size_t i : order) result.push_back(loads[i]);
  return result;
}

bool is_timed_sleep(op_kind kind) {
  return kind == op_kind::sleep || kind == op_kind::sleep_until || kind == op_kind::sleep_ticks ||
         kind == op_kind::sleep_to_period;
}

}  // namespace

machine::machine(machine_config config, const policy_config& policy, std::size_t max_tasks,
                 std::size_t max_groups)
    : config_(std::move(config)),
      policy_(policy),
      placement_(std::make_unique<recorded_placement>()),
      max_groups_(max_groups),
      random_state_(mix(config_.seed)) {
  // A group has an entity and a queue on each CPU.
  const std::size_t entities = max_tasks + max_groups * config_.cpus;
  const std::size_t timelines = config_.cpus * (1 + max_groups);
  const std::size_t bytes = timeline_storage::required_bytes(entities, timelines);
  storage_memory_ = std::make_unique<std::byte[]>(bytes + 64);
  void* memory = storage_memory_.get();
  std::size_t space = bytes + 64;
  std::align(64, bytes, memory, space);
  storage_ = std::make_unique<timeline_storage>(
      std::span<std::byte>(static_cast<std::byte*>(memory), bytes), entities, timelines);
  for (unsigned i = 0; i < config_.cpus; ++i) {
    auto c = std::make_unique<cpu>();
    c->number = i;
    c->fair = make_fair_policy(policy_, *storage_);
    cpus_.push_back(std::move(c));
  }
  winners_.resize(2 * std::bit_ceil(cpus_.size()));
  if (max_groups != 0 && cpus_.front()->fair->groups() != nullptr) {
    for (const auto& c : cpus_) schedulers_.push_back(c->fair->groups());
    tree_ = std::make_unique<group_tree>(schedulers_);
  }
  if (config_.track_load) {
    load_ = std::make_unique<load_tracker>(config_.cpus, schedulers_, clock(0));
  }
}

machine::~machine() = default;

std::uint32_t machine::add_task(task_setup setup) {
  const auto number = static_cast<std::uint32_t>(tasks_.size());
  if (observer_ != nullptr) observer_->on_task(number, setup);
  sim_task& t = tasks_.emplace_back();
  t.id = number;
  set_initial_attributes(t, setup.policy, std::clamp(setup.nice, min_nice, max_nice));
  t.slice_at_start_ns = setup.slice_ns;
  t.latency_nice = static_cast<std::int8_t>(std::clamp(setup.latency_nice, min_nice, max_nice));
  t.steps = std::move(setup.steps);
  t.clock_poll_ns = setup.clock_poll_ns;
  t.until_poll_ns = setup.clock_poll_ns;
  t.cpu = setup.cpu;
  t.rt_priority = setup.rt_priority;
  sync_place& place = sync_.of_task.emplace_back();
  place.own_policy = setup.policy;
  place.own_rt_priority = static_cast<std::uint8_t>(setup.rt_priority);
  t.start = setup.start;
  t.state = setup.start == start_state::unborn ? task_state::unborn : task_state::blocked;
  t.figures.pid = setup.pid;
  t.figures.name = std::move(setup.name);
  t.figures.in_fair_class = !t.real_time();
  if (load_ != nullptr) load_->add_task();
  if (setup.group != 0) change_group(t, setup.group);
  return number;
}

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
    ++alive_;
    if (t.start == start_state::blocked) begin_sleep_of_start(t);
    if (t.real_time()) continue;
    use_slice_at_start(t);
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

void machine::use_slice_at_start(sim_task& t) const {
  t.latency_slice =
      t.slice_at_start_ns == 0 && t.latency_nice != 0 && policy_.engine == fair_engine::eevdf;
  if (t.slice_at_start_ns == 0 && !t.latency_slice) return;
  t.slice_ns = t.latency_slice ? latency_slice_ns(policy_.eevdf.base_slice_ns, t.latency_nice)
                               : t.slice_at_start_ns;
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
    if (ended_by_ != no_task || livelocked_ != no_task || out_of_forks_ != no_task) {
      return stop_reason::program_ended;
    }
  }
  const bool pending = winners_[1].at_ns < never_ns || !timers_.empty() ||
                       (!limited_.empty() && next_period_ns() < never_ns);
  now_ = std::max(now_, end_ns);
  return pending ? stop_reason::time_reached : stop_reason::nothing_left;
}

bool machine::step(std::uint64_t end_ns) {
  const cpu_event& first = winners_[1];
  const std::uint64_t period_ns = limited_.empty() ? never_ns : next_period_ns();
  if (!timers_.empty() && timers_.top().at_ns <= std::min(first.at_ns, period_ns)) {
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
  if (period_ns < never_ns && period_ns <= first.at_ns) {
    if (period_ns > end_ns) return false;
    now_ = std::max(now_, period_ns);
    ++events_;
    run_period_timers();
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
  if (load_ != nullptr) load_->tick(c.number, c.clock_ns);
  sim_task& t = *c.current;
  if (config_.tick_cost_ns != 0) {
    c.synced_ns = std::max(c.synced_ns, now_) + config_.tick_cost_ns;
    arm_work(c);
  }
  if (!t.real_time()) {
    if (c.watch != nullptr) c.watch->before_tick();
    c.fair->tick(c.clock_ns);
    if (c.watch != nullptr) c.watch->after_tick();
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

void machine::reset_figures() {
  measured_from_ = now_;
  if (observer_ != nullptr) observer_->on_measuring(now_);
  for (sim_task& t : tasks_) {
    task_figures fresh;
    fresh.pid = t.figures.pid;
    fresh.name = std::move(t.figures.name);
    fresh.in_fair_class = t.figures.in_fair_class;
    fresh.group = t.figures.group;
    t.figures = std::move(fresh);
    t.wait_counts = false;
    t.switched_in_ns = now_;
    if (t.state == task_state::blocked) t.blocked_since_ns = now_;
  }
  for (auto& c : cpus_) {
    c->figures = {};
    c->counted_before = {};
    c->counted_before = counters_of(*c);
  }
  for (sim_group& g : groups_) begin_measuring(g);
}

run_figures machine::figures() const {
  run_figures result;
  result.from_ns = measured_from_;
  result.to_ns = now_;
  for (const sim_task& t : tasks_) {
    result.tasks.push_back(t.figures);
    task_figures& figures = result.tasks.back();
    if (t.state == task_state::running) figures.cpu_ns += now_ - t.switched_in_ns;
    if (t.state == task_state::runnable) {
      figures.add_open_wait(std::max(t.waiting_since_ns, measured_from_), now_,
                            t.wait_began_by_wakeup);
    }
  }
  for (const sim_task& t : tasks_) {
    if (t.state != task_state::gone || t.blocked_since_ns < measured_from_) continue;
    result.exits.push_back({t.figures.pid, t.blocked_since_ns});
  }
  std::stable_sort(result.exits.begin(), result.exits.end(),
                   [](const task_exit& a, const task_exit& b) { return a.pid < b.pid; });
  result.groups = figures_of_groups();
  if (load_ != nullptr) {
    result.cpu_loads = load_->cpu_loads();
    result.task_loads = loads_by_pid(result.tasks, load_->task_loads());
  }
  std::stable_sort(result.tasks.begin(), result.tasks.end(),
                   [](const task_figures& a, const task_figures& b) { return a.pid < b.pid; });
  std::uint64_t anomalies = 0;
  for (const auto& c : cpus_) {
    cpu_figures f = c->figures;
    if (c->current != nullptr) f.busy_ns += now_ - c->current->switched_in_ns;
    f.idle_ns = now_ - measured_from_ - f.busy_ns;
    result.cpus.push_back(f);
    if (c->watch != nullptr) result.counters.push_back(counters_of(*c));
    anomalies += c->fair->anomalies();
  }
  if (anomalies != 0) result.anomalies.emplace_back("sums wrapped", anomalies);
  if (refused_writes_ != 0) {
    result.anomalies.emplace_back("writes to files of groups that were refused", refused_writes_);
  }
  return result;
}

}  // namespace vlag

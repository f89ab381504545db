// SPDX-License-Identifier: Apache-2.0
#include "report/schedule.hpp"

namespace vlag {

void schedule_tee::begin(const schedule_info& info) {
  for (schedule_sink* sink : sinks_) sink->begin(info);
}
void schedule_tee::on_start(unsigned cpu, std::uint32_t running) {
  for (schedule_sink* sink : sinks_) sink->on_start(cpu, running);
}
void schedule_tee::on_switch(const schedule_switch& e) {
  for (schedule_sink* sink : sinks_) sink->on_switch(e);
}
void schedule_tee::on_wakeup(const schedule_wakeup& e) {
  for (schedule_sink* sink : sinks_) sink->on_wakeup(e);
}
void schedule_tee::on_migrate(const schedule_migration& e) {
  for (schedule_sink* sink : sinks_) sink->on_migrate(e);
}
void schedule_tee::on_runtime(std::uint64_t at_ns, std::uint32_t task, std::uint64_t ran_ns) {
  for (schedule_sink* sink : sinks_) sink->on_runtime(at_ns, task, ran_ns);
}
void schedule_tee::on_reason(const schedule_reason& e) {
  for (schedule_sink* sink : sinks_) sink->on_reason(e);
}
void schedule_tee::on_reading(const schedule_reading& e) {
  for (schedule_sink* sink : sinks_) sink->on_reading(e);
}
void schedule_tee::on_name(std::uint64_t at_ns, std::uint32_t task, std::string_view name) {
  for (schedule_sink* sink : sinks_) sink->on_name(at_ns, task, name);
}
void schedule_tee::on_task(std::uint32_t number, const schedule_task& task) {
  for (schedule_sink* sink : sinks_) sink->on_task(number, task);
}
void schedule_tee::on_wait_begins(wakeup_kind kind) {
  for (schedule_sink* sink : sinks_) sink->on_wait_begins(kind);
}
void schedule_tee::end(std::uint64_t at_ns) {
  for (schedule_sink* sink : sinks_) sink->end(at_ns);
}

namespace {

constexpr std::int32_t prio_of_nice_0 = 120;
constexpr std::int32_t prio_of_rt_0 = 99;

}  // namespace

void simulated_schedule::on_task(std::uint32_t number, const task_setup& setup) {
  const bool real_time =
      setup.policy == sched_policy::fifo || setup.policy == sched_policy::round_robin;
  tasks_.resize(number + std::size_t{1});
  cpu_of_task_.resize(tasks_.size());
  tasks_[number] = {setup.pid, setup.name,
                    real_time ? prio_of_rt_0 - setup.rt_priority : prio_of_nice_0 + setup.nice};
  cpu_of_task_[number] = setup.cpu;
}

std::int32_t simulated_schedule::prio_of(std::uint32_t task) const {
  return task == no_task ? prio_of_nice_0 : tasks_[task].prio;
}

void simulated_schedule::on_measuring(std::uint64_t at_ns) {
  start_ns_ = at_ns;
  open_ = true;
  schedule_info info;
  info.label = frame_.label;
  info.simulated = true;
  info.cpus = frame_.cpus;
  info.span_ns = frame_.span_ns;
  info.clock_at_start_ns = frame_.clock_at_start_ns;
  info.wait_begins = wakeup_kind::queued;
  info.tasks = tasks_;
  sink_->begin(info);
  running_.resize(frame_.cpus, no_task);
  for (unsigned cpu = 0; cpu < frame_.cpus; ++cpu) {
    if (running_[cpu] != no_task) sink_->on_start(cpu, running_[cpu]);
  }
}

void simulated_schedule::on_leave(std::uint64_t, unsigned, std::uint32_t, off_cpu why) {
  left_ = why;
}

void simulated_schedule::on_switch(std::uint64_t at_ns, unsigned cpu, std::uint32_t previous, bool,
                                   std::uint32_t next) {
  if (running_.size() <= cpu) running_.resize(cpu + std::size_t{1}, no_task);
  running_[cpu] = next;
  if (next != no_task) cpu_of_task_[next] = cpu;
  if (!open_) return;
  schedule_switch e;
  e.at_ns = since_start(at_ns);
  e.cpu = cpu;
  e.previous = previous;
  e.previous_prio = prio_of(previous);
  e.next = next;
  e.next_prio = prio_of(next);
  if (previous != no_task) {
    e.left.preempted = left_ == off_cpu::preempted;
    if (left_ == off_cpu::waits || left_ == off_cpu::sleeps) e.left.letter = 'S';
    if (left_ == off_cpu::exited) e.left.letter = 'X';
  }
  sink_->on_switch(e);
}

std::uint32_t simulated_schedule::running_on(unsigned cpu) const {
  return cpu < running_.size() ? running_[cpu] : no_task;
}

void simulated_schedule::on_birth(std::uint64_t, unsigned, std::uint32_t task) { born_ = task; }

void simulated_schedule::on_wakeup(std::uint64_t at_ns, unsigned cpu, std::uint32_t woken,
                                   std::uint32_t waker) {
  const wakeup_kind kind = woken == born_ ? wakeup_kind::born : wakeup_kind::queued;
  born_ = no_task;
  cpu_of_task_[woken] = cpu;
  if (!open_) return;
  const unsigned told_on = waker == no_task ? cpu : cpu_of_task_[waker];
  const std::uint32_t during = waker == no_task ? running_on(told_on) : waker;
  sink_->on_wakeup({since_start(at_ns), cpu, told_on, woken, waker, kind, during});
}

void simulated_schedule::on_migrate(std::uint64_t at_ns, std::uint32_t task, unsigned from,
                                    unsigned to) {
  cpu_of_task_[task] = to;
  if (open_) sink_->on_migrate({since_start(at_ns), task, from, to, from});
}

void simulated_schedule::on_decision(std::uint64_t at_ns, unsigned cpu, std::uint32_t about,
                                     decision what) {
  if (open_) sink_->on_reason({since_start(at_ns), cpu, about, what});
}

void simulated_schedule::on_choice(std::uint64_t at_ns, unsigned cpu, std::uint32_t chosen,
                                   const fair_reading& values) {
  if (open_) sink_->on_reading({since_start(at_ns), cpu, chosen, values});
}

void simulated_schedule::on_end(std::uint64_t at_ns) {
  if (open_) sink_->end(since_start(at_ns));
  open_ = false;
}

}  // namespace vlag

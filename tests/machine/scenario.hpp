// SPDX-License-Identifier: Apache-2.0
//
// A simulated machine for a test: tasks as short lists of operations, and what happened when.
#pragma once

#include "machine/machine.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace vlag::test {

inline constexpr std::uint64_t us = 1'000;
inline constexpr std::uint64_t ms = 1'000'000;
inline constexpr std::uint64_t s = 1'000'000'000;

// Operations.
inline op run(std::uint64_t ns) { return {op_kind::run, 0, ns}; }
inline op run_forever() { return run(forever_ns); }
inline op sleep(std::uint64_t ns) { return {op_kind::sleep, 0, ns}; }
inline op sleep_until(std::uint64_t ns) { return {op_kind::sleep_until, 0, ns}; }
inline op sleep_to_period(std::uint64_t ns) { return {op_kind::sleep_to_period, 0, ns}; }
inline op sleep_ticks(std::uint64_t ticks) { return {op_kind::sleep_ticks, 0, ticks}; }
inline op wake(std::uint32_t task) { return {op_kind::wake, task, 0}; }
inline op signal(std::uint32_t task) { return {op_kind::signal, task, 0}; }
inline op fork(std::uint32_t task) { return {op_kind::fork, task, 0}; }
inline op wait() { return {op_kind::wait, 0, 0}; }
inline op yield() { return {op_kind::yield, 0, 0}; }
inline op exit() { return {op_kind::exit, 0, 0}; }
inline op end() { return {op_kind::end, 0, 0}; }
inline op milestone() { return {op_kind::milestone, 0, 0}; }
inline op jump(std::uint64_t step) { return {op_kind::jump, 0, step}; }
inline op move_to(std::uint32_t cpu) { return {op_kind::move, cpu, 0}; }
inline op set_nice(int nice) {
  return {op_kind::set_nice, 0, static_cast<std::uint64_t>(std::int64_t{nice})};
}
inline op set_slice(std::uint64_t ns) { return {op_kind::set_slice, 0, ns}; }
inline op set_latency_nice(int latency_nice) {
  return {op_kind::set_latency_nice, 0, static_cast<std::uint64_t>(std::int64_t{latency_nice})};
}
inline op watch(std::uint32_t task, std::uint64_t then_ns) {
  return {op_kind::watch, task, then_ns};
}

struct switch_event {
  std::uint64_t at_ns;
  unsigned cpu;
  std::uint32_t previous;
  bool previous_runnable;
  std::uint32_t next;
  friend bool operator==(const switch_event&, const switch_event&) = default;
};

struct wakeup_event {
  std::uint64_t at_ns;
  unsigned cpu;
  std::uint32_t woken;
  std::uint32_t waker;
  friend bool operator==(const wakeup_event&, const wakeup_event&) = default;
};

// One machine with its policy, and a record of its events. Change config and policy before the
// first add(). The default: one CPU of Linux 6.12 at HZ 250 without jitter.
class scenario : public machine_observer {
 public:
  explicit scenario(const char* profile_name = "linux-6.12", unsigned cpus = 1,
                    std::size_t max_tasks = 64, std::size_t max_groups = 0)
      : policy(configure(*find_profile(profile_name), cpus, 4 * ms)),
        max_tasks_(max_tasks),
        max_groups_(max_groups) {
    config.cpus = cpus;
    config.tick_jitter_ns = 0;
  }

  machine_config config;
  policy_config policy;

  std::uint32_t add(task_setup setup) {
    setup.pid = static_cast<std::int32_t>(count_) + 1;
    ++count_;
    return simulated().add_task(std::move(setup));
  }
  std::uint32_t add(program steps, int nice = 0) {
    task_setup setup;
    setup.steps = std::move(steps);
    setup.nice = nice;
    return add(std::move(setup));
  }
  std::uint32_t add_hog(int nice = 0) { return add({run_forever()}, nice); }
  std::uint32_t add_unborn(program steps) {
    task_setup setup;
    setup.steps = std::move(steps);
    setup.start = start_state::unborn;
    return add(std::move(setup));
  }
  // Blocked at first, as the program's first operation says.
  std::uint32_t add_blocked(program steps, int nice = 0) {
    task_setup setup;
    setup.steps = std::move(steps);
    setup.nice = nice;
    setup.start = start_state::blocked;
    return add(std::move(setup));
  }
  std::uint32_t add_real_time(program steps, int priority, sched_policy how = sched_policy::fifo) {
    task_setup setup;
    setup.steps = std::move(steps);
    setup.policy = how;
    setup.rt_priority = priority;
    return add(std::move(setup));
  }
  std::uint32_t add_on(unsigned cpu, program steps) {
    task_setup setup;
    setup.steps = std::move(steps);
    setup.cpu = cpu;
    return add(std::move(setup));
  }

  machine& simulated() {
    if (machine_ == nullptr) {
      policy.eevdf.tick_ns = config.tick_ns;
      machine_ = std::make_unique<machine>(config, policy, max_tasks_, max_groups_);
      machine_->set_observer(this);
    }
    return *machine_;
  }
  machine::stop_reason run_until(std::uint64_t end_ns) { return simulated().run_until(end_ns); }

  [[nodiscard]] run_figures figures() const { return machine_->figures(); }
  [[nodiscard]] task_figures of(std::uint32_t task) const { return figures().tasks.at(task); }
  [[nodiscard]] std::uint64_t cpu_ns(std::uint32_t task) const { return of(task).cpu_ns; }

  // When, and to whom (no_task: idle), a CPU switched.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint32_t>> switches(
      unsigned cpu = 0) const {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> result;
    for (const switch_event& e : switch_events) {
      if (e.cpu == cpu) result.emplace_back(e.at_ns, e.next);
    }
    return result;
  }
  // When a task got the CPU.
  [[nodiscard]] std::vector<std::uint64_t> starts_of(std::uint32_t task) const {
    std::vector<std::uint64_t> result;
    for (const switch_event& e : switch_events) {
      if (e.next == task) result.push_back(e.at_ns);
    }
    return result;
  }
  // When it lost it.
  [[nodiscard]] std::vector<std::uint64_t> stops_of(std::uint32_t task) const {
    std::vector<std::uint64_t> result;
    for (const switch_event& e : switch_events) {
      if (e.previous == task) result.push_back(e.at_ns);
    }
    return result;
  }

  std::vector<switch_event> switch_events;
  std::vector<wakeup_event> wakeup_events;

  void on_switch(std::uint64_t at_ns, unsigned cpu, std::uint32_t previous, bool previous_runnable,
                 std::uint32_t next) override {
    switch_events.push_back({at_ns, cpu, previous, previous_runnable, next});
  }
  void on_wakeup(std::uint64_t at_ns, unsigned cpu, std::uint32_t woken,
                 std::uint32_t waker) override {
    wakeup_events.push_back({at_ns, cpu, woken, waker});
  }

 private:
  std::size_t max_tasks_;
  std::size_t max_groups_;
  std::size_t count_ = 0;
  std::unique_ptr<machine> machine_;
};

using times = std::vector<std::uint64_t>;
using switch_list = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

}  // namespace vlag::test

// SPDX-License-Identifier: Apache-2.0
#include "workload/rtapp_builder.hpp"

#include <fmt/format.h>

#include <utility>

#include "input/printable.hpp"

namespace vlag {

std::vector<const rtapp_value*> rtapp_builder::phases_of(const rtapp_value& task) const {
  const rtapp_value* phases = find(task, "phases");
  if (phases == nullptr) return {&task};
  need(*phases, type::object, "phases");
  if (phases->members.empty()) fail(phases->place, "no phases; expected at least one");
  std::vector<const rtapp_value*> result;
  for (const rtapp_member& m : phases->members) {
    need(m.value, type::object, m.key);
    result.push_back(&m.value);
  }
  return result;
}

void rtapp_builder::make_instances(const rtapp_member& task) {
  const std::uint32_t count = instances_of(task.value);
  for (std::uint32_t i = 0; i < count; ++i) {
    instance_ = i;
    make_task(task, fmt::format("{}-{}", task.key, i), start_state::runnable);
  }
  if (count > 0 || pools_.contains(task.key)) return;
  if (!warned_.insert("never " + task.key).second) return;
  warn(task.place, fmt::format("task \"{}\" has 0 instances and nobody forks it: it never runs",
                               printable(task.key)));
  make_task(task, task.key, start_state::unborn);  // what is wrong in it is told all the same
  result_.tasks.pop_back();
  result_.places.pop_back();
  result_.bases.pop_back();
  --placed_;
}

void rtapp_builder::make_pool(const rtapp_member& task) {
  const auto pool = pools_.find(task.key);
  if (pool == pools_.end() || pool->second.first != result_.tasks.size()) return;
  for (std::uint32_t i = 0; i < pool->second.count; ++i) {
    instance_ = i;
    make_task(task, fmt::format("{}-0-{}", task.key, i), start_state::unborn);
  }
}

void rtapp_builder::make_task(const rtapp_member& task, const std::string& name,
                              start_state start) {
  constexpr std::size_t longest_name = 15;
  const rtapp_value& t = task.value;
  setup_ = {};
  places_.clear();
  task_name_ = task.key;
  unique_timers_.clear();
  scheduling s;
  s.policy = default_policy_;
  s.priority = real_time(s.policy) ? 10 : 0;
  s = scheduling_in(t, s);
  setup_.pid = static_cast<std::int32_t>(result_.tasks.size()) + 1;
  setup_.name = name.substr(0, longest_name);
  setup_.policy = s.policy;
  (real_time(s.policy) ? setup_.rt_priority : setup_.nice) = s.priority;
  setup_.slice_ns = s.slice_ns;
  setup_.group = group_in(t, s).value_or(0);
  setup_.start = start;
  setup_.clock_poll_ns =
      static_cast<std::uint64_t>(integer_in(t, "vlag_clock_poll", 0, 0, max_us)) * ns_per_us;
  const auto delay = static_cast<std::uint64_t>(integer_in(t, "delay", 0, 0, max_us)) * ns_per_us;
  emit(t.place, op_kind::timer_origin, 0, delay);
  if (delay != 0) emit(t.place, op_kind::sleep, 0, delay);
  make_phases(t, s);
  emit(t.place, op_kind::finish);
  result_.tasks.push_back(std::move(setup_));
  result_.places.push_back(std::move(places_));
  result_.bases.push_back(task.key);
  ++placed_;
}

void rtapp_builder::close_loop(text_place place, std::int64_t times, std::size_t begin) {
  if (times < 0) {
    emit(place, op_kind::jump, 0, begin);
  } else if (times > 1) {
    emit(place, op_kind::repeat, 0, static_cast<std::uint64_t>(times) << 32 | begin);
  }
}

unsigned rtapp_builder::place_of(const rtapp_value& task, const rtapp_value& phase) const {
  std::vector<unsigned> cpus = cpus_in(phase);
  if (cpus.empty()) cpus = cpus_in(task);
  return cpus.empty() ? placed_ % result_.cpus : cpus[placed_ % cpus.size()];
}

void rtapp_builder::move_to(text_place place, unsigned cpu) {
  emit(place, op_kind::sleep, 0, 0);
  emit(place, op_kind::move, cpu);
}

void rtapp_builder::make_phases(const rtapp_value& t, scheduling s) {
  const std::vector<const rtapp_value*> phases = phases_of(t);
  const bool alone = find(t, "phases") == nullptr;
  const std::int64_t task_loop = alone && find(t, "loop") != nullptr ? 1 : loop_of(t, -1);
  check_keys(t, alone ? holder_kind::task : holder_kind::task_with_phases);
  const unsigned first_cpu = place_of(t, *phases.front());
  setup_.cpu = first_cpu;
  unsigned cpu = first_cpu;
  const std::size_t begin = setup_.steps.size();
  for (const rtapp_value* phase : phases) {
    if (!alone) check_keys(*phase, holder_kind::phase);
    if (const rtapp_value* poll = find(*phase, "vlag_clock_poll"); poll != nullptr && !alone) {
      fail(poll->place, "\"vlag_clock_poll\" in a phase; expected it beside \"phases\"");
    }
    if (const unsigned next = place_of(t, *phase); next != cpu) {
      move_to(phase->place, next);
      cpu = next;
    }
    if (!alone) use_settings(*phase, s);
    const std::size_t phase_begin = setup_.steps.size();
    note(phase->place, rtapp_note::loop_begins);
    make_events(*phase);
    note(phase->place, rtapp_note::loop_ends);
    const std::int64_t loops = alone && find(t, "loop") == nullptr ? 1 : loop_of(*phase, 1);
    close_loop(phase->place, loops, phase_begin);
  }
  if (cpu != first_cpu && task_loop != 1) move_to(t.place, first_cpu);
  close_loop(t.place, task_loop, begin);
}

void rtapp_builder::use_settings(const rtapp_value& phase, scheduling& s) {
  s = scheduling_in(phase, s);
  if (s.given) {
    emit(phase.place, op_kind::set_policy, static_cast<std::uint32_t>(s.policy),
         static_cast<std::uint64_t>(std::int64_t{s.priority}));
    emit(phase.place, op_kind::set_slice, 0, s.slice_ns);
  }
  if (const auto group = group_in(phase, s)) emit(phase.place, op_kind::join_group, *group);
}

}  // namespace vlag

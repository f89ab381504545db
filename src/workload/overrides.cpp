// SPDX-License-Identifier: Apache-2.0
#include "workload/overrides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "input/input_error.hpp"
#include "input/text.hpp"
#include "vlag/sched_attr.hpp"

namespace vlag {
namespace {

// A group has an entity and a queue on each CPU.
constexpr std::size_t max_group_parts = 1'000'000;

// A task stays where it was recorded when the mask has that CPU, else goes to the mask's first.
void restrict_cpus(std::uint64_t mask, task_setup& setup) {
  const auto allowed = [mask](std::uint64_t cpu) { return cpu < 64 && (mask >> cpu & 1) != 0; };
  if (!allowed(setup.cpu)) setup.cpu = static_cast<unsigned>(std::countr_zero(mask));
  std::erase_if(setup.steps, [&](const op& step) {
    return step.kind == op_kind::move && !allowed(step.target);
  });
}

void apply_override(const task_override& change, task_setup& setup) {
  switch (change.attribute) {
    case task_attribute::nice:
      setup.nice = static_cast<int>(change.value);
      break;
    case task_attribute::slice:
      setup.slice_ns = change.value == 0 ? 0
                                         : std::clamp(static_cast<std::uint64_t>(change.value),
                                                      shortest_own_slice_ns, longest_own_slice_ns);
      break;
    case task_attribute::latency_nice:
      setup.latency_nice = static_cast<int>(change.value);
      break;
    case task_attribute::policy:
      setup.policy = static_cast<sched_policy>(change.value);
      if (setup.policy == sched_policy::fifo || setup.policy == sched_policy::round_robin) {
        setup.rt_priority = std::max(setup.rt_priority, 1);
      }
      break;
    case task_attribute::cpus:
      restrict_cpus(static_cast<std::uint64_t>(change.value), setup);
      break;
    case task_attribute::group:  // chosen before the machine is made
      break;
  }
}

}  // namespace

void apply_overrides(const std::vector<task_override>& changes, task_setup& setup) {
  const std::uint64_t recorded_slice_ns = std::exchange(setup.slice_ns, 0);
  bool keeps_slice = true;
  for (const task_override& change : changes) {
    if (!matches_task(change.pattern, setup.name, setup.pid)) continue;
    apply_override(change, setup);
    if (change.attribute == task_attribute::slice ||
        change.attribute == task_attribute::latency_nice) {
      keeps_slice = false;
    }
  }
  if (keeps_slice) setup.slice_ns = recorded_slice_ns;
}

chosen_groups choose_groups(const std::vector<task_setup>& tasks, const group_list& groups,
                            unsigned cpus, const policy_variant& variant) {
  if (variant.config.engine == fair_engine::paper) {  // knows no groups
    return {{}, std::vector<std::uint32_t>(tasks.size(), 0)};
  }
  chosen_groups chosen{groups, {}};
  for (const task_setup& setup : tasks) {
    std::uint32_t group = setup.group;
    for (const task_override& change : variant.overrides) {
      if (change.attribute == task_attribute::group &&
          matches_task(change.pattern, setup.name, setup.pid)) {
        group = chosen.groups.number_of(change.group);
      }
    }
    chosen.of_task.push_back(group);
  }
  for (const group_override& change : variant.group_files) {
    if (!chosen.groups.has(change.path)) {
      std::vector<std::string_view> paths;
      for (const group_setup& g : chosen.groups.all()) paths.push_back(g.path);
      const auto near = nearest_name(change.path, paths);
      throw input_error(fmt::format(
          "--policy {}: no task is in a group {}{}; expected one of the attributes file, or one "
          "that TASK.group={} makes",
          variant.label, change.path, near ? fmt::format("; did you mean '{}'?", *near) : "",
          change.path));
    }
    chosen.groups.write(change.path, change.file);
  }
  if (chosen.groups.all().size() * cpus > max_group_parts) {
    throw input_error(fmt::format("{} task groups on {} CPUs; expected at most {} together",
                                  chosen.groups.all().size(), cpus, max_group_parts));
  }
  return chosen;
}

void make_groups(machine& simulated, const group_list& groups, const policy_variant& variant) {
  for (const group_setup& g : groups.all()) {
    if (simulated.add_group(g).error == group_error::none) continue;
    throw input_error(fmt::format("--policy {}: group {}: {}", variant.label, g.path,
                                  group_files_problem(g.files).value_or("cannot be made")));
  }
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// What a variant changes for single tasks and groups, applied to a workload.
#pragma once

#include "machine/machine.hpp"
#include "workload/group_list.hpp"
#include "workload/variant.hpp"

#include <cstdint>
#include <vector>

namespace vlag {

// latency_nice counts where no slice is asked for here: it replaces a slice that the workload gave.
void apply_overrides(const std::vector<task_override>& changes, task_setup& setup);

struct chosen_groups {
  group_list groups;
  std::vector<std::uint32_t> of_task;
};

// Throws input_error: a file of a group that no task is in; too many groups.
[[nodiscard]] chosen_groups choose_groups(const std::vector<task_setup>& tasks,
                                          const group_list& groups, unsigned cpus,
                                          const policy_variant& variant);

// Throws input_error: a file's text is refused.
void make_groups(machine& simulated, const group_list& groups, const policy_variant& variant);

}  // namespace vlag

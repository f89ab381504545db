// SPDX-License-Identifier: Apache-2.0
//
// A variant: one of the policies that a run compares, with what is changed for single tasks.
#pragma once

#include "machine/group_setup.hpp"
#include "vlag/profile.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

enum class task_attribute : std::uint8_t { nice, latency_nice, slice, policy, cpus, group };

// "frame.slice=0.1ms": for every task whose name or pid matches.
struct task_override {
  std::string pattern;  // name glob, or a pid in digits
  task_attribute attribute = task_attribute::nice;
  std::int64_t value = 0;  // ns for slice, the sched_policy number for policy, a CPU mask for cpus
  std::string group;       // path, for group
};

// "/a.cpu.weight=300": text for a file of a task group.
struct group_override {
  std::string path;
  group_file file;
};

struct policy_variant {
  std::string label;  // as the user wrote it, with the --set settings that apply
  policy_config config;
  bool hrtick = false;  // end a request by a timer instead of at the next tick
  std::vector<task_override> overrides;
  std::vector<group_override> group_files;  // in the order written
  // --set texts that name a feature or constant of the other engine: they change nothing here.
  std::vector<std::string> ignored_settings;
};

// SPEC = profile[,KEY=VALUE | NO_FEATURE | FEATURE | TASK.ATTR=VALUE | GROUP.FILE=TEXT]…; settings
// are the --set texts, applied to every variant before the SPEC's own. Durations take ns/us/ms/s.
// The label is itself a SPEC that gives the same variant without settings. A setting that belongs
// to the other engine is an error in a SPEC and kept in ignored_settings when it came from --set.
// CPU lists are written 0-3 or 0+2-3, since commas separate settings. Throws input_error: unknown
// profile, feature, constant or attribute (with the nearest name), a value out of range (says the
// range). cpus and tick_ns scale the profile's defaults.
[[nodiscard]] policy_variant parse_variant(std::string_view spec,
                                           const std::vector<std::string>& settings, unsigned cpus,
                                           std::uint64_t tick_ns);

// Applies --set texts on top of a variant and adds them to its label. Throws as parse_variant does.
void apply_settings(policy_variant& variant, const std::vector<std::string>& settings,
                    unsigned cpus);

// "frame.slice": overrides that the variant has no use for (slices under CFS or linux-6.6).
[[nodiscard]] std::vector<std::string> settings_without_effect(const policy_variant& variant);

// How an override's pattern selects a task: digits are a pid (or a name in full), anything else is
// a name glob.
[[nodiscard]] bool matches_task(std::string_view pattern, std::string_view name,
                                std::int32_t pid) noexcept;

[[nodiscard]] std::string_view to_string(task_attribute attribute) noexcept;

}  // namespace vlag

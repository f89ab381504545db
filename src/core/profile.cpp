// SPDX-License-Identifier: Apache-2.0
#include "vlag/profile.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace vlag {
namespace {

constexpr std::uint64_t one_second_ns = 1'000'000'000;
constexpr std::uint64_t most_tasks = 1'000'000;

// What Linux 6.12 brought that 6.6 had not.
constexpr std::array changes_of_6_6 = {
    feature_change{feature::place_rel_deadline, false},
    feature_change{feature::preempt_short, false},
    feature_change{feature::pick_buddy, false},
    feature_change{feature::delay_dequeue, false},
    feature_change{feature::delay_zero, false},
    feature_change{feature::own_slice, false},
    feature_change{feature::latency_slice, false},
    feature_change{feature::yield_to_deadline, false},
};

// The first posting differs from 6.6 in more.
constexpr std::array changes_of_rfc = {
    feature_change{feature::place_deadline_initial, false},
    feature_change{feature::place_lag_inflate, false},
    feature_change{feature::lag_clamp, false},
    feature_change{feature::run_to_parity, false},
    feature_change{feature::tick_repick, true},
    feature_change{feature::place_rel_deadline, false},
    feature_change{feature::preempt_short, false},
    feature_change{feature::pick_buddy, false},
    feature_change{feature::delay_dequeue, false},
    feature_change{feature::delay_zero, false},
    feature_change{feature::own_slice, false},
    feature_change{feature::yield_to_deadline, false},
};

constexpr std::array profile_table = {
    profile{"linux-6.12",
            fair_engine::eevdf,
            true,
            "Linux 6.12.117",
            "EEVDF with delayed dequeue, own slices and lag kept over sleep (the default)",
            {},
            700'000},
    profile{"linux-6.6", fair_engine::eevdf, false, "Linux 6.6",
            "the first EEVDF in a release: lag kept over sleep, one slice for all", changes_of_6_6,
            750'000},
    profile{"linux-6.1",
            fair_engine::cfs,
            true,
            "Linux 6.1.192",
            "CFS: least vruntime first, with sleeper credit and wake-up granularity",
            {},
            0},
    profile{"eevdf-rfc", fair_engine::eevdf, false, "the first posting of EEVDF, March 2023",
            "EEVDF with slices by latency_nice, re-picked at each tick, lag as it was left",
            changes_of_rfc, 750'000},
    profile{"paper95",
            fair_engine::paper,
            false,
            "Stoica and Abdel-Wahab, 1995",
            "EEVDF as published: eligibility fixed with each request, exact, quantum = the tick",
            {},
            0},
};

constexpr std::array constant_table = {
    constant_info{fair_engine::eevdf, "base_slice", true, 1, one_second_ns,
                  "length of a request of a task without a slice of its own", "6.6"},
    constant_info{fair_engine::eevdf, "bandwidth_slice", true, 1, one_second_ns,
                  "CPU time that a CPU takes at once from the pool of a group with a quota", "3.2"},
    constant_info{fair_engine::paper, "base_slice", true, 1, one_second_ns,
                  "length of a request of a client that asked for no other", "1995"},
    constant_info{fair_engine::cfs, "latency", true, 1, one_second_ns,
                  "period in which each task runs once, while tasks are few", "2.6.24"},
    constant_info{fair_engine::cfs, "min_granularity", true, 1, one_second_ns,
                  "what a task gets of the period at least; the period stretches for it", "2.6.23"},
    constant_info{fair_engine::cfs, "idle_min_granularity", true, 1, one_second_ns,
                  "the same for SCHED_IDLE tasks beside others; not scaled with the CPUs", "5.16"},
    constant_info{fair_engine::cfs, "wakeup_granularity", true, 0, one_second_ns,
                  "by how much a waking task must be behind the running one to preempt it",
                  "2.6.23"},
    constant_info{fair_engine::cfs, "nr_latency", false, 1, most_tasks,
                  "number of tasks above which the period stretches", "2.6.24"},
    constant_info{fair_engine::cfs, "child_runs_first", false, 0, 1,
                  "1: a forked child runs before its parent", "2.6.23"},
};

// How to reach each row of constant_table, in the same order.
struct constant_access {
  std::uint64_t (*get)(const policy_config&) noexcept;
  void (*set)(policy_config&, std::uint64_t) noexcept;
};

constexpr std::array<constant_access, constant_table.size()> access_table = {{
    {[](const policy_config& c) noexcept { return c.eevdf.base_slice_ns; },
     [](policy_config& c, std::uint64_t v) noexcept { c.eevdf.base_slice_ns = v; }},
    {[](const policy_config& c) noexcept { return c.eevdf.bandwidth_slice_ns; },
     [](policy_config& c, std::uint64_t v) noexcept { c.eevdf.bandwidth_slice_ns = v; }},
    {[](const policy_config& c) noexcept { return c.paper.base_slice_ns; },
     [](policy_config& c, std::uint64_t v) noexcept { c.paper.base_slice_ns = v; }},
    {[](const policy_config& c) noexcept { return c.cfs.latency_ns; },
     [](policy_config& c, std::uint64_t v) noexcept { c.cfs.latency_ns = v; }},
    {[](const policy_config& c) noexcept { return c.cfs.min_granularity_ns; },
     [](policy_config& c, std::uint64_t v) noexcept { c.cfs.min_granularity_ns = v; }},
    {[](const policy_config& c) noexcept { return c.cfs.idle_min_granularity_ns; },
     [](policy_config& c, std::uint64_t v) noexcept { c.cfs.idle_min_granularity_ns = v; }},
    {[](const policy_config& c) noexcept { return c.cfs.wakeup_granularity_ns; },
     [](policy_config& c, std::uint64_t v) noexcept { c.cfs.wakeup_granularity_ns = v; }},
    {[](const policy_config& c) noexcept { return std::uint64_t{c.cfs.nr_latency}; },
     [](policy_config& c, std::uint64_t v) noexcept {
       c.cfs.nr_latency = static_cast<std::uint32_t>(v);
     }},
    {[](const policy_config& c) noexcept { return std::uint64_t{c.cfs.child_runs_first}; },
     [](policy_config& c, std::uint64_t v) noexcept { c.cfs.child_runs_first = v != 0; }},
}};

const constant_access& access_of(const constant_info& which) noexcept {
  std::size_t row = 0;
  while (constant_table[row].engine != which.engine || constant_table[row].name != which.name)
    ++row;
  return access_table[row];
}

}  // namespace

std::span<const profile> all_profiles() noexcept { return profile_table; }

const profile* find_profile(std::string_view name) noexcept {
  const auto* found = std::find_if(profile_table.begin(), profile_table.end(),
                                   [&](const profile& row) { return row.name == name; });
  return found == profile_table.end() ? nullptr : found;
}

policy_config configure(const profile& p, unsigned cpus, std::uint64_t tick_ns) noexcept {
  policy_config config;
  config.source = &p;
  config.engine = p.engine;
  const auto factor = static_cast<std::uint64_t>(std::bit_width(std::min(cpus, 8U)));
  for (const feature_change& change : p.changes) config.eevdf.features.set(change.id, change.on);
  config.eevdf.base_slice_ns = p.base_slice_ns * factor;
  config.eevdf.tick_ns = tick_ns;
  config.paper.base_slice_ns = tick_ns;
  config.cfs.latency_ns *= factor;
  config.cfs.min_granularity_ns *= factor;
  config.cfs.wakeup_granularity_ns *= factor;
  return config;
}

std::span<const constant_info> all_constants() noexcept { return constant_table; }

const constant_info* find_constant(fair_engine engine, std::string_view name) noexcept {
  const auto* found = std::find_if(
      constant_table.begin(), constant_table.end(),
      [&](const constant_info& row) { return row.engine == engine && row.name == name; });
  return found == constant_table.end() ? nullptr : found;
}

std::uint64_t constant_value(const policy_config& config, const constant_info& which) noexcept {
  return access_of(which).get(config);
}

set_result set_constant(policy_config& config, std::string_view name,
                        std::uint64_t value) noexcept {
  const constant_info* which = find_constant(config.engine, name);
  if (which == nullptr) return set_result::unknown_name;
  if (value < which->minimum || value > which->maximum) return set_result::out_of_range;
  access_of(*which).set(config, value);
  return set_result::ok;
}

set_result set_feature(policy_config& config, std::string_view name, bool on) noexcept {
  const feature_info* which = find_feature(config.engine, name);
  if (which == nullptr) return set_result::unknown_name;
  switch (config.engine) {
    case fair_engine::eevdf:
      config.eevdf.features.set(which->id, on);
      break;
    case fair_engine::cfs:
      config.cfs.features.set(which->id, on);
      break;
    case fair_engine::paper:
      return set_result::unknown_name;
  }
  return set_result::ok;
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// Profiles: a named set of features and constants that stands for one kernel's fair class. Every
// feature and constant can be changed one by one on top of it.
#pragma once

#include "vlag/features.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace vlag {

struct feature_change {
  feature id;
  bool on;
};

struct profile {
  std::string_view name;  // "linux-6.12"
  fair_engine engine;
  bool exact;                  // repeats the reference bit for bit; otherwise in direction only
  std::string_view reference;  // the kernel, or the text, that it follows
  std::string_view meaning;    // one line
  std::span<const feature_change> changes;  // against default_features() of the engine
  std::uint64_t base_slice_ns;              // on one CPU; CFS has none; 0: the tick
};

[[nodiscard]] std::span<const profile> all_profiles() noexcept;
[[nodiscard]] const profile* find_profile(std::string_view name) noexcept;

// A profile made ready for a machine: the engine and the configuration in force. Only the
// configuration of the engine is used.
struct policy_config {
  const profile* source = nullptr;
  fair_engine engine = fair_engine::eevdf;
  eevdf_config eevdf;
  cfs_config cfs;
  paper_config paper;

  // Of the engine in use; the paper's has none.
  [[nodiscard]] feature_set features() const noexcept {
    if (engine == fair_engine::paper) return {};
    return engine == fair_engine::eevdf ? eevdf.features : cfs.features;
  }
};

// The profile's defaults on a machine of that many CPUs and that tick. Constants that the kernel
// scales with the CPUs are multiplied by 1 + ilog2(min(cpus, 8)); the paper knows of one CPU.
// Requires: cpus >= 1, tick_ns >= 1.
[[nodiscard]] policy_config configure(const profile& p, unsigned cpus,
                                      std::uint64_t tick_ns) noexcept;

// One row a constant and engine. Times are in ns.
struct constant_info {
  fair_engine engine;
  std::string_view name;  // "base_slice"
  bool is_time;           // ns, otherwise a plain number
  std::uint64_t minimum;
  std::uint64_t maximum;
  std::string_view meaning;
  std::string_view since;
};

[[nodiscard]] std::span<const constant_info> all_constants() noexcept;
[[nodiscard]] const constant_info* find_constant(fair_engine engine,
                                                 std::string_view name) noexcept;

[[nodiscard]] std::uint64_t constant_value(const policy_config& config,
                                           const constant_info& which) noexcept;

enum class set_result : std::uint8_t { ok, unknown_name, out_of_range };

// Changes one constant by name; nothing is changed unless the answer is ok.
[[nodiscard]] set_result set_constant(policy_config& config, std::string_view name,
                                      std::uint64_t value) noexcept;
// Switches one feature of the config's engine by name (PLACE_LAG; not NO_PLACE_LAG).
[[nodiscard]] set_result set_feature(policy_config& config, std::string_view name,
                                     bool on) noexcept;

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// Features and constants of the fair classes, as data: each can be switched at run time by name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace vlag {

enum class feature : std::uint8_t {
  // EEVDF
  place_lag,
  place_deadline_initial,
  place_rel_deadline,
  run_to_parity,
  preempt_short,
  next_buddy,  // also CFS
  pick_buddy,
  delay_dequeue,
  delay_zero,
  wakeup_preemption,  // also CFS
  place_lag_inflate,
  lag_clamp,
  own_slice,
  latency_slice,
  tick_repick,
  yield_to_deadline,
  fair_sleepers,
  gentle_fair_sleepers,  // also CFS
  // CFS
  start_debit,
  last_buddy,
  cache_hot_buddy,
  alt_period,
  base_slice,
  count
};

// A set of features that are on.
class feature_set {
 public:
  constexpr feature_set() noexcept = default;
  [[nodiscard]] constexpr bool has(feature f) const noexcept { return (bits_ & bit(f)) != 0; }
  constexpr void set(feature f, bool on) noexcept { bits_ = on ? bits_ | bit(f) : bits_ & ~bit(f); }
  friend constexpr bool operator==(feature_set, feature_set) noexcept = default;

 private:
  static constexpr std::uint32_t bit(feature f) noexcept {
    return std::uint32_t{1} << static_cast<unsigned>(f);
  }
  std::uint32_t bits_ = 0;
};

// Which class a profile runs. paper: EEVDF as published, without features (paper_class.hpp).
enum class fair_engine : std::uint8_t { eevdf, cfs, paper };

// One row a feature and engine. Names are written as the kernel writes them (PLACE_LAG).
struct feature_info {
  feature id;
  fair_engine engine;
  std::string_view name;
  bool default_on;  // in the engine's newest profile
  std::string_view meaning;
  std::string_view since;  // the kernel that brought it
};

// All features, in a fixed order; and those of one engine by name (nullptr when there is none).
[[nodiscard]] std::span<const feature_info> all_features() noexcept;
[[nodiscard]] const feature_info* find_feature(fair_engine engine, std::string_view name) noexcept;

// The defaults of an engine's newest profile.
[[nodiscard]] feature_set default_features(fair_engine engine) noexcept;

// What an EEVDF class needs to know. May be changed between two calls into the class; a new
// base_slice_ns acts at the next request of each task without a slice of its own.
struct eevdf_config {
  feature_set features = default_features(fair_engine::eevdf);
  std::uint64_t base_slice_ns = 700'000;         // 1 ns .. 1 s
  std::uint64_t tick_ns = 4'000'000;             // length of a tick: the floor of the lag clamp
  std::uint64_t bandwidth_slice_ns = 5'000'000;  // CPU time a CPU takes from a group's pool at once
};

// What the paper's algorithm needs to know.
struct paper_config {
  std::uint64_t base_slice_ns = 4'000'000;  // request of a client that asked for no other
};

// What a CFS class needs to know.
struct cfs_config {
  feature_set features = default_features(fair_engine::cfs);
  std::uint64_t latency_ns = 6'000'000;
  std::uint64_t min_granularity_ns = 750'000;
  std::uint64_t idle_min_granularity_ns = 750'000;
  std::uint64_t wakeup_granularity_ns = 1'000'000;
  std::uint32_t nr_latency = 8;  // tasks above which the period stretches
  bool child_runs_first = false;
  std::uint64_t bandwidth_slice_ns = 5'000'000;  // CPU time a CPU takes from a group's pool at once
};

}  // namespace vlag

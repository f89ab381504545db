// SPDX-License-Identifier: Apache-2.0
#include "vlag/features.hpp"

#include <algorithm>
#include <array>

namespace vlag {
namespace {

constexpr fair_engine eevdf = fair_engine::eevdf;
constexpr fair_engine cfs = fair_engine::cfs;

// "since" is the mainline release that brought the feature.
constexpr std::array feature_table = {
    feature_info{feature::place_lag, eevdf, "PLACE_LAG", true,
                 "a task returns with the lag it left with, not at the average", "6.6"},
    feature_info{feature::place_deadline_initial, eevdf, "PLACE_DEADLINE_INITIAL", true,
                 "the first request of a new task is half as long", "6.6"},
    feature_info{feature::place_rel_deadline, eevdf, "PLACE_REL_DEADLINE", true,
                 "a change of nice or slice keeps the pending request's deadline", "6.12"},
    feature_info{feature::run_to_parity, eevdf, "RUN_TO_PARITY", true,
                 "a picked task keeps the CPU until its request is used up", "6.6"},
    feature_info{feature::preempt_short, eevdf, "PREEMPT_SHORT", true,
                 "a waking task with a shorter slice ends that protection", "6.12"},
    feature_info{feature::next_buddy, eevdf, "NEXT_BUDDY", false,
                 "the task woken last runs next if it is eligible", "2.6.32"},
    feature_info{feature::pick_buddy, eevdf, "PICK_BUDDY", true,
                 "a nominated task (yield_to, NEXT_BUDDY) is picked first", "6.14, 6.12 stable"},
    feature_info{feature::delay_dequeue, eevdf, "DELAY_DEQUEUE", true,
                 "a task that blocks while ahead of its share stays queued until it is not",
                 "6.12"},
    feature_info{feature::delay_zero, eevdf, "DELAY_ZERO", true,
                 "such a task gains no lag while it sleeps", "6.12"},
    feature_info{feature::wakeup_preemption, eevdf, "WAKEUP_PREEMPTION", true,
                 "a waking task may take the CPU from the running one", "2.6.24"},
    feature_info{feature::place_lag_inflate, eevdf, "PLACE_LAG_INFLATE", true,
                 "the lag that a task returns with is what it has after its own weight moved V",
                 "6.6"},
    feature_info{feature::lag_clamp, eevdf, "LAG_CLAMP", true,
                 "lag that is kept is at most two slices, or a tick when that is longer", "6.6"},
    feature_info{feature::own_slice, eevdf, "OWN_SLICE", true,
                 "a task may ask for a slice of its own", "6.12"},
    feature_info{feature::latency_slice, eevdf, "LATENCY_SLICE", true,
                 "latency_nice sets the slice of a task or group", "none; posted in 2023"},
    feature_info{feature::tick_repick, eevdf, "TICK_REPICK", false,
                 "a tick asks who would be picked, instead of whether the request is used up",
                 "none; posted in 2023"},
    feature_info{feature::yield_to_deadline, eevdf, "YIELD_TO_DEADLINE", true,
                 "who yields while eligible gives its request away; off: its deadline moves on",
                 "6.12 stable"},
    feature_info{feature::fair_sleepers, eevdf, "FAIR_SLEEPERS", false,
                 "a task that wakes is credited with one tick", "none; posted in 2023"},
    feature_info{feature::gentle_fair_sleepers, eevdf, "GENTLE_FAIR_SLEEPERS", false,
                 "that credit is halved", "none; posted in 2023"},
    feature_info{feature::gentle_fair_sleepers, cfs, "GENTLE_FAIR_SLEEPERS", true,
                 "a sleeper is credited with half a latency period, not with a whole one",
                 "2.6.32"},
    feature_info{feature::start_debit, cfs, "START_DEBIT", true,
                 "a new task starts one slice behind", "2.6.24"},
    feature_info{feature::next_buddy, cfs, "NEXT_BUDDY", false,
                 "the task woken last runs next unless that is too unfair", "2.6.32"},
    feature_info{feature::last_buddy, cfs, "LAST_BUDDY", true,
                 "a task preempted by a waking one runs again after it", "2.6.28"},
    feature_info{feature::cache_hot_buddy, cfs, "CACHE_HOT_BUDDY", true,
                 "nominated tasks are kept where they are when load is balanced", "2.6.26"},
    feature_info{feature::wakeup_preemption, cfs, "WAKEUP_PREEMPTION", true,
                 "a waking task may take the CPU from the running one", "2.6.24"},
    feature_info{feature::alt_period, cfs, "ALT_PERIOD", true,
                 "the period counts the tasks of all groups", "5.13"},
    feature_info{feature::base_slice, cfs, "BASE_SLICE", true,
                 "no slice is shorter than the minimum granularity", "5.13"},
};

constexpr feature_set defaults_of(fair_engine engine) noexcept {
  feature_set on;
  for (const feature_info& row : feature_table) {
    if (row.engine == engine) on.set(row.id, row.default_on);
  }
  return on;
}

}  // namespace

std::span<const feature_info> all_features() noexcept { return feature_table; }

const feature_info* find_feature(fair_engine engine, std::string_view name) noexcept {
  const auto* found = std::find_if(
      feature_table.begin(), feature_table.end(),
      [&](const feature_info& row) { return row.engine == engine && row.name == name; });
  return found == feature_table.end() ? nullptr : found;
}

feature_set default_features(fair_engine engine) noexcept {
  static constexpr feature_set of_eevdf = defaults_of(eevdf);
  static constexpr feature_set of_cfs = defaults_of(cfs);
  return engine == eevdf ? of_eevdf : of_cfs;
}

}  // namespace vlag

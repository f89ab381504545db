// SPDX-License-Identifier: Apache-2.0
//
// Runs a workload file under a policy.
#pragma once

#include "machine/figures.hpp"
#include "workload/rtapp_reader.hpp"
#include "workload/variant.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace vlag {

// A file that sets no duration, with tasks that never end, runs for that long.
inline constexpr std::uint64_t longest_unlimited_run_ns = 60'000'000'000;

class rtapp_log;

struct rtapp_run_options {
  std::optional<std::uint64_t> duration_ns;  // instead of the file's
  machine_config machine;
  std::uint64_t tick_ns = 4'000'000;
  std::uint64_t timer_slack_ns = 50'000;  // Linux's default, for tasks of the fair class
  std::uint64_t seed = 1;
  bool count_decisions = false;
  rtapp_log* log = nullptr;  // is told what happens; for workloads with notes
};

// Ends at the duration or when every task is done. Tasks that were never forked have no figures.
// progress is told the simulated time in per mille of the duration. Throws input_error with the
// place in the file: tasks loop without time passing, one forks too often; an attribute out of
// reach of the variant. Same input, same result. Anomalies: tasks that wait for each other for
// good.
[[nodiscard]] run_figures run_rtapp(const rtapp_workload& workload, const policy_variant& variant,
                                    const rtapp_run_options& options,
                                    const std::function<void(unsigned)>& progress = {});

}  // namespace vlag

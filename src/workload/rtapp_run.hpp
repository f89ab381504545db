// SPDX-License-Identifier: Apache-2.0
//
// Runs a workload file under a policy.
#pragma once

#include "machine/figures.hpp"
#include "workload/rtapp_reader.hpp"
#include "workload/variant.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace vlag {

// A file that sets no duration, with tasks that never end, runs for that long.
inline constexpr std::uint64_t longest_unlimited_run_ns = 60'000'000'000;

class rtapp_log;

struct rtapp_run_options {
  std::optional<std::uint64_t> duration_ns;  // instead of the file's
  std::uint64_t seed = 1;
  bool count_decisions = false;
  rtapp_log* log = nullptr;  // is told what happens; for workloads with notes
};

// Ends at the duration or when every task is done. Tasks that were never forked have no figures.
// progress is told the simulated time in per mille of the duration; the observer, when there is
// one, of all tasks first, of on_measuring at time 0, and of on_end. Throws input_error with the
// place in the file: tasks loop without time passing, one forks too often; an attribute out of
// reach of the variant. Same input, same result. Anomalies: tasks that wait for each other for
// good.
[[nodiscard]] run_figures run_rtapp(const rtapp_workload& workload, const policy_variant& variant,
                                    const rtapp_run_options& options,
                                    const std::function<void(unsigned)>& progress = {},
                                    machine_observer* observer = nullptr);

// How long such a run takes at most.
[[nodiscard]] std::uint64_t longest_run_ns(const rtapp_workload& workload,
                                           const rtapp_run_options& options) noexcept;

// Runs up to that time, events of that very ns included, or until every task is done, and gives the
// machine as it is then. The observer, if there is one, must outlive the machine. Throws what
// run_rtapp() throws.
[[nodiscard]] std::unique_ptr<machine> run_rtapp_to(const rtapp_workload& workload,
                                                    const policy_variant& variant,
                                                    const rtapp_run_options& options,
                                                    std::uint64_t at_ns,
                                                    pick_observer* observer = nullptr);

}  // namespace vlag

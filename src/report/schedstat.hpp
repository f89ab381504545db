// SPDX-License-Identifier: Apache-2.0
//
// The scheduler's counters, per CPU and in total (sched_counters.hpp says what each counts).
#pragma once

#include "machine/figures.hpp"
#include "vlag/features.hpp"

#include <string>

namespace vlag {

// One line a counter, one column a CPU and the total; of one CPU just that. wait_sum in ms. Those
// that the engine has not are left out. Requires: the run counted decisions.
[[nodiscard]] std::string schedstat_table(const run_figures& run, fair_engine engine);

[[nodiscard]] sched_counters total_counters(const run_figures& run);

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// rt-app files as text in tests.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "input/input_error.hpp"
#include "workload/rtapp_run.hpp"

namespace vlag::test {

inline constexpr std::uint64_t us = 1'000;
inline constexpr std::uint64_t ms = 1'000'000;

inline run_figures run_workload(const rtapp_workload& w, std::uint64_t duration_ns = 1000 * ms,
                                rtapp_log* log = nullptr) {
  rtapp_run_options options;
  options.duration_ns = duration_ns;
  options.log = log;
  return run_rtapp(w, parse_variant("linux-6.12", {}, w.cpus, 4 * ms), options);
}

// Of {"tasks":{…}}; on as many CPUs, so that nobody waits for one.
inline rtapp_workload tasks(std::string_view text, unsigned cpus = 0) {
  rtapp_options options;
  options.cpus = cpus;
  return parse_rtapp(fmt::format("{{\"tasks\":{{{}}}}}", text), "w", options);
}

// "w:LINE:COLUMN: …", or "accepted", after reading and running it.
inline std::string refusal(std::string_view text, key_reading keys = key_reading::in_order) {
  try {
    rtapp_options options;
    options.keys = keys;
    static_cast<void>(run_workload(parse_rtapp(text, "w", options)));
  } catch (const input_error& e) {
    return e.what();
  }
  return "accepted";
}

inline const task_figures& figures_of(const run_figures& run, std::string_view name) {
  return *std::find_if(run.tasks.begin(), run.tasks.end(),
                       [&](const task_figures& t) { return t.name == name; });
}

}  // namespace vlag::test

// SPDX-License-Identifier: Apache-2.0
//
// Where latency, timehist and map get their schedule from: a recording as it is, or its replay
// under one policy.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "report/schedule.hpp"
#include "workload/replay.hpp"

namespace vlag {

struct schedule_request {
  std::string trace;
  std::string policy;  // empty: as recorded
  std::string attributes_file;
  std::vector<std::string> settings;
  replay_options replay;
  bool quiet = false;
};

void declare_schedule_options(CLI::App& command, schedule_request& request);

// How a sink takes a recording.
enum class taken : std::uint8_t {
  whole,        // knows tasks and CPUs from the beginning
  as_it_comes,  // also as schedule_streamed.hpp says: in little memory
};
void tell_schedule(const schedule_request& request, taken how, schedule_sink& sink);

// "0-3,7": CPUs in ascending order. Throws input_error that begins with the option's name.
[[nodiscard]] std::vector<unsigned> parse_cpus(std::string_view option, std::string_view text);

// "10,12". Throws likewise.
[[nodiscard]] std::vector<std::int32_t> parse_pids(std::string_view option, std::string_view text);

// To standard output.
void print_text(std::string_view text);

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// What `vlag replay` was asked to do.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "workload/replay.hpp"

namespace vlag {

struct replay_request {
  std::string trace;
  std::string attributes_file;
  std::vector<std::string> policies;
  std::vector<std::string> settings;
  std::vector<std::string> tasks;
  std::string wakes = "automatic";
  std::string html_path;      // empty: none
  std::string json_path;      // empty: none; "-": standard output, instead of the tables
  std::string perfetto_path;  // empty: none
  bool self_check = false;
  bool quiet = false;
  replay_options replay;
};

// Declares the options; the request is filled when the command line is parsed.
void declare_options(CLI::App& command, replay_request& request);

[[nodiscard]] external_wakes wakes_named(const std::string& name);

// The command line in a fixed order, without what does not change results.
[[nodiscard]] std::vector<std::string> normalised_arguments(const replay_request& request);

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// What `vlag replay` was asked to do, and the part of it that other commands on a recording share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "output_options.hpp"
#include "workload/replay.hpp"

namespace vlag {

// A recording and the policies to run it under.
struct source_request {
  std::string trace;
  std::string attributes_file;
  std::vector<std::string> policies;
  std::vector<std::string> settings;
  std::string wakes = "automatic";
  bool quiet = false;
  replay_options replay;
};

struct replay_request : source_request, output_request {
  bool self_check = false;
};

// --policy and --set; --seed: the same for every command that simulates. when_none: the policy
// where none is given, in words.
void declare_policies(CLI::App& command, std::vector<std::string>& policies,
                      std::vector<std::string>& settings, std::string_view when_none);
void declare_seed(CLI::App& command, std::uint64_t& seed);

// Declare the options; the request is filled when the command line is parsed.
void declare_source_options(CLI::App& command, source_request& request);
void declare_options(CLI::App& command, replay_request& request);

// Empty: fine. Otherwise what is wrong, as CLI11 wants it.
[[nodiscard]] std::string check_not_empty(const std::string& text);

[[nodiscard]] external_wakes wakes_named(const std::string& name);

// The command line in a fixed order, without what does not change results.
[[nodiscard]] std::vector<std::string> normalised_arguments(const replay_request& request);

}  // namespace vlag

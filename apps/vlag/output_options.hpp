// SPDX-License-Identifier: Apache-2.0
//
// What results are shown and written: the same options for every command that compares policies.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

class schedule_sink;

struct output_request {
  std::vector<std::string> tasks;
  std::string html_path;      // empty: none
  std::string json_path;      // empty: none; "-": standard output, instead of the tables
  std::string perfetto_path;  // empty: none
  std::string debug_at;       // empty: no dump, but the tables
  bool schedstat = false;
};

// Declares the options; the request is filled when the command line is parsed. moment: what
// --debug-at takes, in words. Gives --debug-at, for what else it excludes.
CLI::Option* declare_outputs(CLI::App& command, output_request& request, std::string_view moment);

// Before work is done: that every file can be written, is no input and not another output too.
// Throws input_error.
void check_outputs(const output_request& request, std::span<const std::string> inputs);

// Calls `simulate` with who draws the schedules into request.perfetto_path, or with nullptr when
// no such file is asked for; the file is there once that was done.
void simulate_and_draw(const output_request& request,
                       const std::function<void(schedule_sink*)>& simulate);

}  // namespace vlag

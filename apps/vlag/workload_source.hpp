// SPDX-License-Identifier: Apache-2.0
//
// What every command on a workload file starts from: the workload and the policies to run it under.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workload/rtapp_reader.hpp"
#include "workload/rtapp_run.hpp"
#include "workload/variant.hpp"

namespace vlag {

struct workload_request {
  std::string workload;  // a file, "-", or the name of a scenario
  std::vector<std::string> policies;
  std::vector<std::string> settings;
  std::string duration;
  unsigned cpus = 0;  // 0: as the file says
  std::uint64_t seed = 1;
  bool strict_json = false;
  std::string log_folder;  // for rt-app's own log; empty: none
};

struct workload_source {
  std::string path;  // of the file that is read
  rtapp_workload workload{};
  rtapp_run_options options{};
  std::vector<policy_variant> variants{};  // at least one
  std::vector<std::string> notes{};        // warnings of the file; what is not used, and why
  std::vector<std::string> changed{};      // options that make it another case than the file's
};

// --strict-json, --duration and --cpus.
void declare_workload_options(CLI::App& command, workload_request& request);

// Reads, parses and checks all of it; throws input_error.
[[nodiscard]] workload_source open_workload(const workload_request& request);

// Some task matches; otherwise throws input_error with the nearest name.
void require_match(const rtapp_workload& workload, const std::string& option,
                   const std::string& pattern);

// A time of the run that --at or --debug-at names. Throws input_error: not one, or after its end.
[[nodiscard]] std::uint64_t moment_of(const workload_source& source, const std::string& option,
                                      const std::string& text);

// Whether a file begins like a workload: with { or a comment. False for what cannot be read.
[[nodiscard]] bool looks_like_workload(const std::string& path);

}  // namespace vlag

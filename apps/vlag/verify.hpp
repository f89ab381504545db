// SPDX-License-Identifier: Apache-2.0
//
// vlag verify VECTOR...: this build's policy against recorded kernel decisions.
#pragma once

#include <CLI/CLI.hpp>
#include <iosfwd>
#include <string>
#include <vector>

namespace vlag {

// Verifies each vector and each vector of each directory, prints differences as they are found, and
// ends with "N vectors, M operations, D differences".
// Returns 0 when D is 0, else 1. Throws input_error at the first malformed vector.
int run_verify(const std::vector<std::string>& paths, std::ostream& out);

// Adds the subcommand; when it was chosen, it runs and leaves its exit code.
void add_verify_command(CLI::App& app, int& exit_code);

}  // namespace vlag

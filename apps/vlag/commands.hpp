// SPDX-License-Identifier: Apache-2.0
//
// The subcommands. Each adds itself to the command line; when it was chosen, it runs and leaves its
// exit code: 0 done, 1 a check said no. What is wrong with the input is thrown as input_error (2).
#pragma once

#include <CLI/CLI.hpp>

namespace vlag {

void add_replay_command(CLI::App& app, int& exit_code);
void add_run_command(CLI::App& app, int& exit_code);
void add_scenarios_command(CLI::App& app, int& exit_code);
void add_explain_command(CLI::App& app, int& exit_code);
void add_latency_command(CLI::App& app, int& exit_code);
void add_timehist_command(CLI::App& app, int& exit_code);
void add_map_command(CLI::App& app, int& exit_code);
void add_compare_command(CLI::App& app, int& exit_code);
void add_trace_command(CLI::App& app, int& exit_code);
void add_profiles_command(CLI::App& app, int& exit_code);
void add_features_command(CLI::App& app, int& exit_code);
void add_record_command(CLI::App& app, int& exit_code);
// Hidden from help.
void add_generate_command(CLI::App& app, int& exit_code);

}  // namespace vlag

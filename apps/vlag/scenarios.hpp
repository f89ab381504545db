// SPDX-License-Identifier: Apache-2.0
//
// The workload files that come with the program, found by name.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace vlag {

// Their folder: $VLAG_SCENARIOS, or beside the program as it is installed.
[[nodiscard]] std::string scenario_folder();

// Ascending, without ".json". Throws input_error: there is no such folder.
[[nodiscard]] std::vector<std::string> scenario_names();

// The path of a scenario; nullopt: there is none of that name, or it is no name (has a / or .).
[[nodiscard]] std::optional<std::string> find_scenario(const std::string& name);

}  // namespace vlag

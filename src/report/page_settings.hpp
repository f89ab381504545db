// SPDX-License-Identifier: Apache-2.0
//
// Every feature and constant in force in each run, as the page's data.
#pragma once

#include "report/result_json.hpp"

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace vlag {

// One entry a setting that any run's engine has: name, what it means, and its value in each run as
// shown (null where that engine has no such setting, or the run is the recording).
[[nodiscard]] nlohmann::ordered_json settings_json(const std::vector<result_run>& runs);

}  // namespace vlag

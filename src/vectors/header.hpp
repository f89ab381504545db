// SPDX-License-Identifier: Apache-2.0
//
// What the headers of the kinds have in common.
#pragma once

#include "vectors/json_line.hpp"
#include "vlag/features.hpp"

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace vlag {

// Throws input_error unless the header's keys are those every header has (format, kernel, name, hz,
// tick_nsec, t0, feat, ent_cols) or among `more`: an unknown one might change the policy.
void check_header_keys(const json_line& header, std::initializer_list<std::string_view> more);

// A number of the header that must be there. Throws input_error.
[[nodiscard]] std::uint64_t header_number(const json_line& header, std::string_view key,
                                          std::uint64_t lowest, std::uint64_t highest);

// The "feat" object: name -> 0 or 1, on top of the engine's defaults. Throws input_error.
[[nodiscard]] feature_set header_features(const json_line& header, fair_engine engine);

}  // namespace vlag

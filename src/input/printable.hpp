// SPDX-License-Identifier: Apache-2.0
//
// Text of unknown origin (names of tasks, paths, what a message quotes) made fit for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace vlag {

// The text with each control character and each byte that is not part of valid UTF-8 written as
// \x1b; so it has one line and cannot steer a terminal. Anything else stays as it is. Linear time.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace vlag

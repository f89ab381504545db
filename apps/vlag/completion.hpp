// SPDX-License-Identifier: Apache-2.0
//
// Completion scripts for shells: commands, options, values that can be listed, file names.
#pragma once

#include <string>

#include "command_description.hpp"

namespace vlag {

// Needs bash 4 and none of the bash-completion package's functions.
[[nodiscard]] std::string bash_completion(const described_command& root);
// A function file for zsh's $fpath.
[[nodiscard]] std::string zsh_completion(const described_command& root);

}  // namespace vlag

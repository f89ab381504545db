// SPDX-License-Identifier: Apache-2.0
//
// The man page of a command, as roff of the man macros.
#pragma once

#include <string>
#include <string_view>

#include "command_description.hpp"

namespace vlag {

// `root` is the whole of the command line, of which `command` is a part. ASCII only.
[[nodiscard]] std::string man_page(const described_command& root, const described_command& command,
                                   std::string_view version);

}  // namespace vlag

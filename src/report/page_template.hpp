// SPDX-License-Identifier: Apache-2.0
//
// The page of web/ with its style, scripts and chart library inlined; generated when vlag is built.
#pragma once

#include <string_view>

namespace vlag {

// Has {{data}} where the data goes; empty when the page was not built in.
[[nodiscard]] std::string_view page_template() noexcept;

}  // namespace vlag

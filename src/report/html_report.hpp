// SPDX-License-Identifier: Apache-2.0
//
// The report as one HTML file that needs nothing else: no network, no other file. The page itself
// is in web/ and is built into this library.
#pragma once

#include <string>
#include <string_view>

namespace vlag {

// Whether the page was built in: not when npm, which brings its chart library, was missing.
[[nodiscard]] bool has_html_report() noexcept;

// The page with that data (of page_data()) in it. Requires: has_html_report().
[[nodiscard]] std::string html_report(std::string_view data);

// The data as it stands in a <script> of a page: nothing in it can end that element.
[[nodiscard]] std::string json_for_script(std::string_view data);

}  // namespace vlag

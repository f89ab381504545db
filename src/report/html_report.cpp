// SPDX-License-Identifier: Apache-2.0
#include "report/html_report.hpp"

#include <cassert>

#include "report/page_template.hpp"

namespace vlag {

bool has_html_report() noexcept { return !page_template().empty(); }

// Outside of strings JSON has no <.
std::string json_for_script(std::string_view data) {
  std::string result;
  result.reserve(data.size() + data.size() / 64);
  for (const char c : data) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

std::string html_report(std::string_view data) {
  constexpr std::string_view place = "{{data}}";
  const std::string_view page = page_template();
  const std::size_t at = page.find(place);
  assert(at != page.npos);
  std::string result(page.substr(0, at));
  result += json_for_script(data);
  result += page.substr(at + place.size());
  return result;
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "replay_page.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>

#include "report/html_report.hpp"
#include "report/page_data.hpp"
#include "report/self_check.hpp"

namespace vlag {
namespace {

std::string quoted(const std::string& argument) {
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
  if (!argument.empty() && argument.find_first_not_of(plain) == argument.npos) return argument;
  std::string result = "'";
  for (const char c : argument) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

std::string command_of(const replay_request& request) {
  std::vector<std::string> arguments{"vlag"};
  for (const std::string& text : normalised_arguments(request)) arguments.push_back(text);
  arguments.push_back("--html=" + std::filesystem::path(request.html_path).filename().string());
  return shell_command(arguments);
}

std::string trust_of(const result_document& results) {
  if (results.check != nullptr) return self_check_verdict(*results.check);
  return "How far to trust this is not known: the policy of the recording is not. An --attrs file "
         "that names the kernel would tell.";
}

}  // namespace

std::string shell_command(const std::vector<std::string>& arguments) {
  std::string result;
  for (const std::string& argument : arguments) {
    if (!result.empty()) result += ' ';
    result += quoted(argument);
  }
  return result;
}

std::string replay_page(const page_source& source, progress_bar::show /*progress*/) {
  page_document page;
  page.results = source.results;
  page.change = source.change;
  page.command = command_of(source.request);
  page.trust = trust_of(source.results);
  page.trace_name = source.request.trace == "-"
                        ? "standard input"
                        : std::filesystem::path(source.request.trace).filename().string();
  page.trace_format = source.recording.format;
  page.trace_events = source.recording.events.size();
  page.classes = coloured_groups(source.workload.recorded());
  return html_report(page_data(page));
}

}  // namespace vlag

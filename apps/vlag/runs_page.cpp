// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "compared_runs.hpp"
#include "report/html_report.hpp"
#include "report/timeline_sink.hpp"

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

using windows = std::vector<time_window>;

class timeline_maker {
 public:
  explicit timeline_maker(const page_source& source) : source_(source) {
    request_.class_of = classes_of(*runs().front().figures, source.page.classes);
  }

  [[nodiscard]] std::vector<std::unique_ptr<timeline_sink>> make() {
    std::vector<std::unique_ptr<timeline_sink>> lines;
    for (std::size_t run = 0; run < runs().size(); ++run) {
      lines.push_back(line_of(run, {{0, source_.span_ns}}));
    }
    for (std::size_t run = 0; run < runs().size(); ++run) {
      if (!lines[run]->line().all_detail_kept()) lines[run] = line_of(run, around_worst_waits());
    }
    return lines;
  }

 private:
  [[nodiscard]] const std::vector<result_run>& runs() const { return source_.page.results.runs; }

  // The same places in all runs, so that they can be compared there.
  [[nodiscard]] windows around_worst_waits() const {
    constexpr std::uint64_t least_margin_ns = 1'000'000;
    windows result;
    for (const result_run& run : runs()) {
      for (const worst_wait& wait : worst_waits(*run.figures)) {
        const std::uint64_t from = wait.span.from_ns - run.figures->from_ns;
        const std::uint64_t to = wait.span.to_ns - run.figures->from_ns;
        const std::uint64_t margin = std::max((to - from) / 2, least_margin_ns);
        result.push_back({from - std::min(from, margin), std::min(to + margin, source_.span_ns)});
      }
    }
    return merged_windows(std::move(result));
  }

  [[nodiscard]] std::unique_ptr<timeline_sink> line_of(std::size_t run, windows detail) const {
    timeline_request request = request_;
    request.windows = std::move(detail);
    auto sink = std::make_unique<timeline_sink>(std::move(request));
    source_.tell(run, *sink);
    return sink;
  }

  const page_source& source_;
  timeline_request request_;
};

}  // namespace

std::string shell_command(const std::vector<std::string>& arguments) {
  std::string result;
  for (const std::string& argument : arguments) {
    if (!result.empty()) result += ' ';
    result += quoted(argument);
  }
  return result;
}

std::string page_command(const std::vector<std::string>& arguments, const std::string& html_path) {
  std::vector<std::string> all{"vlag"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  all.push_back("--html=" + std::filesystem::path(html_path).filename().string());
  return shell_command(all);
}

std::string runs_page(page_source& source) {
  page_document& page = source.page;
  page.classes = coloured_groups(*page.results.runs.front().figures);
  const std::vector<std::unique_ptr<timeline_sink>> lines = timeline_maker(source).make();
  for (const auto& line : lines) page.timelines.push_back(&line->line());
  return html_report(page_data(page));
}

}  // namespace vlag

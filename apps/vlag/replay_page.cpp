// SPDX-License-Identifier: Apache-2.0
#include "replay_page.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>

#include "input/printable.hpp"
#include "report/html_report.hpp"
#include "report/page_data.hpp"
#include "report/schedule.hpp"
#include "report/self_check.hpp"
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

using windows = std::vector<time_window>;

// Makes the timeline of one run after the other, the recording first.
class timeline_maker {
 public:
  timeline_maker(const page_source& source, const std::vector<std::string>& classes,
                 progress_bar::show progress)
      : source_(source), progress_(progress) {
    request_.class_of = classes_of(source.workload.recorded(), classes);
  }

  [[nodiscard]] std::vector<std::unique_ptr<timeline_sink>> make() {
    std::vector<std::unique_ptr<timeline_sink>> lines;
    for (std::size_t run = 0; run < runs(); ++run) lines.push_back(line_of(run, {{0, span_ns()}}));
    for (std::size_t run = 0; run < runs(); ++run) {
      if (!lines[run]->line().all_detail_kept()) lines[run] = line_of(run, around_worst_waits());
    }
    return lines;
  }

 private:
  [[nodiscard]] std::size_t runs() const { return source_.variants.size() + 1; }
  [[nodiscard]] std::uint64_t span_ns() const {
    return source_.workload.window_to_ns() - source_.workload.window_from_ns();
  }

  // The same places in all runs, so that they can be compared there.
  [[nodiscard]] windows around_worst_waits() const {
    constexpr std::uint64_t least_margin_ns = 1'000'000;
    windows result;
    for (const result_run& run : source_.results.runs) {
      for (const worst_wait& wait : worst_waits(*run.figures)) {
        const std::uint64_t from = wait.span.from_ns - run.figures->from_ns;
        const std::uint64_t to = wait.span.to_ns - run.figures->from_ns;
        const std::uint64_t margin = std::max((to - from) / 2, least_margin_ns);
        result.push_back({from - std::min(from, margin), std::min(to + margin, span_ns())});
      }
    }
    return merged_windows(std::move(result));
  }

  [[nodiscard]] std::unique_ptr<timeline_sink> line_of(std::size_t run, windows detail) const {
    timeline_request request = request_;
    request.windows = std::move(detail);
    auto sink = std::make_unique<timeline_sink>(std::move(request));
    if (run == 0) {
      tell_recording(source_.recording, source_.workload.window_from_ns(),
                     source_.workload.window_to_ns(), *sink);
      return sink;
    }
    const policy_variant& variant = source_.variants[run - 1];
    progress_bar bar(progress_, "timeline of " + printable(variant.label));
    const double span_s = static_cast<double>(span_ns()) / 1e9;
    simulated_schedule schedule({variant.label, source_.workload.cpus(), span_ns(), 0}, *sink);
    static_cast<void>(source_.workload.simulate(
        variant,
        [&](unsigned per_mille) {
          bar.update(per_mille, 1000, span_s * per_mille / 1000, "simulated s");
        },
        &schedule));
    return sink;
  }

  const page_source& source_;
  progress_bar::show progress_;
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

std::string replay_page(const page_source& source, progress_bar::show progress) {
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
  const std::vector<std::unique_ptr<timeline_sink>> lines =
      timeline_maker(source, page.classes, progress).make();
  for (const auto& line : lines) page.timelines.push_back(&line->line());
  return html_report(page_data(page));
}

}  // namespace vlag

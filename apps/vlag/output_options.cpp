// SPDX-License-Identifier: Apache-2.0
#include "output_options.hpp"

#include <fmt/format.h>

#include <utility>

#include "input/input_error.hpp"
#include "replay_options.hpp"
#include "report/html_report.hpp"
#include "report/output_file.hpp"
#include "report/perfetto_writer.hpp"

namespace vlag {
namespace {

void require_page() {
  if (has_html_report()) return;
  throw input_error(
      "--html: this vlag was built without npm, which brings the page's charts; expected a build "
      "with it (scripts/setup)");
}

void require_different_outputs(const output_request& request) {
  if (request.html_path == "-" || request.perfetto_path == "-") {
    throw input_error(fmt::format("{}: - is not taken; expected a file (or /dev/stdout)",
                                  request.html_path == "-" ? "--html" : "--perfetto"));
  }
  const std::pair<const char*, const std::string&> outputs[] = {
      {"--json", request.json_path},
      {"--html", request.html_path},
      {"--perfetto", request.perfetto_path}};
  for (const auto& [name, path] : outputs) {
    for (const auto& [other, other_path] : outputs) {
      if (path.empty() || other_path.empty() || &path == &other_path) continue;
      if (!same_output(path, other_path)) continue;
      throw input_error(
          fmt::format("{} and {}: both are {}; expected two files", name, other, path));
    }
  }
}

}  // namespace

CLI::Option* declare_outputs(CLI::App& command, output_request& request, std::string_view moment) {
  CLI::Option* const schedstat =
      command.add_flag("--schedstat", request.schedstat,
                       "count what each policy's scheduler does: checks, preemptions, delays…");
  command
      .add_option("--tasks", request.tasks,
                  "show just the tasks with this name (a pattern) or pid; several times for more")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  CLI::Option* const json =
      command
          .add_option("--json", request.json_path,
                      "write the results to a file, or with - to standard output instead of the "
                      "tables")
          ->type_name("FILE")
          ->check(check_not_empty);
  CLI::Option* const html =
      command
          .add_option(
              "--html", request.html_path,
              "write a report as one HTML file: summary, timeline, distributions, all tasks")
          ->type_name("FILE")
          ->check(check_not_empty);
  CLI::Option* const perfetto =
      command
          .add_option("--perfetto", request.perfetto_path,
                      "write all schedules to a Perfetto trace, side by side")
          ->type_name("FILE")
          ->check(check_not_empty);
  return command
      .add_option("--debug-at", request.debug_at,
                  fmt::format("instead of the tables: each policy's queues and tasks as they are "
                              "at {},\nunder the kernel's names",
                              moment))
      ->type_name("T")
      ->check(check_not_empty)
      ->excludes(schedstat)
      ->excludes(json)
      ->excludes(html)
      ->excludes(perfetto);
}

void check_outputs(const output_request& request, std::span<const std::string> inputs) {
  require_different_outputs(request);
  if (!request.html_path.empty()) require_page();
  for (const std::string* path : {&request.json_path, &request.perfetto_path, &request.html_path}) {
    if (path->empty() || *path == "-") continue;
    require_writable(*path);
    for (const std::string& input : inputs) require_other_file(*path, input);
  }
}

void simulate_and_draw(const output_request& request,
                       const std::function<void(schedule_sink*)>& simulate) {
  if (request.perfetto_path.empty()) {
    simulate(nullptr);
    return;
  }
  whole_file file(request.perfetto_path);
  perfetto_writer writer([&](std::string_view piece) { file.write(piece); });
  simulate(&writer);
  file.finish();
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "scenarios.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "commands.hpp"
#include "input/input_error.hpp"
#include "input/printable.hpp"
#include "report/text_table.hpp"
#include "workload/rtapp_reader.hpp"

namespace vlag {
namespace {

namespace fs = std::filesystem;

constexpr const char* extension = ".json";

int list_scenarios() {
  text_table table({{"Scenario", align::left}, {"CPUs"}, {"What it shows", align::left}});
  for (const std::string& name : scenario_names()) {
    const rtapp_workload w = read_rtapp(find_scenario(name).value_or(name), {});
    table.add_row({printable(name), fmt::format("{}", w.cpus), printable(w.block.summary)});
  }
  fmt::print("{}", table.text());
  return 0;
}

}  // namespace

std::string scenario_folder() {
  if (const char* folder = std::getenv("VLAG_SCENARIOS"); folder != nullptr && *folder != '\0') {
    return folder;
  }
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  return (self.parent_path() / VLAG_SCENARIOS_FROM_PROGRAM).lexically_normal().string();
}

std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  std::error_code failed;
  const std::string folder = scenario_folder();
  for (fs::directory_iterator i(folder, failed), end; !failed && i != end; i.increment(failed)) {
    if (i->path().extension() == extension) names.push_back(i->path().stem().string());
  }
  if (failed) {
    throw input_error(
        fmt::format("{}: {}; expected the folder of the scenarios (VLAG_SCENARIOS "
                    "names another)",
                    folder, failed.message()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> find_scenario(const std::string& name) {
  if (name.empty() || name.find_first_of("/.:") != name.npos) return std::nullopt;
  fs::path path = fs::path(scenario_folder()) / name;
  path += extension;
  std::error_code failed;
  if (!fs::is_regular_file(path, failed)) return std::nullopt;
  return path.string();
}

void add_scenarios_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("scenarios", "the workload files that come with vlag");
  command->footer(
      "Each says what must be seen, and vlag run NAME tells whether it is.\n\n"
      "Example:\n  vlag scenarios");
  command->callback([&exit_code] { exit_code = list_scenarios(); });
}

}  // namespace vlag

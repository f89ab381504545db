// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "commands.hpp"
#include "report/sched_map.hpp"
#include "schedule_source.hpp"

namespace vlag {
namespace {

struct map_options {
  schedule_request source;
  std::string cpus;
};

int map(const map_options& options) {
  std::vector<unsigned> cpus;
  if (!options.cpus.empty()) cpus = parse_cpus("--cpus", options.cpus);
  sched_map picture(std::move(cpus), print_text);
  tell_schedule(options.source, taken::whole, picture);
  return 0;
}

}  // namespace

void add_map_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "map", "what `perf sched map` prints, of any recording or replay: who ran where");
  const auto options = std::make_shared<map_options>();
  declare_schedule_options(*command, options->source);
  command->add_option("--cpus", options->cpus, "columns and switches of these CPUs only")
      ->type_name("LIST");
  command->footer("Example:\n  vlag map tests/data/traces/6.12-a-1cpu.trace.xz");
  command->callback([options, &exit_code] { exit_code = map(*options); });
}

}  // namespace vlag

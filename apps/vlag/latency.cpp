// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "commands.hpp"
#include "report/sched_latency.hpp"
#include "schedule_source.hpp"

namespace vlag {
namespace {

struct latency_options {
  schedule_request source;
  latency_request table;
  std::string sort = "avg,max,switch,runtime";
  std::string cpu;
};

int latency(latency_options& options) {
  options.table.sort = parse_latency_keys(options.sort);
  options.table.one_cpu = !options.cpu.empty();
  if (options.table.one_cpu) static_cast<void>(parse_cpus("--CPU", options.cpu));
  sched_latency table(options.table);
  tell_schedule(options.source, taken::as_it_comes, table);
  print_text(table.text());
  return 0;
}

}  // namespace

void add_latency_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("latency", "what `perf sched latency` prints, of any recording or replay");
  const auto options = std::make_shared<latency_options>();
  declare_schedule_options(*command, options->source);
  command
      ->add_option("-s,--sort", options->sort,
                   "largest first, by these keys: runtime, switch, avg, max")
      ->type_name("KEY,...")
      ->capture_default_str();
  command->add_flag("-p,--pids", options->table.each_pid, "a row a pid, not a row a name");
  command
      ->add_option("-C,--CPU", options->cpu,
                   "the recording is of that CPU alone: count wake-ups and migrations that\n"
                   "nothing is known before (as in perf, rows are not limited to it)")
      ->type_name("N");
  command
      ->add_flag("--as-perf-6.1", options->table.as_perf_6_1,
                 "with two faults of perf 6.1: no delay begins at a sched_waking, or when a task\n"
                 "loses the CPU in the kernel (state R+)")
      ->excludes("--window")
      ->excludes("--policy");
  command->footer(
      "Example:\n  vlag latency tests/data/traces/6.12-dspin-1cpu.trace.xz --policy linux-6.1");
  command->callback([options, &exit_code] { exit_code = latency(*options); });
}

}  // namespace vlag

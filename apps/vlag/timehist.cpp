// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "commands.hpp"
#include "report/sched_timehist.hpp"
#include "schedule_source.hpp"

namespace vlag {
namespace {

struct timehist_options {
  schedule_request source;
  timehist_request table;
  std::string cpus;
  std::string pids;
  bool summary_only = false;
  bool with_summary = false;
};

int timehist(timehist_options& options) {
  if (!options.cpus.empty()) options.table.cpus = parse_cpus("--cpu", options.cpus);
  if (!options.pids.empty()) options.table.pids = parse_pids("--pid", options.pids);
  options.table.summary = options.summary_only || options.with_summary;
  options.table.lines = !options.summary_only;
  sched_timehist table(options.table, print_text);
  tell_schedule(options.source, taken::as_it_comes, table);
  return 0;
}

}  // namespace

void add_timehist_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "timehist", "what `perf sched timehist` prints, of any recording or replay");
  const auto options = std::make_shared<timehist_options>();
  declare_schedule_options(*command, options->source);
  timehist_request& table = options->table;
  command->add_flag("-w,--wakeups", table.wakeups, "show wake-ups");
  command->add_flag("-M,--migrations", table.migrations, "show migrations");
  command->add_flag("-n,--next", table.next, "show the next task");
  command->add_flag("--state", table.state, "show the state in which a task left");
  command->add_option("-C,--cpu", options->cpus, "switches on these CPUs only")->type_name("LIST");
  command->add_option("-p,--pid", options->pids, "these tasks only")->type_name("PID,...");
  command->add_flag("-s,--summary", options->summary_only, "the summary only");
  command->add_flag("-S,--with-summary", options->with_summary, "the summary too");
  command->footer("Example:\n  vlag timehist tests/data/traces/6.12-a-1cpu.trace.xz -w -n");
  command->callback([options, &exit_code] { exit_code = timehist(*options); });
}

}  // namespace vlag

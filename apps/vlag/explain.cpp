// SPDX-License-Identifier: Apache-2.0
#include "report/explain.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "input/input_error.hpp"
#include "input/printable.hpp"
#include "input/text.hpp"
#include "machine/machine.hpp"
#include "replay_options.hpp"
#include "replay_source.hpp"

namespace vlag {
namespace {

struct explain_request : source_request {
  std::string at;
  unsigned cpu = 0;
};

// Keeps the last decision of one CPU.
class last_pick final : public pick_observer {
 public:
  explicit last_pick(unsigned cpu) : cpu_(cpu) {}
  void on_pick(const pick_record& record) override {
    if (record.cpu == cpu_) record_ = record;
  }
  [[nodiscard]] const std::optional<pick_record>& record() const noexcept { return record_; }

 private:
  unsigned cpu_;
  std::optional<pick_record> record_;
};

std::string title_of(const machine& simulated, std::uint32_t task) {
  return entity_title(simulated.name_of(task));
}

int explain(explain_request& request) {
  const replay_source source = open_source(request);
  const recorded_workload& workload = *source.workload;
  if (source.variants.size() != 1) {
    throw input_error(
        fmt::format("--policy: {} policies given; expected one, whose decision is "
                    "to be explained",
                    source.variants.size()));
  }
  if (request.cpu >= workload.cpus()) {
    throw input_error(fmt::format("--cpu: {} is not in the recording; expected 0 .. {}",
                                  request.cpu, workload.cpus() - 1));
  }
  const policy_variant& variant = source.variants.front();
  if (variant.config.engine == fair_engine::paper) {
    throw input_error(
        fmt::format("--policy: decisions of {} cannot be explained; expected a kernel's",
                    variant.config.source->name));
  }
  const replay_moment when = workload.moment(source.recording, "--at", request.at);
  last_pick last(request.cpu);
  const auto stopped = workload.run_to(variant, when, &last);
  if (!last.record()) {
    throw input_error(
        fmt::format("--at: CPU {} decides nothing up to {}: nothing was runnable on "
                    "it; expected a later time",
                    request.cpu, request.at));
  }
  const pick_record& record = *last.record();
  const std::uint64_t at_ns = workload.after_first_event_ns(record.at_ns);
  fmt::print(
      "CPU {}, {} after the first event ({} before the time asked for), under {}\n\n{}\n{}",
      request.cpu, format_duration(at_ns), format_duration(when.after_first_event_ns - at_ns),
      printable(variant.label),
      explain_pick(
          record, variant.config,
          record.previous_exists ? title_of(*stopped.simulated, record.previous) : std::string(),
          record.chosen_exists ? title_of(*stopped.simulated, record.chosen) : std::string()),
      explain_terms(variant.config.engine));
  for (const std::string& name : stopped.ran_out) {
    fmt::print("note: {} had run out of recorded work before\n", printable(name));
  }
  for (const std::string& note : source.notes) fmt::print("note: {}\n", printable(note));
  return 0;
}

}  // namespace

void add_explain_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "explain", "why that task ran: who could be chosen, who was, and by which rule");
  command->footer(
      "Example:\n"
      "  vlag explain tests/data/traces/6.1-dspin-1cpu.trace.xz \\\n"
      "    --attrs tests/data/traces/6.1-dspin-1cpu.json --policy linux-6.12 --at 1.5s");
  auto request = std::make_shared<explain_request>();
  declare_source_options(*command, *request);
  command
      ->add_option("--at", request->at,
                   "the decision at or just before this time after the first event, or marker")
      ->type_name("T")
      ->check(check_not_empty)
      ->required();
  command->add_option("--cpu", request->cpu, "of this CPU")
      ->type_name("N")
      ->check(CLI::Range(0U, 4095U))
      ->capture_default_str();
  command->callback([request, &exit_code] { exit_code = explain(*request); });
}

}  // namespace vlag

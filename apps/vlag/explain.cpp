// SPDX-License-Identifier: Apache-2.0
#include "report/explain.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "input/input_error.hpp"
#include "input/printable.hpp"
#include "input/text.hpp"
#include "machine/machine.hpp"
#include "replay_options.hpp"
#include "replay_source.hpp"
#include "workload_source.hpp"

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

const policy_variant& only_variant(const std::vector<policy_variant>& variants) {
  if (variants.size() != 1) {
    throw input_error(
        fmt::format("--policy: {} policies given; expected one, whose decision is "
                    "to be explained",
                    variants.size()));
  }
  const policy_variant& variant = variants.front();
  if (variant.config.engine == fair_engine::paper) {
    throw input_error(
        fmt::format("--policy: decisions of {} cannot be explained; expected a kernel's",
                    variant.config.source->name));
  }
  return variant;
}

void require_cpu(const explain_request& request, unsigned cpus, std::string_view where) {
  if (request.cpu < cpus) return;
  throw input_error(
      fmt::format("--cpu: {} is not in the {}; expected 0 .. {}", request.cpu, where, cpus - 1));
}

const pick_record& require_pick(const explain_request& request, const last_pick& last) {
  if (last.record()) return *last.record();
  throw input_error(
      fmt::format("--at: CPU {} decides nothing up to {}: nothing was runnable on "
                  "it; expected a later time",
                  request.cpu, request.at));
}

// when: of the decision, in words.
void print_pick(const explain_request& request, const policy_variant& variant,
                const pick_record& record, const machine& simulated, const std::string& when) {
  fmt::print(
      "CPU {}, {}, under {}\n\n{}\n{}", request.cpu, when, printable(variant.label),
      explain_pick(record, variant.config,
                   record.previous_exists ? title_of(simulated, record.previous) : std::string(),
                   record.chosen_exists ? title_of(simulated, record.chosen) : std::string()),
      explain_terms(variant.config.engine));
}

int explain_recording(explain_request& request) {
  const replay_source source = open_source(request);
  const recorded_workload& workload = *source.workload;
  const policy_variant& variant = only_variant(source.variants);
  require_cpu(request, workload.cpus(), "recording");
  const replay_moment when = workload.moment(source.recording, "--at", request.at);
  last_pick last(request.cpu);
  const auto stopped = workload.run_to(variant, when, &last);
  const pick_record& record = require_pick(request, last);
  const std::uint64_t at_ns = workload.after_first_event_ns(record.at_ns);
  print_pick(
      request, variant, record, *stopped.simulated,
      fmt::format("{} after the first event ({} before the time asked for)", format_duration(at_ns),
                  format_duration(when.after_first_event_ns - at_ns)));
  for (const std::string& name : stopped.ran_out) {
    fmt::print("note: {} had run out of recorded work before\n", printable(name));
  }
  for (const std::string& note : source.notes) fmt::print("note: {}\n", printable(note));
  return 0;
}

int explain_workload(const explain_request& request) {
  for (const auto& [option, given] : {std::pair("--attrs", !request.attributes_file.empty()),
                                      std::pair("--window", !request.replay.window.empty()),
                                      std::pair("--external-wakes", request.wakes != "automatic"),
                                      std::pair("--repeat", request.replay.repeat)}) {
    if (!given) continue;
    throw input_error(fmt::format("{}: {} is a workload file; expected a recording with it", option,
                                  request.trace));
  }
  workload_request asked;
  asked.workload = request.trace;
  asked.policies = request.policies;
  asked.settings = request.settings;
  asked.seed = request.replay.seed;
  const workload_source source = open_workload(asked);
  if (asked.policies.empty() && source.variants.size() > 1) {
    throw input_error(fmt::format("--policy: {} names {} policies; expected one to explain",
                                  request.trace, source.variants.size()));
  }
  const policy_variant& variant = only_variant(source.variants);
  require_cpu(request, source.workload.cpus, "machine");
  const std::uint64_t at_ns = moment_of(source, "--at", request.at);
  last_pick last(request.cpu);
  const auto stopped = run_rtapp_to(source.workload, variant, source.options, at_ns, &last);
  const pick_record& record = require_pick(request, last);
  print_pick(request, variant, record, *stopped,
             fmt::format("at {} ({} before the time asked for)", format_duration(record.at_ns),
                         format_duration(at_ns - record.at_ns)));
  for (const std::string& note : source.notes) fmt::print("note: {}\n", printable(note));
  return 0;
}

int explain(explain_request& request) {
  return looks_like_workload(request.trace) ? explain_workload(request)
                                            : explain_recording(request);
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
  command->get_option("TRACE")->description(
      "a recording, as vlag replay takes it, or a workload file or scenario, as vlag run does;\n"
      "- reads a recording from standard input");
  command
      ->add_option(
          "--at", request->at,
          "the decision at or just before this time: of a recording after its first event, or a\n"
          "marker in it; of a workload since its beginning")
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

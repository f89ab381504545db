// SPDX-License-Identifier: Apache-2.0
#include "replay_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace vlag {
namespace {

// Digits only: CLI11 would take 010 as octal and -1 as 2^64 - 1.
std::string check_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seed);
  if (error == std::errc{} && stop == end) return "";
  return fmt::format("'{}' is not a whole number from 0 to 18446744073709551615", text);
}

// Decimal also with leading zeros.
std::string without_leading_zeros(const std::string& digits) {
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1));
}

}  // namespace

std::string check_not_empty(const std::string& text) {
  return text.empty() ? "the value is empty" : "";
}

void declare_policies(CLI::App& command, std::vector<std::string>& policies,
                      std::vector<std::string>& settings, std::string_view when_none) {
  command
      .add_option(
          "--policy", policies,
          fmt::format(
              "run under PROFILE[,KEY=VALUE]..., KEY a feature, a constant, TASK.ATTR with ATTR\n"
              "nice, latency_nice, slice, policy, cpus (0-3, 0+2-3) or group (/a/b), or "
              "GROUP.FILE\n"
              "(/a.cpu.weight); several times for several policies (explain takes one)\n"
              "(default: {})",
              when_none))
      ->type_name("SPEC")
      ->allow_extra_args(false);
  command
      .add_option("--set", settings,
                  "the same change for all policies; NO_FEATURE switches a feature off")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void declare_seed(CLI::App& command, std::uint64_t& seed) {
  command.add_option("--seed", seed, "varies the jitter of the tick")
      ->type_name("N")
      ->transform(CLI::Validator(
          [](std::string& text) {
            std::string wrong = check_seed(text);
            if (wrong.empty()) text = without_leading_zeros(text);
            return wrong;
          },
          ""))
      ->capture_default_str();
}

void declare_source_options(CLI::App& command, source_request& request) {
  command
      .add_option("TRACE", request.trace,
                  "the recording: ftrace or perf script text, perf.data, trace.dat or Perfetto, "
                  "also compressed;\n"
                  "- reads standard input")
      ->required();
  command
      .add_option("--attrs", request.attributes_file,
                  "JSON file with what a trace cannot say: kernel, hz, features, slices")
      ->type_name("FILE")
      ->check(check_not_empty);
  declare_policies(command, request.policies, request.settings,
                   "the recorded one if --attrs names it, else linux-6.12");
  command
      .add_option("--window", request.replay.window,
                  "span of the recording: each end a time after its start or a marker's text")
      ->type_name("FROM..TO")
      ->check(check_not_empty);
  command
      .add_option("--external-wakes", request.wakes,
                  "wake-ups by interrupts: relative to when the task blocked, at their recorded\n"
                  "(absolute) time, or whichever the recording suggests")
      ->type_name("HOW")
      ->check(CLI::IsMember({"automatic", "relative", "absolute"}))
      ->capture_default_str();
  command.add_flag("--repeat", request.replay.repeat,
                   "start a task's recorded work again when it has done all of it");
  declare_seed(command, request.replay.seed);
}

void declare_options(CLI::App& command, replay_request& request) {
  declare_source_options(command, request);
  CLI::Option* const self_check =
      command.add_flag("--self-check", request.self_check,
                       "print how near a replay under the recorded policy comes to the recording");
  declare_outputs(command, request, "a time after the first event or at a marker")
      ->excludes(self_check);
  command.add_flag("--quiet", request.quiet,
                   "no progress, no table for each policy: comparison, totals, conclusion only");
}

external_wakes wakes_named(const std::string& name) {
  if (name == "relative") return external_wakes::relative;
  if (name == "absolute") return external_wakes::absolute;
  return external_wakes::automatic;
}

std::vector<std::string> normalised_arguments(const replay_request& request) {
  std::vector<std::string> result{"replay", request.trace};
  const auto add = [&](const char* name, const std::string& value) {
    result.push_back(fmt::format("{}={}", name, value));
  };
  if (!request.attributes_file.empty()) add("--attrs", request.attributes_file);
  for (const std::string& text : request.policies) add("--policy", text);
  for (const std::string& text : request.settings) add("--set", text);
  if (!request.replay.window.empty()) add("--window", request.replay.window);
  if (request.self_check) result.emplace_back("--self-check");
  if (request.schedstat) result.emplace_back("--schedstat");
  add("--external-wakes", request.wakes);
  if (request.replay.repeat) result.emplace_back("--repeat");
  add("--seed", fmt::format("{}", request.replay.seed));
  for (const std::string& text : request.tasks) add("--tasks", text);
  return result;
}

}  // namespace vlag

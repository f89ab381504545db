// SPDX-License-Identifier: Apache-2.0
#include "workload_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "input/byte_source.hpp"
#include "input/input_error.hpp"
#include "input/text.hpp"
#include "replay_options.hpp"
#include "report/task_groups.hpp"
#include "scenarios.hpp"
#include "workload/random_workload.hpp"

namespace vlag {
namespace {

constexpr std::string_view random_prefix = "random:";
constexpr std::uint64_t longest_duration_ns = 1'000'000'000'000'000;

// A file of that name goes before a scenario.
std::string path_of(const std::string& workload) {
  std::error_code failed;
  if (workload == "-" || workload.starts_with(random_prefix) ||
      std::filesystem::exists(workload, failed))
    return workload;
  if (const auto scenario = find_scenario(workload)) return *scenario;
  const bool may_be_name = workload.find_first_of("/.:") == workload.npos;
  std::vector<std::string> names;
  if (may_be_name) names = scenario_names();
  const std::vector<std::string_view> known(names.begin(), names.end());
  if (const auto near = nearest_name(workload, known)) {
    throw input_error(
        fmt::format("{}: no such file or scenario; did you mean {}?", workload, *near));
  }
  if (may_be_name) {
    throw input_error(fmt::format(
        "{}: no such file or scenario; expected a workload file, or a name that vlag scenarios "
        "lists",
        workload));
  }
  return workload;  // reading it says what is wrong
}

rtapp_workload read_workload(const std::string& path, const workload_request& request) {
  rtapp_options options;
  options.keys = request.strict_json ? key_reading::strict : key_reading::in_order;
  options.cpus = request.cpus;
  options.notes = !request.log_folder.empty();
  if (!path.starts_with(random_prefix)) return read_rtapp(path, options);
  const std::string_view asked = std::string_view(path).substr(random_prefix.size());
  return parse_rtapp(random_workload_text(parse_random_request(asked)), path, options);
}

void choose_variants(workload_source& source, const workload_request& request) {
  const rtapp_workload& w = source.workload;
  std::vector<std::string> specs = request.policies.empty() ? w.block.policies : request.policies;
  if (specs.empty()) specs.emplace_back("linux-6.12");
  for (const std::string& spec : specs) {
    policy_variant v = parse_variant(spec, request.settings, w.cpus, w.block.machine.tick_ns);
    for (const task_override& o : v.overrides) {
      require_match(w, fmt::format("--policy {}", v.label), o.pattern);
      if (o.attribute == task_attribute::cpus) {
        throw input_error(fmt::format(
            "--policy {}: cpus is for recordings; expected \"cpus\" in the workload file", spec));
      }
    }
    source.variants.push_back(std::move(v));
  }
}

void note_settings(workload_source& source, const workload_request& request) {
  for (const std::string& text : request.settings) {
    if (std::all_of(source.variants.begin(), source.variants.end(), [&](const policy_variant& v) {
          return std::count(v.ignored_settings.begin(), v.ignored_settings.end(), text) != 0;
        })) {
      throw input_error(fmt::format(
          "--set {}: none of the policies has it (vlag features lists what each has)", text));
    }
  }
  for (const policy_variant& v : source.variants) {
    for (const std::string& text : v.ignored_settings) {
      source.notes.push_back(fmt::format("{} does not apply to {}", text, v.label));
    }
    for (const std::string& text : settings_without_effect(v)) {
      source.notes.push_back(fmt::format("{} has no effect under {}", text, v.config.source->name));
    }
  }
}

void note_changes(workload_source& source, const workload_request& request) {
  if (!request.policies.empty()) source.changed.emplace_back("--policy");
  if (!request.settings.empty()) source.changed.emplace_back("--set");
  if (!request.duration.empty()) source.changed.emplace_back("--duration");
  if (request.cpus != 0) source.changed.emplace_back("--cpus");
  if (request.strict_json) source.changed.emplace_back("--strict-json");
}

}  // namespace

void declare_workload_options(CLI::App& command, workload_request& request) {
  command
      .add_option("--duration", request.duration, "simulated time, instead of the file's duration")
      ->type_name("TIME")
      ->check(check_not_empty);
  command
      .add_option("--cpus", request.cpus,
                  "CPUs of the machine (default: as the file says, or as many as it names)")
      ->type_name("N")
      ->check(CLI::Range(1, 512));
  command.add_flag("--strict-json", request.strict_json,
                   "of equal keys use the last only, as rt-app does without workgen");
}

workload_source open_workload(const workload_request& request) {
  workload_source source;
  source.options.seed = request.seed;
  if (!request.duration.empty()) {
    source.options.duration_ns = parse_duration(request.duration);
    if (!source.options.duration_ns || *source.options.duration_ns == 0 ||
        *source.options.duration_ns > longest_duration_ns) {
      throw input_error(fmt::format(
          "--duration {}: expected a time like 500ms or 10s, at most 1000000s", request.duration));
    }
  }
  source.path = path_of(request.workload);
  source.workload = read_workload(source.path, request);
  source.notes = source.workload.warnings;
  choose_variants(source, request);
  note_settings(source, request);
  note_changes(source, request);
  if (source.workload.cpus > 1) {
    source.notes.emplace_back(
        "tasks stay on the CPU that they begin on: there is no load balancing");
  }
  return source;
}

void require_match(const rtapp_workload& workload, const std::string& option,
                   const std::string& pattern) {
  std::vector<std::string_view> names;
  for (const task_setup& t : workload.tasks) {
    if (matches_task(pattern, t.name, t.pid)) return;
    names.push_back(t.name);
  }
  const auto near = nearest_name(pattern, names);
  throw input_error(fmt::format(
      "{}: no task '{}' in the workload{}; tasks are called NAME-INSTANCE, like {}", option,
      pattern, near ? fmt::format("; did you mean '{}'?", *near) : "", shown_name(names.front())));
}

std::uint64_t moment_of(const workload_source& source, const std::string& option,
                        const std::string& text) {
  const std::uint64_t end_ns = longest_run_ns(source.workload, source.options);
  const auto at_ns = parse_duration(text);
  if (!at_ns || *at_ns > end_ns) {
    throw input_error(fmt::format("{} {}: expected a time like 1.5s, at most {}", option, text,
                                  format_duration(end_ns)));
  }
  return *at_ns;
}

bool looks_like_workload(const std::string& path) {
  if (path == "-") return false;
  if (path.starts_with(random_prefix)) return true;
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return find_scenario(path).has_value();
  const headed_source source(open_bytes(path));
  const std::string_view head = source.head();
  const std::size_t begin = std::min(head.find_first_not_of(" \t\r\n"), head.size());
  const std::string_view rest = head.substr(begin);
  return rest.starts_with("{") || rest.starts_with("//") || rest.starts_with("/*");
}

}  // namespace vlag

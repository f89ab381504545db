// SPDX-License-Identifier: Apache-2.0
#include "replay_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "input/input_error.hpp"
#include "input/text.hpp"
#include "report/task_groups.hpp"
#include "trace/reader.hpp"

namespace vlag {
namespace {

constexpr unsigned any_cpus = 63;
constexpr std::uint64_t any_tick_ns = 4'000'000;
void read_inputs(replay_source& source, const source_request& request) {
  if (!request.attributes_file.empty()) {
    source.attributes = read_attributes(request.attributes_file);
  }
  progress_bar bar(shown_progress(request), "reading");
  source.recording = trace::read_recording(
      request.trace, [&](std::uint64_t done, std::uint64_t all, std::uint64_t events) {
        bar.update(done, all, static_cast<double>(events), "events");
      });
}

// A misspelt policy is told before a long recording is read.
void check_spelling(const source_request& request) {
  for (const std::string& spec : request.policies) {
    static_cast<void>(parse_variant(spec, request.settings, any_cpus, any_tick_ns));
  }
  if (request.policies.empty()) {
    static_cast<void>(parse_variant("linux-6.12", request.settings, any_cpus, any_tick_ns));
  }
}

void note_unused_attributes(replay_source& source, const source_request& request) {
  std::vector<std::string> unused = unused_attributes(source.attributes);
  if (!source.attributes.kernel.empty() && request.policies.empty()) {
    unused.front() +=
        fmt::format("; replayed under {}", source.variants.front().config.source->name);
  }
  source.notes.insert(source.notes.end(), unused.begin(), unused.end());
}

void choose_variants(replay_source& source, const source_request& request) {
  const unsigned cpus = source.workload->cpus();
  const std::uint64_t tick_ns = source.workload->tick_ns();
  for (const std::string& spec : request.policies) {
    source.variants.push_back(parse_variant(spec, request.settings, cpus, tick_ns));
  }
  source.recorded_under = recorded_variant(source.attributes, cpus);
  const std::optional<policy_variant>& recorded = source.recorded_under;
  if (request.policies.empty()) {
    policy_variant variant = recorded ? *recorded : parse_variant("linux-6.12", {}, cpus, tick_ns);
    apply_settings(variant, request.settings, cpus);
    source.variants.push_back(std::move(variant));
  }
  if (!recorded) note_unused_attributes(source, request);
}

// Settings that change nothing are said; a --set that no policy knows is a mistake.
void note_settings(replay_source& source, const source_request& request) {
  for (const std::string& text : request.settings) {
    const auto ignores = [&](const policy_variant& v) {
      return std::find(v.ignored_settings.begin(), v.ignored_settings.end(), text) !=
             v.ignored_settings.end();
    };
    if (std::all_of(source.variants.begin(), source.variants.end(), ignores)) {
      throw input_error(
          fmt::format("--set {}: none of the policies has it (vlag features lists what "
                      "each has)",
                      text));
    }
    for (const policy_variant& v : source.variants) {
      if (ignores(v)) source.notes.push_back(fmt::format("{} does not apply to {}", text, v.label));
    }
  }
  for (const policy_variant& v : source.variants) {
    for (const std::string& text : settings_without_effect(v)) {
      source.notes.push_back(fmt::format("{} has no effect under {}, which has no such attribute",
                                         text, v.config.source->name));
    }
  }
}

void check_patterns(const replay_source& source) {
  for (const policy_variant& v : source.variants) {
    for (const task_override& o : v.overrides) {
      require_match(source, fmt::format("--policy {}", v.label), o.pattern);
    }
  }
}

}  // namespace

progress_bar::show shown_progress(const source_request& request) {
  return request.quiet ? progress_bar::show::never : progress_bar::show::when_terminal;
}

void require_match(const replay_source& source, const std::string& option,
                   const std::string& pattern) {
  const std::vector<task_figures>& tasks = source.workload->recorded().tasks;
  const bool found = std::any_of(tasks.begin(), tasks.end(), [&](const task_figures& task) {
    return matches_task(pattern, task.name, task.pid);
  });
  if (found) return;
  std::vector<std::string_view> names;
  for (const task_figures& task : tasks) names.push_back(task.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const auto near = nearest_name(pattern, names);
  std::string known;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 8); ++i) {
    known += fmt::format("{}{}", i == 0 ? "" : ", ", shown_name(names[i]));
  }
  if (names.size() > 8) known += fmt::format(" and {} more", names.size() - 8);
  throw input_error(fmt::format("{}: no task '{}' in the recording{} (tasks: {})", option, pattern,
                                near ? fmt::format("; did you mean '{}'?", *near) : std::string{},
                                known));
}

replay_source open_source(source_request& request) {
  if (request.trace == "-" && request.attributes_file == "-") {
    throw input_error("TRACE and --attrs cannot both be standard input; expected a file for one");
  }
  request.replay.wakes = wakes_named(request.wakes);
  check_spelling(request);

  replay_source source;
  read_inputs(source, request);
  source.workload =
      std::make_unique<recorded_workload>(source.recording, source.attributes, request.replay);
  choose_variants(source, request);
  note_settings(source, request);
  check_patterns(source);
  return source;
}

}  // namespace vlag

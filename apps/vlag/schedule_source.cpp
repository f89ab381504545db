// SPDX-License-Identifier: Apache-2.0
#include "schedule_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "input/input_error.hpp"
#include "input/printable.hpp"
#include "progress_bar.hpp"
#include "report/schedule_streamed.hpp"
#include "trace/reader.hpp"
#include "workload/recorded_programs.hpp"
#include "workload/variant.hpp"

namespace vlag {
namespace {

constexpr unsigned highest_cpu = 65'535;
constexpr unsigned any_cpus = 63;
constexpr std::uint64_t any_tick_ns = 4'000'000;

template <typename Number>
Number parse_number(std::string_view option, std::string_view text, Number highest) {
  Number value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size() || value < 0 || value > highest) {
    throw input_error(
        fmt::format("{}: '{}' is no whole number from 0 to {}", option, text, highest));
  }
  return value;
}

template <typename Take>
void for_each_part(std::string_view text, const Take& take) {
  for (;;) {
    const std::size_t comma = std::min(text.find(','), text.size());
    take(text.substr(0, comma));
    if (comma == text.size()) return;
    text.remove_prefix(comma + 1);
  }
}

class read_progress {
 public:
  explicit read_progress(const schedule_request& request)
      : bar_(request.quiet ? progress_bar::show::never : progress_bar::show::when_terminal,
             "reading") {}
  void operator()(std::uint64_t done, std::uint64_t all, std::uint64_t events) {
    bar_.update(done, all, static_cast<double>(events), "events");
  }

 private:
  progress_bar bar_;
};

void tell_anomalies(const trace::recording_info& about) {
  for (const trace::anomaly& a : about.anomalies) {
    std::string line = fmt::format("vlag: {}: {}: {}", about.path, a.kind, a.count);
    if (!a.first.empty()) line += fmt::format(" (first: {})", a.first.front());
    fmt::print(stderr, "{}\n", printable(line));
  }
}

void stream(const schedule_request& request, schedule_sink& sink) {
  trace::recording_info about;
  schedule_stream telling(about, sink);
  {
    read_progress progress(request);
    trace::visit_recording(request.trace, about, telling, std::ref(progress));
  }
  tell_anomalies(about);
  telling.finish();
}

void replay(const schedule_request& request, const trace::recording& recording,
            schedule_sink& sink) {
  recorded_attributes attributes;
  if (!request.attributes_file.empty()) attributes = read_attributes(request.attributes_file);
  const recorded_workload workload(recording, attributes, request.replay);
  const policy_variant variant =
      parse_variant(request.policy, request.settings, workload.cpus(), workload.tick_ns());
  const run_figures& recorded = workload.recorded();
  simulated_schedule schedule({variant.label, workload.cpus(), recorded.to_ns - recorded.from_ns,
                               workload.window_from_ns()},
                              sink);
  const run_figures run = workload.simulate(variant, {}, &schedule);
  for (const auto& [name, count] : run.anomalies) {
    fmt::print(stderr, "vlag: {}: {}: {}\n", printable(variant.label), printable(name), count);
  }
}

}  // namespace

void declare_schedule_options(CLI::App& command, schedule_request& request) {
  command
      .add_option("TRACE", request.trace,
                  "the recording, of any format that vlag reads; - reads standard input")
      ->required();
  command
      .add_option("--policy", request.policy,
                  "its replay under PROFILE[,KEY=VALUE]... instead of what was recorded")
      ->type_name("SPEC");
  command.add_option("--set", request.settings, "a change of that policy; NO_FEATURE switches off")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      .add_option("--attrs", request.attributes_file,
                  "for the replay: what a trace cannot say: kernel, hz, features, slices")
      ->type_name("FILE");
  command
      .add_option("--window", request.replay.window,
                  "span of the recording: each end a time after its start or a marker's text")
      ->type_name("FROM..TO");
  command
      .add_option("--seed", request.replay.seed, "for the replay: varies the jitter of the tick")
      ->type_name("N")
      ->capture_default_str();
  command.add_flag("--quiet", request.quiet, "no progress bar");
}

void tell_schedule(const schedule_request& request, taken how, schedule_sink& sink) {
  const bool replayed = !request.policy.empty();
  if (!replayed && (!request.settings.empty() || !request.attributes_file.empty())) {
    throw input_error(fmt::format("{}: it changes a replay; expected --policy SPEC with it",
                                  request.settings.empty() ? "--attrs" : "--set"));
  }
  if (request.trace == "-" && request.attributes_file == "-") {
    throw input_error("TRACE and --attrs cannot both be standard input; expected a file for one");
  }
  if (replayed) {
    static_cast<void>(parse_variant(request.policy, request.settings, any_cpus, any_tick_ns));
  } else if (how == taken::as_it_comes && request.replay.window.empty()) {
    stream(request, sink);
    return;
  }
  trace::recording recording;
  {
    read_progress progress(request);
    recording = trace::read_recording(request.trace, std::ref(progress));
  }
  tell_anomalies(recording);
  if (replayed) {
    replay(request, recording, sink);
    return;
  }
  const recorded_span window = find_window(recording, request.replay.window);
  tell_recording(recording, window.from_ns, window.to_ns, sink);
}

std::vector<unsigned> parse_cpus(std::string_view option, std::string_view text) {
  std::vector<unsigned> result;
  for_each_part(text, [&](std::string_view part) {
    const std::size_t dash = part.find('-');
    const auto first = parse_number<unsigned>(option, part.substr(0, dash), highest_cpu);
    const auto last = dash == std::string_view::npos
                          ? first
                          : parse_number<unsigned>(option, part.substr(dash + 1), highest_cpu);
    if (last < first) {
      throw input_error(fmt::format("{}: '{}' runs backwards; expected like 0-3,7", option, part));
    }
    for (unsigned cpu = first; cpu <= last; ++cpu) result.push_back(cpu);
  });
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::vector<std::int32_t> parse_pids(std::string_view option, std::string_view text) {
  std::vector<std::int32_t> result;
  for_each_part(text, [&](std::string_view part) {
    result.push_back(parse_number<std::int32_t>(option, part, 2'147'483'647));
  });
  return result;
}

void print_text(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace vlag

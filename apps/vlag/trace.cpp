// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "input/input_error.hpp"
#include "input/printable.hpp"
#include "progress_bar.hpp"
#include "report/output_file.hpp"
#include "report/perfetto_writer.hpp"
#include "report/schedule.hpp"
#include "report/text_table.hpp"
#include "trace/ftrace_writer.hpp"
#include "trace/reader.hpp"
#include "trace/summary.hpp"

namespace vlag {
namespace {

struct trace_request {
  std::string input;
  std::string output;
  std::string format = "ftrace-text";
  bool quiet = false;

  [[nodiscard]] progress_bar::show progress() const {
    return quiet ? progress_bar::show::never : progress_bar::show::when_terminal;
  }
};

void visit_with_bar(const trace_request& request, trace::recording_info& about,
                    trace::event_visitor& to) {
  progress_bar bar(request.progress(), "reading");
  trace::visit_recording(request.input, about, to,
                         [&](std::uint64_t done, std::uint64_t all, std::uint64_t events) {
                           bar.update(done, all, static_cast<double>(events), "events");
                         });
}

std::string or_unknown(const std::string& text) { return text.empty() ? "not said" : text; }

void print_facts(const trace::recording_info& about, const trace::trace_summary& seen) {
  const auto line = [](std::string_view what, std::string_view value) {
    fmt::print("{:<12} {}\n", what, printable(value));
  };
  const bool more = seen.tasks() == trace::trace_summary::most_tasks;
  line("file", about.path);
  line("format", about.format);
  line("kernel", or_unknown(about.kernel_release));
  line("host", or_unknown(about.host));
  line("clock", or_unknown(about.clock));
  line("resolution", about.resolution_ns == 1 ? "1 ns" : "1 us");
  line("span", fmt::format("{} s, from {} to {}", as_seconds(seen.last_ns() - seen.first_ns()),
                           as_seconds(seen.first_ns()), as_seconds(seen.last_ns())));
  line("CPUs", fmt::format("{}", about.cpus));
  line("tasks", fmt::format("{}{}", seen.tasks(), more ? " or more" : ""));
  line("events", fmt::format("{}", seen.events()));
  line("lost events", fmt::format("{}", about.lost_events));
}

text_table events_of(const trace::recording_info& about, const trace::trace_summary& seen) {
  text_table table({{"Event", align::left}, {"Count"}, {"", align::left}});
  for (std::size_t i = 0; i < trace::event_kinds; ++i) {
    const auto kind = static_cast<trace::event_kind>(i);
    if (seen.events(kind) == 0) continue;
    table.add_row({std::string(trace::kernel_name(kind)), fmt::format("{}", seen.events(kind))});
  }
  std::uint64_t named = 0;
  for (const trace::other_event& other : about.others) {
    table.add_row({other.name, fmt::format("{}", other.count), "not read"});
    named += other.count;
  }
  if (named < about.other_events) {
    table.add_row({"(others)", fmt::format("{}", about.other_events - named), "not read"});
  }
  return table;
}

std::vector<std::string> anomaly_lines(const trace::recording_info& about) {
  std::vector<std::string> lines;
  for (const trace::anomaly& a : about.anomalies) {
    std::string line = fmt::format("{}: {}", a.kind, a.count);
    if (!a.first.empty()) line += fmt::format(" (first: {})", a.first.front());
    lines.push_back(printable(line));
  }
  return lines;
}

int info(const trace_request& request) {
  trace::recording_info about;
  trace::trace_summary seen;
  visit_with_bar(request, about, seen);
  print_facts(about, seen);
  fmt::print("\n{}", events_of(about, seen).text());
  const std::vector<std::string> anomalies = anomaly_lines(about);
  if (!anomalies.empty()) fmt::print("\nAnomalies\n  {}\n", fmt::join(anomalies, "\n  "));
  return 0;
}

bool is_of_the_schedule(trace::event_kind kind) {
  return kind == trace::event_kind::sched_switch || kind == trace::event_kind::waking ||
         kind == trace::event_kind::wakeup || kind == trace::event_kind::wakeup_new ||
         kind == trace::event_kind::migrate;
}

// Says what it read.
trace::recording_info convert_to_perfetto(const trace_request& request,
                                          const std::function<void(std::string_view)>& out) {
  progress_bar bar(request.progress(), "reading");
  trace::recording all = trace::read_recording(
      request.input, [&](std::uint64_t done, std::uint64_t bytes, std::uint64_t events) {
        bar.update(done, bytes, static_cast<double>(events), "events");
      });
  perfetto_writer writer(out);
  tell_recording(all, all.events.front().time_ns, all.events.back().time_ns, writer);
  const auto left_out = std::count_if(all.events.begin(), all.events.end(),
                                      [](const auto& e) { return !is_of_the_schedule(e.kind); });
  if (left_out != 0) {
    all.anomalies.push_back(
        {"forks, exits, markers and statistics left out: no part of the schedule",
         static_cast<std::uint64_t>(left_out),
         {}});
  }
  return all;
}

// The writer of the format that was asked for; it hands its bytes to `out`.
void convert_to(const trace_request& request, trace::recording_info& about,
                const std::function<void(std::string_view)>& out) {
  if (request.format == "perfetto") {
    about = convert_to_perfetto(request, out);
    return;
  }
  trace::ftrace_writer writer(about, out);
  visit_with_bar(request, about, writer);
  writer.finish();
}

int convert(const trace_request& request) {
  trace::recording_info about;
  if (request.output == "-") {
    convert_to(request, about,
               [](std::string_view piece) { std::fwrite(piece.data(), 1, piece.size(), stdout); });
  } else {
    require_other_file(request.output, request.input);
    whole_file file(request.output);
    convert_to(request, about, [&file](std::string_view piece) { file.write(piece); });
    file.finish();
  }
  for (const std::string& line : anomaly_lines(about)) {
    fmt::print(stderr, "vlag: {}: {}\n", printable(about.path), line);
  }
  return 0;
}

void add_info(CLI::App& trace, int& exit_code) {
  const auto request = std::make_shared<trace_request>();
  CLI::App* command = trace.add_subcommand("info", "what is in a recording");
  command->add_option("FILE", request->input, "the recording, of any format; - is standard input")
      ->required();
  command->add_flag("--quiet", request->quiet, "no progress bar");
  command->footer("Example:\n  vlag trace info tests/data/traces/6.1-dspin-1cpu.trace.xz");
  command->callback([request, &exit_code] { exit_code = info(*request); });
}

void add_convert(CLI::App& trace, int& exit_code) {
  const auto request = std::make_shared<trace_request>();
  CLI::App* command = trace.add_subcommand("convert", "a recording in another format");
  command->add_option("FILE", request->input, "the recording, of any format; - is standard input")
      ->required();
  command->add_option("OUT", request->output, "the file to write; - is standard output")
      ->required();
  command->add_option("--to", request->format, "the format to write: ftrace-text or perfetto")
      ->capture_default_str()
      ->check(CLI::IsMember({"ftrace-text", "perfetto"}));
  command->add_flag("--quiet", request->quiet, "no progress bar");
  command->footer(
      "Example:\n  vlag trace convert tests/data/traces/6.1-dspin-1cpu.trace.xz - --to "
      "ftrace-text");
  command->callback([request, &exit_code] { exit_code = convert(*request); });
}

}  // namespace

void add_trace_command(CLI::App& app, int& exit_code) {
  CLI::App* trace = app.add_subcommand("trace", "what is in a recording; to another format");
  trace->require_subcommand(1);
  add_info(*trace, exit_code);
  add_convert(*trace, exit_code);
}

}  // namespace vlag

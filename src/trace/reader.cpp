// SPDX-License-Identifier: Apache-2.0
#include "trace/reader.hpp"

#include "input/byte_source.hpp"
#include "input/input_error.hpp"
#include "input/line_reader.hpp"
#include "input/seekable_bytes.hpp"
#include "trace/event_text.hpp"
#include "trace/perf_data.hpp"
#include "trace/perfetto.hpp"
#include "trace/sniff.hpp"
#include "trace/trace_dat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace vlag::trace {
namespace {

// Texts come in order, or nearly so. Buffers of perf and Perfetto are emptied CPU by CPU.
constexpr std::size_t held_of_text = std::size_t{1} << 16;
constexpr std::size_t held_of_buffers = std::size_t{1} << 20;

std::size_t events_held(trace_format format) {
  const bool in_order = format == trace_format::ftrace_text ||
                        format == trace_format::perf_script || format == trace_format::trace_dat;
  return in_order ? held_of_text : held_of_buffers;
}

trace_format format_of(std::string_view head, const std::string& name) {
  if (head.empty()) {
    throw input_error(fmt::format("{}: is empty once decompressed; {}", name, expected_recording));
  }
  if (const auto format = sniff(head)) return *format;
  throw input_error(fmt::format("{}: not a recording that can be read: looks like {}; {}", name,
                                describe_content(head), expected_recording));
}

void read_as(trace_format format, std::unique_ptr<headed_source> source, intake& to,
             const progress& tell) {
  const std::string& name = to.about().path;
  switch (format) {
    case trace_format::ftrace_text: {
      line_reader lines(std::move(source), name);
      read_ftrace_text(lines, to, tell);
      break;
    }
    case trace_format::perf_script: {
      line_reader lines(std::move(source), name);
      read_perf_script(lines, to, tell);
      break;
    }
    case trace_format::perf_data:
      if (is_perf_stream(source->head())) {
        read_perf_stream(*source, to, tell);
      } else {
        read_perf_data(*make_seekable(std::move(source), name), to, tell);
      }
      break;
    case trace_format::trace_dat:
      read_trace_dat(*make_seekable(std::move(source), name), to, tell);
      break;
    case trace_format::perfetto:
      read_perfetto(*source, to, tell);
      break;
  }
}

class collector final : public event_visitor {
 public:
  explicit collector(std::vector<event>& into) : into_(into) {}
  void visit(const event& entry) override { into_.push_back(entry); }

 private:
  std::vector<event>& into_;
};

void require_switches(const recording& all) {
  const bool found = std::any_of(all.events.begin(), all.events.end(),
                                 [](const event& e) { return e.kind == event_kind::sched_switch; });
  if (found) return;
  throw input_error(
      fmt::format("{}: no sched_switch among its {} events{}; expected a recording with the events "
                  "sched_switch, sched_waking and sched_wakeup enabled",
                  all.path, all.events.size() + all.other_events,
                  all.lines > 0 ? fmt::format(" ({} lines)", all.lines) : std::string{}));
}

}  // namespace

void visit_recording(const std::string& path, recording_info& about, event_visitor& to,
                     const progress& tell) {
  about.path = shown_path(path);
  auto source = std::make_unique<headed_source>(open_bytes(path));
  const trace_format format = format_of(source->head(), about.path);
  about.format = name_of(format);
  intake taken(about, to, events_held(format));
  read_as(format, std::move(source), taken, tell);
}

recording read_recording(const std::string& path, const progress& tell) {
  recording all;
  all.path = shown_path(path);
  auto source = std::make_unique<headed_source>(open_bytes(path));
  const trace_format format = format_of(source->head(), all.path);
  all.format = name_of(format);
  collector into(all.events);
  intake taken(all, into, 0);
  read_as(format, std::move(source), taken, tell);
  if (taken.disordered()) {
    std::stable_sort(all.events.begin(), all.events.end(),
                     [](const event& a, const event& b) { return a.time_ns < b.time_ns; });
  }
  require_switches(all);
  let_waking_stand_in(all);
  return all;
}

bool let_waking_stand_in(recording& all) {
  const auto has = [&all](event_kind kind) {
    return std::any_of(all.events.begin(), all.events.end(),
                       [kind](const event& e) { return e.kind == kind; });
  };
  if (has(event_kind::wakeup) || !has(event_kind::waking)) return false;
  for (event& entry : all.events) {
    if (entry.kind == event_kind::waking) entry.kind = event_kind::wakeup;
  }
  return true;
}

}  // namespace vlag::trace

// SPDX-License-Identifier: Apache-2.0
#include "input/input_error.hpp"
#include "input/text.hpp"
#include "workload/recorded_programs.hpp"

#include <fmt/format.h>

namespace vlag {
namespace {

// A broken time stamp makes a recording that long. How much of it can be simulated depends on the
// ticks too: see max_events.
constexpr std::uint64_t max_window_days = 90;
constexpr std::uint64_t max_window_ns = max_window_days * 86'400 * 1'000'000'000;

std::uint64_t find_edge(const trace::recording& recording, std::string_view text, bool is_end) {
  if (text.empty())
    return is_end ? recording.events.back().time_ns : recording.events.front().time_ns;
  return find_moment(recording, "--window", text);
}

}  // namespace

std::uint64_t find_moment(const trace::recording& recording, std::string_view option,
                          std::string_view text) {
  const std::uint64_t first = recording.events.front().time_ns;
  const std::uint64_t last = recording.events.back().time_ns;
  for (const trace::event& e : recording.events) {
    if (e.kind == trace::event_kind::marker && recording.strings.text(e.text) == text) {
      return e.time_ns;
    }
  }
  const auto offset = text == "0" ? std::optional<std::uint64_t>(0) : parse_duration(text);
  if (!offset) {
    throw input_error(fmt::format(
        "{}: '{}' is neither a marker of {} nor a time after its first event (like 1.5s)", option,
        text, recording.path));
  }
  if (*offset > last - first) {
    throw input_error(fmt::format("{}: {} lies after the end of {}, which spans {}", option, text,
                                  recording.path, format_duration(last - first)));
  }
  return first + *offset;
}

recorded_span find_window(const trace::recording& recording, const std::string& window) {
  if (recording.events.empty()) {
    throw input_error(fmt::format("{}: no scheduler event in it", recording.path));
  }
  std::string_view from;
  std::string_view to;
  if (!window.empty()) {
    const std::size_t dots = window.find("..");
    if (dots == std::string::npos) {
      throw input_error(
          fmt::format("--window: '{}' is not FROM..TO (each a time or a marker's text)", window));
    }
    from = std::string_view(window).substr(0, dots);
    to = std::string_view(window).substr(dots + 2);
  }
  const recorded_span span{find_edge(recording, from, false), find_edge(recording, to, true)};
  const std::uint64_t first = recording.events.front().time_ns;
  if (window.empty() && span.to_ns == span.from_ns) {
    throw input_error(
        fmt::format("{}: it spans no time: all its events are at one moment", recording.path));
  }
  if (span.to_ns <= span.from_ns) {
    throw input_error(fmt::format("--window: '{}' is empty in {}: it ends at {} and begins at {}",
                                  window, recording.path, format_duration(span.to_ns - first),
                                  format_duration(span.from_ns - first)));
  }
  if (span.to_ns - span.from_ns > max_window_ns) {
    throw input_error(
        fmt::format("{}: it spans {}, more than {} days; expected --window FROM..TO of less",
                    recording.path, format_duration(span.to_ns - span.from_ns), max_window_days));
  }
  return span;
}

}  // namespace vlag

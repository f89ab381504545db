// SPDX-License-Identifier: Apache-2.0
#include "trace/event_text.hpp"

#include "input/input_error.hpp"
#include "trace/ftrace_line.hpp"
#include "trace/scan.hpp"
#include "trace/sniff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace vlag::trace {
namespace {

constexpr std::uint64_t lines_until_doubt = 1000;
constexpr std::uint64_t lines_between_reports = std::uint64_t{1} << 14;

// The kernel's "CPU:2 [LOST 7 EVENTS]", trace-cmd's "CPU:2 [7 EVENTS DROPPED]"; either may lack the
// number, which gives 0.
bool read_loss(std::string_view line, unsigned& cpu, std::uint64_t& lost) {
  scanner scan(line);
  scan.skip_spaces();
  if (!scan.take("CPU:") || !scan.take_number(cpu) || !scan.take(" [")) return false;
  const bool kernel_form = scan.take("LOST ");
  lost = 0;
  if (scan.take_number(lost) && !scan.take(' ')) return false;
  return scan.take(kernel_form ? "EVENTS]" : "EVENTS DROPPED]");
}

// Lines that stand between events and say nothing about them.
bool is_no_event(std::string_view line) {
  scanner scan(line);
  scan.skip_spaces();
  if (scan.at_end() || line.front() == '\t') return true;   // perf script's stacks are indented
  if (scan.peek() == '#' || scan.take("=> ")) return true;  // a comment; a line of a stack trace
  if (scan.take("cpus=") || scan.take("version = ")) return true;
  unsigned cpu = 0;
  return scan.take("CPU ") && scan.take_number(cpu) && scan.take(" is empty");
}

// What differs between the two kinds of text.
struct dialect {
  bool (*parse)(std::string_view line, line_head& head) noexcept;
  std::string_view form;  // of a line, for messages
};

constexpr dialect ftrace_dialect{parse_head, "comm-pid [cpu] flags time: event: arguments"};
constexpr dialect script_dialect{parse_script_head, "comm pid [cpu] time: event: arguments"};

class text_reading {
 public:
  text_reading(line_reader& lines, const dialect& how, intake& to, const progress& tell)
      : lines_(lines), how_(how), to_(to), out_(to.about()), tell_(tell) {}

  void read() {
    std::string_view line;
    while (lines_.next(line)) {
      if (lines_.last_line_was_cut()) {
        read_cut_line(line);
      } else {
        read_line(line);
      }
      if (tell_ && lines_.line_number() % lines_between_reports == 0) report();
      if (lines_seen_ == 0 && malformed_ >= lines_until_doubt) refuse();
    }
    finish();
  }

 private:
  void read_line(std::string_view line) {
    line_head head;
    if (line.empty() || line.front() == '#') {
      learn_column(line, columns_);
    } else if (how_.parse(line, head)) {
      ++lines_seen_;
      read_event(head);
    } else {
      read_odd_line(line);
    }
  }

  // A number may be cut and still read well, so the line is not trusted.
  void read_cut_line(std::string_view line) {
    if (is_no_event(line)) return;
    note("cut last line", [] { return "the file ends within it; not read"; });
  }

  void read_event(const line_head& head) {
    event entry;
    event_texts texts;
    entry.context_pid = head.pid;
    switch (read_arguments(head, entry, texts)) {
      case line_kind::known:
        keep(head, entry, texts);
        break;
      case line_kind::other:
        read_other(head);
        break;
      case line_kind::malformed:
        note("malformed event",
             [&head] { return fmt::format("{} whose arguments make no sense", head.event); });
        break;
    }
  }

  void keep(const line_head& head, event& entry, const event_texts& texts) {
    entry.time_ns = head.time_ns;
    entry.where = lines_.line_number();
    entry.cpu = head.cpu;
    read_flags(head.flags, columns_, entry);
    const bool of_itself =
        entry.kind == event_kind::sched_switch || entry.kind == event_kind::stat_runtime;
    if (head.pid < 0 && of_itself) entry.context_pid = entry.pid;
    if (!texts.comm.empty()) entry.comm = to_.name(texts.comm, entry.pid);
    if (!texts.other_comm.empty()) entry.other_comm = to_.name(texts.other_comm, entry.other_pid);
    if (!texts.marker.empty()) entry.text = to_.text(texts.marker);
    constexpr unsigned microsecond_digits = 6;
    if (head.fraction_digits > microsecond_digits) nanoseconds_ = true;
    out_.resolution_ns = nanoseconds_ ? 1 : 1000;
    if (entry.time_ns < to_.latest_ns()) {
      note("out of order", [&] {
        return fmt::format("{} ns earlier than a line above it", to_.latest_ns() - entry.time_ns);
      });
    }
    to_.take(entry);
  }

  void read_other(const line_head& head) {
    scanner scan(head.arguments);
    std::uint64_t lost = 0;
    if (!head.event.starts_with("PERF_RECORD_LOST") || !scan.take("lost ") ||
        !scan.take_number(lost)) {
      to_.count_other(head.event);
      return;
    }
    to_.count_lost(lost);
    note("lost events", [lost] { return fmt::format("perf lost {} events", lost); });
  }

  void read_odd_line(std::string_view line) {
    unsigned cpu = 0;
    std::uint64_t lost = 0;
    if (read_loss(line, cpu, lost)) {
      to_.count_lost(lost);
      note("lost events", [cpu, lost] {
        return lost > 0 ? fmt::format("CPU {} lost {} events", cpu, lost)
                        : fmt::format("CPU {} lost events, how many is unknown", cpu);
      });
    } else if (!is_no_event(line)) {
      ++malformed_;
      note("malformed line", [this] { return fmt::format("not of the form \"{}\"", how_.form); });
    }
  }

  template <typename text_of>
  void note(std::string_view kind, const text_of& what) {
    to_.note(kind, "line", lines_.line_number(), what);
  }

  void report() { tell_(lines_.bytes_consumed(), lines_.file_size(), to_.events()); }

  [[noreturn]] void refuse() {
    throw input_error(fmt::format("{}: not a recording: looks like {}; {}", out_.path,
                                  describe_content(lines_.peek()), expected_recording));
  }

  void finish() {
    out_.lines = lines_.line_number();
    if (lines_seen_ == 0) refuse();
    to_.finish();
    if (tell_) report();
  }

  line_reader& lines_;
  const dialect& how_;
  intake& to_;
  recording_info& out_;
  const progress& tell_;
  flag_columns columns_;
  std::uint64_t lines_seen_ = 0;  // of the dialect's form
  std::uint64_t malformed_ = 0;
  bool nanoseconds_ = false;
};

}  // namespace

void read_ftrace_text(line_reader& lines, intake& to, const progress& tell) {
  text_reading(lines, ftrace_dialect, to, tell).read();
}

void read_perf_script(line_reader& lines, intake& to, const progress& tell) {
  text_reading(lines, script_dialect, to, tell).read();
}

}  // namespace vlag::trace

// SPDX-License-Identifier: Apache-2.0
#include "trace/ftrace_text.hpp"

#include "input/input_error.hpp"
#include "trace/ftrace_line.hpp"
#include "trace/scan.hpp"
#include "trace/sniff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace vlag::trace {
namespace {

constexpr std::uint64_t lines_until_doubt = 1000;
constexpr std::uint64_t lines_between_reports = std::uint64_t{1} << 14;
constexpr std::size_t most_shown = 5;
constexpr std::size_t most_other_names = 64;

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
  if (scan.at_end()) return true;
  if (scan.peek() == '#' || scan.take("=> ")) return true;  // a comment; a line of a stack trace
  if (scan.take("cpus=") || scan.take("version = ")) return true;
  unsigned cpu = 0;
  return scan.take("CPU ") && scan.take_number(cpu) && scan.take(" is empty");
}

// Names repeat task by task: remembers the last index of each slot to spare the hash.
class comm_cache {
 public:
  explicit comm_cache(string_table& strings) : strings_(strings) {}

  std::uint32_t intern(std::string_view comm, std::int32_t pid) {
    std::uint32_t& slot = slots_[static_cast<std::uint32_t>(pid) % slots_.size()];
    if (strings_.text(slot) != comm) slot = strings_.intern(comm);
    return slot;
  }

 private:
  string_table& strings_;
  std::array<std::uint32_t, 1024> slots_{};
};

class text_reading {
 public:
  text_reading(line_reader& lines, recording& out, const progress& tell)
      : lines_(lines), out_(out), tell_(tell), comms_(out.strings) {}

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
    } else if (parse_head(line, head)) {
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
        count_other(head.event);
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
    if (!texts.comm.empty()) entry.comm = comms_.intern(texts.comm, entry.pid);
    if (!texts.other_comm.empty()) {
      entry.other_comm = comms_.intern(texts.other_comm, entry.other_pid);
    }
    if (!texts.marker.empty()) entry.text = out_.strings.intern(texts.marker);
    note_order(entry.time_ns);
    switches_ += entry.kind == event_kind::sched_switch ? 1U : 0U;
    highest_cpu_ = std::max({highest_cpu_, static_cast<std::int32_t>(entry.cpu), entry.target_cpu});
    most_digits_ = std::max(most_digits_, head.fraction_digits);
    out_.events.push_back(entry);
  }

  void note_order(std::uint64_t time_ns) {
    if (time_ns >= latest_ns_) {
      latest_ns_ = time_ns;
      return;
    }
    disordered_ = true;
    note("out of order",
         [&] { return fmt::format("{} ns earlier than a line above it", latest_ns_ - time_ns); });
  }

  void count_other(std::string_view name) {
    ++out_.other_events;
    std::vector<other_event>& others = out_.others;
    if (last_other_ >= others.size() || others[last_other_].name != name) {
      const auto found = std::find_if(others.begin(), others.end(),
                                      [name](const other_event& o) { return o.name == name; });
      last_other_ = static_cast<std::size_t>(found - others.begin());
      if (found == others.end()) {
        if (others.size() >= most_other_names) return;
        others.push_back({std::string(name), 0});
      }
    }
    ++others[last_other_].count;
  }

  void read_odd_line(std::string_view line) {
    unsigned cpu = 0;
    std::uint64_t lost = 0;
    if (read_loss(line, cpu, lost)) {
      out_.lost_events += lost;
      note("lost events", [cpu, lost] {
        return lost > 0 ? fmt::format("CPU {} lost {} events", cpu, lost)
                        : fmt::format("CPU {} lost events, how many is unknown", cpu);
      });
    } else if (!is_no_event(line)) {
      ++malformed_;
      note("malformed line",
           [] { return "not of the form \"comm-pid [cpu] flags time: event: arguments\""; });
    }
  }

  // `what` gives the text, which only the first few need.
  template <typename text_of>
  void note(std::string_view kind, const text_of& what) {
    auto entry = std::find_if(out_.anomalies.begin(), out_.anomalies.end(),
                              [kind](const anomaly& a) { return a.kind == kind; });
    if (entry == out_.anomalies.end()) {
      entry = out_.anomalies.insert(entry, {std::string(kind), 0, {}});
    }
    ++entry->count;
    if (entry->first.size() < most_shown) {
      entry->first.push_back(fmt::format("line {}: {}", lines_.line_number(), what()));
    }
  }

  void report() { tell_(lines_.bytes_consumed(), lines_.file_size(), out_.events.size()); }

  [[noreturn]] void refuse() {
    throw input_error(fmt::format("{}: not a recording: looks like {}; {}", out_.path,
                                  describe_content(lines_.peek()), expected_recording));
  }

  void finish() {
    out_.lines = lines_.line_number();
    if (lines_seen_ == 0) refuse();
    if (switches_ == 0) {
      throw input_error(
          fmt::format("{}: no sched_switch among its {} events ({} lines); expected a recording "
                      "with the events "
                      "sched_switch, sched_waking and sched_wakeup enabled",
                      out_.path, out_.events.size() + out_.other_events, out_.lines));
    }
    out_.cpus = static_cast<unsigned>(highest_cpu_) + 1;
    constexpr unsigned microsecond_digits = 6;
    out_.resolution_ns = most_digits_ > microsecond_digits ? 1 : 1000;
    if (disordered_) {
      std::stable_sort(out_.events.begin(), out_.events.end(),
                       [](const event& a, const event& b) { return a.time_ns < b.time_ns; });
    }
    if (tell_) report();
  }

  line_reader& lines_;
  recording& out_;
  const progress& tell_;
  comm_cache comms_;
  flag_columns columns_;
  std::uint64_t lines_seen_ = 0;  // of ftrace's form
  std::uint64_t malformed_ = 0;
  std::uint64_t switches_ = 0;
  std::uint64_t latest_ns_ = 0;
  std::int32_t highest_cpu_ = 0;
  unsigned most_digits_ = 0;
  std::size_t last_other_ = 0;
  bool disordered_ = false;
};

}  // namespace

void read_ftrace_text(line_reader& lines, recording& out, const progress& tell) {
  text_reading(lines, out, tell).read();
}

}  // namespace vlag::trace

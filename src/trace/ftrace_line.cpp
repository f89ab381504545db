// SPDX-License-Identifier: Apache-2.0
#include "trace/ftrace_line.hpp"

#include "trace/scan.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace vlag::trace {
namespace {

constexpr std::size_t comm_column_width = 16;  // comm is right-aligned in it, one byte is spare
constexpr std::size_t longest_comm = 15;
constexpr std::size_t longest_believed = 64;  // bounds the search in a line that is no event

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) noexcept { return is_letter(c) || is_digit(c) || c == '_'; }

// "(  123) " or "(-------) "; a line without it is fine, a malformed one is not.
bool skip_tgid(scanner& scan) noexcept {
  if (!scan.take('(')) return true;
  scan.skip_spaces();
  while (is_digit(scan.peek()) || scan.peek() == '-') static_cast<void>(scan.take(scan.peek()));
  if (!scan.take(')')) return false;
  scan.skip_spaces();
  return true;
}

// 4 flags up to Linux 5.12, 5 since, up to 8 with PREEMPT_RT patches.
bool are_flags(std::string_view word) noexcept {
  return word.size() >= 3 && word.size() <= 8 && std::all_of(word.begin(), word.end(), [](char c) {
           return is_word(c) || c == '.' || c == '#' || c == '-';
         });
}

bool take_time(scanner& scan, line_head& head) noexcept {
  constexpr std::uint64_t ns_per_second = 1'000'000'000;
  constexpr std::uint64_t most_seconds = std::numeric_limits<std::int64_t>::max() / ns_per_second;
  std::uint64_t seconds = 0;
  if (!scan.take_number(seconds) || seconds >= most_seconds || !scan.take('.')) return false;
  std::uint64_t fraction = 0;
  unsigned digits = 0;
  for (; is_digit(scan.peek()) && digits < 9; ++digits) {
    fraction = fraction * 10 + static_cast<unsigned>(scan.peek() - '0');
    static_cast<void>(scan.take(scan.peek()));
  }
  if (digits == 0 || !scan.take(':')) return false;
  for (unsigned i = digits; i < 9; ++i) fraction *= 10;
  head.time_ns = seconds * ns_per_second + fraction;
  head.fraction_digits = digits;
  return true;
}

// "sched_switch: …", "sched:sched_switch: …", and what has no colon: "sys_read(…", "schedule <-do".
void take_event(scanner scan, line_head& head) noexcept {
  scan.skip_spaces();
  std::string_view text = scan.rest();
  auto word_size = [&text] {
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_word) -
                                    text.begin());
  };
  std::size_t size = word_size();
  if (size + 1 < text.size() && text[size] == ':' && is_word(text[size + 1])) {
    text.remove_prefix(size + 1);
    size = word_size();
  }
  head.event = text.substr(0, size);
  text.remove_prefix(size);
  if (text.starts_with(':')) text.remove_prefix(1);
  if (text.starts_with(' ')) text.remove_prefix(1);
  head.arguments = text;
}

// "[000] ", in brackets the CPU.
bool take_bracketed_cpu(scanner& scan, line_head& head) noexcept {
  std::uint32_t cpu = 0;
  if (!scan.take('[') || !scan.take_number(cpu) || cpu > highest_cpu || !scan.take(']')) {
    return false;
  }
  head.cpu = static_cast<std::uint16_t>(cpu);
  scan.skip_spaces();
  return true;
}

// "[cpu] flags time:", what both forms have behind the task.
bool take_place_and_time(scanner& scan, line_head& head) noexcept {
  if (!take_bracketed_cpu(scan, head)) return false;
  head.flags = {};
  if (!is_digit(scan.peek())) {
    head.flags = scan.take_word();
    if (!are_flags(head.flags)) return false;
    scan.skip_spaces();
  }
  return take_time(scan, head);
}

// What follows the '-' between name and pid.
bool parse_after_dash(std::string_view text, line_head& head) noexcept {
  scanner scan(text);
  if (!is_digit(scan.peek()) || !scan.take_number(head.pid) || !scan.take(' ')) return false;
  scan.skip_spaces();
  if (!skip_tgid(scan) || !take_place_and_time(scan, head)) return false;
  take_event(scan, head);
  return true;
}

// The number that ends the text, which may be "pid/tid": the last one counts.
bool read_last_pid(std::string_view text, std::int32_t& pid) noexcept {
  const std::size_t end = text.find_last_not_of(' ');
  if (end == std::string_view::npos || end + 1 == text.size()) return false;
  text = text.substr(0, end + 1);
  const std::size_t start = text.find_last_of(" /");
  if (start == std::string_view::npos) return false;
  scanner scan(text.substr(start + 1));
  return scan.take_number(pid) && scan.at_end() && pid >= -1;
}

// What perf script prints from the CPU on; a sample's period may stand before its event.
bool parse_script_from_cpu(std::string_view text, line_head& head) noexcept {
  scanner scan(text);
  if (!take_place_and_time(scan, head)) return false;
  scan.skip_spaces();
  scanner behind = scan;
  std::uint64_t period = 0;
  if (behind.take_number(period) && behind.take(' ')) scan = behind;
  take_event(scan, head);
  return !head.event.empty();
}

bool dash_at(std::string_view line, std::size_t at, line_head& head) noexcept {
  return line[at] == '-' && parse_after_dash(line.substr(at + 1), head);
}

// A task as it is printed in full: "comm=A pid=1 prio=120…", the key of the name taken already.
struct printed_task {
  std::string_view comm;
  std::int32_t pid = 0;
  std::int32_t prio = 0;
};

// Tries every place at which `key` could end the name, left to right, until what follows the key
// reads well. A name has 15 bytes, so a key with all the fields behind it does not fit in one.
template <typename fields>
bool split_name(scanner& scan, std::string_view key, std::string_view& name,
                const fields& read_fields) noexcept {
  const std::string_view text = scan.rest();
  for (std::size_t at = text.find(key); at <= longest_believed; at = text.find(key, at + 1)) {
    scanner behind(text.substr(at + key.size()));
    if (!read_fields(behind)) continue;
    name = text.substr(0, at);
    scan = behind;
    return true;
  }
  return false;
}

bool only_spaces_left(scanner scan) noexcept {
  scan.skip_spaces();
  return scan.at_end();
}

// The end, or fields that newer kernels print behind.
bool fields_end(const scanner& scan) noexcept { return scan.at_end() || scan.peek() == ' '; }

bool read_full_switch(scanner scan, event& out, event_texts& texts) noexcept {
  if (!scan.take("prev_comm=")) return false;
  const bool left = split_name(scan, " prev_pid=", texts.comm, [&out](scanner& s) {
    if (!s.take_number(out.pid) || !s.take(" prev_prio=") || !s.take_number(out.prio) ||
        !s.take(" prev_state=") || !read_state(s.take_word(), out.prev_state)) {
      return false;
    }
    return s.take(" ==> next_comm=") || s.take(" next_comm=");
  });
  if (!left) return false;
  return split_name(scan, " next_pid=", texts.other_comm, [&out](scanner& s) {
    return s.take_number(out.other_pid) && s.take(" next_prio=") && s.take_number(out.other_prio) &&
           fields_end(s);
  });
}

// ":1 [120] ", as trace-cmd prints a task behind its name, the colon taken already.
bool take_short_task(scanner& scan, std::int32_t& pid, std::int32_t& prio) noexcept {
  return scan.take_number(pid) && scan.take(" [") && scan.take_number(prio) && scan.take(']');
}

// "A:1 [120] S ==> B:2 [120]". A name can hold ":1 [1] R ==> ": of several readings the first with
// the previous task's pid in front of the line and a next name of possible length is right.
bool read_short_switch(scanner scan, event& out, event_texts& texts) noexcept {
  const std::string_view text = scan.rest();
  bool found = false;
  for (std::size_t at = text.find(':'); at <= longest_believed; at = text.find(':', at + 1)) {
    event candidate = out;
    event_texts names;
    names.comm = text.substr(0, at);
    scanner behind(text.substr(at + 1));
    if (!take_short_task(behind, candidate.pid, candidate.prio) || !behind.take(' ') ||
        !read_state(behind.take_word(), candidate.prev_state) || !behind.take(" ==> ")) {
      continue;
    }
    const bool right = split_name(behind, ":", names.other_comm, [&candidate](scanner& s) {
      return take_short_task(s, candidate.other_pid, candidate.other_prio) && only_spaces_left(s);
    });
    if (!right) continue;
    const bool sure = candidate.pid == out.context_pid && names.other_comm.size() <= longest_comm;
    if (found && !sure) continue;
    found = true;
    texts = names;
    out = candidate;
    if (sure) return true;
  }
  return found;
}

bool take_cpu(scanner& scan, std::int32_t& cpu) noexcept {
  return scan.take_number(cpu) && cpu >= 0 && static_cast<std::uint32_t>(cpu) <= highest_cpu;
}

// " success=1" was printed up to Linux 4.17, and trace-cmd complains when it is gone.
void skip_success(scanner& scan) noexcept {
  if (scan.take(" success=")) static_cast<void>(scan.take_word());
  if (scan.take("<CANT FIND FIELD success>")) return;
  static_cast<void>(scan.take(" <CANT FIND FIELD success>"));
}

bool read_wake(scanner scan, event& out, event_texts& texts) noexcept {
  if (scan.take("comm=")) {
    return split_name(scan, " pid=", texts.comm, [&out](scanner& s) {
      if (!s.take_number(out.pid) || !s.take(" prio=") || !s.take_number(out.prio)) return false;
      skip_success(s);
      return s.take(" target_cpu=") && take_cpu(s, out.target_cpu) && fields_end(s);
    });
  }
  return split_name(scan, ":", texts.comm, [&out](scanner& s) {
    if (!take_short_task(s, out.pid, out.prio)) return false;
    skip_success(s);
    s.skip_spaces();
    return s.take("CPU:") && take_cpu(s, out.target_cpu) && only_spaces_left(s);
  });
}

bool take_migration(scanner& s, event& out, std::int32_t& origin) noexcept {
  return s.take_number(out.pid) && s.take(" prio=") && s.take_number(out.prio) &&
         s.take(" orig_cpu=") && take_cpu(s, origin) && s.take(" dest_cpu=") &&
         take_cpu(s, out.target_cpu);
}

bool read_migrate(scanner scan, event& out, event_texts& texts) noexcept {
  if (!scan.take("comm=")) return false;
  return split_name(scan, " pid=", texts.comm, [&out](scanner& s) {
    std::int32_t origin = 0;
    if (!take_migration(s, out, origin)) return false;
    out.amount = static_cast<std::uint64_t>(origin);
    return fields_end(s);
  });
}

// A name can hold " pid=1 prio=2": the reading that reaches the line's end, or the field that Linux
// 6.15 put there, goes before any other.
bool read_exit(scanner scan, event& out, event_texts& texts) noexcept {
  if (!scan.take("comm=")) return false;
  const auto fields = [&out](scanner& s) {
    return s.take_number(out.pid) && s.take(" prio=") && s.take_number(out.prio);
  };
  scanner first = scan;
  if (split_name(first, " pid=", texts.comm, [&fields](scanner& s) {
        return fields(s) && (only_spaces_left(s) || s.take(" group_dead="));
      })) {
    return true;
  }
  return split_name(scan, " pid=", texts.comm,
                    [&fields](scanner& s) { return fields(s) && fields_end(s); });
}

bool read_fork(scanner scan, event& out, event_texts& texts) noexcept {
  if (!scan.take("comm=")) return false;
  const bool parent = split_name(scan, " pid=", texts.other_comm, [&out](scanner& s) {
    return s.take_number(out.other_pid) && s.take(" child_comm=");
  });
  if (!parent) return false;
  scanner first = scan;
  if (split_name(first, " child_pid=", texts.comm,
                 [&out](scanner& s) { return s.take_number(out.pid) && only_spaces_left(s); })) {
    return true;
  }
  return split_name(scan, " child_pid=", texts.comm,
                    [&out](scanner& s) { return s.take_number(out.pid) && fields_end(s); });
}

// "comm=A pid=1 delay=2 [ns]"; sched_stat_runtime says "runtime=" and, up to Linux 6.6, the
// virtual runtime behind.
bool read_stat(scanner scan, event& out, event_texts& texts) noexcept {
  if (!scan.take("comm=")) return false;
  return split_name(scan, " pid=", texts.comm, [&out](scanner& s) {
    if (!s.take_number(out.pid)) return false;
    if (!s.take(out.kind == event_kind::stat_runtime ? " runtime=" : " delay=")) return false;
    return s.take_number(out.amount) && s.take(" [ns]") && fields_end(s);
  });
}

// A file's name may hold anything, and be long: the last " pid=" counts.
bool read_exec(scanner scan, event& out, event_texts& texts) noexcept {
  if (!scan.take("filename=")) return false;
  const std::string_view text = scan.rest();
  const std::size_t at = text.rfind(" pid=");
  if (at == std::string_view::npos) return false;
  scanner behind(text.substr(at + 5));
  texts.marker = text.substr(0, at);
  return behind.take_number(out.pid) && behind.take(" old_pid=") &&
         behind.take_number(out.other_pid) && fields_end(behind);
}

// "state=1 cpu_id=2", of cpu_idle and cpu_frequency.
bool read_cpu_state(scanner scan, event& out, event_texts&) noexcept {
  return scan.take("state=") && scan.take_number(out.amount) && scan.take(" cpu_id=") &&
         take_cpu(scan, out.target_cpu) && fields_end(scan);
}

// trace-cmd prints the writer's address or name in front: "print: tracing_mark_write: text".
// Another name is a trace_printk of the kernel.
line_kind read_print(std::string_view text, event_texts& texts) noexcept {
  while (text.starts_with(' ')) text.remove_prefix(1);
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos) {
    texts.marker = text;
    return line_kind::known;
  }
  const std::string_view writer = text.substr(0, colon);
  const bool is_address = writer.starts_with("0x") || writer.starts_with("ffffff");
  if (!is_address && writer != "tracing_mark_write") return line_kind::other;
  texts.marker = text.substr(colon + 2);
  return line_kind::known;
}

line_kind known_if(bool good) noexcept { return good ? line_kind::known : line_kind::malformed; }

}  // namespace

bool parse_head(std::string_view line, line_head& head) noexcept {
  const bool is_padded = line.size() > comm_column_width && line.front() == ' ';
  if (is_padded && dash_at(line, comm_column_width, head)) return true;
  // Not as it was printed: a paste without the padding, or a longer name.
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t near = std::min(first + longest_comm + 1, line.size());
  for (std::size_t at = near; at > first; --at) {
    if (dash_at(line, at - 1, head)) return true;
  }
  for (std::size_t at = near; at < line.size(); ++at) {
    if (dash_at(line, at, head)) return true;
  }
  return false;
}

bool parse_script_head(std::string_view line, line_head& head) noexcept {
  for (std::size_t at = line.find(" ["); at <= longest_believed; at = line.find(" [", at + 1)) {
    if (read_last_pid(line.substr(0, at + 1), head.pid) &&
        parse_script_from_cpu(line.substr(at + 1), head)) {
      return true;
    }
  }
  return false;
}

void learn_column(std::string_view comment, flag_columns& columns) noexcept {
  if (comment.starts_with("# tracer:")) columns = {};
  const std::size_t arrow = comment.find("=> ");
  if (arrow == std::string_view::npos || arrow == 0 || comment[arrow - 1] != '-') return;
  const std::string_view name = comment.substr(arrow + 3);
  if (!columns.from_header) {
    if (!name.starts_with("irqs-off")) return;
    columns.from_header = true;
  }
  if (name.starts_with("hardirq/softirq")) columns.context = columns.named;
  if (name == "need-resched") columns.need_resched = columns.named;
  ++columns.named;
}

void read_flags(std::string_view flags, const flag_columns& columns, event& out) noexcept {
  constexpr std::size_t patched_flags = 7;  // PREEMPT_RT's: need-resched-lazy comes before context
  std::size_t context = columns.context;
  if (!columns.from_header && flags.size() >= patched_flags) context = 3;
  if (columns.need_resched < flags.size()) {
    constexpr std::string_view asked = "NnpLbBl";
    out.need_resched = asked.find(flags[columns.need_resched]) != std::string_view::npos;
  }
  if (context >= flags.size()) return;
  switch (flags[context]) {
    case '.':
      out.context = context_kind::task;
      break;
    case 's':
      out.context = context_kind::softirq;
      break;
    case 'h':
    case 'H':
      out.context = context_kind::hardirq;
      break;
    case 'z':
    case 'Z':
      out.context = context_kind::nmi;
      break;
    default:
      break;
  }
}

bool read_state(std::string_view text, switch_state& state) noexcept {
  state = {};
  if (text.empty()) return false;
  if (is_digit(text.front())) {
    constexpr std::string_view letters = "SDTtXZPI";  // of bits 0, 1, 2…
    constexpr std::uint64_t preempted = 0x100;
    const bool hex = text.starts_with("0x");
    if (hex) text.remove_prefix(2);
    std::uint64_t bits = 0;
    const auto [stop, error] =
        std::from_chars(text.data(), text.data() + text.size(), bits, hex ? 16 : 10);
    if (error != std::errc{} || stop != text.data() + text.size()) return false;
    state.preempted = (bits & preempted) != 0;
    for (std::size_t i = letters.size(); i > 0; --i) {
      if ((bits >> (i - 1) & 1) != 0) state.letter = letters[i - 1];
    }
    return true;
  }
  if (text.size() > 1 && text.back() == '+') {
    state.preempted = true;
    text.remove_suffix(1);
  }
  constexpr std::string_view known = "RSDTtXZPIKWNx";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_bar = i % 2 == 1;
    if (is_bar ? text[i] != '|' : known.find(text[i]) == std::string_view::npos) return false;
  }
  if (text.size() % 2 == 0) return false;
  state.letter = text.front() == 'x' ? 'X' : text.front();
  return true;
}

namespace {

struct event_form {
  std::string_view name;
  event_kind kind;
  bool (*read)(scanner scan, event& out, event_texts& texts) noexcept;
};

bool read_switch(scanner scan, event& out, event_texts& texts) noexcept {
  return read_full_switch(scan, out, texts) || read_short_switch(scan, out, texts);
}

constexpr std::array forms{
    event_form{"sched_switch", event_kind::sched_switch, read_switch},
    event_form{"sched_waking", event_kind::waking, read_wake},
    event_form{"sched_wakeup", event_kind::wakeup, read_wake},
    event_form{"sched_wakeup_new", event_kind::wakeup_new, read_wake},
    event_form{"sched_stat_runtime", event_kind::stat_runtime, read_stat},
    event_form{"sched_migrate_task", event_kind::migrate, read_migrate},
    event_form{"sched_stat_wait", event_kind::stat_wait, read_stat},
    event_form{"sched_stat_sleep", event_kind::stat_sleep, read_stat},
    event_form{"sched_stat_iowait", event_kind::stat_iowait, read_stat},
    event_form{"sched_stat_blocked", event_kind::stat_blocked, read_stat},
    event_form{"cpu_idle", event_kind::cpu_idle, read_cpu_state},
    event_form{"cpu_frequency", event_kind::cpu_frequency, read_cpu_state},
    event_form{"sched_process_fork", event_kind::fork, read_fork},
    event_form{"sched_process_exec", event_kind::exec, read_exec},
    event_form{"sched_process_exit", event_kind::exit, read_exit},
    event_form{"sched_process_free", event_kind::process_free, read_exit},
};

}  // namespace

line_kind read_arguments(const line_head& head, event& out, event_texts& texts) noexcept {
  const std::string_view name = head.event;
  scanner scan(head.arguments);
  scan.skip_spaces();
  for (const event_form& form : forms) {
    if (form.name != name) continue;
    out.kind = form.kind;
    return known_if(form.read(scan, out, texts));
  }
  out.kind = event_kind::marker;
  if (name == "tracing_mark_write") {
    texts.marker = head.arguments;
    return line_kind::known;
  }
  if (name == "print" || name == "bprint") return read_print(head.arguments, texts);
  return line_kind::other;
}

}  // namespace vlag::trace

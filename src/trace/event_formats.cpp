// SPDX-License-Identifier: Apache-2.0
#include "trace/event_formats.hpp"

#include "trace/ftrace_line.hpp"
#include "trace/scan.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <new>
#include <span>

extern "C" {
#include <event-parse.h>
}

namespace vlag::trace {
namespace {

constexpr std::uint32_t most_ids = 65536;        // an id has 16 bits
constexpr std::uint32_t farthest_field = 65535;  // an event fits in a page or a perf record

enum class slot : std::uint8_t {
  comm,
  pid,
  prio,
  state,
  other_comm,
  other_pid,
  other_prio,
  target_cpu,
  amount,
  text,
};

struct wanted_field {
  std::string_view name;
  slot into;
};

using wanted_fields = std::span<const wanted_field>;

constexpr wanted_field switch_fields[] = {
    {"prev_comm", slot::comm},       {"prev_pid", slot::pid},         {"prev_prio", slot::prio},
    {"prev_state", slot::state},     {"next_comm", slot::other_comm}, {"next_pid", slot::other_pid},
    {"next_prio", slot::other_prio},
};
constexpr wanted_field wake_fields[] = {{"comm", slot::comm},
                                        {"pid", slot::pid},
                                        {"prio", slot::prio},
                                        {"target_cpu", slot::target_cpu}};
constexpr wanted_field migrate_fields[] = {{"comm", slot::comm},
                                           {"pid", slot::pid},
                                           {"prio", slot::prio},
                                           {"orig_cpu", slot::amount},
                                           {"dest_cpu", slot::target_cpu}};
constexpr wanted_field task_fields[] = {
    {"comm", slot::comm}, {"pid", slot::pid}, {"prio", slot::prio}};
constexpr wanted_field fork_fields[] = {{"parent_comm", slot::other_comm},
                                        {"parent_pid", slot::other_pid},
                                        {"child_comm", slot::comm},
                                        {"child_pid", slot::pid}};
constexpr wanted_field exec_fields[] = {
    {"filename", slot::text}, {"pid", slot::pid}, {"old_pid", slot::other_pid}};
constexpr wanted_field runtime_fields[] = {
    {"comm", slot::comm}, {"pid", slot::pid}, {"runtime", slot::amount}};
constexpr wanted_field delay_fields[] = {
    {"comm", slot::comm}, {"pid", slot::pid}, {"delay", slot::amount}};
constexpr wanted_field cpu_fields[] = {{"state", slot::amount}, {"cpu_id", slot::target_cpu}};
constexpr wanted_field print_fields[] = {{"buf", slot::text}};

struct known_event {
  std::string_view system;
  std::string_view name;
  event_kind kind;
  wanted_fields fields;
};

constexpr known_event known_events[] = {
    {"sched", "sched_switch", event_kind::sched_switch, switch_fields},
    {"sched", "sched_waking", event_kind::waking, wake_fields},
    {"sched", "sched_wakeup", event_kind::wakeup, wake_fields},
    {"sched", "sched_wakeup_new", event_kind::wakeup_new, wake_fields},
    {"sched", "sched_migrate_task", event_kind::migrate, migrate_fields},
    {"sched", "sched_process_fork", event_kind::fork, fork_fields},
    {"sched", "sched_process_exec", event_kind::exec, exec_fields},
    {"sched", "sched_process_exit", event_kind::exit, task_fields},
    {"sched", "sched_process_free", event_kind::process_free, task_fields},
    {"sched", "sched_stat_runtime", event_kind::stat_runtime, runtime_fields},
    {"sched", "sched_stat_wait", event_kind::stat_wait, delay_fields},
    {"sched", "sched_stat_sleep", event_kind::stat_sleep, delay_fields},
    {"sched", "sched_stat_iowait", event_kind::stat_iowait, delay_fields},
    {"sched", "sched_stat_blocked", event_kind::stat_blocked, delay_fields},
    {"power", "cpu_frequency", event_kind::cpu_frequency, cpu_fields},
    {"power", "cpu_idle", event_kind::cpu_idle, cpu_fields},
    {"ftrace", "print", event_kind::marker, print_fields},
};

const known_event* find_known(std::string_view system, std::string_view name) {
  const auto* found =
      std::find_if(std::begin(known_events), std::end(known_events),
                   [&](const known_event& k) { return k.name == name && k.system == system; });
  return found == std::end(known_events) ? nullptr : found;
}

const known_event& known_of(event_kind kind) {
  return *std::find_if(std::begin(known_events), std::end(known_events),
                       [kind](const known_event& k) { return k.kind == kind; });
}

// The next line, without its end; false behind the last.
bool take_line(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  const std::size_t stop = text.find('\n');
  line = text.substr(0, stop);
  text.remove_prefix(stop == std::string_view::npos ? text.size() : stop + 1);
  return true;
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// "unsigned short common_type", "char comm[16]", "__data_loc char[] comm": words, stars, and
// brackets with a word or nothing in between, none inside others.
bool is_declaration(std::string_view text) {
  bool inside = false;
  unsigned pairs = 0;
  unsigned words = 0;
  char before = ' ';
  for (const char c : text) {
    if (c == '[' || c == ']') {
      if (inside == (c == '[')) return false;
      inside = !inside;
      pairs += inside ? 1U : 0U;
    } else if (!is_plain(c) && c != ' ' && c != '*') {
      return false;
    }
    words += is_plain(c) && !is_plain(before) ? 1U : 0U;
    before = c;
  }
  return !inside && pairs <= 2 && words >= 2 && is_plain(text.front());
}

// "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;"
bool is_field_line(std::string_view line) {
  scanner scan(line);
  if (!scan.take("\tfield:")) return false;
  const std::string_view rest = scan.rest();
  const std::size_t stop = rest.find(';');
  if (stop == std::string_view::npos || stop == 0 || stop > 200) return false;
  if (!is_declaration(rest.substr(0, stop))) return false;
  scanner numbers(rest.substr(stop));
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  unsigned is_signed = 0;
  return numbers.take(";\toffset:") && numbers.take_number(offset) && numbers.take(";\tsize:") &&
         numbers.take_number(size) && numbers.take(";\tsigned:") &&
         numbers.take_number(is_signed) && numbers.take(';') && numbers.at_end() &&
         offset <= farthest_field && size <= farthest_field && is_signed <= 1;
}

struct format_text {
  std::string_view name;
  std::uint32_t id = 0;
  std::string clean;  // what libtraceevent is given
};

// Only name, id and fields of known shape are passed on, and no print format, which is a language
// of its own: the parser behind has had its crashes there.
bool dissect(std::string_view text, format_text& out) {
  std::string_view line;
  scanner scan({});
  if (!take_line(text, line) || !line.starts_with("name: ")) return false;
  out.name = line.substr(6);
  if (out.name.empty() || out.name.size() > 100 ||
      !std::all_of(out.name.begin(), out.name.end(), is_plain)) {
    return false;
  }
  if (!take_line(text, line) || !line.starts_with("ID: ")) return false;
  scan = scanner(line.substr(4));
  if (!scan.take_number(out.id) || !scan.at_end() || out.id >= most_ids) return false;
  if (!take_line(text, line) || line != "format:") return false;
  out.clean = std::string("name: ") + std::string(out.name) + "\nID: " + std::to_string(out.id) +
              "\nformat:\n";
  bool common = true;
  unsigned fields = 0;
  while (take_line(text, line) && !line.starts_with("print fmt")) {
    if (line.empty() && common) {
      common = false;
      out.clean += "\n";
    } else if (is_field_line(line) && ++fields <= 64) {
      out.clean += std::string(line) + "\n";
    } else if (!line.empty()) {
      return false;
    }
  }
  out.clean += "\nprint fmt: \"\"\n";
  return !common && fields > 0;
}

// The name alone, of a text that need not be understood.
bool read_name_and_id(std::string_view text, std::string_view& name, std::uint32_t& id) {
  std::string_view line;
  if (!take_line(text, line) || !line.starts_with("name: ")) return false;
  name = line.substr(6, 100);
  if (!take_line(text, line) || !line.starts_with("ID: ")) return false;
  scanner scan(line.substr(4));
  return scan.take_number(id) && id < most_ids;
}

context_kind context_of(std::uint64_t flags) noexcept {
  if ((flags & 0x40) != 0) return context_kind::nmi;
  if ((flags & 0x08) != 0) return context_kind::hardirq;
  return (flags & 0x10) != 0 ? context_kind::softirq : context_kind::task;
}

// need-resched, its lazy form, and "preemption asked for".
constexpr std::uint64_t resched_flags = 0x04 | 0x02 | 0x20;

template <typename integer>
std::int64_t load(const char* from, bool is_signed) noexcept {
  integer value{};
  std::memcpy(&value, from, sizeof value);
  using with_sign = std::make_signed_t<integer>;
  return is_signed ? std::int64_t{static_cast<with_sign>(value)}
                   : static_cast<std::int64_t>(std::uint64_t{value});
}

bool fits_int(std::int64_t value) noexcept {
  return value >= std::numeric_limits<std::int32_t>::min() &&
         value <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

void state_bits::learn(std::string_view format_text) {
  std::vector<letter_of> found;
  for (std::size_t at = format_text.find("{ "); at != std::string_view::npos;
       at = format_text.find("{ ", at + 1)) {
    scanner scan(format_text.substr(at + 2));
    std::string_view digits = scan.rest();
    const bool hex = digits.starts_with("0x");
    if (hex) digits.remove_prefix(2);
    letter_of one{};
    const auto [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), one.bit, hex ? 16 : 10);
    if (error != std::errc{}) continue;
    scanner behind(digits.substr(static_cast<std::size_t>(stop - digits.data())));
    if (!behind.take(", \"")) continue;
    one.letter = behind.peek() == 'x' ? 'X' : behind.peek();
    const bool one_bit = one.bit != 0 && (one.bit & (one.bit - 1)) == 0 && one.bit < (1U << 30);
    if (one_bit && one.letter >= 'A' && one.letter <= 'z' && found.size() < 30) {
      found.push_back(one);
    }
  }
  if (found.size() < 2) return;
  std::sort(found.begin(), found.end(),
            [](const letter_of& a, const letter_of& b) { return a.bit < b.bit; });
  letters = found;
  preempted = found.back().bit << 1;
}

switch_state state_bits::state_of(std::uint64_t bits) const noexcept {
  switch_state state;
  state.preempted = (bits & preempted) != 0;
  for (const letter_of& one : letters) {
    if ((bits & one.bit) == 0) continue;
    state.letter = one.letter;
    break;
  }
  return state;
}

event_formats::event_formats() : parser_(::tep_alloc()) {
  if (parser_ == nullptr) throw std::bad_alloc();
  ::tep_set_loglevel(TEP_LOG_NONE);
  ::tep_set_long_size(parser_, sizeof(std::uint64_t));
}

event_formats::~event_formats() { ::tep_free(parser_); }

bool event_formats::add_text(std::string_view system, std::string_view text) {
  std::string_view name;
  std::uint32_t id = 0;
  if (!read_name_and_id(text, name, id)) return false;
  if (find_known(system, name) == nullptr) {
    format unread;
    unread.name = std::string(name);
    keep(id, std::move(unread));
    return true;
  }
  format_text parts;
  if (!dissect(text, parts)) return false;
  if (parts.name == "sched_switch") states_.learn(text);
  if (::tep_find_event(parser_, static_cast<int>(id)) != nullptr) return true;
  const std::string owner(system);
  if (::tep_parse_event(parser_, parts.clean.data(), parts.clean.size(), owner.c_str()) !=
      TEP_ERRNO__SUCCESS) {
    return false;
  }
  const tep_event* parsed = ::tep_find_event(parser_, static_cast<int>(id));
  return parsed != nullptr && add_event(*parsed);
}

bool event_formats::add_event(const tep_event& from) {
  if (from.id < 0 || static_cast<std::uint32_t>(from.id) >= most_ids || from.name == nullptr) {
    return false;
  }
  format made;
  made.name = from.name;
  const auto id = static_cast<std::uint32_t>(from.id);
  const known_event* known = from.system == nullptr ? nullptr : find_known(from.system, from.name);
  if (known == nullptr) {
    keep(id, std::move(made));
    return true;
  }
  auto* source = const_cast<tep_event*>(&from);
  made.is_read = true;
  made.kind = known->kind;
  const auto flags = field_of(::tep_find_common_field(source, "common_flags"));
  const auto pid = field_of(::tep_find_common_field(source, "common_pid"));
  if (!flags || !pid) return false;
  made.flags = *flags;
  made.pid = *pid;
  for (std::size_t i = 0; i < known->fields.size(); ++i) {
    const std::string name(known->fields[i].name);
    made.fields[i] = field_of(::tep_find_field(source, name.c_str()));
    const bool needed = made.kind != event_kind::exec || known->fields[i].into != slot::other_pid;
    if (!made.fields[i] && needed) return false;
  }
  known_ = true;
  keep(id, std::move(made));
  return true;
}

std::optional<event_formats::field> event_formats::field_of(const tep_format_field* from) {
  if (from == nullptr || from->offset < 0 || from->size < 0) return std::nullopt;
  field made;
  made.offset = static_cast<std::uint32_t>(from->offset);
  made.size = static_cast<std::uint32_t>(from->size);
  if (made.offset > farthest_field || made.size > farthest_field) return std::nullopt;
  made.is_signed = (from->flags & TEP_FIELD_IS_SIGNED) != 0;
  made.is_located = (from->flags & TEP_FIELD_IS_DYNAMIC) != 0;
  made.is_relative = (from->flags & TEP_FIELD_IS_RELATIVE) != 0;
  return made;
}

void event_formats::keep(std::uint32_t id, format&& made) {
  if (index_.size() <= id) index_.resize(id + 1);
  if (index_[id] != 0 || formats_.size() >= most_ids - 1) return;
  formats_.push_back(std::move(made));
  index_[id] = static_cast<std::uint16_t>(formats_.size());
}

std::string_view event_formats::name_of(std::uint32_t id) const noexcept {
  if (id >= index_.size() || index_[id] == 0) return {};
  return formats_[index_[id] - 1U].name;
}

bool event_formats::number(std::string_view raw, const field& at, std::int64_t& value) noexcept {
  if (at.offset > raw.size() || at.size > raw.size() - at.offset) return false;
  const char* from = raw.data() + at.offset;
  switch (at.size) {
    case 1:
      value = load<std::uint8_t>(from, at.is_signed);
      return true;
    case 2:
      value = load<std::uint16_t>(from, at.is_signed);
      return true;
    case 4:
      value = load<std::uint32_t>(from, at.is_signed);
      return true;
    case 8:
      value = load<std::uint64_t>(from, at.is_signed);
      return true;
    default:
      return false;
  }
}

// A text ends at its first zero byte, if it has one.
bool event_formats::text(std::string_view raw, const field& at, std::string_view& value) noexcept {
  if (at.offset > raw.size()) return false;
  std::size_t offset = at.offset;
  std::size_t size = at.size == 0 ? raw.size() - offset : at.size;
  if (size > raw.size() - offset) return false;
  if (at.is_located) {
    if (size != 4) return false;
    const auto where = static_cast<std::uint32_t>(load<std::uint32_t>(raw.data() + offset, false));
    offset = (where & 0xffff) + (at.is_relative ? offset + 4 : 0);
    size = where >> 16;
    if (offset > raw.size() || size > raw.size() - offset) return false;
  }
  value = raw.substr(offset, size);
  value = value.substr(0, value.find('\0'));
  return true;
}

bool event_formats::read_fields(const format& by, std::string_view raw, event& out,
                                raw_texts& texts) const noexcept {
  const wanted_fields wanted = known_of(by.kind).fields;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!by.fields[i]) continue;
    const slot into = wanted[i].into;
    if (into == slot::comm || into == slot::other_comm || into == slot::text) {
      std::string_view& value = into == slot::comm         ? texts.comm
                                : into == slot::other_comm ? texts.other_comm
                                                           : texts.text;
      if (!text(raw, *by.fields[i], value)) return false;
      continue;
    }
    std::int64_t value = 0;
    if (!number(raw, *by.fields[i], value)) return false;
    if (into == slot::state) {
      out.prev_state = states_.state_of(static_cast<std::uint64_t>(value));
    } else if (into == slot::amount) {
      out.amount = static_cast<std::uint64_t>(value);
    } else if (!fits_int(value)) {
      return false;
    } else {
      const auto narrow = static_cast<std::int32_t>(value);
      (into == slot::pid          ? out.pid
       : into == slot::prio       ? out.prio
       : into == slot::other_pid  ? out.other_pid
       : into == slot::other_prio ? out.other_prio
                                  : out.target_cpu) = narrow;
    }
  }
  return true;
}

raw_kind event_formats::read(std::string_view raw, event& out, raw_texts& texts,
                             std::string_view& name) const noexcept {
  if (raw.size() < sizeof(std::uint16_t)) return raw_kind::malformed;
  const auto id = static_cast<std::size_t>(load<std::uint16_t>(raw.data(), false));
  if (id >= index_.size() || index_[id] == 0) return raw_kind::unknown_id;
  const format& by = formats_[index_[id] - 1U];
  name = by.name;
  if (!by.is_read) return raw_kind::other;
  out.kind = by.kind;
  std::int64_t flags = 0;
  std::int64_t pid = 0;
  if (!number(raw, by.flags, flags) || !number(raw, by.pid, pid) || !fits_int(pid)) {
    return raw_kind::malformed;
  }
  out.context_pid = static_cast<std::int32_t>(pid);
  out.context = context_of(static_cast<std::uint64_t>(flags));
  out.need_resched = (static_cast<std::uint64_t>(flags) & resched_flags) != 0;
  if (!read_fields(by, raw, out, texts)) return raw_kind::malformed;
  const bool names_cpu = out.target_cpu >= 0;
  if (names_cpu && static_cast<std::uint32_t>(out.target_cpu) > highest_cpu) {
    return raw_kind::malformed;
  }
  const bool must_name_cpu = by.kind == event_kind::waking || by.kind == event_kind::wakeup ||
                             by.kind == event_kind::wakeup_new || by.kind == event_kind::migrate ||
                             by.kind == event_kind::cpu_frequency ||
                             by.kind == event_kind::cpu_idle;
  if (must_name_cpu && !names_cpu) return raw_kind::malformed;
  if (by.kind == event_kind::migrate && out.amount > highest_cpu) return raw_kind::malformed;
  if (by.kind == event_kind::marker && texts.text.ends_with('\n')) texts.text.remove_suffix(1);
  return raw_kind::known;
}

}  // namespace vlag::trace

// SPDX-License-Identifier: Apache-2.0
#include "trace/ftrace_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace vlag::trace {
namespace {

constexpr std::size_t handed_over_bytes = std::size_t{1} << 16;
constexpr std::size_t most_names = std::size_t{1} << 20;

constexpr std::string_view header =
    "# tracer: nop\n"
    "#\n"
    "#                                _-----=> irqs-off/BH-disabled\n"
    "#                               / _----=> need-resched\n"
    "#                              | / _---=> hardirq/softirq\n"
    "#                              || / _--=> preempt-depth\n"
    "#                              ||| / _-=> migrate-disable\n"
    "#                              |||| /     delay\n"
    "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
    "#              | |         |   |||||     |         |\n";

char context_letter(context_kind context) noexcept {
  switch (context) {
    case context_kind::softirq:
      return 's';
    case context_kind::hardirq:
      return 'h';
    case context_kind::nmi:
      return 'z';
    default:
      return '.';
  }
}

}  // namespace

ftrace_writer::ftrace_writer(const recording_info& about, std::function<void(std::string_view)> out)
    : about_(about), out_(std::move(out)), buffer_(header) {
  names_.emplace(0, 0);
}

std::string_view ftrace_writer::text_of(std::uint32_t index) {
  const std::string_view text = about_.strings.text(index);
  if (text.find_first_of("\n\r") == std::string_view::npos) return text;
  std::string& clean = cleaned_[next_cleaned_++ % 2];
  clean = text;
  std::replace_if(clean.begin(), clean.end(), [](char c) { return c == '\n' || c == '\r'; }, '?');
  return clean;
}

void ftrace_writer::learn_names(const event& entry) {
  const auto learn = [this](std::int32_t pid, std::uint32_t comm) {
    if (pid == 0 || comm == 0) return;
    if (names_.size() < most_names || names_.count(pid) > 0) names_[pid] = comm;
  };
  learn(entry.pid, entry.comm);
  learn(entry.other_pid, entry.other_comm);
}

void ftrace_writer::write_context(const event& entry) {
  const auto known = names_.find(entry.context_pid);
  const std::string_view name = entry.context_pid == 0  ? "<idle>"
                                : known == names_.end() ? "<...>"
                                                        : text_of(known->second);
  const auto out = std::back_inserter(buffer_);
  fmt::format_to(out, "{:>16}-{:<7} [{:03}] ", name, entry.context_pid, entry.cpu);
  if (entry.context != context_kind::unknown) {
    const char flags[] = {'.', entry.need_resched ? 'N' : '.', context_letter(entry.context), '.',
                          '.'};
    buffer_.append(flags, sizeof flags);
    buffer_ += ' ';
  }
  constexpr std::uint64_t second = 1'000'000'000;
  const std::uint64_t rest = entry.time_ns % second;
  if (about_.resolution_ns == 1) {
    fmt::format_to(out, "{:5}.{:09}: ", entry.time_ns / second, rest);
  } else {
    fmt::format_to(out, "{:5}.{:06}: ", entry.time_ns / second, rest / 1000);
  }
  buffer_ += kernel_name(entry.kind);
  buffer_ += ": ";
}

// "comm=A pid=1".
void ftrace_writer::write_task(std::string_view before, const event& entry) {
  fmt::format_to(std::back_inserter(buffer_), "{}={} pid={}", before, text_of(entry.comm),
                 entry.pid);
}

void ftrace_writer::write_arguments(const event& entry) {
  const auto out = std::back_inserter(buffer_);
  switch (entry.kind) {
    case event_kind::sched_switch:
      fmt::format_to(out,
                     "prev_comm={} prev_pid={} prev_prio={} prev_state={}{} ==> next_comm={} "
                     "next_pid={} next_prio={}",
                     text_of(entry.comm), entry.pid, entry.prio, entry.prev_state.letter,
                     entry.prev_state.preempted ? "+" : "", text_of(entry.other_comm),
                     entry.other_pid, entry.other_prio);
      break;
    case event_kind::waking:
    case event_kind::wakeup:
    case event_kind::wakeup_new:
      write_task("comm", entry);
      fmt::format_to(out, " prio={} target_cpu={:03}", entry.prio, entry.target_cpu);
      break;
    case event_kind::migrate:
      write_task("comm", entry);
      fmt::format_to(out, " prio={} orig_cpu={} dest_cpu={}", entry.prio, entry.amount,
                     entry.target_cpu);
      break;
    case event_kind::exit:
    case event_kind::process_free:
      write_task("comm", entry);
      fmt::format_to(out, " prio={}", entry.prio);
      break;
    case event_kind::fork:
      fmt::format_to(out, "comm={} pid={} child_comm={} child_pid={}", text_of(entry.other_comm),
                     entry.other_pid, text_of(entry.comm), entry.pid);
      break;
    case event_kind::exec:
      fmt::format_to(out, "filename={} pid={} old_pid={}", text_of(entry.text), entry.pid,
                     entry.other_pid);
      break;
    case event_kind::stat_runtime:
      write_task("comm", entry);
      fmt::format_to(out, " runtime={} [ns]", entry.amount);
      break;
    case event_kind::stat_wait:
    case event_kind::stat_sleep:
    case event_kind::stat_iowait:
    case event_kind::stat_blocked:
      write_task("comm", entry);
      fmt::format_to(out, " delay={} [ns]", entry.amount);
      break;
    case event_kind::cpu_frequency:
    case event_kind::cpu_idle:
      fmt::format_to(out, "state={} cpu_id={}", entry.amount, entry.target_cpu);
      break;
    case event_kind::marker:
      buffer_ += text_of(entry.text);
      break;
  }
}

void ftrace_writer::visit(const event& entry) {
  // The task that writes a switch is the one that is switched out: its name may be new.
  if (entry.pid == entry.context_pid) learn_names(entry);
  write_context(entry);
  write_arguments(entry);
  buffer_ += '\n';
  learn_names(entry);
  if (buffer_.size() < handed_over_bytes) return;
  out_(buffer_);
  buffer_.clear();
}

void ftrace_writer::finish() {
  out_(buffer_);
  buffer_.clear();
}

}  // namespace vlag::trace

// SPDX-License-Identifier: Apache-2.0
#include "trace/dialect.hpp"

#include <fmt/format.h>

namespace vlag::test {
namespace {

using trace::event_kind;

std::string state_of(const trace::switch_state& state) {
  return fmt::format("{}{}", state.letter, state.preempted ? "+" : "");
}

std::string short_task(const std::string& comm, std::int32_t pid, std::int32_t prio) {
  return fmt::format("{}:{} [{}]", comm, pid, prio);
}

std::string name_of(event_kind kind, const dialect& how) {
  if (kind == event_kind::marker && how.trace_cmd) return "print";
  return std::string(trace::kernel_name(kind));
}

std::string switch_arguments(const told_event& told, const dialect& how) {
  const trace::event& e = told.event;
  const std::string state = state_of(e.prev_state);
  if (how.short_tasks) {
    return fmt::format("{} {} ==> {}", short_task(told.comm, e.pid, e.prio), state,
                       short_task(told.other_comm, e.other_pid, e.other_prio));
  }
  return fmt::format(
      "prev_comm={} prev_pid={} prev_prio={} prev_state={} ==> next_comm={} next_pid={} "
      "next_prio={}",
      told.comm, e.pid, e.prio, state, told.other_comm, e.other_pid, e.other_prio);
}

std::string arguments_of(const told_event& told, const dialect& how) {
  const trace::event& e = told.event;
  const std::string task = fmt::format("comm={} pid={} prio={}", told.comm, e.pid, e.prio);
  switch (e.kind) {
    case event_kind::sched_switch:
      return switch_arguments(told, how);
    case event_kind::waking:
    case event_kind::wakeup:
    case event_kind::wakeup_new:
      if (!how.short_tasks) return fmt::format("{} target_cpu={:03}", task, e.target_cpu);
      return fmt::format("{} CPU:{:03}", short_task(told.comm, e.pid, e.prio), e.target_cpu);
    case event_kind::fork:
      return fmt::format("comm={} pid={} child_comm={} child_pid={}", told.other_comm, e.other_pid,
                         told.comm, e.pid);
    case event_kind::exit:
      return told.event.pid % 2 == 0 ? task : task + " group_dead=true";
    case event_kind::process_free:
      return task;
    case event_kind::migrate:
      return fmt::format("{} orig_cpu={} dest_cpu={}", task, e.amount, e.target_cpu);
    case event_kind::exec:
      return fmt::format("filename={} pid={} old_pid={}", told.marker, e.pid, e.other_pid);
    case event_kind::stat_runtime:
      return fmt::format("comm={} pid={} runtime={} [ns]{}", told.comm, e.pid, e.amount,
                         e.pid % 2 == 0 ? "" : " vruntime=5 [ns]");
    case event_kind::stat_wait:
    case event_kind::stat_sleep:
    case event_kind::stat_iowait:
    case event_kind::stat_blocked:
      return fmt::format("comm={} pid={} delay={} [ns]", told.comm, e.pid, e.amount);
    case event_kind::cpu_frequency:
    case event_kind::cpu_idle:
      return fmt::format("state={} cpu_id={}", e.amount, e.target_cpu);
    case event_kind::marker:
      return fmt::format("{}{}", how.trace_cmd ? "tracing_mark_write: " : "", told.marker);
  }
  return {};
}

std::string time_of(std::uint64_t time_ns, const dialect& how) {
  const std::uint64_t seconds = time_ns / 1'000'000'000;
  const std::uint64_t rest = time_ns % 1'000'000'000;
  return how.nanoseconds ? fmt::format("{:5}.{:09}", seconds, rest)
                         : fmt::format("{:5}.{:06}", seconds, rest / 1000);
}

std::string tgid_of(const trace::event& e, const dialect& how) {
  if (!how.tgid) return {};
  return e.context_pid % 2 == 0 ? "(-------) " : "(    123) ";
}

}  // namespace

std::string line_of(const told_event& told, const dialect& how) {
  constexpr std::size_t comm_width = 16;  // in bytes, whatever they show as
  const trace::event& e = told.event;
  const std::string padding(comm_width - told.context_comm.size(), ' ');
  std::string flags = told.flags.substr(0, how.flags);
  if (!flags.empty()) flags += ' ';
  const std::string name = fmt::format("{}:", name_of(e.kind, how));
  return fmt::format("{}{}-{:<7} {}[{:03}] {}{}: {:<{}}{}{}", padding, told.context_comm,
                     e.context_pid, tgid_of(e, how), e.cpu, flags, time_of(e.time_ns, how), name,
                     how.trace_cmd ? 22 : name.size() + 1, arguments_of(told, how),
                     how.carriage_returns ? "\r\n" : "\n");
}

}  // namespace vlag::test

// SPDX-License-Identifier: Apache-2.0
#include "workload/recording_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "input/text.hpp"

namespace vlag::test {

using trace::event;
using trace::event_kind;

recording_builder& recording_builder::on(unsigned cpu) {
  cpu_ = cpu;
  return *this;
}

recording_builder& recording_builder::name(std::int32_t pid, std::string name) {
  names_[pid] = std::move(name);
  return *this;
}

recording_builder& recording_builder::prio(std::int32_t pid, std::int32_t prio) {
  prios_[pid] = prio;
  return *this;
}

void recording_builder::tell(std::int32_t pid, std::int32_t& prio, std::uint32_t& comm) {
  prio = prios_.try_emplace(pid, 120).first->second;
  comm = out_.strings.intern(names_.try_emplace(pid, fmt::format("t{}", pid)).first->second);
}

recording_builder& recording_builder::add(event e) {
  if (e.kind != event_kind::marker) {
    tell(e.pid, e.prio, e.comm);
    tell(e.other_pid, e.other_prio, e.other_comm);
  }
  e.cpu = static_cast<std::uint16_t>(cpu_);
  out_.cpus = std::max({out_.cpus, cpu_ + 1, static_cast<unsigned>(e.target_cpu + 1)});
  out_.path = "hand.trace";
  out_.events.push_back(e);
  return *this;
}

recording_builder& recording_builder::run(std::uint64_t at_us, std::int32_t previous, char state,
                                          std::int32_t next) {
  event e;
  e.time_ns = at_us * 1000;
  e.context = trace::context_kind::task;
  e.context_pid = e.pid = previous;
  e.prev_state.letter = state;
  e.other_pid = next;
  return add(e);
}

recording_builder& recording_builder::wake(std::uint64_t at_us, std::int32_t pid, waker by,
                                           int target_cpu) {
  event e;
  e.kind = event_kind::wakeup;
  e.time_ns = at_us * 1000;
  e.context = by.context;
  e.context_pid = by.pid;
  e.pid = pid;
  e.target_cpu = target_cpu < 0 ? static_cast<std::int32_t>(cpu_) : target_cpu;
  return add(e);
}

recording_builder& recording_builder::start(std::uint64_t at_us, std::int32_t pid, waker by,
                                            int target_cpu) {
  wake(at_us, pid, by, target_cpu);
  out_.events.back().kind = event_kind::wakeup_new;
  return *this;
}

recording_builder& recording_builder::mark(std::uint64_t at_us, std::string_view text) {
  event e;
  e.kind = event_kind::marker;
  e.time_ns = at_us * 1000;
  e.text = out_.strings.intern(text);
  return add(e);
}

recording_builder& recording_builder::lost(std::uint64_t count) {
  out_.anomalies.push_back({"lost events", count, {}});
  out_.lost_events += count;
  return *this;
}

recorded_programs build(const recording_builder& recording, const replay_options& options,
                        const recorded_attributes& attributes) {
  return build_programs(recording.get(), attributes, options);
}

const task_setup& setup_of(const recorded_programs& programs, std::int32_t pid, std::size_t nth) {
  for (const task_setup& setup : programs.tasks) {
    if (setup.pid == pid && nth-- == 0) return setup;
  }
  throw std::out_of_range(fmt::format("no task {}", pid));
}

const task_figures& figures_of(const run_figures& run, std::int32_t pid, std::size_t nth) {
  for (const task_figures& task : run.tasks) {
    if (task.pid == pid && nth-- == 0) return task;
  }
  throw std::out_of_range(fmt::format("no task {}", pid));
}

namespace {

std::string text_of(const recorded_programs& programs, const op& step) {
  const auto target = [&] { return programs.tasks.at(step.target).name; };
  const auto time = [&] {
    return step.value == forever_ns ? "forever" : format_duration(step.value);
  };
  switch (step.kind) {
    case op_kind::run:
      return "run " + time();
    case op_kind::wake:
      return "wake " + target();
    case op_kind::signal:
      return "signal " + target();
    case op_kind::wait:
      return "wait";
    case op_kind::sleep:
      return "sleep " + time();
    case op_kind::sleep_until:
      return "sleep until " + time();
    case op_kind::sleep_ticks:
      return fmt::format("sleep {} ticks", step.value);
    case op_kind::sleep_to_period:
      return fmt::format("sleep to {} of period {}", time(), step.target);
    case op_kind::fork:
      return "fork " + target();
    case op_kind::exit:
      return "exit";
    case op_kind::yield:
      return "yield";
    case op_kind::set_nice:
      return fmt::format("nice {}", static_cast<std::int64_t>(step.value));
    case op_kind::set_slice:
      return "slice " + time();
    case op_kind::set_latency_nice:
      return fmt::format("latency_nice {}", static_cast<std::int64_t>(step.value));
    case op_kind::watch:
      return fmt::format("watch {} {}", target(), time());
    case op_kind::move:
      return fmt::format("move {}", step.target);
    case op_kind::milestone:
      return "milestone";
    case op_kind::jump:
      return fmt::format("jump {}", step.value);
    case op_kind::end:
      return "end";
    case op_kind::join_group:
      return fmt::format("join group {}", step.target);
    case op_kind::write_group:
      return fmt::format("write to group {}", step.target);
    default:  // recordings have no more
      return "?";
  }
}

}  // namespace

std::string steps_of(const recorded_programs& programs, std::int32_t pid, std::size_t nth) {
  std::string text;
  for (const op& step : setup_of(programs, pid, nth).steps) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", text_of(programs, step));
  }
  return text;
}

std::uint64_t count_of(const recorded_programs& programs, std::string_view what) {
  for (const auto& [name, count] : programs.anomalies) {
    if (name == what) return count;
  }
  return 0;
}

}  // namespace vlag::test

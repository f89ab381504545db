// SPDX-License-Identifier: Apache-2.0
#include "report/perfetto_writer.hpp"

#include "input/input_error.hpp"
#include "input/printable.hpp"
#include "report/perfetto_fields.hpp"

#include <fmt/format.h>
#include <protozero/pbf_writer.hpp>

#include <utility>

namespace vlag {
namespace {

using protozero::pbf_writer;

constexpr std::size_t bundle_bytes = 16 * 1024;
constexpr std::size_t threads_a_packet = 512;
constexpr std::uint32_t one_sequence = 1;
constexpr int first_fair_prio = 100;
// Which encoding of task states is used, in Perfetto's terms; not the kernel of any run.
constexpr const char* state_encoding = "6.12.0";

template <typename Fill>
std::string message(const Fill& fill) {
  std::string result;
  pbf_writer writer(result);
  fill(writer);
  return result;
}

// Why a task lost its CPU; empty for what asks for no switch.
std::string_view why_preempted(decision what) {
  switch (what) {
    case decision::request_used_up:
      return "its request was served";
    case decision::ineligible_gives_way:
      return "unprotected and not eligible";
    case decision::wakeup_preempts:
      return "a woken task was picked over it";
    case decision::idle_policy_yields:
      return "an idle-policy task gives way";
    case decision::priority_changed:
      return "its priority was lowered";
    case decision::moved_while_running:
      return "it changed its group";
    case decision::out_of_bandwidth:
      return "its group used up its quota";
    case decision::ran_its_share:
      return "it had its share of the period";
    case decision::ran_ahead:
      return "it ran ahead of the first waiting one";
    case decision::child_runs_first:
      return "its child runs first";
    default:
      return {};
  }
}

}  // namespace

perfetto_writer::perfetto_writer(output out) : out_(std::move(out)) {}

// ---- Numbers and names

std::int32_t perfetto_writer::process_id() const {
  return static_cast<std::int32_t>(run_) * perfetto_pids_a_run + perfetto_pids_a_run - 1;
}

std::int32_t perfetto_writer::tid_of(std::uint32_t task) const {
  return task == no_task ? 0 : tasks_[task].tid;
}

std::string perfetto_writer::name_of(std::uint32_t task, unsigned cpu) const {
  return task == no_task ? fmt::format("swapper/{}", first_cpu_ + cpu) : tasks_[task].name;
}

std::uint64_t perfetto_writer::track(track_kind kind, std::uint64_t index) const {
  constexpr unsigned run_shift = 48;
  constexpr unsigned kind_shift = 40;
  return std::uint64_t{run_ + 1} << run_shift |
         std::uint64_t{static_cast<std::uint8_t>(kind)} << kind_shift | index;
}

// ---- Packets

void perfetto_writer::write_packet(const std::string& packet) {
  out_(message([&](pbf_writer& w) { w.add_message(perfetto::trace_packet, packet); }));
}

void perfetto_writer::write_packet(std::uint64_t at_ns, std::uint32_t kind,
                                   const std::string& body) {
  write_packet(message([&](pbf_writer& w) {
    w.add_uint64(perfetto::packet::timestamp, clock_ns_ + at_ns);
    w.add_uint32(perfetto::packet::sequence_id, one_sequence);
    w.add_message(kind, body);
  }));
}

void perfetto_writer::write_opening() {
  opened_ = true;
  const std::string utsname = message([](pbf_writer& w) {
    w.add_string(perfetto::system_info::sysname, "Linux");
    w.add_string(perfetto::system_info::release, state_encoding);
  });
  const std::string info =
      message([&](pbf_writer& w) { w.add_message(perfetto::system_info::utsname, utsname); });
  write_packet(message([&](pbf_writer& w) {
    w.add_uint64(perfetto::packet::timestamp, clock_ns_);
    w.add_uint32(perfetto::packet::sequence_id, one_sequence);
    w.add_uint32(perfetto::packet::sequence_flags, perfetto::packet::incremental_state_cleared);
    w.add_message(perfetto::packet::system_info, info);
  }));
}

void perfetto_writer::write_process(const schedule_info& info) {
  namespace field = perfetto::process_tree;
  std::string tree = message([&](pbf_writer& w) {
    w.add_message(field::processes, message([&](pbf_writer& p) {
                    p.add_int32(field::pid, process_id());
                    p.add_int32(field::parent, 0);
                    p.add_string(field::command_line, label_);
                  }));
  });
  const auto write_tree = [&] {
    write_packet(0, perfetto::packet::process_tree, tree);
    tree.clear();
  };
  for (std::size_t i = 0; i < info.tasks.size(); ++i) {
    pbf_writer(tree).add_message(field::threads, message([&](pbf_writer& t) {
                                   t.add_int32(field::tid, tasks_[i].tid);
                                   t.add_string(field::thread_name, tasks_[i].name);
                                   t.add_int32(field::thread_group, process_id());
                                 }));
    if ((i + 1) % threads_a_packet == 0) write_tree();
  }
  if (!tree.empty()) write_tree();
}

void perfetto_writer::write_counter_track(track_kind kind, unsigned cpu, std::string_view what,
                                          std::string_view unit) {
  namespace field = perfetto::track_descriptor;
  const std::string counter =
      message([&](pbf_writer& w) { w.add_string(field::unit_name, unit.data(), unit.size()); });
  const std::string descriptor = message([&](pbf_writer& w) {
    w.add_uint64(field::uuid, track(kind, cpu));
    w.add_string(field::name, fmt::format("CPU {} {}", cpu, what));
    w.add_uint64(field::parent_uuid, track(track_kind::process, 0));
    w.add_message(field::counter, counter);
  });
  write_packet(0, perfetto::packet::track_descriptor, descriptor);
}

void perfetto_writer::write_tracks(const schedule_info& info) {
  namespace field = perfetto::track_descriptor;
  const std::string process = message([&](pbf_writer& w) {
    w.add_int32(field::process_pid, process_id());
    w.add_string(field::process_name, label_);
  });
  const std::string descriptor = message([&](pbf_writer& w) {
    w.add_uint64(field::uuid, track(track_kind::process, 0));
    w.add_message(field::process, process);
  });
  write_packet(0, perfetto::packet::track_descriptor, descriptor);
  for (unsigned cpu = 0; cpu < info.cpus; ++cpu) {
    write_counter_track(track_kind::runnable, cpu, "runnable", "tasks");
    if (!info.simulated) continue;
    write_counter_track(track_kind::virtual_time, cpu, "V", "virtual ns");
    write_counter_track(track_kind::lag, cpu, "lag", "virtual ns");
  }
}

void perfetto_writer::write_counter(track_kind kind, unsigned cpu, std::uint64_t at_ns,
                                    std::int64_t value) {
  namespace field = perfetto::track_event;
  const std::string event = message([&](pbf_writer& w) {
    w.add_enum(field::type, field::type_counter);
    w.add_uint64(field::track_uuid, track(kind, cpu));
    w.add_int64(field::counter_value, value);
  });
  write_packet(at_ns, perfetto::packet::track_event, event);
}

void perfetto_writer::declare_thread(std::uint32_t task, std::uint64_t at_ns) {
  namespace field = perfetto::track_descriptor;
  run_task& t = tasks_[task];
  if (std::exchange(t.has_track, true)) return;
  const std::string thread = message([&](pbf_writer& w) {
    w.add_int32(field::thread_pid, process_id());
    w.add_int32(field::thread_tid, t.tid);
    w.add_string(field::thread_name, t.name);
  });
  const std::string descriptor = message([&](pbf_writer& w) {
    w.add_uint64(field::uuid, track(track_kind::thread, task));
    w.add_uint64(field::parent_uuid, track(track_kind::process, 0));
    w.add_message(field::thread, thread);
  });
  write_packet(at_ns, perfetto::packet::track_descriptor, descriptor);
}

void perfetto_writer::write_preemption(const schedule_switch& e) {
  namespace field = perfetto::track_event;
  declare_thread(e.previous, e.at_ns);
  const bool by_real_time = e.next != no_task && e.next_prio < first_fair_prio;
  std::string_view why = "no reason was told";
  if (by_real_time) {
    why = "a real-time task came";
  } else if (cpus_[e.cpu].asked_by) {
    why = why_preempted(*cpus_[e.cpu].asked_by);
  }
  const std::string next = message([&](pbf_writer& w) {
    w.add_string(field::annotation_name, "next");
    w.add_string(field::annotation_string, name_of(e.next, e.cpu));
  });
  const std::string event = message([&](pbf_writer& w) {
    w.add_message(field::debug_annotations, next);
    w.add_enum(field::type, field::type_instant);
    w.add_uint64(field::track_uuid, track(track_kind::thread, e.previous));
    w.add_string(field::name, fmt::format("preempted: {}", why));
  });
  write_packet(e.at_ns, perfetto::packet::track_event, event);
}

void perfetto_writer::add_event(unsigned cpu, const std::string& event) {
  std::string& events = cpus_[cpu].events;
  pbf_writer(events).add_message(perfetto::bundle::event, event);
  if (events.size() >= bundle_bytes) flush(cpu);
}

void perfetto_writer::flush(unsigned cpu) {
  std::string& events = cpus_[cpu].events;
  if (events.empty()) return;
  std::string bundle =
      message([&](pbf_writer& w) { w.add_uint32(perfetto::bundle::cpu, first_cpu_ + cpu); });
  bundle += events;
  events.clear();
  write_packet(message([&](pbf_writer& w) {
    w.add_message(perfetto::packet::ftrace_events, bundle);
    w.add_uint32(perfetto::packet::sequence_id, one_sequence);
  }));
}

// ---- Runs

void perfetto_writer::begin(const schedule_info& info) {
  if (opened_) {
    first_cpu_ += static_cast<unsigned>(cpus_.size());
    ++run_;
  }
  constexpr unsigned most_runs = 214;  // thread numbers are 31 bits
  if (run_ >= most_runs || info.cpus > most_perfetto_cpus - first_cpu_) {
    throw input_error(fmt::format(
        "a Perfetto trace holds at most {} CPUs and {} runs; expected fewer runs of {} CPUs each",
        most_perfetto_cpus, most_runs, info.cpus));
  }
  label_ = printable(info.label);
  simulated_ = info.simulated;
  wait_begins_ = info.wait_begins;
  if (!opened_) first_clock_ns_ = info.clock_at_start_ns;
  clock_ns_ = first_clock_ns_;
  tasks_.clear();
  for (const schedule_task& t : info.tasks) {
    if (t.pid < 0 || t.pid >= perfetto_pids_a_run - 1) {
      throw input_error(
          fmt::format("pid {} of {} is too large for a Perfetto trace; expected below "
                      "{}",
                      t.pid, printable(t.name), perfetto_pids_a_run - 1));
    }
    run_task& added = tasks_.emplace_back();
    added.tid = static_cast<std::int32_t>(run_) * perfetto_pids_a_run + t.pid;
    added.prio = t.prio;
    added.name = printable(t.name);
  }
  cpus_.assign(info.cpus, {});
  if (!opened_) write_opening();
  write_process(info);
  write_tracks(info);
}

void perfetto_writer::place(std::uint32_t task, std::optional<unsigned> cpu, std::uint64_t at_ns) {
  if (task == no_task || tasks_[task].runnable_on == cpu) return;
  const std::optional<unsigned> was = std::exchange(tasks_[task].runnable_on, cpu);
  if (was) write_counter(track_kind::runnable, *was, at_ns, --cpus_[*was].runnable);
  if (cpu) write_counter(track_kind::runnable, *cpu, at_ns, ++cpus_[*cpu].runnable);
}

void perfetto_writer::on_start(unsigned cpu, std::uint32_t running) {
  schedule_switch e;
  e.cpu = cpu;
  e.next = running;
  e.next_prio = tasks_[running].prio;
  switch_to(cpu, e);
  place(running, cpu, 0);
}

void perfetto_writer::switch_to(unsigned cpu, const schedule_switch& e) {
  namespace field = perfetto::sched_switch;
  cpus_[cpu].running = e.next;
  const std::string body = message([&](pbf_writer& w) {
    w.add_string(field::prev_comm, name_of(e.previous, cpu));
    w.add_int32(field::prev_pid, tid_of(e.previous));
    w.add_int32(field::prev_prio, e.previous_prio);
    w.add_int64(field::prev_state,
                e.left.preempted ? perfetto::state_preempted : perfetto::state_of(e.left.letter));
    w.add_string(field::next_comm, name_of(e.next, cpu));
    w.add_int32(field::next_pid, tid_of(e.next));
    w.add_int32(field::next_prio, e.next_prio);
  });
  add_event(cpu, message([&](pbf_writer& w) {
              w.add_uint64(perfetto::ftrace_event::timestamp, clock_ns_ + e.at_ns);
              w.add_uint32(perfetto::ftrace_event::pid,
                           static_cast<std::uint32_t>(tid_of(e.previous)));
              w.add_message(perfetto::ftrace_event::sched_switch, body);
            }));
}

void perfetto_writer::on_switch(const schedule_switch& e) {
  if (simulated_ && e.previous != no_task && e.left.preempted) write_preemption(e);
  cpus_[e.cpu].asked_by.reset();
  switch_to(e.cpu, e);
  if (e.previous != no_task && !e.left.runnable()) place(e.previous, std::nullopt, e.at_ns);
  place(e.next, e.cpu, e.at_ns);
}

void perfetto_writer::on_wakeup(const schedule_wakeup& e) {
  namespace field = perfetto::sched_wakeup;
  if (e.woken == no_task) return;
  const run_task& t = tasks_[e.woken];
  const std::string body = message([&](pbf_writer& w) {
    w.add_string(field::comm, t.name);
    w.add_int32(field::pid, t.tid);
    w.add_int32(field::prio, t.prio);
    w.add_int32(field::success, 1);
    w.add_int32(field::target_cpu, static_cast<std::int32_t>(first_cpu_ + e.cpu));
  });
  // The arrow from waker to woken is drawn for sched_waking.
  perfetto::tag kind = perfetto::ftrace_event::sched_wakeup;
  if (e.kind == wait_begins_) kind = perfetto::ftrace_event::sched_waking;
  if (e.kind == wakeup_kind::born) kind = perfetto::ftrace_event::sched_wakeup_new;
  add_event(
      e.told_on, message([&](pbf_writer& w) {
        w.add_uint64(perfetto::ftrace_event::timestamp, clock_ns_ + e.at_ns);
        w.add_uint32(perfetto::ftrace_event::pid, static_cast<std::uint32_t>(tid_of(e.during)));
        w.add_message(kind, body);
        if (e.waker == no_task) {
          w.add_uint32(perfetto::ftrace_event::common_flags, perfetto::ftrace_event::flag_hardirq);
        }
      }));
  if (e.kind == wait_begins_ || e.kind == wakeup_kind::born) {
    if (!t.runnable_on) place(e.woken, e.cpu, e.at_ns);
  }
}

void perfetto_writer::on_migrate(const schedule_migration& e) {
  namespace field = perfetto::sched_migrate_task;
  const run_task& t = tasks_[e.task];
  const std::string body = message([&](pbf_writer& w) {
    w.add_string(field::comm, t.name);
    w.add_int32(field::pid, t.tid);
    w.add_int32(field::prio, t.prio);
    w.add_int32(field::origin, static_cast<std::int32_t>(first_cpu_ + e.from_cpu));
    w.add_int32(field::destination, static_cast<std::int32_t>(first_cpu_ + e.to_cpu));
  });
  add_event(e.told_on, message([&](pbf_writer& w) {
              w.add_uint64(perfetto::ftrace_event::timestamp, clock_ns_ + e.at_ns);
              w.add_uint32(perfetto::ftrace_event::pid,
                           static_cast<std::uint32_t>(tid_of(cpus_[e.told_on].running)));
              w.add_message(perfetto::ftrace_event::sched_migrate_task, body);
            }));
  if (t.runnable_on) place(e.task, e.to_cpu, e.at_ns);
}

void perfetto_writer::on_reason(const schedule_reason& e) {
  if (!why_preempted(e.what).empty()) cpus_[e.cpu].asked_by = e.what;
}

void perfetto_writer::on_reading(const schedule_reading& e) {
  write_counter(track_kind::virtual_time, e.cpu, e.at_ns, e.values.virtual_time);
  if (e.values.lag) write_counter(track_kind::lag, e.cpu, e.at_ns, *e.values.lag);
}

void perfetto_writer::on_name(std::uint64_t, std::uint32_t task, std::string_view name) {
  tasks_[task].name = printable(name);
}

void perfetto_writer::end(std::uint64_t at_ns) {
  for (unsigned cpu = 0; cpu < cpus_.size(); ++cpu) {
    if (cpus_[cpu].running != no_task) {
      schedule_switch e;
      e.at_ns = at_ns;
      e.cpu = cpu;
      e.previous = cpus_[cpu].running;
      e.previous_prio = tasks_[e.previous].prio;
      switch_to(cpu, e);
    }
    flush(cpu);
  }
}

}  // namespace vlag

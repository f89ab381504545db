// SPDX-License-Identifier: Apache-2.0
#include "workload/recorded_programs.hpp"

#include "input/input_error.hpp"
#include "workload/recorded_builder.hpp"
#include "workload/recorded_tick.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace vlag {
namespace {

using trace::context_kind;
using trace::event;
using trace::event_kind;

// What precedes the window is replayed too, up to that much, so that queues are in the state that
// they were in.
constexpr std::uint64_t max_warm_up_ns = 1'000'000'000;

constexpr unsigned max_cpus = 512;  // of a machine
}  // namespace

recorded_programs program_builder::build() {
  const recorded_span window = find_window(recording_, options_.window);
  if (recording_.cpus > max_cpus) {
    throw input_error(fmt::format("{}: it has {} CPUs; at most {} can be replayed", recording_.path,
                                  recording_.cpus, max_cpus));
  }
  const std::uint64_t first = recording_.events.front().time_ns;
  span_ = {window.from_ns - std::min(window.from_ns - first, max_warm_up_ns), window.to_ns};
  measured_from_ns_ = window.from_ns;
  machine_.cpus = recording_.cpus;
  machine_.tick_ns = (1'000'000'000 + attributes_.hz / 2) / attributes_.hz;
  infer_ticks(recording_, span_, machine_);
  cpus_.resize(machine_.cpus);
  on_cpu_.resize(machine_.cpus);
  for (const event& e : recording_.events) {
    if (!open_ && e.time_ns >= span_.from_ns) open_window();
    if (!measuring_ && e.time_ns >= measured_from_ns_) begin_measuring();
    if (e.time_ns > span_.to_ns) break;
    switch (e.kind) {
      case event_kind::sched_switch:
        on_switch(e);
        break;
      case event_kind::wakeup:
        on_wakeup(e);
        break;
      case event_kind::wakeup_new:
        on_new_task(e);
        break;
      default:
        break;
    }
  }
  close_window();
  return finish();
}

traced_task& program_builder::task_of(std::int32_t pid) {
  const auto [at, added] = latest_.try_emplace(pid, static_cast<std::uint32_t>(tasks_.size()));
  if (added) {
    traced_task& t = tasks_.emplace_back();
    t.pid = pid;
    t.index = at->second;
    t.figures.pid = pid;
    t.blocked_ns = span_.from_ns;
    t.waiting_since_ns = span_.from_ns;
    t.segment_began_ns = span_.from_ns;
  }
  return tasks_[at->second];
}

void program_builder::name_task(traced_task& t, std::uint32_t comm, std::int32_t prio,
                                std::uint64_t at_ns) {
  t.name = comm;
  if (open_ && t.prio_known && t.prio != prio && t.prio >= lowest_fair_prio &&
      prio >= lowest_fair_prio) {
    flush_work(t, at_ns);
    t.steps.push_back(
        {op_kind::set_nice, 0, static_cast<std::uint64_t>(std::int64_t{nice_of(prio)})});
  } else if (!t.prio_known) {
    t.first_prio = prio;
  }
  t.prio = prio;
  t.prio_known = open_;
}

void program_builder::open_window() {
  open_ = true;
  for (traced_task& t : tasks_) {
    t.blocked_ns = span_.from_ns;
    t.run_start_ns = span_.from_ns;
    t.switched_in_ns = std::max(t.switched_in_ns, span_.from_ns);
    t.segment_began_ns = span_.from_ns;
    t.unflushed_ns = 0;
    t.first_cpu = t.cpu;
    t.wait_counts = false;
    t.in_window = t.state == seen_state::running || t.state == seen_state::runnable;
    t.start = t.in_window ? start_state::runnable : start_state::blocked;
    t.start_order_ns = t.state == seen_state::running ? 0 : t.waiting_since_ns;
    if (t.state == seen_state::running) t.segment_runs.push_back({span_.from_ns, 0});
  }
}

void program_builder::begin_measuring() {
  measuring_ = true;
  for (traced_task& t : tasks_) {
    t.figures = {};
    t.figures.pid = t.pid;
    t.wait_counts = false;
  }
  cpus_.assign(machine_.cpus, {});
}

std::uint64_t program_builder::tick_index(std::uint64_t at_ns) const {
  const std::uint64_t relative = at_ns - span_.from_ns;
  return (relative + machine_.tick_ns - machine_.tick_phase_ns) / machine_.tick_ns;
}

// CPU time of a running task between two moments of its present segment.
std::uint64_t program_builder::consumed_since(const traced_task& t, std::uint64_t since_ns,
                                              std::uint64_t now_ns) {
  const std::uint64_t now_consumed = t.consumed_ns + (now_ns - t.switched_in_ns);
  const auto later =
      std::upper_bound(t.segment_runs.begin(), t.segment_runs.end(), since_ns,
                       [](std::uint64_t at, const run_start& run) { return at < run.at_ns; });
  if (later == t.segment_runs.begin()) {
    return now_consumed - (t.segment_runs.empty() ? t.consumed_ns : later->consumed_ns);
  }
  const run_start& run = *(later - 1);
  const std::uint64_t run_end_consumed =
      later == t.segment_runs.end() ? now_consumed : later->consumed_ns;
  return now_consumed - std::min(run.consumed_ns + (since_ns - run.at_ns), run_end_consumed);
}

void program_builder::flush_work(traced_task& t, std::uint64_t at_ns) {
  std::uint64_t work = t.unflushed_ns;
  if (t.state == seen_state::running) {
    work += at_ns - t.run_start_ns;
    t.run_start_ns = at_ns;
  }
  t.unflushed_ns = 0;
  t.segment_ns += work;
  if (work == 0) return;
  if (!t.steps.empty() && t.steps.back().kind == op_kind::run) {
    t.steps.back().value += work;
  } else {
    t.steps.push_back({op_kind::run, 0, work});
  }
}

void program_builder::on_switch(const event& e) {
  if (measuring_) ++cpus_.at(e.cpu).switches;
  traced_task* const previous = e.pid == 0 ? nullptr : &task_of(e.pid);
  lose_cpu_to(e.cpu, previous);
  if (previous != nullptr) {
    name_task(*previous, e.comm, e.prio, e.time_ns);
    switch_out(*previous, e);
  }
  on_cpu_.at(e.cpu) = {std::nullopt, true};
  if (e.other_pid != 0) {
    traced_task& next = task_of(e.other_pid);
    name_task(next, e.other_comm, e.other_prio, e.time_ns);
    switch_in(next, e);
  }
}

void program_builder::switch_out(traced_task& t, const event& e) {
  if (t.state == seen_state::running && t.cpu != e.cpu) lose_cpu(t);
  if (t.state != seen_state::running) {
    if (open_ && (t.state != seen_state::unknown || on_cpu_.at(e.cpu).seen)) {
      note("switched out without having been switched in");
    }
    found_running(t, e);
  }
  if (open_) {
    t.in_window = true;
    t.consumed_ns += e.time_ns - t.switched_in_ns;
    t.unflushed_ns += e.time_ns - t.run_start_ns;
  }
  if (measuring_) measure_run(t, e.time_ns);
  if (e.prev_state.runnable()) {
    t.state = seen_state::runnable;
    t.waiting_since_ns = e.time_ns;
    t.wait_by_wakeup = false;
    t.wait_counts = measuring_;
    if (measuring_) ++t.figures.involuntary;
    return;
  }
  const bool gone = e.prev_state.letter == 'X' || e.prev_state.letter == 'Z';
  t.state = gone ? seen_state::gone : seen_state::blocked;
  t.blocked_ns = e.time_ns;
  if (!open_) return;
  if (measuring_) ++t.figures.voluntary;
  flush_work(t, e.time_ns);
  t.longest_segment_ns = std::max(t.longest_segment_ns, t.segment_ns);
  t.segment_edges.clear();
  t.finished_ns = e.time_ns;
  if (gone) {
    t.steps.push_back({op_kind::milestone, 0, 0});
    t.steps.push_back({op_kind::exit, 0, 0});
    latest_.erase(t.pid);
  }
}

// The task runs though no switch in was seen: since the beginning, if this is the first that is
// seen of it and of its CPU, else from here on.
void program_builder::found_running(traced_task& t, const event& e) {
  traced_cpu& on = on_cpu_.at(e.cpu);
  const bool from_start = t.state == seen_state::unknown && !on.seen;
  if (t.state == seen_state::unknown) {
    t.start = start_state::runnable;
    t.start_order_ns = from_start ? 0 : 1;
    t.first_cpu = e.cpu;
  }
  t.cpu = e.cpu;
  t.state = seen_state::running;
  t.run_start_ns = t.switched_in_ns = from_start && open_ ? span_.from_ns : e.time_ns;
  if (open_) t.segment_runs.push_back({t.run_start_ns, t.consumed_ns});
  on = {t.index, true};
}

// Events are missing: how long the task ran is not known, and nothing is counted.
void program_builder::lose_cpu(traced_task& t) {
  if (open_) note("lost the CPU without a switch on record");
  on_cpu_.at(t.cpu).current.reset();
  t.state = seen_state::runnable;
  t.wait_counts = false;
}

void program_builder::lose_cpu_to(unsigned cpu, const traced_task* other) {
  const std::optional<std::uint32_t> current = on_cpu_.at(cpu).current;
  if (current && (other == nullptr || other->index != *current)) lose_cpu(tasks_[*current]);
}

void program_builder::measure_run(traced_task& t, std::uint64_t until_ns) {
  const std::uint64_t ran = until_ns - std::max(t.switched_in_ns, measured_from_ns_);
  t.figures.cpu_ns += ran;
  cpus_.at(t.cpu).busy_ns += ran;
}

void program_builder::begin_segment(traced_task& t, std::uint64_t at_ns) {
  t.segment_ns = 0;
  t.segment_began_ns = at_ns;
  t.segment_edges.clear();
  t.segment_runs.clear();
}

void program_builder::switch_in(traced_task& t, const event& e) {
  if (t.state == seen_state::running) lose_cpu(t);
  if (t.state == seen_state::blocked) {
    if (open_) {
      note("ran without a wake-up on record");
      add_external_sleep(t, e);
      begin_segment(t, e.time_ns);
      if (measuring_) ++t.figures.wakeups;
    }
    t.wait_counts = false;
  } else if (t.state == seen_state::unknown) {
    t.first_cpu = e.cpu;
    if (open_ && e.pid == 0 &&
        e.time_ns > span_.from_ns) {  // the CPU was idle: it cannot have waited since the beginning
      note("ran without a wake-up on record");
      t.start = start_state::blocked;
      add_external_sleep(t, e);
      begin_segment(t, e.time_ns);
    } else {
      t.start = start_state::runnable;
      t.start_order_ns = 1;
    }
  }
  if (open_) t.in_window = true;
  if (measuring_) {
    ++t.figures.switches_in;
    if (t.state == seen_state::runnable && t.wait_counts) {
      const std::uint64_t waited = e.time_ns - t.waiting_since_ns;
      const std::uint64_t at = e.time_ns - span_.from_ns;
      (t.wait_by_wakeup ? t.figures.wake_latency : t.figures.preempt_wait).add(waited, at);
      if (waited > t.figures.max_wait_to_ns - t.figures.max_wait_from_ns) {
        t.figures.max_wait_from_ns = at - waited;
        t.figures.max_wait_to_ns = at;
      }
    }
  }
  t.cpu = e.cpu;
  t.state = seen_state::running;
  t.switched_in_ns = t.run_start_ns = e.time_ns;
  if (open_) t.segment_runs.push_back({e.time_ns, t.consumed_ns});
  on_cpu_.at(e.cpu) = {t.index, true};
}

traced_task* program_builder::running_waker(const event& e) {
  if (e.context_pid <= 0 || e.context_pid == e.pid || e.context == context_kind::hardirq ||
      e.context == context_kind::softirq || e.context == context_kind::nmi) {
    return nullptr;
  }
  if (e.context == context_kind::unknown) {
    note(
        "wake-ups that do not say whether an interrupt made them (no flags column): taken for the "
        "running task's");
  }
  traced_task& waker = task_of(e.context_pid);
  if (waker.state == seen_state::unknown) {
    lose_cpu_to(e.cpu, &waker);
    found_running(waker, e);
  }
  return waker.state == seen_state::running ? &waker : nullptr;
}

void program_builder::add_edge(traced_task& waker, std::uint32_t target_index,
                               std::uint64_t at_ns) {
  const traced_task& target = tasks_[target_index];
  const bool in_segment = target.blocked_ns >= waker.segment_began_ns;
  const std::uint64_t since_block =
      in_segment ? consumed_since(waker, target.blocked_ns, at_ns) : 0;
  flush_work(waker, at_ns);
  waker.in_window = true;
  waker.segment_edges.push_back({waker.steps.size(), since_block, in_segment});
  waker.steps.push_back({op_kind::wake, target_index, 0});
}

void program_builder::add_external_sleep(traced_task& t, const event& e) {
  t.external_wakes.push_back({t.steps.size(), t.blocked_ns, e.time_ns});
  if (e.context == context_kind::softirq && machine_.tick_phase_known &&
      options_.wakes != external_wakes::absolute) {
    t.external_wakes.pop_back();
    const std::uint64_t ticks = tick_index(e.time_ns) - tick_index(t.blocked_ns);
    t.steps.push_back({op_kind::sleep_ticks, 0, std::max<std::uint64_t>(ticks, 1)});
    return;
  }
  t.steps.push_back({op_kind::sleep, 0, e.time_ns - t.blocked_ns});
}

void program_builder::on_wakeup(const event& e) {
  if (e.pid == 0) return;
  traced_task& t = task_of(e.pid);
  name_task(t, e.comm, e.prio, e.time_ns);
  if (t.state == seen_state::running || t.state == seen_state::runnable) return;
  t.cpu = e.target_cpu >= 0 ? static_cast<unsigned>(e.target_cpu) : e.cpu;
  if (t.cpu >= machine_.cpus) t.cpu = 0;
  if (t.state == seen_state::unknown) t.first_cpu = t.cpu;
  if (open_) {
    t.in_window = true;
    if (traced_task* waker = running_waker(e); waker != nullptr) {
      add_edge(*waker, t.index, e.time_ns);
      t.steps.push_back({op_kind::wait, 0, 0});
    } else {
      add_external_sleep(t, e);
    }
    if (machine_.cpus > 1) t.steps.push_back({op_kind::move, t.cpu, 0});
    if (measuring_) {
      t.figures.sleep_ns += e.time_ns - std::max(t.blocked_ns, measured_from_ns_);
      ++t.figures.wakeups;
    }
    begin_segment(t, e.time_ns);
  }
  t.state = seen_state::runnable;
  t.waiting_since_ns = e.time_ns;
  t.wait_by_wakeup = true;
  t.wait_counts = measuring_;
}

void program_builder::on_new_task(const event& e) {
  if (const auto old = latest_.find(e.pid); old != latest_.end()) latest_.erase(old);
  traced_task& t = task_of(e.pid);
  name_task(t, e.comm, e.prio, e.time_ns);
  t.cpu = e.target_cpu >= 0 ? static_cast<unsigned>(e.target_cpu) : e.cpu;
  if (t.cpu >= machine_.cpus) t.cpu = 0;
  t.first_cpu = t.cpu;
  t.state = seen_state::runnable;
  t.waiting_since_ns = e.time_ns;
  t.wait_by_wakeup = true;
  t.wait_counts = measuring_;
  if (!open_) return;
  t.in_window = true;
  if (measuring_) ++t.figures.wakeups;
  begin_segment(t, e.time_ns);
  if (traced_task* parent = running_waker(e); parent != nullptr) {
    t.start = start_state::unborn;
    flush_work(*parent, e.time_ns);
    parent->in_window = true;
    parent->steps.push_back({op_kind::fork, t.index, 0});
  } else {
    note("new task without a parent on record");
    t.start = start_state::blocked;
    t.steps.push_back({op_kind::sleep, 0, e.time_ns - span_.from_ns});
  }
}

void program_builder::close_task(traced_task& t) {
  switch (t.state) {
    case seen_state::unknown:
    case seen_state::gone:
      return;
    case seen_state::blocked:
      t.steps.push_back({op_kind::milestone, 0, 0});
      t.steps.push_back({op_kind::sleep, 0, span_.to_ns - t.blocked_ns + 1});
      t.steps.push_back({op_kind::end, 0, 0});
      return;
    case seen_state::running:
      measure_run(t, span_.to_ns);
      break;
    case seen_state::runnable:
      t.figures.add_open_wait(std::max(t.waiting_since_ns, measured_from_ns_) - span_.from_ns,
                              span_.to_ns - span_.from_ns, t.wait_by_wakeup);
      break;
  }
  flush_work(t, span_.to_ns);
  t.finished_ns = span_.to_ns;
  const bool endless = t.segment_ns > t.longest_segment_ns;
  if (endless) make_endless(t);
  t.steps.push_back({op_kind::milestone, 0, 0});
  if (endless) {
    t.steps.push_back({op_kind::run, 0, forever_ns});
  } else {
    note("cut in the middle of a burst by the end");
    t.steps.push_back({op_kind::end, 0, 0});
  }
}

void program_builder::close_window() {
  if (!measuring_) throw input_error(fmt::format("{}: no event in the window", recording_.path));
  for (traced_task& t : tasks_) {
    if (t.in_window) close_task(t);
  }
}

recorded_programs build_programs(const trace::recording& recording,
                                 const recorded_attributes& attributes,
                                 const replay_options& options) {
  return program_builder(recording, attributes, options).build();
}

}  // namespace vlag

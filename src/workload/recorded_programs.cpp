// SPDX-License-Identifier: Apache-2.0
#include "workload/recorded_programs.hpp"

#include "input/input_error.hpp"
#include "input/text.hpp"
#include "workload/recorded_period.hpp"
#include "workload/recorded_tick.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

namespace vlag {
namespace {

using trace::context_kind;
using trace::event;
using trace::event_kind;

// Kernel priorities below are real-time: 99 minus the real-time priority.
constexpr std::int32_t lowest_fair_prio = 100;

// What precedes the window is replayed too, up to that much, so that queues are in the state that
// they were in.
constexpr std::uint64_t max_warm_up_ns = 1'000'000'000;

constexpr unsigned max_cpus = 512;  // of a machine

// Whatever number a recording holds, within the range of its class.
int nice_of(std::int32_t prio) { return std::clamp(prio, lowest_fair_prio, 120 + max_nice) - 120; }

int rt_priority_of(std::int32_t prio) { return 99 - std::clamp(prio, -1, 98); }

bool is_real_time(sched_policy policy) {
  return policy == sched_policy::fifo || policy == sched_policy::round_robin;
}

enum class seen_state : std::uint8_t { unknown, running, runnable, blocked, gone };

// An edge of a segment that may turn out to be endless: where its operations are, and how long the
// waker had run since the target blocked.
struct edge {
  std::size_t wake_step;
  std::uint64_t since_block_ns;
  bool target_blocked_in_segment;
};

// A switch onto the CPU, and the CPU time consumed until then.
struct run_start {
  std::uint64_t at_ns;
  std::uint64_t consumed_ns;
};

struct traced_task {
  std::int32_t pid = 0;
  std::uint32_t index = 0;  // in the builder's list
  std::uint32_t name = 0;
  std::int32_t prio = 120;
  std::int32_t first_prio = 120;
  bool prio_known = false;  // from within the window
  seen_state state = seen_state::unknown;
  bool in_window = false;  // does something in it
  start_state start = start_state::blocked;
  std::uint64_t start_order_ns = 0;
  unsigned cpu = 0;
  unsigned first_cpu = 0;
  program steps;
  // Times of the recording.
  std::uint64_t run_start_ns = 0;  // since when unflushed work runs
  std::uint64_t switched_in_ns = 0;
  std::uint64_t blocked_ns = 0;
  std::uint64_t waiting_since_ns = 0;
  std::uint64_t consumed_ns = 0;   // CPU time in the window up to the last switch out
  std::uint64_t unflushed_ns = 0;  // work done but not yet an operation
  std::uint64_t segment_ns = 0;    // work of the present segment, flushed
  std::uint64_t longest_segment_ns = 0;
  std::uint64_t segment_began_ns = 0;
  std::uint64_t finished_ns = 0;
  bool wait_by_wakeup = false;
  bool wait_counts = false;
  std::vector<edge> segment_edges;
  std::vector<run_start> segment_runs;
  std::vector<external_wake> external_wakes;
  task_figures figures;
};

// Who runs on a CPU, as far as the recording was read.
struct traced_cpu {
  std::optional<std::uint32_t> current;  // in the builder's list
  bool seen = false;                     // else current is not known yet
};

class program_builder {
 public:
  program_builder(const trace::recording& recording, const recorded_attributes& attributes,
                  const replay_options& options)
      : recording_(recording), attributes_(attributes), options_(options) {}

  recorded_programs build();

 private:
  traced_task& task_of(std::int32_t pid);
  void name_task(traced_task& t, std::uint32_t comm, std::int32_t prio, std::uint64_t at_ns);
  void open_window();
  void begin_measuring();
  void on_switch(const event& e);
  void switch_out(traced_task& t, const event& e);
  void switch_in(traced_task& t, const event& e);
  void found_running(traced_task& t, const event& e);
  void lose_cpu(traced_task& t);
  void lose_cpu_to(unsigned cpu, const traced_task* other);
  void measure_run(traced_task& t, std::uint64_t until_ns);
  void on_wakeup(const event& e);
  void on_new_task(const event& e);
  void close_window();
  void close_task(traced_task& t);
  void flush_work(traced_task& t, std::uint64_t at_ns);
  [[nodiscard]] static std::uint64_t consumed_since(const traced_task& t, std::uint64_t since_ns,
                                                    std::uint64_t now_ns);
  void add_edge(traced_task& waker, std::uint32_t target_index, std::uint64_t at_ns);
  void add_external_sleep(traced_task& t, const event& e);
  void make_endless(traced_task& t);
  void begin_segment(traced_task& t, std::uint64_t at_ns);
  [[nodiscard]] traced_task* running_waker(const event& e);
  void apply_attributes(const traced_task& t, task_setup& setup) const;
  [[nodiscard]] std::uint64_t tick_index(std::uint64_t at_ns) const;
  void note(const char* what) { ++anomalies_[what]; }
  void choose_periods();
  [[nodiscard]] recorded_programs finish();

  const trace::recording& recording_;
  const recorded_attributes& attributes_;
  const replay_options& options_;
  recorded_span span_;  // from which programs are built: the window and what leads up to it
  std::uint64_t measured_from_ns_ = 0;
  recorded_machine machine_;
  std::deque<traced_task> tasks_;                           // references stay good while it grows
  std::unordered_map<std::int32_t, std::uint32_t> latest_;  // pid -> task; never iterated
  std::vector<traced_cpu> on_cpu_;
  std::vector<cpu_figures> cpus_;
  std::map<std::string, std::uint64_t> anomalies_;
  bool open_ = false;
  bool measuring_ = false;
};

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
    t.start = start_state::runnable;
    t.start_order_ns = 1;
    t.first_cpu = e.cpu;
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

// Rule 4: the edges of a segment that never ends follow their targets.
void program_builder::make_endless(traced_task& t) {
  if (t.segment_edges.empty()) return;
  program steps(t.steps.begin(),
                t.steps.begin() + static_cast<std::ptrdiff_t>(t.segment_edges.front().wake_step));
  for (std::size_t i = 0; i < t.segment_edges.size(); ++i) {
    const edge& at = t.segment_edges[i];
    const std::size_t next =
        i + 1 < t.segment_edges.size() ? t.segment_edges[i + 1].wake_step : t.steps.size();
    const std::uint32_t target = t.steps[at.wake_step].target;
    if (at.target_blocked_in_segment) {
      // What ran before is waiting for the target to block, but for the first edge's start. Of the
      // time since then only what came after the edge before is left.
      std::uint64_t after_block_ns = 0;
      if (!steps.empty() && steps.back().kind == op_kind::run) {
        op& before = steps.back();
        after_block_ns = std::min(before.value, at.since_block_ns);
        before.value = i == 0 ? before.value - after_block_ns : 0;
        if (before.value == 0) steps.pop_back();
      }
      steps.push_back({op_kind::watch, target, after_block_ns});
      steps.push_back({op_kind::signal, target, 0});
    } else {
      steps.push_back(t.steps[at.wake_step]);
    }
    steps.insert(steps.end(), t.steps.begin() + static_cast<std::ptrdiff_t>(at.wake_step + 1),
                 t.steps.begin() + static_cast<std::ptrdiff_t>(next));
  }
  t.steps = std::move(steps);
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

// Rule 3.
void program_builder::choose_periods() {
  for (traced_task& t : tasks_) {
    if (t.external_wakes.empty() || options_.wakes == external_wakes::relative) continue;
    std::optional<wake_period> found;
    if (options_.wakes == external_wakes::automatic) found = find_period(t.external_wakes);
    if (options_.wakes == external_wakes::absolute || (found && !found->takes_next)) {
      for (const external_wake& wake : t.external_wakes) {
        t.steps[wake.step] = {op_kind::sleep_until, 0, wake.woken_ns - span_.from_ns};
      }
      continue;
    }
    if (!found) continue;
    const auto origin = static_cast<std::uint32_t>(machine_.period_origins_ns.size());
    machine_.period_origins_ns.push_back(found->first_ns - span_.from_ns);
    for (const external_wake& wake : t.external_wakes) {
      t.steps[wake.step] = {op_kind::sleep_to_period, origin, found->period_ns};
    }
  }
}

void program_builder::apply_attributes(const traced_task& t, task_setup& setup) const {
  setup.clock_poll_ns = attributes_.clock_poll_ns;
  if (setup.policy != sched_policy::normal) setup.clock_poll_ns = 0;
  for (const recorded_attributes::task& a : attributes_.tasks) {
    if (!glob_matches(a.pattern, setup.name) && a.pattern != std::to_string(t.pid)) continue;
    if (a.nice) setup.nice = static_cast<int>(*a.nice);
    if (a.slice_ns) setup.slice_ns = *a.slice_ns;
    if (a.clock_poll_ns) setup.clock_poll_ns = *a.clock_poll_ns;
    if (a.policy) setup.policy = *a.policy;
  }
  if (is_real_time(setup.policy)) setup.rt_priority = std::max(setup.rt_priority, 1);
}

recorded_programs program_builder::finish() {
  choose_periods();
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].in_window) order.push_back(i);
  }
  if (order.empty()) {
    throw input_error(fmt::format("{}: no task runs in the window", recording_.path));
  }
  // Those runnable at the start first, in the order in which they waited.
  std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
    const auto rank = [](const traced_task& t) { return t.start == start_state::runnable ? 0 : 1; };
    if (rank(tasks_[a]) != rank(tasks_[b])) return rank(tasks_[a]) < rank(tasks_[b]);
    if (rank(tasks_[a]) == 0) return tasks_[a].start_order_ns < tasks_[b].start_order_ns;
    return tasks_[a].pid < tasks_[b].pid;
  });
  std::vector<std::uint32_t> number(tasks_.size(), 0);
  for (std::uint32_t i = 0; i < order.size(); ++i) number[order[i]] = i;

  recorded_programs result;
  result.span_ns = span_.to_ns - span_.from_ns;
  result.milestones = static_cast<std::uint32_t>(order.size());
  result.figures.label = "recorded";
  result.measure_from_ns = measured_from_ns_ - span_.from_ns;
  result.figures.from_ns = result.measure_from_ns;
  result.figures.to_ns = result.span_ns;
  for (const std::uint32_t i : order) {
    traced_task& t = tasks_[i];
    task_setup setup;
    setup.pid = t.pid;
    setup.name = recording_.strings.text(t.name);
    setup.cpu = t.first_cpu;
    setup.start = t.start;
    if (t.first_prio >= lowest_fair_prio) {
      setup.nice = nice_of(t.first_prio);
    } else {
      setup.policy = sched_policy::fifo;
      setup.rt_priority = rt_priority_of(t.first_prio);
    }
    apply_attributes(t, setup);
    for (op& step : t.steps) {
      switch (step.kind) {
        case op_kind::wake:
        case op_kind::signal:
        case op_kind::fork:
        case op_kind::watch:
          step.target = number[step.target];
          break;
        default:
          break;
      }
    }
    setup.steps = std::move(t.steps);
    t.figures.name = setup.name;
    t.figures.in_fair_class = !is_real_time(setup.policy);
    result.figures.tasks.push_back(t.figures);
    result.figures.work_done_ns =
        std::max(result.figures.work_done_ns,
                 std::max(t.finished_ns, measured_from_ns_) - measured_from_ns_);
    result.tasks.push_back(std::move(setup));
  }
  std::stable_sort(result.figures.tasks.begin(), result.figures.tasks.end(),
                   [](const task_figures& a, const task_figures& b) { return a.pid < b.pid; });
  for (cpu_figures& c : cpus_) {
    const std::uint64_t measured_ns = span_.to_ns - measured_from_ns_;
    c.idle_ns = measured_ns - std::min(c.busy_ns, measured_ns);
    result.figures.cpus.push_back(c);
  }
  result.machine = machine_;
  if (!machine_.tick_phase_known) note("tick phase unknown: taken as 0");
  for (const trace::anomaly& a : recording_.anomalies) anomalies_[a.kind] += a.count;
  result.anomalies.assign(anomalies_.begin(), anomalies_.end());
  result.figures.anomalies = result.anomalies;
  return result;
}

}  // namespace

recorded_programs build_programs(const trace::recording& recording,
                                 const recorded_attributes& attributes,
                                 const replay_options& options) {
  return program_builder(recording, attributes, options).build();
}

}  // namespace vlag

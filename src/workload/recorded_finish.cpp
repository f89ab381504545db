// SPDX-License-Identifier: Apache-2.0
#include "input/input_error.hpp"
#include "input/text.hpp"
#include "workload/recorded_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace vlag {
namespace {

// That many take minutes to simulate.
constexpr std::uint64_t max_events = 2'000'000'000;

int rt_priority_of(std::int32_t prio) { return 99 - std::clamp(prio, -1, 98); }

// The figures of groups are those of the tasks in them.
void sum_groups(const group_list& groups, run_figures& figures) {
  for (const group_setup& g : groups.all()) figures.groups.emplace_back().path = g.path;
  for (const task_figures& t : figures.tasks) {
    for (std::uint32_t number = t.group; number != 0; number = groups.parent_of(number)) {
      group_figures& g = figures.groups[number - 1];
      g.cpu_ns += t.cpu_ns;
      g.switches_in += t.switches_in;
      g.wake_latency.merge(t.wake_latency);
      g.preempt_wait.merge(t.preempt_wait);
    }
  }
}

}  // namespace

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

task_setup program_builder::setup_of(traced_task& t, const std::vector<std::uint32_t>& number) {
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
  return setup;
}

// A tick or a reading of a clock is an event on each CPU that has tasks.
void program_builder::check_events(const recorded_programs& programs) const {
  std::vector<bool> used(machine_.cpus, false);
  std::uint64_t shortest_poll_ns = 0;
  for (const task_setup& setup : programs.tasks) {
    used.at(setup.cpu) = true;
    for (const op& step : setup.steps) {
      if (step.kind == op_kind::move) used.at(step.target) = true;
    }
    if (setup.clock_poll_ns == 0) continue;
    shortest_poll_ns = shortest_poll_ns == 0 ? setup.clock_poll_ns
                                             : std::min(shortest_poll_ns, setup.clock_poll_ns);
  }
  const auto cpus = static_cast<std::uint64_t>(std::count(used.begin(), used.end(), true));
  const std::uint64_t polls = shortest_poll_ns == 0 ? 0 : programs.span_ns / shortest_poll_ns;
  const std::uint64_t events = cpus * (programs.span_ns / machine_.tick_ns + polls);
  if (events <= max_events) return;
  throw input_error(fmt::format(
      "{}: its {} on {} CPUs make {} ticks{}, more than {}; expected --window FROM..TO of less",
      recording_.path, format_duration(programs.span_ns), cpus, events,
      polls == 0 ? "" : " and readings of clocks (clock_poll_us)", max_events));
}

recorded_programs program_builder::finish() {
  choose_periods();
  index_attributes();
  groups_ = attributes_.groups;
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
  result.origin_ns = span_.from_ns - recording_.events.front().time_ns;
  result.measure_from_ns = measured_from_ns_ - span_.from_ns;
  result.figures.from_ns = result.measure_from_ns;
  result.figures.to_ns = result.span_ns;
  for (const std::uint32_t i : order) {
    traced_task& t = tasks_[i];
    task_setup setup = setup_of(t, number);
    t.figures.name = setup.name;
    t.figures.in_fair_class = !is_real_time(setup.policy);
    t.figures.group = static_cast<std::uint16_t>(setup.group);
    result.figures.tasks.push_back(t.figures);
    result.figures.work_done_ns =
        std::max(result.figures.work_done_ns,
                 std::max(t.finished_ns, measured_from_ns_) - measured_from_ns_);
    result.tasks.push_back(std::move(setup));
  }
  sum_groups(groups_, result.figures);
  result.groups = std::move(groups_);
  check_events(result);
  note_unmatched_attributes();
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

  return result;
}

}  // namespace vlag

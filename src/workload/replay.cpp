// SPDX-License-Identifier: Apache-2.0
#include "workload/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "input/input_error.hpp"
#include "input/text.hpp"
#include "machine/machine.hpp"
#include "vlag/sched_attr.hpp"
#include "workload/recorded_programs.hpp"

namespace vlag {
namespace {

// Work that is not done after that many spans of the recording is given up on.
constexpr std::uint64_t max_spans = 2;
// The progress display is told so many times a span.
constexpr unsigned steps_per_span = 200;

// A switch reads its clock before the trace shows it, by that fraction of the delay from a wake-up
// to its switch. Fitted once, to the signal storms recorded on two kernels; no other figure depends
// on it noticeably.
constexpr std::uint64_t clock_lead_divisor = 6;

// A group has an entity and a queue on each CPU.
constexpr std::size_t max_group_parts = 1'000'000;

// A task stays where it was recorded when the mask has that CPU, else goes to the mask's first.
void restrict_cpus(std::uint64_t mask, task_setup& setup) {
  const auto allowed = [mask](std::uint64_t cpu) { return cpu < 64 && (mask >> cpu & 1) != 0; };
  if (!allowed(setup.cpu)) setup.cpu = static_cast<unsigned>(std::countr_zero(mask));
  std::erase_if(setup.steps, [&](const op& step) {
    return step.kind == op_kind::move && !allowed(step.target);
  });
}

void apply_override(const task_override& change, task_setup& setup) {
  switch (change.attribute) {
    case task_attribute::nice:
      setup.nice = static_cast<int>(change.value);
      break;
    case task_attribute::slice:
      setup.slice_ns = change.value == 0 ? 0
                                         : std::clamp(static_cast<std::uint64_t>(change.value),
                                                      shortest_own_slice_ns, longest_own_slice_ns);
      break;
    case task_attribute::latency_nice:
      setup.latency_nice = static_cast<int>(change.value);
      break;
    case task_attribute::policy:
      setup.policy = static_cast<sched_policy>(change.value);
      if (setup.policy == sched_policy::fifo || setup.policy == sched_policy::round_robin) {
        setup.rt_priority = std::max(setup.rt_priority, 1);
      }
      break;
    case task_attribute::cpus:
      restrict_cpus(static_cast<std::uint64_t>(change.value), setup);
      break;
    case task_attribute::group:  // chosen before the machine is made
      break;
  }
}

// latency_nice counts where no slice is asked for here: it replaces a recorded slice.
void apply_overrides(const std::vector<task_override>& changes, task_setup& setup) {
  const std::uint64_t recorded_slice_ns = std::exchange(setup.slice_ns, 0);
  bool keeps_slice = true;
  for (const task_override& change : changes) {
    if (!matches_task(change.pattern, setup.name, setup.pid)) continue;
    apply_override(change, setup);
    if (change.attribute == task_attribute::slice ||
        change.attribute == task_attribute::latency_nice) {
      keeps_slice = false;
    }
  }
  if (keeps_slice) setup.slice_ns = recorded_slice_ns;
}

void make_repeating(task_setup& setup) {
  if (setup.steps.empty() || setup.steps.back().kind != op_kind::end) return;
  // One that needs no CPU time would start again for ever at the same moment.
  if (std::none_of(setup.steps.begin(), setup.steps.end(),
                   [](const op& step) { return step.kind == op_kind::run && step.value != 0; })) {
    return;
  }
  std::erase_if(setup.steps, [](const op& step) { return step.kind == op_kind::milestone; });
  setup.steps.back() = {op_kind::jump, 0, 0};
}

void stop_if_livelocked(const machine& simulated, const recorded_programs& programs) {
  if (simulated.livelocked() == no_task) return;
  throw input_error(fmt::format("task {} of the recording loops without time passing",
                                programs.tasks[simulated.livelocked()].name));
}

// A task that has less than that of the CPU time recorded does not end the span that is compared
// when it runs out of program.
constexpr std::uint64_t mattering_part = 100;

bool matters(const recorded_programs& programs, std::uint32_t number) {
  const std::int32_t pid = programs.tasks[number].pid;
  std::uint64_t all = 0;
  std::uint64_t own = 0;
  for (const task_figures& t : programs.figures.tasks) {
    all += t.cpu_ns;
    if (t.pid == pid) own += t.cpu_ns;
  }
  return own * mattering_part >= all;
}

struct chosen_groups {
  group_list groups;
  std::vector<std::uint32_t> of_task;
};

chosen_groups choose_groups(const recorded_programs& programs, const policy_variant& variant) {
  if (variant.config.engine == fair_engine::paper) {  // knows no groups
    return {{}, std::vector<std::uint32_t>(programs.tasks.size(), 0)};
  }
  chosen_groups chosen{programs.groups, {}};
  for (const task_setup& setup : programs.tasks) {
    std::uint32_t group = setup.group;
    for (const task_override& change : variant.overrides) {
      if (change.attribute == task_attribute::group &&
          matches_task(change.pattern, setup.name, setup.pid)) {
        group = chosen.groups.number_of(change.group);
      }
    }
    chosen.of_task.push_back(group);
  }
  for (const group_override& change : variant.group_files) {
    if (!chosen.groups.has(change.path)) {
      std::vector<std::string_view> paths;
      for (const group_setup& g : chosen.groups.all()) paths.push_back(g.path);
      const auto near = nearest_name(change.path, paths);
      throw input_error(fmt::format(
          "--policy {}: no task is in a group {}{}; expected one of the attributes file, or one "
          "that TASK.group={} makes",
          variant.label, change.path, near ? fmt::format("; did you mean '{}'?", *near) : "",
          change.path));
    }
    chosen.groups.write(change.path, change.file);
  }
  if (chosen.groups.all().size() * programs.machine.cpus > max_group_parts) {
    throw input_error(fmt::format("{} task groups on {} CPUs; expected at most {} together",
                                  chosen.groups.all().size(), programs.machine.cpus,
                                  max_group_parts));
  }
  return chosen;
}

void make_groups(machine& simulated, const group_list& groups, const policy_variant& variant) {
  for (const group_setup& g : groups.all()) {
    if (simulated.add_group(g).error == group_error::none) continue;
    throw input_error(fmt::format("--policy {}: group {}: {}", variant.label, g.path,
                                  group_files_problem(g.files).value_or("cannot be made")));
  }
}

}  // namespace

struct recorded_workload::state {
  recorded_programs programs;
  recorded_attributes attributes;
  replay_options options;
  recorded_span window;
};

recorded_workload::recorded_workload(const trace::recording& recording,
                                     const recorded_attributes& attributes,
                                     const replay_options& options)
    : state_(
          std::make_unique<state>(state{build_programs(recording, attributes, options), attributes,
                                        options, find_window(recording, options.window)})) {}

recorded_workload::~recorded_workload() = default;
recorded_workload::recorded_workload(recorded_workload&&) noexcept = default;

unsigned recorded_workload::cpus() const noexcept { return state_->programs.machine.cpus; }
std::uint64_t recorded_workload::tick_ns() const noexcept {
  return state_->programs.machine.tick_ns;
}
std::uint64_t recorded_workload::window_from_ns() const noexcept { return state_->window.from_ns; }
std::uint64_t recorded_workload::window_to_ns() const noexcept { return state_->window.to_ns; }
const run_figures& recorded_workload::recorded() const noexcept { return state_->programs.figures; }
const std::vector<std::pair<std::string, std::uint64_t>>& recorded_workload::anomalies()
    const noexcept {
  return state_->programs.anomalies;
}

std::uint64_t recorded_workload::after_first_event_ns(std::uint64_t simulated_ns) const noexcept {
  return state_->programs.origin_ns + simulated_ns;
}

replay_moment recorded_workload::moment(const trace::recording& recording, std::string_view option,
                                        std::string_view text) const {
  const recorded_programs& programs = state_->programs;
  const std::uint64_t after_first_event_ns =
      find_moment(recording, option, text) - recording.events.front().time_ns;
  const std::uint64_t from_ns = programs.origin_ns + programs.measure_from_ns;
  const std::uint64_t to_ns = programs.origin_ns + programs.span_ns;
  if (after_first_event_ns < from_ns || after_first_event_ns > to_ns) {
    throw input_error(fmt::format("{}: {} lies outside of --window, which spans {} .. {}", option,
                                  text, format_duration(from_ns), format_duration(to_ns)));
  }
  return {after_first_event_ns - programs.origin_ns, after_first_event_ns};
}

std::unique_ptr<machine> recorded_workload::prepare(const policy_variant& variant,
                                                    machine_observer* observer) const {
  const recorded_programs& programs = state_->programs;
  const recorded_machine& recorded = programs.machine;
  machine_config config;
  config.cpus = recorded.cpus;
  config.tick_ns = recorded.tick_ns;
  config.tick_phase_ns = recorded.tick_phase_ns;
  config.tick_timer_delay_ns = recorded.tick_timer_delay_ns;
  config.tick_switch_delay_ns = recorded.tick_timer_delay_ns;
  config.switch_delay_ns = recorded.switch_delay_ns;
  config.idle_switch_delay_ns = recorded.idle_switch_delay_ns;
  config.switch_clock_lead_ns = recorded.switch_delay_ns / clock_lead_divisor;
  config.period_origins_ns = recorded.period_origins_ns;
  config.hrtick = variant.hrtick;
  config.seed = state_->options.seed;
  const chosen_groups chosen = choose_groups(programs, variant);
  auto simulated = std::make_unique<machine>(config, variant.config, programs.tasks.size(),
                                             chosen.groups.all().size());
  simulated->set_observer(observer);
  make_groups(*simulated, chosen.groups, variant);
  for (std::size_t i = 0; i < programs.tasks.size(); ++i) {
    task_setup setup = programs.tasks[i];
    setup.group = chosen.of_task[i];
    apply_overrides(variant.overrides, setup);
    if (state_->options.repeat) make_repeating(setup);
    simulated->add_task(std::move(setup));
  }
  return simulated;
}

// Runs up to where the window begins.
void recorded_workload::run_to_window(machine& simulated) const {
  const recorded_programs& programs = state_->programs;
  while (simulated.run_until(programs.measure_from_ns) == machine::stop_reason::program_ended) {
    stop_if_livelocked(simulated, programs);
  }
  simulated.reset_figures();
}

recorded_workload::stopped_machine recorded_workload::run_to(const policy_variant& variant,
                                                             const replay_moment& when,
                                                             pick_observer* observer) const {
  const recorded_programs& programs = state_->programs;
  stopped_machine result{prepare(variant, nullptr), {}};
  machine& simulated = *result.simulated;
  if (observer != nullptr) simulated.observe_picks(*observer);
  run_to_window(simulated);
  while (simulated.run_until(when.simulated_ns) == machine::stop_reason::program_ended) {
    stop_if_livelocked(simulated, programs);
    const std::uint32_t ended = simulated.program_ended_by();
    if (!state_->options.repeat && matters(programs, ended)) {
      result.ran_out.push_back(programs.tasks[ended].name);
    }
  }
  return result;
}

run_figures recorded_workload::simulate(const policy_variant& variant,
                                        const std::function<void(unsigned)>& progress,
                                        machine_observer* observer) const {
  const recorded_programs& programs = state_->programs;
  const std::unique_ptr<machine> prepared = prepare(variant, observer);
  machine& simulated = *prepared;
  if (state_->options.count_decisions) simulated.count_decisions();
  run_to_window(simulated);

  const std::uint64_t span = programs.span_ns;
  const std::uint64_t limit = span * max_spans;
  std::optional<run_figures> frozen;
  const auto freeze = [&] {
    frozen = simulated.figures();
    if (observer != nullptr) observer->on_end(simulated.now_ns());
    simulated.set_observer(nullptr);
  };
  unsigned told = 0;
  while (simulated.now_ns() < limit) {
    const std::uint64_t chunk = std::min(limit, span * (std::uint64_t{told} + 1) / steps_per_span);
    const auto reason = simulated.run_until(chunk);
    stop_if_livelocked(simulated, programs);
    if (reason == machine::stop_reason::program_ended) {
      if (!frozen && !state_->options.repeat && matters(programs, simulated.program_ended_by())) {
        freeze();
      }
      continue;
    }
    if (++told <= steps_per_span && progress) progress(told * 1000 / steps_per_span);
    if (told == steps_per_span && !frozen) freeze();
    const bool all_done = simulated.milestones() == programs.milestones;
    if (told >= steps_per_span && (all_done || state_->options.repeat)) break;
  }
  if (!frozen) freeze();
  run_figures result = std::move(*frozen);
  result.label = variant.label;
  const std::uint64_t window = span - programs.measure_from_ns;
  if ((result.to_ns - result.from_ns) * 2 < window) {
    result.anomalies.emplace_back(
        fmt::format("a task ran out of recorded work early: these figures cover only {} of {}",
                    format_duration(result.to_ns - result.from_ns), format_duration(window)),
        1);
  }
  if (simulated.milestones() == programs.milestones) {
    result.work_done_ns = simulated.last_milestone_ns() -
                          std::min(simulated.last_milestone_ns(), programs.measure_from_ns);
  }
  return result;
}

}  // namespace vlag

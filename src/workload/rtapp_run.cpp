// SPDX-License-Identifier: Apache-2.0
#include "workload/rtapp_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "input/input_error.hpp"
#include "input/printable.hpp"
#include "machine/machine.hpp"
#include "workload/overrides.hpp"
#include "workload/rtapp_log.hpp"

namespace vlag {
namespace {

constexpr unsigned pieces = 100;  // in which a run is simulated, for the progress
constexpr std::size_t max_told = 8;

void make_objects(machine& m, const rtapp_workload& w) {
  for (const mutex_kind kind : w.mutexes) m.add_mutex(kind);
  for (const std::uint32_t users : w.barriers) m.add_barrier(users);
  for (std::uint32_t i = 0; i < w.conditions; ++i) m.add_condition();
  for (std::uint32_t i = 0; i < w.semaphores; ++i) m.add_semaphore();
  for (std::uint32_t i = 0; i < w.timers; ++i) m.add_timer();
  for (const std::uint32_t bytes : w.pipes) m.add_pipe(bytes);
}

text_place place_of(const machine& m, const rtapp_workload& w, std::uint32_t task) {
  const auto& places = w.places[task];
  const std::size_t next = std::min<std::size_t>(m.step_of(task), places.size());
  return places[next == 0 ? 0 : next - 1];
}

// "a at 3:7, b at 9:1 and 4 more"
std::string tasks_told(const machine& m, const rtapp_workload& w,
                       const std::vector<std::uint32_t>& tasks) {
  std::string result;
  for (std::size_t i = 0; i < tasks.size() && i < max_told; ++i) {
    const text_place at = place_of(m, w, tasks[i]);
    result += fmt::format("{}{} at {}:{}", i == 0 ? "" : ", ", printable(w.tasks[tasks[i]].name),
                          at.line, at.column);
  }
  if (tasks.size() > max_told) result += fmt::format(" and {} more", tasks.size() - max_told);
  return result;
}

[[noreturn]] void stop_as_livelocked(const machine& m, const rtapp_workload& w) {
  const std::uint32_t task = m.livelocked();
  const std::vector<std::uint32_t>& tasks = m.livelocked_tasks();
  const std::string who =
      tasks.size() < 2
          ? fmt::format("task {} loops here without time passing", printable(w.tasks[task].name))
          : fmt::format("{} tasks go round without time passing ({})", tasks.size(),
                        tasks_told(m, w, tasks));
  throw input_error(at_place(
      w.name, place_of(m, w, task),
      fmt::format("{}, at {} us; expected a run or a sleep in the loop", who, m.now_ns() / 1'000)));
}

void stop_if_wrong(const machine& m, const rtapp_workload& w) {
  if (m.livelocked() != no_task) stop_as_livelocked(m, w);
  if (m.out_of_forks() != no_task) {
    throw input_error(
        at_place(w.name, place_of(m, w, m.out_of_forks()),
                 fmt::format("task {} forks once too often; expected at most {} of one task",
                             printable(w.tasks[m.out_of_forks()].name), max_rtapp_forks)));
  }
}

std::string name_in(const std::vector<std::string>& names, std::uint32_t number) {
  return number < names.size() ? printable(names[number]) : std::string();
}

// "for mutex m that b-0 has", "for 3 tasks at barrier b"
std::string waited_for(const machine& m, const rtapp_workload& w, const op& at) {
  switch (at.kind) {
    case op_kind::lock: {
      const std::uint32_t owner = m.owner_of(at.target);
      return fmt::format("for mutex {} that {} has", name_in(w.mutex_names, at.target),
                         owner == no_task ? "nobody" : printable(w.tasks[owner].name));
    }
    case op_kind::barrier:
      return fmt::format("for {} tasks at barrier {}", w.barriers[at.target],
                         name_in(w.barrier_names, at.target));
    case op_kind::sem_wait:
      return "for semaphore " + name_in(w.semaphore_names, at.target);
    case op_kind::cond_wait:
      return "to be woken as " + name_in(w.condition_names, at.target);
    default:
      return "for bytes in a pipe, or room";
  }
}

void tell_waiting(const machine& m, const rtapp_workload& w, run_figures& figures) {
  std::string who;
  std::uint64_t count = 0;
  for (std::uint32_t i = 0; i < w.tasks.size(); ++i) {
    if (!m.waits_for_others(i) || ++count > max_told) continue;
    const std::uint32_t step = m.waits_at(i);
    const text_place at = w.places[i][step];
    who += fmt::format("{}{} at {}:{} {}", who.empty() ? "" : ", ", printable(w.tasks[i].name),
                       at.line, at.column, waited_for(m, w, w.tasks[i].steps[step]));
  }
  if (count > max_told) who += fmt::format(" and {} more", count - max_told);
  if (count > 0) figures.anomalies.emplace_back("tasks wait for good: " + who, count);
}

void drop_unborn(const rtapp_workload& w, run_figures& figures) {
  figures.task_loads.clear();  // they go with all tasks
  std::erase_if(figures.tasks, [&](const task_figures& t) {
    const auto number = static_cast<std::size_t>(t.pid) - 1;
    return w.tasks[number].start == start_state::unborn && t.wakeups == 0;
  });
}

std::unique_ptr<machine> prepare(const rtapp_workload& workload, const policy_variant& variant,
                                 const rtapp_run_options& options, machine_observer* observer) {
  machine_config config = workload.block.machine;
  config.cpus = workload.cpus;
  config.period_origins_ns = {0};
  config.hrtick = config.hrtick || variant.hrtick;
  config.seed = options.seed;
  const chosen_groups chosen =
      choose_groups(workload.tasks, workload.groups, workload.cpus, variant);
  auto m = std::make_unique<machine>(config, variant.config, workload.tasks.size(),
                                     chosen.groups.all().size());
  m->set_observer(observer);
  make_groups(*m, chosen.groups, variant);
  make_objects(*m, workload);
  for (std::size_t i = 0; i < workload.tasks.size(); ++i) {
    task_setup setup = workload.tasks[i];
    setup.group = chosen.of_task[i];
    apply_overrides(variant.overrides, setup);
    m->add_task(std::move(setup));
  }
  if (observer != nullptr) observer->on_measuring(0);
  return m;
}

}  // namespace

std::uint64_t longest_run_ns(const rtapp_workload& workload,
                             const rtapp_run_options& options) noexcept {
  if (options.duration_ns) return *options.duration_ns;
  return workload.duration_ns.value_or(longest_unlimited_run_ns);
}

run_figures run_rtapp(const rtapp_workload& workload, const policy_variant& variant,
                      const rtapp_run_options& options,
                      const std::function<void(unsigned)>& progress, machine_observer* observer) {
  const std::unique_ptr<machine> prepared = prepare(workload, variant, options, observer);
  machine& m = *prepared;
  if (options.count_decisions) m.count_decisions();
  if (options.log != nullptr) m.observe_notes(*options.log);

  const bool limited = options.duration_ns || workload.duration_ns;
  const std::uint64_t end_ns = longest_run_ns(workload, options);
  bool stuck = false;
  bool done = false;
  for (unsigned piece = 1; piece <= pieces && !done; ++piece) {
    const machine::stop_reason why =
        m.run_until(end_ns / pieces * piece + (piece == pieces ? end_ns % pieces : 0));
    stop_if_wrong(m, workload);
    stuck = why == machine::stop_reason::nothing_left && m.alive() != 0;
    done = why == machine::stop_reason::program_ended;
    if (progress) progress(piece * 1000 / pieces);
  }
  run_figures figures = m.figures();
  if (observer != nullptr) observer->on_end(m.now_ns());
  m.set_observer(nullptr);
  figures.label = variant.label;
  if (stuck) tell_waiting(m, workload, figures);
  if (!done && !limited && !stuck) {
    figures.anomalies.emplace_back(
        "the file sets no duration: stopped after 60 s; --duration sets one", 1);
  }
  drop_unborn(workload, figures);
  return figures;
}

std::unique_ptr<machine> run_rtapp_to(const rtapp_workload& workload, const policy_variant& variant,
                                      const rtapp_run_options& options, std::uint64_t at_ns,
                                      pick_observer* observer) {
  std::unique_ptr<machine> m = prepare(workload, variant, options, nullptr);
  if (observer != nullptr) m->observe_picks(*observer);
  static_cast<void>(m->run_until(at_ns));
  stop_if_wrong(*m, workload);
  return m;
}

}  // namespace vlag

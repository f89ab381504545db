// SPDX-License-Identifier: Apache-2.0
#include "workload/expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "input/text.hpp"
#include "workload/variant.hpp"

namespace vlag {
namespace {

__extension__ using wide = unsigned __int128;

constexpr std::uint64_t million = 1'000'000;
constexpr std::uint64_t largest_ratio = std::uint64_t{1} << 63;

struct measure_info {
  std::string_view name;
  std::string_view words;
  figure_unit unit;
  bool of_groups;
};

// In the order of figure_measure.
constexpr std::array<measure_info, 15> measures{{
    {"share", "CPU share", figure_unit::ppm, true},
    {"runtime", "CPU time", figure_unit::ns, true},
    {"switches", "switches", figure_unit::count, true},
    {"preemptions", "preemptions", figure_unit::count, false},
    {"wakeups", "wake-ups", figure_unit::count, false},
    {"run_mean", "CPU time a switch", figure_unit::ns, true},
    {"mean", "mean delay", figure_unit::ns, true},
    {"p50", "P50 delay", figure_unit::ns, true},
    {"p90", "P90 delay", figure_unit::ns, true},
    {"p99", "P99 delay", figure_unit::ns, true},
    {"max", "longest delay", figure_unit::ns, true},
    {"wake_mean", "mean wake-up delay", figure_unit::ns, true},
    {"wake_p99", "P99 wake-up delay", figure_unit::ns, true},
    {"wake_max", "longest wake-up delay", figure_unit::ns, true},
    {"finished", "end", figure_unit::ns, false},
}};

const measure_info& info_of(figure_measure what) {
  return measures[static_cast<std::size_t>(what)];
}

// What the tasks or the group that are meant have together.
struct sums {
  task_figures all;  // of a group what a group has
  std::uint64_t last_exit_ns = 0;
  bool all_exited = true;
  bool any = false;
};

void add_exit(sums& s, const task_figures& task, const run_figures& run) {
  const auto exit =
      std::lower_bound(run.exits.begin(), run.exits.end(), task.pid,
                       [](const task_exit& e, std::int32_t pid) { return e.pid < pid; });
  if (exit == run.exits.end() || exit->pid != task.pid) {
    s.all_exited = false;
  } else {
    s.last_exit_ns = std::max(s.last_exit_ns, exit->at_ns);
  }
}

sums sums_of(const figure_choice& which, const run_figures& run) {
  sums s;
  for (const group_figures& g : run.groups) {
    if (which.group.empty() || g.path != which.group) continue;
    s.any = true;
    s.all.cpu_ns = g.cpu_ns;
    s.all.switches_in = g.switches_in;
    s.all.wake_latency = g.wake_latency;
    s.all.preempt_wait = g.preempt_wait;
  }
  if (!which.group.empty()) return s;
  for (const task_figures& t : run.tasks) {
    if (!which.task.empty() && !matches_task(which.task, t.name, t.pid)) continue;
    s.any = true;
    add_figures(s.all, t);
    add_exit(s, t, run);
  }
  return s;
}

struct measured {
  std::optional<std::uint64_t> value;
  std::string_view why_not;
};

measured waits(const duration_histogram& h, std::uint64_t value) {
  if (h.count() == 0) return {std::nullopt, "no waits"};
  return {value, {}};
}

measured measure(const figure_choice& which, const run_figures& run) {
  const sums s = sums_of(which, run);
  if (!s.any) return {std::nullopt, "nothing of that name ran"};
  const duration_histogram delay = delay_of(s.all);
  const duration_histogram& woken = s.all.wake_latency;
  const std::uint64_t span_ns = (run.to_ns - run.from_ns) * run.cpus.size();
  switch (which.what) {
    case figure_measure::share:
      if (span_ns == 0) return {std::nullopt, "no time passed"};
      return {static_cast<std::uint64_t>(wide{s.all.cpu_ns} * million / span_ns), {}};
    case figure_measure::runtime:
      return {s.all.cpu_ns, {}};
    case figure_measure::switches:
      return {s.all.switches_in, {}};
    case figure_measure::preemptions:
      return {s.all.involuntary, {}};
    case figure_measure::wakeups:
      return {s.all.wakeups, {}};
    case figure_measure::run_mean:
      if (s.all.switches_in == 0) return {std::nullopt, "no switches"};
      return {s.all.cpu_ns / s.all.switches_in, {}};
    case figure_measure::mean:
      return waits(delay, delay.mean_ns());
    case figure_measure::p50:
      return waits(delay, delay.quantile_ns(500));
    case figure_measure::p90:
      return waits(delay, delay.quantile_ns(900));
    case figure_measure::p99:
      return waits(delay, delay.quantile_ns(990));
    case figure_measure::max:
      return waits(delay, delay.max_ns());
    case figure_measure::wake_mean:
      return waits(woken, woken.mean_ns());
    case figure_measure::wake_p99:
      return waits(woken, woken.quantile_ns(990));
    case figure_measure::wake_max:
      return waits(woken, woken.max_ns());
    case figure_measure::finished:
      break;
  }
  if (!s.all_exited) return {std::nullopt, "not finished"};
  return {s.last_exit_ns - run.from_ns, {}};
}

measured ratio_of(const measured& a, const measured& b) {
  if (!a.value) return a;
  if (!b.value) return b;
  if (*b.value == 0) return {std::nullopt, "the second figure is 0"};
  const wide ratio = wide{*a.value} * million / *b.value;
  return {ratio > largest_ratio ? largest_ratio : static_cast<std::uint64_t>(ratio), {}};
}

std::string decimal(std::uint64_t millionths) {
  std::string text = fmt::format("{}.{:06}", millionths / million, millionths % million);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string shown(figure_unit unit, std::uint64_t value) {
  switch (unit) {
    case figure_unit::ppm:
      return decimal(value * 100) + " %";
    case figure_unit::ns:
      return format_duration(value);
    case figure_unit::ratio:
      return decimal(value);
    case figure_unit::count:
      break;
  }
  return fmt::format("{}", value);
}

std::string who_of(const figure_choice& which) {
  const std::string& who = which.group.empty() ? which.task : which.group;
  return fmt::format("{} of {}", info_of(which.what).words, who.empty() ? "all tasks" : who);
}

std::string name_of(const figure_choice& which, const run_figures& run) {
  return fmt::format("{} under {}", who_of(which), run.label);
}

// Of two figures what they share is said once.
std::string name_of(const figure_choice& a, const run_figures& run, const figure_choice& b,
                    const run_figures& other) {
  if (&run == &other) {
    return fmt::format("{} / {} under {}", who_of(a), who_of(b), run.label);
  }
  return fmt::format("{} / {}", name_of(a, run),
                     who_of(a) == who_of(b) ? "that under " + other.label : name_of(b, other));
}

std::string bounds_of(const expectation& e, figure_unit unit) {
  if (!e.max) return "at least " + shown(unit, *e.min);
  if (!e.min) return "at most " + shown(unit, *e.max);
  if (*e.min == *e.max) return shown(unit, *e.min);
  return shown(unit, *e.min) + " to " + shown(unit, *e.max);
}

judged_expectation judge_one(const expectation& e, std::size_t policy,
                             std::span<const run_figures> runs) {
  judged_expectation j;
  measured seen = measure(e.figure, runs[policy]);
  j.says = e.says;
  j.figure = name_of(e.figure, runs[policy]);
  j.unit = unit_of(e.figure.what);
  if (e.over) {
    const run_figures& other = runs[e.over->policy == 0 ? policy : e.over->policy - 1];
    seen = ratio_of(seen, measure(*e.over, other));
    j.figure = name_of(e.figure, runs[policy], *e.over, other);
    j.unit = figure_unit::ratio;
  }
  j.number = seen.value;
  j.min = e.min;
  j.max = e.max;
  j.value = seen.value ? shown(j.unit, *seen.value) : std::string(seen.why_not);
  j.expected = bounds_of(e, j.unit);
  j.holds = seen.value && *seen.value >= e.min.value_or(0) &&
            *seen.value <= e.max.value_or(std::numeric_limits<std::uint64_t>::max());
  return j;
}

}  // namespace

std::optional<figure_measure> measure_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < measures.size(); ++i) {
    if (measures[i].name == name) return static_cast<figure_measure>(i);
  }
  return std::nullopt;
}

std::string measure_names() {
  std::string all;
  for (const measure_info& m : measures) {
    all += all.empty() ? "" : ", ";
    all += m.name;
  }
  return all;
}

figure_unit unit_of(figure_measure what) noexcept { return info_of(what).unit; }
bool groups_have(figure_measure what) noexcept { return info_of(what).of_groups; }

std::vector<judged_expectation> judge(std::span<const expectation> expectations,
                                      std::span<const run_figures> runs) {
  std::vector<judged_expectation> all;
  for (const expectation& e : expectations) {
    const std::size_t first = e.figure.policy == 0 ? 0 : e.figure.policy - 1;
    const std::size_t last = e.figure.policy == 0 ? runs.size() : e.figure.policy;
    for (std::size_t policy = first; policy < last; ++policy) {
      all.push_back(judge_one(e, policy, runs));
    }
  }
  return all;
}

}  // namespace vlag

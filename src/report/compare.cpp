// SPDX-License-Identifier: Apache-2.0
#include "report/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "input/printable.hpp"
#include "report/text_table.hpp"

namespace vlag {
namespace {

constexpr std::uint64_t smallest_delay_ns = 100'000;
constexpr std::uint64_t smallest_share_ppm = 1'000;
constexpr std::uint64_t telling_share_ppm = 10'000;
constexpr std::uint64_t waits_for_mean = 20;
constexpr std::uint64_t waits_for_p99 = 100;
constexpr std::uint64_t telling_ratio_per_mille = 1'100;

// One name over all runs.
struct compared_group {
  std::string name;
  std::string title;
  std::size_t tasks = 0;
  std::uint64_t share = 0;  // the largest, ppm
  bool has_row = false;
  std::vector<name_group> in_run;  // one a run; without tasks where the run has none of that name
};

// Looked up only, never gone through: their order is not that of anything.
using name_set = std::unordered_set<std::string_view>;

// The names of groups with a task that the filter takes.
name_set names_with(const run_figures& run, const task_filter& filter) {
  name_set names;
  if (!filter) return names;
  for (const task_figures& task : run.tasks) {
    if (filter(task)) names.insert(group_name(task.name));
  }
  return names;
}

std::vector<compared_group> compare_groups(std::span<const run_figures* const> runs,
                                           const task_filter& which) {
  std::vector<compared_group> result;
  std::unordered_map<std::string, std::size_t> place;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (name_group& group : group_tasks(*runs[r], which)) {
      const auto [known, is_new] = place.try_emplace(group.name, result.size());
      if (is_new) {
        compared_group& added = result.emplace_back();
        added.name = group.name;
        added.in_run.resize(runs.size());
      }
      compared_group& at = result[known->second];
      if (group.tasks > at.tasks) {
        at.tasks = group.tasks;
        at.title = group_title(group);
      }
      at.share = std::max(at.share, share_ppm(*runs[r], group.sum.cpu_ns));
      at.in_run[r] = std::move(group);
    }
  }
  return result;
}

// Groups with rows first, the largest share first; the rest behind them.
std::vector<compared_group> ordered_groups(std::span<const run_figures* const> runs,
                                           const row_choice& choice) {
  std::vector<compared_group> groups = compare_groups(runs, choice.only);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.share > b.share; });
  const name_set shown_always = names_with(*runs.front(), choice.always);
  std::size_t rows = 0;
  for (compared_group& group : groups) {
    const bool always = choice.only || shown_always.contains(group.name);
    group.has_row = always || (group.share >= choice.min_share_ppm && rows < choice.max_rows);
    if (group.has_row) ++rows;
  }
  std::stable_partition(groups.begin(), groups.end(), [](const auto& g) { return g.has_row; });
  return groups;
}

void add_lines(text_table& table, std::span<const run_figures* const> runs,
               const compared_group& group) {
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const name_group& g = group.in_run[r];
    const bool waited = g.delay.count() > 0;
    table.add_row(
        {r == 0 ? group.title : "", runs[r]->label, as_percent(share_ppm(*runs[r], g.sum.cpu_ns)),
         fmt::format("{}", g.sum.switches_in), waited ? as_ms(g.delay.mean_ns()) : "-",
         waited ? as_ms(g.delay.quantile_ns(990)) : "-", waited ? as_ms(g.delay.max_ns()) : "-"});
  }
}

// Everything that has no row, as one group.
compared_group rest_of(std::span<const run_figures* const> runs, const row_choice& choice,
                       const std::vector<compared_group>& groups) {
  name_set with_row;
  for (const compared_group& group : groups) {
    if (group.has_row) with_row.insert(group.name);
  }
  compared_group rest;
  rest.in_run.resize(runs.size());
  for (std::size_t r = 0; r < runs.size(); ++r) {
    name_group& sum = rest.in_run[r];
    for (const task_figures& task : runs[r]->tasks) {
      const bool shown =
          (!choice.only || choice.only(task)) && with_row.contains(group_name(task.name));
      if (shown) continue;
      ++sum.tasks;
      add_figures(sum.sum, task);
    }
    sum.delay = delay_of(sum.sum);
    rest.tasks = std::max(rest.tasks, sum.tasks);
  }
  rest.title = rest.tasks == 1 ? "(1 other)" : fmt::format("({} others)", rest.tasks);
  return rest;
}

enum class measure : std::uint8_t { p99_delay, mean_delay, share };

struct change {
  std::uint64_t ratio_per_mille = 0;
  measure what = measure::share;
  const compared_group* group = nullptr;
  std::size_t run = 0;
  std::uint64_t before = 0;
  std::uint64_t after = 0;
};

std::optional<std::uint64_t> value_of(measure what, const run_figures& run,
                                      const name_group& group) {
  switch (what) {
    case measure::p99_delay:
      if (group.delay.count() < waits_for_p99) return std::nullopt;
      return group.delay.quantile_ns(990);
    case measure::mean_delay:
      if (group.delay.count() < waits_for_mean) return std::nullopt;
      return group.delay.mean_ns();
    case measure::share:
      break;
  }
  return share_ppm(run, group.sum.cpu_ns);
}

std::uint64_t floor_of(measure what) {
  return what == measure::share ? smallest_share_ppm : smallest_delay_ns;
}

std::uint64_t ratio(measure what, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t low = std::max(std::min(a, b), floor_of(what));
  const std::uint64_t high = std::max(std::max(a, b), floor_of(what));
  return muldiv(high, 1000, low);
}

std::string_view direction(measure what, bool grew) {
  if (what == measure::share) return grew ? "more" : "less";
  return grew ? "longer" : "shorter";
}

// The ratio is a lower bound when one of the two was raised to the floor.
std::string sentence(const change& c, const run_figures& base, const run_figures& run) {
  const std::uint64_t low = std::min(c.before, c.after);
  const std::string factor =
      fmt::format("{}{}", low < floor_of(c.what) ? "more than " : "", as_ratio(c.ratio_per_mille));
  const std::string_view way = direction(c.what, c.after > c.before);
  if (c.what == measure::share) {
    return fmt::format(
        "What changed most: the CPU share of {} is {} % under {} instead of {} % under {}: {} by a "
        "factor of {}.",
        c.group->title, as_percent(c.after), printable(run.label), as_percent(c.before),
        printable(base.label), way, factor);
  }
  return fmt::format(
      "What changed most: the {} delay of {} is {} ms under {} instead of {} ms under {}: {} by a "
      "factor of {}.",
      c.what == measure::p99_delay ? "P99" : "average", c.group->title, as_ms(c.after),
      printable(run.label), as_ms(c.before), printable(base.label), way, factor);
}

}  // namespace

std::string comparison_table(std::span<const run_figures* const> runs, const row_choice& choice) {
  text_table table({{"Task", align::left},
                    {"Policy", align::left},
                    {"CPU %"},
                    {"Switches"},
                    {"Avg delay ms"},
                    {"P99 ms"},
                    {"Max delay ms"}});
  const std::vector<compared_group> groups = ordered_groups(runs, choice);
  bool first = true;
  for (const compared_group& group : groups) {
    if (!group.has_row) continue;
    if (!first) table.add_gap();
    first = false;
    add_lines(table, runs, group);
  }
  if (const compared_group rest = rest_of(runs, choice, groups); rest.tasks > 0) {
    if (!first) table.add_gap();
    add_lines(table, runs, rest);
  }
  return table.text();
}

namespace {

std::uint64_t span_of(const run_figures& run) { return run.to_ns - run.from_ns; }

bool covers_little(const run_figures& recorded, const run_figures& run) {
  return span_of(run) * 2 < span_of(recorded);
}

// One that waited for half of the run or more, and for less than a quarter in the base.
const task_figures* starving_task(const run_figures& base, const run_figures& run) {
  for (const task_figures& t : run.tasks) {
    if ((t.max_wait_to_ns - t.max_wait_from_ns) * 2 < span_of(run) || span_of(run) == 0) continue;
    const auto was = std::find_if(base.tasks.begin(), base.tasks.end(),
                                  [&](const task_figures& b) { return b.pid == t.pid; });
    if (was == base.tasks.end()) continue;
    if ((was->max_wait_to_ns - was->max_wait_from_ns) * 4 < span_of(base)) return &t;
  }
  return nullptr;
}

}  // namespace

change_summary biggest_change(std::span<const run_figures* const> runs, const row_choice& choice,
                              first_run first) {
  assert(runs.size() >= 2);
  const bool recorded = first == first_run::recorded;
  const std::size_t base = recorded && runs.size() > 2 ? 1 : 0;
  const std::vector<compared_group> groups = ordered_groups(runs, choice);
  for (std::size_t r = base + 1; r < runs.size(); ++r) {
    if (const task_figures* t = starving_task(*runs[base], *runs[r]); t != nullptr) {
      return {fmt::format("{} starves under {}: it waited {} ms for the CPU in one go.",
                          shown_name(t->name), printable(runs[r]->label),
                          as_ms(t->max_wait_to_ns - t->max_wait_from_ns)),
              base, r};
    }
  }
  change most;
  for (std::size_t r = base + 1; r < runs.size(); ++r) {
    if (recorded && covers_little(*runs[0], *runs[r])) continue;
    for (const compared_group& group : groups) {
      if (!group.has_row) continue;
      for (const measure what : {measure::p99_delay, measure::mean_delay, measure::share}) {
        const auto before = value_of(what, *runs[base], group.in_run[base]);
        const auto after = value_of(what, *runs[r], group.in_run[r]);
        if (!before || !after) continue;
        if (what == measure::share && std::max(*before, *after) < telling_share_ppm) continue;
        const std::uint64_t by = ratio(what, *before, *after);
        if (by > most.ratio_per_mille) most = {by, what, &group, r, *before, *after};
      }
    }
  }
  if (most.ratio_per_mille < telling_ratio_per_mille) {
    return {fmt::format("No average delay, P99 or CPU share that rests on enough waits changed by "
                        "more than a tenth against {}.",
                        printable(runs[base]->label)),
            base, runs.size() - 1};
  }
  return {sentence(most, *runs[base], *runs[most.run]), base, most.run};
}

std::string what_changed_most(std::span<const run_figures* const> runs, const row_choice& choice,
                              first_run first) {
  return biggest_change(runs, choice, first).sentence;
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "report/self_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_map>

#include "input/printable.hpp"
#include "report/task_groups.hpp"
#include "report/text_table.hpp"

namespace vlag {
namespace {

constexpr std::uint64_t min_share_ppm = 10'000;
constexpr std::uint64_t share_bound_ppm = 10'000;
constexpr std::uint64_t switches_bound = 10;
constexpr std::uint64_t latency_bound_ns = 100'000;
constexpr std::uint64_t wakeups_for_mean = 30;
constexpr std::uint64_t wakeups_for_p99 = 500;

std::uint64_t two_standard_errors(const duration_histogram& h) {
  return static_cast<std::uint64_t>(2.0 * std::sqrt(h.variance() / static_cast<double>(h.count())));
}

check_cell switches_cell(const std::string& group, std::uint64_t recorded, std::uint64_t replayed) {
  return {group, check_measure::switches, recorded, replayed,
          std::max(recorded / 10, switches_bound)};
}

// Not printable(): the results as JSON keep names as they are.
std::string exact_title(const name_group& group) {
  if (group.tasks > 1) return fmt::format("{} ({})", group.name, group.tasks);
  return group.one_name.empty() ? shown_name("") : group.one_name;
}

void add_cells(std::vector<check_cell>& cells, const run_figures& recorded, const name_group& was,
               const run_figures& replayed, const name_group& is) {
  const std::string name = exact_title(was);
  const std::uint64_t share = share_ppm(recorded, was.sum.cpu_ns);
  cells.push_back(
      {name, check_measure::share, share, share_ppm(replayed, is.sum.cpu_ns), share_bound_ppm});
  cells.push_back(switches_cell(name, was.sum.switches_in, is.sum.switches_in));
  const duration_histogram& before = was.sum.wake_latency;
  const duration_histogram& after = is.sum.wake_latency;
  if (before.count() >= wakeups_for_mean) {
    cells.push_back(
        {name, check_measure::wake_mean, before.mean_ns(), after.mean_ns(),
         std::max({before.mean_ns() / 4, latency_bound_ns, two_standard_errors(before)})});
  }
  if (before.count() >= wakeups_for_p99) {
    const std::uint64_t p99 = before.quantile_ns(990);
    cells.push_back({name, check_measure::wake_p99, p99, after.quantile_ns(990),
                     std::max(p99 / 4, latency_bound_ns)});
  }
}

void add_cells(std::vector<check_cell>& cells, const run_figures& recorded,
               const group_figures& was, const run_figures& replayed, const group_figures& is) {
  cells.push_back({was.path, check_measure::share, share_ppm(recorded, was.cpu_ns),
                   share_ppm(replayed, is.cpu_ns), share_bound_ppm});
  cells.push_back(switches_cell(was.path, was.switches_in, is.switches_in));
}

check_cell work_cell(const run_figures& recorded, const run_figures& replayed) {
  const std::uint64_t done =
      recorded.work_done_ns != 0 ? recorded.work_done_ns : recorded.to_ns - recorded.from_ns;
  return {"", check_measure::work_done, done, replayed.work_done_ns, done / 50};
}

std::vector<check_cell> total_cells(const run_figures& recorded, const run_figures& replayed) {
  task_figures was;
  task_figures is;
  for (const task_figures& task : recorded.tasks) add_figures(was, task);
  for (const task_figures& task : replayed.tasks) add_figures(is, task);
  return {{"", check_measure::share, share_ppm(recorded, was.cpu_ns),
           share_ppm(replayed, is.cpu_ns), share_bound_ppm},
          switches_cell("", was.switches_in, is.switches_in)};
}

void add_check_row(text_table& table, const check_cell& cell) {
  const bool not_done = cell.measure == check_measure::work_done && cell.replayed == 0;
  table.add_row({cell.group.empty() ? "(all)" : cell.group, std::string(to_string(cell.measure)),
                 check_value(cell.measure, cell.recorded),
                 not_done ? "not done" : check_value(cell.measure, cell.replayed),
                 not_done ? "-" : check_value(cell.measure, cell.difference()),
                 check_value(cell.measure, cell.allowed), cell.holds() ? "yes" : "NO"});
}

}  // namespace

std::size_t self_check_result::held() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(cells.begin(), cells.end(), [](const check_cell& c) { return c.holds(); }));
}

self_check_result self_check(const run_figures& recorded, const run_figures& replayed) {
  self_check_result result;
  const std::vector<name_group> after = group_tasks(replayed);
  std::unordered_map<std::string, const name_group*> after_named;  // looked up only
  for (const name_group& group : after) after_named.emplace(group.name, &group);
  for (const name_group& was : group_tasks(recorded)) {
    if (share_ppm(recorded, was.sum.cpu_ns) < min_share_ppm) continue;
    const auto at = after_named.find(was.name);
    add_cells(result.cells, recorded, was, replayed,
              at == after_named.end() ? name_group{} : *at->second);
  }
  for (const group_figures& was : recorded.groups) {
    if (share_ppm(recorded, was.cpu_ns) < min_share_ppm) continue;
    const auto is = std::find_if(replayed.groups.begin(), replayed.groups.end(),
                                 [&](const group_figures& g) { return g.path == was.path; });
    add_cells(result.cells, recorded, was, replayed,
              is == replayed.groups.end() ? group_figures{} : *is);
  }
  result.cells.push_back(work_cell(recorded, replayed));
  result.totals = total_cells(recorded, replayed);
  result.recorded_span_ns = recorded.to_ns - recorded.from_ns;
  result.replayed_span_ns = replayed.to_ns - replayed.from_ns;
  return result;
}

std::string_view to_string(check_measure measure) noexcept {
  switch (measure) {
    case check_measure::share:
      return "CPU share";
    case check_measure::switches:
      return "switches";
    case check_measure::wake_mean:
      return "wake-up latency, mean";
    case check_measure::wake_p99:
      return "wake-up latency, P99";
    case check_measure::work_done:
      return "all work done at";
  }
  return {};
}

std::string_view unit_of(check_measure measure) noexcept {
  if (measure == check_measure::share) return "ppm";
  return measure == check_measure::switches ? "" : "ns";
}

std::string check_value(check_measure measure, std::uint64_t value) {
  switch (measure) {
    case check_measure::share: {
      const std::uint64_t hundredths = (value + 50) / 100;
      return fmt::format("{}.{:02} %", hundredths / 100, hundredths % 100);
    }
    case check_measure::switches:
      return fmt::format("{}", value);
    default:
      return as_ms(value) + " ms";
  }
}

std::string self_check_table(const self_check_result& result) {
  text_table table({{"Task", align::left},
                    {"Measure", align::left},
                    {"Recorded"},
                    {"Replayed"},
                    {"Difference"},
                    {"Allowed"},
                    {"Holds"}});
  for (const check_cell& cell : result.cells) add_check_row(table, cell);
  table.add_rule();
  for (const check_cell& cell : result.totals) add_check_row(table, cell);
  return table.text();
}

std::string self_check_verdict(const self_check_result& result) {
  const std::size_t held = result.held();
  const std::size_t all = result.cells.size();
  std::string text =
      fmt::format("Self-check: {} of {} figures come back within their bounds. ", held, all);
  if (result.replayed_span_ns * 2 < result.recorded_span_ns) {
    return text + fmt::format("But the replay covers only {} of {} ms: do not trust the what-if.",
                              as_ms(result.replayed_span_ns), as_ms(result.recorded_span_ns));
  }
  if (held == all) return text + "The what-if can be trusted about as far as these bounds.";
  std::string misses;
  for (const check_cell& cell : result.cells) {
    if (cell.holds()) continue;
    misses += fmt::format("{}{}{}{}", misses.empty() ? "" : "; ", printable(cell.group),
                          cell.group.empty() ? "" : ": ", to_string(cell.measure));
  }
  if (held * 10 >= all * 9) {
    return text + fmt::format("Trust the what-if for all but: {}.", misses);
  }
  if (held * 2 >= all) {
    return text +
           fmt::format("Take the what-if as a direction, not as numbers; off are: {}.", misses);
  }
  return text + fmt::format("Do not trust the what-if of this recording; off are: {}.", misses);
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "report/page_rows.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "report/task_groups.hpp"

namespace vlag {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t most_distributions = 200;
constexpr std::size_t most_points = 160;

// One row over all runs; nullptr where a run has none.
struct page_row {
  std::string title;
  std::string name;
  std::size_t tasks = 1;
  bool realtime = false;
  std::int32_t pid = 0;
  std::uint64_t share = 0;  // the largest, ppm
  std::vector<const task_figures*> in_run;
};

void add_to_row(page_row& row, const run_figures& run, std::size_t r, const task_figures& figures) {
  row.in_run[r] = &figures;
  row.share = std::max(row.share, share_ppm(run, figures.cpu_ns));
}

struct measure_column {
  const char* name;
  std::uint64_t (*of)(const run_figures&, const task_figures&, const duration_histogram&);
};

constexpr measure_column columns[] = {
    {"cpu", [](const auto&, const auto& t, const auto&) { return t.cpu_ns; }},
    {"sharePpm",
     [](const auto& run, const auto& t, const auto&) { return share_ppm(run, t.cpu_ns); }},
    {"switches", [](const auto&, const auto& t, const auto&) { return t.switches_in; }},
    {"involuntary", [](const auto&, const auto& t, const auto&) { return t.involuntary; }},
    {"wakeups", [](const auto&, const auto& t, const auto&) { return t.wakeups; }},
    {"waits", [](const auto&, const auto&, const auto& d) { return d.count(); }},
    {"mean", [](const auto&, const auto&, const auto& d) { return d.mean_ns(); }},
    {"p50", [](const auto&, const auto&, const auto& d) { return d.quantile_ns(500); }},
    {"p99", [](const auto&, const auto&, const auto& d) { return d.quantile_ns(990); }},
    {"max", [](const auto&, const auto&, const auto& d) { return d.max_ns(); }},
    {"maxFrom",
     [](const auto& run, const auto& t, const auto&) {
       return t.max_wait_from_ns - std::min(t.max_wait_from_ns, run.from_ns);
     }},
    {"maxTo",
     [](const auto& run, const auto& t, const auto&) {
       return t.max_wait_to_ns - std::min(t.max_wait_to_ns, run.from_ns);
     }},
};

// Rows whose distributions are shown: the largest shares, ties in order of the rows.
std::vector<bool> with_distribution(const std::vector<page_row>& rows) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto waited = [](const task_figures* t) {
      return t != nullptr && t->wake_latency.count() + t->preempt_wait.count() > 0;
    };
    if (std::any_of(rows[i].in_run.begin(), rows[i].in_run.end(), waited)) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rows[a].share > rows[b].share; });
  if (order.size() > most_distributions) order.resize(most_distributions);
  std::vector<bool> result(rows.size());
  for (const std::size_t i : order) result[i] = true;
  return result;
}

json deltas(const std::vector<std::uint64_t>& values) {
  json result = json::array();
  std::uint64_t before = 0;
  for (const std::uint64_t value : values) {
    result.push_back(value - before);
    before = value;
  }
  return result;
}

json run_columns(const std::vector<page_row>& rows, const run_figures& run, std::size_t r,
                 const std::vector<bool>& distributions) {
  json result = json::object();
  for (const measure_column& c : columns) result[c.name] = json::array();
  json points = json::object();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    static const task_figures nothing;
    const task_figures& t = rows[i].in_run[r] == nullptr ? nothing : *rows[i].in_run[r];
    const duration_histogram delay = delay_of(t);
    for (const measure_column& c : columns) result[c.name].push_back(c.of(run, t, delay));
    if (!distributions[i] || delay.count() == 0) continue;
    const distribution_points p = points_of(delay, most_points);
    points[std::to_string(i)] = {deltas(p.at_ns), deltas(p.upto)};
  }
  result["cdf"] = std::move(points);
  return result;
}

json rows_json(const std::vector<page_row>& rows, std::span<const run_figures* const> runs,
               const std::vector<std::string>& classes) {
  json pids = json::array();
  json titles = json::array();
  json counts = json::array();
  json colours = json::array();
  json realtime = json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    pids.push_back(rows[i].pid);
    titles.push_back(rows[i].title);
    counts.push_back(rows[i].tasks);
    const auto at = std::find(classes.begin(), classes.end(), group_name(rows[i].name));
    colours.push_back(at - classes.begin());
    if (rows[i].realtime) realtime.push_back(i);
  }
  const std::vector<bool> distributions = with_distribution(rows);
  json per_run = json::array();
  for (std::size_t r = 0; r < runs.size(); ++r) {
    per_run.push_back(run_columns(rows, *runs[r], r, distributions));
  }
  return {{"pid", std::move(pids)},
          {"title", std::move(titles)},
          {"tasks", std::move(counts)},
          {"class", std::move(colours)},
          {"realtime", std::move(realtime)},
          {"distributions", static_cast<std::uint64_t>(
                                std::count(distributions.begin(), distributions.end(), true))},
          {"runs", std::move(per_run)}};
}

std::vector<page_row> task_rows(std::span<const run_figures* const> runs) {
  std::map<std::int32_t, page_row> found;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (const task_figures& task : runs[r]->tasks) {
      page_row& row = found[task.pid];
      if (row.in_run.empty()) {
        row.in_run.resize(runs.size());
        row.title = shown_name(task.name);
        row.name = task.name;
        row.pid = task.pid;
        row.realtime = !task.in_fair_class;
      }
      add_to_row(row, *runs[r], r, task);
    }
  }
  std::vector<page_row> rows;
  rows.reserve(found.size());
  for (auto& [pid, row] : found) rows.push_back(std::move(row));
  return rows;
}

// By name as group_name() says.
using group_index = std::map<std::string, std::size_t, std::less<>>;

std::vector<page_row> group_rows(std::span<const run_figures* const> runs,
                                 const std::vector<std::vector<name_group>>& groups,
                                 group_index& index) {
  std::vector<page_row> rows;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (const name_group& group : groups[r]) {
      const auto [at, is_new] = index.try_emplace(group.name, rows.size());
      if (is_new) {
        page_row& row = rows.emplace_back();
        row.in_run.resize(runs.size());
        row.title = group.tasks > 1 ? shown_name(group.name) : shown_name(group.one_name);
        row.name = group.name;
        row.pid = group.sum.pid;
        row.realtime = !group.sum.in_fair_class;
      }
      page_row& row = rows[at->second];
      row.tasks = std::max(row.tasks, group.tasks);
      add_to_row(row, *runs[r], r, group.sum);
    }
  }
  return rows;
}

}  // namespace

distribution_points points_of(const duration_histogram& durations, std::size_t most) {
  const std::vector<duration_histogram::bucket> buckets = durations.buckets();
  const std::size_t tail = std::min(buckets.size(), most / 4);
  const std::size_t rest = buckets.size() - tail;
  const std::size_t room = std::max<std::size_t>(most - tail, 1);
  const std::size_t step = std::max<std::size_t>((rest + room - 1) / room, 1);
  distribution_points points;
  std::uint64_t upto = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    upto += buckets[i].count;
    const bool last_of_step = i >= rest || (i + 1) % step == 0 || i + 1 == rest;
    if (!last_of_step) continue;
    points.at_ns.push_back(std::min(buckets[i].high_ns - 1, durations.max_ns()));
    points.upto.push_back(upto);
  }
  return points;
}

page_rows page_rows_of(std::span<const run_figures* const> runs,
                       const std::vector<std::string>& classes) {
  std::vector<std::vector<name_group>> groups;
  for (const run_figures* run : runs) groups.push_back(group_tasks(*run));
  group_index index;
  page_rows result;
  result.groups = rows_json(group_rows(runs, groups, index), runs, classes);
  const std::vector<page_row> tasks = task_rows(runs);
  result.tasks = rows_json(tasks, runs, classes);
  json group_of = json::array();
  for (const page_row& task : tasks) group_of.push_back(index.find(group_name(task.name))->second);
  result.tasks["group"] = std::move(group_of);
  return result;
}

}  // namespace vlag

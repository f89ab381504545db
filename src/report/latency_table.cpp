// SPDX-License-Identifier: Apache-2.0
#include "report/latency_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "input/printable.hpp"
#include "report/text_table.hpp"

namespace vlag {
namespace {

struct latency_row {
  std::string title;
  const task_figures* task;
  duration_histogram delay;
};

std::vector<std::string> cells_of(const latency_row& row) {
  const duration_histogram& d = row.delay;
  const bool waited = d.count() > 0;
  return {row.title,
          as_ms(row.task->cpu_ns),
          fmt::format("{}", row.task->switches_in),
          waited ? as_ms(d.mean_ns()) : "-",
          waited ? as_ms(d.quantile_ns(500)) : "-",
          waited ? as_ms(d.quantile_ns(990)) : "-",
          waited ? as_ms(d.max_ns()) : "-",
          waited ? as_seconds(row.task->max_wait_from_ns) : "-",
          waited ? as_seconds(row.task->max_wait_to_ns) : "-"};
}

}  // namespace

std::string latency_table(const run_figures& run, std::span<const std::int32_t> pids) {
  std::vector<latency_row> rows;
  task_figures others;
  task_figures total;
  std::size_t other_tasks = 0;
  for (const task_figures& task : run.tasks) {
    add_figures(total, task);
    if (std::binary_search(pids.begin(), pids.end(), task.pid)) {
      rows.push_back(
          {fmt::format("{}:{}", shown_name(task.name), task.pid), &task, delay_of(task)});
    } else {
      add_figures(others, task);
      ++other_tasks;
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const latency_row& a, const latency_row& b) {
    return a.delay.mean_ns() > b.delay.mean_ns();
  });

  text_table table({{"Task", align::left},
                    {"Runtime ms"},
                    {"Switches"},
                    {"Avg delay ms"},
                    {"P50 ms"},
                    {"P99 ms"},
                    {"Max delay ms"},
                    {"Max delay start s"},
                    {"Max delay end s"}});
  for (const latency_row& row : rows) table.add_row(cells_of(row));
  if (other_tasks > 0) {
    const std::string title =
        other_tasks == 1 ? "(1 other)" : fmt::format("({} others)", other_tasks);
    table.add_row(cells_of({title, &others, delay_of(others)}));
  }
  table.add_rule();
  table.add_row(cells_of({"TOTAL:", &total, delay_of(total)}));
  return table.text();
}

std::string totals_table(std::span<const run_figures* const> runs) {
  text_table table({{"Totals", align::left},
                    {"Runtime ms"},
                    {"CPU %"},
                    {"Switches"},
                    {"Span ms"},
                    {"All work done at ms"}});
  for (const run_figures* run : runs) {
    std::uint64_t cpu_ns = 0;
    std::uint64_t switches = 0;
    for (const task_figures& task : run->tasks) {
      cpu_ns += task.cpu_ns;
      switches += task.switches_in;
    }
    table.add_row({run->label, as_ms(cpu_ns), as_percent(share_ppm(*run, cpu_ns)),
                   fmt::format("{}", switches), as_ms(run->to_ns - run->from_ns),
                   run->work_done_ns == 0 ? "not within the run" : as_ms(run->work_done_ns)});
  }
  return table.text();
}

std::string group_table(std::span<const run_figures* const> runs) {
  std::vector<std::string> paths;
  for (const run_figures* run : runs) {
    for (const group_figures& g : run->groups) {
      if (std::find(paths.begin(), paths.end(), g.path) == paths.end()) paths.push_back(g.path);
    }
  }
  if (paths.empty()) return {};
  text_table table({{"Task group", align::left},
                    {"Policy", align::left},
                    {"CPU %"},
                    {"Switches"},
                    {"Avg delay ms"},
                    {"P99 ms"},
                    {"Throttled ms"}});
  for (const std::string& path : paths) {
    for (const run_figures* run : runs) {
      const std::string title = run == runs.front() ? printable(path) : "";
      const auto g = std::find_if(run->groups.begin(), run->groups.end(),
                                  [&](const group_figures& group) { return group.path == path; });
      if (g == run->groups.end()) {
        table.add_row({title, run->label, "-", "-", "-", "-", "-"});
        continue;
      }
      duration_histogram delay = g->wake_latency;
      delay.merge(g->preempt_wait);
      const bool waited = delay.count() != 0;
      table.add_row({title, run->label, as_percent(share_ppm(*run, g->cpu_ns)),
                     fmt::format("{}", g->switches_in), waited ? as_ms(delay.mean_ns()) : "-",
                     waited ? as_ms(delay.quantile_ns(990)) : "-",
                     g->nr_periods == 0 ? "-" : as_ms(g->throttled_ns)});
    }
  }
  return table.text();
}

}  // namespace vlag

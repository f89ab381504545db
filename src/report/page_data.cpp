// SPDX-License-Identifier: Apache-2.0
#include "report/page_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "report/page_rows.hpp"
#include "report/page_settings.hpp"
#include "report/page_timeline.hpp"
#include "report/task_groups.hpp"

namespace vlag {
namespace {

using json = nlohmann::ordered_json;

json run_json(const result_run& run, const timeline_bins* line) {
  const run_figures& f = *run.figures;
  task_figures sum;
  for (const task_figures& task : f.tasks) add_figures(sum, task);
  const duration_histogram delay = delay_of(sum);
  json waits = json::array();
  for (const worst_wait& w : worst_waits(f)) {
    waits.push_back({{"pid", w.pid},
                     {"from", w.span.from_ns - std::min(w.span.from_ns, f.from_ns)},
                     {"to", w.span.to_ns - std::min(w.span.to_ns, f.from_ns)}});
  }
  return {{"label", f.label},
          {"profile", run.policy == nullptr || run.policy->config.source == nullptr
                          ? json(nullptr)
                          : json(std::string(run.policy->config.source->name))},
          {"span", f.to_ns - f.from_ns},
          {"workDone", f.work_done_ns == 0 ? json(nullptr) : json(f.work_done_ns)},
          {"cpu", sum.cpu_ns},
          {"sharePpm", share_ppm(f, sum.cpu_ns)},
          {"switches", sum.switches_in},
          {"involuntary", sum.involuntary},
          {"wakeups", sum.wakeups},
          {"waits", delay.count()},
          {"mean", delay.mean_ns()},
          {"p50", delay.quantile_ns(500)},
          {"p99", delay.quantile_ns(990)},
          {"max", delay.max_ns()},
          {"worst", std::move(waits)},
          {"timeline", line == nullptr ? json(nullptr) : timeline_json(*line)}};
}

json check_json(const page_document& page) {
  const self_check_result* check = page.results.check;
  if (check == nullptr) return {{"text", page.trust}, {"held", 0}, {"of", 0}};
  json misses = json::array();
  for (const check_cell& c : check->cells) {
    if (c.holds()) continue;
    const bool not_done = c.measure == check_measure::work_done && c.replayed == 0;
    misses.push_back({c.group.empty() ? "whole run" : shown_name(c.group),
                      std::string(to_string(c.measure)), check_value(c.measure, c.recorded),
                      not_done ? "not done" : check_value(c.measure, c.replayed),
                      check_value(c.measure, c.allowed)});
  }
  return {{"text", page.trust},
          {"policy", page.results.check_label},
          {"held", check->held()},
          {"of", check->cells.size()},
          {"coversHalf", check->replayed_span_ns * 2 >= check->recorded_span_ns},
          {"misses", std::move(misses)}};
}

json anomaly(const std::string& from, const std::string& kind, std::uint64_t count,
             const std::vector<std::string>& first = {}) {
  json examples = json::array();
  for (const std::string& text : first) examples.push_back(shown_name(text));
  return {{"from", from}, {"kind", kind}, {"count", count}, {"first", std::move(examples)}};
}

json anomalies_json(const page_document& page) {
  const result_document& results = page.results;
  json list = json::array();
  for (const trace::anomaly& a : results.trace_anomalies) {
    list.push_back(anomaly("recording", a.kind, a.count, a.first));
  }
  for (const auto& [name, count] : results.workload_anomalies) {
    list.push_back(anomaly("workload", name, count));
  }
  for (const result_run& run : results.runs) {
    if (run.figures->anomalies == results.workload_anomalies) continue;  // the same, told already
    for (const auto& [name, count] : run.figures->anomalies) {
      list.push_back(anomaly(run.figures->label, name, count));
    }
  }
  return list;
}

}  // namespace

std::vector<std::string> coloured_groups(const run_figures& first) {
  std::vector<name_group> groups = group_tasks(first);
  std::stable_sort(groups.begin(), groups.end(), [](const name_group& a, const name_group& b) {
    return a.sum.cpu_ns > b.sum.cpu_ns;
  });
  std::vector<std::string> names;
  for (const name_group& group : groups) {
    if (names.size() < timeline_classes - 1) names.push_back(group.name);
  }
  return names;
}

std::unordered_map<std::int32_t, unsigned> classes_of(const run_figures& first,
                                                      const std::vector<std::string>& classes) {
  std::unordered_map<std::int32_t, unsigned> result;
  for (const task_figures& task : first.tasks) {
    const auto at = std::find(classes.begin(), classes.end(), group_name(task.name));
    result[task.pid] = static_cast<unsigned>(at - classes.begin());
    if (at == classes.end()) result[task.pid] = timeline_classes - 1;
  }
  return result;
}

std::vector<worst_wait> worst_waits(const run_figures& run) {
  std::vector<worst_wait> waits;
  for (const task_figures& task : run.tasks) {
    if (task.max_wait_to_ns <= task.max_wait_from_ns) continue;
    waits.push_back({task.pid, {task.max_wait_from_ns, task.max_wait_to_ns}});
  }
  std::stable_sort(waits.begin(), waits.end(), [](const worst_wait& a, const worst_wait& b) {
    return a.span.to_ns - a.span.from_ns > b.span.to_ns - b.span.from_ns;
  });
  if (waits.size() > 3) waits.resize(3);
  return waits;
}

std::string page_data(const page_document& page) {
  const result_document& results = page.results;
  std::vector<const run_figures*> figures;
  json runs = json::array();
  for (std::size_t i = 0; i < results.runs.size(); ++i) {
    figures.push_back(results.runs[i].figures);
    runs.push_back(
        run_json(results.runs[i], i < page.timelines.size() ? page.timelines[i] : nullptr));
  }
  page_rows rows = page_rows_of(figures, page.classes);
  json classes = json::array();
  for (const std::string& name : page.classes) classes.push_back(shown_name(name));
  const json whole{
      {"schema", "vlag-page/1"},
      {"version", results.version},
      {"command", page.command},
      {"trace",
       {{"name", shown_name(page.name)},
        {"format", page.format},
        {"events", page.trace_events ? json(*page.trace_events) : json(nullptr)},
        {"cpus", results.cpus},
        {"tick", results.tick_ns},
        {"seed", std::to_string(results.seed)}}},
      {"change",
       {{"text", page.change.sentence}, {"base", page.change.base}, {"run", page.change.run}}},
      {"check", check_json(page)},
      {"runs", std::move(runs)},
      {"classes", std::move(classes)},
      {"reasons", reason_texts()},
      {"groups", std::move(rows.groups)},
      {"tasks", std::move(rows.tasks)},
      {"settings", settings_json(results.runs)},
      {"anomalies", anomalies_json(page)},
      {"notes", results.notes}};
  return whole.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace vlag

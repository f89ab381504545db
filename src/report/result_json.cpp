// SPDX-License-Identifier: Apache-2.0
#include "report/result_json.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "report/schedstat.hpp"
#include "report/task_groups.hpp"

namespace vlag {
namespace {

using json = nlohmann::ordered_json;

std::string engine_text(fair_engine engine) {
  constexpr std::array names = {"eevdf", "cfs", "paper"};
  return names[static_cast<std::size_t>(engine)];
}

json duration_json(const duration_histogram& h) {
  return {{"count", h.count()},           {"sum_ns", h.sum_ns()},
          {"mean_ns", h.mean_ns()},       {"min_ns", h.min_ns()},
          {"p50_ns", h.quantile_ns(500)}, {"p90_ns", h.quantile_ns(900)},
          {"p99_ns", h.quantile_ns(990)}, {"p99_9_ns", h.quantile_ns(999)},
          {"max_ns", h.max_ns()}};
}

json figures_json(const run_figures& run, const task_figures& task) {
  return {{"cpu_ns", task.cpu_ns},
          {"share_ppm", share_ppm(run, task.cpu_ns)},
          {"switches_in", task.switches_in},
          {"voluntary", task.voluntary},
          {"involuntary", task.involuntary},
          {"wakeups", task.wakeups},
          {"sleep_ns", task.sleep_ns},
          {"delay", duration_json(delay_of(task))},
          {"wake_latency", duration_json(task.wake_latency)},
          {"preempt_wait", duration_json(task.preempt_wait)},
          {"max_wait_from_ns", task.max_wait_from_ns},
          {"max_wait_to_ns", task.max_wait_to_ns}};
}

json tasks_json(const run_figures& run) {
  json result = json::array();
  for (const task_figures& task : run.tasks) {
    json row{{"pid", task.pid},
             {"name", task.name},
             {"class", task.in_fair_class ? "fair" : "realtime"},
             {"group", task.group == 0 ? std::string("/") : run.groups.at(task.group - 1U).path}};
    row.update(figures_json(run, task));
    result.push_back(std::move(row));
  }
  return result;
}

json groups_json(const run_figures& run) {
  json result = json::array();
  for (const group_figures& group : run.groups) {
    duration_histogram delay = group.wake_latency;
    delay.merge(group.preempt_wait);
    result.push_back({{"path", group.path},
                      {"cpu_ns", group.cpu_ns},
                      {"share_ppm", share_ppm(run, group.cpu_ns)},
                      {"switches_in", group.switches_in},
                      {"delay", duration_json(delay)},
                      {"wake_latency", duration_json(group.wake_latency)},
                      {"preempt_wait", duration_json(group.preempt_wait)},
                      {"nr_periods", group.nr_periods},
                      {"nr_throttled", group.nr_throttled},
                      {"throttled_ns", group.throttled_ns}});
  }
  return result;
}

// The tasks of each name together.
json names_json(const run_figures& run) {
  json result = json::array();
  for (const name_group& group : group_tasks(run)) {
    json row{{"name", group.name}, {"tasks", group.tasks}};
    row.update(figures_json(run, group.sum));
    result.push_back(std::move(row));
  }
  return result;
}

json cpus_json(const run_figures& run) {
  json result = json::array();
  for (std::size_t i = 0; i < run.cpus.size(); ++i) {
    const cpu_figures& cpu = run.cpus[i];
    result.push_back({{"cpu", i},
                      {"busy_ns", cpu.busy_ns},
                      {"idle_ns", cpu.idle_ns},
                      {"switches", cpu.switches},
                      {"ticks", cpu.ticks}});
  }
  return result;
}

void add_histogram(json& result, const task_figures& task, const char* what,
                   const duration_histogram& h) {
  if (h.count() == 0) return;
  json buckets = json::array();
  for (const duration_histogram::bucket& b : h.buckets()) {
    buckets.push_back({b.low_ns, b.high_ns, b.count});
  }
  result.push_back(
      {{"pid", task.pid}, {"name", task.name}, {"of", what}, {"buckets", std::move(buckets)}});
}

json histograms_json(const run_figures& run) {
  json result = json::array();
  for (const task_figures& task : run.tasks) {
    add_histogram(result, task, "wake_latency", task.wake_latency);
    add_histogram(result, task, "preempt_wait", task.preempt_wait);
  }
  return result;
}

json sched_counters_json(const sched_counters& counters) {
  json result = json::object();
  for (const sched_counter_info& c : all_sched_counters()) {
    result[std::string(c.name) + (c.is_time ? "_ns" : "")] = counters.*c.value;
  }
  return result;
}

// schedstat: what --schedstat asks for.
json counters_json(const run_figures& run) {
  std::uint64_t switches = 0;
  std::uint64_t voluntary = 0;
  std::uint64_t involuntary = 0;
  std::uint64_t wakeups = 0;
  std::uint64_t ticks = 0;
  for (const task_figures& task : run.tasks) {
    switches += task.switches_in;
    voluntary += task.voluntary;
    involuntary += task.involuntary;
    wakeups += task.wakeups;
  }
  for (const cpu_figures& cpu : run.cpus) ticks += cpu.ticks;
  json result{{"switches_in", switches},
              {"voluntary", voluntary},
              {"involuntary", involuntary},
              {"wakeups", wakeups},
              {"ticks", ticks}};
  if (run.counters.empty()) return result;
  json cpus = json::array();
  for (std::size_t i = 0; i < run.counters.size(); ++i) {
    json row{{"cpu", i}};
    row.update(sched_counters_json(run.counters[i]));
    cpus.push_back(std::move(row));
  }
  result["schedstat"] = {{"total", sched_counters_json(total_counters(run))},
                         {"cpus", std::move(cpus)}};
  return result;
}

json counts_json(const std::vector<std::pair<std::string, std::uint64_t>>& counts) {
  json result = json::array();
  for (const auto& [name, count] : counts) result.push_back({{"kind", name}, {"count", count}});
  return result;
}

json policy_json(const result_policy* policy) {
  if (policy == nullptr) return nullptr;
  const policy_config& config = policy->config;
  json features = json::object();
  const feature_set on = config.features();
  for (const feature_info& f : all_features()) {
    if (f.engine == config.engine) features[std::string(f.name)] = on.has(f.id);
  }
  features["HRTICK"] = policy->hrtick;
  json constants = json::object();
  for (const constant_info& c : all_constants()) {
    if (c.engine != config.engine) continue;
    constants[std::string(c.name) + (c.is_time ? "_ns" : "")] = constant_value(config, c);
  }
  json overrides = json::array();
  for (const result_override& o : policy->overrides) {
    overrides.push_back({{"task", o.task},
                         {"attribute", o.attribute},
                         {"value", o.text.empty() ? json(o.value) : json(o.text)}});
  }
  json group_files = json::array();
  for (const result_group_file& o : policy->group_files) {
    group_files.push_back({{"group", o.group}, {"file", o.file}, {"text", o.text}});
  }
  return {{"profile", config.source == nullptr ? "" : std::string(config.source->name)},
          {"reference", config.source == nullptr ? "" : std::string(config.source->reference)},
          {"engine", engine_text(config.engine)},
          {"features", std::move(features)},
          {"constants", std::move(constants)},
          {"overrides", std::move(overrides)},
          {"group_files", std::move(group_files)}};
}

json run_json(const result_run& run) {
  const run_figures& f = *run.figures;
  return {{"label", f.label},
          {"policy", policy_json(run.policy)},
          {"from_ns", f.from_ns},
          {"to_ns", f.to_ns},
          {"work_done_ns", f.work_done_ns == 0 ? json(nullptr) : json(f.work_done_ns)},
          {"tasks", tasks_json(f)},
          {"names", names_json(f)},
          {"groups", groups_json(f)},
          {"cpus", cpus_json(f)},
          {"histograms", histograms_json(f)},
          {"counters", counters_json(f)},
          {"anomalies", counts_json(f.anomalies)}};
}

json cells_json(const std::vector<check_cell>& cells) {
  json result = json::array();
  for (const check_cell& cell : cells) {
    result.push_back({{"group", cell.group},
                      {"measure", std::string(to_string(cell.measure))},
                      {"unit", std::string(unit_of(cell.measure))},
                      {"recorded", cell.recorded},
                      {"replayed", cell.replayed},
                      {"allowed", cell.allowed},
                      {"holds", cell.holds()}});
  }
  return result;
}

json check_json(const result_document& document) {
  if (document.check == nullptr) return nullptr;
  return {{"policy", document.check_label},
          {"held", document.check->held()},
          {"of", document.check->cells.size()},
          {"cells", cells_json(document.check->cells)},
          {"totals", cells_json(document.check->totals)}};
}

json anomalies_json(const result_document& document) {
  json result = json::array();
  for (const trace::anomaly& a : document.trace_anomalies) {
    result.push_back({{"from", "trace"}, {"kind", a.kind}, {"count", a.count}, {"first", a.first}});
  }
  for (const auto& [name, count] : document.workload_anomalies) {
    result.push_back({{"from", "workload"}, {"kind", name}, {"count", count}});
  }
  for (const std::string& note : document.notes) {
    result.push_back({{"from", "settings"}, {"kind", note}, {"count", 1}});
  }
  return result;
}

json number_json(const std::optional<std::uint64_t>& n) { return n ? json(*n) : json(nullptr); }

json expectations_json(const std::vector<result_expectation>& expectations) {
  json result = json::array();
  for (const result_expectation& e : expectations) {
    result.push_back({{"says", e.says},
                      {"figure", e.figure},
                      {"unit", e.unit},
                      {"value", number_json(e.value)},
                      {"min", number_json(e.min)},
                      {"max", number_json(e.max)},
                      {"text", e.value_text + "; expected " + e.expected_text},
                      {"holds", e.holds}});
  }
  return result;
}

}  // namespace

std::string result_json(const result_document& document) {
  json results = json::array();
  for (const result_run& run : document.runs) results.push_back(run_json(run));
  json whole{{"schema", "vlag-result/1"},
             {"run",
              {{"arguments", document.arguments},
               {"version", document.version},
               {"seed", document.seed},
               {"duration_ns", document.duration_ns}}},
             {"machine", {{"cpus", document.cpus}, {"tick_ns", document.tick_ns}}},
             {"results", std::move(results)},
             {"self_check", check_json(document)},
             {"anomalies", anomalies_json(document)}};
  if (document.expectations) whole["expectations"] = expectations_json(*document.expectations);
  return whole.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

}  // namespace vlag

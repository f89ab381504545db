// SPDX-License-Identifier: Apache-2.0
#include "report/schedstat.hpp"

#include <utility>
#include <vector>

#include "report/text_table.hpp"

namespace vlag {

sched_counters total_counters(const run_figures& run) {
  sched_counters total;
  for (const sched_counters& of_cpu : run.counters) total += of_cpu;
  return total;
}

std::string schedstat_table(const run_figures& run, fair_engine engine) {
  std::vector<text_table::column> columns{{"Counter", align::left}};
  const bool several = run.counters.size() > 1;
  for (std::size_t i = 0; i < run.counters.size(); ++i) {
    columns.push_back({"cpu#" + std::to_string(i), align::right});
  }
  if (several) columns.push_back({"total", align::right});
  text_table table(std::move(columns));
  const sched_counters total = total_counters(run);
  for (const sched_counter_info& counter : all_sched_counters()) {
    if (counter.eevdf_only && engine != fair_engine::eevdf) continue;
    const auto text = [&](const sched_counters& of) {
      const std::uint64_t value = of.*counter.value;
      return counter.is_time ? as_ms(value) : std::to_string(value);
    };
    std::vector<std::string> cells{std::string(counter.name) + (counter.is_time ? " (ms)" : "")};
    for (const sched_counters& of_cpu : run.counters) cells.push_back(text(of_cpu));
    if (several) cells.push_back(text(total));
    table.add_row(std::move(cells));
  }
  return table.text();
}

}  // namespace vlag

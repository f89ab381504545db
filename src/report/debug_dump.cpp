// SPDX-License-Identifier: Apache-2.0
#include "report/debug_dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "input/printable.hpp"
#include "report/task_groups.hpp"
#include "report/text_table.hpp"
#include "vlag/entity.hpp"

namespace vlag {
namespace {

std::string virtual_text(std::uint64_t v) { return split_ms(static_cast<std::int64_t>(v)); }

std::string line(std::string_view field, const std::string& value) {
  return fmt::format("  .{:<29}: {}\n", field, value);
}
std::string line(std::string_view field, std::uint64_t value) {
  return line(field, fmt::format("{}", value));
}

// The ends of the waiting entities: they follow the running one, in the queue's order.
struct waiting_ends {
  const entity_view* first = nullptr;
  const entity_view* last = nullptr;
  const entity_view* least = nullptr;  // the smallest vruntime
};

waiting_ends ends_of(const queue_view& queue) {
  waiting_ends result;
  for (const entity_view& e : queue.entities) {
    if (e.running) continue;
    if (result.first == nullptr) result.first = &e;
    if (result.least == nullptr || before(e.vruntime, result.least->vruntime)) result.least = &e;
    result.last = &e;
  }
  return result;
}

std::string vruntime_of(const entity_view* e) {
  return e == nullptr ? "-" : virtual_text(e->vruntime);
}

std::string spread_of(const waiting_ends& ends) {
  if (ends.last == nullptr) return "-";
  return split_ms(signed_difference(ends.last->vruntime, ends.least->vruntime));
}

std::string eevdf_queue(const queue_view& queue) {
  const waiting_ends ends = ends_of(queue);
  return line("left_deadline", ends.first == nullptr ? "-" : virtual_text(ends.first->deadline)) +
         line("left_vruntime", vruntime_of(ends.least)) +
         line("zero_vruntime", virtual_text(queue.reference)) +
         line("avg_vruntime", virtual_text(queue.average_vruntime)) +
         line("right_vruntime", vruntime_of(ends.last)) + line("spread", spread_of(ends)) +
         line("nr_queued", queue.nr_queued) + line("h_nr_runnable", queue.h_nr_runnable) +
         line("h_nr_queued", queue.h_nr_queued) + line("h_nr_idle", queue.h_nr_idle) +
         line("load", queue.load);
}

std::string cfs_queue_text(const queue_view& queue) {
  const waiting_ends ends = ends_of(queue);
  return line("MIN_vruntime", vruntime_of(ends.least)) +
         line("min_vruntime", virtual_text(queue.reference)) +
         line("max_vruntime", vruntime_of(ends.last)) + line("spread", spread_of(ends)) +
         line("nr_running", queue.nr_queued) + line("h_nr_running", queue.h_nr_queued) +
         line("idle_h_nr_running", queue.h_nr_idle) + line("load", queue.load);
}

std::string state_text(const task_view& t) {
  switch (t.phase) {
    case task_phase::unborn:
      return "N";
    case task_phase::blocked:
      return "S";
    case task_phase::runnable:
      return "R";
    case task_phase::running:
      return ">R";
    case task_phase::gone:
      break;
  }
  return "X";
}

std::string eligible_text(const entity_view& e) {
  if (!e.queued) return "-";
  return e.eligible ? "E" : "N";
}

std::string task_table(const machine_snapshot& snapshot, unsigned cpu) {
  const bool eevdf = snapshot.engine == fair_engine::eevdf;
  std::vector<text_table::column> columns{
      {"S", align::right}, {"task", align::left}, {"PID"}, {"vruntime"}};
  if (eevdf) {
    for (const char* title : {"eligible", "deadline", "slice", "vlag"}) columns.push_back({title});
    columns.push_back({"delayed", align::left});
  }
  for (const char* title :
       {"sum-exec", "switches", "prio", "latency-nice", "wait-time", "sum-sleep"}) {
    columns.push_back({title});
  }
  columns.push_back({"group-path", align::left});
  text_table table(std::move(columns));
  for (const task_view& t : snapshot.tasks) {
    if (t.cpu != cpu) continue;
    const entity_view& e = t.entity;
    const bool fair = t.in_fair_class;
    const bool shows_vruntime = fair && snapshot.engine != fair_engine::paper;
    std::vector<std::string> cells{state_text(t), shown_name(e.name), fmt::format("{}", e.pid),
                                   shows_vruntime ? virtual_text(e.vruntime) : "-"};
    if (eevdf) {
      cells.push_back(eligible_text(e));
      cells.push_back(fair && e.queued ? virtual_text(e.deadline) : "-");
      cells.push_back(fair ? split_ms(static_cast<std::int64_t>(e.slice_ns)) : "-");
      cells.push_back(fair ? split_ms(e.lag) : "-");
      cells.emplace_back(e.delayed ? "delayed" : "");
    }
    cells.push_back(virtual_text(e.sum_exec_ns));
    cells.push_back(fmt::format("{}", t.switches));
    cells.push_back(fmt::format("{}", t.prio));
    cells.push_back(fair ? fmt::format("{}", t.latency_nice) : "-");
    cells.push_back(virtual_text(t.wait_sum_ns));
    cells.push_back(virtual_text(t.sleep_sum_ns));
    cells.push_back(printable(t.group_path));
    table.add_row(std::move(cells));
  }
  return table.text();
}

}  // namespace

std::string split_ms(std::int64_t ns) {
  constexpr std::uint64_t ns_per_ms = 1'000'000;
  const bool negative = ns < 0;
  const std::uint64_t size =
      negative ? std::uint64_t{0} - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  return fmt::format("{}{}.{:06}", negative ? "-" : "", size / ns_per_ms, size % ns_per_ms);
}

std::string debug_dump(const machine_snapshot& snapshot) {
  std::string result;
  for (const cpu_view& cpu : snapshot.cpus) {
    if (cpu.number != 0) result += '\n';
    result += fmt::format("cpu#{}\n", cpu.number);
    result += line("nr_switches", cpu.switches);
    result += line("clock", virtual_text(cpu.clock_ns));
    result +=
        line("curr", cpu.idle ? std::string("idle")
                              : fmt::format("{}:{}", shown_name(cpu.current), cpu.current_pid));
    for (const queue_view& queue : cpu.queues) {
      result += fmt::format("\ncfs_rq[{}]:{}{}\n", cpu.number, printable(queue.path),
                            queue.throttled ? " (throttled)" : "");
      result += queue.engine == fair_engine::eevdf ? eevdf_queue(queue) : cfs_queue_text(queue);
    }
    result += fmt::format("\nrunnable tasks:\n{}", task_table(snapshot, cpu.number));
  }
  return result;
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "report/sched_timehist.hpp"

#include "input/printable.hpp"
#include "report/sched_latency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace vlag {
namespace {

constexpr int name_width = 30;

// "     0.012 ": ms, cut to us.
std::string cut_ms(std::uint64_t ns) {
  return fmt::format("{:6}.{:03} ", ns / 1'000'000, ns / 1000 % 1000);
}

}  // namespace

std::string sched_timehist::title(std::uint32_t task) const {
  if (task == no_task) return "<idle>";
  return fmt::format("{}[{}]", printable(tasks_[task].name), tasks_[task].pid);
}

bool sched_timehist::is_shown(std::uint32_t task) const {
  return task == no_task ? request_.pids.empty() : tasks_[task].shown;
}

void sched_timehist::begin(const schedule_info& info) {
  clock_ns_ = info.clock_at_start_ns;
  wait_begins_ = info.wait_begins;
  for (const schedule_task& t : info.tasks) on_task(0, t);
  cpus_.resize(info.cpus);
  if (request_.lines) write_header();
}

void sched_timehist::on_task(std::uint32_t, const schedule_task& task) {
  known_task& added = tasks_.emplace_back();
  added.name = task.name;
  added.pid = task.pid;
  added.shown = request_.pids.empty() || std::find(request_.pids.begin(), request_.pids.end(),
                                                   task.pid) != request_.pids.end();
}

sched_timehist::known_cpu& sched_timehist::cpu_of(unsigned number) {
  if (number >= cpus_.size()) cpus_.resize(number + std::size_t{1});
  return cpus_[number];
}

void sched_timehist::write_header() {
  const auto line = [&](std::string_view time, std::string_view cpu, std::string_view name,
                        std::string_view wait, std::string_view delay, std::string_view run,
                        std::string_view state) {
    std::string text = fmt::format("{:>15} {:>6} ", time, cpu);
    text += fmt::format(" {:<{}}  {:>9}  {:>9}  {:>9}", name, name_width, wait, delay, run);
    if (request_.state) text += fmt::format("  {}", state);
    out_(text + '\n');
  };
  line("time", "cpu", "task name", "wait time", "sch delay", "run time", "state");
  line("", "", "[tid/pid]", "(msec)", "(msec)", "(msec)", "     ");
  line("---------------", "------", std::string(name_width, '-'), "---------", "---------",
       "---------", "-----");
}

std::string sched_timehist::start_of_line(std::uint64_t at_ns, unsigned cpu,
                                          std::uint32_t task) const {
  return fmt::format("{:>15} [{:04}]  {:<{}} ", perf_time(clock_ns_ + at_ns), cpu, title(task),
                     name_width);
}

void sched_timehist::count(known_task& t, std::uint64_t ran_ns) const {
  t.shortest_ns = t.stays == 0 ? ran_ns : std::min(t.shortest_ns, ran_ns);
  t.longest_ns = std::max(t.longest_ns, ran_ns);
  t.ran_ns += ran_ns;
  ++t.stays;
  const double difference = static_cast<double>(ran_ns) - t.mean_ns;
  t.mean_ns += difference / static_cast<double>(t.stays);
  t.squares += difference * (static_cast<double>(ran_ns) - t.mean_ns);
}

void sched_timehist::on_switch(const schedule_switch& e) {
  known_cpu& c = cpu_of(e.cpu);
  const std::optional<std::uint64_t> since = std::exchange(c.switched_ns, e.at_ns);
  if (!first_ns_) first_ns_ = e.at_ns;
  last_ns_ = e.at_ns;
  c.task = e.next;
  if (e.previous == no_task) {
    ++idle_stays_;
    c.idle_seen = true;
    const std::uint64_t idle_ns = since ? e.at_ns - *since : 0;
    c.idle_ns += idle_ns;
    if (is_shown(no_task)) write_line(e, 0, 0, idle_ns);
    return;
  }
  known_task& t = tasks_[e.previous];
  if (e.left.letter == 'X' || e.left.letter == 'Z') t.ended = true;
  if (!t.shown) return;
  std::uint64_t ran_ns = 0;
  std::uint64_t waited_ns = 0;
  std::uint64_t delay_ns = 0;
  if (since) {
    ran_ns = e.at_ns - *since;
    if (t.ready_ns && *t.ready_ns <= *since) delay_ns = *since - *t.ready_ns;
    if (t.out_ns && *t.out_ns <= *since) waited_ns = *since - *t.out_ns;
  }
  count(t, ran_ns);
  t.out_ns = e.at_ns;
  t.ready_ns.reset();
  write_line(e, waited_ns, delay_ns, ran_ns);
}

void sched_timehist::write_line(const schedule_switch& e, std::uint64_t waited_ns,
                                std::uint64_t delay_ns, std::uint64_t ran_ns) {
  const bool has_line =
      request_.cpus.empty() ||
      std::find(request_.cpus.begin(), request_.cpus.end(), e.cpu) != request_.cpus.end();
  if (!request_.lines || !has_line) return;
  std::string line = start_of_line(e.at_ns, e.cpu, e.previous) + cut_ms(waited_ns) +
                     cut_ms(delay_ns) + cut_ms(ran_ns);
  if (request_.state) line += fmt::format(" {:>5} ", e.left.letter);
  if (request_.next) {
    line += fmt::format(" {:<{}}", fmt::format("next: {}", title(e.next)), name_width);
  } else if (request_.wakeups) {
    line += fmt::format("  {:<{}}", "", name_width);
  }
  out_(line + '\n');
}

void sched_timehist::on_wakeup(const schedule_wakeup& e) {
  if (e.woken == no_task || (e.kind != wait_begins_ && e.kind != wakeup_kind::born)) return;
  known_task& t = tasks_[e.woken];
  if (e.kind == wakeup_kind::born && e.during != no_task) t.parent = tasks_[e.during].pid;
  if (!t.ready_ns) t.ready_ns = e.at_ns;
  if (!request_.lines || !request_.wakeups || (!is_shown(e.during) && !t.shown)) return;
  std::string line = start_of_line(e.at_ns, e.told_on, e.during);
  line += fmt::format("{:>9}  {:>9}  {:>9}  ", "", "", "");
  if (request_.state) line += "       ";
  out_(line + fmt::format(" awakened: {}\n", title(e.woken)));
}

void sched_timehist::on_migrate(const schedule_migration& e) {
  known_task& t = tasks_[e.task];
  ++t.migrations;
  const std::uint32_t during = cpu_of(e.told_on).task;
  if (!request_.lines || !request_.migrations || (!is_shown(during) && !t.shown)) return;
  std::string line = start_of_line(e.at_ns, e.told_on, during);
  line += fmt::format("{:>9}  {:>9}  {:>9}  ", "", "", "");
  out_(line + fmt::format(" migrated: {} cpu {} => {}\n", title(e.task), e.from_cpu, e.to_cpu));
}

void sched_timehist::on_name(std::uint64_t, std::uint32_t task, std::string_view name) {
  tasks_[task].name = name;
}

void sched_timehist::end(std::uint64_t) {
  if (request_.summary) write_summary();
}

void sched_timehist::write_row(const known_task& t) const {
  const auto n = static_cast<double>(t.stays);
  const double of_mean = t.stays < 2 ? 0 : std::sqrt(t.squares / (n - 1) / n);
  const double per_cent = t.mean_ns > 0 ? 100 * of_mean / t.mean_ns : 0;
  const std::string name = fmt::format("{}[{}]", printable(t.name), t.pid);
  out_(fmt::format("{:>{}}   {:5}  {:9}   {}{} {} {} {:6.2f}   {:5}\n", name, name_width, t.parent,
                   t.stays, cut_ms(t.ran_ns), cut_ms(t.shortest_ns),
                   cut_ms(static_cast<std::uint64_t>(t.mean_ns)), cut_ms(t.longest_ns), per_cent,
                   t.migrations));
}

void sched_timehist::write_rows(bool ended) {
  // perf goes through its table of tasks.
  constexpr std::int32_t table_size = 256;
  std::vector<const known_task*> rows;
  for (const known_task& t : tasks_) {
    if (t.stays > 0 && t.shown && t.ended == ended) rows.push_back(&t);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const known_task* a, const known_task* b) {
    return std::pair(a->pid % table_size, a->pid) < std::pair(b->pid % table_size, b->pid);
  });
  for (const known_task* t : rows) write_row(*t);
  if (rows.empty()) out_(ended ? "<no terminated tasks>\n" : "<no still running tasks>\n");
}

void sched_timehist::write_idle(std::uint64_t span_ns) {
  for (unsigned cpu = 0; cpu < cpus_.size(); ++cpu) {
    const known_cpu& c = cpus_[cpu];
    if (c.idle_seen) {
      out_(fmt::format(
          "    CPU {:2} idle for {} msec  ({:6.2f}%)\n", cpu, cut_ms(c.idle_ns),
          span_ns == 0 ? 0.0
                       : 100.0 * static_cast<double>(c.idle_ns) / static_cast<double>(span_ns)));
    } else if (c.switched_ns) {
      out_(fmt::format("    CPU {:2} never idle\n", cpu));
    } else {
      out_(fmt::format("    CPU {:2} idle entire time window\n", cpu));
    }
  }
}

void sched_timehist::write_summary() {
  if (request_.lines) out_("\n");
  out_("Runtime summary\n");
  out_(
      fmt::format("{:>{}}  parent   sched-in     run-time    min-run     avg-run     max-run  "
                  "stddev  migrations\n",
                  "comm", name_width));
  out_(
      fmt::format("{:>{}}            (count)       (msec)     (msec)      (msec)      (msec)      "
                  " %\n",
                  "", name_width));
  out_(fmt::format("{:->117}\n", ""));
  write_rows(false);
  out_("\nTerminated tasks:\n");
  write_rows(true);
  std::uint64_t tasks = 0;
  std::uint64_t stays = idle_stays_;
  std::uint64_t ran_ns = 0;
  for (const known_task& t : tasks_) {
    if (!t.shown) continue;
    tasks += t.stays > 0 ? 1 : 0;
    stays += t.stays;
    ran_ns += t.ran_ns;
  }
  const std::uint64_t span_ns = first_ns_ ? last_ns_ - *first_ns_ : 0;
  out_("\nIdle stats:\n");
  write_idle(span_ns);
  out_(fmt::format("\n    Total number of unique tasks: {}\n", tasks));
  out_(fmt::format("Total number of context switches: {}\n", stays));
  out_(fmt::format("           Total run time (msec): {}\n", cut_ms(ran_ns)));
  out_(fmt::format("    Total scheduling time (msec): {} (x {})\n", cut_ms(span_ns), cpus_.size()));
}

}  // namespace vlag

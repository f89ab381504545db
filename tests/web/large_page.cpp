// SPDX-License-Identifier: Apache-2.0
//
// large_page FILE: writes the page of a run of 5,000 tasks on 64 CPUs with 10 million switches, as
// a busy server makes in minutes. For the tests of the page; prints what it holds.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "report/html_report.hpp"
#include "report/output_file.hpp"
#include "report/page_data.hpp"

namespace vlag {
namespace {

constexpr unsigned cpus = 64;
constexpr std::int32_t tasks = 5000;
constexpr std::uint64_t switches = 10'000'000;
constexpr std::uint64_t step_ns = 20'000;  // between switches anywhere

struct made_run {
  run_figures figures;
  std::unique_ptr<timeline_bins> line;
};

timeline_request request(std::vector<time_window> windows, const run_figures& names,
                         const std::vector<std::string>& classes) {
  timeline_request r;
  r.to_ns = switches * step_ns;
  r.cpus = cpus;
  r.bins_per_cpu = bins_for(cpus);
  r.windows = std::move(windows);
  r.class_of = classes_of(names, classes);
  return r;
}

run_figures names_only() {
  constexpr const char* names[] = {"worker", "nginx", "db", "log", "gc",
                                   "io",     "cron",  "x",  "y",   "z"};
  run_figures run;
  run.to_ns = switches * step_ns;
  run.cpus.resize(cpus);
  for (std::int32_t i = 0; i < tasks; ++i) {
    task_figures t;
    t.pid = 1000 + i;
    t.name = fmt::format("{}{}", names[i % 10], i);
    run.tasks.push_back(std::move(t));
  }
  return run;
}

// Round robin with random lengths: who is switched to waited since it last ran.
made_run make(const std::string& label, unsigned seed, const std::vector<std::string>& classes) {
  made_run made{names_only(), nullptr};
  made.figures.label = label;
  made.line = std::make_unique<timeline_bins>(
      request(merged_windows({{switches * step_ns / 2, switches * step_ns / 2 + 50'000'000}}),
              made.figures, classes));
  std::mt19937 random(seed);
  std::vector<std::int32_t> on(cpus, 0);
  std::vector<std::uint64_t> since(tasks, 0);
  for (std::uint64_t i = 0; i < switches; ++i) {
    const std::uint64_t now = i * step_ns;
    const unsigned cpu = static_cast<unsigned>(random()) % cpus;
    const auto next = static_cast<std::size_t>(random() % static_cast<unsigned>(tasks));
    const std::int32_t pid = 1000 + static_cast<std::int32_t>(next);
    if (std::find(on.begin(), on.end(), pid) != on.end()) continue;
    const std::uint64_t wait = (random() % 4096) * (1 + next % 7) * seed * 100;
    made.line->on_wakeup(now - std::min(now, wait), pid, 0);
    made.line->on_switch(now, cpu, on[cpu], leave_reason::blocked, pid);
    task_figures& t = made.figures.tasks[next];
    t.wake_latency.add(wait, now);
    ++t.switches_in;
    t.cpu_ns += step_ns * cpus;
    if (wait > t.max_wait_to_ns - t.max_wait_from_ns && wait <= now) {
      t.max_wait_from_ns = now - wait;
      t.max_wait_to_ns = now;
    }
    on[cpu] = pid;
  }
  made.line->finish();
  return made;
}

int write(const std::string& path) {
  const std::vector<std::string> classes = coloured_groups(names_only());
  const made_run before = make("recorded", 1, classes);
  const made_run after = make("linux-6.12", 2, classes);
  const result_policy policy{configure(*find_profile("linux-6.12"), cpus, 4'000'000), false, {}};
  page_document page;
  page.results.version = "test";
  page.results.cpus = cpus;
  page.results.runs = {{&before.figures, nullptr}, {&after.figures, &policy}};
  page.change = {"Waits are twice as long.", 0, 1};
  page.command = "large_page";
  page.trust = "Nothing was replayed.";
  page.name = "5,000 tasks";
  page.format = "made up";
  page.trace_events = switches;
  page.classes = classes;
  page.timelines = {before.line.get(), after.line.get()};
  const std::string text = html_report(page_data(page));
  write_whole_file(path, text);
  fmt::print("{} tasks, {} single runs, {} bytes\n", tasks, before.line->stretches(), text.size());
  return 0;
}

}  // namespace
}  // namespace vlag

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  return vlag::write(argv[1]);
}

// SPDX-License-Identifier: Apache-2.0
#include "report/sched_latency.hpp"

#include "input/input_error.hpp"
#include "input/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace vlag {
namespace {

struct named_key {
  std::string_view name;
  latency_key key;
};
constexpr std::array<named_key, 4> keys{{{"runtime", latency_key::runtime},
                                         {"switch", latency_key::switches},
                                         {"avg", latency_key::average},
                                         {"max", latency_key::maximum}}};

std::uint64_t average_of(const sched_latency::row& r) {
  return r.delays == 0 ? 0 : r.delay_sum_ns / r.delays;
}

std::uint64_t value_of(const sched_latency::row& r, latency_key key) {
  switch (key) {
    case latency_key::average:
      return average_of(r);
    case latency_key::maximum:
      return r.longest_ns;
    case latency_key::switches:
      return r.delays;
    case latency_key::runtime:
      break;
  }
  return r.runtime_ns;
}

void merge(sched_latency::row& sum, const sched_latency::row& one) {
  ++sum.merged;
  sum.runtime_ns += one.runtime_ns;
  sum.delays += one.delays;
  sum.delay_sum_ns += one.delay_sum_ns;
  if (one.longest_ns > sum.longest_ns) {
    sum.longest_ns = one.longest_ns;
    sum.longest_from_ns = one.longest_from_ns;
    sum.longest_to_ns = one.longest_to_ns;
  }
}

double in_ms(std::uint64_t ns) { return static_cast<double>(ns) / 1e6; }

std::string rule(std::size_t width) { return fmt::format(" {:-<{}}\n", "", width); }

constexpr std::size_t table_width = 139;
constexpr std::size_t total_width = 113;
constexpr std::size_t bottom_width = 51;

}  // namespace

std::string perf_time(std::uint64_t ns) {
  return fmt::format("{}.{:06}", ns / 1'000'000'000, ns % 1'000'000'000 / 1000);
}

std::vector<latency_key> parse_latency_keys(std::string_view text) {
  std::vector<latency_key> result;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view name = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    const auto at = std::find_if(keys.begin(), keys.end(),
                                 [name](const named_key& k) { return k.name == name; });
    if (at == keys.end()) {
      throw input_error(
          fmt::format("--sort: no key '{}'; expected some of runtime, switch, avg, "
                      "max, separated by commas",
                      name));
    }
    result.push_back(at->key);
  }
  if (result.empty()) throw input_error("--sort: no key; expected runtime, switch, avg or max");
  return result;
}

void sched_latency::begin(const schedule_info& info) {
  clock_ns_ = info.clock_at_start_ns;
  wait_begins_ = info.wait_begins;
  for (const schedule_task& t : info.tasks) on_task(0, t);
  cpus_.resize(info.cpus);
}

void sched_latency::on_task(std::uint32_t, const schedule_task& task) {
  row& sums = tasks_.emplace_back().sums;
  sums.name = task.name;
  sums.pid = task.pid;
}

sched_latency::known_cpu& sched_latency::cpu_of(unsigned number) {
  if (number >= cpus_.size()) cpus_.resize(number + std::size_t{1});
  return cpus_[number];
}

// CPU time counts from the beginning; perf does not know that far who has the CPU.
void sched_latency::on_start(unsigned cpu, std::uint32_t running) { cpus_[cpu].task = running; }

void sched_latency::count_stay(known_cpu& c, std::uint64_t at_ns) {
  if (c.task != no_task && !counted_runtime_) {
    tasks_[c.task].sums.runtime_ns += at_ns - c.since_ns;
  }
}

void sched_latency::leaves(known_task& t, bool runnable, std::uint64_t at_ns) {
  t.seen = true;
  t.out_ns = at_ns;
  t.state = runnable ? phase::waits : phase::sleeps;
  if (runnable) t.wants_since_ns = at_ns;
}

void sched_latency::on_switch(const schedule_switch& e) {
  known_cpu& c = cpu_of(e.cpu);
  ++switches_;
  if (c.known && c.task != e.previous) ++unexpected_;
  count_stay(c, e.at_ns);
  c = {true, e.next, e.at_ns};
  if (e.previous != no_task) {
    const bool waits = e.left.runnable() && !(request_.as_perf_6_1 && e.left.preempted);
    leaves(tasks_[e.previous], waits, e.at_ns);
  }
  if (e.next == no_task) return;
  known_task& t = tasks_[e.next];
  if (!t.seen) leaves(t, true, e.at_ns);
  if (std::exchange(t.state, phase::runs) != phase::waits) return;
  const std::uint64_t delay = e.at_ns - t.wants_since_ns;
  ++t.sums.delays;
  t.sums.delay_sum_ns += delay;
  if (delay > t.sums.longest_ns) {
    t.sums.longest_ns = delay;
    t.sums.longest_from_ns = clock_ns_ + t.wants_since_ns;
    t.sums.longest_to_ns = clock_ns_ + e.at_ns;
  }
}

void sched_latency::on_wakeup(const schedule_wakeup& e) {
  const wakeup_kind counted = request_.as_perf_6_1 ? wakeup_kind::queued : wait_begins_;
  if (e.woken == no_task || (e.kind != counted && e.kind != wakeup_kind::born)) return;
  known_task& t = tasks_[e.woken];
  if (!t.seen) leaves(t, false, e.at_ns);
  if (!request_.one_cpu && t.state != phase::sleeps) return;
  t.state = phase::waits;
  t.wants_since_ns = e.at_ns;
}

void sched_latency::on_migrate(const schedule_migration& e) {
  if (!request_.one_cpu) return;
  known_task& t = tasks_[e.task];
  if (!t.seen) leaves(t, true, e.at_ns);
  t.out_ns = e.at_ns;
  t.wants_since_ns = e.at_ns;
}

void sched_latency::on_runtime(std::uint64_t at_ns, std::uint32_t task, std::uint64_t ran_ns) {
  if (!std::exchange(counted_runtime_, true)) {
    for (known_task& t : tasks_) t.sums.runtime_ns = 0;
  }
  if (task == no_task) return;
  known_task& t = tasks_[task];
  if (!t.seen) leaves(t, true, at_ns);
  t.sums.runtime_ns += ran_ns;
}

void sched_latency::on_name(std::uint64_t, std::uint32_t task, std::string_view name) {
  tasks_[task].sums.name = name;
}

void sched_latency::end(std::uint64_t at_ns) {
  for (known_cpu& c : cpus_) count_stay(c, at_ns);
}

std::vector<sched_latency::row> sched_latency::rows() const {
  std::vector<row> result;
  for (const known_task& t : tasks_) {
    if (t.seen) result.push_back(t.sums);
  }
  // perf's own order, which decides among equals: names or pids from the last to the first.
  std::stable_sort(result.begin(), result.end(),
                   [](const row& a, const row& b) { return a.pid > b.pid; });
  if (!request_.each_pid) {
    std::stable_sort(result.begin(), result.end(),
                     [](const row& a, const row& b) { return a.name > b.name; });
    std::vector<row> merged;
    for (const row& r : result) {
      if (!merged.empty() && merged.back().name == r.name) {
        merge(merged.back(), r);
      } else {
        merged.push_back(r);
      }
    }
    result = std::move(merged);
  }
  std::stable_sort(result.begin(), result.end(), [this](const row& a, const row& b) {
    for (const latency_key key : request_.sort) {
      if (key == latency_key::average && (a.delays == 0) != (b.delays == 0)) return a.delays != 0;
      if (value_of(a, key) != value_of(b, key)) return value_of(a, key) > value_of(b, key);
    }
    return false;
  });
  std::erase_if(result, [](const row& r) { return r.delays == 0; });
  return result;
}

std::string sched_latency::text() const {
  std::string result = fmt::format("\n{}", rule(table_width));
  result +=
      "  Task                  |   Runtime ms  | Switches | Avg delay ms    | Max delay ms    | "
      "Max "
      "delay start           | Max delay end          |\n";
  result += rule(table_width);
  std::uint64_t runtime_ns = 0;
  std::uint64_t delays = 0;
  for (const row& r : rows()) {
    runtime_ns += r.runtime_ns;
    delays += r.delays;
    const std::string name = r.merged > 1 ? fmt::format("  {}:({}) ", printable(r.name), r.merged)
                                          : fmt::format("  {}:{} ", printable(r.name), r.pid);
    result += fmt::format(
        "{:<24}|{:11.3f} ms |{:9} | avg:{:8.3f} ms | max:{:8.3f} ms | max start: {:>12} s | max "
        "end: {:>12} s\n",
        name, in_ms(r.runtime_ns), r.delays, in_ms(average_of(r)), in_ms(r.longest_ns),
        perf_time(r.longest_from_ns), perf_time(r.longest_to_ns));
  }
  result += rule(total_width);
  result +=
      fmt::format("  TOTAL:                |{:11.3f} ms |{:9} |\n", in_ms(runtime_ns), delays);
  result += rule(bottom_width);
  if (unexpected_ != 0) {
    result += fmt::format("  INFO: {:.3f}% context switch bugs ({} out of {})\n",
                          static_cast<double>(unexpected_) / static_cast<double>(switches_) * 100.0,
                          unexpected_, switches_);
  }
  return result + "\n";
}

}  // namespace vlag

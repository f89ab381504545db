// SPDX-License-Identifier: Apache-2.0
#include "report/sched_map.hpp"

#include "input/printable.hpp"
#include "report/sched_latency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace vlag {
namespace {

constexpr std::array<char, 2> idle{'.', ' '};

void advance(std::array<char, 2>& letters) {
  if (letters[0] != 'Z') {
    ++letters[0];
    return;
  }
  letters[0] = 'A';
  letters[1] = letters[1] == '9' ? '0' : static_cast<char>(letters[1] + 1);
}

}  // namespace

void sched_map::begin(const schedule_info& info) {
  clock_ns_ = info.clock_at_start_ns;
  for (const schedule_task& t : info.tasks) tasks_.push_back({t.name, t.pid, no_letters});
  on_.assign(info.cpus, no_letters);
}

bool sched_map::has_column(unsigned cpu) const {
  return shown_cpus_.empty() ||
         std::find(shown_cpus_.begin(), shown_cpus_.end(), cpu) != shown_cpus_.end();
}

// True: the task got its letters just now.
bool sched_map::name_task(std::uint32_t task) {
  shown_task& t = tasks_[task];
  if (t.letters != no_letters) return false;
  t.letters = next_;
  advance(next_);
  return true;
}

void sched_map::on_switch(const schedule_switch& e) {
  bool is_new = e.next != no_task && name_task(e.next);
  if (e.next != no_task && std::exchange(tasks_[e.next].renamed, false)) is_new = true;
  on_[e.cpu] = e.next == no_task ? idle : tasks_[e.next].letters;
  if (!has_column(e.cpu)) return;
  std::string line = "  ";
  for (unsigned cpu = 0; cpu < on_.size(); ++cpu) {
    if (!has_column(cpu)) continue;
    line += cpu == e.cpu ? '*' : ' ';
    if (on_[cpu] == no_letters) {
      line += "   ";
    } else {
      line += std::string(on_[cpu].begin(), on_[cpu].end()) + ' ';
    }
  }
  line += fmt::format("  {:>12} secs ", perf_time(clock_ns_ + e.at_ns));
  if (is_new) {
    const shown_task& t = tasks_[e.next];
    line += fmt::format("{}{} => {}:{}", t.letters[0], t.letters[1], printable(t.name), t.pid);
  }
  out_(line + '\n');
}

void sched_map::on_name(std::uint64_t, std::uint32_t task, std::string_view name) {
  tasks_[task].name = name;
  tasks_[task].renamed = true;
}

}  // namespace vlag

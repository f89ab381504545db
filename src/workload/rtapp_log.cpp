// SPDX-License-Identifier: Apache-2.0
#include "workload/rtapp_log.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "input/input_error.hpp"

namespace vlag {
namespace {

constexpr std::uint64_t chunk_us = busy_chunk_ns / 1'000;

// As rt-app: us, cut off; before now, the next lower.
std::int64_t us_between(std::uint64_t from_ns, std::uint64_t to_ns) {
  const std::int64_t ns = static_cast<std::int64_t>(to_ns) - static_cast<std::int64_t>(from_ns);
  return ns / 1'000 - (ns % 1'000 < 0 ? 1 : 0);
}

// A name of a file in its folder, whatever the workload calls its tasks.
std::string as_file_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return c == '/' || static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '_');
  return text;
}

}  // namespace

rtapp_log::rtapp_log(const rtapp_workload& workload)
    : workload_(workload),
      loop_ns_(workload.log.loop_ns == 0 ? assumed_loop_ns : workload.log.loop_ns),
      threads_(workload.tasks.size()) {
  for (std::uint32_t i = 0; i < workload.tasks.size(); ++i) {
    if (workload.tasks[i].start == start_state::unborn) continue;
    threads_[i].number = static_cast<std::uint32_t>(begun_.size());
    threads_[i].name = fmt::format("{}-{}", workload.bases[i], begun_.size());
    begun_.push_back(i);
  }
}

void rtapp_log::on_fork(std::uint32_t task) {
  const std::string& base = workload_.bases[task];
  threads_[task].number = static_cast<std::uint32_t>(begun_.size());
  threads_[task].name = fmt::format("{}-{}-{}", base, begun_.size(), forks_[base]++);
  begun_.push_back(task);
}

void rtapp_log::on_note(std::uint64_t at_ns, std::uint32_t task, std::uint32_t what,
                        std::uint64_t value) {
  thread& t = threads_[task];
  switch (static_cast<rtapp_note>(what)) {
    case rtapp_note::loop_begins:
      t.now = {};
      t.now.begin_ns = at_ns;
      break;
    case rtapp_note::loop_ends:
      if (++lines_ > max_rtapp_log_lines) {
        throw input_error(
            fmt::format("{}: more than {} lines of rt-app's log; expected a shorter "
                        "--duration",
                        workload_.name, max_rtapp_log_lines));
      }
      t.now.end_ns = at_ns;
      t.lines.push_back(t.now);
      break;
    case rtapp_note::run_begins:
      t.now.asked_run_us += value;
      t.run_begin_ns = at_ns;
      break;
    case rtapp_note::run_ends:
    case rtapp_note::runtime_ends: {
      const bool is_run = static_cast<rtapp_note>(what) == rtapp_note::run_ends;
      t.now.run_us += static_cast<std::uint64_t>(us_between(t.run_begin_ns, at_ns));
      t.now.perf += is_run ? value * 1'000 / loop_ns_ : value * (chunk_us * 1'000 / loop_ns_);
      break;
    }
    case rtapp_note::timer_begins:
      t.now.asked_period_us += value;
      break;
    case rtapp_note::timer_ends:
      if (t.timer_waits) t.now.late_us += static_cast<std::uint64_t>(us_between(t.timer_ns, at_ns));
      break;
  }
}

void rtapp_log::on_timer(std::uint64_t at_ns, std::uint32_t task, std::uint64_t next_ns) {
  thread& t = threads_[task];
  const std::int64_t slack_us = us_between(at_ns, next_ns);
  t.now.slack_us = slack_us + (workload_.log.cumulative_slack ? t.now.slack_us : 0);
  t.timer_ns = next_ns;
  t.timer_waits = at_ns < next_ns;
  if (!t.timer_waits) t.now.late_us = 0;
}

std::string rtapp_log::text_of(const thread& t) const {
  std::string text = fmt::format(
      "{} {:>8} {:>8} {:>8} {:>15} {:>15} {:>15} {:>10} {:>10} {:>10} "
      "{:>10}\n",
      "#idx", "perf", "run", "period", "start", "end", "rel_st", "slack", "c_duration", "c_period",
      "wu_lat");
  for (const line& l : t.lines) {
    const std::uint64_t begin_us = l.begin_ns / 1'000;
    fmt::format_to(std::back_inserter(text),
                   "{:>4} {:>8} {:>8} {:>8} {:>15} {:>15} {:>15} {:>10} {:>10} {:>10} {:>10}\n",
                   t.number, l.perf, l.run_us, us_between(l.begin_ns, l.end_ns), begin_us,
                   l.end_ns / 1'000, begin_us, l.slack_us, l.asked_run_us, l.asked_period_us,
                   l.late_us);
  }
  return text;
}

std::vector<rtapp_log::file> rtapp_log::files() const {
  std::vector<file> result;
  for (const std::uint32_t task : begun_) {
    const thread& t = threads_[task];
    result.push_back(
        {as_file_name(fmt::format("{}-{}.log", workload_.log.basename, t.name)), text_of(t)});
  }
  return result;
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "report/task_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "input/printable.hpp"
#include "report/text_table.hpp"

namespace vlag {

std::string_view group_name(std::string_view task_name) noexcept {
  const auto end = task_name.find_last_not_of("0123456789");
  if (end == task_name.npos) return task_name;
  const bool dash = end > 0 && end + 1 < task_name.size() && task_name[end] == '-';
  return task_name.substr(0, dash ? end : end + 1);
}

std::string shown_name(std::string_view name) {
  return name.empty() ? "(no name)" : printable(name);
}

std::string group_title(const name_group& group) {
  return group.tasks > 1 ? fmt::format("{} ({})", shown_name(group.name), group.tasks)
                         : shown_name(group.one_name);
}

std::uint64_t share_ppm(const run_figures& run, std::uint64_t cpu_ns) noexcept {
  const std::uint64_t span = run.to_ns - run.from_ns;
  const std::uint64_t cpus = std::max<std::uint64_t>(run.cpus.size(), 1);
  return span == 0 ? 0 : muldiv(cpu_ns, 1'000'000, span * cpus);
}

std::vector<name_group> group_tasks(const run_figures& run, const task_filter& which) {
  std::vector<name_group> groups;
  std::map<std::string_view, std::size_t> index;
  for (const task_figures& task : run.tasks) {
    if (which && !which(task)) continue;
    const std::string_view name = group_name(task.name);
    const auto [at, is_new] = index.try_emplace(name, groups.size());
    if (is_new) {
      name_group& group = groups.emplace_back();
      group.name = name;
      group.one_name = task.name;
      group.sum.pid = task.pid;
      group.sum.in_fair_class = task.in_fair_class;
    }
    name_group& group = groups[at->second];
    ++group.tasks;
    add_figures(group.sum, task);
    group.delay.merge(task.wake_latency);
    group.delay.merge(task.preempt_wait);
  }
  for (name_group& group : groups) {
    if (group.tasks > 1) group.one_name.clear();
  }
  return groups;
}

std::vector<std::int32_t> chosen_tasks(std::span<const run_figures* const> runs,
                                       const row_choice& choice) {
  struct candidate {
    std::uint64_t share = 0;
    bool always = false;
  };
  std::map<std::int32_t, candidate> found;
  for (const run_figures* run : runs) {
    for (const task_figures& task : run->tasks) {
      if (choice.only && !choice.only(task)) continue;
      candidate& c = found[task.pid];
      c.share = std::max(c.share, share_ppm(*run, task.cpu_ns));
      c.always = c.always || choice.only || (choice.always && choice.always(task));
    }
  }
  std::vector<std::pair<std::int32_t, candidate>> order;
  for (const auto& [pid, c] : found) {
    if (c.always || c.share >= choice.min_share_ppm) order.emplace_back(pid, c);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    if (a.second.always != b.second.always) return a.second.always;
    return a.second.share > b.second.share;
  });
  std::vector<std::int32_t> pids;
  for (const auto& [pid, c] : order) {
    if (c.always || pids.size() < choice.max_rows) pids.push_back(pid);
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

}  // namespace vlag

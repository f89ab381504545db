// SPDX-License-Identifier: Apache-2.0
//
// The part of the machine that keeps task groups: making and changing them, their period timers,
// their figures.
#include "machine/machine.hpp"
#include "machine/machine_state.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

namespace vlag {

machine::group_result machine::add_group(const group_setup& setup) {
  const std::string_view path = setup.path;
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos || slash + 1 == path.size() || find_group(path) != no_group) {
    return {group_error::invalid};
  }
  const std::uint32_t parent = find_group(slash == 0 ? "/" : path.substr(0, slash));
  if (parent == no_group) return {group_error::invalid};
  if (tree_ == nullptr || groups_.size() >= std::min(max_groups_, most_groups))
    return {group_error::no_memory};

  const auto number = static_cast<std::uint32_t>(groups_.size()) + 1;
  sim_group& g = groups_.emplace_back();
  g.group.id = number;
  g.figures.path = setup.path;
  g.parent = parent == 0 ? nullptr : &groups_[parent - 1];
  const std::size_t bytes = tree_->required_bytes();
  g.memory = std::make_unique<std::byte[]>(bytes + 64);
  void* memory = g.memory.get();
  std::size_t space = bytes + 64;
  std::align(64, bytes, memory, space);
  const std::span<std::byte> parts(static_cast<std::byte*>(memory), bytes);
  const group_error failure =
      tree_->create(g.group, g.parent == nullptr ? tree_->root() : g.parent->group, parts);
  if (failure != group_error::none) {
    groups_.pop_back();
    return {failure};
  }
  for (std::size_t i = 0; i < setup.files.size(); ++i) {
    const group_error refused = write_file(g, setup.files[i]);
    if (refused == group_error::none) continue;
    std::erase(limited_, number - 1);
    static_cast<void>(tree_->destroy(g.group, clock(now_)));
    groups_.pop_back();
    return {refused, 0, i};
  }
  if (load_ != nullptr) load_->add_group(g.group, parent);
  return {group_error::none, number};
}

std::uint32_t machine::find_group(std::string_view path) const noexcept {
  if (path == "/") return 0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].figures.path == path) return static_cast<std::uint32_t>(i) + 1;
  }
  return no_group;
}

std::uint32_t machine::groups() const noexcept {
  return static_cast<std::uint32_t>(groups_.size());
}

const task_group& machine::group(std::uint32_t number) const noexcept {
  return groups_[number - 1].group;
}

const std::string& machine::group_path(std::uint32_t number) const noexcept {
  return groups_[number - 1].figures.path;
}

group_error machine::set_group_file(std::uint32_t group, const group_file& file) {
  if (group == 0 || group > groups_.size()) return group_error::invalid;
  const group_error failure = write_file(groups_[group - 1], file);
  if (failure == group_error::none && load_ != nullptr) {
    load_->shares_changed(group, read_clock_of_all());
  }
  return failure;
}

group_error machine::write_file(sim_group& g, const group_file& file) {
  const group_error failure = g.group.set(file.name, file.text, read_clock_of_all());
  if (failure != group_error::none) return failure;
  const auto place = static_cast<std::uint32_t>(g.group.id - 1);
  if (g.group.bandwidth().limit.quota_ns != no_quota &&
      std::find(limited_.begin(), limited_.end(), place) == limited_.end()) {
    limited_.push_back(place);
    std::sort(limited_.begin(), limited_.end());
  }
  after_group_change();
  return group_error::none;
}

void machine::move_to_group(std::uint32_t task, std::uint32_t group) {
  change_group(tasks_[task], group);
}

void machine::change_group(sim_task& t, std::uint32_t group) {
  if (tree_ == nullptr || group > groups_.size() || t.figures.group == group) return;
  task_group* const to = group == 0 ? nullptr : &groups_[group - 1].group;
  if (t.state == task_state::running) {
    // What it ran so far counts where it was, and will be charged in whole where it is then.
    const std::uint64_t ran = now_ - t.switched_in_ns;
    for (sim_group* g = group_of(t); g != nullptr; g = g->parent) g->figures.cpu_ns += ran;
    t.figures.group = static_cast<std::uint16_t>(group);
    for (sim_group* g = group_of(t); g != nullptr; g = g->parent) g->figures.cpu_ns -= ran;
  }
  t.figures.group = static_cast<std::uint16_t>(group);
  if (!t.in_class || t.state == task_state::gone) {
    t.group = to;
    return;
  }
  cpu& c = *cpus_[t.cpu];
  c.clock_ns = std::max(c.clock_ns, clock(now_));
  c.fair->move(t, to, c.clock_ns);
  if (load_ != nullptr) load_->task_moved(t, group, c.clock_ns);
  after_group_change();
}

std::uint32_t machine::add_group_write(group_write write) {
  group_writes_.push_back(std::move(write));
  return static_cast<std::uint32_t>(group_writes_.size()) - 1;
}

machine::sim_group* machine::group_of(const sim_task& t) noexcept {
  return t.figures.group == 0 ? nullptr : &groups_[t.figures.group - 1];
}

// What changes a group acts on all CPUs at one reading of the clock, and theirs differ by the
// jitter of the tick.
std::uint64_t machine::read_clock_of_all() {
  std::uint64_t latest = clock(now_);
  for (const auto& c : cpus_) latest = std::max(latest, c->clock_ns);
  for (const auto& c : cpus_) c->clock_ns = latest;
  return latest;
}

void machine::after_group_change() {
  if (!started_) return;
  for (auto& c : cpus_) {
    if (c->current == nullptr || !c->current->real_time()) {
      if (c->fair->need_resched()) {
        request_switch(
            *c, c->current == nullptr ? config_.idle_switch_delay_ns : config_.switch_delay_ns);
      } else {
        arm_hrtick(*c);
      }
    }
    refresh(*c);
  }
}

std::uint64_t machine::next_period_ns() const noexcept {
  std::uint64_t first = never_ns;
  for (const std::uint32_t place : limited_) {
    const bandwidth_pool& pool = groups_[place].group.bandwidth();
    if (!pool.timer_armed) continue;
    const std::uint64_t start = clock(0);
    first = std::min(first, pool.timer_expires_ns > start ? pool.timer_expires_ns - start : 0);
  }
  return first;
}

void machine::run_period_timers() {
  for (auto& c : cpus_) synchronise(*c);
  tree_->run_timers(read_clock_of_all());
  after_group_change();
}

std::uint64_t machine::throttled_ns(const sim_group& g) const {
  std::uint64_t total = g.group.bandwidth().throttled_ns;
  for (const auto& c : cpus_) {
    const group_part& part = g.group.part(c->number);
    if (!schedulers_[c->number]->is_throttled(part)) continue;
    if (before(part.throttled_since_ns, clock(now_)))
      total += clock(now_) - part.throttled_since_ns;
  }
  return total;
}

void machine::begin_measuring(sim_group& g) {
  group_figures fresh;
  fresh.path = std::move(g.figures.path);
  g.figures = std::move(fresh);
  g.periods_before = g.group.bandwidth().nr_periods;
  g.throttled_before = g.group.bandwidth().nr_throttled;
  g.throttled_ns_before = throttled_ns(g);
}

std::vector<group_figures> machine::figures_of_groups() const {
  std::vector<group_figures> result;
  for (const sim_group& g : groups_) {
    group_figures f = g.figures;
    f.nr_periods = g.group.bandwidth().nr_periods - g.periods_before;
    f.nr_throttled = g.group.bandwidth().nr_throttled - g.throttled_before;
    f.throttled_ns = throttled_ns(g) - g.throttled_ns_before;
    result.push_back(std::move(f));
  }
  for (const auto& c : cpus_) {
    if (c->current == nullptr || c->current->figures.group == 0) continue;
    for (const sim_group* g = &groups_[c->current->figures.group - 1]; g != nullptr;
         g = g->parent) {
      result[g->group.id - 1].cpu_ns += now_ - c->current->switched_in_ns;
    }
  }
  return result;
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "vlag/group.hpp"

#include <algorithm>

namespace vlag {
namespace {

constexpr std::uint64_t us = 1'000;
constexpr std::uint64_t shortest_period_ns = 1'000'000;
constexpr std::uint64_t longest_period_ns = 1'000'000'000;
constexpr std::uint64_t most_runtime_ns = ((std::uint64_t{1} << 44) - 1) * us;
constexpr std::uint64_t least_shares = 2;
constexpr std::uint64_t most_shares = std::uint64_t{1} << 18;
constexpr std::uint64_t idle_shares = 3;
// What a CPU keeps when its group falls asleep.
constexpr std::int64_t kept_when_idle_ns = 1'000'000;

constexpr std::uint64_t full(std::uint64_t small) noexcept {
  return small << weight_resolution_bits;
}

}  // namespace

// ---- The tree

group_part& task_group::part(unsigned cpu) const noexcept {
  if (parts_ == nullptr) return tree_->cpus()[cpu]->root_part();
  return *reinterpret_cast<group_part*>(parts_ + cpu * part_stride_);
}

task_group* next_in_tree(const task_group& at, const task_group& top) noexcept {
  if (at.first_child() != nullptr) return at.first_child();
  for (const task_group* g = &at; g != &top; g = g->parent()) {
    if (g->next_sibling() != nullptr) return g->next_sibling();
  }
  return nullptr;
}

group_tree::group_tree(std::span<group_scheduler* const> cpus) noexcept : cpus_(cpus) {
  root_.tree_ = this;
  for (unsigned cpu = 0; cpu < cpus_.size(); ++cpu) cpus_[cpu]->join_tree(root_, cpu);
}

std::size_t group_tree::required_bytes() const noexcept {
  return cpus_.empty() ? 0 : cpus_.size() * cpus_.front()->part_bytes();
}

group_error group_tree::create(task_group& g, task_group& parent,
                               std::span<std::byte> memory) noexcept {
  if (g.tree_ != nullptr || parent.tree_ != this) return group_error::invalid;
  if (memory.size() < required_bytes()) return group_error::no_memory;
  g.parts_ = memory.data();
  g.part_stride_ = cpus_.front()->part_bytes();
  for (unsigned cpu = 0; cpu < cpus_.size(); ++cpu) {
    void* const place = g.parts_ + cpu * g.part_stride_;
    if (cpus_[cpu]->make_part(place, g, parent.part(cpu)) != nullptr) continue;
    while (cpu-- != 0) cpus_[cpu]->remove_part(g.part(cpu), 0);
    g.parts_ = nullptr;
    return group_error::no_memory;
  }
  g.shares_ = nice_0_weight;
  g.nr_tasks_ = 0;
  g.idle_ = false;
  g.latency_nice_ = 0;
  g.bandwidth_ = {};
  g.tree_ = this;
  g.parent_ = &parent;
  g.first_child_ = nullptr;
  g.next_sibling_ = parent.first_child_;
  parent.first_child_ = &g;
  return group_error::none;
}

group_error group_tree::destroy(task_group& g, std::uint64_t now_ns) noexcept {
  if (g.tree_ != this || g.parent_ == nullptr) return group_error::invalid;
  if (g.nr_tasks_ != 0 || g.first_child_ != nullptr) return group_error::busy;
  for (unsigned cpu = 0; cpu < cpus_.size(); ++cpu) {
    if (cpus_[cpu]->is_current(g.part(cpu))) return group_error::busy;
  }
  for (unsigned cpu = 0; cpu < cpus_.size(); ++cpu) cpus_[cpu]->remove_part(g.part(cpu), now_ns);
  task_group** link = &g.parent_->first_child_;
  while (*link != &g) link = &(*link)->next_sibling_;
  *link = g.next_sibling_;
  g.tree_ = nullptr;
  g.parent_ = nullptr;
  g.next_sibling_ = nullptr;
  g.parts_ = nullptr;
  return group_error::none;
}

// ---- Weight

void task_group::apply_shares(std::uint64_t full_shares, std::uint64_t now_ns) noexcept {
  shares_ = full_shares;
  const auto cpus = tree_->cpus();
  for (unsigned cpu = 0; cpu < cpus.size(); ++cpu) cpus[cpu]->shares_changed(part(cpu), now_ns);
}

group_error task_group::change_shares(std::uint64_t small, std::uint64_t now_ns) noexcept {
  if (is_root() || idle_) return group_error::invalid;
  const std::uint64_t wanted = full(std::clamp(small, least_shares, most_shares));
  if (wanted != shares_) apply_shares(wanted, now_ns);
  return group_error::none;
}

group_error task_group::set_weight(std::uint64_t weight, std::uint64_t now_ns) noexcept {
  if (weight < 1 || weight > 10'000) return group_error::out_of_range;
  return change_shares((1024 * weight + 50) / 100, now_ns);
}

group_error task_group::set_weight_nice(std::int64_t nice, std::uint64_t now_ns) noexcept {
  if (nice < min_nice || nice > max_nice) return group_error::out_of_range;
  return change_shares(small_weight(weight_of_nice(static_cast<int>(nice)).full), now_ns);
}

group_error task_group::set_shares(std::uint64_t shares, std::uint64_t now_ns) noexcept {
  return change_shares(shares, now_ns);
}

// ---- Idle, latency

// The tasks inside count as idle for the queues above, or no longer, up to the next idle group.
void task_group::count_idle(group_part& part, group_scheduler& cpu) const noexcept {
  if (!part.queued) return;
  cpu.idle_changed(part);
  const std::uint32_t sign = idle_ ? 1U : 0U - 1U;
  const std::uint32_t change = sign * (part.h_nr_queued - part.h_nr_idle);
  for (const group_part* at = &part; at->parent != nullptr && at->queued; at = at->parent) {
    at->parent->h_nr_idle += change;
    if (is_idle(*at->parent)) return;
  }
}

group_error task_group::set_idle(std::int64_t idle, std::uint64_t now_ns) noexcept {
  if (is_root() || idle < 0 || idle > 1) return group_error::invalid;
  if (idle_ == (idle == 1)) return group_error::none;
  idle_ = idle == 1;
  for (unsigned cpu = 0; cpu < tree_->cpus().size(); ++cpu) {
    count_idle(part(cpu), *tree_->cpus()[cpu]);
  }
  apply_shares(idle_ ? full(idle_shares) : nice_0_weight, now_ns);
  return group_error::none;
}

group_error task_group::set_latency_nice(std::int64_t nice, std::uint64_t now_ns) noexcept {
  if (is_root()) return group_error::invalid;
  if (nice < min_nice || nice > max_nice) return group_error::out_of_range;
  if (nice == latency_nice_) return group_error::none;
  latency_nice_ = static_cast<std::int8_t>(nice);
  const auto cpus = tree_->cpus();
  for (unsigned cpu = 0; cpu < cpus.size(); ++cpu) {
    cpus[cpu]->latency_nice_changed(part(cpu), now_ns);
  }
  return group_error::none;
}

// ---- Bandwidth

// Takes CPU time for a CPU from the pool. True: there is some in hand, target_ns of it if the pool
// had enough.
bool task_group::fetch_runtime(group_part& part, std::int64_t target_ns,
                               std::uint64_t now_ns) noexcept {
  const auto wanted = static_cast<std::uint64_t>(target_ns - part.remaining_ns);
  std::uint64_t amount = wanted;
  if (bandwidth_.limit.quota_ns != no_quota) {
    start_period_timer(now_ns);
    amount = std::min(bandwidth_.runtime_ns, wanted);
    if (bandwidth_.runtime_ns > 0) bandwidth_.idle = false;
    bandwidth_.runtime_ns -= amount;
  }
  part.remaining_ns += static_cast<std::int64_t>(amount);
  return part.remaining_ns > 0;
}

// What a throttled CPU gets at a refill: what it needs to have 1 ns in hand.
void task_group::take_refill(group_part& part) noexcept {
  const auto wanted = static_cast<std::uint64_t>(1 - part.remaining_ns);
  const std::uint64_t amount = std::min(bandwidth_.runtime_ns, wanted);
  bandwidth_.runtime_ns -= amount;
  part.remaining_ns += static_cast<std::int64_t>(amount);
}

void task_group::give_back_runtime(group_part& part) noexcept {
  const std::int64_t excess_ns = part.remaining_ns - kept_when_idle_ns;
  if (excess_ns <= 0) return;
  bandwidth_.runtime_ns += static_cast<std::uint64_t>(excess_ns);
  part.remaining_ns -= excess_ns;
}

group_error task_group::set_bandwidth(const bandwidth_limit& limit, std::uint64_t now_ns) noexcept {
  const bool limited = limit.quota_ns != no_quota;
  if (is_root() || limit.quota_ns < shortest_period_ns || limit.period_ns < shortest_period_ns ||
      limit.period_ns > longest_period_ns) {
    return group_error::invalid;
  }
  if (limited && (limit.quota_ns > most_runtime_ns || limit.burst_ns > limit.quota_ns ||
                  limit.quota_ns + limit.burst_ns > most_runtime_ns)) {
    return group_error::invalid;
  }
  bandwidth_.limit = limit;
  if (limited) {
    refill();
    start_period_timer(now_ns);
  }
  const auto cpus = tree_->cpus();
  for (unsigned cpu = 0; cpu < cpus.size(); ++cpu) cpus[cpu]->bandwidth_changed(part(cpu), now_ns);
  return group_error::none;
}

// What was not used is kept, up to the burst.
void task_group::refill() noexcept {
  const bandwidth_limit& limit = bandwidth_.limit;
  bandwidth_.runtime_ns =
      std::min(bandwidth_.runtime_ns + limit.quota_ns, limit.quota_ns + limit.burst_ns);
}

// Periods that have passed; the timer is set behind now.
std::uint64_t task_group::forward_period(std::uint64_t now_ns) noexcept {
  if (signed_difference(now_ns, bandwidth_.timer_expires_ns) < 0) return 0;
  const std::uint64_t period_ns = bandwidth_.limit.period_ns;
  const std::uint64_t periods = (now_ns - bandwidth_.timer_expires_ns) / period_ns + 1;
  bandwidth_.timer_expires_ns += periods * period_ns;
  return periods;
}

void task_group::start_period_timer(std::uint64_t now_ns) noexcept {
  if (bandwidth_.period_active) return;
  bandwidth_.period_active = true;
  forward_period(now_ns);
  bandwidth_.timer_armed = true;
}

void task_group::stop_period_timer() noexcept {
  bandwidth_.period_active = false;
  bandwidth_.timer_armed = false;
}

void task_group::period_timer(std::uint64_t now_ns) noexcept {
  bandwidth_pool& pool = bandwidth_;
  if (!pool.timer_armed || before(now_ns, pool.timer_expires_ns)) return;
  const std::uint64_t periods = forward_period(now_ns);
  if (pool.limit.quota_ns == no_quota) {
    stop_period_timer();
    return;
  }
  pool.nr_periods += periods;
  refill();
  if (hand_out(now_ns)) {
    pool.nr_throttled += periods;
    pool.idle = false;
  } else if (pool.idle) {
    stop_period_timer();
  } else {
    pool.idle = true;
  }
}

// False: nobody is throttled.
bool task_group::hand_out(std::uint64_t now_ns) noexcept {
  const auto cpus = tree_->cpus();
  bool anyone = false;
  for (unsigned cpu = 0; cpu < cpus.size(); ++cpu) {
    if (!cpus[cpu]->is_throttled(part(cpu))) continue;
    anyone = true;
    if (bandwidth_.runtime_ns > 0) cpus[cpu]->bandwidth_refilled(part(cpu), now_ns);
  }
  return anyone;
}

std::uint64_t group_tree::next_timer_ns() const noexcept {
  std::uint64_t next_ns = std::numeric_limits<std::uint64_t>::max();
  for (const task_group* g = &root_; g != nullptr; g = next_in_tree(*g, root_)) {
    if (g->bandwidth().timer_armed) next_ns = std::min(next_ns, g->bandwidth().timer_expires_ns);
  }
  return next_ns;
}

void group_tree::run_timers(std::uint64_t now_ns) noexcept {
  for (task_group* g = &root_; g != nullptr; g = next_in_tree(*g, root_)) g->period_timer(now_ns);
}

}  // namespace vlag

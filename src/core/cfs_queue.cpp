// SPDX-License-Identifier: Apache-2.0
#include "vlag/cfs_queue.hpp"

#include "core/mutant.hpp"

#include "vlag/weight.hpp"

#include <algorithm>
#include <cassert>

namespace vlag {
namespace {

constexpr std::uint64_t later(std::uint64_t a, std::uint64_t b) noexcept {
  return before(a, b) ? b : a;
}

constexpr std::uint64_t earlier(std::uint64_t a, std::uint64_t b) noexcept {
  return before(b, a) ? b : a;
}

// The load is zero only after it wrapped.
constexpr std::uint32_t inverse_of_load(std::uint64_t load) noexcept {
  return load == 0 ? 0xffffffffU : inverse_of(load);
}

}  // namespace

cfs_queue::cfs_queue(const cfs_config& config, timeline_storage& storage) noexcept
    : config_(&config), waiting_(storage) {}

entity* cfs_queue::queued_running() const noexcept {
  return running_ != nullptr && running_->queued ? running_ : nullptr;
}

void cfs_queue::charge(std::uint64_t now_ns) noexcept {
  const std::uint64_t ran_ns = now_ns - running_->exec_start_ns;
  running_->exec_start_ns = now_ns;
  running_->sum_exec_ns += ran_ns;
  running_->vruntime += to_virtual(ran_ns, running_->weight);
  advance_min_vruntime();
}

void cfs_queue::advance_min_vruntime() noexcept {
  const entity* const running = queued_running();
  const entity* const first = waiting_.first();
  std::uint64_t candidate = min_vruntime_;
  if (running != nullptr && first != nullptr) {
    candidate = earlier(running->vruntime, first->vruntime);
  } else if (running != nullptr) {
    candidate = running->vruntime;
  } else if (first != nullptr) {
    candidate = first->vruntime;
  }
  min_vruntime_ = later(min_vruntime_, candidate);
}

void cfs_queue::place_new(entity& e, std::uint64_t slice_ns) const noexcept {
  assert(!e.queued);
  std::uint64_t start = min_vruntime_;
  if (has(feature::start_debit)) start += to_virtual(slice_ns, e.weight);
  e.vruntime = later(e.vruntime, start);
}

void cfs_queue::place_woken(entity& e, entity_kind kind, std::uint64_t now_ns) const noexcept {
  std::uint64_t credit_ns =
      kind == entity_kind::idle ? config_->min_granularity_ns : config_->latency_ns;
  if (has(feature::gentle_fair_sleepers)) credit_ns /= 2;
  const std::uint64_t start = min_vruntime_ - credit_ns;
  // exec_start_ns is 0 for one that never ran, however long ago that was.
  const bool incomparable = !mutant(fault::long_sleep_compared) && e.exec_start_ns != 0 &&
                            now_ns > e.exec_start_ns &&
                            now_ns - e.exec_start_ns > longest_comparable_sleep_ns;
  e.vruntime = incomparable ? start : later(e.vruntime, start);
}

void cfs_queue::add_load(std::uint64_t full_weight) noexcept {
  load_ += full_weight;
  if (load_ < full_weight) ++anomalies_;
}

void cfs_queue::join(entity& e, entity_kind kind) noexcept {
  add_load(e.weight.full);
  ++nr_queued_;
  if (kind == entity_kind::idle) ++nr_idle_;
  e.queued = true;
  if (&e != running_) waiting_.insert(e, e.vruntime);
}

void cfs_queue::enqueue_woken(entity& e, entity_kind kind, std::uint64_t now_ns) noexcept {
  assert(!e.queued);
  account(now_ns);
  place_woken(e, kind, now_ns);
  join(e, kind);
}

void cfs_queue::enqueue_relative(entity& e, entity_kind kind, std::uint64_t now_ns) noexcept {
  assert(!e.queued);
  account(now_ns);
  e.vruntime += min_vruntime_;
  join(e, kind);
}

buddy_roles cfs_queue::dequeue(entity& e, entity_kind kind, kept_vruntime keep, floor_update floor,
                               std::uint64_t now_ns) noexcept {
  assert(e.queued);
  account(now_ns);
  const buddy_roles lost = drop_buddies(e);
  if (&e != running_) waiting_.erase(e, e.vruntime);
  e.queued = false;
  load_ -= e.weight.full;
  --nr_queued_;
  if (kind == entity_kind::idle) --nr_idle_;
  // Before the floor moves up: it is this entity's distance to the floor it was held at that
  // counts.
  if (keep == kept_vruntime::relative) e.vruntime -= min_vruntime_;
  if (floor == floor_update::advance) advance_min_vruntime();
  return lost;
}

void cfs_queue::put_back(std::uint64_t now_ns) noexcept {
  if (queued_running() != nullptr) {
    account(now_ns);
    waiting_.insert(*running_, running_->vruntime);
  }
  running_ = nullptr;
}

buddy_roles cfs_queue::set_running(entity& e, std::uint64_t now_ns) noexcept {
  assert(running_ == nullptr);
  const buddy_roles lost = drop_buddies(e);
  if (e.queued) waiting_.erase(e, e.vruntime);
  e.exec_start_ns = now_ns;
  e.prev_sum_exec_ns = e.sum_exec_ns;
  running_ = &e;
  return lost;
}

// Who comes after `first`, the one that should run but is to be skipped.
entity* cfs_queue::second_after(const entity& first) const noexcept {
  entity* const running = queued_running();
  if (&first == running) return waiting_.first();
  entity* const following = waiting_.next(first, first.vruntime);
  if (running == nullptr) return following;
  return following == nullptr || before(running->vruntime, following->vruntime) ? running
                                                                                : following;
}

entity* cfs_queue::pick() const noexcept {
  entity* const running = queued_running();
  entity* left = waiting_.first();
  if (left == nullptr || (running != nullptr && before(running->vruntime, left->vruntime))) {
    left = running;
  }
  if (left == nullptr) return nullptr;

  if (next_ != nullptr && !far_behind(*left, *next_)) return next_;
  if (last_ != nullptr && !far_behind(*left, *last_)) return last_;
  if (skip_ == left) {
    entity* const second = second_after(*left);
    if (second != nullptr && !far_behind(*left, *second)) return second;
  }
  return left;
}

std::uint64_t cfs_queue::period(std::uint64_t n) const noexcept {
  return n > config_->nr_latency ? n * config_->min_granularity_ns : config_->latency_ns;
}

std::uint64_t cfs_queue::part_of(std::uint64_t time_ns, const entity& e) const noexcept {
  const std::uint64_t load = e.queued ? load_ : load_ + e.weight.full;
  return scale_by_inverse(time_ns, small_weight(e.weight.full), inverse_of_load(load));
}

std::uint64_t cfs_queue::at_least_granularity(std::uint64_t slice_ns,
                                              entity_kind kind) const noexcept {
  if (!has(feature::base_slice)) return slice_ns;
  const bool all_idle = nr_queued_ > 0 && nr_queued_ == nr_idle_;
  const std::uint64_t least_ns = kind == entity_kind::idle && !all_idle
                                     ? config_->idle_min_granularity_ns
                                     : config_->min_granularity_ns;
  return std::max(slice_ns, least_ns);
}

std::uint64_t cfs_queue::slice(const entity& e, entity_kind kind) const noexcept {
  const std::uint64_t n = std::uint64_t{nr_queued_} + (e.queued ? 0 : 1);
  return at_least_granularity(part_of(period(n), e), kind);
}

share_state cfs_queue::check_share(std::uint64_t slice_ns) const noexcept {
  const std::uint64_t ran_ns = running_->sum_exec_ns - running_->prev_sum_exec_ns;
  if (ran_ns > slice_ns) return share_state::used_up;
  if (ran_ns < config_->min_granularity_ns) return share_state::not_used_up;
  // A real time compared with a virtual lead, as the reference does.
  const std::int64_t lead = signed_difference(running_->vruntime, waiting_.first()->vruntime);
  return lead >= 0 && static_cast<std::uint64_t>(lead) > slice_ns ? share_state::ahead_of_others
                                                                  : share_state::not_used_up;
}

bool cfs_queue::far_behind(const entity& behind, const entity& ahead) const noexcept {
  const std::int64_t distance = signed_difference(ahead.vruntime, behind.vruntime);
  return distance > 0 && static_cast<std::uint64_t>(distance) >
                             to_virtual(config_->wakeup_granularity_ns, behind.weight);
}

void cfs_queue::reweight(entity& e, std::uint64_t full_weight, std::uint64_t now_ns) noexcept {
  assert(full_weight != 0);
  if (e.queued) {
    if (&e == running_) account(now_ns);
    load_ -= e.weight.full;
    add_load(full_weight);
  }
  e.weight = {full_weight, inverse_of(full_weight)};
}

buddy_roles cfs_queue::drop_roles(const entity& e, buddy_roles from) noexcept {
  unsigned dropped = no_role;
  if ((from & role_next) != 0 && next_ == &e) {
    next_ = nullptr;
    dropped |= role_next;
  }
  if ((from & role_last) != 0 && last_ == &e) {
    last_ = nullptr;
    dropped |= role_last;
  }
  if ((from & role_skip) != 0 && skip_ == &e) {
    skip_ = nullptr;
    dropped |= role_skip;
  }
  return static_cast<buddy_roles>(dropped);
}

}  // namespace vlag

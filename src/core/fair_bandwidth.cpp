// SPDX-License-Identifier: Apache-2.0
//
// CPU bandwidth. A group with a quota has a pool that its period timer refills. On a CPU it takes
// CPU time from the pool in slices and is charged for what runs below it; when it has none in hand
// and the pool is empty, its entity leaves the parent's queue, with the tasks below frozen as they
// are, until a refill puts it back.
#include "vlag/fair_class.hpp"

#include <algorithm>

namespace vlag {
namespace {

// What a CPU keeps when its group falls asleep.
constexpr std::int64_t kept_when_idle_ns = 1'000'000;

void count_throttled(fair_level& top, unsigned cpu, std::uint32_t change) noexcept {
  top.throttle_count += change;
  for (task_group* g = next_in_tree(*top.group, *top.group); g != nullptr;
       g = next_in_tree(*g, *top.group)) {
    static_cast<fair_level&>(g->part(cpu)).throttle_count += change;
  }
}

}  // namespace

// True: there is CPU time in hand, target_ns of it if the pool had enough.
bool fair_class::fetch_runtime(fair_level& level, std::int64_t target_ns,
                               std::uint64_t now_ns) noexcept {
  bandwidth_pool& pool = level.group->bandwidth_;
  const auto wanted = static_cast<std::uint64_t>(target_ns - level.remaining_ns);
  std::uint64_t amount = wanted;
  if (pool.limit.quota_ns != no_quota) {
    level.group->start_period_timer(now_ns);
    amount = std::min(pool.runtime_ns, wanted);
    if (pool.runtime_ns > 0) pool.idle = false;
    pool.runtime_ns -= amount;
  }
  level.remaining_ns += static_cast<std::int64_t>(amount);
  return level.remaining_ns > 0;
}

void fair_class::charge_quota(fair_level& level, std::uint64_t ran_ns,
                              std::uint64_t now_ns) noexcept {
  level.remaining_ns -= static_cast<std::int64_t>(ran_ns);
  if (level.remaining_ns > 0 || level.throttled) return;
  const auto slice_ns = static_cast<std::int64_t>(config_->bandwidth_slice_ns);
  if (!fetch_runtime(level, slice_ns, now_ns) && level.queue.current() != nullptr) {
    reschedule(decision::out_of_bandwidth, level);
  }
}

void fair_class::give_back_runtime(fair_level& level) noexcept {
  if (level.queue.nr_queued() != 0) return;
  const std::int64_t excess_ns = level.remaining_ns - kept_when_idle_ns;
  if (excess_ns <= 0) return;
  level.group->bandwidth_.runtime_ns += static_cast<std::uint64_t>(excess_ns);
  level.remaining_ns -= excess_ns;
}

// A group that wakes with no CPU time must not join at all.
void fair_class::throttle_on_enqueue(fair_level& level, std::uint64_t now_ns) noexcept {
  if (level.queue.nr_queued() != 1 || level.queue.current() != nullptr || level.throttled) return;
  charge_quota(level, 0, now_ns);
  if (level.remaining_ns <= 0) static_cast<void>(throttle(level, now_ns));
}

bool fair_class::throttle_if_used_up(fair_level& level, std::uint64_t now_ns) noexcept {
  if (level.remaining_ns > 0) return false;
  return level.throttled || throttle(level, now_ns);
}

// False: there was CPU time after all.
bool fair_class::throttle(fair_level& level, std::uint64_t now_ns) noexcept {
  if (fetch_runtime(level, 1, now_ns)) return false;
  count_throttled(level, cpu_, 1);
  const bool was_queued = level.queued;
  task_counts left{0U - level.h_nr_queued, 0U - level.h_nr_runnable, 0U - level.h_nr_delayed,
                   0U - (level.of_idle_group() ? level.h_nr_queued : level.h_nr_idle)};
  bool emptied = true;
  for (entity* e = &level; e->parent != nullptr && e->queued; e = e->parent) {
    fair_level& above = level_of(*e);
    if (emptied) {
      const leaving why = e->sched_delayed ? leaving::delay_complete : leaving::for_good;
      static_cast<void>(dequeue_entity(*e, why, now_ns));
    }
    count_tasks(above, left);
    emptied = emptied && above.queue.load() == 0;
  }
  level.throttled = true;
  level.throttled_since_ns = now_ns;
  if (was_queued) tell(decision::group_throttled, level);
  return true;
}

void fair_class::unthrottle(fair_level& level, std::uint64_t now_ns) noexcept {
  level.throttled = false;
  if (before(level.throttled_since_ns, now_ns)) {
    level.group->bandwidth_.throttled_ns += now_ns - level.throttled_since_ns;
  }
  count_throttled(level, cpu_, 0U - 1U);
  tell(decision::group_unthrottled, level);
  if (level.queue.load() == 0) return;
  task_counts back{level.h_nr_queued, level.h_nr_runnable, level.h_nr_delayed,
                   level.of_idle_group() ? level.h_nr_queued : level.h_nr_idle};
  bool joins = true;
  for (entity* e = &level; e->parent != nullptr; e = e->parent) {
    if (e->sched_delayed && joins) {
      static_cast<void>(dequeue_entity(*e, leaving::delay_complete, now_ns));
    }
    joins = joins && !e->queued;
    if (joins) enqueue_entity(*e, placement::of_known_entity, now_ns);
    fair_level& above = level_of(*e);
    count_tasks(above, back);
    if (above.throttled) break;
  }
  if (running_ == nullptr && !higher_class_runs_ && root_.queue.nr_queued() != 0) {
    reschedule(decision::cpu_was_idle, level);
  }
}

void fair_class::bandwidth_changed(group_part& part, std::uint64_t now_ns) noexcept {
  auto& level = static_cast<fair_level&>(part);
  level.limited = level.group->bandwidth_.limit.quota_ns != no_quota;
  level.remaining_ns = 0;
  if (level.throttled) unthrottle(level, now_ns);
}

bool fair_class::is_throttled(const group_part& part) const noexcept {
  return static_cast<const fair_level&>(part).throttled;
}

void fair_class::bandwidth_refilled(group_part& part, std::uint64_t now_ns) noexcept {
  auto& level = static_cast<fair_level&>(part);
  bandwidth_pool& pool = level.group->bandwidth_;
  const auto wanted = static_cast<std::uint64_t>(1 - level.remaining_ns);
  const std::uint64_t amount = std::min(pool.runtime_ns, wanted);
  pool.runtime_ns -= amount;
  level.remaining_ns += static_cast<std::int64_t>(amount);
  if (level.remaining_ns > 0) unthrottle(level, now_ns);
}

}  // namespace vlag

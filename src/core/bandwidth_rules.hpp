// SPDX-License-Identifier: Apache-2.0
//
// CPU bandwidth, the same for both classes. A group with a quota has a pool that its period timer
// refills. On a CPU it takes CPU time from the pool in slices and is charged for what runs below
// it; when it has none in hand and the pool is empty, its entity leaves the parent's queue, with
// the tasks below frozen as they are, until a refill puts it back.
//
// Class says how an entity leaves and joins a queue: leave_throttled(e, now), and
// join_unthrottled(e, now), which is false where the entity was there already.
// Source: CPU bandwidth of Linux 6.12.
#pragma once

#include "vlag/fair_class.hpp"
#include "vlag/group.hpp"

namespace vlag {

template <typename Class, typename Level>
struct bandwidth_rules {
  static void charge(Class& fair, Level& level, std::uint64_t ran_ns,
                     std::uint64_t now_ns) noexcept {
    level.remaining_ns -= static_cast<std::int64_t>(ran_ns);
    if (level.remaining_ns > 0 || level.throttled) return;
    const auto slice_ns = static_cast<std::int64_t>(fair.config_->bandwidth_slice_ns);
    if (!level.group->fetch_runtime(level, slice_ns, now_ns) && level.queue.current() != nullptr) {
      fair.reschedule(decision::out_of_bandwidth, level);
    }
  }

  static void give_back(Level& level) noexcept {
    if (level.queue.nr_queued() == 0) level.group->give_back_runtime(level);
  }

  // A group that wakes with no CPU time must not join at all.
  static void throttle_on_enqueue(Class& fair, Level& level, std::uint64_t now_ns) noexcept {
    if (level.queue.nr_queued() != 1 || level.queue.current() != nullptr || level.throttled) return;
    charge(fair, level, 0, now_ns);
    if (level.remaining_ns <= 0) static_cast<void>(throttle(fair, level, now_ns));
  }

  [[nodiscard]] static bool throttle_if_used_up(Class& fair, Level& level,
                                                std::uint64_t now_ns) noexcept {
    if (level.remaining_ns > 0) return false;
    return level.throttled || throttle(fair, level, now_ns);
  }

  static void limit_changed(Class& fair, Level& level, std::uint64_t now_ns) noexcept {
    level.limited = level.group->bandwidth().limit.quota_ns != no_quota;
    level.remaining_ns = 0;
    if (level.throttled) unthrottle(fair, level, now_ns);
  }

  static void refilled(Class& fair, Level& level, std::uint64_t now_ns) noexcept {
    level.group->take_refill(level);
    if (level.remaining_ns > 0) unthrottle(fair, level, now_ns);
  }

 private:
  static Level& level_above(const entity& e) noexcept { return static_cast<Level&>(*e.parent); }

  static void count_throttled(Level& top, unsigned cpu, std::uint32_t change) noexcept {
    top.throttle_count += change;
    for (task_group* g = next_in_tree(*top.group, *top.group); g != nullptr;
         g = next_in_tree(*g, *top.group)) {
      g->part(cpu).throttle_count += change;
    }
  }

  static std::uint32_t idle_seen_from_above(const Level& level) noexcept {
    return level.of_idle_group() ? level.h_nr_queued : level.h_nr_idle;
  }

  // False: there was CPU time after all.
  static bool throttle(Class& fair, Level& level, std::uint64_t now_ns) noexcept {
    if (level.group->fetch_runtime(level, 1, now_ns)) return false;
    count_throttled(level, fair.cpu_, 1);
    const bool was_queued = level.queued;
    task_counts left{0U - level.h_nr_queued, 0U - level.h_nr_runnable, 0U - level.h_nr_delayed,
                     0U - idle_seen_from_above(level)};
    bool emptied = true;
    for (entity* e = &level; e->parent != nullptr && e->queued; e = e->parent) {
      Level& above = level_above(*e);
      if (emptied) fair.leave_throttled(*e, now_ns);
      above.count_tasks(left);
      emptied = emptied && above.queue.load() == 0;
    }
    level.throttled = true;
    level.throttled_since_ns = now_ns;
    if (was_queued) fair.tell(decision::group_throttled, level);
    return true;
  }

  static void unthrottle(Class& fair, Level& level, std::uint64_t now_ns) noexcept {
    level.throttled = false;
    if (before(level.throttled_since_ns, now_ns)) {
      level.group->bandwidth_.throttled_ns += now_ns - level.throttled_since_ns;
    }
    count_throttled(level, fair.cpu_, 0U - 1U);
    fair.tell(decision::group_unthrottled, level);
    if (level.queue.load() == 0) return;
    task_counts back{level.h_nr_queued, level.h_nr_runnable, level.h_nr_delayed,
                     idle_seen_from_above(level)};
    bool joins = true;
    for (entity* e = &level; e->parent != nullptr; e = e->parent) {
      joins = joins && fair.join_unthrottled(*e, now_ns);
      Level& above = level_above(*e);
      above.count_tasks(back);
      if (above.throttled) break;
    }
    if (fair.running_ == nullptr && !fair.higher_class_runs_ && fair.root_.queue.nr_queued() != 0) {
      fair.reschedule(decision::cpu_was_idle, level);
    }
  }
};

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "vlag/pelt_queue.hpp"

#include <algorithm>
#include <cassert>

namespace vlag {
namespace {

constexpr std::uint64_t share_interval_ns = 1'000'000;
constexpr std::uint64_t noticeable_part = 64;  // changes of less than a 64th are not shared
constexpr unsigned scale_bits = 10;
constexpr std::int64_t least_group_weight = 2;

constexpr std::uint32_t low_32(std::uint64_t value) noexcept {
  return static_cast<std::uint32_t>(value);
}

template <typename T>
void take(T& from, std::uint64_t amount) noexcept {
  from = from > amount ? static_cast<T>(from - amount) : T{0};
}

template <typename T>
void change(T& value, std::int64_t by) noexcept {
  const auto changed = static_cast<T>(value + static_cast<std::uint64_t>(by));
  value = by < 0 && changed > value ? T{0} : changed;
}

// Sums stay at least what their average stands for; the reference compares in 32 bits.
template <typename T>
void keep_floor(T& sum, std::uint64_t average) noexcept {
  sum = std::max(low_32(sum), low_32(average * load_average_min));
}

std::uint64_t small_weight_of(const level_now& level) noexcept {
  return small_weight(level.full_weight);
}

void add_load(load_average& queue, const load_average& entity, std::uint64_t weight) noexcept {
  queue.load_avg += entity.load_avg;
  queue.load_sum += weight * entity.load_sum;
}

void take_load(load_average& queue, const load_average& entity, std::uint64_t weight) noexcept {
  take(queue.load_avg, entity.load_avg);
  take(queue.load_sum, weight * entity.load_sum);
  keep_floor(queue.load_sum, queue.load_avg);
}

void propagate(queue_load& queue, std::int64_t sum) noexcept {
  queue.propagates = true;
  queue.propagated_sum += sum;
}

void remove_left(queue_load& queue) noexcept {
  load_average& a = queue.average;
  const std::uint64_t divider = a.divider();
  take(a.load_avg, queue.left_load);
  take(a.load_sum, queue.left_load * divider);
  keep_floor(a.load_sum, a.load_avg);
  take(a.util_avg, queue.left_util);
  take(a.util_sum, low_32(queue.left_util * divider));
  keep_floor(a.util_sum, a.util_avg);
  take(a.runnable_avg, queue.left_runnable);
  take(a.runnable_sum, queue.left_runnable * divider);
  keep_floor(a.runnable_sum, a.runnable_avg);
  propagate(queue, -static_cast<std::int64_t>(queue.left_runnable * divider) >> scale_bits);
  queue.leavers = 0;
  queue.left_load = queue.left_util = queue.left_runnable = 0;
}

bool update_queue(const queue_now& queue) noexcept {
  const bool removed = queue.load->leavers != 0;
  if (removed) remove_left(*queue.load);
  const bool changed = update_queue_average(queue.load->average, queue.clock->now_ns(),
                                            queue.full_load, queue.runnable, queue.running);
  return removed || changed;
}

void share_load(const queue_now& queue) noexcept {
  if (queue.group == nullptr) return;
  queue_load& load = *queue.load;
  if (queue.clock->task_ns() - load.shared_at_ns < share_interval_ns) return;
  const std::uint64_t average = load.average.load_avg;
  const auto delta = static_cast<std::int64_t>(average - load.shared_load_avg);
  const std::uint64_t distance =
      delta < 0 ? load.shared_load_avg - average : average - load.shared_load_avg;
  if (distance <= load.shared_load_avg / noticeable_part) return;
  queue.group->load_avg += static_cast<std::uint64_t>(delta);
  load.shared_load_avg = average;
  load.shared_at_ns = queue.clock->task_ns();
}

void propagate_util(load_average& entity, const load_average& own, load_average& queue) noexcept {
  const auto change_of_avg = static_cast<std::int64_t>(own.util_avg - entity.util_avg);
  if (change_of_avg == 0) return;
  const std::uint32_t sum = low_32(own.util_avg * queue.divider());
  const std::int64_t change_of_sum = std::int64_t{sum} - std::int64_t{entity.util_sum};
  entity.util_avg = own.util_avg;
  entity.util_sum = sum;
  change(queue.util_avg, change_of_avg);
  change(queue.util_sum, change_of_sum);
  keep_floor(queue.util_sum, queue.util_avg);
}

void propagate_runnable(load_average& entity, const load_average& own,
                        load_average& queue) noexcept {
  const auto change_of_avg = static_cast<std::int64_t>(own.runnable_avg - entity.runnable_avg);
  if (change_of_avg == 0) return;
  const std::uint64_t sum = own.runnable_avg * queue.divider();
  const auto change_of_sum = static_cast<std::int64_t>(sum - entity.runnable_sum);
  entity.runnable_avg = own.runnable_avg;
  entity.runnable_sum = sum;
  change(queue.runnable_avg, change_of_avg);
  change(queue.runnable_sum, change_of_sum);
  keep_floor(queue.runnable_sum, queue.runnable_avg);
}

// How long the group's entity was runnable: what joined adds to it, of what left nothing is known
// but the average over those that stay. Never less than it ran.
std::uint64_t propagated_runtime(const load_average& entity, const queue_now& own,
                                 std::int64_t joined, std::uint64_t divider) noexcept {
  std::uint64_t runtime = 0;
  if (joined > 0) {
    runtime = std::min(static_cast<std::uint64_t>(joined) + entity.load_sum, divider);
  } else if (const std::uint64_t weight = small_weight(own.full_load); weight != 0) {
    runtime = std::min(entity.load_sum, own.load->average.load_sum / weight);
  }
  return std::max(runtime, std::uint64_t{entity.util_sum} >> scale_bits);
}

void propagate_load(const level_now& level, const queue_now& own) noexcept {
  const std::int64_t joined = own.load->propagated_sum;
  if (joined == 0) return;
  own.load->propagated_sum = 0;
  load_average& entity = level.entity->average;
  load_average& queue = level.queue.load->average;
  const std::uint64_t divider = queue.divider();
  const std::uint64_t weight = small_weight_of(level);
  const std::uint64_t runtime = propagated_runtime(entity, own, joined, divider);
  const std::uint64_t sum = weight * runtime;
  const std::uint64_t average = sum / divider;
  const auto change_of_avg = static_cast<std::int64_t>(average - entity.load_avg);
  if (change_of_avg == 0) return;  // load_sum stays as it was, as in the reference
  const auto change_of_sum = static_cast<std::int64_t>(sum - weight * entity.load_sum);
  entity.load_sum = runtime;
  entity.load_avg = average;
  change(queue.load_avg, change_of_avg);
  change(queue.load_sum, change_of_sum);
  keep_floor(queue.load_sum, queue.load_avg);
}

bool propagate_up(const level_now& level) noexcept {
  if (!level.own || !level.own->load->propagates) return false;
  const queue_now& own = *level.own;
  own.load->propagates = false;
  propagate(*level.queue.load, own.load->propagated_sum);
  propagate_util(level.entity->average, own.load->average, level.queue.load->average);
  propagate_runnable(level.entity->average, own.load->average, level.queue.load->average);
  propagate_load(level, own);
  return true;
}

void update_entity(const level_now& level) noexcept {
  entity_activity since;
  since.queued = level.queued;
  since.running = level.running;
  if (!level.delayed) {
    since.runnable = level.own ? level.entity->runnable_weight : std::uint64_t{level.queued};
  }
  update_entity_average(level.entity->average, level.queue.clock->now_ns(), level.full_weight,
                        since);
}

void take_out(const level_now& level) noexcept {
  const load_average& entity = level.entity->average;
  load_average& queue = level.queue.load->average;
  take_load(queue, entity, small_weight_of(level));
  take(queue.util_avg, entity.util_avg);
  take(queue.util_sum, entity.util_sum);
  keep_floor(queue.util_sum, queue.util_avg);
  take(queue.runnable_avg, entity.runnable_avg);
  take(queue.runnable_sum, entity.runnable_sum);
  keep_floor(queue.runnable_sum, queue.runnable_avg);
  propagate(*level.queue.load, -static_cast<std::int64_t>(entity.load_sum));
  share_load(level.queue);
}

constexpr bool is_shared(load_moment moment) noexcept {
  return moment != load_moment::put && moment != load_moment::delay;
}

constexpr bool counts_runnable(load_moment moment) noexcept {
  return moment == load_moment::enqueue || moment == load_moment::dequeue ||
         moment == load_moment::dequeue_to_migrate || moment == load_moment::passing;
}

}  // namespace

void start_task_load(entity_load& e, std::uint64_t full_weight) noexcept {
  e = {};
  e.average.load_avg = small_weight(full_weight);
}

void estimate_new_task(const level_now& task) noexcept {
  load_average& a = task.entity->average;
  const load_average& queue = task.queue.load->average;
  const auto capacity = static_cast<std::int64_t>(task.queue.clock->capacity());
  const std::int64_t spare = (capacity - static_cast<std::int64_t>(queue.util_avg)) / 2;
  if (spare > 0) {
    const auto most = static_cast<std::uint64_t>(spare);
    const std::uint64_t like_others = queue.util_avg * small_weight_of(task) / (queue.load_avg + 1);
    a.util_avg = queue.util_avg == 0 ? most : std::min(like_others, most);
  }
  a.runnable_avg = a.util_avg;
}

void update_load(const level_now& level, load_moment moment) noexcept {
  const bool attached = level.entity->average.last_update_ns != 0;
  if (attached) update_entity(level);
  bool changed = update_queue(level.queue);
  changed |= propagate_up(level);
  // Read again: an entity that a clock just brought to 0 is not attached either.
  if (level.entity->average.last_update_ns == 0 && moment == load_moment::enqueue) {
    attach_load(level);
  } else if (moment == load_moment::dequeue_to_migrate) {
    take_out(level);
  } else if (changed && is_shared(moment)) {
    share_load(level.queue);
  }
  if (level.own && counts_runnable(moment)) level.entity->runnable_weight = level.own->runnable;
}

bool decay_queue_load(const queue_now& queue) noexcept {
  const bool changed = update_queue(queue);
  share_load(queue);
  return changed;
}

void attach_load(const level_now& level) noexcept {
  assert(level.entity->average.last_update_ns == 0 && level.full_weight != 0);
  load_average& entity = level.entity->average;
  load_average& queue = level.queue.load->average;
  const std::uint64_t weight = small_weight_of(level);
  const std::uint64_t divider = queue.divider();
  entity.last_update_ns = queue.last_update_ns;
  entity.period_contrib = queue.period_contrib;
  entity.util_sum = low_32(entity.util_avg * divider);
  entity.runnable_sum = entity.runnable_avg * divider;
  const std::uint64_t load = entity.load_avg * divider;
  // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): no entity has the weight 0.
  entity.load_sum = weight < load ? load / weight : 1;
  add_load(queue, entity, weight);
  queue.util_avg += entity.util_avg;
  queue.util_sum += entity.util_sum;
  queue.runnable_avg += entity.runnable_avg;
  queue.runnable_sum += entity.runnable_sum;
  propagate(*level.queue.load, static_cast<std::int64_t>(entity.load_sum));
  share_load(level.queue);
}

void detach_load(const level_now& level) noexcept {
  assert(level.entity->average.last_update_ns != 0);
  take_out(level);
}

void leave_load(const level_now& level) noexcept {
  assert(!level.queued);
  load_average& entity = level.entity->average;
  queue_load& queue = *level.queue.load;
  update_blocked_average(entity, queue.average.last_update_ns, level.full_weight);
  ++queue.leavers;
  queue.left_load += entity.load_avg;
  queue.left_runnable += entity.runnable_avg;
  queue.left_util += entity.util_avg;
  entity.last_update_ns = 0;
}

void reweight_load(const level_now& level, std::uint64_t new_full_weight) noexcept {
  load_average& entity = level.entity->average;
  load_average& queue = level.queue.load->average;
  take_load(queue, entity, small_weight_of(level));
  const std::uint64_t weight = small_weight(new_full_weight);
  entity.load_avg = weight * entity.load_sum / entity.divider();
  add_load(queue, entity, weight);
}

std::uint64_t group_weight(const queue_now& own, std::uint64_t full_shares,
                           std::uint64_t present) noexcept {
  if (own.full_load == 0) return present;
  const queue_load& queue = *own.load;
  const std::uint64_t load = std::max(small_weight(own.full_load), queue.average.load_avg);
  const std::uint64_t total = own.group->load_avg - queue.shared_load_avg + load;
  std::uint64_t weight = full_shares * load;
  if (total != 0) weight /= total;
  const auto most = static_cast<std::int64_t>(full_shares);
  return static_cast<std::uint64_t>(
      std::clamp(static_cast<std::int64_t>(weight), least_group_weight, most));
}

}  // namespace vlag

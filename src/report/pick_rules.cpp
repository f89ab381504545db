// SPDX-License-Identifier: Apache-2.0
#include "report/pick_rules.hpp"

#include <algorithm>
#include <limits>

#include "vlag/weight.hpp"

namespace vlag {
namespace {

__extension__ using wide = __int128;

constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();

// sum(v_i w_i) and W, relative to the queue's reference.
struct exact_average {
  wide sum = 0;
  wide weight = 0;
};

wide key_of(const queue_view& queue, const entity_view& e) {
  return signed_difference(e.vruntime, queue.reference);
}

exact_average average_of(const queue_view& queue) {
  exact_average result;
  for (const entity_view& e : queue.entities) {
    const auto weight = static_cast<wide>(small_weight(e.weight.full));
    result.sum += key_of(queue, e) * weight;
    result.weight += weight;
  }
  return result;
}

bool is_eligible(const queue_view& queue, const exact_average& average, const entity_view& e) {
  return average.sum >= key_of(queue, e) * average.weight;
}

std::size_t find_running(const queue_view& queue) {
  return !queue.entities.empty() && queue.entities.front().running ? 0 : nobody;
}

queue_choice choose_eevdf(const queue_view& queue, const eevdf_config& config) {
  const std::vector<entity_view>& all = queue.entities;
  if (all.size() == 1) return {pick_rule::alone, 0};
  const exact_average average = average_of(queue);
  if (config.features.has(feature::pick_buddy)) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].next_buddy && is_eligible(queue, average, all[i])) return {pick_rule::buddy, i};
    }
  }

  std::size_t running = find_running(queue);
  const std::size_t first_waiting = running == nobody ? 0 : 1;
  if (running != nobody && !is_eligible(queue, average, all[running])) running = nobody;
  if (running != nobody && config.features.has(feature::run_to_parity) &&
      all[running].protected_slice) {
    return {pick_rule::protected_slice, running};
  }
  std::size_t best = nobody;
  for (std::size_t i = first_waiting; i < all.size(); ++i) {
    if (!is_eligible(queue, average, all[i])) continue;
    if (best == nobody || before(all[i].deadline, all[best].deadline)) best = i;
  }
  if (running != nobody && (best == nobody || before(all[running].deadline, all[best].deadline))) {
    return {pick_rule::running_is_first, running};
  }
  if (best != nobody) return {pick_rule::earliest_deadline, best};
  return {pick_rule::nobody_eligible, first_waiting};
}

// By more than the wake-up granularity, at the weight of `behind`.
bool far_behind(const entity_view& behind, const entity_view& ahead, const cfs_config& config) {
  const std::int64_t distance = signed_difference(ahead.vruntime, behind.vruntime);
  return distance > 0 && static_cast<std::uint64_t>(distance) >
                             to_virtual(config.wakeup_granularity_ns, behind.weight);
}

queue_choice choose_cfs(const queue_view& queue, const cfs_config& config) {
  const std::vector<entity_view>& all = queue.entities;
  if (all.size() == 1) return {pick_rule::alone, 0};
  std::vector<std::size_t> by_vruntime(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) by_vruntime[i] = i;
  const std::size_t running = find_running(queue);
  // Of equals the running one goes last, the others keep their order.
  std::stable_sort(by_vruntime.begin(), by_vruntime.end(), [&](std::size_t a, std::size_t b) {
    if (all[a].vruntime == all[b].vruntime) return b == running && a != running;
    return before(all[a].vruntime, all[b].vruntime);
  });
  const std::size_t left = by_vruntime.front();
  const auto near = [&](const entity_view& e) { return !far_behind(all[left], e, config); };

  for (const auto& [role, rule] : {std::pair{&entity_view::next_buddy, pick_rule::next_buddy},
                                   std::pair{&entity_view::last_buddy, pick_rule::last_buddy}}) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].*role && near(all[i])) return {rule, i};
    }
  }
  if (all[left].skip_buddy && near(all[by_vruntime[1]])) {
    return {pick_rule::second_after_skip, by_vruntime[1]};
  }
  return {left == running ? pick_rule::running_leftmost : pick_rule::leftmost, left};
}

}  // namespace

queue_choice choose_from(const queue_view& queue, const policy_config& policy) {
  return queue.engine == fair_engine::eevdf ? choose_eevdf(queue, policy.eevdf)
                                            : choose_cfs(queue, policy.cfs);
}

eligibility_view eligibility_of(const queue_view& queue, const entity_view& e) {
  const exact_average average = average_of(queue);
  const wide missing = key_of(queue, e) * average.weight - average.sum;
  if (missing <= 0) return {};
  const auto rounded_up = [](wide dividend, wide divisor) {
    const wide result = (dividend + divisor - 1) / divisor;
    constexpr auto most = static_cast<wide>(std::numeric_limits<std::int64_t>::max());
    return static_cast<std::uint64_t>(std::min(result, most));
  };
  constexpr wide virtual_per_weight = 1 << weight_resolution_bits;
  return {false, rounded_up(missing, average.weight), rounded_up(missing, virtual_per_weight)};
}

std::int64_t service_ns(std::int64_t virtual_ns, std::uint64_t full_weight) noexcept {
  constexpr wide small_nice_0 = 1 << weight_resolution_bits;
  const wide result =
      static_cast<wide>(virtual_ns) * static_cast<wide>(small_weight(full_weight)) / small_nice_0;
  constexpr auto most = static_cast<wide>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::clamp(result, -most, most));
}

followed_pick follow(const pick_record& record, const policy_config& policy) {
  followed_pick result;
  const bool throttles =
      std::any_of(record.told.begin(), record.told.end(),
                  [](const told_decision& told) { return told.what == decision::group_throttled; });
  for (std::size_t i = 0; i < record.steps.size(); ++i) {
    const queue_view& queue = record.steps[i];
    if (queue.entities.empty()) {
      result.agrees = false;
      return result;
    }
    const queue_choice choice = choose_from(queue, policy);
    result.choices.push_back(choice);
    const entity_view& winner = queue.entities[choice.winner];
    const queue_view* next = i + 1 < record.steps.size() ? &record.steps[i + 1] : nullptr;
    const bool starts_anew = next == nullptr ? !record.chosen_exists : next->depth == 0;
    bool agrees = false;
    if (winner.delayed) {
      agrees =
          starts_anew &&
          (next == nullptr ||
           std::none_of(next->entities.begin(), next->entities.end(), [&](const entity_view& e) {
             return !e.is_group && !winner.is_group && e.id == winner.id;
           }));
    } else if (winner.is_group) {
      agrees = (next != nullptr && next->depth > 0 && next->group == winner.id) ||
               (throttles && starts_anew);
    } else {
      agrees = next == nullptr && record.chosen_exists && record.chosen == winner.id;
    }
    result.agrees = result.agrees && agrees;
  }
  if (record.steps.empty()) {
    result.agrees = !record.chosen_exists || record.chosen_real_time;
  }
  return result;
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "vlag/run_queue.hpp"

#include "core/mutant.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace vlag {
namespace {

constexpr std::int64_t wrapping_product(std::int64_t a, std::uint64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * b);
}

constexpr std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

constexpr std::int64_t wrapping_difference(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

// Truncates toward zero, as the reference does, with its divisor of 32 bits. What would trap
// there (a divisor cut to 0, the most negative number by -1) has an answer here.
constexpr std::int64_t divide_by_s32(std::int64_t dividend, std::uint64_t divisor) noexcept {
  const auto cut = static_cast<std::int32_t>(static_cast<std::uint32_t>(divisor));
  if (cut == 0) return dividend;
  if (cut == -1) return wrapping_difference(0, dividend);
  return dividend / cut;
}

constexpr bool fits_s32(std::uint64_t divisor) noexcept {
  return divisor <= static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
}

std::int64_t key_of(const entity& e, std::uint64_t reference) noexcept {
  return signed_difference(e.vruntime, reference);
}

}  // namespace

eligibility run_queue::eligibility_now() const noexcept {
  eligibility now{reference_, sum_, static_cast<std::int64_t>(waiting_weight_)};
  if (mutant(fault::average_without_current) && waiting_weight_ != 0) return now;
  if (const entity* c = queued_current(); c != nullptr) {
    const std::uint64_t weight = small_weight(c->weight.full);
    now.sum = wrapping_sum(now.sum, wrapping_product(key_of(*c, reference_), weight));
    now.weight += static_cast<std::int64_t>(weight);
  }
  return now;
}

std::int64_t run_queue::distance_to_average(const eligibility& sums) const noexcept {
  if (waiting_weight_ == 0) {
    const entity* c = queued_current();
    return c == nullptr ? 0 : key_of(*c, reference_);
  }
  // The bias makes the truncating division a floor.
  const bool floors = !mutant(fault::v_toward_zero);
  const std::int64_t bias = floors && sums.sum < 0 ? sums.weight - 1 : 0;
  return divide_by_s32(wrapping_difference(sums.sum, bias),
                       static_cast<std::uint64_t>(sums.weight));
}

std::uint64_t run_queue::average_vruntime() const noexcept {
  return reference_ + static_cast<std::uint64_t>(distance_to_average(eligibility_now()));
}

std::uint64_t run_queue::ask_average() noexcept {
  const eligibility sums = eligibility_now();
  if (waiting_weight_ != 0) {
    const bool cut = !fits_s32(static_cast<std::uint64_t>(sums.weight));
    if (cut) ++anomalies_;
    // The usual case when V was asked for just before: no division.
    if (!cut && sums.sum >= 0 && sums.sum < sums.weight) return reference_;
  }
  const std::int64_t distance = distance_to_average(sums);
  if (mutant(fault::reference_rests) && waiting_weight_ == 0) {
    return reference_ + static_cast<std::uint64_t>(distance);
  }
  sum_ = wrapping_difference(sum_, wrapping_product(distance, waiting_weight_));
  reference_ += static_cast<std::uint64_t>(distance);
  return reference_;
}

std::int64_t run_queue::counted_product(std::int64_t a, std::uint64_t b) noexcept {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, static_cast<std::int64_t>(b), &product)) ++anomalies_;
  return product;
}

std::int64_t run_queue::divide(std::int64_t dividend, std::uint64_t divisor) noexcept {
  if (!fits_s32(divisor)) ++anomalies_;
  return divide_by_s32(dividend, divisor);
}

std::uint64_t run_queue::total_weight() const noexcept {
  const entity* c = queued_current();
  return waiting_weight_ + (c == nullptr ? 0 : small_weight(c->weight.full));
}

bool run_queue::eligible(const entity& e) const noexcept {
  if (mutant(fault::eligible_by_division)) return lag(e) >= 0;
  return eligibility_now().holds(e.vruntime);
}

std::int64_t run_queue::lag(const entity& e) const noexcept {
  return signed_difference(average_vruntime(), e.vruntime);
}

std::uint64_t run_queue::min_slice() noexcept {
  const std::uint64_t of_waiting = waiting_.min_slice();
  const entity* c = queued_current();
  return c == nullptr ? of_waiting : std::min(of_waiting, c->slice_ns);
}

// ---- Lag and deadlines

std::int64_t run_queue::clamped_lag(const entity& e, std::uint64_t average) const noexcept {
  const std::int64_t lag = signed_difference(average, e.vruntime);
  if (!config_->features.has(feature::lag_clamp)) return lag;
  if (mutant(fault::delay_deepens_debt) && e.sched_delayed) return lag;
  const std::uint64_t longest_ns = std::max(2 * e.slice_ns, config_->tick_ns);
  const auto limit = static_cast<std::int64_t>(to_virtual(longest_ns, e.weight));
  // Not std::clamp: a limit that wrapped is negative, and then the lower bound wins.
  return std::max(std::min(lag, limit), wrapping_difference(0, limit));
}

// The reference keeps lag and protection in one word.
void run_queue::keep_lag(entity& e, std::int64_t lag) noexcept {
  e.vlag = lag;
  e.protected_deadline = static_cast<std::uint64_t>(lag);
}

bool run_queue::renew_deadline(entity& e) noexcept {
  if (before(e.vruntime, e.deadline)) return false;
  if (!e.custom_slice) e.slice_ns = config_->base_slice_ns;
  e.deadline = e.vruntime + to_virtual(e.slice_ns, e.weight);
  ask_average();
  return true;
}

void run_queue::set_slice(entity& e, std::uint64_t slice_ns) noexcept {
  if (e.slice_ns == slice_ns) return;
  e.slice_ns = slice_ns;
  if (e.queued && &e != current_) waiting_.slice_changed(e, e.deadline);
}

void run_queue::forfeit_request() noexcept {
  current_->vruntime = current_->deadline;
  renew_deadline(*current_);
}

void run_queue::postpone_request() noexcept {
  current_->deadline += to_virtual(current_->slice_ns, current_->weight);
}

run_queue::verdict run_queue::account(std::uint64_t now_ns) noexcept {
  entity* c = current_;
  if (c == nullptr) return verdict::may_go_on;
  const std::int64_t delta_ns = signed_difference(now_ns, c->exec_start_ns);
  if (delta_ns <= 0) return verdict::may_go_on;
  c->exec_start_ns = now_ns;
  c->sum_exec_ns += static_cast<std::uint64_t>(delta_ns);
  c->vruntime += to_virtual(static_cast<std::uint64_t>(delta_ns), c->weight);

  const bool used_up = renew_deadline(*c);
  ++deadline_checks_;
  if (used_up) ++deadline_updates_;
  if (nr_queued_ == 1) return verdict::may_go_on;
  if (used_up) return verdict::request_used_up;
  if (!config_->features.has(feature::preempt_short) || slice_protected(*c) || eligible(*c)) {
    return verdict::may_go_on;
  }
  return verdict::not_eligible;
}

// ---- Joining and leaving

void run_queue::place(entity& e, placement how) noexcept {
  const feature_set features = config_->features;
  const std::uint64_t average = ask_average();
  if (!e.custom_slice) e.slice_ns = config_->base_slice_ns;

  // Joining moves V towards e, by its part of the weight: to have the lag that was kept after
  // joining, it must come with more.
  std::int64_t lag = 0;
  if (features.has(feature::place_lag) && nr_queued_ > 0 && e.vlag != 0) {
    std::uint64_t others = total_weight();
    if (mutant(fault::inflated_by_waiting) && waiting_weight_ != 0) others = waiting_weight_;
    lag = features.has(feature::place_lag_inflate) && !mutant(fault::lag_not_inflated)
              ? divide(counted_product(e.vlag, others + small_weight(e.weight.full)), others)
              : e.vlag;
  }
  e.vruntime = average - static_cast<std::uint64_t>(lag);
  if (how == placement::of_sleeper && features.has(feature::fair_sleepers)) {
    const bool gentle = features.has(feature::gentle_fair_sleepers);
    e.vruntime -= to_virtual(gentle ? config_->tick_ns / 2 : config_->tick_ns, e.weight);
  }

  if (features.has(feature::place_rel_deadline) && e.rel_deadline) {
    e.deadline += e.vruntime;
    e.rel_deadline = false;
    return;
  }
  std::uint64_t request = to_virtual(e.slice_ns, e.weight);
  if (how == placement::of_new_task && features.has(feature::place_deadline_initial)) request /= 2;
  e.deadline = e.vruntime + request;
}

void run_queue::insert_waiting(entity& e) noexcept {
  const std::uint64_t weight = small_weight(e.weight.full);
  const std::int64_t key = key_of(e, reference_);
  sum_ = wrapping_sum(sum_, wrapping_product(key, weight));
  waiting_weight_ += weight;
  if (mutant(fault::weight_sum_overflows)) waiting_weight_ &= UINT32_MAX >> weight_resolution_bits;
  counted_product(key, waiting_weight_);  // what eligibility will multiply
  waiting_.insert(e, e.deadline);
}

void run_queue::erase_waiting(entity& e) noexcept {
  waiting_.erase(e, e.deadline);
  const std::uint64_t weight = small_weight(e.weight.full);
  sum_ = wrapping_difference(sum_, wrapping_product(key_of(e, reference_), weight));
  waiting_weight_ -= weight;
}

void run_queue::attach(entity& e) noexcept {
  load_ += e.weight.full;
  ++nr_queued_;
  e.queued = true;
  if (&e != current_) insert_waiting(e);
}

void run_queue::detach(entity& e, departure why) noexcept {
  keep_lag(e, clamped_lag(e, ask_average()));
  if (&e != current_) erase_waiting(e);
  if (why == departure::to_be_changed && config_->features.has(feature::place_rel_deadline)) {
    e.deadline -= e.vruntime;
    e.rel_deadline = true;
  }
  load_ -= e.weight.full;
  --nr_queued_;
  e.queued = false;
}

void run_queue::end_delay(entity& e) noexcept {
  e.sched_delayed = false;
  if (mutant(fault::delay_keeps_credit)) return;
  if (config_->features.has(feature::delay_zero) && e.vlag > 0) keep_lag(e, 0);
}

void run_queue::requeue_delayed(entity& e) noexcept {
  e.sched_delayed = false;
  if (!config_->features.has(feature::delay_zero)) return;
  const std::uint64_t average = ask_average();
  keep_lag(e, clamped_lag(e, average));
  if (mutant(fault::delay_deepens_debt)) keep_lag(e, signed_difference(average, e.vruntime));
  if (e.vlag <= 0) return;

  // It is no company to itself while it is placed.
  if (!mutant(fault::requeued_counts_itself)) --nr_queued_;
  e.queued = false;
  if (&e != current_) erase_waiting(e);
  if (!mutant(fault::delay_keeps_credit)) keep_lag(e, 0);
  place(e, placement::of_known_entity);
  e.queued = true;
  ++nr_queued_;
  if (&e != current_) insert_waiting(e);
}

void run_queue::rescale_lag(entity& e, std::uint64_t new_full_weight) noexcept {
  keep_lag(e, divide(counted_product(e.vlag, e.weight.full), new_full_weight));
}

void run_queue::reweight(entity& e, std::uint64_t full_weight) noexcept {
  const load_weight changed{full_weight, inverse_of(full_weight)};
  if (!e.queued) {
    if (!mutant(fault::lag_unscaled_off_queue)) rescale_lag(e, full_weight);
    e.weight = changed;
    return;
  }
  const std::uint64_t average = ask_average();
  const bool waits = &e != current_;
  [[maybe_unused]] std::uint64_t was_at = e.vruntime;
  if (waits) erase_waiting(e);
  if (average != e.vruntime) {
    const std::int64_t scaled =
        divide(counted_product(clamped_lag(e, average), e.weight.full), full_weight);
    e.vruntime = average - static_cast<std::uint64_t>(scaled);
  }
  const std::int64_t ahead = signed_difference(e.deadline, average);
  if (!mutant(fault::deadline_unscaled)) {
    e.deadline = average + static_cast<std::uint64_t>(
                               divide(counted_product(ahead, e.weight.full), full_weight));
  }
  load_ += full_weight - e.weight.full;
  e.weight = changed;
  if (waits) insert_waiting(e);
  if (mutant(fault::reweight_leaves_bounds) && waits) {
    waiting_.erase(e, e.deadline);
    std::swap(e.vruntime, was_at);
    waiting_.insert(e, e.deadline);
    std::swap(e.vruntime, was_at);
  }
}

// ---- Who runs

entity* run_queue::pick() noexcept {
  entity* c = queued_current();
  if (nr_queued_ <= 1) return c != nullptr ? c : waiting_.first();

  const eligibility now = eligibility_now();
  if (c != nullptr && !now.holds(c->vruntime)) c = nullptr;
  if (c != nullptr && config_->features.has(feature::run_to_parity) && slice_protected(*c))
    return c;

  entity* best = waiting_.first_eligible(now);
  if (best == nullptr || (c != nullptr && before(c->deadline, best->deadline))) return c;
  return best;
}

entity* run_queue::pick_next() noexcept {
  if (buddy_ != nullptr && config_->features.has(feature::pick_buddy) && eligible(*buddy_)) {
    return buddy_;
  }
  entity* best = pick();
  if (best != nullptr || nr_queued_ == 0) return best;
  ++anomalies_;
  return waiting_.first();
}

void run_queue::put_current() noexcept {
  entity* c = queued_current();
  current_ = nullptr;
  if (c != nullptr) insert_waiting(*c);
}

void run_queue::set_current(entity& e, std::uint64_t now_ns) noexcept {
  if (e.queued) {
    erase_waiting(e);
    e.protected_deadline = e.deadline;
  }
  e.exec_start_ns = now_ns;
  e.prev_sum_exec_ns = e.sum_exec_ns;
  current_ = &e;
}

}  // namespace vlag

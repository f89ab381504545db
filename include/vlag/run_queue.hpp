// SPDX-License-Identifier: Apache-2.0
//
// One EEVDF run queue: the weighted average V, lag, placement, eligibility, deadlines and the pick.
// One level only: its entities may be tasks or groups. What a task operation means (block, wake,
// renice, ...) is the business of fair_class, which calls the steps below.
//
// The mathematics. v_i is an entity's vruntime, w_i its small weight. All sums are kept relative to
// a reference z that follows V, so that products stay small:
//
//   S = sum of (v_i - z) * w_i,  W_q = sum of w_i    over the waiting entities,
//   R = S + (v_c - z) * w_c,     W = W_q + w_c       with the running one, when it is queued,
//   V = z + floor(R / W).
//
// lag_i = V - v_i, and the lags of all queued entities sum to zero, weighted, up to the rounding of
// V. An entity is eligible iff R >= (v_i - z) * W, which is v_i <= V without a division. Among the
// eligible the one with the earliest deadline runs.
//
// Example: z = 100, two waiting entities of weight 1024 at 100 and 103: S = 3072, W = 2048,
// V = 100 + floor(1.5) = 101; the first is eligible, the second is not.
//
// Where the reference asks for V it also moves z there (S -= W_q * (V - z), z = V). As long as
// nothing wraps, where z stands changes no decision.
//
// Widths: 64-bit sums and products that wrap, divisors cut to signed 32 bits. While W < 2^31 and
// |v_i - z| * W < 2^63 nothing is ever cut or wrapped; beyond, the result is still the reference's,
// and an anomaly is counted wherever this class sees it happen.
//
// Invariants, outside of a call:
// 1. An entity with queued set is in the timeline, or it is current(). S and W_q are those of the
//    timeline, load() and nr_queued() count both.
// 2. current() may be off the queue (it blocked and nobody was picked since); then no sum has it.
//
// Source: policy and arithmetic of Linux 6.12 (6.12.117). Not thread safe. Allocates nothing.
#pragma once

#include "vlag/entity.hpp"
#include "vlag/features.hpp"
#include "vlag/timeline.hpp"

#include <cstdint>

namespace vlag {

// How an entity joins a queue.
enum class placement : std::uint8_t { of_new_task, of_sleeper, of_known_entity };

// Why one leaves. A sleeper's next request starts when it wakes; a change of attributes keeps the
// pending request, and with it the distance of the deadline.
enum class departure : std::uint8_t { to_sleep, to_be_changed };

class run_queue {
 public:
  // config may be changed by its owner between calls; both must outlive the queue.
  run_queue(const eevdf_config& config, timeline_storage& storage) noexcept
      : config_(&config), waiting_(storage) {}

  // Observers; none moves the reference or changes a bound.
  [[nodiscard]] entity* current() const noexcept { return current_; }
  [[nodiscard]] std::uint32_t nr_queued() const noexcept {
    return nr_queued_;
  }  // delayed and running included
  [[nodiscard]] std::uint64_t average_vruntime() const noexcept;  // V
  [[nodiscard]] std::uint64_t reference() const noexcept {
    return reference_;
  }  // z (zero_vruntime)
  [[nodiscard]] std::int64_t weighted_sum() const noexcept {
    return sum_;
  }  // S, running entity excluded
  [[nodiscard]] std::uint64_t waiting_weight() const noexcept {
    return waiting_weight_;
  }  // W_q, likewise
  [[nodiscard]] std::uint64_t total_weight() const noexcept;           // W, running entity included
  [[nodiscard]] std::uint64_t load() const noexcept { return load_; }  // sum of full weights
  [[nodiscard]] bool eligible(const entity& e) const noexcept;
  // Lag of a queued entity now, virtual ns, unclamped.
  [[nodiscard]] std::int64_t lag(const entity& e) const noexcept;
  [[nodiscard]] bool slice_protected(const entity& e) const noexcept {
    return e.protected_deadline == e.deadline;
  }
  [[nodiscard]] std::uint64_t min_slice() noexcept;  // running included; UINT64_MAX when empty
  [[nodiscard]] const timeline& waiting() const noexcept { return waiting_; }
  [[nodiscard]] const entity* buddy() const noexcept { return buddy_; }
  // Times at which a sum wrapped, a divisor was cut or nobody was eligible.
  [[nodiscard]] std::uint64_t anomalies() const noexcept { return anomalies_; }
  // How often account() looked whether a request was used up, and how often it was.
  [[nodiscard]] std::uint64_t deadline_checks() const noexcept { return deadline_checks_; }
  [[nodiscard]] std::uint64_t deadline_updates() const noexcept { return deadline_updates_; }
  // The reference starts at 2^64 - 2^20; this sets another. Requires: the queue is empty.
  void start_at(std::uint64_t reference) noexcept { reference_ = reference; }

  // The steps of the operations. All O(1) unless said.

  // What accounting the running entity brought to light.
  enum class verdict : std::uint8_t { may_go_on, request_used_up, not_eligible };
  // Charges the time since the last accounting to current(), if there is one, and renews its
  // request when that is used up. Any verdict but may_go_on calls for a new pick, in which
  // current() is no buddy any more.
  verdict account(std::uint64_t now_ns) noexcept;

  // Gives e, which is off the queue, its vruntime (V less its lag) and deadline.
  void place(entity& e, placement how) noexcept;
  // Puts a placed entity on the queue. O(log n).
  void attach(entity& e) noexcept;

  // Takes e off the queue and keeps its lag, clamped, in vlag. O(log n).
  // Requires: e is queued; the time was accounted.
  void detach(entity& e, departure why) noexcept;

  // After detach(to_sleep) of a delayed entity, which is then asleep like any other, but keeps no
  // credit for the time it slept on the queue (DELAY_ZERO).
  void end_delay(entity& e) noexcept;
  // A delayed entity is wanted again: it stays where it is, unless its lag has become positive
  // meanwhile; then it is placed anew, at V (DELAY_ZERO). O(log n).
  void requeue_delayed(entity& e) noexcept;

  // A length for later requests; the pending one keeps its deadline. O(log n).
  void set_slice(entity& e, std::uint64_t slice_ns) noexcept;

  // Changes the weight and keeps lag and deadline at their distance from V, in wall-clock time.
  // O(log n). Requires: full_weight != 0; the time was accounted; e is queued or was before.
  void reweight(entity& e, std::uint64_t full_weight) noexcept;
  // The same for a lag that is kept off the queue.
  void rescale_lag(entity& e, std::uint64_t new_full_weight) noexcept;

  // Who should run by eligibility and deadline; no buddies. nullptr: the queue is empty, or sums
  // wrapped so far that nobody is eligible. O(log n), amortised. Changes no decision.
  [[nodiscard]] entity* pick() noexcept;
  // The buddy if it may run now (PICK_BUDDY), otherwise pick(), otherwise, with an anomaly, the
  // first in the timeline. nullptr: the queue is empty.
  [[nodiscard]] entity* pick_next() noexcept;

  // current() goes back to the timeline if it is queued. O(log n). Requires: accounted.
  void put_current() noexcept;
  // e takes the CPU; with it begins its slice protection. O(log n). Requires: current() is null.
  void set_current(entity& e, std::uint64_t now_ns) noexcept;

  void cancel_protection(entity& e) noexcept {
    if (slice_protected(e)) e.protected_deadline = e.deadline + 1;
  }
  // current() gives its request away: its vruntime moves to its deadline and a new request begins.
  void forfeit_request() noexcept;
  // current()'s deadline moves on by one request, nothing else.
  void postpone_request() noexcept;

  void set_buddy(entity& e) noexcept { buddy_ = &e; }
  void drop_buddy(const entity& e) noexcept {
    if (buddy_ == &e) buddy_ = nullptr;
  }

 private:
  [[nodiscard]] entity* queued_current() const noexcept {
    return current_ != nullptr && current_->queued ? current_ : nullptr;
  }
  [[nodiscard]] eligibility eligibility_now() const noexcept;
  [[nodiscard]] std::int64_t distance_to_average(const eligibility& sums) const noexcept;
  std::uint64_t ask_average() noexcept;
  std::int64_t clamped_lag(const entity& e, std::uint64_t average) const noexcept;
  void keep_lag(entity& e, std::int64_t lag) noexcept;
  bool renew_deadline(entity& e) noexcept;
  void insert_waiting(entity& e) noexcept;
  void erase_waiting(entity& e) noexcept;
  [[nodiscard]] std::int64_t divide(std::int64_t dividend, std::uint64_t divisor) noexcept;
  std::int64_t counted_product(std::int64_t a, std::uint64_t b) noexcept;

  const eevdf_config* config_;
  entity* current_ = nullptr;
  entity* buddy_ = nullptr;
  std::uint64_t reference_ = std::uint64_t{0} - (std::uint64_t{1} << 20);
  std::int64_t sum_ = 0;
  std::uint64_t waiting_weight_ = 0;
  std::uint64_t load_ = 0;
  std::uint32_t nr_queued_ = 0;
  std::uint64_t deadline_checks_ = 0;
  std::uint64_t deadline_updates_ = 0;
  std::uint64_t anomalies_ = 0;
  timeline waiting_;
};

}  // namespace vlag

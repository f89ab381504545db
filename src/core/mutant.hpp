// SPDX-License-Identifier: Apache-2.0
//
// Faults that schedulers of this kind have really had, to be brought back one by one, so that each
// is known to be caught by a test: scripts/mutants builds core with VLAG_MUTANT=n for each n and
// runs the tests. Without it every mutant() is false at compile time and the faults are no code.
//
// Where this code cannot have a fault as it was, its nearest counterpart stands here, and says so.
// scripts/mutants reads number, name and comment of each line.
#pragma once

#ifndef VLAG_MUTANT
#define VLAG_MUTANT 0
#endif

namespace vlag {

enum class fault : int {
  v_toward_zero = 1,             // V of a negative sum is rounded toward zero
  pick_stops_early = 2,          // a search that a bound misled does not look further
  reweight_leaves_bounds = 3,    // a reweight in place leaves the timeline as it was
  slice_stays_below = 4,         // the shortest slice of a queue is not carried to the group
  lag_unscaled_off_queue = 5,    // a reweight off the queue does not rescale the lag
  deadline_unscaled = 6,         // a reweight does not rescale the deadline
  move_loses_deadline = 7,       // a move loses the relative deadline (between groups, not CPUs)
  requeued_counts_itself = 8,    // a requeued entity stays in nr_queued; here: which stays too high
  delay_keeps_credit = 9,        // DELAY_ZERO does not clip the lag
  delay_deepens_debt = 10,       // the debt of a delayed entity is not bounded
  lag_not_inflated = 11,         // the lag of who joins is not inflated
  inflated_by_waiting = 12,      // it is inflated by the waiting weight, without the running one
  average_without_current = 13,  // V leaves out the running entity
  reference_rests = 14,          // the reference does not follow a task that runs alone
  idle_keeps_protection = 15,    // a SCHED_IDLE runner keeps its protection from a waker
  wrong_bound_after_split = 16,  // minima wrong after a rotation; here: after a leaf is split
  wrong_bound_after_merge = 17,  // the same after two leaves are merged
  wrong_bound_after_share = 18,  // the same after two leaves share their entities anew
  wrong_bound_after_inner = 19,  // the same after an inner node is split
  delayed_counts_runnable = 20,  // a delayed task is counted as runnable
  empty_group_infinite = 21,     // the slice of a delayed, empty group is the empty queue's
  yield_while_ineligible = 22,   // a yield moves the vruntime of an ineligible task too
  long_sleep_compared = 23,      // CFS: a sleeper of 2^53 ns and more is compared all the same
  weight_sum_overflows = 24,     // the sum of unscaled weights is kept in 32 bits
  eligible_by_division = 25,     // eligibility by V, with its divisor of 32 bits
};

[[nodiscard]] constexpr bool mutant(fault which) noexcept {
  return VLAG_MUTANT == static_cast<int>(which);
}

}  // namespace vlag

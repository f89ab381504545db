// SPDX-License-Identifier: Apache-2.0
//
// One CFS queue: placement, shares, the wakeup granularity, min_vruntime.
#include "vlag/cfs_queue.hpp"

#include "core/cfs_cpu.hpp"

#include <gtest/gtest.h>

namespace vlag {
namespace {

constexpr std::uint64_t days_104 = std::uint64_t{1} << 53;
constexpr auto ordinary = entity_kind::ordinary;
constexpr auto idle = entity_kind::idle;

struct cfs_queue_test : testing::Test {
  cfs_cpu cpu;
  cfs_config& config = cpu.config;
  cfs_queue queue{config, cpu.storage};
  entity e;
  std::deque<entity> others;

  cfs_queue_test() { queue.start_at(1'000 * ms); }

  entity& add(entity_kind kind, int nice = 0) {
    entity& other = others.emplace_back();
    other.weight = weight_of_nice(nice);
    if (!cpu.storage.reserve_place()) std::abort();
    queue.enqueue_woken(other, kind, 1);
    return other;
  }
  entity& add_at(std::uint64_t distance, int nice = 0) {
    entity& other = others.emplace_back();
    other.weight = weight_of_nice(nice);
    other.vruntime = distance;
    if (!cpu.storage.reserve_place()) std::abort();
    queue.enqueue_relative(other, ordinary, 1);
    return other;
  }
  std::uint64_t placed(std::uint64_t slept_since, std::uint64_t now, std::uint64_t vruntime,
                       entity_kind kind = ordinary) {
    e.exec_start_ns = slept_since;
    e.vruntime = vruntime;
    queue.place_woken(e, kind, now);
    return e.vruntime;
  }
};

TEST_F(cfs_queue_test, a_sleeper_gets_half_a_latency) {
  EXPECT_EQ(placed(1, 100 * ms, 0), 997 * ms);
  config.features.set(feature::gentle_fair_sleepers, false);
  EXPECT_EQ(placed(1, 100 * ms, 0), 994 * ms);
}

TEST_F(cfs_queue_test, a_short_sleeper_keeps_its_vruntime) {
  EXPECT_EQ(placed(1, 2, 998 * ms), 998 * ms);
  EXPECT_EQ(placed(1, 2, 2'000 * ms), 2'000 * ms);
}

TEST_F(cfs_queue_test, the_sleepers_credit_does_not_depend_on_its_weight) {
  e.weight = weight_of_nice(19);
  EXPECT_EQ(placed(1, 100 * ms, 0), 997 * ms);
}

TEST_F(cfs_queue_test, an_idle_sleepers_credit_is_half_a_min_granularity) {
  EXPECT_EQ(placed(1, 100 * ms, 0, idle), 1'000 * ms - 375 * us);
}

TEST_F(cfs_queue_test, an_hour_of_sleep_is_nothing_special) {
  EXPECT_EQ(placed(1, 3'600'000 * ms, 2'000 * ms), 2'000 * ms);
}

TEST_F(cfs_queue_test, after_more_than_104_days_the_old_vruntime_is_forgotten) {
  EXPECT_EQ(placed(5, 5 + days_104, 2'000 * ms), 2'000 * ms);
  EXPECT_EQ(placed(5, 5 + days_104 + 1, 2'000 * ms), 997 * ms);
}

TEST_F(cfs_queue_test, who_never_ran_is_no_long_sleeper) {
  EXPECT_EQ(placed(0, 2 * days_104, 2'000 * ms), 2'000 * ms);
}

TEST_F(cfs_queue_test, a_new_entity_pays_one_virtual_share_in_advance) {
  add(ordinary);
  e.weight = weight_of_nice(5);
  const std::uint64_t share = queue.slice(e, ordinary);
  queue.place_new(e, share);
  EXPECT_EQ(share, 1'479'028U);  // 6 ms * 335 / 1359, less than 5 us of rounding
  EXPECT_EQ(e.vruntime, 1'000 * ms + to_virtual(share, e.weight));
}

TEST_F(cfs_queue_test, a_share_is_the_part_of_the_period_that_the_weight_gives) {
  const entity& a = add(ordinary);
  const entity& b = add(ordinary, -5);
  EXPECT_NEAR(static_cast<double>(queue.slice(a, ordinary)), 6e6 * 1024 / 4145, 10);
  EXPECT_NEAR(static_cast<double>(queue.slice(b, ordinary)), 6e6 * 3121 / 4145, 10);
}

TEST_F(cfs_queue_test, alone_the_share_is_two_ns_short_of_the_latency) {
  EXPECT_EQ(queue.slice(add(ordinary), ordinary), 5'999'998U);
}

TEST_F(cfs_queue_test, the_period_is_that_of_the_number_above_nr_latency) {
  EXPECT_EQ(queue.period(8), 6 * ms);
  EXPECT_EQ(queue.period(9), 9 * 750 * us);
  config.nr_latency = 3;
  EXPECT_EQ(queue.period(3), 6 * ms);
  EXPECT_EQ(queue.period(4), 3 * ms);
}

TEST_F(cfs_queue_test, shares_round_to_just_below_the_granularity_and_are_lifted) {
  for (int i = 0; i < 9; ++i) add(ordinary);
  EXPECT_EQ(queue.slice(others[0], ordinary), 750 * us);
  config.features.set(feature::base_slice, false);
  EXPECT_EQ(queue.slice(others[0], ordinary), 749'998U);
}

TEST_F(cfs_queue_test, an_idle_share_has_its_own_least_length_unless_all_are_idle) {
  config.idle_min_granularity_ns = 200 * us;
  e.weight = weight_of_idle_policy();
  config.latency_ns = 1;
  EXPECT_EQ(queue.slice(e, idle), 200 * us);  // an empty queue is not one of idle entities
  add(idle);
  EXPECT_EQ(queue.slice(e, idle), 750 * us);
  add(ordinary);
  EXPECT_EQ(queue.slice(e, idle), 200 * us);
  EXPECT_EQ(queue.slice(e, ordinary), 750 * us);
}

TEST_F(cfs_queue_test, far_behind_means_strictly_more_than_the_granularity) {
  entity ahead;
  ahead.vruntime = 1 * ms;
  EXPECT_FALSE(queue.far_behind(e, ahead));
  ahead.vruntime += 1;
  EXPECT_TRUE(queue.far_behind(e, ahead));
  EXPECT_FALSE(queue.far_behind(ahead, e));
}

TEST_F(cfs_queue_test, the_granularity_is_taken_at_the_weight_of_the_one_behind) {
  entity ahead;
  ahead.vruntime = 2 * ms;
  ahead.weight = weight_of_nice(19);
  EXPECT_TRUE(queue.far_behind(e, ahead));
  e.weight = weight_of_nice(19);
  EXPECT_FALSE(queue.far_behind(e, ahead));
}

TEST_F(cfs_queue_test, min_vruntime_follows_the_smallest_and_never_goes_back) {
  entity& a = add(ordinary);
  queue.set_running(a, 1);
  queue.account(10 * ms);
  const std::uint64_t reached = queue.min_vruntime();
  EXPECT_EQ(reached, a.vruntime);
  add(ordinary);  // 3 ms behind
  queue.account(10 * ms + 1);
  EXPECT_EQ(queue.min_vruntime(), reached);
}

TEST_F(cfs_queue_test, equals_wait_in_the_order_they_came_and_the_running_one_goes_last) {
  const entity& a = add(ordinary);
  const entity& b = add(ordinary);
  queue.set_running(others[0], 1);
  EXPECT_EQ(queue.pick(), &b);
  queue.put_back(1);
  EXPECT_EQ(queue.waiting().first(), &b);
  EXPECT_EQ(queue.waiting().next(b, b.vruntime), &a);
}

TEST_F(cfs_queue_test, the_running_one_stays_only_when_it_is_strictly_first) {
  entity& running = add_at(1 * ms);
  const entity& waiting = add_at(1 * ms);
  queue.set_running(running, 1);
  EXPECT_EQ(queue.pick(), &waiting);
  add_at(2 * ms);
  queue.dequeue(others[1], ordinary, kept_vruntime::absolute, floor_update::hold, 1);
  EXPECT_EQ(queue.pick(), &running);
}

TEST_F(cfs_queue_test, a_refused_next_buddy_does_not_block_the_last_buddy) {
  add_at(0);
  entity& last = add_at(1 * ms);
  entity& next = add_at(1 * ms + 1);
  queue.set_next(next);
  queue.set_last(last);
  EXPECT_EQ(queue.pick(), &last);
}

TEST_F(cfs_queue_test, the_next_buddy_comes_before_the_last_and_both_before_the_leftmost) {
  add_at(0);
  entity& last = add_at(0);
  entity& next = add_at(1 * ms);
  queue.set_last(last);
  EXPECT_EQ(queue.pick(), &last);
  queue.set_next(next);
  EXPECT_EQ(queue.pick(), &next);
}

TEST_F(cfs_queue_test, passing_over_the_skip_buddy_a_tie_goes_to_the_waiting_one) {
  entity& skip = add_at(0);
  entity& running = add_at(500 * us);
  const entity& second = add_at(500 * us);
  queue.set_running(running, 1);
  queue.set_skip(skip);
  EXPECT_EQ(queue.pick(), &second);
}

TEST_F(cfs_queue_test, the_skip_buddy_is_picked_when_the_second_is_too_far_ahead_or_missing) {
  entity& skip = add_at(0);
  queue.set_skip(skip);
  EXPECT_EQ(queue.pick(), &skip);
  add_at(1 * ms + 1);
  EXPECT_EQ(queue.pick(), &skip);
}

TEST_F(cfs_queue_test, picking_clears_no_buddy_and_running_clears_ones_own) {
  entity& a = add_at(0);
  entity& b = add_at(0);
  queue.set_next(b);
  queue.set_skip(a);
  EXPECT_EQ(queue.pick(), &b);
  EXPECT_EQ(queue.next_buddy(), &b);
  queue.set_running(b, 1);
  EXPECT_EQ(queue.next_buddy(), nullptr);
  EXPECT_EQ(queue.skip_buddy(), &a);
}

TEST_F(cfs_queue_test, a_load_that_wraps_is_counted) {
  entity& a = add(ordinary);
  queue.reweight(a, ~std::uint64_t{0}, 1);
  EXPECT_EQ(queue.anomalies(), 0U);
  add(ordinary);
  EXPECT_EQ(queue.anomalies(), 1U);
}

}  // namespace
}  // namespace vlag

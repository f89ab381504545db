// SPDX-License-Identifier: Apache-2.0
#include "report/timeline_bins.hpp"

#include <gtest/gtest.h>

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace vlag {
namespace {

using enum leave_reason;

timeline_request request(std::uint64_t to_ns, unsigned bins, std::vector<time_window> windows,
                         std::size_t most = 1000) {
  timeline_request r;
  r.to_ns = to_ns;
  r.bins_per_cpu = bins;
  r.windows = std::move(windows);
  r.max_stretches = most;
  r.class_of = {{1, 0}, {2, 1}};
  return r;
}

TEST(timeline_bins, stretch_is_divided_among_the_bins_it_crosses) {
  timeline_bins line(request(100, 10, {}));
  line.on_switch(5, 0, 0, cut, 1);
  line.on_switch(25, 0, 1, blocked, 0);
  line.finish();
  EXPECT_EQ(line.busy_ns(0, 0, 0), 5U);
  EXPECT_EQ(line.busy_ns(0, 1, 0), 10U);
  EXPECT_EQ(line.busy_ns(0, 2, 0), 5U);
  EXPECT_EQ(line.busy_ns(0, 3, 0), 0U);
}

TEST(timeline_bins, tasks_without_a_class_are_in_the_last_one) {
  timeline_bins line(request(100, 1, {}));
  line.on_switch(0, 0, 0, cut, 77);
  line.finish(40);
  EXPECT_EQ(line.busy_ns(0, 0, timeline_classes - 1), 40U);
  EXPECT_EQ(line.ended_ns(), 40U);
}

TEST(timeline_bins, first_switch_tells_who_ran_from_the_start) {
  timeline_bins line(request(100, 1, {{0, 100}}));
  line.on_switch(30, 0, 1, preempted, 2);
  line.finish();
  ASSERT_EQ(line.windows()[0].stretches.size(), 2U);
  EXPECT_EQ(line.windows()[0].stretches[0].from_ns, 0U);
  EXPECT_EQ(line.windows()[0].stretches[0].next, 2);
  EXPECT_EQ(line.windows()[0].stretches[1].left, cut);
}

TEST(timeline_bins, wait_is_counted_from_the_wakeup_or_the_loss) {
  timeline_bins line(request(100, 1, {{0, 100}}));
  line.on_start(0, 1);
  line.on_wakeup(10, 2, 1);
  line.on_reason(0, decision::wakeup_preempts);
  line.on_switch(12, 0, 1, preempted, 2);
  line.on_reading(0, 5, 700);
  line.on_switch(20, 0, 2, blocked, 1);
  line.finish();
  const auto& s = line.windows()[0].stretches;
  ASSERT_EQ(s.size(), 3U);
  EXPECT_EQ(s[0].why, decision::wakeup_preempts);
  EXPECT_EQ(s[1].pid, 2);
  EXPECT_EQ(s[1].waited_ns, 2U);
  EXPECT_EQ(s[1].wait, wait_cause::woken);
  EXPECT_EQ(s[1].waker, 1);
  EXPECT_EQ(s[1].lag, 5);
  EXPECT_EQ(s[1].to_deadline, 700);
  EXPECT_EQ(s[2].waited_ns, 8U);
  EXPECT_EQ(s[2].wait, wait_cause::lost_cpu);
  EXPECT_FALSE(s[2].lag);
}

TEST(timeline_bins, wakeup_of_a_task_that_runs_begins_no_wait) {
  timeline_bins line(request(100, 1, {{0, 100}}));
  line.on_start(0, 1);
  line.on_wakeup(5, 1, 2);
  line.on_switch(10, 0, 1, blocked, 2);
  line.on_wakeup(60, 1, 2);
  line.on_switch(61, 0, 2, blocked, 1);
  line.finish();
  EXPECT_EQ(line.windows()[0].stretches[2].waited_ns, 1U);
}

TEST(timeline_bins, window_keeps_its_last_stretches_and_says_from_when_it_is_complete) {
  timeline_bins line(request(1000, 1, {{0, 1000}}, 3));
  for (std::uint64_t t = 0; t < 10; ++t) {
    line.on_switch(t * 10, 0, t == 0 ? 0 : 1 + static_cast<int>(t % 2), preempted,
                   1 + static_cast<int>((t + 1) % 2));
  }
  line.finish();
  const timeline_window& w = line.windows()[0];
  EXPECT_EQ(w.stretches.size(), 3U);
  EXPECT_EQ(w.dropped, 7U);
  EXPECT_EQ(w.complete_from_ns, w.stretches.front().from_ns);
  EXPECT_FALSE(line.all_detail_kept());
  EXPECT_EQ(line.stretches(), 10U);
}

TEST(timeline_bins, stretches_outside_of_windows_are_only_in_bins) {
  timeline_bins line(request(100, 1, {{50, 60}}));
  line.on_switch(0, 0, 0, cut, 1);
  line.on_switch(10, 0, 1, blocked, 0);
  line.on_switch(55, 0, 0, cut, 2);
  line.on_switch(70, 0, 2, blocked, 0);
  line.finish();
  ASSERT_EQ(line.windows()[0].stretches.size(), 1U);
  EXPECT_EQ(line.windows()[0].stretches[0].pid, 2);
  EXPECT_EQ(line.busy_ns(0, 0, 0), 10U);
}

TEST(timeline_bins, what_comes_after_the_span_is_cut) {
  timeline_bins line(request(100, 1, {{0, 100}}));
  line.on_switch(90, 0, 0, cut, 1);
  line.on_switch(150, 0, 1, blocked, 2);
  line.on_switch(160, 0, 2, blocked, 0);
  line.finish();
  ASSERT_EQ(line.windows()[0].stretches.size(), 1U);
  EXPECT_EQ(line.windows()[0].stretches[0].to_ns, 100U);
  EXPECT_EQ(line.windows()[0].stretches[0].left, cut);
}

TEST(merged_windows, overlapping_ones_become_one) {
  EXPECT_EQ(merged_windows({{50, 60}, {0, 10}, {5, 20}, {30, 30}, {20, 22}}),
            (std::vector<time_window>{{0, 22}, {50, 60}}));
}

TEST(bins_for, stay_within_their_bounds) {
  EXPECT_EQ(bins_for(0), 4000U);
  EXPECT_EQ(bins_for(1), 4000U);
  EXPECT_EQ(bins_for(64), 1024U);
  EXPECT_EQ(bins_for(5000), 128U);
}

// Bins hold all CPU time of the span, and full windows the same.
RC_GTEST_PROP(timeline_bins, no_time_is_lost, ()) {
  const auto steps = *rc::gen::container<std::vector<std::pair<std::uint8_t, std::uint8_t>>>(
      rc::gen::arbitrary<std::pair<std::uint8_t, std::uint8_t>>());
  const auto bins = *rc::gen::inRange(1U, 50U);
  const std::uint64_t to = *rc::gen::inRange<std::uint64_t>(1, 4000);
  timeline_bins line(request(to, bins, {{0, to}}, 100'000));
  std::uint64_t now = 0;
  std::uint64_t busy = 0;
  std::int32_t running = 0;
  for (const auto& [length, task] : steps) {
    if (running != 0) busy += std::min(now + length, to) - std::min(now, to);
    now += length;
    const std::int32_t next = task % 4;
    line.on_switch(now, 0, running, preempted, next);
    running = next;
  }
  if (running != 0 && now < to) busy += to - now;
  line.finish();
  std::uint64_t in_bins = 0;
  for (unsigned bin = 0; bin < bins; ++bin) {
    for (unsigned k = 0; k < timeline_classes; ++k) in_bins += line.busy_ns(0, bin, k);
  }
  std::uint64_t in_stretches = 0;
  for (const cpu_stretch& s : line.windows()[0].stretches) in_stretches += s.to_ns - s.from_ns;
  RC_ASSERT(in_bins == busy);
  RC_ASSERT(in_stretches == busy);
}

}  // namespace
}  // namespace vlag

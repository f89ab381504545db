// SPDX-License-Identifier: Apache-2.0
//
// The theorems of the paper (Stoica and Abdel-Wahab, 1995) on the class that follows it, exactly:
// no tolerance but the one rounding at a join, which paper_class.hpp names.
#include "vlag/paper_class.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <optional>
#include <vector>

namespace vlag::test {
namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t q = 4 * ms;

constexpr paper_wide fixed(std::uint64_t ns) {
  return static_cast<paper_wide>(ns) << paper_fraction_bits;
}

// One CPU that gives quanta of q, cut short where a request ends.
class paper_cpu {
 public:
  explicit paper_cpu(std::size_t places = 64) : memory_(places), fair(config, memory_) {}

  task& fork(int nice, std::uint64_t request_ns) {
    task& t = tasks.emplace_back();
    set_initial_attributes(t, sched_policy::normal, nice);
    t.custom_slice = request_ns != 0;
    t.slice_ns = request_ns;
    EXPECT_TRUE(fair.fork(t, now));
    return t;
  }

  // The rest of a quantum, or less; then a new one begins.
  void quantum(std::uint64_t most = q) {
    now += std::min({most, q, std::max<std::uint64_t>(1, fair.time_to_request_end())});
    fair.tick(now);
    fair.schedule(now);
  }

  // lag < bound, and -lag < bound, exactly.
  [[nodiscard]] bool lag_below(const task& t, std::uint64_t ns) const {
    return fair.lag_times_weight(t) < fixed(ns) * total();
  }
  [[nodiscard]] bool debt_below(const task& t, std::uint64_t ns) const {
    return -fair.lag_times_weight(t) < fixed(ns) * total();
  }
  // By how many ns V is past the deadline of t's request, times w and in 2^-20 ns.
  [[nodiscard]] paper_wide past_deadline(const task& t) const {
    const paper_client& c = fair.client(t);
    const auto weight = static_cast<paper_wide>(c.weight);
    const paper_wide deadline = c.base * weight + fixed(c.begun_ns + c.request_ns);
    return fair.average_numerator() * weight - deadline * total();
  }
  [[nodiscard]] bool at_most_a_quantum_late(const task& t) const {
    return past_deadline(t) <= fixed(q) * static_cast<paper_wide>(fair.client(t).weight);
  }
  [[nodiscard]] paper_wide total() const { return static_cast<paper_wide>(fair.total_weight()); }

  paper_config config{q};
  std::uint64_t now = 1000 * ms;
  std::deque<task> tasks;

 private:
  std::vector<paper_client> memory_;

 public:
  paper_class fair;
};

rc::Gen<std::uint64_t> some_request(std::uint64_t longest) {
  return rc::gen::oneOf(rc::gen::inRange<std::uint64_t>(100'000, longest + 1),
                        rc::gen::element(ms, q, longest));
}

// All join at once, at lag 0, and nobody leaves.
template <typename Check>
void in_steady_system(std::uint64_t longest_request, Check&& check) {
  paper_cpu cpu;
  const int n = *rc::gen::inRange(1, 12);
  for (int i = 0; i != n; ++i) cpu.fork(*rc::gen::inRange(-20, 20), *some_request(longest_request));
  cpu.fair.schedule(cpu.now);
  for (int i = 0; i != 500; ++i) {
    cpu.quantum();
    for (const task& t : cpu.tasks) check(cpu, t);
  }
  RC_ASSERT(cpu.fair.anomalies() == 0U);
}

RC_GTEST_PROP(paper_steady, requests_are_done_a_quantum_after_their_deadline_at_most, ()) {
  in_steady_system(60 * ms, [](const paper_cpu& cpu, const task& t) {
    RC_ASSERT(cpu.at_most_a_quantum_late(t));
  });
}

RC_GTEST_PROP(paper_steady, lag_is_bounded_by_the_own_request_and_the_quantum, ()) {
  in_steady_system(60 * ms, [](const paper_cpu& cpu, const task& t) {
    RC_ASSERT(cpu.fair.total_weight() == cpu.fair.client(t).weight ||
              cpu.debt_below(t, std::max(t.slice_ns, std::uint64_t{1})));
    RC_ASSERT(cpu.lag_below(t, std::max(t.slice_ns, q)));
  });
}

RC_GTEST_PROP(paper_steady, lag_is_within_a_quantum_when_requests_are, ()) {
  in_steady_system(q, [](const paper_cpu& cpu, const task& t) {
    RC_ASSERT(cpu.lag_below(t, q));
    RC_ASSERT(cpu.debt_below(t, q));
  });
}

// Clients come, go, change their weight and ask for other lengths, at any lag.
class turmoil {
 public:
  void step(paper_cpu& cpu) {
    const int what = *rc::gen::inRange(0, 10);
    const auto who = [&](auto&& wanted) -> task* {
      std::vector<task*> found;
      for (task& t : cpu.tasks) {
        if (wanted(t)) found.push_back(&t);
      }
      if (found.empty()) return nullptr;
      return found[*rc::gen::inRange<std::size_t>(0, found.size())];
    };
    if (what <= 3) return cpu.quantum(*rc::gen::inRange<std::uint64_t>(1, q + 1));
    if (what == 4 && cpu.fair.current() != nullptr) {
      cpu.fair.block(cpu.now);
      cpu.fair.schedule(cpu.now);
    } else if (what <= 6) {
      task* t = who([](const task& c) { return !c.queued; });
      if (t != nullptr) cpu.fair.wake(*t, cpu.now);
      if (cpu.fair.current() == nullptr) cpu.fair.schedule(cpu.now);
    } else if (what == 7 && cpu.tasks.size() < 12) {
      cpu.fork(*rc::gen::inRange(-20, 20), *some_request(60 * ms));
      if (cpu.fair.current() == nullptr) cpu.fair.schedule(cpu.now);
    } else if (task* t = who([](const task&) { return true; }); t != nullptr && what == 8) {
      cpu.fair.set_nice(*t, *rc::gen::inRange(-20, 20), cpu.now);
    } else if (t != nullptr) {
      cpu.fair.set_slice(*t, *some_request(60 * ms), cpu.now);
    }
  }
};

RC_GTEST_PROP(paper_always, lags_sum_to_zero_and_credit_means_eligible, ()) {
  paper_cpu cpu;
  turmoil life;
  for (int i = 0; i != 200; ++i) {
    life.step(cpu);
    paper_wide sum = 0;
    bool any = false;
    for (const task& t : cpu.tasks) {
      if (!t.queued) continue;
      const paper_wide lag = cpu.fair.lag_times_weight(t);
      sum += lag;
      any = any || cpu.fair.eligible(t);
      RC_ASSERT(lag < 0 || cpu.fair.eligible(t));
    }
    RC_ASSERT(sum == 0);
    RC_ASSERT(any == (cpu.fair.nr_runnable() != 0));
    RC_ASSERT((cpu.fair.current() != nullptr) == (cpu.fair.nr_runnable() != 0));
  }
  RC_ASSERT(cpu.fair.anomalies() == 0U);
}

RC_GTEST_PROP(paper_always, joins_and_leaves_move_v_by_the_lag_over_the_weight, ()) {
  paper_cpu cpu;
  turmoil life;
  for (int i = 0; i != 50; ++i) life.step(cpu);
  for (task& t : cpu.tasks) {
    if (!t.queued || &t == cpu.fair.current() || cpu.fair.nr_runnable() < 2) continue;
    const paper_wide lag = cpu.fair.lag_times_weight(t) / cpu.total();
    cpu.fair.remove(t, cpu.now);
    t.custom_slice = true;
    // It joins anew with what it had.
    RC_ASSERT(cpu.fair.join_asleep(t, cpu.now));
    const_cast<paper_client&>(cpu.fair.client(t)).lag = lag;
    cpu.fair.wake(t, cpu.now);
    const paper_wide now = cpu.fair.lag_times_weight(t);
    const auto weight = static_cast<paper_wide>(cpu.fair.client(t).weight);
    RC_ASSERT(now >= lag * cpu.total());
    RC_ASSERT(now <= (lag + weight + 1) * cpu.total());
  }
}

RC_GTEST_PROP(paper_always, after_a_disturbance_later_deadlines_are_kept_again, ()) {
  paper_cpu cpu;
  turmoil life;
  for (int i = 0; i != 60; ++i) life.step(cpu);
  if (cpu.fair.nr_runnable() == 0) return;
  // d_m: the latest deadline pending of those in debt, as a fraction.
  paper_wide latest = 0;
  std::uint64_t latest_weight = 0;
  const auto deadline = [&](const task& t) {
    const paper_client& c = cpu.fair.client(t);
    return c.base * static_cast<paper_wide>(c.weight) + fixed(c.begun_ns + c.request_ns);
  };
  const auto reached = [&](const task& t) {
    const auto weight = static_cast<paper_wide>(cpu.fair.client(t).weight);
    return latest_weight == 0 ||
           deadline(t) * static_cast<paper_wide>(latest_weight) >= latest * weight;
  };
  for (const task& t : cpu.tasks) {
    if (!t.queued || cpu.fair.lag_times_weight(t) >= 0 || !reached(t)) continue;
    latest = deadline(t);
    latest_weight = cpu.fair.client(t).weight;
  }
  for (int i = 0; i != 300; ++i) {
    cpu.quantum();
    for (const task& t : cpu.tasks) {
      if (t.queued && reached(t)) RC_ASSERT(cpu.at_most_a_quantum_late(t));
    }
  }
}

// The bounds are reached, so that the tests above could fail.

TEST(paper_tight, equal_clients_reach_the_bounds_of_a_quantum) {
  constexpr int n = 40;
  paper_cpu cpu;
  for (int i = 0; i != n; ++i) cpu.fork(0, q);
  cpu.fair.schedule(cpu.now);
  cpu.quantum();
  const task& first = cpu.tasks.front();
  EXPECT_TRUE(cpu.fair.lag_times_weight(first) * n == (fixed(q) - fixed(q) * n) * cpu.total());
  for (int i = 0; i != n - 2; ++i) cpu.quantum();
  const task& last = cpu.tasks.back();
  EXPECT_EQ(last.sum_exec_ns, 0U);
  EXPECT_TRUE(cpu.fair.lag_times_weight(last) * n == fixed(q) * (n - 1) * cpu.total());
  EXPECT_FALSE(cpu.debt_below(first, 0));
  EXPECT_FALSE(cpu.lag_below(last, q * 95 / 100));
}

TEST(paper_tight, a_light_client_with_an_early_deadline_falls_behind_by_a_whole_request) {
  paper_cpu cpu;
  const std::uint64_t request = 10 * q;
  const task& light = cpu.fork(19, request);
  cpu.fork(-20, 6000 * request);
  cpu.fair.schedule(cpu.now);
  std::uint64_t quanta = 0;
  while (light.sum_exec_ns != request && quanta++ != 20) cpu.quantum();
  EXPECT_EQ(quanta, 10U);
  EXPECT_FALSE(cpu.debt_below(light, request * 95 / 100));
  EXPECT_TRUE(cpu.debt_below(light, request));
}

TEST(paper_tight, a_short_request_beside_a_long_one_is_late_by_nearly_a_quantum) {
  paper_cpu cpu;
  const task& brief = cpu.fork(0, 50'000);
  cpu.fork(0, 10 * q);
  cpu.fair.schedule(cpu.now);
  paper_wide latest = 0;
  for (int i = 0; i != 1000; ++i) {
    cpu.quantum();
    latest = std::max(latest, cpu.past_deadline(brief));
    ASSERT_TRUE(cpu.at_most_a_quantum_late(brief));
  }
  EXPECT_GE(static_cast<std::uint64_t>((latest / 1024) >> paper_fraction_bits), q * 95 / 100);
}

TEST(paper_cost, of_a_step_grows_as_the_logarithm) {
  for (std::size_t n = 64; n <= 16384; n *= 4) {
    paper_cpu cpu(n);
    std::uint64_t random = n;
    for (std::size_t i = 0; i != n; ++i) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      cpu.fork(static_cast<int>(random >> 40) % 20, 100'000 + random % q);
    }
    cpu.fair.schedule(cpu.now);
    std::uint64_t most = 0;
    for (int i = 0; i != 2000; ++i) {
      const std::uint64_t before = cpu.fair.nodes_visited();
      cpu.quantum();
      task& t = cpu.tasks[static_cast<std::size_t>(i) % n];
      cpu.fair.set_nice(t, i % 19, cpu.now);
      most = std::max(most, cpu.fair.nodes_visited() - before);
    }
    // A request renewed, one pick, one client out and in again.
    const auto log2 = static_cast<std::uint64_t>(std::bit_width(n) - 1);
    EXPECT_LE(most, 20 * log2) << n;
  }
}

}  // namespace
}  // namespace vlag::test

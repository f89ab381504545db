// SPDX-License-Identifier: Apache-2.0
//
// What must hold of the EEVDF class whatever happens, checked without the model.
#include "property/eevdf_streams.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>

namespace vlag::test {
namespace {

__extension__ using wide = __int128;

std::int64_t small(const entity& e) {
  return static_cast<std::int64_t>(small_weight(e.weight.full));
}

wide size_of(wide v) { return v < 0 ? -v : v; }

// Drives the class through a stream; before and after see every step.
template <typename Before, typename After>
void through(eevdf_twin& twin, const std::vector<operation>& stream, Before&& before,
             After&& after) {
  for (const operation& op : stream) {
    before(op);
    twin.apply(op);
    after(op);
  }
}

template <typename Check>
void in_every_state(const eevdf_config& config, Check&& check) {
  eevdf_twin twin(config, *start_of_virtual_time(), 8, beside::nothing);
  through(
      twin, *some_stream(), [](const operation&) {}, [&](const operation&) { check(twin.cpu()); });
}

RC_GTEST_PROP(eevdf_laws, lags_of_all_queued_entities_sum_to_zero, ()) {
  in_every_state(*any_config(), [](one_cpu& cpu) {
    const run_queue& queue = cpu.fair.queue();
    wide sum = 0;
    for (const task& t : cpu.tasks) {
      if (t.queued) sum += static_cast<wide>(queue.lag(t)) * small(t);
    }
    RC_ASSERT(sum <= 0);  // V is rounded down
    RC_ASSERT(queue.nr_queued() == 0 || sum > -static_cast<wide>(queue.total_weight()));
  });
}

RC_GTEST_PROP(eevdf_laws, somebody_is_eligible_whenever_somebody_is_queued, ()) {
  in_every_state(*any_config(), [](one_cpu& cpu) {
    const bool any = std::any_of(cpu.tasks.begin(), cpu.tasks.end(), [&](const task& t) {
      return t.queued && cpu.fair.queue().eligible(t);
    });
    RC_ASSERT(any == (cpu.fair.nr_queued() != 0));
    RC_ASSERT((cpu.fair.peek() != nullptr) == any);
  });
}

RC_GTEST_PROP(eevdf_laws, eligible_means_that_the_lag_is_not_negative, ()) {
  in_every_state(*any_config(), [](one_cpu& cpu) {
    for (const task& t : cpu.tasks) {
      if (t.queued) RC_ASSERT(cpu.fair.queue().eligible(t) == (cpu.fair.queue().lag(t) >= 0));
    }
  });
}

// L1: the lag seen after joining is the lag kept. L2: what is placed at V is eligible.
RC_GTEST_PROP(eevdf_laws, a_task_comes_back_with_the_lag_it_left_with, ()) {
  eevdf_twin twin(three_ms_slices(), *start_of_virtual_time(), 8, beside::nothing);
  const std::vector<operation> stream = *some_stream();
  for (const operation& op : stream) {
    if (op.what != act::wake) {
      twin.apply(op);
      continue;
    }
    for (task& t : twin.cpu().tasks) {
      if (t.queued || !twin.alive(t)) continue;
      const bool company = twin.cpu().fair.nr_queued() > 0;
      const std::int64_t kept = company ? t.vlag : 0;
      twin.cpu().wake(t);
      RC_ASSERT(size_of(wide{twin.cpu().fair.queue().lag(t)} - kept) <= 2);
      if (kept >= 0) RC_ASSERT(twin.cpu().fair.queue().eligible(t));
      return;
    }
  }
}

RC_GTEST_PROP(eevdf_laws, a_new_task_is_eligible, ()) {
  eevdf_twin twin(*any_config(), *start_of_virtual_time(), 8, beside::nothing);
  std::size_t known = 0;
  through(
      twin, *some_stream(), [&](const operation&) { known = twin.cpu().tasks.size(); },
      [&](const operation& op) {
        if (op.what != act::fork || twin.cpu().tasks.size() == known) return;
        RC_ASSERT(twin.cpu().fair.queue().eligible(twin.cpu().tasks.back()));
      });
}

// L3: lag and deadline keep their distance to V in wall-clock time.
RC_GTEST_PROP(eevdf_laws, reweighting_keeps_lag_and_deadline_in_wall_clock_time, ()) {
  eevdf_twin twin(*any_config(), *start_of_virtual_time(), 8, beside::nothing);
  through(twin, *some_stream(), [](const operation&) {}, [](const operation&) {});
  one_cpu& cpu = twin.cpu();
  const run_queue& queue = cpu.fair.queue();
  cpu.fair.account(cpu.now);
  for (task& t : cpu.tasks) {
    if (!t.queued) continue;
    const std::uint64_t old_average = queue.average_vruntime();
    const wide old_weight = static_cast<wide>(t.weight.full);
    const auto limit = static_cast<std::int64_t>(
        to_virtual(std::max(2 * t.slice_ns, cpu.config.tick_ns), t.weight));
    const std::int64_t unbound = queue.lag(t);
    const bool clamps = cpu.config.features.has(feature::lag_clamp);
    const wide lag = (clamps ? std::clamp(unbound, -limit, limit) : unbound) * old_weight;
    const wide ahead = signed_difference(t.deadline, old_average) * old_weight;
    if (size_of(ahead) >= wide{1} << 62 || size_of(lag) >= wide{1} << 62) continue;
    const std::uint64_t full = *rc::gen::inRange<std::uint64_t>(2 << 10, 100'000 << 10);
    cpu.fair.reweight(t, full, cpu.now);
    const wide new_weight = static_cast<wide>(full);
    RC_ASSERT(size_of(signed_difference(old_average, t.vruntime) * new_weight - lag) < new_weight);
    RC_ASSERT(size_of(signed_difference(t.deadline, old_average) * new_weight - ahead) <
              new_weight);
  }
}

// L6
RC_GTEST_PROP(eevdf_laws, a_delayed_task_never_runs_and_leaves_without_credit, ()) {
  eevdf_config config = *any_config();
  config.features.set(feature::delay_dequeue, true);
  config.features.set(feature::delay_zero, true);
  eevdf_twin twin(config, *start_of_virtual_time(), 8, beside::nothing);
  bool credit = false;
  twin.cpu().fair.set_decision_hook(
      [](void* context, decision what, const entity& who) {
        if (what == decision::delayed_completed && who.vlag > 0)
          *static_cast<bool*>(context) = true;
      },
      &credit);
  through(
      twin, *some_stream(400), [](const operation&) {},
      [&](const operation&) {
        const fair_class& fair = twin.cpu().fair;
        RC_ASSERT(!credit);
        if (fair.current() != nullptr && fair.current()->queued) {
          RC_ASSERT(!fair.current()->sched_delayed);
        }
        const auto runnable =
            std::count_if(twin.cpu().tasks.begin(), twin.cpu().tasks.end(),
                          [](const task& t) { return t.queued && !t.sched_delayed; });
        RC_ASSERT(runnable == static_cast<long>(fair.nr_runnable()));
      });
}

// L9
RC_GTEST_PROP(eevdf_laws, products_stay_far_from_overflow, ()) {
  in_every_state(*any_config(), [](one_cpu& cpu) {
    const run_queue& queue = cpu.fair.queue();
    for (const task& t : cpu.tasks) {
      if (!t.queued) continue;
      const wide key = signed_difference(t.vruntime, queue.reference());
      RC_ASSERT(size_of(key * static_cast<wide>(queue.total_weight())) < wide{1} << 62);
    }
    RC_ASSERT(cpu.fair.anomalies() == 0U);
  });
}

// Two classes that differ only in where virtual time starts decide the same.
RC_GTEST_PROP(eevdf_laws, where_virtual_time_starts_decides_nothing, ()) {
  const eevdf_config config = *any_config();
  const std::uint64_t start = *start_of_virtual_time();
  const std::uint64_t other_start = *start_of_virtual_time();
  eevdf_twin one(config, start, 8, beside::nothing);
  eevdf_twin other(config, other_start, 8, beside::nothing);
  const auto number = [](const entity* e) {
    return e == nullptr ? 0U : static_cast<const task*>(e)->id;
  };
  for (const operation& op : *some_stream()) {
    one.apply(op);
    other.apply(op);
    fair_class& a = one.cpu().fair;
    fair_class& b = other.cpu().fair;
    RC_ASSERT(number(a.current()) == number(b.current()));
    RC_ASSERT(number(a.peek()) == number(b.peek()));
    RC_ASSERT(a.need_resched() == b.need_resched());
    RC_ASSERT(a.queue().average_vruntime() - start == b.queue().average_vruntime() - other_start);
    RC_ASSERT(a.queue().weighted_sum() == b.queue().weighted_sum());
    for (std::size_t i = 0; i < one.cpu().tasks.size(); ++i) {
      const task& s = one.cpu().tasks[i];
      const task& t = other.cpu().tasks[i];
      RC_ASSERT(s.queued == t.queued);
      RC_ASSERT(s.vlag == t.vlag);
      if (s.queued) RC_ASSERT(s.vruntime - start == t.vruntime - other_start);
      if (s.queued) RC_ASSERT(s.deadline - start == t.deadline - other_start);
    }
  }
}

// ---- Tasks that always want to run

struct hogs {
  hogs(const eevdf_config& config, std::uint64_t shortest_slice_ns) : cpu(config) {
    const int n = *rc::gen::inRange(2, 8);
    for (int i = 0; i < n; ++i) {
      cpu.fork(*some_nice(), *rc::gen::inRange(shortest_slice_ns, shortest_slice_ns + 50 * ms));
    }
    cpu.schedule();
    longest = std::max_element(cpu.tasks.begin(), cpu.tasks.end(), [](auto& a, auto& b) {
                return a.slice_ns < b.slice_ns;
              })->slice_ns;
  }
  one_cpu cpu;
  std::uint64_t longest;
};

eevdf_config random_tick() {
  eevdf_config config = three_ms_slices();
  config.tick_ns = *rc::gen::element<std::uint64_t>(1 * ms, 4 * ms, 10 * ms);
  return config;
}

// L7
RC_GTEST_PROP(eevdf_hogs, run_no_longer_than_a_request_and_a_tick, ()) {
  hogs h(random_tick(), 100 * us);
  std::uint64_t since = h.cpu.now;
  for (int i = 0; i < 300; ++i) {
    const task& running = *h.cpu.fair.current();
    // Each accounting rounds vruntime down by less than 1 virtual ns, which lengthens the request.
    const std::uint64_t rounding = (running.slice_ns / h.cpu.config.tick_ns + 2) *
                                   (small_weight(running.weight.full) / 1024 + 1);
    const std::uint64_t allowed = running.slice_ns + h.cpu.config.tick_ns + rounding;
    h.cpu.run(h.cpu.config.tick_ns);
    RC_ASSERT(h.cpu.now - since <= allowed);
    if (!h.cpu.fair.need_resched()) continue;
    h.cpu.schedule();
    since = h.cpu.now;
  }
}

// With a timer at the end of each request, lag in wall-clock time stays between one's own request
// and the longest request of anybody.
RC_GTEST_PROP(eevdf_hogs, lag_is_bounded_by_requests, ()) {
  hogs h(random_tick(), 100 * us);
  const run_queue& queue = h.cpu.fair.queue();
  constexpr std::uint64_t slack = 1 * us;  // what rounding can make a request longer, and more
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t left = h.cpu.fair.time_to_request_end();
    h.cpu.run_and_switch(std::clamp<std::uint64_t>(left, 1, h.cpu.config.tick_ns));
    for (const task& t : h.cpu.tasks) {
      const wide lag_ns = static_cast<wide>(queue.lag(t)) * small(t) / 1024;
      RC_ASSERT(lag_ns > -static_cast<wide>(t.slice_ns + slack));
      RC_ASSERT(lag_ns < static_cast<wide>(h.longest + slack));
    }
  }
}

// Between any two moments each gets its share, to within what it and the others may be ahead.
RC_GTEST_PROP(eevdf_hogs, share_the_cpu_by_weight_over_any_interval, ()) {
  hogs h(random_tick(), 100 * us);
  const auto total = static_cast<wide>(h.cpu.fair.queue().total_weight());
  std::vector<std::vector<std::uint64_t>> service;
  std::vector<std::uint64_t> when;
  for (int i = 0; i < 100; ++i) {
    when.push_back(h.cpu.now);
    service.emplace_back();
    for (const task& t : h.cpu.tasks) service.back().push_back(t.sum_exec_ns);
    const std::uint64_t left = h.cpu.fair.time_to_request_end();
    h.cpu.run_and_switch(std::clamp<std::uint64_t>(left, 1, h.cpu.config.tick_ns));
  }
  for (std::size_t from = 0; from < when.size(); from += 3) {
    for (std::size_t to = from + 1; to < when.size(); to += 7) {
      for (std::size_t i = 0; i < h.cpu.tasks.size(); ++i) {
        const wide share = static_cast<wide>(when[to] - when[from]) * small(h.cpu.tasks[i]) / total;
        const wide got = static_cast<wide>(service[to][i] - service[from][i]);
        const std::uint64_t own = h.cpu.tasks[i].slice_ns;
        RC_ASSERT(size_of(got - share) <= static_cast<wide>(own + h.longest + 2 * us));
      }
    }
  }
}

}  // namespace
}  // namespace vlag::test

// SPDX-License-Identifier: Apache-2.0
//
// Queues, groups and CPUs under load tracking: what must hold beside the recorded logs.
#include "vectors/pelt_system.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace vlag {
namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t start = 10 * ms;
constexpr std::uint64_t weight_1024 = nice_0_weight;

// All CPUs for so long, ticking each ms.
void passes(pelt_system& system, std::uint64_t ns) {
  for (std::uint64_t done = 0; done < ns; done += ms) {
    for (std::size_t cpu = 0; cpu < pelt_system::cpu_count; ++cpu) {
      system.advance(cpu, ms);
      system.tick(cpu);
    }
  }
}

void start_running(pelt_system& system, std::uint32_t id, std::size_t cpu, std::uint32_t group) {
  system.start(id, cpu, weight_1024, group);
  system.switch_to(*system.find_task(id));
}

const load_average& queue_average(const pelt_system& system, std::uint32_t group, std::size_t cpu) {
  return system.groups().at(group).queues[cpu].load.average;
}

std::uint64_t weight_of_group(const pelt_system& system, std::uint32_t group, std::size_t cpu) {
  return system.groups().at(group).entities[cpu].weight;
}

TEST(pelt_system, a_group_on_one_cpu_has_its_shares) {
  pelt_system system(start);
  system.make_group(1, 0, 3'000 << weight_resolution_bits);
  start_running(system, 1, 0, 1);
  for (int i = 0; i < 100; ++i) {
    passes(system, 10 * ms);
    EXPECT_EQ(weight_of_group(system, 1, 0), 3'000U << weight_resolution_bits);
  }
}

TEST(pelt_system, a_group_on_two_cpus_divides_its_shares_by_load) {
  pelt_system system(start);
  system.make_group(1, 0, 1'024 << weight_resolution_bits);
  start_running(system, 1, 0, 1);
  start_running(system, 2, 1, 1);
  passes(system, 1'000 * ms);
  EXPECT_NEAR(static_cast<double>(weight_of_group(system, 1, 0)), 524'288, 524'288 * 0.03);
  EXPECT_NEAR(static_cast<double>(weight_of_group(system, 1, 1)), 524'288, 524'288 * 0.03);
  system.start(3, 1, weight_1024, 1);
  system.start(4, 1, weight_1024, 1);
  passes(system, 1'000 * ms);  // one of four on the first CPU
  EXPECT_NEAR(static_cast<double>(weight_of_group(system, 1, 0)), 262'144, 262'144 * 0.05);
  EXPECT_NEAR(static_cast<double>(weight_of_group(system, 1, 1)), 786'432, 786'432 * 0.05);
}

TEST(pelt_system, utilisation_is_passed_up_through_five_groups) {
  pelt_system system(start);
  for (std::uint32_t g = 1; g <= 5; ++g) system.make_group(g, g - 1, weight_1024);
  start_running(system, 1, 0, 5);
  for (int i = 0; i < 60; ++i) {
    passes(system, 5 * ms);
    system.dequeue(*system.find_task(1), true);
    system.go_idle(0);
    passes(system, 5 * ms);
    system.enqueue(*system.find_task(1));
    system.switch_to(*system.find_task(1));
    const auto util = static_cast<double>(system.find_task(1)->load.average.util_avg);
    for (std::uint32_t g = 0; g <= 5; ++g) {
      EXPECT_NEAR(static_cast<double>(queue_average(system, g, 0).util_avg), util, 6) << g;
    }
  }
}

// A move takes the task's part out of one branch and puts it into the other; the CPU as a whole
// does not notice.
TEST(pelt_system, a_move_between_branches_leaves_the_root_as_it_was) {
  pelt_system system(start);
  system.make_group(1, 0, weight_1024);
  system.make_group(2, 1, weight_1024);
  system.make_group(3, 0, weight_1024);
  start_running(system, 1, 0, 2);
  passes(system, 700 * ms);
  const std::uint64_t before = queue_average(system, 0, 0).util_avg;
  system.move(*system.find_task(1), 3);
  EXPECT_LE(queue_average(system, 2, 0).util_avg, 2U);
  EXPECT_LE(queue_average(system, 1, 0).util_avg, 2U);
  EXPECT_NEAR(static_cast<double>(queue_average(system, 3, 0).util_avg), 1024, 8);
  EXPECT_NEAR(static_cast<double>(queue_average(system, 0, 0).util_avg),
              static_cast<double>(before), 8);
}

TEST(pelt_system, a_sleeper_takes_its_part_to_another_cpu) {
  pelt_system system(start);
  system.make_group(1, 0, weight_1024);
  start_running(system, 1, 0, 1);
  passes(system, 700 * ms);
  pelt_system::task& t = *system.find_task(1);
  system.dequeue(t, true);
  system.go_idle(0);
  system.migrate(t, 1);
  EXPECT_EQ(queue_average(system, 1, 1).util_avg, 0U);
  system.decay(0, 1);
  system.decay(0, 0);
  EXPECT_LE(queue_average(system, 0, 0).util_avg, 2U);
  EXPECT_LE(queue_average(system, 1, 0).util_avg, 2U);
  system.enqueue(t);
  EXPECT_NEAR(static_cast<double>(queue_average(system, 1, 1).util_avg), 1024, 8);
  EXPECT_NEAR(static_cast<double>(queue_average(system, 0, 1).util_avg), 1024, 8);
}

TEST(pelt_system, a_new_task_is_assumed_to_take_half_of_what_is_left) {
  pelt_system system(start);
  system.start(1, 0, weight_1024, 0);
  EXPECT_EQ(system.find_task(1)->load.average.util_avg, 512U);
  system.start(2, 0, weight_1024, 0);
  EXPECT_EQ(system.find_task(2)->load.average.util_avg, 256U);
  EXPECT_EQ(queue_average(system, 0, 0).util_avg, 768U);
}

// ---- Random scripts.

class random_script {
 public:
  explicit random_script(std::uint64_t seed) : random_(seed), system(start) {
    for (std::uint32_t g = 1; g <= 5; ++g) {
      system.make_group(g, below(g), (2 + below(4'000)) << weight_resolution_bits);
    }
  }

  void step() {
    const std::size_t cpu = below(2);
    switch (below(14)) {
      case 0:
        if (system.tasks().size() < 12) {
          system.start(++last_id_, cpu, (2 + below(88'760)) << weight_resolution_bits, below(6));
        }
        return;
      case 1:
        system.go_idle(cpu);
        return;
      case 2:
        system.set_shares(1 + below(5), (2 + below(4'000)) << weight_resolution_bits);
        return;
      case 3:
        system.decay(cpu, below(6));
        return;
      case 4:
      case 5:
      case 6:
        system.advance(cpu, below(20 * ms));
        system.tick(cpu);
        return;
      default:
        if (!system.tasks().empty()) step_of(a_task());
        return;
    }
  }

  void end_all() {
    while (!system.tasks().empty()) {
      pelt_system::task& t = a_task();
      if (t.delayed) system.finish_delayed(t);
      if (t.queued) system.dequeue(t, true);
      if (system.is_current(t)) system.go_idle(t.on->cpu);
      system.exit(t);
    }
    for (int i = 0; i < 40; ++i) {
      for (std::size_t cpu = 0; cpu < pelt_system::cpu_count; ++cpu) {
        system.go_idle(cpu);
        system.advance(cpu, 100 * ms);
        for (std::uint32_t g = 6; g-- > 0;) system.decay(cpu, g);
      }
    }
  }

 private:
  std::mt19937_64 random_;
  std::uint32_t last_id_ = 0;

 public:
  pelt_system system;

 private:
  std::uint32_t below(std::uint64_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  pelt_system::task& a_task() {
    auto it = system.tasks().begin();
    std::advance(it, below(system.tasks().size()));
    return *system.find_task(it->first);
  }

  void step_of(pelt_system::task& t) {
    const bool on_cpu = system.is_current(t);
    switch (below(8)) {
      case 0:
        if (!on_cpu) system.migrate(t, below(2));
        return;
      case 1:
        system.move(t, below(6));
        return;
      case 2:
        system.reweight(t, (2 + below(88'760)) << weight_resolution_bits);
        return;
      case 3:
        if (!t.queued && !on_cpu) system.exit(t);
        return;
      case 4:
        if (t.queued && !t.delayed) system.switch_to(t);
        return;
      default:
        sleep_or_wake(t);
        return;
    }
  }

  void sleep_or_wake(pelt_system::task& t) {
    if (!t.queued) {
      system.enqueue(t);
    } else if (t.delayed) {
      below(2) == 0 ? system.undelay(t) : system.finish_delayed(t);
    } else {
      below(2) == 0 ? system.delay(t) : system.dequeue(t, true);
    }
  }
};

std::uint64_t estimate_of_queued(const pelt_system& system, std::size_t cpu) {
  std::uint64_t sum = 0;
  for (const auto& [id, t] : system.tasks()) {
    if (t.on->cpu == cpu && t.queued && !t.delayed) sum += estimated_util(t.load.average);
  }
  return sum;
}

void expect_sound(const pelt_system& system) {
  for (std::size_t cpu = 0; cpu < pelt_system::cpu_count; ++cpu) {
    EXPECT_EQ(queue_average(system, 0, cpu).util_est, estimate_of_queued(system, cpu));
  }
  for (const auto& [id, g] : system.groups()) {
    std::uint64_t shared = 0;
    for (const auto& q : g.queues) {
      shared += q.load.shared_load_avg;
      const load_average& a = q.load.average;
      EXPECT_GE(a.util_sum, a.util_avg * load_average_min);
      EXPECT_GE(a.runnable_sum, a.runnable_avg * load_average_min);
      EXPECT_LE(a.util_avg, 20 * 1024U);  // nothing went below zero
      EXPECT_LE(a.runnable_avg, 20 * 1024U);
      EXPECT_LE(a.load_avg, 12U * 90'000);
      EXPECT_LE(q.h_nr_delayed, q.h_nr_queued);
    }
    if (id == 0) continue;
    EXPECT_EQ(g.load.load_avg, shared);
    for (const auto& e : g.entities) {
      EXPECT_GE(e.weight, 2U);
      EXPECT_TRUE(!e.queued || e.weight <= g.shares || e.weight <= nice_0_weight);
    }
  }
}

TEST(pelt_system, totals_agree_with_their_parts_whatever_happens) {
  for (std::uint64_t seed = 1; seed <= 150 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    random_script script(seed);
    for (int i = 0; i < 400 && !testing::Test::HasFailure(); ++i) {
      script.step();
      expect_sound(script.system);
    }
  }
}

TEST(pelt_system, nothing_stays_when_all_have_left) {
  for (std::uint64_t seed = 1; seed <= 60 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    random_script script(seed);
    for (int i = 0; i < 400; ++i) script.step();
    script.end_all();
    for (const auto& [id, g] : script.system.groups()) {
      EXPECT_EQ(g.load.load_avg, 0U);
      for (const auto& q : g.queues) {
        EXPECT_EQ(q.weight, 0U);
        EXPECT_EQ(q.h_nr_queued, 0U);
        EXPECT_EQ(q.load.average.load_avg, 0U);
        EXPECT_EQ(q.load.average.runnable_avg, 0U);
        EXPECT_EQ(q.load.average.util_avg, 0U);
        EXPECT_EQ(q.load.average.util_est, 0U);
      }
    }
  }
}

}  // namespace
}  // namespace vlag

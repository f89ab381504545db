// SPDX-License-Identifier: Apache-2.0
//
// How fast the simulated machine is: switches and events of simulated time per second of real time,
// on one core. No observer, no trace.
#include "machine/machine.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <utility>

namespace {

using namespace vlag;

constexpr std::uint64_t us = 1'000;
constexpr std::uint64_t ms = 1'000'000;

machine_config config_at_1000_hz(unsigned cpus = 1) {
  machine_config config;
  config.cpus = cpus;
  config.tick_ns = 1 * ms;
  return config;
}

policy_config policy_of(const char* name, unsigned cpus = 1) {
  return configure(*find_profile(name), cpus, 1 * ms);
}

void add(machine& simulated, program steps, int nice = 0, unsigned cpu = 0) {
  task_setup setup;
  setup.steps = std::move(steps);
  setup.nice = nice;
  setup.cpu = cpu;
  simulated.add_task(std::move(setup));
}

// Runs the machine on in steps of simulated time and counts what happened.
void measure(benchmark::State& state, machine& simulated, std::uint64_t step_ns) {
  const auto switches = [&] {
    std::uint64_t total = 0;
    for (const cpu_figures& c : simulated.figures().cpus) total += c.switches;
    return total;
  };
  std::uint64_t end_ns = step_ns;
  simulated.run_until(end_ns);
  const std::uint64_t events_before = simulated.events();
  const std::uint64_t switches_before = switches();
  for (auto _ : state) {
    end_ns += step_ns;
    simulated.run_until(end_ns);
  }
  const auto rate = [](std::uint64_t count) {
    return benchmark::Counter(static_cast<double>(count), benchmark::Counter::kIsRate);
  };
  state.counters["switches"] = rate(switches() - switches_before);
  state.counters["events"] = rate(simulated.events() - events_before);
}

// Hogs of nice 0 at HZ 1000 with requests below a tick: every tick switches.
void equal_hogs(benchmark::State& state, const char* profile_name) {
  const auto count = static_cast<unsigned>(state.range(0));
  policy_config policy = policy_of(profile_name);
  policy.cfs.min_granularity_ns = 500 * us;
  machine simulated(config_at_1000_hz(), policy, count);
  for (unsigned i = 0; i < count; ++i) add(simulated, {{op_kind::run, 0, forever_ns}});
  measure(state, simulated, 10'000 * ms);
}
BENCHMARK_CAPTURE(equal_hogs, eevdf, "linux-6.12")->Arg(2)->Arg(16)->Arg(128);
BENCHMARK_CAPTURE(equal_hogs, cfs, "linux-6.1")->Arg(16);

// Eight hogs of nice -7 to 7 beside eight tasks that run 50 us and sleep 1 to 8 ms.
void nice_mix_with_sleepers(benchmark::State& state) {
  const policy_config policy = policy_of("linux-6.12");
  machine simulated(config_at_1000_hz(), policy, 16);
  for (int i = 0; i < 8; ++i) add(simulated, {{op_kind::run, 0, forever_ns}}, 2 * i - 7);
  for (std::uint64_t i = 0; i < 8; ++i) {
    add(simulated, {{op_kind::run, 0, 50 * us},
                    {op_kind::sleep, 0, (i + 1) * ms + 7 * i * us},
                    {op_kind::jump, 0, 0}});
  }
  measure(state, simulated, 10'000 * ms);
}
BENCHMARK(nice_mix_with_sleepers);

// Two tasks wake each other in turn, 5 us of work a turn.
void ping_pong(benchmark::State& state) {
  const policy_config policy = policy_of("linux-6.12");
  machine simulated(config_at_1000_hz(), policy, 2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    add(simulated, {{op_kind::run, 0, 5 * us},
                    {op_kind::wake, 1 - i, 0},
                    {op_kind::wait, 0, 0},
                    {op_kind::jump, 0, 0}});
  }
  measure(state, simulated, 50 * ms);
}
BENCHMARK(ping_pong);

// Four hogs on each of that many CPUs.
void hogs_on_many_cpus(benchmark::State& state) {
  const auto cpus = static_cast<unsigned>(state.range(0));
  policy_config policy = policy_of("linux-6.12", cpus);
  policy.eevdf.base_slice_ns = 700 * us;
  machine simulated(config_at_1000_hz(cpus), policy, std::size_t{4} * cpus);
  for (unsigned i = 0; i < 4 * cpus; ++i) {
    add(simulated, {{op_kind::run, 0, forever_ns}}, 0, i % cpus);
  }
  measure(state, simulated, 500 * ms);
}
BENCHMARK(hogs_on_many_cpus)->Arg(4)->Arg(64)->Arg(512);

}  // namespace

BENCHMARK_MAIN();

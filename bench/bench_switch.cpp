// SPDX-License-Identifier: Apache-2.0
//
// ns for one whole switch of the EEVDF class: the tick finds the running task's request used up
// (account, renew the deadline), schedule() puts it back, picks the next one and gives it the CPU.
// N tasks are runnable, the running one among them.
//
//   switch/equal/N   all at nice 0 with 3 ms slices
//   switch/mixed/N   nice -10 .. 10 and slices of 0.5 .. 8 ms
#include "vlag/fair_class.hpp"
#include "vlag/features.hpp"
#include "vlag/timeline.hpp"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace {

struct alignas(64) memory_line {
  std::byte bytes[64];
};

void whole_switch(benchmark::State& state, bool mixed) {
  const auto n = static_cast<std::size_t>(state.range(0));
  std::vector<memory_line> memory((vlag::timeline_storage::required_bytes(n) + 63) / 64);
  vlag::timeline_storage storage(std::as_writable_bytes(std::span(memory)), n);
  vlag::eevdf_config config;
  config.base_slice_ns = 3'000'000;
  vlag::fair_class fair(config, storage);
  std::vector<vlag::task> tasks(n);
  std::uint64_t now = 1'000'000'000;
  std::uint64_t random = 88172645463325252U;
  for (vlag::task& t : tasks) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    const int nice = mixed ? static_cast<int>(random >> 40) % 21 - 10 : 0;
    vlag::set_initial_attributes(t, vlag::sched_policy::normal, nice);
    t.custom_slice = mixed;
    if (mixed) t.slice_ns = 500'000 + random % 7'500'000;
    if (!fair.fork(t, now)) return state.SkipWithError("the storage is too small");
  }
  vlag::task* running = fair.schedule(now);
  const auto step = [&] {
    now += running->slice_ns;
    fair.tick(now);
    running = fair.schedule(now);
  };
  // Until the order of deadlines is that of a queue that has run for a while.
  for (std::size_t i = 0; i != 4 * n + 1000; ++i) step();
  for (auto _ : state) {
    step();
    benchmark::DoNotOptimize(running);
  }
  if (fair.anomalies() != 0) state.SkipWithError("sums wrapped");
}

void equal(benchmark::State& state) { whole_switch(state, false); }
void mixed(benchmark::State& state) { whole_switch(state, true); }

void sizes(benchmark::internal::Benchmark* b) {
  for (const int n : {1, 4, 16, 64, 256, 1024, 4096, 16384, 262144, 1048576}) b->Arg(n);
}

BENCHMARK(equal)->Name("switch/equal")->Apply(sizes);
BENCHMARK(mixed)->Name("switch/mixed")->Apply(sizes);

}  // namespace

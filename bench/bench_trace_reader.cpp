// SPDX-License-Identifier: Apache-2.0
//
// Events per second read from ftrace text: a plain file in the page cache, eight tasks that wake
// each other on four CPUs, as many switches as wake-ups and wakings.
#include "trace/reader.hpp"

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

constexpr std::uint64_t rounds = 100'000;  // three events each
constexpr std::uint64_t events_per_round = 3;

std::string round_text(std::uint64_t round) {
  static constexpr const char* names[] = {"swapper/0",   "cc1plus", "kworker/u8:2-ev",
                                          "Web Content", "bash",    "pipewire-0",
                                          "rcu_preempt", "hog7"};
  const auto task = static_cast<unsigned>(round % 8);
  const unsigned other = (task + 3) % 8;
  const auto cpu = static_cast<unsigned>(round / 8 % 4);
  const double time = 100.0 + static_cast<double>(round) * 1e-5;
  char text[600];
  const int size = std::snprintf(
      text, sizeof text,
      "%16s-%-7u [%03u] d..2. %5.6f: sched_waking: comm=%s pid=%u prio=120 target_cpu=%03u\n"
      "%16s-%-7u [%03u] dN.3. %5.6f: sched_wakeup: comm=%s pid=%u prio=120 target_cpu=%03u\n"
      "%16s-%-7u [%03u] d..2. %5.6f: sched_switch: prev_comm=%s prev_pid=%u prev_prio=120 "
      "prev_state=%s ==> next_comm=%s next_pid=%u next_prio=120\n",
      names[task], task + 100, cpu, time, names[other], other + 100, cpu, names[task], task + 100,
      cpu, time + 1e-6, names[other], other + 100, cpu, names[task], task + 100, cpu, time + 3e-6,
      names[task], task + 100, round % 3 == 0 ? "R+" : "S", names[other], other + 100);
  return {text, static_cast<std::size_t>(size)};
}

class generated_trace {
 public:
  generated_trace()
      : path_(std::filesystem::temp_directory_path() /
              ("bench_trace_reader." + std::to_string(::getpid()))) {
    std::ofstream file(path_);
    file << "# tracer: nop\n";
    for (std::uint64_t round = 0; round < rounds; ++round) file << round_text(round);
  }
  ~generated_trace() { std::filesystem::remove(path_); }
  generated_trace(const generated_trace&) = delete;
  generated_trace& operator=(const generated_trace&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void read_plain_text(benchmark::State& state) {
  const generated_trace trace;
  const auto bytes = std::filesystem::file_size(trace.path());
  for (auto _ : state) {
    const auto recording = vlag::trace::read_recording(trace.path().string());
    if (recording.events.size() != rounds * events_per_round || !recording.anomalies.empty()) {
      state.SkipWithError("the generated trace was not read as written");
      break;
    }
  }
  state.SetItemsProcessed(state.iterations() *
                          static_cast<std::int64_t>(rounds * events_per_round));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}
BENCHMARK(read_plain_text)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

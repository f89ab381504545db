// SPDX-License-Identifier: Apache-2.0
//
// What `perf sched latency` prints (perf 6.1), from a schedule: per task, or tasks of one name
// together, CPU time, switches, and the delay between wanting the CPU and getting it. Line for line
// the same, but: sched_waking counts, as in later versions of perf and so does losing the CPU in
// the kernel (see as_perf_6_1); names are those in the events; and where the recording has no
// sched_stat_runtime, the CPU time is that between switches (perf prints 0).
//
// The rules. A delay begins when a sleeping task is woken, or a runnable one loses the CPU, and
// ends when it gets the CPU. "Switches" counts the delays that ended, and so not a task's first
// stay on the CPU when it was never seen before. A task of which nothing is known when it gets the
// CPU had no delay.
#pragma once

#include "report/schedule.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

enum class latency_key : std::uint8_t { average, maximum, switches, runtime };

// "avg,max": perf's names of keys, separated by commas. Throws input_error: another name.
[[nodiscard]] std::vector<latency_key> parse_latency_keys(std::string_view text);

struct latency_request {
  bool each_pid = false;  // a row a pid, not a row a name
  // perf's rules for a recording of one CPU alone: a wake-up counts even if the task is not known
  // to sleep, and a task that comes from another CPU waits from then on.
  bool one_cpu = false;
  // Two faults of perf 6.1. It takes no notice of sched_waking; and what its `sched record` records
  // has no sched_wakeup, so that no delay of a task that is woken counts (but for new ones). And it
  // takes the state R+ (preempted in the kernel) for sleeping, so that this wait does not count.
  bool as_perf_6_1 = false;
  // Largest first; the next decides where one is equal. Then perf's own order.
  std::vector<latency_key> sort{latency_key::average, latency_key::maximum, latency_key::switches,
                                latency_key::runtime};
};

class sched_latency final : public schedule_sink {
 public:
  explicit sched_latency(latency_request request) : request_(std::move(request)) {}

  void begin(const schedule_info& info) override;
  void on_start(unsigned cpu, std::uint32_t running) override;
  void on_switch(const schedule_switch& e) override;
  void on_wakeup(const schedule_wakeup& e) override;
  void on_migrate(const schedule_migration& e) override;
  void on_runtime(std::uint64_t at_ns, std::uint32_t task, std::uint64_t ran_ns) override;
  void on_name(std::uint64_t at_ns, std::uint32_t task, std::string_view name) override;
  void on_task(std::uint32_t number, const schedule_task& task) override;
  void on_wait_begins(wakeup_kind kind) override { wait_begins_ = kind; }
  void end(std::uint64_t at_ns) override;

  // Requires: end() was called.
  [[nodiscard]] std::string text() const;

  struct row {
    std::string name;
    std::int32_t pid = 0;
    std::size_t merged = 1;
    std::uint64_t runtime_ns = 0;
    std::uint64_t delays = 0;
    std::uint64_t delay_sum_ns = 0;
    std::uint64_t longest_ns = 0;
    std::uint64_t longest_from_ns = 0;  // in the schedule's clock
    std::uint64_t longest_to_ns = 0;
  };
  // As they are printed.
  [[nodiscard]] std::vector<row> rows() const;

 private:
  enum class phase : std::uint8_t { unknown, sleeps, waits, runs };
  struct known_task {
    row sums;
    phase state = phase::unknown;
    std::uint64_t out_ns = 0;
    std::uint64_t wants_since_ns = 0;
    bool seen = false;
  };
  struct known_cpu {
    bool known = false;  // who has it
    std::uint32_t task = no_task;
    std::uint64_t since_ns = 0;
  };

  [[nodiscard]] known_cpu& cpu_of(unsigned number);
  void leaves(known_task& t, bool runnable, std::uint64_t at_ns);
  void count_stay(known_cpu& c, std::uint64_t at_ns);

  latency_request request_;
  std::vector<known_task> tasks_;
  std::vector<known_cpu> cpus_;
  std::uint64_t clock_ns_ = 0;
  wakeup_kind wait_begins_ = wakeup_kind::queued;
  bool counted_runtime_ = false;  // the recording has it
  std::uint64_t switches_ = 0;
  std::uint64_t unexpected_ = 0;  // switches from a task that had not been switched to
};

// "14791.401146": as perf writes a time, cut to us.
[[nodiscard]] std::string perf_time(std::uint64_t ns);

}  // namespace vlag

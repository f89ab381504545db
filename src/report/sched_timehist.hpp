// SPDX-License-Identifier: Apache-2.0
//
// What `perf sched timehist` prints (perf 6.1), from a schedule: a line each time a task leaves the
// CPU, with how long it had been off it before (wait time), how long of that it was runnable after
// a wake-up (sch delay), and how long it ran. Times are ms, cut to us, as perf writes them.
//
// Not as perf: names are those in the events, and threads of a process are not known to be of it
// (9322, where perf may write 9322/9319); of the parents of tasks only those that forked during the
// recording are known, others are -1; a CPU that was never idle is said to be, where perf says that
// it always was.
#pragma once

#include "report/schedule.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

struct timehist_request {
  bool wakeups = false;
  bool migrations = false;
  bool next = false;   // who got the CPU
  bool state = false;  // why the task left
  bool lines = true;
  bool summary = false;
  std::vector<unsigned> cpus;      // lines of switches on these only; empty: all
  std::vector<std::int32_t> pids;  // these tasks only; empty: all
};

class sched_timehist final : public schedule_sink {
 public:
  using output = std::function<void(std::string_view)>;
  sched_timehist(timehist_request request, output out)
      : request_(std::move(request)), out_(std::move(out)) {}

  void begin(const schedule_info& info) override;
  void on_switch(const schedule_switch& e) override;
  void on_wakeup(const schedule_wakeup& e) override;
  void on_migrate(const schedule_migration& e) override;
  void on_name(std::uint64_t at_ns, std::uint32_t task, std::string_view name) override;
  void on_task(std::uint32_t number, const schedule_task& task) override;
  void on_wait_begins(wakeup_kind kind) override { wait_begins_ = kind; }
  // Writes the summary.
  void end(std::uint64_t at_ns) override;

 private:
  struct known_task {
    std::string name;
    std::int32_t pid = 0;
    std::int32_t parent = -1;
    bool shown = true;
    bool ended = false;
    std::optional<std::uint64_t> out_ns;
    std::optional<std::uint64_t> ready_ns;
    std::uint64_t stays = 0;
    std::uint64_t ran_ns = 0;
    std::uint64_t shortest_ns = 0;
    std::uint64_t longest_ns = 0;
    std::uint64_t migrations = 0;
    double mean_ns = 0;  // running mean and squared deviations
    double squares = 0;
  };
  struct known_cpu {
    std::optional<std::uint64_t> switched_ns;
    std::uint32_t task = no_task;
    std::uint64_t idle_ns = 0;
    bool idle_seen = false;
  };

  [[nodiscard]] known_cpu& cpu_of(unsigned number);
  void write_header();
  void write_line(const schedule_switch& e, std::uint64_t waited_ns, std::uint64_t delay_ns,
                  std::uint64_t ran_ns);
  void write_summary();
  void write_row(const known_task& t) const;
  void write_rows(bool ended);
  void write_idle(std::uint64_t span_ns);
  void count(known_task& t, std::uint64_t ran_ns) const;
  [[nodiscard]] std::string start_of_line(std::uint64_t at_ns, unsigned cpu,
                                          std::uint32_t task) const;
  [[nodiscard]] std::string title(std::uint32_t task) const;
  [[nodiscard]] bool is_shown(std::uint32_t task) const;

  timehist_request request_;
  output out_;
  std::vector<known_task> tasks_;
  std::vector<known_cpu> cpus_;
  std::uint64_t clock_ns_ = 0;
  wakeup_kind wait_begins_ = wakeup_kind::queued;
  std::optional<std::uint64_t> first_ns_;
  std::uint64_t last_ns_ = 0;
  std::uint64_t idle_stays_ = 0;
};

}  // namespace vlag

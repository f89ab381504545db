// SPDX-License-Identifier: Apache-2.0
//
// Schedules as one Perfetto trace (https://ui.perfetto.dev, protobuf): recorded and simulated ones
// side by side. Runs are told one after the other; memory is a few KB a CPU, and the tasks.
//
// A Perfetto trace has one set of CPUs and one set of threads, so each run gets numbers of its own.
// Run r (from 0) of c CPUs each:
//   CPU n       is shown as CPU r * c + n  (r * c: the sum of the CPUs of the runs before)
//   pid p       is shown as thread r * 10,000,000 + p
//   the run     is a process named like it, number r * 10,000,000 + 9,999,999, with a thread a task
// so the run that is told first keeps its numbers. All runs begin at the same time.
//
// What it holds: scheduling (sched_switch, sched_waking and others as ftrace events); process
// "linux-6.12" › counters "CPU 0 runnable" (tasks that run or want to), and for simulated runs
// "CPU 0 V" and "CPU 0 lag" (of the task that was chosen, both in virtual ns) ; and on the track of
// a thread one instant event for each time it lost the CPU, with the reason, simulated runs only.
// At the end of a run each CPU is shown idle.
//
// Task states are written as Linux 4.14 and later encode them, and the file says so.
#pragma once

#include "report/schedule.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

inline constexpr std::int32_t perfetto_pids_a_run = 10'000'000;
inline constexpr unsigned most_perfetto_cpus = 4096;

class perfetto_writer final : public schedule_sink {
 public:
  using output = std::function<void(std::string_view)>;

  // Pieces are whole packets.
  explicit perfetto_writer(output out);

  // Throws input_error: more CPUs or runs than a Perfetto trace can hold, a pid that is too large.
  void begin(const schedule_info& info) override;
  void on_start(unsigned cpu, std::uint32_t running) override;
  void on_switch(const schedule_switch& e) override;
  void on_wakeup(const schedule_wakeup& e) override;
  void on_migrate(const schedule_migration& e) override;
  void on_reason(const schedule_reason& e) override;
  void on_reading(const schedule_reading& e) override;
  void on_name(std::uint64_t at_ns, std::uint32_t task, std::string_view name) override;
  void end(std::uint64_t at_ns) override;

 private:
  struct run_task {
    std::int32_t tid = 0;
    std::int32_t prio = 0;
    std::string name;
    std::optional<unsigned> runnable_on;
    bool has_track = false;
  };
  struct run_cpu {
    std::string events;  // of the bundle under way, encoded
    std::uint32_t running = no_task;
    std::int64_t runnable = 0;
    std::optional<decision> asked_by;  // why a switch is due
  };
  enum class track_kind : std::uint8_t { process, thread, runnable, virtual_time, lag };

  void write_opening();
  void write_process(const schedule_info& info);
  void write_tracks(const schedule_info& info);
  void write_counter_track(track_kind kind, unsigned cpu, std::string_view what,
                           std::string_view unit);
  void write_counter(track_kind kind, unsigned cpu, std::uint64_t at_ns, std::int64_t value);
  void write_preemption(const schedule_switch& e);
  void add_event(unsigned cpu, const std::string& event);
  void flush(unsigned cpu);
  void write_packet(const std::string& packet);
  void write_packet(std::uint64_t at_ns, std::uint32_t kind, const std::string& body);
  void declare_thread(std::uint32_t task, std::uint64_t at_ns);
  void place(std::uint32_t task, std::optional<unsigned> cpu, std::uint64_t at_ns);
  void switch_to(unsigned cpu, const schedule_switch& e);
  [[nodiscard]] std::uint64_t track(track_kind kind, std::uint64_t index) const;
  [[nodiscard]] std::int32_t tid_of(std::uint32_t task) const;
  [[nodiscard]] std::string name_of(std::uint32_t task, unsigned cpu) const;
  [[nodiscard]] std::int32_t process_id() const;

  output out_;
  std::vector<run_task> tasks_;
  std::vector<run_cpu> cpus_;
  std::string label_;
  wakeup_kind wait_begins_ = wakeup_kind::queued;
  std::uint64_t clock_ns_ = 0;
  std::uint64_t first_clock_ns_ = 0;
  unsigned run_ = 0;
  unsigned first_cpu_ = 0;  // of the run, as shown
  bool simulated_ = false;
  bool opened_ = false;
};

}  // namespace vlag

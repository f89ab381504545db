// SPDX-License-Identifier: Apache-2.0
//
// A schedule, recorded or simulated, told event by event: the one form in which pictures, tables
// and other files take it. Nobody needs the whole list of events in memory.
//
// Times are ns from the window's beginning, ascending; events of one time come in the order in
// which they happened. Tasks are numbers, places in the list that begin() gives; no_task is idle,
// or nobody.
//
// The order of calls: begin, on_start for some CPUs, any number of others, end. Each has a default
// that does nothing. Not thread safe.
#pragma once

#include "machine/machine.hpp"
#include "trace/event.hpp"
#include "vlag/fair_class.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vlag {

// One a pid; the first name and priority in the window.
struct schedule_task {
  std::int32_t pid = 0;
  std::string name;
  std::int32_t prio =
      120;  // as the kernel counts: 120 + nice, 99 - real-time priority, -1 deadline
};

enum class wakeup_kind : std::uint8_t {
  waking,  // the waker asks for it
  queued,  // the task is on the queue
  born,    // likewise, a new one
};

struct schedule_info {
  std::string label;  // "recorded", "linux-6.12,frame.slice=0.1ms"
  bool simulated = false;
  unsigned cpus = 1;
  std::uint64_t span_ns = 0;            // of the window; end() says where it ended in fact
  std::uint64_t clock_at_start_ns = 0;  // the recording's clock where the window begins
  // A wake-up may be told as waking, as queued or as both. A consumer that wants each once takes
  // those of this kind, and `born`.
  wakeup_kind wait_begins = wakeup_kind::queued;
  std::vector<schedule_task> tasks;
};

struct schedule_switch {
  std::uint64_t at_ns = 0;
  unsigned cpu = 0;
  std::uint32_t previous = no_task;
  // Why it left: R preempted or yielded, S waits or sleeps, X is gone; recorded ones may also be D
  // T t Z P I. `preempted` is the kernel's '+'; simulated: set when the task lost the CPU, clear
  // when it yielded.
  trace::switch_state left{};
  std::int32_t previous_prio = 120;
  std::uint32_t next = no_task;
  std::int32_t next_prio = 120;
};

struct schedule_wakeup {
  std::uint64_t at_ns = 0;
  unsigned cpu = 0;      // where the task is put
  unsigned told_on = 0;  // where that was decided
  std::uint32_t woken = no_task;
  std::uint32_t waker = no_task;  // no_task: an interrupt, or idle
  wakeup_kind kind = wakeup_kind::queued;
  std::uint32_t during = no_task;  // had the CPU told_on: the waker, or whom the interrupt hit
};

// A task that is not running goes to another CPU.
struct schedule_migration {
  std::uint64_t at_ns = 0;
  std::uint32_t task = no_task;
  unsigned from_cpu = 0;
  unsigned to_cpu = 0;
  unsigned told_on = 0;  // where that was decided
};

// What the fair class decided; comes before the switch that it leads to. Simulated only.
struct schedule_reason {
  std::uint64_t at_ns = 0;
  unsigned cpu = 0;
  std::uint32_t about = no_task;  // see `decision`; no_task: a group
  decision what{};
};

// The queue of the task that was chosen, just after the switch to it. Simulated, fair class only.
struct schedule_reading {
  std::uint64_t at_ns = 0;
  unsigned cpu = 0;
  std::uint32_t chosen = no_task;
  fair_reading values;
};

class schedule_sink {
 public:
  virtual ~schedule_sink() = default;
  virtual void begin(const schedule_info& /*info*/) {}
  // That task had the CPU when the window began. Not told for CPUs that were idle or unknown.
  virtual void on_start(unsigned /*cpu*/, std::uint32_t /*running*/) {}
  virtual void on_switch(const schedule_switch& /*e*/) {}
  virtual void on_wakeup(const schedule_wakeup& /*e*/) {}
  virtual void on_migrate(const schedule_migration& /*e*/) {}
  // CPU time that the kernel counted for the task since the last such event (recorded only, and
  // only where the recording has sched_stat_runtime).
  virtual void on_runtime(std::uint64_t /*at_ns*/, std::uint32_t /*task*/,
                          std::uint64_t /*ran_ns*/) {}
  virtual void on_reason(const schedule_reason& /*e*/) {}
  virtual void on_reading(const schedule_reading& /*e*/) {}
  // From now on the task is called that (recorded only).
  virtual void on_name(std::uint64_t /*at_ns*/, std::uint32_t /*task*/, std::string_view /*name*/) {
  }
  // Only where a recording is told while it is read (schedule_streamed.hpp).
  virtual void on_task(std::uint32_t /*number*/, const schedule_task& /*task*/) {}
  virtual void on_wait_begins(wakeup_kind /*kind*/) {}
  virtual void end(std::uint64_t /*at_ns*/) {}
};

// Tells one schedule to several.
class schedule_tee final : public schedule_sink {
 public:
  // The sinks must outlive it.
  explicit schedule_tee(std::vector<schedule_sink*> sinks) : sinks_(std::move(sinks)) {}
  void begin(const schedule_info& info) override;
  void on_start(unsigned cpu, std::uint32_t running) override;
  void on_switch(const schedule_switch& e) override;
  void on_wakeup(const schedule_wakeup& e) override;
  void on_migrate(const schedule_migration& e) override;
  void on_runtime(std::uint64_t at_ns, std::uint32_t task, std::uint64_t ran_ns) override;
  void on_reason(const schedule_reason& e) override;
  void on_reading(const schedule_reading& e) override;
  void on_name(std::uint64_t at_ns, std::uint32_t task, std::string_view name) override;
  void on_task(std::uint32_t number, const schedule_task& task) override;
  void on_wait_begins(wakeup_kind kind) override;
  void end(std::uint64_t at_ns) override;

 private:
  std::vector<schedule_sink*> sinks_;
};

// Tells what was recorded from from_ns to to_ns (the recording's clock, both included; what
// find_window() gives). Tasks are in order of their pids. O(events), O(tasks) memory.
void tell_recording(const trace::recording& recording, std::uint64_t from_ns, std::uint64_t to_ns,
                    schedule_sink& sink);

// Tells what a machine does: give it to recorded_workload::simulate(), or set it as the observer
// before the first add_task(). The window begins where figures are measured from.
class simulated_schedule final : public machine_observer {
 public:
  struct frame {
    std::string label;
    unsigned cpus = 1;
    std::uint64_t span_ns = 0;
    std::uint64_t clock_at_start_ns = 0;
  };
  simulated_schedule(frame about, schedule_sink& sink) : frame_(std::move(about)), sink_(&sink) {}

  [[nodiscard]] bool wants_decisions() const override { return true; }
  void on_task(std::uint32_t number, const task_setup& setup) override;
  void on_measuring(std::uint64_t at_ns) override;
  void on_leave(std::uint64_t at_ns, unsigned cpu, std::uint32_t task, off_cpu why) override;
  void on_switch(std::uint64_t at_ns, unsigned cpu, std::uint32_t previous, bool previous_runnable,
                 std::uint32_t next) override;
  void on_wakeup(std::uint64_t at_ns, unsigned cpu, std::uint32_t woken,
                 std::uint32_t waker) override;
  void on_birth(std::uint64_t at_ns, unsigned cpu, std::uint32_t task) override;
  void on_migrate(std::uint64_t at_ns, std::uint32_t task, unsigned from, unsigned to) override;
  void on_decision(std::uint64_t at_ns, unsigned cpu, std::uint32_t about, decision what) override;
  void on_choice(std::uint64_t at_ns, unsigned cpu, std::uint32_t chosen,
                 const fair_reading& values) override;
  void on_end(std::uint64_t at_ns) override;

 private:
  [[nodiscard]] std::uint64_t since_start(std::uint64_t at_ns) const { return at_ns - start_ns_; }
  [[nodiscard]] std::uint32_t running_on(unsigned cpu) const;
  [[nodiscard]] std::int32_t prio_of(std::uint32_t task) const;

  frame frame_;
  schedule_sink* sink_;
  std::vector<schedule_task> tasks_;
  std::vector<std::uint32_t> running_;  // on each CPU
  std::vector<unsigned> cpu_of_task_;   // where it last ran or was put
  std::uint64_t start_ns_ = 0;
  off_cpu left_ = off_cpu::preempted;  // of the switch that comes next
  std::uint32_t born_ = no_task;       // of the wake-up that comes next
  bool open_ = false;
};

}  // namespace vlag

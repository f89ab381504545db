// SPDX-License-Identifier: Apache-2.0
//
// The simulated computer: CPUs with ticks, a fair class and a FIFO/RR class each, and tasks that
// run programs on them. A deterministic discrete-event model: the same configuration, tasks and
// seed give the same events on any compiler.
//
// Events are ordered by time, then by kind in this order: timer, period timer of a group's
// bandwidth, tick, request timer (hrtick), work done, switch; then by CPU number (timers: in the
// order in which they were set; period timers: in the order of the tree).
//
// Time is in ns from 0. Not thread safe.
#pragma once

#include "machine/fair_policy.hpp"
#include "machine/figures.hpp"
#include "machine/group_setup.hpp"
#include "machine/load_tracker.hpp"
#include "machine/pick_record.hpp"
#include "machine/placement.hpp"
#include "machine/program.hpp"
#include "machine/rt_queue.hpp"
#include "machine/snapshot.hpp"
#include "machine/sync.hpp"
#include "machine/timer_queue.hpp"
#include "vlag/entity.hpp"
#include "vlag/group.hpp"
#include "vlag/profile.hpp"
#include "vlag/timeline.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

inline constexpr std::uint64_t never_ns = std::numeric_limits<std::uint64_t>::max() >> 4;

// Changes behaviour. The defaults are an ideal machine: nothing costs time.
struct machine_config {
  unsigned cpus = 1;                     // 1 .. 512
  std::uint64_t tick_ns = 4'000'000;     // distance of ticks; HZ 250
  std::uint64_t tick_phase_ns = 0;       // time of a tick, modulo tick_ns; the same on all CPUs
  std::uint64_t tick_jitter_ns = 1'000;  // a tick reads its clock up to that much late (seeded)
  bool hrtick = false;                   // a one-shot timer ends each request
  // Averages of load, runnable and util, and with groups on several CPUs the weight of a group's
  // entity on each by its part of the load; without, it has all of the group's shares on each.
  bool track_load = false;
  std::uint64_t seed = 1;

  // Time that passes between a cause and the switch that follows; the task that is running goes on
  // meanwhile.
  std::uint64_t switch_delay_ns = 0;       // after a wake-up that preempts
  std::uint64_t idle_switch_delay_ns = 0;  // after a wake-up on an idle CPU
  std::uint64_t tick_switch_delay_ns = 0;  // after a tick
  std::uint64_t poll_switch_delay_ns = 0;  // after reading the CPU clock

  // A switch reads its clock that long before it is seen to happen.
  std::uint64_t switch_clock_lead_ns = 0;

  // Time that is lost to the task that runs.
  std::uint64_t switch_cost_ns = 0;  // to the incoming task
  std::uint64_t wakeup_cost_ns = 0;  // to the waker, a task
  std::uint64_t tick_cost_ns = 0;    // to the running task
  std::uint64_t pipe_call_ns = 0;    // to who writes or reads, before each such operation
  std::uint64_t pipe_byte_ps = 0;    // likewise, for each byte, in ps
  std::uint64_t kill_cost_ns = 0;    // to the sender of a signal, before it is sent
  std::uint64_t queue_cost_ns = 0;   // likewise, where the target has none pending
  std::uint64_t signal_cost_ns = 0;  // to who takes a signal: its handler

  // A timer counted in ticks goes off that long after its tick.
  std::uint64_t tick_timer_delay_ns = 0;
  // Added to every sleep of a task of the fair class.
  std::uint64_t timer_slack_ns = 0;
  // After a wake-up that asks for a switch, that switch uses the wake-up's clock reading: the time
  // in between is charged to the incoming task, as Linux does.
  bool skip_clock_update = true;
  // Where sleep_to_period's multiples start, by number.
  std::vector<std::uint64_t> period_origins_ns;
};

enum class start_state : std::uint8_t {
  runnable,  // on its queue from the start
  blocked,   // waits or sleeps as the first operation of its program says
  unborn,    // begins when another task forks it
};

struct task_setup {
  std::int32_t pid = 0;
  std::string name;
  sched_policy policy = sched_policy::normal;
  int nice = 0;
  int rt_priority = 0;              // 1 .. 100, higher runs first; FIFO and round robin
  std::uint64_t slice_ns = 0;       // 0: none of its own
  int latency_nice = 0;             // -20 .. 19: gives a slice where there is none of its own
  std::uint64_t clock_poll_ns = 0;  // reads its CPU clock after every so much CPU time; 0: never
  unsigned cpu = 0;
  std::uint32_t group = 0;  // a number that add_group() gave; 0: the root
  start_state start = start_state::runnable;
  program steps;
};

// Why a task left its CPU.
enum class off_cpu : std::uint8_t {
  preempted,
  yielded,
  waits,   // for a wake-up by a task
  sleeps,  // until a time; or its program ended
  exited,
};

// Told what happens as it happens. The default does nothing.
class machine_observer {
 public:
  virtual ~machine_observer() = default;
  // Asked once, by set_observer(): on_decision and on_choice are called too, which costs time.
  [[nodiscard]] virtual bool wants_decisions() const { return false; }
  // A task was added.
  virtual void on_task(std::uint32_t /*number*/, const task_setup& /*setup*/) {}
  // reset_figures() was called.
  virtual void on_measuring(std::uint64_t /*at_ns*/) {}
  // Just before the switch from that task.
  virtual void on_leave(std::uint64_t /*at_ns*/, unsigned /*cpu*/, std::uint32_t /*task*/,
                        off_cpu /*why*/) {}
  // Task numbers as add_task() gave them; no_task: idle.
  virtual void on_switch(std::uint64_t /*at_ns*/, unsigned /*cpu*/, std::uint32_t /*previous*/,
                         bool /*previous_runnable*/, std::uint32_t /*next*/) {}
  virtual void on_wakeup(std::uint64_t /*at_ns*/, unsigned /*cpu*/, std::uint32_t /*woken*/,
                         std::uint32_t /*waker*/) {}
  // Just before the first on_wakeup of a forked task.
  virtual void on_birth(std::uint64_t /*at_ns*/, unsigned /*cpu*/, std::uint32_t /*task*/) {}
  // Just before a wake-up on another CPU than the last.
  virtual void on_migrate(std::uint64_t /*at_ns*/, std::uint32_t /*task*/, unsigned /*from*/,
                          unsigned /*to*/) {}
  // What the fair class tells its decision hook; no_task: it is about a group.
  virtual void on_decision(std::uint64_t /*at_ns*/, unsigned /*cpu*/, std::uint32_t /*about*/,
                           decision /*what*/) {}
  // Just after a switch to a task of the fair class.
  virtual void on_choice(std::uint64_t /*at_ns*/, unsigned /*cpu*/, std::uint32_t /*chosen*/,
                         const fair_reading& /*values*/) {}
  // Nothing that happens from now on belongs to the window that is measured.
  virtual void on_end(std::uint64_t /*at_ns*/) {}
};

// Told what programs note of themselves (op_kind::note).
class note_observer {
 public:
  virtual ~note_observer() = default;
  virtual void on_note(std::uint64_t at_ns, std::uint32_t task, std::uint32_t what,
                       std::uint64_t value) = 0;
  // A task is about to wait for a period that begins at next_ns, or did.
  virtual void on_timer(std::uint64_t at_ns, std::uint32_t task, std::uint64_t next_ns) = 0;
  // A task is about to be started by fork_next.
  virtual void on_fork(std::uint32_t task) = 0;
};

inline constexpr std::uint32_t no_task = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::size_t most_groups = 65'535;
inline constexpr std::uint32_t no_group = std::numeric_limits<std::uint32_t>::max();

class machine {
 public:
  // max_groups: besides the root; most_groups at most.
  machine(machine_config config, const policy_config& policy, std::size_t max_tasks,
          std::size_t max_groups = 0);
  ~machine();
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  // Requires: before the first run; fewer than max_tasks so far; the program's targets exist when
  // they are reached. Returns the task's number, from 0.
  std::uint32_t add_task(task_setup setup);

  // Task groups: only where max_groups is at least 1. Without, the answers are no_memory and
  // nothing changes.
  struct group_result {
    group_error error = group_error::none;
    std::uint32_t number = 0;
    std::size_t refused_file = 0;  // of setup.files, when that is what was refused
  };
  // Makes a group, at the present time. Its number counts from 1. Errors: invalid: not a path with
  // an existing parent and a name ("/a" before "/a/b"), or it is there already; no_memory: more
  // than max_groups; those of task_group::set() for a file, and then there is no group.
  group_result add_group(const group_setup& setup);
  // The number of a group; 0 for "/"; no_group when there is none of that path.
  [[nodiscard]] std::uint32_t find_group(std::string_view path) const noexcept;
  [[nodiscard]] std::uint32_t groups() const noexcept;
  // Requires: 1 <= number <= groups().
  [[nodiscard]] const task_group& group(std::uint32_t number) const noexcept;
  [[nodiscard]] const std::string& group_path(std::uint32_t number) const noexcept;

  // Between runs, at the present time. Requires: the group exists.
  group_error set_group_file(std::uint32_t group, const group_file& file);
  // A task in any state goes to a group, 0: the root. Also before the first run.
  void move_to_group(std::uint32_t task, std::uint32_t group);

  // For the operation write_group: its number, from 0. A write that is refused when it is reached
  // changes nothing and is counted as an anomaly.
  std::uint32_t add_group_write(group_write write);

  // Objects for the synchronising operations: their numbers, each kind from 0.
  std::uint32_t add_mutex(mutex_kind kind);
  std::uint32_t add_condition();
  std::uint32_t add_barrier(std::uint32_t users);  // at least 1
  std::uint32_t add_semaphore();
  std::uint32_t add_timer();
  std::uint32_t add_pipe(std::uint32_t capacity_bytes = default_pipe_bytes);
  // Signals whose handler it began.
  [[nodiscard]] std::uint64_t signals_taken(std::uint32_t task) const noexcept;
  // The task is blocked on a mutex, condition, barrier, semaphore or pipe.
  [[nodiscard]] bool waits_for_others(std::uint32_t task) const noexcept;
  // Where in its program it does. Requires: waits_for_others(task).
  [[nodiscard]] std::uint32_t waits_at(std::uint32_t task) const noexcept;
  // no_task: nobody.
  [[nodiscard]] std::uint32_t owner_of(std::uint32_t mutex) const noexcept;
  // Operations of its program that it began, or its next one while it is not blocked.
  [[nodiscard]] std::uint32_t step_of(std::uint32_t task) const noexcept;

  // nullptr: nobody is told any more. The observer must outlive the machine, or that.
  void set_observer(machine_observer* observer);

  enum class stop_reason : std::uint8_t {
    time_reached,
    program_ended,  // a task reached `end`, or the last one `finish`: program_ended_by()
    nothing_left,   // no event is pending: everybody sleeps for good
  };

  // Goes on until that time, or until a program ends. Programs that loop without time passing
  // stop the run too: livelocked().
  stop_reason run_until(std::uint64_t end_ns);

  [[nodiscard]] std::uint64_t now_ns() const noexcept { return now_; }
  [[nodiscard]] std::uint32_t program_ended_by() const noexcept { return ended_by_; }
  [[nodiscard]] std::uint32_t milestones() const noexcept { return milestones_; }
  [[nodiscard]] std::uint64_t last_milestone_ns() const noexcept { return last_milestone_ns_; }
  // A task on a CPU that carried out 10^6 operations within 10 ms, or no_task; it stops the run.
  [[nodiscard]] std::uint32_t livelocked() const noexcept { return livelocked_; }
  // Then: all tasks that did operations in the last part of them, ascending.
  [[nodiscard]] const std::vector<std::uint32_t>& livelocked_tasks() const noexcept {
    return suspects_;
  }
  // A task that reached fork_next when nobody was left to start, or no_task; it stops the run.
  [[nodiscard]] std::uint32_t out_of_forks() const noexcept { return out_of_forks_; }
  // Tasks that began and did not exit. Requires: after the first run.
  [[nodiscard]] std::uint32_t alive() const noexcept { return alive_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

  // From now on figures().counters is filled. Requires: before the first run.
  void count_decisions();
  // The observer is told of every decision from now on. Copies queues at each, so it is for
  // explaining, not for long runs. Requires: before the first run; the observer outlives it.
  void observe_picks(pick_observer& observer);
  // It is told of the operation `note` and of what goes with it. Requires: before the first run;
  // the observer outlives it.
  void observe_notes(note_observer& observer) { notes_ = &observer; }
  // The queues and tasks as they are; the running tasks' time is counted up to the last moment at
  // which their class was told the time, as in the kernel.
  [[nodiscard]] machine_snapshot snapshot() const;
  [[nodiscard]] entity_name name_of(std::uint32_t task) const;

  // Figures from time 0, or the last reset, to now.
  [[nodiscard]] run_figures figures() const;
  // Starts measuring anew. Waits that are under way do not count.
  void reset_figures();

 private:
  struct sim_task;
  struct sim_group;
  struct cpu;
  class cpu_watch;

  enum class event_kind : std::uint8_t { timer, tick, hrtick, work, switch_ };
  // The next event of a CPU.
  struct cpu_event {
    std::uint64_t at_ns = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t order = std::numeric_limits<std::uint64_t>::max();  // kind, then CPU number
  };

  void start();
  [[nodiscard]] bool step(std::uint64_t end_ns);
  void expire_timer(const timer& due);
  void tick(cpu& c);
  void work_done(cpu& c);
  void run_program(cpu& c);
  [[nodiscard]] bool gets_nowhere(cpu& c, const sim_task& t);
  // Does the operation; false when the task must stop here (it runs, blocks or is gone).
  [[nodiscard]] bool perform(cpu& c, sim_task& t, const op& step);
  [[nodiscard]] bool perform_sync(cpu& c, sim_task& t, const op& step);
  [[nodiscard]] bool begin_call(cpu& c, sim_task& t, std::uint64_t bytes, std::uint64_t cost_ns);
  [[nodiscard]] std::uint64_t pipe_cost_ns(std::uint64_t bytes) const noexcept;
  [[nodiscard]] bool write_pipe(cpu& c, sim_task& t, const op& step);
  [[nodiscard]] bool read_pipe(cpu& c, sim_task& t, const op& step);
  [[nodiscard]] bool send_signal(cpu& c, sim_task& t, const op& step);
  void take_signal(sim_task& t);
  [[nodiscard]] bool interrupt(sim_task& t);
  [[nodiscard]] waiter_list* list_to_leave(sim_task& t);
  void wait_in(cpu& c, sim_task& t, waiter_list& list);
  void wake_first(waiter_list& list, const sim_task& waker);
  void wake_all(waiter_list& list, const sim_task& waker);
  [[nodiscard]] sim_task& take_first(waiter_list& list);
  [[nodiscard]] bool lock_mutex(cpu& c, sim_task& t, std::uint32_t number);
  void own_mutex(const sim_task& t, std::uint32_t number);
  void unlock_mutex(sim_task& t, std::uint32_t number);
  [[nodiscard]] bool wait_for_timer(cpu& c, sim_task& t, const op& step);
  void inherit_priority(sim_task& owner);
  void change_policy(sim_task& t, const op& step);
  void change_class(sim_task& t, sched_policy policy, int rt_priority);
  void leave_queue(cpu& c, sim_task& t);
  void enter_queue(cpu& c, sim_task& t);
  void leave_cpu(cpu& c, sim_task& t, bool gone);
  void set_timer(sim_task& t, std::uint64_t at_ns);
  [[nodiscard]] std::uint64_t timer_for(const sim_task& t, const op& step) const;
  void use_slice_at_start(sim_task& t) const;
  void begin_sleep_of_start(sim_task& t);
  void wake(sim_task& t, std::uint32_t waker);
  void start_new(sim_task& t, std::uint32_t parent);
  void after_wakeup(cpu& c, sim_task& t);
  void request_switch(cpu& c, std::uint64_t delay_ns);
  // The caller refreshes the CPU's next event.
  void schedule(cpu& c);
  void track_change(const cpu& c, const sim_task& t);
  void run_period_timers();
  void after_group_change();
  void begin_measuring(sim_group& g);
  [[nodiscard]] std::uint64_t read_clock_of_all();
  [[nodiscard]] std::uint64_t throttled_ns(const sim_group& g) const;
  [[nodiscard]] std::vector<group_figures> figures_of_groups() const;
  group_error write_file(sim_group& g, const group_file& file);
  void change_group(sim_task& t, std::uint32_t group);
  [[nodiscard]] sim_group* group_of(const sim_task& t) noexcept;
  [[nodiscard]] std::uint64_t next_period_ns() const noexcept;
  [[nodiscard]] sim_task* choose(cpu& c, std::uint64_t clock_ns);
  void switch_out(cpu& c, sim_task& t);
  void switch_in(cpu& c, sim_task& t);
  void notify_watchers(sim_task& t);
  void watch(cpu& c, pick_observer* observer);
  void listen(cpu& c);
  void name(entity_name& e) const;
  void name(queue_view& queue) const;
  [[nodiscard]] std::string path_of_group(std::uint64_t id) const;
  [[nodiscard]] sched_counters counters_of(const cpu& c) const;
  [[nodiscard]] task_view view_of_task(const sim_task& t) const;
  void tell_switch(const cpu& c, const sim_task* previous, const sim_task* next) const;
  void synchronise(cpu& c);
  void arm_work(cpu& c);
  void arm_hrtick(cpu& c);
  void refresh(cpu& c);
  [[nodiscard]] std::uint64_t clock_for_schedule(cpu& c) const;
  // CPU clocks do not start at 0, where CFS takes a task for one that never ran.
  [[nodiscard]] static std::uint64_t clock(std::uint64_t at_ns) noexcept {
    return at_ns + 1'000'000'000;
  }
  [[nodiscard]] std::uint64_t jitter();
  [[nodiscard]] std::uint64_t next_tick_after(std::uint64_t at_ns) const;

  machine_config config_;
  policy_config policy_;
  std::unique_ptr<std::byte[]> storage_memory_;
  std::unique_ptr<timeline_storage> storage_;
  std::deque<sim_task> tasks_;
  std::vector<std::unique_ptr<cpu>> cpus_;
  std::unique_ptr<wake_placement> placement_;
  std::vector<group_scheduler*> schedulers_;  // of the CPUs; before tree_, which refers to it
  std::unique_ptr<group_tree> tree_;          // nullptr: there are no groups
  std::deque<sim_group> groups_;
  std::unique_ptr<load_tracker> load_;  // nullptr: nobody asked
  std::vector<std::uint32_t> limited_;  // places in groups_ of those that ever had a quota
  std::vector<group_write> group_writes_;
  std::size_t max_groups_ = 0;
  std::uint64_t refused_writes_ = 0;
  std::vector<cpu_event> winners_;  // tournament over the CPUs' next events, the first at [1]
  timer_queue timers_;
  sync_objects sync_;
  machine_observer* observer_ = nullptr;
  note_observer* notes_ = nullptr;
  bool tells_decisions_ = false;
  std::uint64_t now_ = 0;
  std::uint64_t measured_from_ = 0;
  std::uint64_t random_state_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t last_milestone_ns_ = 0;
  std::uint32_t milestones_ = 0;
  std::uint32_t ended_by_ = no_task;
  std::uint32_t livelocked_ = no_task;
  std::uint32_t out_of_forks_ = no_task;
  std::uint32_t alive_ = 0;
  std::vector<std::uint32_t> suspects_;  // of going round without time passing; ascending
  bool started_ = false;
};

}  // namespace vlag

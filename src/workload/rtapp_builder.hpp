// SPDX-License-Identifier: Apache-2.0
//
// What makes a workload from the parsed text of an rt-app file, in one pass: rtapp_reader.cpp what
// concerns the whole file, rtapp_settings.cpp single values and the settings of tasks and phases,
// rtapp_tasks.cpp tasks, phases and loops, rtapp_events.cpp what each event becomes,
// rtapp_own_events.cpp those that rt-app does not have.
//
// Every function throws input_error with the place of what is wrong.
#pragma once

#include "workload/rtapp_reader.hpp"
#include "workload/rtapp_text.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vlag {

// The event that a key begins with the name of, in rt-app's order of comparing; empty: none.
[[nodiscard]] std::string_view rtapp_event_of(std::string_view key);
// The event whose name is one letter more, less or different, but for digits at the key's end;
// empty: none.
[[nodiscard]] std::string_view rtapp_event_like(std::string_view key);

class rtapp_builder {
 public:
  // The name outlives the builder.
  rtapp_builder(const std::string& name, const rtapp_options& options);

  // Once.
  [[nodiscard]] rtapp_workload build(std::string_view text);

 private:
  using type = rtapp_value::type;
  using numbers = std::map<std::string, std::uint32_t>;

  struct scheduling {
    sched_policy policy = sched_policy::normal;
    int priority = 0;  // nice of a fair one
    std::uint64_t slice_ns = 0;
    bool given = false;  // something of it was set just there
  };
  // The tasks that a fork event starts one after the other.
  struct fork_pool {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  // A pipe, and where it is first named, written to and read from.
  struct pipe_use {
    std::uint32_t number = 0;
    text_place place;
    bool written = false;
    bool read = false;
    bool sized = false;
  };
  enum class holder_kind : std::uint8_t { task, task_with_phases, phase };
  // Who makes a name come true, and who waits for that.
  enum class named : std::uint8_t { mutex, condition, semaphore };
  struct uses {
    text_place provided;  // line 0: by nobody
    text_place needed;    // likewise
    std::string_view by;  // the event that needs it
  };
  struct event_row {
    std::string_view prefix;
    void (rtapp_builder::*make)(const rtapp_member&);
  };
  static constexpr std::int64_t max_us = 1'000'000'000'000;  // ten days
  static constexpr std::uint64_t ns_per_us = 1'000;

  // ---- The whole file (rtapp_reader.cpp)
  // Those of all its phases.
  [[nodiscard]] std::vector<const rtapp_member*> events_of(const rtapp_value& task,
                                                           std::string_view event) const;
  void count_cpus(const rtapp_value& tasks);
  void number_tasks(const rtapp_value& tasks);
  void check_forks(const rtapp_value& tasks) const;
  void count_barriers(const rtapp_value& tasks);
  void check_names();
  void tell_one_way_pipes();

  // ---- Values (rtapp_settings.cpp)
  [[noreturn]] void fail(text_place place, std::string_view what) const;
  void warn(text_place place, std::string_view what);
  void warn_once(const rtapp_member& m, std::string_view what);  // of each place
  void unknown(const rtapp_member& m);                           // once of each key
  void need(const rtapp_value& v, type t, std::string_view key) const;
  // The first of several; nullptr: none.
  [[nodiscard]] static const rtapp_value* find(const rtapp_value& object, std::string_view key);
  [[nodiscard]] std::int64_t integer(const rtapp_value& v, std::string_view key, std::int64_t low,
                                     std::int64_t high) const;
  [[nodiscard]] std::int64_t integer_in(const rtapp_value& object, std::string_view key,
                                        std::int64_t missing, std::int64_t low,
                                        std::int64_t high) const;
  [[nodiscard]] const std::string& string_in(const rtapp_value& object, std::string_view key,
                                             std::string_view of) const;
  [[nodiscard]] const std::string& string_of(const rtapp_member& m) const;
  [[nodiscard]] std::uint64_t us_of(const rtapp_member& m) const;

  // ---- Settings (rtapp_settings.cpp)
  [[nodiscard]] static bool real_time(sched_policy p);
  [[nodiscard]] static bool is_setting(std::string_view key);
  void read_global(const rtapp_value& g);
  [[nodiscard]] sched_policy policy_named(const rtapp_value& v, std::string_view key) const;
  [[nodiscard]] scheduling scheduling_in(const rtapp_value& object, const scheduling& before) const;
  // nullopt: none is named, so the one before stays.
  [[nodiscard]] std::optional<std::uint32_t> group_in(const rtapp_value& object,
                                                      const scheduling& s);
  [[nodiscard]] std::vector<unsigned> cpus_in(const rtapp_value& object) const;
  [[nodiscard]] std::uint32_t instances_of(const rtapp_value& task) const;
  [[nodiscard]] std::int64_t loop_of(const rtapp_value& object, std::int64_t missing) const;
  void check_keys(const rtapp_value& object, holder_kind holder);
  void warn_of_repeated(const rtapp_value& object);

  // ---- Tasks and phases (rtapp_tasks.cpp)
  [[nodiscard]] std::vector<const rtapp_value*> phases_of(const rtapp_value& task) const;
  void make_instances(const rtapp_member& task);
  void make_pool(const rtapp_member& task);
  void make_task(const rtapp_member& task, const std::string& name, start_state start);
  void make_phases(const rtapp_value& task, scheduling s);
  void use_settings(const rtapp_value& phase, scheduling& s);
  [[nodiscard]] unsigned place_of(const rtapp_value& task, const rtapp_value& phase) const;
  void move_to(text_place place, unsigned cpu);
  void close_loop(text_place place, std::int64_t times, std::size_t begin);

  // ---- Events (rtapp_events.cpp)
  [[nodiscard]] static const std::vector<event_row>& event_rows();
  // The first that the key begins with; nullptr: none.
  [[nodiscard]] static const event_row* event_row_of(std::string_view key);
  friend std::string_view rtapp_event_of(std::string_view key);
  friend std::string_view rtapp_event_like(std::string_view key);
  void make_events(const rtapp_value& phase);
  void make_run(const rtapp_member& m);
  void make_runtime(const rtapp_member& m);
  void make_sleep(const rtapp_member& m);
  void make_mem(const rtapp_member& m);
  void make_iorun(const rtapp_member& m);
  void make_memrun(const rtapp_member& m);
  void make_timer(const rtapp_member& m);
  void make_lock(const rtapp_member& m);
  void make_unlock(const rtapp_member& m);
  void make_wait(const rtapp_member& m);
  void make_sync(const rtapp_member& m);
  void make_signal(const rtapp_member& m);
  void make_broad(const rtapp_member& m);
  void make_suspend(const rtapp_member& m);
  void make_resume(const rtapp_member& m);
  void make_yield(const rtapp_member& m);
  void make_barrier(const rtapp_member& m);
  void make_fork(const rtapp_member& m);
  void make_sem_post(const rtapp_member& m);
  void make_sem_wait(const rtapp_member& m);
  void make_send(const rtapp_member& m);
  void make_send_all(const rtapp_member& m);
  void make_recv(const rtapp_member& m);
  void make_kill(const rtapp_member& m);
  void make_sleep_to(const rtapp_member& m);
  void emit(text_place place, op_kind kind, std::uint32_t target = 0, std::uint64_t value = 0);
  void note(text_place place, rtapp_note what, std::uint64_t value = 0);
  [[nodiscard]] static std::uint32_t number_of(numbers& known, const std::string& name,
                                               std::uint32_t& next);
  void provide(named what, const std::string& name, text_place place);
  void require(named what, const std::string& name, text_place place, std::string_view by);
  [[nodiscard]] std::uint32_t mutex(const std::string& name);
  [[nodiscard]] std::uint32_t condition(const std::string& name);
  [[nodiscard]] std::uint32_t semaphore(const std::string& name);
  // "@" in the name stands for the number of the task's instance.
  [[nodiscard]] pipe_use& pipe(const rtapp_member& m, const std::string& name);
  [[nodiscard]] std::string pipe_name_in(const rtapp_member& m) const;
  [[nodiscard]] std::uint64_t message_bytes_in(const rtapp_member& m) const;

  const std::string& name_;
  rtapp_options options_;  // with the CPUs that the file asks for
  rtapp_workload result_;
  sched_policy default_policy_ = sched_policy::normal;
  mutex_kind mutexes_are_ = mutex_kind::plain;
  std::set<std::string> known_tasks_;
  std::map<std::string, fork_pool> pools_;
  std::map<std::string, fork_pool> instances_;  // of each task that begins with the run
  std::map<std::string, pipe_use> pipes_;
  std::set<std::string> warned_;
  std::map<std::pair<named, std::string>, uses> uses_;
  numbers mutexes_;
  numbers conditions_;
  numbers barriers_;
  numbers semaphores_;
  numbers timers_;
  std::size_t steps_ = 0;
  unsigned placed_ = 0;
  // Of the task that is made.
  task_setup setup_;
  std::vector<text_place> places_;
  std::string task_name_;
  std::uint32_t instance_ = 0;
  numbers unique_timers_;
};

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "workload/rtapp_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "input/byte_source.hpp"
#include "input/input_error.hpp"
#include "input/printable.hpp"

namespace vlag {
namespace {

using type = rtapp_value::type;

constexpr std::int64_t max_us = 1'000'000'000'000;  // ten days
constexpr std::int64_t max_seconds = 1'000'000;
constexpr std::uint64_t ns_per_us = 1'000;
// What touching memory and writing to a device take, as CPU time: 10 and 2 bytes a ns.
constexpr std::int64_t mem_bytes_per_ns = 10;
constexpr std::int64_t io_bytes_per_ns = 2;

// In the order in which rt-app compares a key's beginning with them.
constexpr std::array<std::string_view, 20> event_names{
    "lock",    "unlock", "wait",    "signal",  "broad",    "sync",    "sleep",
    "runtime", "run",    "timer",   "suspend", "resume",   "memrun",  "mem",
    "iorun",   "yield",  "barrier", "fork",    "sem_post", "sem_wait"};

constexpr std::array<std::string_view, 21> setting_names{
    "instance", "delay",    "loop",          "phases",     "policy",    "priority",    "cpus",
    "util_min", "util_max", "taskgroup",     "dl-runtime", "dl-period", "dl-deadline", "period",
    "deadline", "name",     "nodes_membind", "frag",       "comment",   "description", "type"};

std::string_view event_of(std::string_view key) {
  for (const std::string_view name : event_names) {
    if (key.starts_with(name)) return name;
  }
  return {};
}

bool is_setting(std::string_view key) {
  return std::find(setting_names.begin(), setting_names.end(), key) != setting_names.end();
}

// One letter more, less, or another.
bool one_edit_apart(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1) return false;
  std::size_t same = 0;
  while (same < a.size() && a[same] == b[same]) ++same;
  const std::size_t rest = a.size() == b.size() ? same + 1 : same;
  return a.substr(std::min(rest, a.size())) == b.substr(same + 1 > b.size() ? b.size() : same + 1);
}

struct scheduling {
  sched_policy policy = sched_policy::normal;
  int priority = 0;
  std::uint64_t slice_ns = 0;
  bool given = false;
};

bool real_time(sched_policy p) { return p == sched_policy::fifo || p == sched_policy::round_robin; }

struct fork_pool {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

class reader {
 public:
  reader(const std::string& name, const rtapp_options& options) : name_(name), options_(options) {
    result_.name = name;
  }

  rtapp_workload read(std::string_view text) {
    std::vector<text_place> dropped;
    const rtapp_value root = parse_rtapp_text(text, name_, options_.keys, dropped);
    for (const text_place place : dropped) warn(place, "replaced by a later key of the same name");
    const rtapp_value* const tasks = find(root, "tasks");
    if (tasks == nullptr) fail(root.place, "no tasks; expected an object \"tasks\"");
    need(*tasks, type::object, "tasks");
    for (const rtapp_member& m : root.members) {
      if (m.key != "tasks" && m.key != "global" && m.key != "resources" && m.key != "vlag") {
        unknown(m);
      }
    }
    if (const rtapp_value* g = find(root, "global")) read_global(*g);
    result_.block = read_vlag_block(root, name_);
    if (options_.cpus == 0) options_.cpus = result_.block.cpus;
    count_cpus(*tasks);
    number_tasks(*tasks);
    check_forks(*tasks);
    count_barriers(*tasks);
    for (const rtapp_member& m : tasks->members) make_instances(m);
    for (const rtapp_member& m : tasks->members) make_pool(m);
    for (const auto& [who, place] : resumed_) {
      if (!suspended_.contains(who)) {
        warn(place,
             fmt::format("no task called \"{}\" suspends; this wakes nobody", printable(who)));
      }
    }
    apply_vlag_block(result_);
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(text_place place, std::string_view what) const {
    throw input_error(at_place(name_, place, what));
  }
  void warn(text_place place, std::string_view what) {
    result_.warnings.push_back(at_place(name_, place, what));
  }
  void unknown(const rtapp_member& m) {
    if (warned_.insert(m.key).second) {
      warn(m.place, fmt::format("\"{}\" is not known and changes nothing", printable(m.key)));
    }
  }
  void need(const rtapp_value& v, type t, std::string_view key) const {
    if (v.is == t) return;
    fail(v.place,
         fmt::format("\"{}\" is {}; expected {}", printable(key), to_string(v.is), to_string(t)));
  }
  // The last of several, as json-c would give it.
  static const rtapp_value* find(const rtapp_value& object, std::string_view key) {
    const rtapp_value* result = nullptr;
    for (const rtapp_member& m : object.members) {
      if (m.key == key) result = &m.value;
    }
    return result;
  }
  std::int64_t integer(const rtapp_value& v, std::string_view key, std::int64_t low,
                       std::int64_t high) const {
    need(v, type::integer, key);
    if (v.number < low || v.number > high) {
      fail(v.place,
           fmt::format("\"{}\" is {}; expected {} to {}", printable(key), v.number, low, high));
    }
    return v.number;
  }
  std::int64_t integer_in(const rtapp_value& object, std::string_view key, std::int64_t missing,
                          std::int64_t low, std::int64_t high) const {
    const rtapp_value* v = find(object, key);
    return v == nullptr ? missing : integer(*v, key, low, high);
  }
  const std::string& string_in(const rtapp_value& object, std::string_view key,
                               std::string_view of) const {
    const rtapp_value* v = find(object, key);
    if (v == nullptr) {
      fail(object.place,
           fmt::format("\"{}\" lacks \"{}\"; expected a string there", printable(of), key));
    }
    need(*v, type::string, key);
    return v->text;
  }
  const std::string& string_of(const rtapp_member& m) const {
    need(m.value, type::string, m.key);
    return m.value.text;
  }

  // ---- Settings

  sched_policy policy_named(const rtapp_value& v, std::string_view key) const {
    need(v, type::string, key);
    constexpr std::array<std::pair<std::string_view, sched_policy>, 5> known{
        {{"SCHED_OTHER", sched_policy::normal},
         {"SCHED_BATCH", sched_policy::batch},
         {"SCHED_IDLE", sched_policy::idle},
         {"SCHED_RR", sched_policy::round_robin},
         {"SCHED_FIFO", sched_policy::fifo}}};
    for (const auto& [name, policy] : known) {
      if (v.text == name) return policy;
    }
    fail(v.place, fmt::format("policy \"{}\"; expected SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, "
                              "SCHED_RR or SCHED_FIFO{}",
                              printable(v.text),
                              v.text == "SCHED_DEADLINE" ? " (deadline is not simulated)" : ""));
  }

  void read_global(const rtapp_value& g) {
    need(g, type::object, "global");
    constexpr std::array<std::string_view, 15> known{
        "duration",  "calibration",     "default_policy",   "pi_enabled", "lock_pages",
        "logdir",    "log_basename",    "log_size",         "ftrace",     "gnuplot",
        "io_device", "mem_buffer_size", "cumulative_slack", "frag",       "nodes_membind"};
    for (const rtapp_member& m : g.members) {
      if (std::find(known.begin(), known.end(), m.key) == known.end()) unknown(m);
    }
    const std::int64_t seconds = integer_in(g, "duration", -1, -1, max_seconds);
    if (seconds == 0)
      fail(find(g, "duration")->place, "\"duration\" is 0; expected -1 or 1 or more");
    if (seconds > 0) result_.duration_ns = static_cast<std::uint64_t>(seconds) * 1'000'000'000;
    if (const rtapp_value* v = find(g, "default_policy")) {
      default_policy_ = policy_named(*v, "default_policy");
    }
    if (const rtapp_value* v = find(g, "pi_enabled")) {
      need(*v, type::boolean, "pi_enabled");
      if (v->truth) mutexes_are_ = mutex_kind::inherits;
    }
  }

  scheduling scheduling_in(const rtapp_value& object, const scheduling& before) const {
    scheduling s = before;
    s.given = false;
    if (const rtapp_value* v = find(object, "policy")) {
      s.policy = policy_named(*v, "policy");
      if (real_time(s.policy) != real_time(before.policy))
        s.priority = real_time(s.policy) ? 10 : 0;
      s.given = true;
    }
    if (const rtapp_value* v = find(object, "priority")) {
      const bool rt = real_time(s.policy);
      s.priority = static_cast<int>(integer(*v, "priority", rt ? 1 : -20, rt ? 99 : 19));
      s.given = true;
    }
    if (const rtapp_value* v = find(object, "dl-runtime")) {
      const std::int64_t us = integer(*v, "dl-runtime", 0, max_us);
      if (!real_time(s.policy) && s.policy != sched_policy::idle && us != 0) {
        s.slice_ns = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(us) * ns_per_us, 100'000,
                                               100'000'000);
      } else {
        s.slice_ns = 0;
      }
      s.given = true;
    }
    static_cast<void>(integer_in(object, "util_min", -1, -1, 1024));
    static_cast<void>(integer_in(object, "util_max", -1, -1, 1024));
    return s;
  }

  // nullopt: none is named, so the one before stays.
  std::optional<std::uint32_t> group_in(const rtapp_value& object, const scheduling& s) {
    const rtapp_value* v = find(object, "taskgroup");
    if (v == nullptr) return std::nullopt;
    need(*v, type::string, "taskgroup");
    if (v->text.empty()) return std::nullopt;
    if (!is_group_path(v->text)) {
      fail(v->place,
           fmt::format("taskgroup \"{}\"; expected a path like /a/b", printable(v->text)));
    }
    if (real_time(s.policy)) {
      fail(v->place, "a taskgroup for a real-time task; expected SCHED_OTHER, BATCH or IDLE");
    }
    return result_.groups.number_of(v->text);
  }

  std::vector<unsigned> cpus_in(const rtapp_value& object) const {
    std::vector<unsigned> cpus;
    const rtapp_value* v = find(object, "cpus");
    if (v == nullptr) return cpus;
    need(*v, type::array, "cpus");
    for (const rtapp_value& item : v->items) {
      const std::int64_t most = options_.cpus == 0 ? 511 : options_.cpus - 1;
      cpus.push_back(static_cast<unsigned>(integer(item, "cpus", 0, most)));
    }
    return cpus;
  }

  // ---- All tasks before any program is made

  template <typename Visit>
  void each_phase(const rtapp_value& task, Visit&& visit) const {
    const rtapp_value* phases = find(task, "phases");
    if (phases == nullptr) {
      visit(task);
      return;
    }
    need(*phases, type::object, "phases");
    if (phases->members.empty()) fail(phases->place, "no phases; expected at least one");
    for (const rtapp_member& m : phases->members) {
      need(m.value, type::object, m.key);
      visit(m.value);
    }
  }

  std::uint32_t instances_of(const rtapp_value& task) const {
    return static_cast<std::uint32_t>(
        integer_in(task, "instance", 1, 0, static_cast<std::int64_t>(max_rtapp_tasks)));
  }

  void count_cpus(const rtapp_value& tasks) {
    unsigned cpus = std::max(options_.cpus, 1U);
    for (const rtapp_member& task : tasks.members) {
      need(task.value, type::object, task.key);
      for (const unsigned c : cpus_in(task.value)) cpus = std::max(cpus, c + 1);
      each_phase(task.value, [&](const rtapp_value& phase) {
        for (const unsigned c : cpus_in(phase)) cpus = std::max(cpus, c + 1);
      });
    }
    result_.cpus = cpus;
  }

  void number_tasks(const rtapp_value& tasks) {
    if (tasks.members.empty()) fail(tasks.place, "no task; expected at least one in \"tasks\"");
    std::set<std::string> forked;
    std::size_t count = 0;
    for (const rtapp_member& task : tasks.members) {
      known_tasks_.emplace(task.key, &task.value);
      count += instances_of(task.value);
      each_phase(task.value, [&](const rtapp_value& phase) {
        for (const rtapp_member& m : phase.members) {
          if (event_of(m.key) == "fork") forked.insert(string_of(m));
        }
      });
    }
    for (const rtapp_member& task : tasks.members) {
      if (!forked.contains(task.key) || pools_.contains(task.key)) continue;
      pools_[task.key] = {static_cast<std::uint32_t>(count), max_rtapp_forks};
      count += max_rtapp_forks;
    }
    if (count > max_rtapp_tasks) {
      fail(tasks.place, fmt::format("{} tasks with {} for each that is forked; expected at most {}",
                                    count, max_rtapp_forks, max_rtapp_tasks));
    }
  }

  // A task that forks itself, also through others, never stops to.
  void check_forks(const rtapp_value& tasks) const {
    std::map<std::string, std::set<std::string>> reach;
    for (const rtapp_member& task : tasks.members) {
      each_phase(task.value, [&](const rtapp_value& phase) {
        for (const rtapp_member& m : phase.members) {
          if (event_of(m.key) != "fork") continue;
          if (!known_tasks_.contains(m.value.text)) {
            fail(m.value.place, fmt::format("fork of \"{}\", which is no task here; expected one "
                                            "of \"tasks\"",
                                            printable(m.value.text)));
          }
          reach[task.key].insert(m.value.text);
          if (forks_itself(tasks, m.value.text, task.key)) {
            fail(m.place, fmt::format("task \"{}\" forks itself again and again; expected forks "
                                      "that end",
                                      printable(task.key)));
          }
        }
      });
    }
  }

  bool forks_itself(const rtapp_value& tasks, const std::string& from,
                    const std::string& wanted) const {
    std::set<std::string> seen{from};
    std::vector<std::string> open{from};
    while (!open.empty()) {
      const std::string at = open.back();
      open.pop_back();
      if (at == wanted) return true;
      for (const rtapp_member& task : tasks.members) {
        if (task.key != at) continue;
        each_phase(task.value, [&](const rtapp_value& phase) {
          for (const rtapp_member& m : phase.members) {
            if (event_of(m.key) == "fork" && seen.insert(m.value.text).second) {
              open.push_back(m.value.text);
            }
          }
        });
      }
    }
    return false;
  }

  void count_barriers(const rtapp_value& tasks) {
    for (const rtapp_member& task : tasks.members) {
      const std::uint32_t users = instances_of(task.value);
      each_phase(task.value, [&](const rtapp_value& phase) {
        for (const rtapp_member& m : phase.members) {
          if (event_of(m.key) != "barrier") continue;
          const auto next = static_cast<std::uint32_t>(result_.barriers.size());
          const auto [at, is_new] = barriers_.try_emplace(string_of(m), next);
          if (is_new) result_.barriers.push_back(0);
          result_.barriers[at->second] += users;
        }
      });
    }
  }

  // ---- Programs

  void make_instances(const rtapp_member& task) {
    const std::uint32_t count = instances_of(task.value);
    for (std::uint32_t i = 0; i < count; ++i) {
      make_task(task, fmt::format("{}-{}", task.key, i), start_state::runnable);
    }
  }

  void make_pool(const rtapp_member& task) {
    const auto pool = pools_.find(task.key);
    if (pool == pools_.end() || pool->second.first != result_.tasks.size()) return;
    for (std::uint32_t i = 0; i < pool->second.count; ++i) {
      make_task(task, fmt::format("{}-0-{}", task.key, i), start_state::unborn);
    }
  }

  void emit(text_place place, op_kind kind, std::uint32_t target = 0, std::uint64_t value = 0) {
    if (++steps_ > max_rtapp_steps) {
      fail(place, fmt::format("more than {} events in all tasks; expected fewer", max_rtapp_steps));
    }
    setup_.steps.push_back({kind, target, value});
    places_.push_back(place);
  }

  void make_task(const rtapp_member& task, std::string name, start_state start) {
    constexpr std::size_t longest_name = 15;
    const rtapp_value& t = task.value;
    setup_ = {};
    places_.clear();
    task_name_ = task.key;
    unique_timers_.clear();
    scheduling s;
    s.policy = default_policy_;
    s.priority = real_time(s.policy) ? 10 : 0;
    s = scheduling_in(t, s);
    setup_.pid = static_cast<std::int32_t>(result_.tasks.size()) + 1;
    setup_.name = name.substr(0, longest_name);
    setup_.policy = s.policy;
    (real_time(s.policy) ? setup_.rt_priority : setup_.nice) = s.priority;
    setup_.slice_ns = s.slice_ns;
    setup_.group = group_in(t, s).value_or(0);
    setup_.start = start;
    const auto delay = static_cast<std::uint64_t>(integer_in(t, "delay", 0, 0, max_us)) * ns_per_us;
    emit(t.place, op_kind::timer_origin, 0, delay);
    if (delay != 0) emit(t.place, op_kind::sleep, 0, delay);
    make_phases(t, s);
    emit(t.place, op_kind::finish);
    result_.tasks.push_back(std::move(setup_));
    result_.places.push_back(std::move(places_));
    ++placed_;
  }

  std::int64_t loop_of(const rtapp_value& object, std::int64_t missing) const {
    const std::int64_t n = integer_in(object, "loop", missing, -1, 2'147'483'647);
    if (n == 0) fail(find(object, "loop")->place, "\"loop\" is 0; expected -1 or 1 or more");
    return n;
  }

  void close_loop(text_place place, std::int64_t times, std::size_t begin) {
    if (times < 0) {
      emit(place, op_kind::jump, 0, begin);
    } else if (times > 1) {
      emit(place, op_kind::repeat, 0, static_cast<std::uint64_t>(times) << 32 | begin);
    }
  }

  unsigned place_of(const rtapp_value& task, const rtapp_value& phase) const {
    std::vector<unsigned> cpus = cpus_in(phase);
    if (cpus.empty()) cpus = cpus_in(task);
    return cpus.empty() ? placed_ % result_.cpus : cpus[placed_ % cpus.size()];
  }

  void move_to(text_place place, unsigned cpu) {
    emit(place, op_kind::sleep, 0, 0);
    emit(place, op_kind::move, cpu);
  }

  void make_phases(const rtapp_value& t, scheduling s) {
    std::vector<const rtapp_value*> phases;
    each_phase(t, [&](const rtapp_value& phase) { phases.push_back(&phase); });
    const bool alone = find(t, "phases") == nullptr;
    const std::int64_t task_loop = alone && find(t, "loop") != nullptr ? 1 : loop_of(t, -1);
    if (!alone) check_keys(t, true);
    const unsigned first_cpu = place_of(t, *phases.front());
    setup_.cpu = first_cpu;
    unsigned cpu = first_cpu;
    const std::size_t begin = setup_.steps.size();
    for (const rtapp_value* phase : phases) {
      check_keys(*phase, false);
      if (const unsigned next = place_of(t, *phase); next != cpu) {
        move_to(phase->place, next);
        cpu = next;
      }
      if (!alone) use_settings(*phase, s);
      const std::size_t phase_begin = setup_.steps.size();
      make_events(*phase);
      const std::int64_t loops = alone && find(t, "loop") == nullptr ? 1 : loop_of(*phase, 1);
      close_loop(phase->place, loops, phase_begin);
    }
    if (cpu != first_cpu && task_loop != 1) move_to(t.place, first_cpu);
    close_loop(t.place, task_loop, begin);
  }

  void use_settings(const rtapp_value& phase, scheduling& s) {
    const scheduling before = s;
    s = scheduling_in(phase, s);
    if (s.given) {
      emit(phase.place, op_kind::set_policy, static_cast<std::uint32_t>(s.policy),
           static_cast<std::uint64_t>(std::int64_t{s.priority}));
      if (s.slice_ns != before.slice_ns) emit(phase.place, op_kind::set_slice, 0, s.slice_ns);
    }
    if (const auto group = group_in(phase, s)) emit(phase.place, op_kind::join_group, *group);
  }

  void check_keys(const rtapp_value& object, bool has_phases) {
    for (const rtapp_member& m : object.members) {
      if (is_setting(m.key)) continue;
      if (!event_of(m.key).empty()) {
        if (has_phases) warn_once(m, "is an event beside \"phases\" and changes nothing");
        continue;
      }
      for (const std::string_view name : event_names) {
        if (!one_edit_apart(m.key, name)) continue;
        fail(m.place, fmt::format("\"{}\" is no event; expected \"{}\"?", printable(m.key), name));
      }
      unknown(m);
    }
  }
  void warn_once(const rtapp_member& m, std::string_view what) {
    if (warned_.insert(fmt::format("{}:{}", m.place.line, m.place.column)).second) {
      warn(m.place, fmt::format("\"{}\" {}", printable(m.key), what));
    }
  }

  void make_events(const rtapp_value& phase) {
    bool any = false;
    for (const rtapp_member& m : phase.members) {
      if (is_setting(m.key)) continue;
      const std::string_view event = event_of(m.key);
      if (event.empty()) continue;
      any = true;
      if (m.value.is == type::missing && event != "suspend") {
        fail(m.place, fmt::format("\"{}\" has no value; only \"suspend\" may lack one; expected :",
                                  printable(m.key)));
      }
      make_event(event, m);
    }
    if (!any) fail(phase.place, "no events; expected at least one");
  }

  std::uint64_t us_of(const rtapp_member& m) const {
    return static_cast<std::uint64_t>(integer(m.value, m.key, 0, max_us)) * ns_per_us;
  }

  void make_event(std::string_view event, const rtapp_member& m) {
    const text_place at = m.place;
    if (event == "run") return emit(at, op_kind::run, 0, us_of(m));
    if (event == "sleep") return emit(at, op_kind::sleep, 0, us_of(m));
    if (event == "runtime") {
      emit(at, op_kind::busy, 0, us_of(m));
      return emit(at, op_kind::busy_chunk);
    }
    if (event == "mem" || event == "iorun") {
      const std::int64_t bytes = integer(m.value, m.key, 0, max_us);
      return emit(at, op_kind::run, 0,
                  static_cast<std::uint64_t>(
                      bytes / (event == "mem" ? mem_bytes_per_ns : io_bytes_per_ns)));
    }
    if (event == "memrun") return make_memrun(m);
    if (event == "timer") return make_timer(m);
    if (event == "yield") return emit(at, op_kind::yield);
    if (event == "lock") return emit(at, op_kind::lock, mutex(string_of(m)));
    if (event == "unlock") return emit(at, op_kind::unlock, mutex(string_of(m)));
    if (event == "signal") return emit(at, op_kind::cond_signal, condition(string_of(m)));
    if (event == "broad") return emit(at, op_kind::cond_broadcast, condition(string_of(m)));
    if (event == "wait" || event == "sync") return make_wait(event, m);
    if (event == "suspend") {
      suspended_.insert(task_name_);
      if (m.value.is == type::string && m.value.text != task_name_ && !m.value.text.empty()) {
        warn_once(m, fmt::format("waits to be resumed as \"{}\", its task's name, whatever the "
                                 "value",
                                 printable(task_name_)));
      }
      return emit(at, op_kind::cond_wait, condition("task " + task_name_), no_mutex);
    }
    if (event == "resume") {
      resumed_.try_emplace(string_of(m), at);
      return emit(at, op_kind::cond_broadcast, condition("task " + string_of(m)));
    }
    if (event == "barrier") return emit(at, op_kind::barrier, barriers_.at(string_of(m)));
    if (event == "fork") {
      const fork_pool pool = pools_.at(m.value.text);
      return emit(at, op_kind::fork_next, pool.first, pool.count);
    }
    emit(at, event == "sem_post" ? op_kind::sem_post : op_kind::sem_wait,
         number_of(semaphores_, string_of(m), result_.semaphores));
  }

  void make_wait(std::string_view event, const rtapp_member& m) {
    need(m.value, type::object, m.key);
    const std::uint32_t cond = condition(string_in(m.value, "ref", m.key));
    const std::uint32_t with = mutex(string_in(m.value, "mutex", m.key));
    if (event == "sync") emit(m.place, op_kind::cond_signal, cond);
    emit(m.place, op_kind::cond_wait, cond, with);
    emit(m.place, op_kind::lock, with);
  }

  void make_timer(const rtapp_member& m) {
    need(m.value, type::object, m.key);
    std::string ref = "unknown";
    if (find(m.value, "ref") != nullptr) ref = string_in(m.value, "ref", m.key);
    const std::int64_t us = integer_in(m.value, "period", 0, 0, max_us);
    op_kind kind = op_kind::timer;
    if (const rtapp_value* mode = find(m.value, "mode")) {
      need(*mode, type::string, "mode");
      if (mode->text != "relative" && mode->text != "absolute") {
        fail(mode->place, fmt::format("timer mode \"{}\"; expected relative or absolute",
                                      printable(mode->text)));
      }
      if (mode->text == "absolute") kind = op_kind::timer_absolute;
    }
    const bool own = ref.starts_with("unique");
    emit(m.place, kind, number_of(own ? unique_timers_ : timers_, ref, result_.timers),
         static_cast<std::uint64_t>(us) * ns_per_us);
  }

  void make_memrun(const rtapp_member& m) {
    need(m.value, type::object, m.key);
    const std::string& how = string_in(m.value, "type", m.key);
    if (how != "read" && how != "write" && how != "chase") {
      fail(m.value.place,
           fmt::format("memrun type \"{}\"; expected read, write or chase", printable(how)));
    }
    static_cast<void>(integer_in(m.value, "size", 0, 0, max_us));
    const std::int64_t count = integer_in(m.value, "count", 0, 0, max_us);
    const std::int64_t stride = integer_in(m.value, "stride", 64, 1, 1 << 20);
    emit(m.place, op_kind::run, 0, static_cast<std::uint64_t>(count * stride / mem_bytes_per_ns));
  }

  // ---- Names

  using numbers = std::map<std::string, std::uint32_t>;
  static std::uint32_t number_of(numbers& known, const std::string& name, std::uint32_t& next) {
    const auto [at, is_new] = known.try_emplace(name, next);
    if (is_new) ++next;
    return at->second;
  }
  std::uint32_t mutex(const std::string& name) {
    auto next = static_cast<std::uint32_t>(result_.mutexes.size());
    const std::uint32_t number = number_of(mutexes_, name, next);
    if (next > result_.mutexes.size()) result_.mutexes.push_back(mutexes_are_);
    return number;
  }
  std::uint32_t condition(const std::string& name) {
    return number_of(conditions_, name, result_.conditions);
  }

  const std::string& name_;
  rtapp_options options_;
  rtapp_workload result_;
  sched_policy default_policy_ = sched_policy::normal;
  mutex_kind mutexes_are_ = mutex_kind::plain;
  std::map<std::string, const rtapp_value*> known_tasks_;
  std::map<std::string, fork_pool> pools_;
  std::set<std::string> warned_;
  std::set<std::string> suspended_;
  std::map<std::string, text_place> resumed_;
  numbers mutexes_, conditions_, barriers_, semaphores_, timers_;
  std::size_t steps_ = 0;
  unsigned placed_ = 0;
  // Of the task that is made.
  task_setup setup_;
  std::vector<text_place> places_;
  std::string task_name_;
  numbers unique_timers_;
};

}  // namespace

rtapp_workload parse_rtapp(std::string_view text, const std::string& name,
                           const rtapp_options& options) {
  return reader(name, options).read(text);
}

rtapp_workload read_rtapp(const std::string& path, const rtapp_options& options) {
  const auto source = open_bytes(path);
  std::string text;
  std::array<char, 65'536> piece{};
  while (text.size() <= max_rtapp_bytes) {
    const std::size_t n = source->read(piece.data(), piece.size());
    if (n == 0) break;
    text.append(piece.data(), n);
  }
  return parse_rtapp(text, shown_path(path), options);
}

}  // namespace vlag

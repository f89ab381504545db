// SPDX-License-Identifier: Apache-2.0
#include "workload/rtapp_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "input/input_error.hpp"
#include "input/printable.hpp"

namespace vlag {
namespace {

constexpr std::int64_t max_seconds = 1'000'000;

enum holder : unsigned { nowhere = 0, task = 1, phase = 2 };

struct setting {
  std::string_view name;
  unsigned where;  // holders
};

constexpr unsigned both = task | phase;
constexpr std::array<setting, 17> settings{{{"instance", task},
                                            {"delay", task},
                                            {"phases", task},
                                            {"loop", both},
                                            {"policy", both},
                                            {"priority", both},
                                            {"cpus", both},
                                            {"nodes_membind", both},
                                            {"util_min", both},
                                            {"util_max", both},
                                            {"taskgroup", both},
                                            {"dl-runtime", both},
                                            {"dl-period", both},
                                            {"dl-deadline", both},
                                            {"period", task},  // older names of the last two
                                            {"deadline", task},
                                            {"vlag_clock_poll", task}}};

unsigned holders_of(std::string_view key) {
  for (const setting& s : settings) {
    if (s.name == key) return s.where;
  }
  return nowhere;
}

// What a global setting must be; those that change nothing here too.
struct global_setting {
  std::string_view name;
  rtapp_value::type is;
  rtapp_value::type or_is;
};

constexpr auto boolean = rtapp_value::type::boolean;
constexpr auto whole = rtapp_value::type::integer;
constexpr auto text = rtapp_value::type::string;
constexpr std::array<global_setting, 13> global_settings{{{"duration", whole, whole},
                                                          {"calibration", text, whole},
                                                          {"default_policy", text, text},
                                                          {"pi_enabled", boolean, boolean},
                                                          {"lock_pages", boolean, boolean},
                                                          {"logdir", text, text},
                                                          {"log_basename", text, text},
                                                          {"log_size", text, whole},
                                                          {"ftrace", text, boolean},
                                                          {"gnuplot", boolean, boolean},
                                                          {"io_device", text, text},
                                                          {"mem_buffer_size", whole, whole},
                                                          {"cumulative_slack", boolean, boolean}}};

}  // namespace

// ---- Values

void rtapp_builder::fail(text_place place, std::string_view what) const {
  throw input_error(at_place(name_, place, what));
}

void rtapp_builder::warn(text_place place, std::string_view what) {
  result_.warnings.push_back(at_place(name_, place, what));
}

void rtapp_builder::unknown(const rtapp_member& m) {
  if (warned_.insert(m.key).second) {
    warn(m.place, fmt::format("\"{}\" is not known and changes nothing", printable(m.key)));
  }
}

void rtapp_builder::need(const rtapp_value& v, type t, std::string_view key) const {
  if (v.is == t) return;
  fail(v.place,
       fmt::format("\"{}\" is {}; expected {}", printable(key), to_string(v.is), to_string(t)));
}

const rtapp_value* rtapp_builder::find(const rtapp_value& object, std::string_view key) {
  for (const rtapp_member& m : object.members) {
    if (m.key == key) return &m.value;
  }
  return nullptr;
}

std::int64_t rtapp_builder::integer(const rtapp_value& v, std::string_view key, std::int64_t low,
                                    std::int64_t high) const {
  need(v, type::integer, key);
  if (v.number < low || v.number > high) {
    fail(v.place,
         fmt::format("\"{}\" is {}; expected {} to {}", printable(key), v.number, low, high));
  }
  return v.number;
}

std::int64_t rtapp_builder::integer_in(const rtapp_value& object, std::string_view key,
                                       std::int64_t missing, std::int64_t low,
                                       std::int64_t high) const {
  const rtapp_value* v = find(object, key);
  return v == nullptr ? missing : integer(*v, key, low, high);
}

const std::string& rtapp_builder::string_in(const rtapp_value& object, std::string_view key,
                                            std::string_view of) const {
  const rtapp_value* v = find(object, key);
  if (v == nullptr) {
    fail(object.place,
         fmt::format("\"{}\" lacks \"{}\"; expected a string there", printable(of), key));
  }
  need(*v, type::string, key);
  return v->text;
}

const std::string& rtapp_builder::string_of(const rtapp_member& m) const {
  need(m.value, type::string, m.key);
  return m.value.text;
}

void rtapp_builder::warn_once(const rtapp_member& m, std::string_view what) {
  if (warned_.insert(fmt::format("{}:{}", m.place.line, m.place.column)).second) {
    warn(m.place, fmt::format("\"{}\" {}", printable(m.key), what));
  }
}

std::uint64_t rtapp_builder::us_of(const rtapp_member& m) const {
  return static_cast<std::uint64_t>(integer(m.value, m.key, 0, max_us)) * ns_per_us;
}

// ---- Settings

bool rtapp_builder::real_time(sched_policy p) {
  return p == sched_policy::fifo || p == sched_policy::round_robin;
}

bool rtapp_builder::is_setting(std::string_view key) { return holders_of(key) != nowhere; }

sched_policy rtapp_builder::policy_named(const rtapp_value& v, std::string_view key) const {
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

void rtapp_builder::read_global(const rtapp_value& g) {
  need(g, type::object, "global");
  for (const rtapp_member& m : g.members) {
    const auto known = std::find_if(global_settings.begin(), global_settings.end(),
                                    [&](const global_setting& s) { return s.name == m.key; });
    if (known == global_settings.end()) {
      unknown(m);
    } else if (m.value.is != known->is && m.value.is != known->or_is) {
      need(m.value, known->is, m.key);
    }
  }
  warn_of_repeated(g);
  const std::int64_t seconds = integer_in(g, "duration", -1, -1, max_seconds);
  if (seconds == 0) fail(find(g, "duration")->place, "\"duration\" is 0; expected -1 or 1 or more");
  if (seconds > 0) result_.duration_ns = static_cast<std::uint64_t>(seconds) * 1'000'000'000;
  if (const rtapp_value* v = find(g, "default_policy")) {
    default_policy_ = policy_named(*v, "default_policy");
  }
  if (const rtapp_value* v = find(g, "pi_enabled")) {
    need(*v, type::boolean, "pi_enabled");
    if (v->truth) mutexes_are_ = mutex_kind::inherits;
  }
  if (const rtapp_value* v = find(g, "log_basename")) result_.log.basename = v->text;
  if (const rtapp_value* v = find(g, "cumulative_slack")) result_.log.cumulative_slack = v->truth;
  if (const rtapp_value* v = find(g, "calibration"); v != nullptr && v->is == type::integer) {
    result_.log.loop_ns = static_cast<std::uint64_t>(integer(*v, "calibration", 1, 1'000'000'000));
  }
}

rtapp_builder::scheduling rtapp_builder::scheduling_in(const rtapp_value& object,
                                                       const scheduling& before) const {
  scheduling s = before;
  s.given = false;
  if (const rtapp_value* v = find(object, "policy")) {
    s.policy = policy_named(*v, "policy");
    if (real_time(s.policy) != real_time(before.policy)) s.priority = real_time(s.policy) ? 10 : 0;
    s.given = true;
  }
  if (const rtapp_value* v = find(object, "priority")) {
    const bool rt = real_time(s.policy);
    s.priority = static_cast<int>(integer(*v, "priority", rt ? 1 : -20, rt ? 99 : 19));
    s.given = true;
  }
  if (s.given) s.slice_ns = 0;  // the call that sets a policy sets the slice too
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
  for (const std::string_view key : {"util_min", "util_max"}) {
    static_cast<void>(integer_in(object, key, -1, -1, 1024));
  }
  for (const std::string_view key : {"dl-period", "dl-deadline", "period", "deadline"}) {
    static_cast<void>(integer_in(object, key, 0, 0, max_us));
  }
  return s;
}

std::optional<std::uint32_t> rtapp_builder::group_in(const rtapp_value& object,
                                                     const scheduling& s) {
  const rtapp_value* v = find(object, "taskgroup");
  if (v == nullptr) return std::nullopt;
  need(*v, type::string, "taskgroup");
  if (v->text.empty()) return std::nullopt;
  if (!is_group_path(v->text)) {
    fail(v->place, fmt::format("taskgroup \"{}\"; expected a path like /a/b", printable(v->text)));
  }
  if (real_time(s.policy)) {
    fail(v->place, "a taskgroup for a real-time task; expected SCHED_OTHER, BATCH or IDLE");
  }
  return result_.groups.number_of(v->text);
}

std::vector<unsigned> rtapp_builder::cpus_in(const rtapp_value& object) const {
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

std::uint32_t rtapp_builder::instances_of(const rtapp_value& task) const {
  return static_cast<std::uint32_t>(
      integer_in(task, "instance", 1, 0, static_cast<std::int64_t>(max_rtapp_tasks)));
}

std::int64_t rtapp_builder::loop_of(const rtapp_value& object, std::int64_t missing) const {
  const std::int64_t n = integer_in(object, "loop", missing, -1, 2'147'483'647);
  if (n == 0) fail(find(object, "loop")->place, "\"loop\" is 0; expected -1 or 1 or more");
  return n;
}

void rtapp_builder::check_keys(const rtapp_value& object, holder_kind holder) {
  const bool is_task = holder != holder_kind::phase;
  const bool has_phases = holder == holder_kind::task_with_phases;
  for (const rtapp_member& m : object.members) {
    if (const unsigned where = holders_of(m.key); where != nowhere) {
      if ((where & (is_task ? both : phase)) == 0) {
        warn_once(m, "is a setting of tasks and changes nothing in a phase");
      }
      continue;
    }
    if (!rtapp_event_of(m.key).empty()) {
      if (is_task && has_phases) warn_once(m, "is an event beside \"phases\" and changes nothing");
      continue;
    }
    if (const std::string_view event = rtapp_event_like(m.key); !event.empty()) {
      fail(m.place, fmt::format("\"{}\" is no event; expected \"{}\"?", printable(m.key), event));
    }
    if (m.key.starts_with("vlag_")) {
      fail(m.place, fmt::format("\"{}\" is not known; expected vlag_send, vlag_send_all, "
                                "vlag_recv, vlag_kill, vlag_sleep_to or vlag_clock_poll",
                                printable(m.key)));
    }
    unknown(m);
  }
  warn_of_repeated(object);
}

// Events count each time, and tasks and phases; of the rest, the first, as after workgen, which
// gives the others names that mean nothing.
void rtapp_builder::warn_of_repeated(const rtapp_value& object) {
  std::set<std::string_view> seen;
  for (const rtapp_member& m : object.members) {
    if (!rtapp_event_of(m.key).empty() && !is_setting(m.key)) continue;
    if (!seen.insert(m.key).second) warn_once(m, "is there twice; the first counts");
  }
}

}  // namespace vlag

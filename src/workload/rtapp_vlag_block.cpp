// SPDX-License-Identifier: Apache-2.0
#include "workload/rtapp_vlag_block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "input/input_error.hpp"
#include "input/printable.hpp"
#include "input/text.hpp"
#include "vlag/sched_attr.hpp"
#include "workload/group_list.hpp"
#include "workload/rtapp_reader.hpp"
#include "workload/variant.hpp"

namespace vlag {
namespace {

using type = rtapp_value::type;

constexpr std::uint64_t most_cpus = 512;
constexpr std::uint64_t longest_cost_ns = 1'000'000'000;
constexpr std::uint64_t longest_duration_ns = 1'000'000'000'000'000;
constexpr std::uint64_t shortest_tick_ns = 10'000;
constexpr std::uint64_t ns_per_s = 1'000'000'000;
constexpr std::int64_t most_hz = 100'000;
constexpr std::size_t most_policies = 64;
constexpr std::size_t most_expectations = 1'000;
constexpr std::uint64_t million = 1'000'000;

struct machine_time {
  std::string_view key;
  std::uint64_t machine_config::* value;
};

constexpr std::array<machine_time, 16> machine_times{{
    {"tick_phase_ns", &machine_config::tick_phase_ns},
    {"tick_jitter_ns", &machine_config::tick_jitter_ns},
    {"switch_delay_ns", &machine_config::switch_delay_ns},
    {"idle_switch_delay_ns", &machine_config::idle_switch_delay_ns},
    {"tick_switch_delay_ns", &machine_config::tick_switch_delay_ns},
    {"poll_switch_delay_ns", &machine_config::poll_switch_delay_ns},
    {"switch_clock_lead_ns", &machine_config::switch_clock_lead_ns},
    {"switch_cost_ns", &machine_config::switch_cost_ns},
    {"wakeup_cost_ns", &machine_config::wakeup_cost_ns},
    {"tick_cost_ns", &machine_config::tick_cost_ns},
    {"tick_timer_delay_ns", &machine_config::tick_timer_delay_ns},
    {"timer_slack_ns", &machine_config::timer_slack_ns},
    {"pipe_call_ns", &machine_config::pipe_call_ns},
    {"kill_cost_ns", &machine_config::kill_cost_ns},
    {"queue_cost_ns", &machine_config::queue_cost_ns},
    {"signal_cost_ns", &machine_config::signal_cost_ns},
}};

class block_reader {
 public:
  explicit block_reader(const std::string& name) : name_(name) {}

  vlag_block read(const rtapp_value& v) {
    need(v, type::object, "vlag");
    for (const rtapp_member& m : each(v)) {
      if (m.key == "summary") {
        block_.summary = line(m);
      } else if (m.key == "source") {
        block_.source = line(m);
      } else if (m.key == "machine") {
        machine(m);
      } else if (m.key == "policies") {
        policies_ = &m;
      } else if (m.key == "duration") {
        block_.duration_ns = time(m, 1, longest_duration_ns);
      } else if (m.key == "tasks") {
        tasks(m);
      } else if (m.key == "groups") {
        groups(m);
      } else if (m.key == "expect") {
        expect_ = &m;
      } else {
        unknown(m, {"summary", "source", "machine", "policies", "duration", "tasks", "groups",
                    "expect"});
      }
    }
    if (policies_ != nullptr) policies(*policies_);  // they depend on the machine
    if (expect_ != nullptr) expectations(*expect_);  // they depend on the policies
    return std::move(block_);
  }

 private:
  [[noreturn]] void fail(text_place place, std::string_view what) const {
    throw input_error(at_place(name_, place, what));
  }
  void need(const rtapp_value& v, type t, std::string_view key) const {
    if (v.is == t) return;
    fail(v.place,
         fmt::format("\"{}\" is {}; expected {}", printable(key), to_string(v.is), to_string(t)));
  }
  [[noreturn]] void unknown(const rtapp_member& m,
                            const std::vector<std::string_view>& names) const {
    const auto near = nearest_name(m.key, names);
    fail(m.place, fmt::format("\"{}\" is not known here{}; expected one of {}", printable(m.key),
                              near ? fmt::format("; did you mean \"{}\"?", *near) : "",
                              fmt::join(names, ", ")));
  }
  // Nothing here may be there twice.
  const std::vector<rtapp_member>& each(const rtapp_value& object) const {
    std::set<std::string_view> keys;
    for (const rtapp_member& m : object.members) {
      if (!keys.insert(m.key).second) {
        fail(m.place, fmt::format("\"{}\" is there twice; expected it once", printable(m.key)));
      }
    }
    return object.members;
  }

  // ---- Values

  std::string line(const rtapp_member& m) const {
    need(m.value, type::string, m.key);
    if (m.value.text.empty() || m.value.text.find('\n') != std::string::npos) {
      fail(m.value.place,
           fmt::format("\"{}\" is empty or has line ends; expected one line", printable(m.key)));
    }
    return m.value.text;
  }
  std::int64_t integer(const rtapp_member& m, std::int64_t low, std::int64_t high) const {
    need(m.value, type::integer, m.key);
    if (m.value.number < low || m.value.number > high) {
      fail(m.value.place, fmt::format("\"{}\" is {}; expected {} to {}", printable(m.key),
                                      m.value.number, low, high));
    }
    return m.value.number;
  }
  bool truth(const rtapp_member& m) const {
    need(m.value, type::boolean, m.key);
    return m.value.truth;
  }
  // ns, or a text like "0.1ms".
  std::uint64_t time(const rtapp_member& m, std::uint64_t low, std::uint64_t high) const {
    std::optional<std::uint64_t> ns;
    if (m.value.is == type::string) ns = parse_duration(m.value.text);
    if (m.value.is == type::integer && m.value.number >= 0) {
      ns = static_cast<std::uint64_t>(m.value.number);
    }
    if (!ns || *ns < low || *ns > high) {
      fail(m.value.place,
           fmt::format("\"{}\" is no time from {} to {}; expected ns, or a text like \"0.1ms\"",
                       printable(m.key), format_duration(low), format_duration(high)));
    }
    return *ns;
  }
  // A number with at most six places after the point, in millionths.
  std::uint64_t decimal(const rtapp_member& m) const {
    constexpr std::size_t places = 6;
    constexpr std::uint64_t largest = 1'000'000'000'000;
    const auto refuse = [&]() {
      fail(m.value.place, fmt::format("\"{}\" is no number from 0 to {} with at most {} digits "
                                      "after the point; expected one like 0.25",
                                      printable(m.key), largest, places));
    };
    if (m.value.is != type::integer && m.value.is != type::real) refuse();
    const std::string& text =
        m.value.is == type::real ? m.value.text : fmt::format("{}", m.value.number);
    const std::size_t point = std::min(text.find('.'), text.size());
    std::string fraction = point == text.size() ? "" : text.substr(point + 1);
    if (fraction.size() > places) refuse();
    fraction.resize(places, '0');
    const auto whole = parse_integer(text.substr(0, point));
    const auto rest = parse_integer(fraction);
    if (!whole || !rest || *whole < 0 || *rest < 0 || text.front() == '-' ||
        static_cast<std::uint64_t>(*whole) > largest) {
      refuse();
    }
    return static_cast<std::uint64_t>(*whole) * million + static_cast<std::uint64_t>(*rest);
  }

  // ---- Parts

  void machine(const rtapp_member& member) {
    need(member.value, type::object, member.key);
    bool has_tick = false;
    for (const rtapp_member& m : each(member.value)) {
      if (m.key == "cpus") {
        block_.cpus = static_cast<unsigned>(integer(m, 1, most_cpus));
      } else if (m.key == "hz" || m.key == "tick_ns") {
        if (has_tick) fail(m.place, "both \"hz\" and \"tick_ns\"; expected one of them");
        has_tick = true;
        block_.machine.tick_ns = m.key == "hz"
                                     ? ns_per_s / static_cast<std::uint64_t>(integer(m, 1, most_hz))
                                     : time(m, shortest_tick_ns, longest_cost_ns);
      } else if (m.key == "hrtick") {
        block_.machine.hrtick = truth(m);
      } else if (m.key == "track_load") {
        block_.machine.track_load = truth(m);
      } else if (m.key == "pipe_byte_ps") {
        block_.machine.pipe_byte_ps = static_cast<std::uint64_t>(integer(m, 0, 1'000'000));
      } else {
        machine_cost(m);
      }
    }
  }
  void machine_cost(const rtapp_member& m) {
    for (const machine_time& t : machine_times) {
      if (t.key != m.key) continue;
      block_.machine.*t.value = time(m, 0, longest_cost_ns);
      return;
    }
    std::vector<std::string_view> known{"cpus",   "hz",         "tick_ns",
                                        "hrtick", "track_load", "pipe_byte_ps"};
    for (const machine_time& t : machine_times) known.push_back(t.key);
    unknown(m, known);
  }

  void policies(const rtapp_member& member) {
    need(member.value, type::array, member.key);
    if (member.value.items.empty() || member.value.items.size() > most_policies) {
      fail(member.value.place,
           fmt::format("{} policies; expected 1 to {}", member.value.items.size(), most_policies));
    }
    for (const rtapp_value& item : member.value.items) {
      need(item, type::string, "policies");
      check_policy(item);
      block_.policies.push_back(item.text);
    }
  }
  void check_policy(const rtapp_value& item) const {
    const unsigned cpus = std::max(block_.cpus, 1U);
    try {
      const policy_variant v = parse_variant(item.text, {}, cpus, block_.machine.tick_ns);
      for (const task_override& o : v.overrides) {
        if (o.attribute == task_attribute::cpus) {
          fail(item.place, fmt::format("\"{}\" sets cpus; expected \"cpus\" of the tasks instead",
                                       printable(item.text)));
        }
      }
    } catch (const input_error& e) {
      constexpr std::string_view option = "--policy ";
      std::string_view what = e.what();
      if (what.starts_with(name_)) throw;
      if (what.starts_with(option)) what.remove_prefix(option.size());
      fail(item.place, fmt::format("policy {}", what));
    }
  }

  void tasks(const rtapp_member& member) {
    need(member.value, type::object, member.key);
    for (const rtapp_member& m : each(member.value)) {
      need(m.value, type::object, m.key);
      block_task& task = block_.tasks.emplace_back();
      task.pattern = m.key;
      task.place = m.place;
      for (const rtapp_member& a : each(m.value)) {
        if (a.key == "nice") {
          task.nice = static_cast<int>(integer(a, -20, 19));
        } else if (a.key == "latency_nice") {
          task.latency_nice = static_cast<int>(integer(a, -20, 19));
        } else if (a.key == "slice") {
          const std::uint64_t ns = time(a, 0, longest_own_slice_ns);
          if (ns != 0) static_cast<void>(time(a, shortest_own_slice_ns, longest_own_slice_ns));
          task.slice_ns = ns;
        } else {
          unknown(a, {"nice", "latency_nice", "slice"});
        }
      }
    }
  }

  void groups(const rtapp_member& member) {
    need(member.value, type::object, member.key);
    for (const rtapp_member& m : each(member.value)) {
      if (m.key == "/" || !is_group_path(m.key)) {
        fail(m.place,
             fmt::format("\"{}\" is no group; expected a path like /a or /a/b", printable(m.key)));
      }
      need(m.value, type::object, m.key);
      block_group& group = block_.groups.emplace_back();
      group.path = m.key;
      group.place = m.place;
      for (const rtapp_member& f : each(m.value)) {
        if (f.value.is != type::integer) need(f.value, type::string, f.key);
        group.files.push_back({f.key, f.value.is == type::integer
                                          ? fmt::format("{}", f.value.number)
                                          : f.value.text});
        if (const auto problem = group_files_problem(group.files)) fail(f.place, *problem);
      }
    }
  }

  // ---- Expectations

  void expectations(const rtapp_member& member) {
    need(member.value, type::array, member.key);
    if (block_.policies.empty()) {
      fail(member.place, "\"expect\" without \"policies\"; expected the policies that it is about");
    }
    if (member.value.items.size() > most_expectations) {
      fail(member.value.place, fmt::format("{} expectations; expected at most {}",
                                           member.value.items.size(), most_expectations));
    }
    for (const rtapp_value& item : member.value.items) {
      need(item, type::object, "expect");
      block_.expectations.push_back(one_expectation(item));
      block_.expectation_places.push_back(item.place);
    }
  }
  expectation one_expectation(const rtapp_value& item) {
    expectation e;
    const rtapp_member* over = nullptr;
    const rtapp_member* low = nullptr;
    const rtapp_member* high = nullptr;
    bool has_what = false;
    for (const rtapp_member& m : each(item)) {
      if (m.key == "says") {
        e.says = line(m);
      } else if (m.key == "over") {
        over = &m;
      } else if (m.key == "min") {
        low = &m;
      } else if (m.key == "max") {
        high = &m;
      } else if (!figure_part(m, e.figure)) {
        unknown(m, {"says", "what", "task", "group", "policy", "over", "min", "max"});
      }
      has_what = has_what || m.key == "what";
    }
    if (!has_what) fail(item.place, "no \"what\"; expected one of " + measure_names());
    check_figure(item.place, e.figure);
    if (over != nullptr) e.over = other_figure(*over, e.figure);
    if (low == nullptr && high == nullptr) {
      fail(item.place, "neither \"min\" nor \"max\"; expected a bound");
    }
    if (low != nullptr) e.min = bound(*low, e);
    if (high != nullptr) e.max = bound(*high, e);
    if (e.min && e.max && *e.min > *e.max) {
      fail(low->place, "\"min\" is above \"max\"; expected the smaller of the two");
    }
    return e;
  }
  // Whether it is one of a figure's keys.
  bool figure_part(const rtapp_member& m, figure_choice& figure) const {
    if (m.key == "what") {
      const auto what = measure_named(line(m));
      if (!what) {
        fail(m.value.place, fmt::format("figure \"{}\"; expected one of {}",
                                        printable(m.value.text), measure_names()));
      }
      figure.what = *what;
    } else if (m.key == "task") {
      figure.task = line(m);
    } else if (m.key == "group") {
      figure.group = line(m);
    } else if (m.key == "policy") {
      figure.policy = static_cast<std::size_t>(
          integer(m, 1, static_cast<std::int64_t>(block_.policies.size())));
    } else {
      return false;
    }
    return true;
  }
  void check_figure(text_place place, const figure_choice& figure) const {
    if (!figure.task.empty() && !figure.group.empty()) {
      fail(place, "both \"task\" and \"group\"; expected one of them, or neither for all tasks");
    }
    if (!figure.group.empty() && !groups_have(figure.what)) {
      fail(place,
           "groups do not have this figure; expected share, runtime, switches, run_mean or "
           "one of delays");
    }
  }
  // What it does not say is as in the first.
  figure_choice other_figure(const rtapp_member& member, const figure_choice& first) const {
    need(member.value, type::object, member.key);
    figure_choice other = first;
    bool names_one = false;
    for (const rtapp_member& m : each(member.value)) {
      if (!names_one && (m.key == "task" || m.key == "group")) {
        other.task.clear();
        other.group.clear();
        names_one = true;
      }
      if (!figure_part(m, other)) unknown(m, {"what", "task", "group", "policy"});
    }
    check_figure(member.place, other);
    const bool same = other.what == first.what && other.task == first.task &&
                      other.group == first.group && other.policy == first.policy;
    if (same) fail(member.place, "\"over\" is the figure itself; expected what differs");
    if (unit_of(other.what) != unit_of(first.what)) {
      fail(member.place,
           "a ratio of two kinds of figures; expected times, counts or shares in "
           "both");
    }
    return other;
  }
  std::uint64_t bound(const rtapp_member& m, const expectation& e) const {
    if (e.over) return decimal(m);
    switch (unit_of(e.figure.what)) {
      case figure_unit::ns:
        return time(m, 0, longest_duration_ns);
      case figure_unit::count:
        return static_cast<std::uint64_t>(integer(m, 0, 1'000'000'000'000'000));
      case figure_unit::ppm:
      case figure_unit::ratio:
        break;
    }
    return decimal(m);
  }

  const std::string& name_;
  vlag_block block_;
  const rtapp_member* policies_ = nullptr;
  const rtapp_member* expect_ = nullptr;
};

bool any_task(const rtapp_workload& w, const std::string& pattern) {
  return std::any_of(w.tasks.begin(), w.tasks.end(),
                     [&](const task_setup& t) { return matches_task(pattern, t.name, t.pid); });
}

void require_task(const rtapp_workload& w, text_place place, const std::string& pattern) {
  if (any_task(w, pattern)) return;
  throw input_error(
      at_place(w.name, place,
               fmt::format("no task is called \"{}\"; expected a name like {}, or a pattern",
                           printable(pattern), printable(w.tasks.front().name))));
}

void require_group(const rtapp_workload& w, text_place place, const std::string& path) {
  if (path != "/" && w.groups.has(path)) return;
  throw input_error(
      at_place(w.name, place,
               fmt::format("no task is in a group \"{}\"; expected a \"taskgroup\" of a task",
                           printable(path))));
}

}  // namespace

machine_config plain_workload_machine() {
  machine_config config;
  config.timer_slack_ns = 50'000;
  config.pipe_call_ns = 1'255;
  config.kill_cost_ns = 1'450;
  config.queue_cost_ns = 1'260;
  config.signal_cost_ns = 5'785;
  return config;
}

vlag_block read_vlag_block(const rtapp_value& root, const std::string& name) {
  const rtapp_member* found = nullptr;
  for (const rtapp_member& m : root.members) {
    if (m.key != "vlag") continue;
    if (found != nullptr) {
      throw input_error(at_place(name, m.place, "\"vlag\" is there twice; expected it once"));
    }
    found = &m;
  }
  return found == nullptr ? vlag_block{} : block_reader(name).read(found->value);
}

void apply_vlag_block(rtapp_workload& w) {
  const vlag_block& block = w.block;
  for (const block_task& b : block.tasks) {
    require_task(w, b.place, b.pattern);
    for (task_setup& t : w.tasks) {
      if (!matches_task(b.pattern, t.name, t.pid)) continue;
      if (b.nice) t.nice = *b.nice;
      if (b.latency_nice) t.latency_nice = *b.latency_nice;
      if (b.slice_ns) t.slice_ns = *b.slice_ns;
    }
  }
  for (const block_group& g : block.groups) {
    require_group(w, g.place, g.path);
    for (const group_file& f : g.files) w.groups.write(g.path, f);
  }
  if (block.duration_ns) w.duration_ns = block.duration_ns;
  for (std::size_t i = 0; i < block.expectations.size(); ++i) {
    const expectation& e = block.expectations[i];
    for (const figure_choice* f : {&e.figure, e.over ? &*e.over : nullptr}) {
      if (f == nullptr) continue;
      if (!f->task.empty()) require_task(w, block.expectation_places[i], f->task);
      if (!f->group.empty()) require_group(w, block.expectation_places[i], f->group);
    }
  }
}

}  // namespace vlag

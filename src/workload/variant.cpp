// SPDX-License-Identifier: Apache-2.0
#include "workload/variant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

#include "input/input_error.hpp"
#include "input/text.hpp"
#include "vlag/entity.hpp"
#include "workload/group_list.hpp"

namespace vlag {
namespace {

constexpr std::uint64_t min_task_slice_ns = 100'000;
constexpr std::uint64_t max_task_slice_ns = 100'000'000;
constexpr unsigned max_mask_cpus = 63;  // a CPU mask is a non-negative 64-bit number

struct attribute_name {
  std::string_view name;
  task_attribute attribute;
};
constexpr std::array attribute_names{
    attribute_name{"nice", task_attribute::nice},
    attribute_name{"latency_nice", task_attribute::latency_nice},
    attribute_name{"slice", task_attribute::slice},
    attribute_name{"policy", task_attribute::policy},
    attribute_name{"cpus", task_attribute::cpus},
    attribute_name{"group", task_attribute::group},
};

struct policy_name {
  std::string_view name;
  sched_policy policy;
};
constexpr std::array policy_names{
    policy_name{"normal", sched_policy::normal}, policy_name{"other", sched_policy::normal},
    policy_name{"batch", sched_policy::batch},   policy_name{"idle", sched_policy::idle},
    policy_name{"fifo", sched_policy::fifo},     policy_name{"rr", sched_policy::round_robin},
};

std::string_view engine_name(fair_engine engine) {
  constexpr std::array names = {"EEVDF", "CFS", "the paper's"};
  return names[static_cast<std::size_t>(engine)];
}

// " (did you mean 'X'?)", or nothing when no name is near.
std::string suggestion(std::string_view name, const std::vector<std::string_view>& candidates) {
  const auto near = nearest_name(name, candidates);
  return near ? fmt::format("; did you mean '{}'?", *near) : std::string{};
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

// One KEY=VALUE or bare word, and where the user wrote it.
struct setting {
  std::string place;  // "--policy linux-6.1,x=3" or "--set x=3"
  std::string_view text;
  std::string_view key;
  std::optional<std::string_view> value;

  [[noreturn]] void refuse(const std::string& why) const {
    throw input_error(fmt::format("{}: {}", place, why));
  }
};

setting split_setting(std::string place, std::string_view text) {
  setting s{std::move(place), text, text, std::nullopt};
  if (const auto equals = text.rfind('='); equals != text.npos) {
    s.key = text.substr(0, equals);
    s.value = text.substr(equals + 1);
  }
  if (s.key.empty()) s.refuse(fmt::format("'{}' has no name; expected KEY=VALUE", text));
  return s;
}

bool switch_value(const setting& s) {
  const std::string_view v = s.value.value_or("on");
  if (v == "on" || v == "1" || v == "true") return true;
  if (v == "off" || v == "0" || v == "false") return false;
  s.refuse(fmt::format("'{}' is a feature; expected on or off, not '{}'", s.key, v));
}

// A CPU list without commas, which separate settings: "0", "0-3", "0+2-3".
std::int64_t cpu_mask(const setting& s, std::string_view list, unsigned cpus) {
  std::uint64_t mask = 0;
  std::string_view rest = list;
  while (true) {
    const auto plus = rest.find('+');
    const std::string_view range = rest.substr(0, plus);
    const auto dash = range.find('-');
    const auto first = parse_integer(range.substr(0, dash));
    const auto last = dash == range.npos ? first : parse_integer(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first) {
      s.refuse(fmt::format("'{}' is not a list of CPUs; expected one like 0, 0-3 or 0+2-3", list));
    }
    const unsigned known = std::min(cpus, max_mask_cpus);
    if (*last >= known) {
      s.refuse(fmt::format("there is no CPU {}; expected 0..{}", *last, known - 1));
    }
    for (auto cpu = *first; cpu <= *last; ++cpu) mask |= std::uint64_t{1} << cpu;
    if (plus == rest.npos) return static_cast<std::int64_t>(mask);
    rest = rest.substr(plus + 1);
  }
}

std::int64_t nice_value(const setting& s, std::string_view text) {
  const auto nice = parse_integer(text);
  if (!nice) s.refuse(fmt::format("'{}' is not a whole number; expected -20..19", text));
  if (*nice < -20 || *nice > 19)
    s.refuse(fmt::format("{} is out of range; expected -20..19", *nice));
  return *nice;
}

std::int64_t slice_value(const setting& s, std::string_view text) {
  const auto slice = parse_duration(text);
  if (!slice) {
    s.refuse(
        fmt::format("'{}' is not a duration; expected one like 0.1ms, 700us or 3000000", text));
  }
  if (*slice != 0 && (*slice < min_task_slice_ns || *slice > max_task_slice_ns)) {
    s.refuse(fmt::format("{} is out of range; expected {}..{}, or 0 for the base slice", text,
                         format_duration(min_task_slice_ns), format_duration(max_task_slice_ns)));
  }
  return static_cast<std::int64_t>(*slice);
}

std::int64_t policy_value(const setting& s, std::string_view text) {
  for (const policy_name& p : policy_names) {
    if (p.name == text) return static_cast<std::int64_t>(p.policy);
  }
  s.refuse(fmt::format("unknown policy '{}'; expected normal, batch, idle, fifo or rr", text));
}

std::int64_t attribute_value(const setting& s, task_attribute attribute, unsigned cpus) {
  switch (attribute) {
    case task_attribute::nice:
    case task_attribute::latency_nice:
      return nice_value(s, *s.value);
    case task_attribute::slice:
      return slice_value(s, *s.value);
    case task_attribute::policy:
      return policy_value(s, *s.value);
    case task_attribute::group:
      if (!is_group_path(*s.value)) {
        s.refuse(fmt::format("'{}' is not a group; expected a path like /a or /a/b", *s.value));
      }
      return 0;
    case task_attribute::cpus:
      break;
  }
  return cpu_mask(s, *s.value, cpus);
}

task_override parse_override(const setting& s, std::size_t dot, unsigned cpus) {
  const std::string_view pattern = s.key.substr(0, dot);
  const std::string_view name = s.key.substr(dot + 1);
  const auto* known = std::find_if(attribute_names.begin(), attribute_names.end(),
                                   [&](const attribute_name& a) { return a.name == name; });
  if (known == attribute_names.end()) {
    std::vector<std::string_view> candidates;
    for (const attribute_name& a : attribute_names) candidates.push_back(a.name);
    s.refuse(
        fmt::format("unknown attribute '{}' of task '{}'{} (expected nice, latency_nice, slice, "
                    "policy, cpus or group)",
                    name, pattern, suggestion(name, candidates)));
  }
  if (pattern.empty()) s.refuse("no task before the '.'; expected TASK.ATTR=VALUE");
  if (!s.value) s.refuse(fmt::format("'{}' has no value; expected TASK.ATTR=VALUE", s.key));
  const std::int64_t value = attribute_value(s, known->attribute, cpus);
  return {std::string(pattern), known->attribute, value,
          known->attribute == task_attribute::group ? std::string(*s.value) : std::string{}};
}

group_override parse_group_file(const setting& s) {
  const auto dot = s.key.rfind(".cpu.");
  const std::string_view path = s.key.substr(0, dot);
  if (dot == s.key.npos || path == "/" || !is_group_path(path)) {
    s.refuse(
        fmt::format("'{}' is no file of a group; expected one like /a.cpu.weight or "
                    "/a/b.cpu.max",
                    s.key));
  }
  if (!s.value) s.refuse(fmt::format("'{}' has no value; expected {}=TEXT", s.key, s.key));
  group_file file{std::string(s.key.substr(dot + 1)), std::string(*s.value)};
  if (const auto problem = group_files_problem({file})) s.refuse(*problem);
  return {std::string(path), std::move(file)};
}

// The kernel's debugfs files carry the unit in their name (base_slice_ns); both are understood.
std::string_view constant_name(std::string_view key) {
  return key.ends_with("_ns") ? key.substr(0, key.size() - 3) : key;
}

// Of a constant or feature that the engine in use has not: whose it is.
template <typename Find>
std::optional<fair_engine> owner_of(std::string_view name, Find find) {
  for (const fair_engine e : {fair_engine::eevdf, fair_engine::cfs, fair_engine::paper}) {
    if (find(e, name) != nullptr) return e;
  }
  return std::nullopt;
}

std::string range_of(const constant_info& c) {
  return c.is_time ? fmt::format("{}..{}", format_duration(c.minimum), format_duration(c.maximum))
                   : fmt::format("{}..{}", c.minimum, c.maximum);
}

std::string_view owner_name(std::string_view key) {
  std::optional<fair_engine> owner = owner_of(constant_name(key), find_constant);
  if (!owner) owner = owner_of(key, find_feature);
  if (!owner) owner = owner_of(key.substr(std::string_view("NO_").size()), find_feature);
  return owner ? engine_name(*owner) : std::string_view("other");
}

// Value and range are right for the constant; the caller knows which engine it belongs to.
std::uint64_t parse_constant(const setting& s, const constant_info& c) {
  if (!s.value) s.refuse(fmt::format("'{}' is a constant; expected {}=VALUE", s.key, c.name));
  std::optional<std::uint64_t> value;
  if (c.is_time) {
    value = parse_duration(*s.value);
    if (!value) {
      s.refuse(fmt::format("'{}' is not a duration; expected one like 0.1ms, 700us or 3000000",
                           *s.value));
    }
  } else {
    const auto number = parse_integer(*s.value);
    if (!number)
      s.refuse(fmt::format("'{}' is not a whole number; expected {}", *s.value, range_of(c)));
    if (*number >= 0) value = static_cast<std::uint64_t>(*number);
  }
  if (!value || *value < c.minimum || *value > c.maximum) {
    s.refuse(fmt::format("{} is out of range for {}; expected {}", *s.value, c.name, range_of(c)));
  }
  return *value;
}

[[noreturn]] void refuse_unknown(const setting& s, fair_engine engine) {
  std::vector<std::string_view> candidates{"HRTICK"};
  for (const feature_info& f : all_features()) {
    if (f.engine == engine) candidates.push_back(f.name);
  }
  for (const constant_info& c : all_constants()) {
    if (c.engine == engine) candidates.push_back(c.name);
  }
  std::string near = suggestion(s.key, candidates);
  if (near.empty()) {
    const std::string as_feature = upper(s.key);
    const bool negated = as_feature.starts_with("NO_");
    const auto name =
        nearest_name(std::string_view(as_feature).substr(negated ? 3 : 0), candidates);
    if (name) near = fmt::format("; did you mean '{}{}'?", negated ? "NO_" : "", *name);
  }
  s.refuse(
      fmt::format("unknown feature or constant '{}'{} (vlag features lists them)", s.key, near));
}

enum class outcome { applied, of_other_engine, unknown };

outcome apply_feature(policy_variant& variant, std::string_view name, bool on) {
  if (name == "HRTICK") {
    variant.hrtick = on;
    return outcome::applied;
  }
  if (set_feature(variant.config, name, on) == set_result::ok) return outcome::applied;
  return owner_of(name, find_feature) ? outcome::of_other_engine : outcome::unknown;
}

bool is_feature(std::string_view name) { return name == "HRTICK" || owner_of(name, find_feature); }

outcome apply_constant(policy_variant& variant, const setting& s) {
  const fair_engine engine = variant.config.engine;
  for (const std::string_view name : {s.key, constant_name(s.key)}) {
    if (const constant_info* c = find_constant(engine, name)) {
      if (set_constant(variant.config, c->name, parse_constant(s, *c)) != set_result::ok) {
        s.refuse(fmt::format("{} cannot be {} here; expected {}", c->name, *s.value, range_of(*c)));
      }
      return outcome::applied;
    }
    if (const auto owner = owner_of(name, find_constant)) {
      // A wrong value is wrong under any policy.
      static_cast<void>(parse_constant(s, *find_constant(*owner, name)));
      return outcome::of_other_engine;
    }
  }
  return outcome::unknown;
}

outcome apply(policy_variant& variant, const setting& s, unsigned cpus) {
  if (s.key.front() == '/') {
    variant.group_files.push_back(parse_group_file(s));
    return outcome::applied;
  }
  if (is_feature(s.key)) return apply_feature(variant, s.key, switch_value(s));
  if (s.key.starts_with("NO_") && is_feature(s.key.substr(3))) {
    if (s.value) s.refuse(fmt::format("'{}' takes no value", s.key));
    return apply_feature(variant, s.key.substr(3), false);
  }
  if (const auto dot = s.key.rfind('.'); dot != s.key.npos) {
    variant.overrides.push_back(parse_override(s, dot, cpus));
    return outcome::applied;
  }
  return apply_constant(variant, s);
}

const profile& profile_named(std::string_view spec, std::string_view name) {
  if (const profile* p = find_profile(name)) return *p;
  std::vector<std::string_view> candidates;
  std::string known;
  for (const profile& p : all_profiles()) {
    candidates.push_back(p.name);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", p.name);
  }
  throw input_error(fmt::format("--policy {}: unknown profile '{}'{} (known: {})", spec, name,
                                suggestion(name, candidates), known));
}

}  // namespace

std::string_view to_string(task_attribute attribute) noexcept {
  for (const attribute_name& a : attribute_names) {
    if (a.attribute == attribute) return a.name;
  }
  return {};
}

void apply_settings(policy_variant& variant, const std::vector<std::string>& settings,
                    unsigned cpus) {
  for (const std::string& text : settings) {
    const setting s = split_setting(fmt::format("--set {}", text), text);
    const outcome result = apply(variant, s, cpus);
    if (result == outcome::unknown) refuse_unknown(s, variant.config.engine);
    if (result == outcome::of_other_engine) {
      variant.ignored_settings.push_back(text);
    } else {
      variant.label += fmt::format(",{}", text);
    }
  }
}

policy_variant parse_variant(std::string_view spec, const std::vector<std::string>& settings,
                             unsigned cpus, std::uint64_t tick_ns) {
  const auto comma = spec.find(',');
  const profile& base = profile_named(spec, spec.substr(0, comma));
  policy_variant variant;
  variant.config = configure(base, cpus, tick_ns);
  variant.label = base.name;

  apply_settings(variant, settings, cpus);
  for (std::size_t at = comma; at != spec.npos;) {
    const std::size_t next = spec.find(',', at + 1);
    const std::string_view text = spec.substr(at + 1, next == spec.npos ? next : next - at - 1);
    const setting s = split_setting(fmt::format("--policy {}", spec), text);
    const outcome result = apply(variant, s, cpus);
    if (result == outcome::unknown) refuse_unknown(s, base.engine);
    if (result == outcome::of_other_engine) {
      s.refuse(fmt::format("'{}' belongs to {} profiles, and {} is {}", s.key, owner_name(s.key),
                           base.name, engine_name(base.engine)));
    }
    variant.label += fmt::format(",{}", text);
    at = next;
  }
  return variant;
}

std::vector<std::string> settings_without_effect(const policy_variant& variant) {
  std::vector<std::string> result;
  const policy_config& config = variant.config;
  const bool has_slices =
      config.engine == fair_engine::paper ||
      (config.engine == fair_engine::eevdf && config.eevdf.features.has(feature::own_slice));
  const bool has_latency_nice =
      config.engine == fair_engine::eevdf && config.eevdf.features.has(feature::latency_slice);
  const bool has_groups = config.engine != fair_engine::paper;
  for (const task_override& o : variant.overrides) {
    if ((o.attribute == task_attribute::slice && !has_slices) ||
        (o.attribute == task_attribute::latency_nice && !has_latency_nice) ||
        (o.attribute == task_attribute::group && !has_groups)) {
      result.push_back(fmt::format("{}.{}", o.pattern, to_string(o.attribute)));
    }
  }
  for (const group_override& o : variant.group_files) {
    if (!has_groups) result.push_back(fmt::format("{}.{}", o.path, o.file.name));
  }
  return result;
}

bool matches_task(std::string_view pattern, std::string_view name, std::int32_t pid) noexcept {
  if (const auto number = parse_integer(pattern)) return *number == pid || pattern == name;
  return glob_matches(pattern, name);
}

}  // namespace vlag

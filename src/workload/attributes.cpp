// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <sstream>

#include "input/byte_source.hpp"
#include "input/input_error.hpp"
#include "input/line_reader.hpp"
#include "input/text.hpp"
#include "workload/replay.hpp"

namespace vlag {
namespace {

using nlohmann::json;

// Bytes; an attributes file of every task of a large machine stays far below.
constexpr std::size_t max_file_bytes = std::size_t{64} << 20;
constexpr std::size_t max_tasks = 1'000'000;
// Each is tried on every task of the recording.
constexpr std::size_t max_glob_entries = 10'000;
// Values of a file, which bounds the memory that it takes; and levels of lists and objects.
constexpr std::size_t max_values = 8'000'000;
constexpr int max_depth = 32;
// Of a value that a message shows, bytes.
constexpr std::size_t max_shown = 60;

constexpr std::array<std::string_view, 13> known_keys = {"hz",
                                                         "kernel",
                                                         "policy",
                                                         "features",
                                                         "base_slice_ns",
                                                         "latency_ns",
                                                         "min_granularity_ns",
                                                         "wakeup_granularity_ns",
                                                         "idle_min_granularity_ns",
                                                         "clock_poll_us",
                                                         "tasks",
                                                         "groups",
                                                         "version"};

constexpr std::array<std::string_view, 8> known_task_keys = {
    "group", "pid", "name", "nice", "slice_us", "latency_nice", "clock_poll_us", "policy"};

// What descriptions of recordings also hold and a replay has no use for.
constexpr std::array<std::string_view, 11> other_keys = {"name",       "cpus",
                                                         "variant",    "preempt",
                                                         "autogroup",  "migration_cost_ns",
                                                         "nr_migrate", "tunable_scaling",
                                                         "workload",   "window_ns",
                                                         "events"};

constexpr std::array<std::string_view, 19> other_task_keys = {"blocked",
                                                              "cpu_ns",
                                                              "kernel_cpu_ns",
                                                              "migrations",
                                                              "preempt_wait_ns",
                                                              "preempted",
                                                              "prio",
                                                              "run_ns",
                                                              "share",
                                                              "switches_in",
                                                              "wake_latency_ns",
                                                              "wakeups",
                                                              "workload_task",
                                                              "comm",
                                                              "tid",
                                                              "tgid",
                                                              "ppid",
                                                              "cpu",
                                                              "cpus"};

// Features of the recorded kernels' schedulers that are not about what is replayed: load balancing,
// real time, checks.
constexpr std::array<std::string_view, 18> other_features = {
    "ATTACH_AGE_LOAD", "DOUBLE_TICK",      "HRTICK_DL",   "LATENCY_WARN",     "LB_MIN",
    "NI_RANDOM",       "NONTASK_CAPACITY", "RT_PUSH_IPI", "RT_RUNTIME_SHARE", "SIS_PROP",
    "SIS_UTIL",        "TTWU_QUEUE",       "UTIL_EST",    "UTIL_EST_FASTUP",  "WARN_DOUBLE_CLOCK",
    "WA_BIAS",         "WA_IDLE",          "WA_WEIGHT"};

// Of a list or object only what it is: it may be as deep and large as the file.
std::string shown(const json& value) {
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  const std::string text = value.dump(-1, ' ', true);
  return text.size() <= max_shown ? text : text.substr(0, max_shown) + "...";
}

// In single quotes, on one line.
std::string shown_name(const std::string& name) {
  const std::string quoted = json(name).dump(-1, ' ', true, json::error_handler_t::replace);
  const std::string_view text = std::string_view(quoted).substr(1, quoted.size() - 2);
  return text.size() <= max_shown ? fmt::format("'{}'", text)
                                  : fmt::format("'{}...'", text.substr(0, max_shown));
}

// Looks through a file before values are made of it: those of a small file can take much memory.
struct first_look : json::json_sax_t {
  std::string refused;
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  std::size_t values = 0;
  int depth = 0;

  bool count() {
    if (++values > max_values) {
      refused = fmt::format("more than {} values; expected an attributes file", max_values);
    }
    return refused.empty();
  }
  bool open() {
    if (++depth > max_depth) refused = fmt::format("nested deeper than {} levels", max_depth);
    return count();
  }
  bool close() {
    --depth;
    return true;
  }
  bool null() override { return count(); }
  bool boolean(bool) override { return count(); }
  bool number_integer(number_integer_t) override { return count(); }
  bool number_unsigned(number_unsigned_t) override { return count(); }
  bool number_float(number_float_t, const string_t&) override { return count(); }
  bool string(string_t&) override { return count(); }
  bool binary(binary_t&) override { return count(); }
  bool start_object(std::size_t) override {
    keys.emplace_back();
    return open();
  }
  bool key(string_t& name) override {
    if (!keys.back().insert(name).second) {
      refused = fmt::format("the key {} is there twice in one object", shown_name(name));
    }
    return refused.empty();
  }
  bool end_object() override {
    keys.pop_back();
    return close();
  }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  // Told by the reading that follows.
  bool parse_error(std::size_t, const std::string&, const json::exception&) override {
    return false;
  }
};

// "6.12.95+deb12" to {6, 12}.
std::optional<std::pair<std::int64_t, std::int64_t>> kernel_version(std::string_view kernel) {
  const std::size_t dot = kernel.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::size_t end = kernel.find_first_not_of("0123456789", dot + 1);
  if (kernel.front() < '0' || kernel.front() > '9') return std::nullopt;
  const auto major = parse_integer(kernel.substr(0, dot));
  const auto minor = parse_integer(kernel.substr(dot + 1, end - dot - 1));
  if (!major || !minor) return std::nullopt;
  return std::pair{*major, *minor};
}

const profile* profile_of(const recorded_attributes& attributes) {
  if (!attributes.profile.empty()) return find_profile(attributes.profile);
  const auto version = kernel_version(attributes.kernel);
  if (!version) return nullptr;
  if (*version < std::pair<std::int64_t, std::int64_t>{6, 6}) return find_profile("linux-6.1");
  if (*version < std::pair<std::int64_t, std::int64_t>{6, 12}) return find_profile("linux-6.6");
  return find_profile("linux-6.12");
}

class attributes_reader {
 public:
  explicit attributes_reader(const std::string& path) : path_(path), shown_(shown_path(path)) {}

  recorded_attributes read() {
    const json root = parse();
    if (!root.is_object()) fail("expected an object { … } with hz, kernel, features, tasks…");
    check_keys(root, known_keys, other_keys, {});
    recorded_attributes result;
    if (const auto hz = integer(root, "hz", 10, 100'000)) result.hz = *hz;
    result.kernel = text(root, "kernel");
    result.profile = profile_name(root);
    read_features(root, result);
    check_features(result);
    constexpr std::uint64_t second = 1'000'000'000;
    result.base_slice_ns = integer(root, "base_slice_ns", 1, second);
    result.latency_ns = integer(root, "latency_ns", 1, second);
    result.min_granularity_ns = integer(root, "min_granularity_ns", 1, second);
    result.wakeup_granularity_ns = integer(root, "wakeup_granularity_ns", 0, second);
    result.idle_min_granularity_ns = integer(root, "idle_min_granularity_ns", 1, second);
    if (const auto poll = integer(root, "clock_poll_us", 0, 1'000'000)) {
      result.clock_poll_ns = *poll * 1000;
    }
    read_workload_script(root, result);
    read_groups(root, result);
    read_tasks(root, result);
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw input_error(fmt::format("{}: {}", shown_, what));
  }

  json parse() const {
    line_reader lines(path_);
    std::string content;
    std::string_view line;
    while (lines.next(line)) {
      content.append(line).push_back('\n');
      if (content.size() > max_file_bytes) fail("larger than 64 MiB; expected an attributes file");
    }
    first_look look;
    json::sax_parse(content, &look, json::input_format_t::json, false);
    if (!look.refused.empty()) fail(look.refused);
    try {
      return json::parse(content);
    } catch (const json::exception& e) {
      const std::string_view message = e.what();
      const std::size_t at = message.find("at line ");
      fail(fmt::format("not valid JSON: {}",
                       at == std::string_view::npos ? message : message.substr(at)));
    }
  }

  // One that the key begins goes before one that is only similar: "slice" is slice_us, not nice.
  static std::optional<std::string_view> meant_key(std::string_view key,
                                                   std::span<const std::string_view> known) {
    constexpr std::size_t telling = 4;
    if (key.size() >= telling) {
      for (const std::string_view name : known) {
        if (name.starts_with(key)) return name;
      }
    }
    return nearest_name(key, known);
  }

  // A key that nobody knows is passed over, unless it looks like a misspelt one.
  void check_keys(const json& object, std::span<const std::string_view> known,
                  std::span<const std::string_view> others, const std::string& where) const {
    for (const auto& [key, value] : object.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end() ||
          std::find(others.begin(), others.end(), key) != others.end()) {
        continue;
      }
      if (const auto meant = meant_key(key, known)) {
        fail(fmt::format("{}unknown key {}; did you mean '{}'?", where, shown_name(key), *meant));
      }
    }
  }

  // Integers may be written as text, as the kernel's files give them.
  std::optional<std::uint64_t> integer(const json& object, const char* key, std::uint64_t low,
                                       std::uint64_t high, const std::string& where = {}) const {
    const auto value = signed_integer(object, key, static_cast<std::int64_t>(low),
                                      static_cast<std::int64_t>(high), where);
    if (!value) return std::nullopt;
    return static_cast<std::uint64_t>(*value);
  }

  std::optional<std::int64_t> signed_integer(const json& object, const char* key, std::int64_t low,
                                             std::int64_t high, const std::string& where) const {
    const auto found = object.find(key);
    if (found == object.end()) return std::nullopt;
    std::optional<std::int64_t> value;
    if (found->is_string()) {
      value = parse_integer(found->get_ref<const std::string&>());
    } else if (found->is_number_unsigned()) {
      const auto number = found->get<std::uint64_t>();
      if (number <= static_cast<std::uint64_t>(INT64_MAX))
        value = static_cast<std::int64_t>(number);
    } else if (found->is_number_integer()) {
      value = found->get<std::int64_t>();
    }
    if (!value || *value < low || *value > high) {
      fail(fmt::format("{}{}: {} is not an integer from {} to {}", where, key, shown(*found), low,
                       high));
    }
    return value;
  }

  std::string text(const json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end()) return {};
    if (!found->is_string()) fail(fmt::format("{}: {} is not a text", key, shown(*found)));
    return found->get<std::string>();
  }

  std::string profile_name(const json& root) const {
    const std::string name = text(root, "policy");
    if (name.empty() || find_profile(name) != nullptr) return name;
    std::vector<std::string_view> names;
    for (const profile& p : all_profiles()) names.push_back(p.name);
    const auto near = nearest_name(name, names);
    fail(fmt::format("policy: unknown profile {}{} (known: {})", shown(name),
                     near ? fmt::format("; did you mean '{}'?", *near) : "",
                     fmt::join(names, ", ")));
  }

  void read_features(const json& root, recorded_attributes& result) const {
    const auto found = root.find("features");
    if (found == root.end()) return;
    if (found->is_string()) {
      std::istringstream words(found->get<std::string>());
      for (std::string word; words >> word;) result.features.push_back(word);
      return;
    }
    if (!found->is_array()) fail("features: expected a text or a list of names");
    for (const json& name : *found) {
      if (!name.is_string()) fail(fmt::format("features: {} is not a name", shown(name)));
      result.features.push_back(name.get<std::string>());
    }
  }

  // A feature of some other kernel is passed over, unless it looks like a misspelt one of this.
  void check_features(const recorded_attributes& attributes) const {
    const profile* source = profile_of(attributes);
    std::vector<std::string_view> known{"HRTICK"};
    std::vector<std::string_view> candidates{"HRTICK"};
    known.insert(known.end(), other_features.begin(), other_features.end());
    for (const feature_info& info : all_features()) {
      known.push_back(info.name);
      if (source == nullptr || source->engine == info.engine) candidates.push_back(info.name);
    }
    for (const std::string& word : attributes.features) {
      const std::string name = word.starts_with("NO_") ? word.substr(3) : word;
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      if (const auto near = nearest_name(name, candidates)) {
        fail(fmt::format("features: unknown feature {}; did you mean '{}'?", shown_name(name),
                         *near));
      }
    }
  }

  void read_tasks(const json& root, recorded_attributes& result) const {
    const auto found = root.find("tasks");
    if (found == root.end()) return;
    if (!found->is_array()) fail("tasks: expected a list");
    if (found->size() > max_tasks) fail("tasks: more than 1000000");
    std::size_t globs = 0;
    for (std::size_t i = 0; i < found->size(); ++i) {
      const json& entry = (*found)[i];
      const std::string where = fmt::format("tasks[{}].", i);
      if (!entry.is_object()) fail(fmt::format("tasks[{}]: expected an object", i));
      check_keys(entry, known_task_keys, other_task_keys, fmt::format("tasks[{}]: ", i));
      recorded_attributes::task t;
      t.nice = signed_integer(entry, "nice", -20, 19, where);
      if (const auto slice = integer(entry, "slice_us", 0, 1'000'000, where)) {
        t.slice_ns = *slice * 1000;
      }
      t.latency_nice = signed_integer(entry, "latency_nice", -20, 19, where);
      if (const auto poll = integer(entry, "clock_poll_us", 0, 1'000'000, where)) {
        t.clock_poll_ns = *poll * 1000;
      }
      t.policy = policy_of(entry, where);
      t.group = group_path(entry, "group", where);
      if (t.group) result.groups.number_of(*t.group);
      if (!t.nice && !t.slice_ns && !t.latency_nice && !t.clock_poll_ns && !t.policy && !t.group)
        continue;
      if (const auto pid = integer(entry, "pid", 0, INT32_MAX, where)) {
        t.pattern = std::to_string(*pid);
      } else {
        t.pattern = text(entry, "name");
      }
      if (t.pattern.empty()) fail(fmt::format("tasks[{}]: expected a name or a pid", i));
      if (is_glob(t.pattern) && ++globs > max_glob_entries) {
        fail(fmt::format("tasks[{}]: more than {} names are patterns; expected pids or full names",
                         i, max_glob_entries));
      }
      result.tasks.push_back(std::move(t));
    }
  }

  std::optional<std::string> group_path(const json& entry, const char* key,
                                        const std::string& where) const {
    if (!entry.contains(key)) return std::nullopt;
    const std::string path = text(entry, key);
    if (!is_group_path(path)) {
      fail(fmt::format("{}{}: {} is not a group; expected a path like /a or /a/b", where, key,
                       shown(entry[key])));
    }
    return path;
  }

  void write_files(recorded_attributes& result, const std::string& path,
                   std::vector<group_file> files, const std::string& where) const {
    if (const auto problem = group_files_problem(files)) fail(fmt::format("{}{}", where, *problem));
    result.groups.number_of(path);
    for (group_file& file : files) result.groups.write(path, std::move(file));
  }

  void read_groups(const json& root, recorded_attributes& result) const {
    const auto found = root.find("groups");
    if (found == root.end()) return;
    if (!found->is_array()) fail("groups: expected a list");
    if (found->size() > max_workload_groups) {
      fail(fmt::format("groups: more than {}", max_workload_groups));
    }
    for (std::size_t i = 0; i < found->size(); ++i) {
      const json& entry = (*found)[i];
      const std::string where = fmt::format("groups[{}]: ", i);
      if (!entry.is_object()) fail(fmt::format("{}expected an object", where));
      const auto path = group_path(entry, "path", where);
      if (!path || *path == "/") fail(fmt::format("{}expected a path like /a or /a/b", where));
      std::vector<group_file> files;
      for (const auto& [key, value] : entry.items()) {
        if (key == "path") continue;
        if (!value.is_string() && !value.is_number_integer()) {
          fail(fmt::format("{}{}: {} is neither a text nor a whole number", where, shown_name(key),
                           shown(value)));
        }
        files.push_back({key, value.is_string() ? value.get<std::string>() : value.dump()});
      }
      write_files(result, *path, std::move(files), where);
    }
  }

  // Descriptions of test recordings hold the script of their workload, with "cgroup NAME WEIGHT"
  // for each group, and what each task told of itself, with its group's name.
  void read_workload_script(const json& root, recorded_attributes& result) const {
    const auto own = root.find("tasks_own_figures");
    if (own == root.end() || !own->is_array()) return;
    if (own->size() > max_tasks) fail("tasks_own_figures: more than 1000000");
    const auto script = root.find("workload");
    if (script != root.end() && script->is_string()) {
      std::istringstream lines(script->get<std::string>());
      for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string command, name, weight;
        if (!(words >> command >> name >> weight) || command != "cgroup") continue;
        const std::string path = "/" + name;
        if (!is_group_path(path)) fail(fmt::format("workload: {} is not a name", shown_name(name)));
        write_files(result, path, {{"cpu.weight", weight}}, "workload: ");
      }
    }
    for (const json& entry : *own) {
      if (!entry.is_object() || !entry.contains("cgroup") || !entry.contains("pid")) continue;
      const std::string name = text(entry, "cgroup");
      if (name.empty()) continue;
      recorded_attributes::task t;
      t.group = "/" + name;
      if (!result.groups.has(*t.group)) {
        fail(fmt::format("tasks_own_figures: cgroup {} is not in the workload", shown_name(name)));
      }
      t.pattern = std::to_string(*integer(entry, "pid", 0, INT32_MAX, "tasks_own_figures: "));
      result.tasks.push_back(std::move(t));
    }
  }

  std::optional<sched_policy> policy_of(const json& entry, const std::string& where) const {
    const std::string name = text(entry, "policy");
    if (name.empty()) return std::nullopt;
    constexpr std::array<std::pair<std::string_view, sched_policy>, 6> names = {
        {{"normal", sched_policy::normal},
         {"other", sched_policy::normal},
         {"batch", sched_policy::batch},
         {"idle", sched_policy::idle},
         {"fifo", sched_policy::fifo},
         {"rr", sched_policy::round_robin}}};
    for (const auto& [known, policy] : names) {
      if (known == name) return policy;
    }
    fail(fmt::format("{}policy: {} is none of normal, batch, idle, fifo, rr", where, shown(name)));
  }

  const std::string& path_;
  const std::string shown_;
};

}  // namespace

recorded_attributes read_attributes(const std::string& path) {
  return attributes_reader(path).read();
}

std::vector<std::string> unused_attributes(const recorded_attributes& attributes) {
  if (profile_of(attributes) != nullptr) return {};
  std::vector<std::string> result;
  if (!attributes.kernel.empty()) {
    result.push_back(fmt::format(
        "the policy of the recording is not known: kernel {} is not a version like 6.12",
        shown_name(attributes.kernel)));
  }
  std::vector<std::string_view> names;
  if (!attributes.features.empty()) names.emplace_back("features");
  if (attributes.base_slice_ns) names.emplace_back("base_slice_ns");
  if (attributes.latency_ns) names.emplace_back("latency_ns");
  if (attributes.min_granularity_ns) names.emplace_back("min_granularity_ns");
  if (attributes.wakeup_granularity_ns) names.emplace_back("wakeup_granularity_ns");
  if (attributes.idle_min_granularity_ns) names.emplace_back("idle_min_granularity_ns");
  if (!names.empty()) {
    result.push_back(
        fmt::format("attributes not used, for want of a kernel that has a profile, or a policy: {}",
                    fmt::join(names, ", ")));
  }
  return result;
}

std::optional<policy_variant> recorded_variant(const recorded_attributes& attributes,
                                               unsigned cpus) {
  const profile* source = profile_of(attributes);
  if (source == nullptr) return std::nullopt;
  const std::uint64_t tick_ns = (1'000'000'000 + attributes.hz / 2) / attributes.hz;
  const policy_config defaults = configure(*source, cpus, tick_ns);
  std::string spec(source->name);
  for (const std::string& word : attributes.features) {
    const bool on = word.rfind("NO_", 0) != 0;
    const std::string name = on ? word : word.substr(3);
    if (name == "HRTICK") {
      if (on) spec += ",HRTICK";
      continue;
    }
    const feature_info* known = find_feature(source->engine, name);
    if (known == nullptr) continue;
    if (defaults.features().has(known->id) != on) spec += "," + word;
  }
  const auto constant = [&](const char* name, const std::optional<std::uint64_t>& value) {
    const constant_info* known = find_constant(source->engine, name);
    if (!value || known == nullptr || constant_value(defaults, *known) == *value) return;
    spec += fmt::format(",{}={}ns", name, *value);
  };
  constant("base_slice", attributes.base_slice_ns);
  constant("latency", attributes.latency_ns);
  constant("min_granularity", attributes.min_granularity_ns);
  constant("wakeup_granularity", attributes.wakeup_granularity_ns);
  constant("idle_min_granularity", attributes.idle_min_granularity_ns);
  return parse_variant(spec, {}, cpus, tick_ns);
}

}  // namespace vlag

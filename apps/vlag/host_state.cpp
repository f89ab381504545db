// SPDX-License-Identifier: Apache-2.0
#include "host_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "input/byte_source.hpp"
#include "input/input_error.hpp"
#include "input/text.hpp"

namespace vlag {
namespace {

namespace fs = std::filesystem;

// A file of the kernel's is small; its configuration is the largest.
constexpr std::size_t most_bytes = 4 << 20;

constexpr int policy_normal = 0;
constexpr int policy_batch = 3;
constexpr int policy_idle = 5;

std::string trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return std::string(text);
}

// Empty when it cannot be read.
std::string content(const fs::path& path) {
  try {
    const auto source = open_bytes(path.string());
    std::string text(most_bytes, '\0');
    std::size_t size = 0;
    while (size < most_bytes) {
      const std::size_t got = source->read(text.data() + size, most_bytes - size);
      if (got == 0) break;
      size += got;
    }
    text.resize(size);
    return text;
  } catch (const input_error&) {
    return {};
  }
}

template <typename Visit>
void visit_lines(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::vector<std::string_view> split(std::string_view text, char between) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = std::min(text.find(between), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

bool holds(std::string_view list, std::string_view word) {
  const auto parts = split(list, ',');
  return std::find(parts.begin(), parts.end(), word) != parts.end();
}

std::optional<std::uint64_t> number_in(const std::string& text) {
  const auto value = parse_integer(trimmed(text));
  if (!value || *value < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

std::string status_field(std::string_view status, std::string_view name) {
  std::string found;
  visit_lines(status, [&](std::string_view line) {
    if (!line.starts_with(name)) return;
    line.remove_prefix(name.size());
    while (!line.empty() && (line.front() == '\t' || line.front() == ' ')) line.remove_prefix(1);
    found = trimmed(line);
  });
  return found;
}

class host_reader {
 public:
  host_reader(std::string root, const get_attr& ask) : root_(std::move(root)), ask_(ask) {}

  host_state read() {
    state_.kernel = trimmed(file("proc/sys/kernel/osrelease"));
    state_.online_cpus = trimmed(file("sys/devices/system/cpu/online"));
    state_.hz = configured_hz(file("proc/config.gz"));
    if (!state_.hz) state_.hz = configured_hz(file("boot/config-" + state_.kernel));
    state_.features = trimmed(first_of("features", "sched_features"));
    state_.base_slice_ns = number_in(first_of("base_slice_ns", "min_granularity_ns"));
    autogroups_ = trimmed(file("proc/sys/kernel/sched_autogroup_enabled")) == "1";
    mount_ = cpu_cgroup_mount(file("proc/self/mountinfo"));
    read_tasks();
    if (!state_.base_slice_ns) guess_base_slice();
    return std::move(state_);
  }

 private:
  std::string file(const std::string& path) const { return content(fs::path(root_ + "/" + path)); }

  // EEVDF called its base slice min_granularity once, and CFS its own constant too: only before the
  // features have RUN_TO_PARITY is it CFS's.
  std::string first_of(const std::string& name, const std::string& older) const {
    std::string text = file("sys/kernel/debug/sched/" + name);
    if (!text.empty()) return text;
    if (older == "sched_features") return file("sys/kernel/debug/" + older);
    const bool eevdf = state_.features.find("RUN_TO_PARITY") != std::string::npos;
    return eevdf ? file("sys/kernel/debug/sched/" + older) : std::string();
  }

  static std::vector<int> numbers_in(const fs::path& folder) {
    std::vector<int> numbers;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      const auto number = parse_integer(at->path().filename().string());
      if (number && *number > 0 && *number <= INT32_MAX) {
        numbers.push_back(static_cast<int>(*number));
      }
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }

  void read_tasks() {
    for (const int pid : numbers_in(root_ + "/proc")) {
      const std::string process = fmt::format("proc/{}", pid);
      const std::string session = autogroups_ ? file(process + "/autogroup") : std::string();
      for (const int tid : numbers_in(root_ + "/" + process + "/task")) {
        read_task(tid, fmt::format("{}/task/{}", process, tid), session);
      }
    }
  }

  void read_task(int tid, const std::string& folder, const std::string& session) {
    sched_attr attr;
    const std::string status = file(folder + "/status");
    if (status.empty() || ask_(tid, attr) != 0) return;
    host_task& task = state_.tasks[tid];
    task.comm = trimmed(file(folder + "/comm"));
    task.policy = static_cast<int>(attr.policy);
    task.nice = attr.nice;
    const bool fair =
        task.policy == policy_normal || task.policy == policy_batch || task.policy == policy_idle;
    if (fair) task.slice_ns = attr.runtime_ns;
    task.cpus = status_field(status, "Cpus_allowed_list:");
    task.group = group_of(cpu_cgroup(file(folder + "/cgroup")), session);
  }

  // The nearest group with the cpu controller, noted with those above it.
  std::string group_of(std::string path, const std::string& session) {
    while (path != "/" && !has_controller(path)) path = parent(path);
    if (path == "/") return session_group(session);
    for (std::string at = path; at != "/"; at = parent(at)) {
      if (state_.groups.count(at) != 0) break;
      if (has_controller(at)) state_.groups[at] = read_group(at);
    }
    return path;
  }

  static std::string parent(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
  }

  std::string in_group(const std::string& path, const std::string& name) const {
    return trimmed(file(mount_.folder.substr(std::min<std::size_t>(1, mount_.folder.size())) +
                        path + "/" + name));
  }

  bool has_controller(const std::string& path) {
    if (mount_.folder.empty()) return false;
    const auto [known, is_new] = controlled_.try_emplace(path, false);
    if (is_new) {
      std::error_code error;
      known->second = fs::exists(
          root_ + mount_.folder + path + (mount_.unified ? "/cpu.weight" : "/cpu.shares"), error);
    }
    return known->second;
  }

  host_group read_group(const std::string& path) const {
    host_group group;
    const auto note = [&](const char* name, const std::string& value, std::string_view usual) {
      if (!value.empty() && value != usual) group.files[name] = value;
    };
    note("cpu.idle", in_group(path, "cpu.idle"), "0");
    const bool idle = group.files.count("cpu.idle") != 0;  // its weight cannot be written
    if (mount_.unified) {
      if (!idle) note("cpu.weight", in_group(path, "cpu.weight"), "100");
      const std::string limit = in_group(path, "cpu.max");
      if (!limit.starts_with("max")) note("cpu.max", limit, "");
      note("cpu.max.burst", in_group(path, "cpu.max.burst"), "0");
      return group;
    }
    if (!idle) note("cpu.shares", in_group(path, "cpu.shares"), "1024");
    const auto quota = number_in(in_group(path, "cpu.cfs_quota_us"));
    const auto period = number_in(in_group(path, "cpu.cfs_period_us"));
    if (quota && period) note("cpu.max", fmt::format("{} {}", *quota, *period), "");
    note("cpu.max.burst", in_group(path, "cpu.cfs_burst_us"), "0");
    return group;
  }

  // Tasks of the root that belong to a session have a group of their session's.
  std::string session_group(const std::string& session) {
    const auto found = parse_autogroup(session);
    if (!found) return "/";
    std::string path = fmt::format("/autogroup-{}", found->number);
    host_group& group = state_.groups[path];
    if (found->nice != 0) group.files["cpu.weight.nice"] = std::to_string(found->nice);
    return path;
  }

  // What most tasks have is what nobody asked for.
  void guess_base_slice() {
    std::map<std::uint64_t, std::size_t> counts;
    for (const auto& [tid, task] : state_.tasks) {
      if (task.slice_ns != 0) ++counts[task.slice_ns];
    }
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    if (most != counts.end()) state_.base_slice_ns = most->first;
  }

  std::string root_;
  const get_attr& ask_;
  host_state state_;
  cgroup_mount mount_;
  bool autogroups_ = false;
  std::map<std::string, bool> controlled_;
};

std::string policy_name(int policy) {
  switch (policy) {
    case 1:
      return "fifo";
    case 2:
      return "rr";
    case policy_batch:
      return "batch";
    case policy_idle:
      return "idle";
    default:
      return {};  // normal; or one that a replay does not have
  }
}

nlohmann::ordered_json task_entry(const host_state& host, int tid, const host_task& task) {
  nlohmann::ordered_json entry{{"pid", tid}, {"comm", task.comm}};
  const std::size_t bare = entry.size();
  if (task.nice != 0) entry["nice"] = task.nice;
  if (const std::string name = policy_name(task.policy); !name.empty()) entry["policy"] = name;
  if (task.slice_ns != 0 && host.base_slice_ns && task.slice_ns != *host.base_slice_ns) {
    entry["slice_us"] = task.slice_ns / 1000;
  }
  if (task.group != "/") entry["group"] = task.group;
  if (task.cpus != host.online_cpus && !task.cpus.empty()) entry["cpus"] = task.cpus;
  return entry.size() == bare ? nlohmann::ordered_json() : entry;
}

}  // namespace

std::optional<unsigned> configured_hz(std::string_view config) {
  std::optional<unsigned> hz;
  visit_lines(config, [&](std::string_view line) {
    constexpr std::string_view key = "CONFIG_HZ=";
    if (!line.starts_with(key)) return;
    const auto value = parse_integer(trimmed(line.substr(key.size())));
    if (value && *value >= 10 && *value <= 100'000) hz = static_cast<unsigned>(*value);
  });
  return hz;
}

std::string cpu_cgroup(std::string_view text) {
  std::string unified;
  std::string own;
  visit_lines(text, [&](std::string_view line) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) return;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (!path.starts_with('/')) return;
    if (holds(controllers, "cpu")) own = path;
    if (controllers.empty()) unified = path;
  });
  if (!own.empty()) return own;
  return unified.empty() ? "/" : unified;
}

cgroup_mount cpu_cgroup_mount(std::string_view mountinfo) {
  cgroup_mount unified;
  cgroup_mount own;
  visit_lines(mountinfo, [&](std::string_view line) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) return;
    const auto before = split(line.substr(0, dash), ' ');
    const auto after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) return;
    if (after[0] == "cgroup2") unified = {std::string(before[4]), true};
    if (after[0] == "cgroup" && holds(after[2], "cpu")) own = {std::string(before[4]), false};
  });
  return own.folder.empty() ? unified : own;
}

std::optional<autogroup> parse_autogroup(std::string_view text) {
  constexpr std::string_view begin = "/autogroup-";
  constexpr std::string_view middle = " nice ";
  const std::size_t at = text.find(middle);
  if (!text.starts_with(begin) || at == std::string_view::npos) return std::nullopt;
  const auto number = parse_integer(text.substr(begin.size(), at - begin.size()));
  const auto nice = parse_integer(trimmed(text.substr(at + middle.size())));
  if (!number || !nice || *number <= 0 || *nice < -20 || *nice > 19) return std::nullopt;
  return autogroup{static_cast<std::uint64_t>(*number), static_cast<int>(*nice)};
}

host_state read_host(const std::string& root, const get_attr& ask) {
  return host_reader(root, ask).read();
}

void add_later(host_state& first, const host_state& later) {
  for (const auto& [tid, task] : later.tasks) first.tasks[tid] = task;
  for (const auto& [path, group] : later.groups) first.groups[path] = group;
}

std::string attributes_text(const host_state& host, const std::set<int>& recorded) {
  nlohmann::ordered_json root;
  if (host.hz) root["hz"] = *host.hz;
  if (!host.kernel.empty()) root["kernel"] = host.kernel;
  if (!host.features.empty()) root["features"] = host.features;
  if (host.base_slice_ns) root["base_slice_ns"] = *host.base_slice_ns;
  std::set<std::string> used;
  nlohmann::ordered_json tasks = nlohmann::ordered_json::array();
  for (const int tid : recorded) {
    const auto found = host.tasks.find(tid);
    if (found == host.tasks.end()) continue;
    nlohmann::ordered_json entry = task_entry(host, tid, found->second);
    if (!entry.is_null()) tasks.push_back(std::move(entry));
    for (std::string at = found->second.group; at.size() > 1; at.resize(at.rfind('/'))) {
      used.insert(at);
    }
  }
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  for (const std::string& path : used) {
    const auto found = host.groups.find(path);
    nlohmann::ordered_json entry{{"path", path}};
    if (found == host.groups.end()) continue;
    for (const auto& [name, value] : found->second.files) entry[name] = value;
    groups.push_back(std::move(entry));
  }
  if (!groups.empty()) root["groups"] = std::move(groups);
  if (!tasks.empty()) root["tasks"] = std::move(tasks);
  return root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace vlag

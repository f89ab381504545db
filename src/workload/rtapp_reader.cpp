// SPDX-License-Identifier: Apache-2.0
#include "workload/rtapp_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "input/byte_source.hpp"
#include "input/printable.hpp"
#include "workload/rtapp_builder.hpp"

namespace vlag {

rtapp_builder::rtapp_builder(const std::string& name, const rtapp_options& options)
    : name_(name), options_(options) {
  result_.name = name;
}

rtapp_workload rtapp_builder::build(std::string_view text) {
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
  warn_of_repeated(root);
  if (const rtapp_value* r = find(root, "resources")) need(*r, type::object, "resources");
  if (const rtapp_value* g = find(root, "global")) read_global(*g);
  result_.block = read_vlag_block(root, name_);
  if (options_.cpus == 0) options_.cpus = result_.block.cpus;
  count_cpus(*tasks);
  number_tasks(*tasks);
  check_forks(*tasks);
  count_barriers(*tasks);
  for (const rtapp_member& m : tasks->members) make_instances(m);
  for (const rtapp_member& m : tasks->members) make_pool(m);
  if (result_.tasks.empty()) {
    fail(tasks->place, "every task has 0 instances; expected one that begins by itself");
  }
  check_names();
  tell_one_way_pipes();
  apply_vlag_block(result_);
  return std::move(result_);
}

void rtapp_builder::count_cpus(const rtapp_value& tasks) {
  unsigned cpus = std::max(options_.cpus, 1U);
  for (const rtapp_member& task : tasks.members) {
    need(task.value, type::object, task.key);
    for (const unsigned c : cpus_in(task.value)) cpus = std::max(cpus, c + 1);
    for (const rtapp_value* phase : phases_of(task.value)) {
      for (const unsigned c : cpus_in(*phase)) cpus = std::max(cpus, c + 1);
    }
  }
  result_.cpus = cpus;
}

std::vector<const rtapp_member*> rtapp_builder::events_of(const rtapp_value& task,
                                                          std::string_view event) const {
  std::vector<const rtapp_member*> result;
  for (const rtapp_value* phase : phases_of(task)) {
    for (const rtapp_member& m : phase->members) {
      if (rtapp_event_of(m.key) == event) result.push_back(&m);
    }
  }
  return result;
}

void rtapp_builder::number_tasks(const rtapp_value& tasks) {
  if (tasks.members.empty()) fail(tasks.place, "no task; expected at least one in \"tasks\"");
  std::set<std::string> forked;
  std::size_t count = 0;
  for (const rtapp_member& task : tasks.members) {
    if (task.key.size() > max_rtapp_name) {
      fail(task.place, fmt::format("a task's name of {} bytes; expected at most {}",
                                   task.key.size(), max_rtapp_name));
    }
    known_tasks_.insert(task.key);
    const std::uint32_t instances = instances_of(task.value);
    instances_.try_emplace(task.key, fork_pool{static_cast<std::uint32_t>(count), instances});
    count += instances;
    for (const rtapp_member* m : events_of(task.value, "fork")) forked.insert(string_of(*m));
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
void rtapp_builder::check_forks(const rtapp_value& tasks) const {
  std::map<std::string, std::map<std::string, text_place>> forks;
  for (const rtapp_member& task : tasks.members) {
    for (const rtapp_member* m : events_of(task.value, "fork")) {
      const std::string& child = m->value.text;
      if (!known_tasks_.contains(child)) {
        fail(m->value.place, fmt::format("fork of \"{}\", which is no task here; expected one of "
                                         "\"tasks\"",
                                         printable(child)));
      }
      forks[task.key].try_emplace(child, m->place);
    }
  }
  for (const auto& [task, children] : forks) {
    if (!pools_.contains(task)) continue;  // nobody forks it
    std::set<std::string> seen;
    std::vector<std::string> open{task};
    while (!open.empty()) {
      const auto next = forks.find(open.back());
      open.pop_back();
      if (next == forks.end()) continue;
      for (const auto& [child, place] : next->second) {
        if (child == task) {
          fail(place, fmt::format("task \"{}\" forks itself again and again; expected forks that "
                                  "end",
                                  printable(task)));
        }
        if (seen.insert(child).second) open.push_back(child);
      }
    }
  }
}

void rtapp_builder::count_barriers(const rtapp_value& tasks) {
  for (const rtapp_member& task : tasks.members) {
    const std::uint32_t users = instances_of(task.value);
    for (const rtapp_member* m : events_of(task.value, "barrier")) {
      const auto next = static_cast<std::uint32_t>(result_.barriers.size());
      const auto [at, is_new] = barriers_.try_emplace(string_of(*m), next);
      if (is_new) {
        result_.barriers.push_back(0);
        result_.barrier_names.push_back(m->value.text);
      }
      result_.barriers[at->second] += users;
    }
  }
}

rtapp_workload parse_rtapp(std::string_view text, const std::string& name,
                           const rtapp_options& options) {
  return rtapp_builder(name, options).build(text);
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

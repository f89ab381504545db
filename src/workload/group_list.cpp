// SPDX-License-Identifier: Apache-2.0
#include "workload/group_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "input/input_error.hpp"
#include "input/printable.hpp"
#include "input/text.hpp"
#include "machine/machine.hpp"

namespace vlag {
namespace {

constexpr std::size_t max_path_bytes = 1024;

struct file_range {
  std::string_view name;
  std::string_view expected;
};

constexpr std::array<file_range, 7> files_known = {{
    {"cpu.weight", "1..10000"},
    {"cpu.weight.nice", "-20..19"},
    {"cpu.shares", "a whole number"},
    {"cpu.idle", "0 or 1"},
    {"cpu.latency.nice", "-20..19"},
    {"cpu.max", "'QUOTA PERIOD' in us: max or at least 1000, and 1000..1000000"},
    {"cpu.max.burst", "us, at most the quota of cpu.max"},
}};

std::string_view parent_path(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

bool is_group_path(std::string_view path) noexcept {
  if (path == "/") return true;
  return path.size() >= 2 && path.size() <= max_path_bytes && path.front() == '/' &&
         path.back() != '/' && path.find("//") == path.npos;
}

const std::vector<std::string_view>& group_file_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const file_range& f : files_known) all.push_back(f.name);
    return all;
  }();
  return names;
}

std::optional<std::string> group_files_problem(const std::vector<group_file>& files) {
  constexpr std::uint64_t tick_ns = 4'000'000;
  machine probe({}, configure(*find_profile("linux-6.12"), 1, tick_ns), 1, 1);
  const machine::group_result made = probe.add_group({"/probe", files});
  if (made.error == group_error::none) return std::nullopt;
  const group_file& refused = files.at(made.refused_file);
  const auto* const known =
      std::find_if(files_known.begin(), files_known.end(),
                   [&](const file_range& f) { return f.name == refused.name; });
  if (known == files_known.end()) {
    const auto near = nearest_name(refused.name, group_file_names());
    return fmt::format("there is no file {}{}; expected one of {}", printable(refused.name),
                       near ? fmt::format("; did you mean '{}'?", *near) : "",
                       fmt::join(group_file_names(), ", "));
  }
  const bool of_idle = made.error == group_error::invalid && known->name != "cpu.idle" &&
                       std::any_of(files.begin(), files.end(),
                                   [](const group_file& f) { return f.name == "cpu.idle"; });
  return fmt::format("{} cannot be '{}'{}; expected {}", known->name, printable(refused.text),
                     of_idle ? " (an idle group has a fixed weight)" : "", known->expected);
}

std::uint32_t group_list::number_of(std::string_view path) {
  if (path == "/") return 0;
  if (const auto found = numbers_.find(path); found != numbers_.end()) return found->second;
  number_of(parent_path(path));
  if (groups_.size() >= max_workload_groups) {
    throw input_error(fmt::format("more than {} task groups", max_workload_groups));
  }
  groups_.push_back({std::string(path), {}});
  const auto number = static_cast<std::uint32_t>(groups_.size());
  numbers_.emplace(path, number);
  return number;
}

bool group_list::has(std::string_view path) const {
  return path == "/" || numbers_.find(path) != numbers_.end();
}

void group_list::write(std::string_view path, group_file file) {
  groups_[numbers_.find(path)->second - 1].files.push_back(std::move(file));
}

std::uint32_t group_list::parent_of(std::uint32_t number) const {
  const std::string_view above = parent_path(groups_[number - 1].path);
  return above == "/" ? 0 : numbers_.find(above)->second;
}

}  // namespace vlag

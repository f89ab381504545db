// SPDX-License-Identifier: Apache-2.0
//
// The task groups of a workload, as attributes files and policy settings name them: by path, as in
// the cgroup file system.
#pragma once

#include "machine/group_setup.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

// Each takes memory on every CPU.
inline constexpr std::size_t max_workload_groups = 10'000;

// "/", or "/a/b": names between single slashes, at most 1024 bytes in all.
[[nodiscard]] bool is_group_path(std::string_view path) noexcept;

// Why writing these files one after the other to a new group fails, in words that end with what is
// expected; nullopt: it does not.
[[nodiscard]] std::optional<std::string> group_files_problem(const std::vector<group_file>& files);

// The files that a group has, for messages.
[[nodiscard]] const std::vector<std::string_view>& group_file_names();

// Parents come before their children; a group's number is 1 + its place, as in the machine.
class group_list {
 public:
  // 0 for "/". Makes the group, and those above it, where they are missing. Throws input_error:
  // more than max_workload_groups. Requires: is_group_path(path).
  std::uint32_t number_of(std::string_view path);
  [[nodiscard]] bool has(std::string_view path) const;
  // Written after what is there. Requires: has(path), not "/".
  void write(std::string_view path, group_file file);

  [[nodiscard]] const std::vector<group_setup>& all() const noexcept { return groups_; }
  [[nodiscard]] bool empty() const noexcept { return groups_.empty(); }
  // Of a group; 0: the root. Requires: 1 <= number <= all().size().
  [[nodiscard]] std::uint32_t parent_of(std::uint32_t number) const;

 private:
  std::vector<group_setup> groups_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
};

}  // namespace vlag

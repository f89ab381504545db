// SPDX-License-Identifier: Apache-2.0
//
// What a machine is told about task groups.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vlag {

// Text for a file of a group: {"cpu.weight", "300"}. Files and formats: task_group::set().
struct group_file {
  std::string name;
  std::string text;
};

struct group_setup {
  std::string path;               // "/a/b"
  std::vector<group_file> files;  // written in this order when the group is made
};

// What the operation write_group does.
struct group_write {
  std::uint32_t group = 0;
  group_file file;
};

}  // namespace vlag

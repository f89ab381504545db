// SPDX-License-Identifier: Apache-2.0
//
// rt-app's workload files made into programs for the machine. docs/workload-files.md has the
// grammar and what each event does here.
#pragma once

#include "machine/machine.hpp"
#include "workload/group_list.hpp"
#include "workload/rtapp_text.hpp"
#include "workload/rtapp_vlag_block.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

// A task that is forked exists this often at most, as in rt-app.
inline constexpr std::uint32_t max_rtapp_forks = 1024;
inline constexpr std::size_t max_rtapp_tasks = 16'384;
inline constexpr std::size_t max_rtapp_steps = std::size_t{1} << 22;  // of all tasks together

struct rtapp_options {
  key_reading keys = key_reading::in_order;
  unsigned cpus = 0;  // 0: as many as the file names, at least one
};

struct rtapp_workload {
  std::string name;               // of the file, for messages
  std::vector<task_setup> tasks;  // in machine order; targets of forks are places here
  std::vector<std::vector<text_place>> places;  // of each task's steps
  group_list groups;
  std::vector<mutex_kind> mutexes;
  std::vector<std::uint32_t> barriers;  // users
  std::uint32_t conditions = 0;
  std::uint32_t semaphores = 0;
  std::uint32_t timers = 0;
  std::vector<std::uint32_t> pipes;          // capacity in bytes
  std::optional<std::uint64_t> duration_ns;  // nullopt: until every task is done
  unsigned cpus = 1;
  vlag_block block;  // as the file has it; what it says of tasks and groups is in these already
  std::vector<std::string> warnings;
};

// Throws input_error: file, line, column, what is wrong, what was expected.
[[nodiscard]] rtapp_workload parse_rtapp(std::string_view text, const std::string& name,
                                         const rtapp_options& options);
// "-": standard input. Compressed files are read too.
[[nodiscard]] rtapp_workload read_rtapp(const std::string& path, const rtapp_options& options);

}  // namespace vlag

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
inline constexpr std::size_t max_rtapp_name = 255;                    // of a task
inline constexpr std::size_t max_rtapp_steps = std::size_t{1} << 22;  // of all tasks together

struct rtapp_options {
  key_reading keys = key_reading::in_order;
  unsigned cpus = 0;   // 0: as many as the file names, at least one
  bool notes = false;  // programs note what rt-app logs, for rtapp_log
};

// What programs note where rtapp_options::notes is set: op_kind::note with one of these.
enum class rtapp_note : std::uint32_t {
  loop_begins,  // an iteration of a phase
  loop_ends,
  run_begins,    // run and runtime; value: us
  run_ends,      // of run; value: us
  runtime_ends,  // value: chunks that it took
  timer_begins,  // value: us
  timer_ends,
};

// What rt-app's own log needs (rtapp_log.hpp).
struct rtapp_log_settings {
  std::string basename = "rt-app";
  std::uint64_t loop_ns = 0;  // the file's calibration; 0: measured there
  bool cumulative_slack = false;
};

struct rtapp_workload {
  std::string name;                // of the file, for messages
  std::vector<task_setup> tasks;   // in machine order; targets of forks are places here
  std::vector<std::string> bases;  // of each, what the file calls the task
  std::vector<std::vector<text_place>> places;  // of each task's steps
  group_list groups;
  std::vector<mutex_kind> mutexes;
  std::vector<std::uint32_t> barriers;  // users
  // For messages, by number.
  std::vector<std::string> mutex_names;
  std::vector<std::string> barrier_names;
  std::vector<std::string> condition_names;
  std::vector<std::string> semaphore_names;
  std::uint32_t conditions = 0;
  std::uint32_t semaphores = 0;
  std::uint32_t timers = 0;
  std::vector<std::uint32_t> pipes;          // capacity in bytes
  std::optional<std::uint64_t> duration_ns;  // nullopt: until every task is done
  unsigned cpus = 1;
  rtapp_log_settings log;
  vlag_block block;  // as the file has it; what it says of tasks and groups is in these already
  std::vector<std::string> warnings;
};

// Throws input_error: file, line, column, what is wrong, what was expected.
[[nodiscard]] rtapp_workload parse_rtapp(std::string_view text, const std::string& name,
                                         const rtapp_options& options);
// "-": standard input. Compressed files are read too.
[[nodiscard]] rtapp_workload read_rtapp(const std::string& path, const rtapp_options& options);

}  // namespace vlag

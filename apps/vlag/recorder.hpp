// SPDX-License-Identifier: Apache-2.0
//
// What records the scheduler's events of this host: perf, or the kernel's tracefs directly. Whole
// system, all CPUs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

// Of the subsystem sched; those that a kernel does not have are left out when this host is
// recorded.
[[nodiscard]] std::span<const std::string_view> recorded_events() noexcept;

// "perf record …", which runs `workload` and writes `file`.
[[nodiscard]] std::vector<std::string> perf_command(std::span<const std::string> events,
                                                    const std::string& file,
                                                    std::span<const std::string> workload);

// A line for a shell.
[[nodiscard]] std::string shell_line(std::span<const std::string> words);

// What to type on another machine: with perf, with trace-cmd, with a shell alone.
[[nodiscard]] std::string other_host_commands(const std::string& file,
                                              std::span<const std::string> workload);

// Where tracefs is mounted, for this user readable; empty: nowhere.
[[nodiscard]] std::string find_tracefs();

// Why this user cannot record with it, in words that end with what to do; empty: it will do.
[[nodiscard]] std::string perf_problem(const std::string& tracefs);
[[nodiscard]] std::string tracefs_problem(const std::string& tracefs);

// Run `workload` and leave a recording in `file`. SIGINT, SIGTERM and SIGHUP end the workload and
// with it the recording, which is then written all the same. Nothing of the kernel's tracing stays
// on, whatever happens short of SIGKILL (perf ends then too). Throw input_error.
void record_with_perf(const std::string& tracefs, const std::string& file,
                      std::span<const std::string> workload);
void record_with_tracefs(const std::string& tracefs, const std::string& file,
                         std::span<const std::string> workload);

}  // namespace vlag

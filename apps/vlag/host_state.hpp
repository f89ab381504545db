// SPDX-License-Identifier: Apache-2.0
//
// How the scheduler of this host is set up, for the attributes file of a recording: what the kernel
// says of itself, of its tasks and of their groups in /proc, /sys and by sched_getattr().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "vlag/sched_attr.hpp"

namespace vlag {

struct host_task {
  std::string comm;
  int policy = 0;  // the kernel's number; 0 normal
  int nice = 0;
  std::uint64_t slice_ns = 0;  // in force; 0: the kernel does not tell
  std::string group;           // "/a/b"; "/": the root
  std::string cpus;            // "0-3"
};

struct host_group {
  std::map<std::string, std::string> files;  // "cpu.weight": "300"; only what is not the default
};

struct host_state {
  std::optional<unsigned> hz;
  std::string kernel;
  std::string features;  // empty: not readable
  std::optional<std::uint64_t> base_slice_ns;
  std::string online_cpus;
  std::map<int, host_task> tasks;            // by thread id
  std::map<std::string, host_group> groups;  // by path; none for the root
};

// Like sched_getattr(): 0, or an errno.
using get_attr = std::function<int(int tid, sched_attr&)>;

// `root` is put before /proc and /sys ("" on the host itself). What cannot be read is left out: a
// task may end at any time, and a part may be for the administrator only.
[[nodiscard]] host_state read_host(const std::string& root, const get_attr& ask);

// What `later` knows on top of `first`: tasks that came in between, groups; of a task that both
// know, what `later` says.
void add_later(host_state& first, const host_state& later);

// The attributes file, of the tasks with these ids that have something to say.
[[nodiscard]] std::string attributes_text(const host_state& host, const std::set<int>& recorded);

// The pieces of read_host().

// Ticks a second, from the text of a kernel configuration.
[[nodiscard]] std::optional<unsigned> configured_hz(std::string_view config);
// The path of a task in the hierarchy of the cpu controller, from /proc/PID/cgroup; "/" without.
[[nodiscard]] std::string cpu_cgroup(std::string_view text);
// Where that hierarchy is mounted, from /proc/self/mountinfo; empty: nowhere.
struct cgroup_mount {
  std::string folder;
  bool unified = true;  // version 2
};
[[nodiscard]] cgroup_mount cpu_cgroup_mount(std::string_view mountinfo);
// "/autogroup-78 nice 0" to 78 and 0; nothing for number 0, which is the root.
struct autogroup {
  std::uint64_t number = 0;
  int nice = 0;
};
[[nodiscard]] std::optional<autogroup> parse_autogroup(std::string_view text);

}  // namespace vlag

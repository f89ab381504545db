// SPDX-License-Identifier: Apache-2.0
//
// Field numbers of Perfetto's trace format (perfetto.protos.Trace), those that are written.
#pragma once

#include <cstdint>
#include <protozero/types.hpp>

namespace vlag::perfetto {

using tag = protozero::pbf_tag_type;

inline constexpr tag trace_packet = 1;  // of the file

namespace packet {
inline constexpr tag ftrace_events = 1, process_tree = 2, timestamp = 8, sequence_id = 10,
                     track_event = 11, sequence_flags = 13, system_info = 45, track_descriptor = 60;
inline constexpr std::uint32_t incremental_state_cleared = 1;
}  // namespace packet

namespace system_info {
inline constexpr tag utsname = 1;
inline constexpr tag sysname = 1, release = 3;  // of utsname
}  // namespace system_info

namespace process_tree {
inline constexpr tag processes = 1, threads = 2;
inline constexpr tag pid = 1, parent = 2, command_line = 3;       // of a process
inline constexpr tag tid = 1, thread_name = 2, thread_group = 3;  // of a thread
}  // namespace process_tree

namespace bundle {
inline constexpr tag cpu = 1, event = 2;
}

namespace ftrace_event {
inline constexpr tag timestamp = 1, pid = 2, sched_switch = 4, common_flags = 5, sched_wakeup = 17,
                     sched_waking = 20, sched_wakeup_new = 114, sched_migrate_task = 491;
inline constexpr std::uint32_t flag_hardirq = 8;
}  // namespace ftrace_event

namespace sched_switch {
inline constexpr tag prev_comm = 1, prev_pid = 2, prev_prio = 3, prev_state = 4, next_comm = 5,
                     next_pid = 6, next_prio = 7;
}

namespace sched_wakeup {  // and its kin
inline constexpr tag comm = 1, pid = 2, prio = 3, success = 4, target_cpu = 5;
}

namespace sched_migrate_task {
inline constexpr tag comm = 1, pid = 2, prio = 3, origin = 4, destination = 5;
}

namespace track_descriptor {
inline constexpr tag uuid = 1, name = 2, process = 3, thread = 4, parent_uuid = 5, counter = 8;
inline constexpr tag process_pid = 1, process_name = 6;                // of process
inline constexpr tag thread_pid = 1, thread_tid = 2, thread_name = 5;  // of thread
inline constexpr tag unit_name = 6;                                    // of counter
}  // namespace track_descriptor

namespace track_event {
inline constexpr tag debug_annotations = 4, type = 9, track_uuid = 11, name = 23,
                     counter_value = 30;
inline constexpr tag annotation_string = 6, annotation_name = 10;
inline constexpr std::int32_t type_instant = 3, type_counter = 4;
}  // namespace track_event

// prev_state of sched_switch, Linux 4.14 and later.
inline constexpr std::int64_t state_preempted = 0x100;
constexpr std::int64_t state_of(char letter) noexcept {
  switch (letter) {
    case 'S':
      return 0x01;
    case 'D':
      return 0x02;
    case 'T':
      return 0x04;
    case 't':
      return 0x08;
    case 'X':
      return 0x10;
    case 'Z':
      return 0x20;
    case 'P':
      return 0x40;
    case 'I':
      return 0x80;
    case 'R':
      return 0;
    default:  // states of older kernels: off the CPU for some wait
      return 0x02;
  }
}

}  // namespace vlag::perfetto

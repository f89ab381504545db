// SPDX-License-Identifier: Apache-2.0
//
// One line of ftrace text, as the kernel's `trace` file or `trace-cmd report` prints it:
//
//   comm-pid [(tgid)] [cpu] [flags] seconds.fraction: event: arguments
//
// A task's name is up to 15 bytes of its owner's choice and may look like any of this. What settles
// the reading: the name is padded to 16 columns, a name is too short to hold a whole group of
// fields, and a sched_switch is written in the context of the task that it switches out.
#pragma once

#include "trace/event.hpp"

#include <cstdint>
#include <string_view>

namespace vlag::trace {

// The largest CPU number that is believed (the kernel's NR_CPUS goes up to 8192).
inline constexpr std::uint32_t highest_cpu = 8191;

// Which flag column says what; the kernel's own header lines tell, see learn_column().
struct flag_columns {
  unsigned named = 0;  // header lines seen
  unsigned need_resched = 1;
  unsigned context = 2;
  bool from_header = false;
};

struct line_head {
  std::int32_t pid = 0;
  std::uint16_t cpu = 0;
  std::string_view flags;  // empty if the line has none
  std::uint64_t time_ns = 0;
  unsigned fraction_digits = 0;
  std::string_view event;      // "sched_switch", without a "sched:" in front
  std::string_view arguments;  // behind "event: "
};

// False: not a line of that form.
[[nodiscard]] bool parse_head(std::string_view line, line_head& head) noexcept;

// The same for a line of `perf script`:
//
//   comm pid[/tid] [cpu] [flags] seconds.fraction: [period] system:event: arguments
//
// pid -1: a task that is past its end.
[[nodiscard]] bool parse_script_head(std::string_view line, line_head& head) noexcept;

// Takes a header line such as "#  | / _---=> hardirq/softirq" into account. Kernels with the
// PREEMPT_RT patches have columns that others lack.
void learn_column(std::string_view comment, flag_columns& columns) noexcept;

// Context and need_resched of the flags.
void read_flags(std::string_view flags, const flag_columns& columns, event& out) noexcept;

// The texts of an event, pointing into the line.
struct event_texts {
  std::string_view comm;
  std::string_view other_comm;
  std::string_view marker;  // exec: the file
};

enum class line_kind : std::uint8_t { known, other, malformed };

// Reads the arguments of the kinds in event_kind into `out`, whose context_pid is set; texts are
// left to the caller. `other`: an event of another name; `malformed`: a known one that makes no
// sense.
[[nodiscard]] line_kind read_arguments(const line_head& head, event& out,
                                       event_texts& texts) noexcept;

// "S", "R+", "D|K", "0", "0x101" to a state; false if it is none.
[[nodiscard]] bool read_state(std::string_view text, switch_state& state) noexcept;

}  // namespace vlag::trace

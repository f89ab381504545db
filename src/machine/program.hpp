// SPDX-License-Identifier: Apache-2.0
//
// What a simulated task does: a list of operations. Programs of all tasks lie in one array; a task
// holds the range that is its own.
//
// Times are ns. Work is CPU time at the CPU's full speed.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace vlag {

enum class op_kind : std::uint8_t {
  run,              // consume `value` ns of CPU
  wake,             // wake `target`; if it is not waiting, its next wait returns at once
  signal,           // wake `target` if it waits or sleeps, else nothing
  wait,             // block until woken
  sleep,            // block for `value` ns (plus the machine's timer slack)
  sleep_until,      // block until the time `value`; nothing when that is past
  sleep_ticks,      // block until the `value`-th tick from now, as a timer counted in ticks does
  sleep_to_period,  // block until the next multiple of `value` ns (not 0) after the machine's
                    // period origin number `target`
  fork,             // start `target`
  exit,
  yield,
  set_nice,          // of itself, to `value` (as a signed number)
  set_slice,         // of itself, to `value` ns; 0: none of its own
  set_latency_nice,  // of itself, to `value` (as a signed number)
  watch,             // run on until `target` blocks or exits, then `value` ns more
  move,         // after an operation that blocks: the wake-up from it is on CPU `target`, and so is
                // the life from then on; nothing where the task did not block
  milestone,    // note that this point was reached
  jump,         // go on at operation `value` of this program
  end,          // no more is known of this task: blocks for good, and the run is told
  join_group,   // of itself: goes to the group of number `target`; 0: the root
  write_group,  // writes to a file of a group: number `target` of the machine's group writes
};

// `value` of a run that never ends.
inline constexpr std::uint64_t forever_ns = std::numeric_limits<std::uint64_t>::max();

struct op {
  op_kind kind = op_kind::end;
  std::uint32_t target = 0;
  std::uint64_t value = 0;
};

static_assert(sizeof(op) == 16);

using program = std::vector<op>;

}  // namespace vlag

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

  // Synchronisation; objects by the numbers that the machine's add_* gave (sync.hpp).
  lock,            // mutex `target`; blocks while another task has it
  unlock,          // mutex `target`
  cond_wait,       // unlock mutex `value` (no_mutex: none), block until condition `target` is told;
                   // does not lock it again
  cond_signal,     // wake one that waits for condition `target`
  cond_broadcast,  // wake all
  barrier,         // block until as many tasks as barrier `target` has users came there
  sem_post,        // semaphore `target`
  sem_wait,
  timer_origin,    // timers that nobody used before begin, for this task, `value` ns from now
  timer,           // the next period of timer `target` begins `value` ns after the last: block
                   // until then; when that is past, nothing, and it begins now
  timer_absolute,  // likewise, but a period that is late does not move those that follow

  pipe_write,  // `value` bytes into pipe `target`, in pieces where there is no room for all; blocks
               // while it is full
  pipe_read,   // `value` bytes from pipe `target`; blocks while it is empty
  kill,        // a signal to task `target`, which has a handler for it: wakes it where it sleeps or
               // waits, and its sleep ends; nothing while it has one that it did not take yet, or
               // is gone

  busy,  // consume CPU until `value` ns have passed on the clock, running or not; at least one
         // chunk
  busy_chunk,  // Requires: follows `busy`
  repeat,      // go back to operation `value & 0xffffffff` until it was reached `value >> 32` times
               // since the last time that it let through
  set_policy,  // of itself: policy number `target`; `value`: nice (as a signed number) of a fair
               // one, priority of a real-time one
  fork_next,   // start the first of the `value` tasks from `target` on that is not born yet; none:
               // the run ends, out_of_forks()
  note,        // tell the note observer `target` and `value`; no more
  note_chunks,  // likewise, with the number of chunks that the `busy_chunk` just before took
  finish,       // exit; the run is told when no task is left that began and did not exit
};

inline constexpr std::uint64_t no_mutex = std::numeric_limits<std::uint64_t>::max();

// `busy` looks at the clock after every so much CPU time, as rt-app does.
inline constexpr std::uint64_t busy_chunk_ns = 32'000;

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

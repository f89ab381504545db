// SPDX-License-Identifier: Apache-2.0
//
// The operations of vectors: what a line asks for, with its arguments checked for kind and range.
// Whether an operation makes sense in the present state is the driver's to say.
#pragma once

#include "vectors/json_line.hpp"
#include "vlag/entity.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace vlag {

enum class operation_code : std::uint8_t {
  fork,       // a new task
  run,        // the clock moves, the running task is accounted
  advance,    // the clock moves, nothing is called
  tick,       //
  block,      // the running task goes to sleep
  exit,       // the running task leaves
  wake,       // a sleeping task
  rewake,     // wake-up of a task that is queued and not running
  yield,      //
  yield_to,   //
  renice,     //
  set_slice,  //
  setattr,    // policy, nice (and slice) together
  reweight,   // a weight of no nice level
  schedule,   //
  of_kind,    // known to one kind only, which reads its arguments (the bits are its own)
  // on groups
  mkgroup,      //
  rmgroup,      //
  setweight,    // cpu.weight
  setshares,    // cpu.shares
  setgnice,     // cpu.weight.nice
  setidle,      // cpu.idle
  setmax,       // cpu.max, cpu.max.burst
  move,         // a task to another group
  period_timer  // of a group, when it is due
};

// Arguments an operation takes, as a set.
enum argument : unsigned {
  no_argument = 0,
  arg_id = 1U << 0,
  arg_nice = 1U << 1,
  arg_policy = 1U << 2,
  arg_ns = 1U << 3,
  arg_slice = 1U << 4,
  arg_weight = 1U << 5,
  arg_group = 1U << 6,
  arg_parent = 1U << 7,
  // What is written to a file of a group: may be out of the file's range.
  arg_group_weight = 1U << 8,
  arg_group_nice = 1U << 9,
  arg_idle = 1U << 10,
  arg_shares = 1U << 11,
  arg_quota = 1U << 12,
  arg_period = 1U << 13,
  arg_burst = 1U << 14
};

// One row an operation that a kind of vectors knows.
struct operation_info {
  std::string_view name;
  operation_code code;
  unsigned required;
  unsigned optional = no_argument;
};

struct operation {
  std::uint64_t number = 0;  // "i", from 1
  const operation_info* info = nullptr;
  std::uint32_t id = 0;
  int nice = 0;
  sched_policy policy = sched_policy::normal;
  std::uint64_t ns = 0;
  std::uint64_t slice_ns = 0;
  std::uint64_t weight = 0;
  std::uint32_t group = 0;  // 0: the root
  std::uint32_t parent = 0;
  std::int64_t written = 0;  // weight, nice or idle of a group
  std::uint64_t shares = 0;
  std::int64_t quota_us = 0;  // below 0: none
  std::uint64_t period_us = 0;
  std::uint64_t burst_us = 0;
  bool skipped = false;  // senseless to the reference: changes nothing
  bool crashed = false;  // the reference crashed in it: there is no state to compare
};

// Ids are those of a process. Times stay below 2^63 ns, about 292 years.
inline constexpr std::uint64_t max_vector_id = (std::uint64_t{1} << 31) - 1;
inline constexpr std::uint64_t max_vector_time_ns = (std::uint64_t{1} << 63) - 1;

// Reads the operation of a line. Throws input_error: unknown operation (the message names the known
// ones), an argument missing, of the wrong kind or out of range.
[[nodiscard]] operation read_operation(const json_line& line,
                                       std::span<const operation_info> known);

// The key belongs to the operation of a line: an argument of it, or one that every line may have.
[[nodiscard]] bool is_operation_key(const operation& op, std::string_view key) noexcept;

}  // namespace vlag

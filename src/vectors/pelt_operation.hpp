// SPDX-License-Identifier: Apache-2.0
//
// The operations of load-tracking vectors and their arguments, all of them integers.
#pragma once

#include "vectors/json_line.hpp"
#include "vectors/operation.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace vlag {

// In the order of pelt_operations().
enum class pelt_code : std::uint8_t {
  u_decay,  // single averages
  u_set,
  u_se,
  u_blocked,
  u_cfs,
  u_rt,
  u_hw,
  u_irq,
  u_utilest,
  scale,  // the whole
  clock,
  mkgroup,
  setshares,
  start,  // "new"
  enqueue,
  dequeue,
  delay,
  undelay,
  finish,
  switch_to,
  goidle,
  tick,
  decay,
  migrate,
  move,
  reweight,
  exit
};

// Arguments by name and range: two that differ in range only share their name.
enum class pelt_argument : std::uint8_t {
  id,
  cpu,
  group,
  parent,
  shares,
  small_weight,  // "weight", unscaled
  full_weight,   // "weight"
  ns,
  sleep,
  cap,
  freq,
  now,
  on_rq,
  running,
  running_ns,  // "running"
  runnable,
  delayed,
  load,
  capacity,
  val,
  n,
  last_update_time,  // from here on in the order of an average's columns
  load_sum,
  runnable_sum,
  util_sum,
  period_contrib,
  load_avg,
  runnable_avg,
  util_avg,
  util_est,
  count
};

class pelt_arguments {
 public:
  // Throws input_error: an argument missing, of the wrong kind or out of range.
  pelt_arguments(const json_line& line, const operation& op);

  [[nodiscard]] bool has(pelt_argument which) const noexcept {
    return present_[static_cast<std::size_t>(which)];
  }
  // The value of one that is there, or the other.
  [[nodiscard]] std::uint64_t get(pelt_argument which, std::uint64_t otherwise = 0) const noexcept {
    return has(which) ? values_[static_cast<std::size_t>(which)] : otherwise;
  }
  [[nodiscard]] std::uint32_t get_32(pelt_argument which,
                                     std::uint32_t otherwise = 0) const noexcept {
    return static_cast<std::uint32_t>(get(which, otherwise));
  }

 private:
  static constexpr std::size_t count = static_cast<std::size_t>(pelt_argument::count);
  std::array<std::uint64_t, count> values_{};
  std::array<bool, count> present_{};
};

[[nodiscard]] std::span<const operation_info> pelt_operations() noexcept;
[[nodiscard]] pelt_code code_of(const operation& op) noexcept;
[[nodiscard]] bool is_pelt_argument(const operation& op, std::string_view key) noexcept;

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// The structure of the sched_setattr() and sched_getattr() system calls, with the same layout, and
// the flags and limits that belong to it. Data only: attr.hpp applies it to the classes,
// linux_sched.hpp hands it to the running kernel.
//
// Versions differ by length. Linux knows 0 and 1; version 2 with latency_nice and its flag is an
// extension that kernels refuse (E2BIG, EINVAL).
#pragma once

#include <cstddef>
#include <cstdint>

namespace vlag {

inline constexpr std::uint32_t sched_attr_size_ver0 = 48;
inline constexpr std::uint32_t sched_attr_size_ver1 = 56;  // util_min, util_max
inline constexpr std::uint32_t sched_attr_size_ver2 = 60;  // latency_nice
inline constexpr std::uint32_t sched_attr_size_most = 4096;

struct sched_attr {
  std::uint32_t size = sched_attr_size_ver2;  // 0 means version 0
  std::uint32_t policy = 0;                   // a sched_policy
  std::uint64_t flags = 0;
  std::int32_t nice = 0;          // fair policies; clamped to -20 .. 19
  std::uint32_t rt_priority = 0;  // 1 .. 99 for FIFO and RR, otherwise 0
  std::uint64_t runtime_ns = 0;   // fair policies: the slice; 0: none of its own
  std::uint64_t deadline_ns = 0;  // of SCHED_DEADLINE, which is not supported
  std::uint64_t period_ns = 0;    // the same
  std::uint32_t util_min = 0;     // 0 .. 1024; UINT32_MAX: the default again
  std::uint32_t util_max = 0;     // the same
  std::int32_t latency_nice = 0;  // -20 .. 19
};

static_assert(offsetof(sched_attr, flags) == 8);
static_assert(offsetof(sched_attr, runtime_ns) == 24);
static_assert(offsetof(sched_attr, util_min) == sched_attr_size_ver0);
static_assert(offsetof(sched_attr, latency_nice) == sched_attr_size_ver1);

namespace sched_flag {
inline constexpr std::uint64_t reset_on_fork = 0x01;
inline constexpr std::uint64_t reclaim = 0x02;           // of SCHED_DEADLINE: accepted, no effect
inline constexpr std::uint64_t deadline_overrun = 0x04;  // the same
inline constexpr std::uint64_t keep_policy = 0x08;
inline constexpr std::uint64_t keep_params = 0x10;
inline constexpr std::uint64_t util_clamp_min = 0x20;
inline constexpr std::uint64_t util_clamp_max = 0x40;
inline constexpr std::uint64_t latency_nice = 0x80;
inline constexpr std::uint64_t all = 0xff;
}  // namespace sched_flag

inline constexpr std::uint32_t most_util = 1024;
inline constexpr std::uint32_t default_util = 0xffffffff;
inline constexpr std::uint32_t most_rt_priority = 99;

// A slice of a task's own is kept within these.
inline constexpr std::uint64_t shortest_own_slice_ns = 100'000;
inline constexpr std::uint64_t longest_own_slice_ns = 100'000'000;

}  // namespace vlag

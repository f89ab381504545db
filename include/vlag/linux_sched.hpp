// SPDX-License-Identifier: Apache-2.0
//
// Asks the running Linux kernel for a slice for a thread of this program, or any other. Header
// only, and the one header here that makes system calls; it needs no library and no kernel header.
//
//   const vlag::kernel_slice got = vlag::set_kernel_slice(vlag::calling_thread, 500'000);
//   if (got.what == vlag::kernel_slice_result::too_old) ...   // Linux before 6.12
//
// A kernel before 6.12 accepts the call and ignores the slice, so the answer comes from reading it
// back. Thread safe.
#pragma once

#if !defined(__linux__)
#error "linux_sched.hpp is for Linux only"
#endif

#include "vlag/entity.hpp"
#include "vlag/sched_attr.hpp"

#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstdint>

namespace vlag {

inline constexpr int calling_thread = 0;

// The bare system calls: 0, or the errno. attr.size says how much of attr the kernel is to read; a
// kernel that does not know that much writes its own size there (E2BIG).
[[nodiscard]] inline int kernel_set_attr(int tid, sched_attr& attr) noexcept {
  const int before = errno;
  const int error = ::syscall(SYS_sched_setattr, tid, &attr, 0U) == 0 ? 0 : errno;
  errno = before;
  return error;
}
[[nodiscard]] inline int kernel_get_attr(int tid, sched_attr& attr) noexcept {
  const int before = errno;
  attr = sched_attr{};
  const bool ok = ::syscall(SYS_sched_getattr, tid, &attr, sched_attr_size_ver1, 0U) == 0;
  const int error = ok ? 0 : errno;
  errno = before;
  return error;
}

enum class kernel_slice_result : std::uint8_t {
  applied,   // slice_ns is in force
  too_old,   // accepted, without effect: the kernel has no slices of a task's own
  not_fair,  // the thread's policy has no slice: FIFO, RR, DEADLINE, or IDLE; nothing was asked
  refused,   // error says why (EPERM, ESRCH, ENOSYS, ...)
};

struct kernel_slice {
  kernel_slice_result what;
  int error;               // errno, 0 unless refused
  std::uint64_t slice_ns;  // as read back; 0 where the kernel does not tell
};

// slice_ns 0: the kernel's base slice again; otherwise it is clamped to 0.1 .. 100 ms by the
// kernel. Policy, nice and reset-on-fork stay.
[[nodiscard]] inline kernel_slice set_kernel_slice(int tid, std::uint64_t slice_ns) noexcept {
  sched_attr attr;
  if (const int error = kernel_get_attr(tid, attr); error != 0) {
    return {kernel_slice_result::refused, error, 0};
  }
  if (attr.policy != static_cast<std::uint32_t>(sched_policy::normal) &&
      attr.policy != static_cast<std::uint32_t>(sched_policy::batch)) {
    return {kernel_slice_result::not_fair, 0, 0};
  }
  attr.size = sched_attr_size_ver0;
  attr.flags &= sched_flag::reset_on_fork;
  attr.runtime_ns = slice_ns;
  if (const int error = kernel_set_attr(tid, attr); error != 0) {
    return {kernel_slice_result::refused, error, 0};
  }
  if (const int error = kernel_get_attr(tid, attr); error != 0) {
    return {kernel_slice_result::refused, error, 0};
  }
  std::uint64_t expected = slice_ns;
  if (expected < shortest_own_slice_ns) expected = shortest_own_slice_ns;
  if (expected > longest_own_slice_ns) expected = longest_own_slice_ns;
  const bool in_force = slice_ns == 0 ? attr.runtime_ns != 0 : attr.runtime_ns == expected;
  return {in_force ? kernel_slice_result::applied : kernel_slice_result::too_old, 0,
          attr.runtime_ns};
}

// The slice in force, or `too_old` where the kernel does not tell.
[[nodiscard]] inline kernel_slice get_kernel_slice(int tid) noexcept {
  sched_attr attr;
  if (const int error = kernel_get_attr(tid, attr); error != 0) {
    return {kernel_slice_result::refused, error, 0};
  }
  const bool has_slice = attr.policy == static_cast<std::uint32_t>(sched_policy::normal) ||
                         attr.policy == static_cast<std::uint32_t>(sched_policy::batch) ||
                         attr.policy == static_cast<std::uint32_t>(sched_policy::idle);
  if (!has_slice) return {kernel_slice_result::not_fair, 0, 0};
  return {attr.runtime_ns != 0 ? kernel_slice_result::applied : kernel_slice_result::too_old, 0,
          attr.runtime_ns};
}

}  // namespace vlag

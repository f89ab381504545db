// SPDX-License-Identifier: Apache-2.0
//
// The attributes of a task as the sched_setattr() and sched_getattr() system calls handle them: the
// same structure (sched_attr.hpp), the same checks in the same order, the same errors.
//
// How long a request of a task under EEVDF is, in this order:
//
//   1. its own slice (runtime_ns), when it has one, clamped to 0.1 .. 100 ms;
//   2. the latency slice, when its latency_nice is not 0: latency_slice_ns() in weight.hpp, not
//      clamped; fixed until latency_nice changes or latency_base_changed() is called;
//   3. the base slice, read anew at each request.
//
// A runtime_ns that equals the present slice, as read back, leaves its origin as it is. A
// SCHED_IDLE task keeps a slice of its own whatever is asked; without one its latency_nice counts.
// Under CFS slice and latency_nice are carried and have no effect.
//
// A change of a queued task takes it out and puts it back (its lag and the rest of its request
// stay); a set after which every attribute is what it was does not. fair_class::set_slice() is
// stricter: like the reference it requeues for 0, or a value beyond the limits, asked again.
//
// Differences from Linux 6.12: version 2, its flag and latency_nice exist; SCHED_DEADLINE and
// SCHED_EXT do not (EINVAL). A child of a SCHED_BATCH or SCHED_IDLE task with RESET_ON_FORK gets
// SCHED_NORMAL; Linux resets the policy of real-time parents only.
#pragma once

#include "vlag/cfs_class.hpp"
#include "vlag/entity.hpp"
#include "vlag/fair_class.hpp"
#include "vlag/sched_attr.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace vlag {

// The values are those of errno on Linux.
enum class attr_error : std::uint8_t {
  none = 0,
  not_permitted = 1,  // EPERM: the host refused
  no_such_task = 3,   // ESRCH
  too_big = 7,        // E2BIG: a size that is not known; the known one was written back
  bad_address = 14,   // EFAULT: the memory is shorter than the size in it
  invalid = 22,       // EINVAL
};

// What a set needs that an embedding program may want to refuse.
enum class attr_privilege : std::uint8_t {
  lower_nice,
  lower_latency_nice,
  real_time,  // a real-time policy, or a higher priority in it
  leave_idle_policy,
  clear_reset_on_fork,
};

// What the embedding program decides and does. Each may be nullptr; none may call set_attr().
struct attr_host {
  void* context = nullptr;
  // False: EPERM, and nothing changes. nullptr: everything is permitted.
  bool (*permits)(void* context, const task& t, attr_privilege what) noexcept = nullptr;
  // t gets a real-time policy, or another one, or another priority: take it out of the fair class
  // if it is there and schedule it otherwise. False: EINVAL, and nothing may have changed. The
  // attributes are stored after the call. nullptr: there is no real-time class, EINVAL.
  bool (*enter_real_time)(void* context, task& t, sched_policy policy,
                          unsigned rt_priority) noexcept = nullptr;
  // t has left the real-time policies, its attributes are stored: put it into the fair class.
  void (*leave_real_time)(void* context, task& t) noexcept = nullptr;
};

// Reads the structure at the beginning of `from`, of the size that it says itself. Refused: a size
// below version 0 or above a page, or a part that is not known and not zero (too_big); a flag whose
// field is beyond the size (invalid). What the size leaves out is 0; nice is clamped; to.size is
// the size that applied.
[[nodiscard]] attr_error read_attr(std::span<std::byte> from, sched_attr& to) noexcept;
// Writes as much as fits, with that size in it; the rest of `to` stays. Refused (invalid): a `to`
// that is shorter than version 0 or longer than a page.
[[nodiscard]] attr_error write_attr(const sched_attr& from, std::span<std::byte> to) noexcept;

// Sets attributes of a task in any state. Nothing changes unless the answer is `none`; nothing is
// requeued unless an attribute changes. nullptr: no such task. wanted.size is 0 or from version 0
// to sizeof wanted (otherwise too_big). A lone KEEP_PARAMS keeps the policy as well, as the system
// call does.
[[nodiscard]] attr_error set_attr(fair_class& fair, task* t, const sched_attr& wanted,
                                  std::uint64_t now_ns, const attr_host& host = {}) noexcept;
[[nodiscard]] attr_error set_attr(cfs_class& fair, task* t, const sched_attr& wanted,
                                  std::uint64_t now_ns, const attr_host& host = {}) noexcept;
// The same from memory: read_attr(), then set_attr().
[[nodiscard]] attr_error set_attr(fair_class& fair, task* t, std::span<std::byte> wanted,
                                  std::uint64_t now_ns, const attr_host& host = {}) noexcept;
[[nodiscard]] attr_error set_attr(cfs_class& fair, task* t, std::span<std::byte> wanted,
                                  std::uint64_t now_ns, const attr_host& host = {}) noexcept;

// Reads all attributes; to.size() is the size that the caller knows. Under EEVDF runtime_ns is the
// slice in force, whatever its origin; under CFS the slice that was asked for. flags holds
// RESET_ON_FORK or nothing.
[[nodiscard]] attr_error get_attr(const fair_class& fair, const task* t,
                                  std::span<std::byte> to) noexcept;
[[nodiscard]] attr_error get_attr(const cfs_class& fair, const task* t,
                                  std::span<std::byte> to) noexcept;
[[nodiscard]] sched_attr attributes_of(const fair_class& fair, const task& t) noexcept;
[[nodiscard]] sched_attr attributes_of(const cfs_class& fair, const task& t) noexcept;

// The base slice has changed: t's latency slice, if that is what it uses, follows, by the steps of
// fair_class::set_slice(). False: nothing changes. O(log n).
bool latency_base_changed(fair_class& fair, task& t, std::uint64_t now_ns) noexcept;

// Gives a child, before it joins a class, the attributes of its parent; with the parent's
// RESET_ON_FORK policy NORMAL, a nice value of 0 or more (of a real-time parent: 0), and the
// defaults for the rest. Requires: child is in no class.
void inherit_attributes(task& child, const task& parent) noexcept;

// What sched_rr_get_interval() tells: the slice; 0 for FIFO, 100 ms for RR.
[[nodiscard]] std::uint64_t rr_interval_ns(const fair_class& fair, const task& t) noexcept;
[[nodiscard]] std::uint64_t rr_interval_ns(const cfs_class& fair, const task& t) noexcept;

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "vlag/attr.hpp"

#include <algorithm>
#include <cstring>

namespace vlag {
namespace {

constexpr std::uint64_t rr_timeslice_ns = 100'000'000;

constexpr bool real_time(sched_policy policy) noexcept {
  return policy == sched_policy::fifo || policy == sched_policy::round_robin;
}

constexpr bool known_policy(std::uint32_t policy) noexcept { return policy <= 3 || policy == 5; }

constexpr bool size_fits(const sched_attr& attr) noexcept {
  return attr.size == 0 || (attr.size >= sched_attr_size_ver0 && attr.size <= sizeof(sched_attr));
}

constexpr bool flags_fit(const sched_attr& attr) noexcept {
  constexpr std::uint64_t of_ver1 = sched_flag::util_clamp_min | sched_flag::util_clamp_max;
  if ((attr.flags & of_ver1) != 0 && attr.size < sched_attr_size_ver1) return false;
  return (attr.flags & sched_flag::latency_nice) == 0 || attr.size >= sched_attr_size_ver2;
}

// Every attribute as it will be.
struct target {
  sched_policy policy;
  int nice;
  unsigned rt_priority;
  std::uint64_t runtime_ns;
  bool reset_on_fork;
  int latency_nice;
  std::uint32_t util_min;
  std::uint32_t util_max;
};

attr_error understand(const sched_attr& wanted, const task& t, target& to) noexcept {
  const auto has = [&](std::uint64_t flag) { return (wanted.flags & flag) != 0; };
  const bool keeps_policy = has(sched_flag::keep_policy);
  if (!keeps_policy && !known_policy(wanted.policy)) return attr_error::invalid;
  if ((wanted.flags & ~sched_flag::all) != 0) return attr_error::invalid;

  to.policy = keeps_policy ? t.policy : static_cast<sched_policy>(wanted.policy);
  to.reset_on_fork = keeps_policy ? t.reset_on_fork : has(sched_flag::reset_on_fork);
  to.nice = std::clamp<int>(wanted.nice, min_nice, max_nice);
  to.rt_priority = wanted.rt_priority;
  to.runtime_ns = wanted.runtime_ns;
  if (has(sched_flag::keep_params)) {
    if (real_time(t.policy)) {
      to.rt_priority = t.rt_priority;
    } else {
      to.nice = t.static_nice;
    }
  }
  if (to.rt_priority > most_rt_priority) return attr_error::invalid;
  if (real_time(to.policy) != (to.rt_priority != 0)) return attr_error::invalid;

  to.latency_nice = has(sched_flag::latency_nice) ? wanted.latency_nice : t.latency_nice;
  return to.latency_nice < min_nice || to.latency_nice > max_nice ? attr_error::invalid
                                                                  : attr_error::none;
}

// After what was asked for has been found valid and permitted, as the system call has it.
void keep_parameters(const task& t, target& to) noexcept {
  to.policy = t.policy;
  to.nice = t.static_nice;
  to.rt_priority = t.rt_priority;
  to.runtime_ns = t.custom_slice ? t.slice_ns : 0;
}

attr_error understand_util(const sched_attr& wanted, const task& t, target& to) noexcept {
  const auto asked = [&](std::uint64_t flag, std::uint32_t value, std::uint32_t preset,
                         std::uint32_t now) {
    if ((wanted.flags & flag) == 0) return now;
    return value == default_util ? preset : value;
  };
  to.util_min = asked(sched_flag::util_clamp_min, wanted.util_min, 0, t.util_min);
  to.util_max = asked(sched_flag::util_clamp_max, wanted.util_max, most_util, t.util_max);
  return to.util_max > most_util || to.util_min > to.util_max ? attr_error::invalid
                                                              : attr_error::none;
}

bool permitted(const attr_host& host, const task& t, const target& to) noexcept {
  if (host.permits == nullptr) return true;
  const auto refused = [&](bool needed, attr_privilege what) {
    return needed && !host.permits(host.context, t, what);
  };
  const bool shares = to.policy == sched_policy::normal || to.policy == sched_policy::batch;
  const bool raises = to.policy != t.policy || to.rt_priority > t.rt_priority;
  const bool leaves_idle = t.policy == sched_policy::idle && to.policy != sched_policy::idle;
  return !refused(shares && to.nice < t.static_nice, attr_privilege::lower_nice) &&
         !refused(real_time(to.policy) && raises, attr_privilege::real_time) &&
         !refused(leaves_idle, attr_privilege::leave_idle_policy) &&
         !refused(t.reset_on_fork && !to.reset_on_fork, attr_privilege::clear_reset_on_fork) &&
         !refused(to.latency_nice < t.latency_nice, attr_privilege::lower_latency_nice);
}

// What a task asks an EEVDF class for.
struct slice_wish {
  std::uint64_t ns;  // 0: follow the base slice
  slice_origin origin;
};

std::uint64_t present_slice(const fair_class& fair, const task& t) noexcept {
  return t.slice_ns != 0 ? t.slice_ns : fair.config().base_slice_ns;
}

std::uint64_t clamped(std::uint64_t slice_ns) noexcept {
  return std::clamp(slice_ns, shortest_own_slice_ns, longest_own_slice_ns);
}

// Under SCHED_IDLE no slice is asked for: an own one stays.
slice_wish wish_for(const fair_class& fair, const task& t, const target& to) noexcept {
  const bool has_own = t.custom_slice && !t.latency_slice;
  const bool idle = to.policy == sched_policy::idle;
  if (idle && has_own) return {t.slice_ns, slice_origin::own};
  const bool repeats = !has_own && to.runtime_ns == present_slice(fair, t);
  if (!idle && to.runtime_ns != 0 && !repeats) return {clamped(to.runtime_ns), slice_origin::own};
  return {to.latency_nice == 0 ? 0 : latency_slice_ns(fair.config().base_slice_ns, to.latency_nice),
          slice_origin::latency_nice};
}

bool fulfilled(const task& t, slice_wish wish) noexcept {
  if (wish.ns == 0) return !t.custom_slice;
  return t.custom_slice && t.slice_ns == wish.ns &&
         t.latency_slice == (wish.origin == slice_origin::latency_nice);
}

void change_in_class(fair_class& fair, task& t, const target& to, std::uint64_t now_ns) noexcept {
  const slice_wish wish = wish_for(fair, t, to);
  const bool same_nice = to.policy == sched_policy::idle || to.nice == t.static_nice;
  if (to.policy == t.policy && same_nice && fulfilled(t, wish)) return;
  fair.set_attributes(t, to.policy, to.nice, wish.ns, now_ns, wish.origin);
}

void change_in_class(cfs_class& fair, task& t, const target& to, std::uint64_t now_ns) noexcept {
  const bool keeps_slice = to.policy == sched_policy::idle;
  fair.set_attributes(t, to.policy, to.nice, to.runtime_ns, now_ns);
  if (!keeps_slice) fair.carry_slice(t, to.runtime_ns == 0 ? 0 : clamped(to.runtime_ns));
}

void store_slice(const fair_class& fair, task& t, const target& to) noexcept {
  const slice_wish wish = wish_for(fair, t, to);
  t.custom_slice = wish.ns != 0;
  t.latency_slice = t.custom_slice && wish.origin == slice_origin::latency_nice;
  t.slice_ns = wish.ns;
}

void store_slice(const cfs_class&, task& t, const target& to) noexcept {
  if (to.policy == sched_policy::idle) return;
  t.custom_slice = to.runtime_ns != 0;
  t.slice_ns = to.runtime_ns == 0 ? 0 : clamped(to.runtime_ns);
}

// A task that is in no fair class keeps its lag in wall-clock time through a change of weight.
void store_priority(task& t, const target& to) noexcept {
  const std::uint64_t old_weight = t.weight.full;
  const bool idle = to.policy == sched_policy::idle;
  const int kept_nice = idle ? t.static_nice : to.nice;
  set_initial_attributes(t, to.policy, kept_nice);
  t.prio_nice = static_cast<std::int8_t>(to.nice);
  __extension__ using wide = __int128;
  t.vlag = static_cast<std::int64_t>(static_cast<wide>(t.vlag) * static_cast<wide>(old_weight) /
                                     static_cast<wide>(t.weight.full));
  t.protected_deadline = static_cast<std::uint64_t>(t.vlag);
}

template <typename Fair>
attr_error change_policy_or_parameters(Fair& fair, task& t, const target& to, std::uint64_t now_ns,
                                       const attr_host& host) noexcept {
  if (real_time(to.policy)) {
    if (to.policy == t.policy && to.rt_priority == t.rt_priority) return attr_error::none;
    if (host.enter_real_time == nullptr ||
        !host.enter_real_time(host.context, t, to.policy, to.rt_priority)) {
      return attr_error::invalid;
    }
    t.policy = to.policy;
    t.rt_priority = static_cast<std::uint8_t>(to.rt_priority);
    return attr_error::none;
  }
  if (!real_time(t.policy)) {
    change_in_class(fair, t, to, now_ns);
    return attr_error::none;
  }
  t.rt_priority = 0;
  store_slice(fair, t, to);
  store_priority(t, to);
  if (host.leave_real_time != nullptr) host.leave_real_time(host.context, t);
  return attr_error::none;
}

template <typename Fair>
attr_error set_attr_in(Fair& fair, task* t, const sched_attr& wanted, std::uint64_t now_ns,
                       const attr_host& host) noexcept {
  if (!size_fits(wanted)) return attr_error::too_big;
  if (!flags_fit(wanted)) return attr_error::invalid;
  if (static_cast<std::int32_t>(wanted.policy) < 0) return attr_error::invalid;
  if (t == nullptr) return attr_error::no_such_task;
  target to{};
  if (const attr_error e = understand(wanted, *t, to); e != attr_error::none) return e;
  if (!permitted(host, *t, to)) return attr_error::not_permitted;
  if (const attr_error e = understand_util(wanted, *t, to); e != attr_error::none) return e;
  if ((wanted.flags & sched_flag::keep_params) != 0) keep_parameters(*t, to);

  const attr_error e = change_policy_or_parameters(fair, *t, to, now_ns, host);
  if (e != attr_error::none) return e;
  t->reset_on_fork = to.reset_on_fork;
  t->latency_nice = static_cast<std::int8_t>(to.latency_nice);
  t->util_min = static_cast<std::uint16_t>(to.util_min);
  t->util_max = static_cast<std::uint16_t>(to.util_max);
  return attr_error::none;
}

template <typename Fair>
attr_error set_attr_from(Fair& fair, task* t, std::span<std::byte> from, std::uint64_t now_ns,
                         const attr_host& host) noexcept {
  sched_attr wanted;
  if (const attr_error e = read_attr(from, wanted); e != attr_error::none) return e;
  return set_attr_in(fair, t, wanted, now_ns, host);
}

sched_attr shown(const task& t, std::uint64_t slice_ns) noexcept {
  sched_attr attr;
  attr.policy = static_cast<std::uint32_t>(t.policy);
  attr.flags = t.reset_on_fork ? sched_flag::reset_on_fork : 0;
  if (real_time(t.policy)) {
    attr.rt_priority = t.rt_priority;
  } else {
    attr.nice = t.static_nice;
    attr.runtime_ns = slice_ns;
  }
  attr.util_min = t.util_min;
  attr.util_max = t.util_max;
  attr.latency_nice = t.latency_nice;
  return attr;
}

template <typename Fair>
attr_error get_attr_of(const Fair& fair, const task* t, std::span<std::byte> to) noexcept {
  if (to.size() < sched_attr_size_ver0 || to.size() > sched_attr_size_most) {
    return attr_error::invalid;
  }
  return t == nullptr ? attr_error::no_such_task : write_attr(attributes_of(fair, *t), to);
}

std::uint64_t rr_interval_or(std::uint64_t slice_ns, const task& t) noexcept {
  if (t.policy == sched_policy::fifo) return 0;
  return t.policy == sched_policy::round_robin ? rr_timeslice_ns : slice_ns;
}

}  // namespace

attr_error read_attr(std::span<std::byte> from, sched_attr& to) noexcept {
  std::uint32_t size = 0;
  if (from.size() < sizeof size) return attr_error::bad_address;
  std::memcpy(&size, from.data(), sizeof size);
  if (size == 0) size = sched_attr_size_ver0;

  const auto too_big = [&] {
    constexpr std::uint32_t known = sched_attr_size_ver2;
    std::memcpy(from.data(), &known, sizeof known);
    return attr_error::too_big;
  };
  if (size < sched_attr_size_ver0 || size > sched_attr_size_most) return too_big();
  if (size > from.size()) return attr_error::bad_address;
  const std::uint32_t known_part = std::min(size, sched_attr_size_ver2);
  const std::span<const std::byte> unknown_part = from.subspan(known_part, size - known_part);
  if (std::any_of(unknown_part.begin(), unknown_part.end(),
                  [](std::byte b) { return b != std::byte{0}; })) {
    return too_big();
  }

  to = sched_attr{};
  std::memcpy(static_cast<void*>(&to), from.data(), known_part);
  to.size = known_part;
  to.nice = std::clamp<std::int32_t>(to.nice, min_nice, max_nice);
  return flags_fit(to) ? attr_error::none : attr_error::invalid;
}

attr_error write_attr(const sched_attr& from, std::span<std::byte> to) noexcept {
  if (to.size() < sched_attr_size_ver0 || to.size() > sched_attr_size_most) {
    return attr_error::invalid;
  }
  sched_attr out = from;
  out.size = static_cast<std::uint32_t>(std::min<std::size_t>(to.size(), sched_attr_size_ver2));
  std::memcpy(to.data(), static_cast<const void*>(&out), out.size);
  return attr_error::none;
}

attr_error set_attr(fair_class& fair, task* t, const sched_attr& wanted, std::uint64_t now_ns,
                    const attr_host& host) noexcept {
  return set_attr_in(fair, t, wanted, now_ns, host);
}

attr_error set_attr(cfs_class& fair, task* t, const sched_attr& wanted, std::uint64_t now_ns,
                    const attr_host& host) noexcept {
  return set_attr_in(fair, t, wanted, now_ns, host);
}

attr_error set_attr(fair_class& fair, task* t, std::span<std::byte> wanted, std::uint64_t now_ns,
                    const attr_host& host) noexcept {
  return set_attr_from(fair, t, wanted, now_ns, host);
}

attr_error set_attr(cfs_class& fair, task* t, std::span<std::byte> wanted, std::uint64_t now_ns,
                    const attr_host& host) noexcept {
  return set_attr_from(fair, t, wanted, now_ns, host);
}

attr_error get_attr(const fair_class& fair, const task* t, std::span<std::byte> to) noexcept {
  return get_attr_of(fair, t, to);
}

attr_error get_attr(const cfs_class& fair, const task* t, std::span<std::byte> to) noexcept {
  return get_attr_of(fair, t, to);
}

sched_attr attributes_of(const fair_class& fair, const task& t) noexcept {
  return shown(t, present_slice(fair, t));
}

sched_attr attributes_of(const cfs_class&, const task& t) noexcept { return shown(t, t.slice_ns); }

bool latency_base_changed(fair_class& fair, task& t, std::uint64_t now_ns) noexcept {
  if (!t.latency_slice || real_time(t.policy)) return false;
  const std::uint64_t slice_ns = latency_slice_ns(fair.config().base_slice_ns, t.latency_nice);
  if (slice_ns == t.slice_ns) return false;
  return fair.set_attributes(t, t.policy, t.static_nice, slice_ns, now_ns,
                             slice_origin::latency_nice);
}

void inherit_attributes(task& child, const task& parent) noexcept {
  if (parent.reset_on_fork) {
    const bool was_real_time = real_time(parent.policy);
    set_initial_attributes(child, sched_policy::normal,
                           was_real_time ? 0 : std::max<int>(parent.static_nice, 0));
    child.rt_priority = 0;
    child.latency_nice = 0;
    child.slice_ns = 0;
    child.custom_slice = child.latency_slice = child.reset_on_fork = false;
    child.util_min = 0;
    child.util_max = most_util;
    return;
  }
  set_initial_attributes(child, parent.policy, parent.static_nice);
  child.rt_priority = parent.rt_priority;
  child.latency_nice = parent.latency_nice;
  child.slice_ns = parent.slice_ns;
  child.custom_slice = parent.custom_slice;
  child.latency_slice = parent.latency_slice;
  child.reset_on_fork = false;
  child.util_min = parent.util_min;
  child.util_max = parent.util_max;
}

std::uint64_t rr_interval_ns(const fair_class& fair, const task& t) noexcept {
  return rr_interval_or(present_slice(fair, t), t);
}

std::uint64_t rr_interval_ns(const cfs_class& fair, const task& t) noexcept {
  if (real_time(t.policy)) return rr_interval_or(0, t);
  return fair.slice_of(t);
}

}  // namespace vlag

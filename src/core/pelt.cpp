// SPDX-License-Identifier: Apache-2.0
#include "vlag/pelt.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace vlag {
namespace {

constexpr unsigned period_bits = 10;  // a period has 2^10 units of 2^10 ns
constexpr unsigned unit_bits = 10;
constexpr unsigned scale_bits = 10;
constexpr std::uint64_t units_of_period = std::uint64_t{1} << period_bits;
constexpr std::uint64_t half_life = 32;
constexpr std::uint64_t forgotten_after = half_life * 63;  // periods

// y^n * 2^32 for n < 32. The first is one short of 2^32.
constexpr std::array<std::uint32_t, half_life> decay_inverses = {
    0xffffffff, 0xfa83b2da, 0xf5257d14, 0xefe4b99a, 0xeac0c6e6, 0xe5b906e6, 0xe0ccdeeb, 0xdbfbb796,
    0xd744fcc9, 0xd2a81d91, 0xce248c14, 0xc9b9bd85, 0xc5672a10, 0xc12c4cc9, 0xbd08a39e, 0xb8fbaf46,
    0xb504f333, 0xb123f581, 0xad583ee9, 0xa9a15ab4, 0xa5fed6a9, 0xa2704302, 0x9ef5325f, 0x9b8d39b9,
    0x9837f050, 0x94f4efa8, 0x91c3d373, 0x8ea4398a, 0x8b95c1e3, 0x88980e80, 0x85aac367, 0x82cd8698};

constexpr std::uint32_t low_32(std::uint64_t value) noexcept {
  return static_cast<std::uint32_t>(value);
}

// The rest of the period in which the last update was, the whole periods since, the present one.
std::uint32_t contribution(std::uint64_t periods, std::uint32_t before,
                           std::uint64_t present) noexcept {
  const std::uint64_t first = decayed_sum(units_of_period - before, periods);
  const std::uint64_t whole =
      load_average_max - decayed_sum(load_average_max, periods) - units_of_period;
  return low_32(first + whole + present);
}

constexpr std::uint64_t scaled(std::uint64_t value, std::uint32_t scale) noexcept {
  return (value * scale) >> scale_bits;
}

}  // namespace

std::uint64_t decayed_sum(std::uint64_t value, std::uint64_t periods) noexcept {
  if (periods > forgotten_after) return 0;
  value >>= periods / half_life;
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>((wide{value} * decay_inverses[periods % half_life]) >> 32);
}

bool accumulate_load(load_average& a, std::uint64_t now_ns, const load_activity& since) noexcept {
  const std::uint64_t delta_ns = now_ns - a.last_update_ns;
  if (static_cast<std::int64_t>(delta_ns) < 0) {
    a.last_update_ns = now_ns;
    return false;
  }
  std::uint64_t units = delta_ns >> unit_bits;
  if (units == 0) return false;
  a.last_update_ns += units << unit_bits;

  std::uint32_t active = low_32(units);
  units += a.period_contrib;
  const std::uint64_t periods = units / units_of_period;
  if (periods > 0) {
    a.load_sum = decayed_sum(a.load_sum, periods);
    a.runnable_sum = decayed_sum(a.runnable_sum, periods);
    a.util_sum = low_32(decayed_sum(a.util_sum, periods));
    units %= units_of_period;
    active = contribution(periods, a.period_contrib, units);
  }
  a.period_contrib = low_32(units);
  if (since.load != 0) {
    a.load_sum += since.load * active;
    a.runnable_sum += (since.runnable * active) << scale_bits;
    if (since.running) a.util_sum += active << scale_bits;
  }
  return low_32(periods) != 0;
}

void take_averages(load_average& a, std::uint64_t small_weight) noexcept {
  const std::uint64_t divider = a.divider();
  a.load_avg = small_weight * a.load_sum / divider;
  a.runnable_avg = a.runnable_sum / divider;
  a.util_avg = a.util_sum / divider;
}

bool update_entity_average(load_average& a, std::uint64_t now_ns, std::uint64_t full_weight,
                           const entity_activity& since) noexcept {
  const std::uint64_t load = since.queued ? 1 : 0;
  if (!accumulate_load(a, now_ns, {load, since.runnable, since.running})) return false;
  take_averages(a, small_weight(full_weight));
  a.util_est &= ~estimate_unchanged;
  return true;
}

bool update_blocked_average(load_average& a, std::uint64_t now_ns,
                            std::uint64_t full_weight) noexcept {
  if (!accumulate_load(a, now_ns, {})) return false;
  take_averages(a, small_weight(full_weight));
  return true;
}

bool update_queue_average(load_average& a, std::uint64_t now_ns, std::uint64_t full_load,
                          std::uint64_t runnable, bool running) noexcept {
  if (!accumulate_load(a, now_ns, {small_weight(full_load), runnable, running})) return false;
  take_averages(a, 1);
  return true;
}

bool update_class_average(load_average& a, std::uint64_t now_ns, bool running) noexcept {
  const std::uint64_t load = running ? 1 : 0;
  if (!accumulate_load(a, now_ns, {load, load, running})) return false;
  take_averages(a, 1);
  return true;
}

bool update_pressure_average(load_average& a, std::uint64_t clock_task_ns,
                             std::uint64_t capacity) noexcept {
  if (!accumulate_load(a, clock_task_ns, {capacity, capacity, capacity != 0})) return false;
  take_averages(a, 1);
  return true;
}

unsigned update_interrupt_average(load_average& a, std::uint64_t now_ns, std::uint64_t running_ns,
                                  const load_clock& scale) noexcept {
  const std::uint64_t work_ns = scaled(scaled(running_ns, scale.frequency()), scale.capacity());
  unsigned ended = accumulate_load(a, now_ns - work_ns, {}) ? 1 : 0;
  ended += accumulate_load(a, now_ns, {1, 1, true}) ? 1 : 0;
  if (ended != 0) take_averages(a, 1);
  return ended;
}

void load_clock::set_scale(std::uint32_t capacity, std::uint32_t frequency) noexcept {
  assert(capacity >= 1 && capacity <= full_capacity);
  assert(frequency >= 1 && frequency <= full_capacity);
  capacity_ = capacity;
  frequency_ = frequency;
}

void load_clock::advance_busy(std::uint64_t ns) noexcept {
  task_ns_ += ns;
  load_ns_ += scaled(scaled(ns, capacity_), frequency_);
}

void load_clock::advance_idle(std::uint64_t ns) noexcept {
  task_ns_ += ns;
  load_ns_ = task_ns_;
}

void load_clock::go_idle(std::uint32_t util_sums) noexcept {
  constexpr std::uint64_t never_idle = (load_average_min << scale_bits) - load_average_max;
  if (util_sums >= never_idle) lost_idle_ns_ += task_ns_ - load_ns_;
  load_ns_ = task_ns_;
}

void add_estimate(load_average& root, const load_average& task) noexcept {
  root.util_est += estimated_util(task);
}

void remove_estimate(load_average& root, const load_average& task) noexcept {
  root.util_est -= std::min(root.util_est, estimated_util(task));
}

void sample_estimate(load_average& task, std::uint32_t capacity) noexcept {
  if ((task.util_est & estimate_unchanged) != 0) return;
  const auto util = low_32(task.util_avg);
  std::uint32_t estimate = task.util_est;
  if (estimate <= util) {
    estimate = util;
  } else if (estimate - util >= estimate_margin) {
    if (util > capacity) return;
    const bool waited = task.util_avg + estimate_margin < task.runnable_avg;
    if (!waited) estimate = (4 * estimate - (estimate - util)) / 4;
  }
  task.util_est = estimate | estimate_unchanged;
}

}  // namespace vlag

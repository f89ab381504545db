// SPDX-License-Identifier: Apache-2.0
//
// Small runs to make tables from.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "machine/figures.hpp"

namespace vlag::sample {

constexpr std::uint64_t ms = 1'000'000;

// A task that waited delays_ms[i] ms after each wake-up, each wait ending 1 s later than the last.
inline task_figures task(std::int32_t pid, const std::string& name, std::uint64_t cpu_ms,
                         std::initializer_list<std::uint64_t> delays_ms, unsigned times = 1) {
  task_figures t;
  t.pid = pid;
  t.name = name;
  t.cpu_ns = cpu_ms * ms;
  std::uint64_t now = 0;
  for (unsigned i = 0; i < times; ++i) {
    for (const std::uint64_t delay : delays_ms) {
      now += 1000 * ms;
      t.wake_latency.add(delay * ms, now);
      ++t.wakeups;
      ++t.switches_in;
      if (delay * ms > t.max_wait_to_ns - t.max_wait_from_ns) {
        t.max_wait_from_ns = now - delay * ms;
        t.max_wait_to_ns = now;
      }
    }
  }
  return t;
}

// One CPU for one second.
inline run_figures run(const std::string& label, std::initializer_list<task_figures> tasks) {
  run_figures r;
  r.label = label;
  r.to_ns = 1000 * ms;
  r.work_done_ns = 1000 * ms;
  r.tasks = tasks;
  r.cpus.resize(1);
  return r;
}

}  // namespace vlag::sample

// SPDX-License-Identifier: Apache-2.0
//
// A CPU with a CFS class, in virtual time: the environment of the policy tests. Virtual time starts
// at 0 and the clock at 1 s.
#pragma once

#include "vlag/cfs_class.hpp"
#include "vlag/timeline.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <span>

namespace vlag {

inline constexpr std::uint64_t us = 1'000;
inline constexpr std::uint64_t ms = 1'000'000;

// New tasks start where the others are, so that the numbers in a test are round.
inline cfs_config without_debit() {
  cfs_config config;
  config.features.set(feature::start_debit, false);
  return config;
}

class cfs_cpu {
 public:
  static constexpr std::size_t places = 32;

  explicit cfs_cpu(const cfs_config& config_now = {})
      : config(config_now),
        storage(std::span(memory_.get(), bytes()), places),
        fair(config, storage) {
    fair.start_at(0);
  }

  task& fork(int nice = 0, sched_policy policy = sched_policy::normal) {
    task& t = tasks.emplace_back();
    set_initial_attributes(t, policy, nice);
    if (!fair.fork(t, now)) std::abort();
    return t;
  }
  task* schedule() { return fair.schedule(now); }
  void run(std::uint64_t ns) {
    now += ns;
    fair.account(now);
  }
  void tick_after(std::uint64_t ns) {
    now += ns;
    fair.tick(now);
  }
  task* sleep() {
    fair.block(now);
    return schedule();
  }
  void wake(task& t) { fair.wake(t, now); }

  // Ticks every 4 ms for that long; switches whenever it is asked to.
  void run_ticks(std::uint64_t ns) {
    if (fair.current() == nullptr) schedule();
    for (const std::uint64_t end = now + ns; now < end;) {
      tick_after(4 * ms);
      if (fair.need_resched()) schedule();
    }
  }

 private:
  static std::size_t bytes() { return (timeline_storage::required_bytes(places) + 63) / 64 * 64; }
  std::unique_ptr<std::byte[], void (*)(void*)> memory_{
      static_cast<std::byte*>(std::aligned_alloc(64, bytes())), &std::free};

 public:
  cfs_config config;
  timeline_storage storage;
  std::deque<task> tasks;
  cfs_class fair;
  std::uint64_t now = 1'000 * ms;
};

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// A CPU for tests of the EEVDF class: a clock that the test moves, the class, and its tasks.
#pragma once

#include "vlag/fair_class.hpp"

#include <cstdlib>
#include <deque>
#include <memory>
#include <new>
#include <span>

namespace vlag::test {

inline constexpr std::uint64_t us = 1'000;
inline constexpr std::uint64_t ms = 1'000'000;

// Defaults of the profile but for a base slice of 3 ms, which makes round numbers.
inline eevdf_config three_ms_slices() {
  eevdf_config config;
  config.base_slice_ns = 3 * ms;
  return config;
}

inline eevdf_config without(feature f, eevdf_config config = three_ms_slices()) {
  config.features.set(f, false);
  return config;
}

inline eevdf_config with(feature f, eevdf_config config = three_ms_slices()) {
  config.features.set(f, true);
  return config;
}

// Memory for a storage of so many entities on so many queues.
class storage_memory {
 public:
  explicit storage_memory(std::size_t entities, std::size_t timelines = 1)
      : bytes_(timeline_storage::required_bytes(entities, timelines)),
        memory_(static_cast<std::byte*>(::operator new(bytes_, std::align_val_t{64}))) {}
  storage_memory(const storage_memory&) = delete;
  storage_memory& operator=(const storage_memory&) = delete;
  ~storage_memory() { ::operator delete(memory_, std::align_val_t{64}); }
  [[nodiscard]] std::span<std::byte> bytes() const { return {memory_, bytes_}; }

 private:
  std::size_t bytes_;
  std::byte* memory_;
};

class one_cpu {
 public:
  static constexpr std::size_t default_places = 64;

  explicit one_cpu(const eevdf_config& set = three_ms_slices(), std::size_t places = default_places)
      : config(set), memory_(places), storage(memory_.bytes(), places), fair(config, storage) {}

  // A new task; nullptr when the storage is full.
  task* try_fork(int nice = 0, std::uint64_t slice_ns = 0,
                 sched_policy policy = sched_policy::normal) {
    task& t = tasks.emplace_back();
    t.id = static_cast<std::uint32_t>(tasks.size());
    set_initial_attributes(t, policy, nice);
    t.custom_slice = slice_ns != 0;
    t.slice_ns = slice_ns;
    return fair.fork(t, now) ? &t : nullptr;
  }
  task& fork(int nice = 0, std::uint64_t slice_ns = 0, sched_policy policy = sched_policy::normal) {
    task* t = try_fork(nice, slice_ns, policy);
    if (t == nullptr) std::abort();
    return *t;
  }

  // Time passes, and the class hears of it.
  void run(std::uint64_t ns) {
    now += ns;
    fair.tick(now);
  }
  // Time passes unnoticed.
  void pass(std::uint64_t ns) { now += ns; }
  // As run(); then whoever is due is put on the CPU.
  task* run_and_switch(std::uint64_t ns) {
    run(ns);
    return fair.need_resched() ? schedule() : fair.current();
  }

  task* schedule() { return fair.schedule(now); }
  void wake(task& t) { fair.wake(t, now); }
  bool block() {
    const bool delayed = fair.block(now);
    schedule();
    return delayed;
  }

  eevdf_config config;
  std::uint64_t now = 0;
  std::deque<task> tasks;

 private:
  storage_memory memory_;

 public:
  timeline_storage storage;
  fair_class fair;
};

}  // namespace vlag::test

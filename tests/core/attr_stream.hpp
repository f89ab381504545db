// SPDX-License-Identifier: Apache-2.0
//
// Random attribute structures as a caller lays them out in memory: most are valid but for one
// field, some are not at all.
#pragma once

#include "vlag/sched_attr.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

namespace vlag::test {

inline constexpr std::size_t attr_bytes = 128;
using attr_memory = std::array<std::byte, attr_bytes>;

class attr_stream {
 public:
  // What it chooses from. Fields beyond known_size are 0; what a size leaves behind version 2 is 0
  // but for one byte at times.
  struct choices {
    std::vector<std::uint32_t> policies;
    std::vector<std::uint32_t> sizes;
    std::vector<std::uint64_t> flags;
    std::uint32_t known_size = sched_attr_size_ver2;
  };

  attr_stream(std::uint64_t seed, choices from) : random_(seed), from_(std::move(from)) {}

  attr_memory next() {
    sched_attr attr;
    attr.size = one_of(from_.sizes);
    attr.policy = one_of(from_.policies);
    for (const std::uint64_t flag : from_.flags) {
      if (chance(15)) attr.flags |= flag;
    }
    attr.nice = chance(80) ? between(-20, 19) : between(-40, 40);
    const bool real_time = attr.policy == 1 || attr.policy == 2;
    if (real_time != chance(5)) attr.rt_priority = static_cast<std::uint32_t>(between(0, 101));
    if (chance(50)) attr.runtime_ns = random_() >> between(30, 60);
    if (chance(5)) attr.deadline_ns = random_();
    if (chance(5)) attr.period_ns = random_();
    attr.util_min = util();
    attr.util_max = util();
    attr.latency_nice = chance(90) ? between(-20, 19) : between(-25, 25);

    attr_memory memory{};
    const std::size_t known =
        std::min<std::size_t>(std::max(attr.size, sched_attr_size_ver0), from_.known_size);
    std::memcpy(memory.data(), static_cast<const void*>(&attr), known);
    if (attr.size > sched_attr_size_ver2 && attr.size <= memory.size() && chance(30)) {
      const std::size_t unknown = attr.size - sched_attr_size_ver2;
      memory[sched_attr_size_ver2 + random_() % unknown] = std::byte{1};
    }
    return memory;
  }

  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }

 private:
  template <typename T>
  T one_of(const std::vector<T>& values) {
    return values[random_() % values.size()];
  }
  int between(int low, int high) {
    return low + static_cast<int>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  std::uint32_t util() {
    if (chance(10)) return default_util;
    return static_cast<std::uint32_t>(between(0, chance(10) ? 1'030 : 1'024));
  }

  std::mt19937_64 random_;
  choices from_;
};

}  // namespace vlag::test

// SPDX-License-Identifier: Apache-2.0
#include "vlag/weight.hpp"

#include "vlag/entity.hpp"

#include <array>

namespace vlag {
namespace {

// From nice -20 to 19: small weight, and 2^32 / weight, mostly rounded to nearest.
constexpr std::array<std::uint32_t, 40> nice_weights = {
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906,  3121,  2501,  1991,  1586,  1277,  1024,  820,   655,   526,   423,  335,  272,  215,
    172,   137,   110,   87,    70,    56,    45,    36,    29,    23,    18,   15};

constexpr std::array<std::uint32_t, 40> nice_inverses = {
    48388,    59856,    76040,    92818,     118348,    147320,    184698,    229616,
    287308,   360437,   449829,   563644,    704093,    875809,    1099582,   1376151,
    1717300,  2157191,  2708050,  3363326,   4194304,   5237765,   6557202,   8165337,
    10153587, 12820798, 15790321, 19976592,  24970740,  31350126,  39045157,  49367440,
    61356676, 76695844, 95443717, 119304647, 148102320, 186737708, 238609294, 286331153};

constexpr std::uint64_t idle_policy_weight = 3;
constexpr std::uint32_t idle_policy_inverse = 1431655765;

}  // namespace

load_weight weight_of_nice(int nice) noexcept {
  const auto index = static_cast<std::size_t>(nice - min_nice);
  return {std::uint64_t{nice_weights[index]} << weight_resolution_bits, nice_inverses[index]};
}

std::uint64_t latency_slice_ns(std::uint64_t base_slice_ns, int latency_nice) noexcept {
  return (base_slice_ns << 10U) / nice_weights[static_cast<std::size_t>(latency_nice - min_nice)];
}

load_weight weight_of_idle_policy() noexcept {
  return {idle_policy_weight << weight_resolution_bits, idle_policy_inverse};
}

void set_initial_attributes(task& t, sched_policy policy, int nice) noexcept {
  t.policy = policy;
  t.static_nice = static_cast<std::int8_t>(nice);
  t.prio_nice = static_cast<std::int8_t>(nice);
  t.weight = policy == sched_policy::idle ? weight_of_idle_policy() : weight_of_nice(nice);
}

}  // namespace vlag

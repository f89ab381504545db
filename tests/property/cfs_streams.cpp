// SPDX-License-Identifier: Apache-2.0
#include "property/cfs_streams.hpp"

#include <cstdlib>

namespace vlag {
namespace {

constexpr std::uint64_t ms = 1'000'000;

// More cases than RapidCheck's 100, unless whoever runs the tests says otherwise. It reads this at
// the first check.
[[maybe_unused]] const int more_cases = setenv("RC_PARAMS", "max_success=2000", 0);

rc::Gen<std::uint64_t> times(time_scale scale) {
  const auto edges = rc::gen::elementOf(std::vector<std::uint64_t>{
      0, 1, 749'999, 750'000, 750'001, 999'999, ms, ms + 1, 3 * ms, 4 * ms, 5'999'998, 6 * ms});
  const auto any = rc::gen::inRange<std::uint64_t>(0, 8 * ms);
  const auto small = rc::gen::inRange<std::uint64_t>(0, 2'000);
  const auto ticks = rc::gen::weightedOneOf<std::uint64_t>({{3, edges}, {3, any}, {1, small}});
  if (scale == time_scale::ticks) return ticks;
  constexpr std::uint64_t days_104 = std::uint64_t{1} << 53;
  const auto ages = rc::gen::elementOf(
      std::vector<std::uint64_t>{59'000 * ms, 60'001 * ms, 3'600'000 * ms, days_104 - 1, days_104,
                                 days_104 + 1, 2 * days_104});
  return rc::gen::weightedOneOf<std::uint64_t>({{8, ticks}, {1, ages}});
}

rc::Gen<action> actions() {
  return rc::gen::weightedElement<action>({{6, action::run},
                                           {1, action::advance},
                                           {6, action::tick},
                                           {6, action::schedule},
                                           {4, action::block},
                                           {1, action::exit},
                                           {6, action::wake},
                                           {1, action::wake_queued},
                                           {2, action::yield},
                                           {2, action::yield_to},
                                           {2, action::set_nice},
                                           {2, action::set_attributes},
                                           {1, action::reweight},
                                           {4, action::fork},
                                           {1, action::remove},
                                           {1, action::higher_class},
                                           {1, action::set_need_resched}});
}

rc::Gen<int> nices() {
  return rc::gen::weightedOneOf<int>(
      {{3, rc::gen::just(0)}, {2, rc::gen::inRange(-3, 4)}, {2, rc::gen::inRange(-20, 20)}});
}

rc::Gen<sched_policy> policies() {
  return rc::gen::weightedElement<sched_policy>(
      {{4, sched_policy::normal}, {1, sched_policy::batch}, {1, sched_policy::idle}});
}

rc::Gen<step> steps(time_scale scale) {
  const auto weights = rc::gen::oneOf(
      rc::gen::elementOf(std::vector<std::uint64_t>{1, 2, 3 * 1024, 1 << 20, (1 << 20) + 1}),
      rc::gen::inRange<std::uint64_t>(1, std::uint64_t{1} << 26),
      rc::gen::inRange<std::uint64_t>(1, std::uint64_t{1} << 42));
  return rc::gen::build<step>(
      rc::gen::set(&step::what, actions()),
      rc::gen::set(&step::who, rc::gen::inRange<std::uint32_t>(0, 12)),
      rc::gen::set(&step::ns, times(scale)), rc::gen::set(&step::nice, nices()),
      rc::gen::set(&step::policy, policies()), rc::gen::set(&step::weight, weights));
}

}  // namespace

cfs_config draw_config() {
  cfs_config config;
  for (const feature f : {feature::next_buddy, feature::wakeup_preemption,
                          feature::gentle_fair_sleepers, feature::start_debit, feature::last_buddy,
                          feature::cache_hot_buddy, feature::alt_period, feature::base_slice}) {
    if (*rc::gen::inRange(0, 4) == 0) config.features.set(f, !config.features.has(f));
  }
  config.latency_ns = *rc::gen::element<std::uint64_t>(6 * ms, 24 * ms, 10 * ms + 1);
  config.min_granularity_ns = *rc::gen::element<std::uint64_t>(750'000, 3 * ms, 1);
  config.idle_min_granularity_ns = *rc::gen::element<std::uint64_t>(750'000, 200'000);
  config.wakeup_granularity_ns = *rc::gen::element<std::uint64_t>(1 * ms, 4 * ms, 0, 300'000);
  config.nr_latency = *rc::gen::element<std::uint32_t>(8, 2, 3, 4);
  config.child_runs_first = *rc::gen::inRange(0, 3) == 0;
  return config;
}

std::vector<step> draw_stream(time_scale scale) {
  return *rc::gen::container<std::vector<step>>(steps(scale));
}

}  // namespace vlag

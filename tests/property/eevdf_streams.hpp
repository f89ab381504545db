// SPDX-License-Identifier: Apache-2.0
//
// Generators of configurations and streams for RapidCheck.
#pragma once

#include "property/eevdf_twin.hpp"

#include <rapidcheck.h>

#include <cstdlib>

namespace vlag::test {

// More cases than RapidCheck tries by itself; RC_PARAMS in the environment wins.
inline const int rapidcheck_defaults = ::setenv("RC_PARAMS", "max_success=500", 0);

// Where virtual time starts: the reference's place, beside both wraps, and anywhere.
inline rc::Gen<std::uint64_t> start_of_virtual_time() {
  return rc::gen::oneOf(
      rc::gen::just(std::uint64_t{0} - (std::uint64_t{1} << 20)),
      rc::gen::map(rc::gen::inRange<std::uint64_t>(0, 100 * ms), [](auto v) { return 0 - v; }),
      rc::gen::map(rc::gen::inRange<std::uint64_t>(0, 100 * ms),
                   [](auto v) { return (std::uint64_t{1} << 63) - v; }),
      rc::gen::arbitrary<std::uint64_t>());
}

// They come first in the list.
inline constexpr int eevdf_features = static_cast<int>(feature::gentle_fair_sleepers) + 1;

inline rc::Gen<eevdf_config> any_config() {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::inRange(0, eevdf_features * 3),
                     rc::gen::inRange(0, 1 << eevdf_features),
                     rc::gen::element<std::uint64_t>(700 * us, 2800 * us, 3 * ms, 100 * us),
                     rc::gen::element<std::uint64_t>(1 * ms, 4 * ms, 10 * ms)),
      [](const std::tuple<int, int, std::uint64_t, std::uint64_t>& v) {
        eevdf_config config;
        const auto [how, bits, base_slice, tick] = v;
        // A third each: the defaults, one feature turned, any combination.
        for (int f = 0; f != eevdf_features; ++f) {
          const auto which = static_cast<feature>(f);
          if (how % 3 == 1 && how / 3 == f) config.features.set(which, !config.features.has(which));
          if (how % 3 == 2) config.features.set(which, (bits >> f & 1) != 0);
        }
        config.base_slice_ns = base_slice;
        config.tick_ns = tick;
        return config;
      });
}

inline rc::Gen<std::uint64_t> some_slice() {
  return rc::gen::oneOf(rc::gen::just<std::uint64_t>(0),
                        rc::gen::element(1 * us, 100 * us, 500 * us, 3 * ms, 100 * ms),
                        rc::gen::inRange<std::uint64_t>(100 * us, 100 * ms));
}

// Round numbers make ties, odd ones do not, and some are far longer than any request.
inline rc::Gen<std::uint64_t> some_time() {
  return rc::gen::weightedOneOf<std::uint64_t>({{4, rc::gen::element(1 * ms, 3 * ms, 4 * ms)},
                                                {4, rc::gen::inRange<std::uint64_t>(0, 5 * ms)},
                                                {1, rc::gen::inRange<std::uint64_t>(0, 3)},
                                                {1, rc::gen::inRange<std::uint64_t>(0, 100 * ms)}});
}

inline rc::Gen<int> some_nice() {
  return rc::gen::weightedOneOf<int>({{2, rc::gen::just(0)}, {3, rc::gen::inRange(-20, 20)}});
}

inline rc::Gen<sched_policy> some_policy() {
  return rc::gen::weightedElement<sched_policy>(
      {{6, sched_policy::normal}, {1, sched_policy::batch}, {1, sched_policy::idle}});
}

inline rc::Gen<act> some_act() {
  return rc::gen::weightedElement<act>({{30, act::run},
                                        {6, act::pass},
                                        {6, act::fork},
                                        {12, act::block},
                                        {1, act::block_and_wake},
                                        {1, act::exit},
                                        {22, act::wake},
                                        {1, act::remove},
                                        {4, act::yield},
                                        {3, act::yield_to},
                                        {4, act::set_nice},
                                        {4, act::set_slice},
                                        {3, act::set_attributes},
                                        {3, act::reweight},
                                        {25, act::schedule},
                                        {2, act::mark_resched},
                                        {1, act::higher_class}});
}

inline rc::Gen<operation> some_operation() {
  return rc::gen::mapcat(some_act(), [](act what) {
    rc::Gen<std::uint64_t> amount = some_time();
    if (what == act::fork || what == act::set_slice || what == act::set_attributes) {
      amount = some_slice();
    }
    if (what == act::reweight) amount = rc::gen::inRange<std::uint64_t>(2 << 10, 100'000 << 10);
    return rc::gen::construct<operation>(rc::gen::just(what), rc::gen::inRange(0U, 8U), amount,
                                         some_nice(), some_policy());
  });
}

// A queue of some tasks to begin with, then anything.
inline rc::Gen<std::vector<operation>> some_stream(int longest = 300) {
  return rc::gen::withSize([longest](int size) {
    return rc::gen::resize(size * longest / 100, rc::gen::container<std::vector<operation>>(
                                                     rc::gen::resize(100, some_operation())));
  });
}

}  // namespace vlag::test

// SPDX-License-Identifier: Apache-2.0
//
// Generators of streams on trees of groups, for RapidCheck.
#pragma once

#include "property/eevdf_streams.hpp"
#include "property/tree_pair.hpp"

#include <rapidcheck.h>

#include <string>
#include <utility>
#include <vector>

namespace vlag::test {

// Which operations a stream is made of.
using mix = std::vector<std::pair<std::size_t, tree_act>>;

inline const mix everything = {
    {30, tree_act::tick},          {10, tree_act::run},         {4, tree_act::pass},
    {8, tree_act::fork},           {12, tree_act::block},       {2, tree_act::block_and_wake},
    {2, tree_act::exit},           {22, tree_act::wake},        {2, tree_act::remove},
    {3, tree_act::yield},          {3, tree_act::yield_to},     {3, tree_act::set_nice},
    {4, tree_act::set_attributes}, {8, tree_act::move},         {26, tree_act::schedule},
    {2, tree_act::mark_resched},   {1, tree_act::higher_class}, {5, tree_act::make_group},
    {3, tree_act::remove_group},   {5, tree_act::set_weight},   {3, tree_act::set_idle},
    {3, tree_act::set_latency},    {3, tree_act::set_limit},    {5, tree_act::next_timer}};

inline mix with_more(tree_act what, std::size_t weight) {
  mix changed = everything;
  changed.emplace_back(weight, what);
  return changed;
}

inline rc::Gen<tree_act> act_of(const mix& from) {
  std::size_t total = 0;
  for (const auto& [weight, what] : from) total += weight;
  return rc::gen::map(rc::gen::inRange<std::size_t>(0, total), [from](std::size_t at) {
    for (const auto& [weight, what] : from) {
      if (at < weight) return what;
      at -= weight;
    }
    return tree_act::tick;
  });
}

inline rc::Gen<std::uint64_t> amount_for(tree_act what) {
  switch (what) {
    case tree_act::fork:
    case tree_act::set_attributes:
      return some_slice();
    case tree_act::set_weight:
      return rc::gen::oneOf(rc::gen::element<std::uint64_t>(0, 2, 10, 1024, 3072, 1 << 18),
                            rc::gen::inRange<std::uint64_t>(2, 20'000));
    case tree_act::set_limit:
      return rc::gen::oneOf(rc::gen::just<std::uint64_t>(0),
                            rc::gen::inRange<std::uint64_t>(1, 8 * ms));
    case tree_act::next_timer:
      return rc::gen::element<std::uint64_t>(0, 0, 0, 1, 3 * ms, 150 * ms);
    default:
      return some_time();
  }
}

inline rc::Gen<tree_operation> operation_of(const mix& from) {
  return rc::gen::mapcat(act_of(from), [](tree_act what) {
    return rc::gen::construct<tree_operation>(rc::gen::just(what), rc::gen::inRange(0U, 200U),
                                              rc::gen::inRange(0U, 24U), amount_for(what),
                                              some_nice(), some_policy());
  });
}

inline std::vector<tree_operation> stream_of(const mix& from, int longest) {
  return *rc::gen::withSize([&](int size) {
    return rc::gen::resize(size * longest / 100, rc::gen::container<std::vector<tree_operation>>(
                                                     rc::gen::resize(100, operation_of(from))));
  });
}

inline std::vector<tree_operation> some_tree() {
  std::vector<tree_operation> stream;
  const int groups = *rc::gen::inRange(1, 10);
  for (int i = 0; i < groups; ++i) {
    stream.push_back({tree_act::make_group, 0, *rc::gen::inRange(0U, 24U)});
  }
  return stream;
}

// Drives a pair of class and model, and fails at the first difference.
template <typename Twin>
void check_tree(Twin& twin, const std::vector<tree_operation>& stream, std::size_t compare_each) {
  for (std::size_t i = 0; i < stream.size(); ++i) {
    twin.apply(stream[i]);
    if (i % compare_each != 0) continue;
    const std::string found = twin.difference();
    if (!found.empty()) RC_FAIL("after operation " + std::to_string(i) + ":\n" + found);
  }
}

inline std::vector<tree_operation> tree_and_stream(const mix& from, int longest) {
  std::vector<tree_operation> stream = some_tree();
  const std::vector<tree_operation> rest = stream_of(from, longest);
  stream.insert(stream.end(), rest.begin(), rest.end());
  return stream;
}

}  // namespace vlag::test

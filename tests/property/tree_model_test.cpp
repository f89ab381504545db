// SPDX-License-Identifier: Apache-2.0
//
// The class with task groups and bandwidth against the exact model, on random streams. RC_PARAMS
// (seed, max_success) says which and how many; scripts/fuzz-long sums up the operations.
#include "property/eevdf_streams.hpp"
#include "property/tree_twin.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <iostream>

namespace vlag::test {
namespace {

std::uint64_t operations_compared = 0;

class tell_operations : public ::testing::Environment {
 public:
  void TearDown() override {
    std::cout << "compared after " << operations_compared << " operations\n";
  }
};
const auto* const told_at_the_end = ::testing::AddGlobalTestEnvironment(new tell_operations);

// Which operations a stream is made of.
using mix = std::vector<std::pair<std::size_t, tree_act>>;

const mix everything = {
    {30, tree_act::tick},          {10, tree_act::run},         {4, tree_act::pass},
    {8, tree_act::fork},           {12, tree_act::block},       {2, tree_act::block_and_wake},
    {2, tree_act::exit},           {22, tree_act::wake},        {2, tree_act::remove},
    {3, tree_act::yield},          {3, tree_act::yield_to},     {3, tree_act::set_nice},
    {4, tree_act::set_attributes}, {8, tree_act::move},         {26, tree_act::schedule},
    {2, tree_act::mark_resched},   {1, tree_act::higher_class}, {5, tree_act::make_group},
    {3, tree_act::remove_group},   {5, tree_act::set_weight},   {3, tree_act::set_idle},
    {3, tree_act::set_latency},    {3, tree_act::set_limit},    {5, tree_act::next_timer}};

mix with_more(tree_act what, std::size_t weight) {
  mix changed = everything;
  changed.emplace_back(weight, what);
  return changed;
}

rc::Gen<tree_act> act_of(const mix& from) {
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

rc::Gen<std::uint64_t> amount_for(tree_act what) {
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

rc::Gen<tree_operation> operation_of(const mix& from) {
  return rc::gen::mapcat(act_of(from), [](tree_act what) {
    return rc::gen::construct<tree_operation>(rc::gen::just(what), rc::gen::inRange(0U, 200U),
                                              rc::gen::inRange(0U, 24U), amount_for(what),
                                              some_nice(), some_policy());
  });
}

std::vector<tree_operation> stream_of(const mix& from, int longest) {
  return *rc::gen::withSize([&](int size) {
    return rc::gen::resize(size * longest / 100, rc::gen::container<std::vector<tree_operation>>(
                                                     rc::gen::resize(100, operation_of(from))));
  });
}

std::vector<tree_operation> some_tree() {
  std::vector<tree_operation> stream;
  const int groups = *rc::gen::inRange(1, 10);
  for (int i = 0; i < groups; ++i) {
    stream.push_back({tree_act::make_group, 0, *rc::gen::inRange(0U, 24U)});
  }
  return stream;
}

void check_stream(const eevdf_config& config, std::uint64_t start,
                  const std::vector<tree_operation>& stream, std::size_t compare_each = 1) {
  tree_twin twin(config, start);
  for (std::size_t i = 0; i < stream.size(); ++i) {
    twin.apply(stream[i]);
    ++operations_compared;
    if (i % compare_each != 0) continue;
    const std::string found = twin.difference();
    if (!found.empty()) RC_FAIL("after operation " + std::to_string(i) + ":\n" + found);
  }
}

void check_mix(const mix& from, int longest, std::size_t compare_each = 1) {
  std::vector<tree_operation> stream = some_tree();
  const std::vector<tree_operation> rest = stream_of(from, longest);
  stream.insert(stream.end(), rest.begin(), rest.end());
  check_stream(*any_config(), *start_of_virtual_time(), stream, compare_each);
}

RC_GTEST_PROP(eevdf_tree, does_anything, ()) { check_mix(everything, 300); }

RC_GTEST_PROP(eevdf_tree, moves_tasks, ()) { check_mix(with_more(tree_act::move, 60), 250); }

RC_GTEST_PROP(eevdf_tree, runs_out_of_bandwidth, ()) {
  mix limits = with_more(tree_act::set_limit, 15);
  limits.emplace_back(25, tree_act::next_timer);
  check_mix(limits, 250);
}

RC_GTEST_PROP(eevdf_tree, empties_its_groups, ()) {
  mix sleepers = with_more(tree_act::block, 40);
  sleepers.emplace_back(10, tree_act::exit);
  sleepers.emplace_back(10, tree_act::remove_group);
  sleepers.emplace_back(10, tree_act::make_group);
  check_mix(sleepers, 250);
}

RC_GTEST_PROP(eevdf_tree, changes_weights, ()) {
  mix weights = with_more(tree_act::set_weight, 40);
  weights.emplace_back(20, tree_act::set_idle);
  weights.emplace_back(20, tree_act::set_latency);
  check_mix(weights, 250);
}

RC_GTEST_PROP(eevdf_tree, holds_many_tasks, ()) {
  check_mix(with_more(tree_act::fork, 80), 400, 7);
}

}  // namespace
}  // namespace vlag::test

// SPDX-License-Identifier: Apache-2.0
//
// The class with task groups and bandwidth against the exact model, on random streams. RC_PARAMS
// (seed, max_success) says which and how many; scripts/fuzz-long sums up the operations.
#include "property/tree_streams.hpp"
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

void check_mix(const mix& from, int longest, std::size_t compare_each = 1) {
  const std::vector<tree_operation> stream = tree_and_stream(from, longest);
  tree_twin twin(*any_config(), *start_of_virtual_time());
  check_tree(twin, stream, compare_each);
  operations_compared += stream.size();
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

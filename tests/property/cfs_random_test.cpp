// SPDX-License-Identifier: Apache-2.0
//
// The class against the model on random streams. RC_PARAMS="seed=... max_success=..." repeats or
// lengthens a run; a failure is shrunk and shown with its seed.
#include "property/cfs_streams.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace vlag {
namespace {

void class_equals_model(time_scale scale, int chunks) {
  const cfs_config config = draw_config();
  const auto start = *rc::gen::weightedOneOf<std::uint64_t>(
      {{2, rc::gen::just(cfs_queue::initial_min_vruntime)},
       {1, rc::gen::just((std::uint64_t{1} << 63) - 5'000'000)},
       {1, rc::gen::arbitrary<std::uint64_t>()}});
  cfs_twin twin(config, start, *rc::gen::element<std::uint64_t>(0, 1, 1'000'000'007));
  for (int i = 0; i < chunks; ++i) {
    for (const step& s : draw_stream(scale)) {
      twin.apply(s);
      if (!twin.comparable()) {
        RC_TAG("left the comparable range");
        return;
      }
      if (!twin.difference().empty()) RC_FAIL(twin.difference());
    }
  }
}

TEST(cfs_random, decisions_equal_those_of_the_model) {
  EXPECT_TRUE(rc::check("CFS class equals its model, times in ticks",
                        [] { class_equals_model(time_scale::ticks, 4); }));
}

TEST(cfs_random, decisions_equal_those_of_the_model_over_ages) {
  EXPECT_TRUE(rc::check("CFS class equals its model, times up to months",
                        [] { class_equals_model(time_scale::ages, 2); }));
}

}  // namespace
}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// Nothing depends on where virtual time and the clock start: the same stream, shifted, decides the
// same, also across the wrap of 64 bits.
//
// Exceptions of the reference that a stream here keeps out of: a fork without a running parent
// starts from the number 0, and a clock of exactly 0 means "never ran".
#include "property/cfs_streams.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace vlag {
namespace {

constexpr std::uint64_t ms = 1'000'000;

std::uint32_t id_of(const entity* e) { return e == nullptr ? 0 : static_cast<const task*>(e)->id; }

std::vector<std::uint32_t> order_of(const cfs_class& fair) {
  std::vector<std::uint32_t> ids;
  fair.waiting().for_each([&](const entity& e) { ids.push_back(static_cast<const task&>(e).id); });
  return ids;
}

void same_but_for_the_shift(const cfs_twin& a, const cfs_twin& b, std::uint64_t vruntime_shift,
                            std::uint64_t clock_shift) {
  RC_ASSERT(id_of(a.fast().current()) == id_of(b.fast().current()));
  RC_ASSERT(id_of(a.fast().peek()) == id_of(b.fast().peek()));
  RC_ASSERT(a.fast().need_resched() == b.fast().need_resched());
  RC_ASSERT(id_of(a.fast().next_buddy()) == id_of(b.fast().next_buddy()));
  RC_ASSERT(id_of(a.fast().last_buddy()) == id_of(b.fast().last_buddy()));
  RC_ASSERT(id_of(a.fast().skip_buddy()) == id_of(b.fast().skip_buddy()));
  RC_ASSERT(a.fast().min_vruntime() + vruntime_shift == b.fast().min_vruntime());
  RC_ASSERT(a.fast().time_to_request_end() == b.fast().time_to_request_end());
  RC_ASSERT(order_of(a.fast()) == order_of(b.fast()));
  for (std::uint32_t id = 1; id <= cfs_twin::max_tasks; ++id) {
    const task* const x = a.find(id);
    const task* const y = b.find(id);
    RC_ASSERT((x == nullptr) == (y == nullptr));
    if (x == nullptr) continue;
    RC_ASSERT(x->vruntime + vruntime_shift == y->vruntime);
    RC_ASSERT(x->sum_exec_ns == y->sum_exec_ns);
    const std::uint64_t shifted = x->exec_start_ns == 0 ? 0 : x->exec_start_ns + clock_shift;
    RC_ASSERT(shifted == y->exec_start_ns);
  }
}

void shifted_stream_decides_the_same() {
  const cfs_config config = draw_config();
  const auto shift = *rc::gen::oneOf(
      rc::gen::arbitrary<std::uint64_t>(),
      rc::gen::map(rc::gen::inRange<std::uint64_t>(0, 50 * ms), [](std::uint64_t d) { return -d; }),
      rc::gen::map(rc::gen::inRange<std::uint64_t>(0, 50 * ms),
                   [](std::uint64_t d) { return (std::uint64_t{1} << 63) - d; }));
  const auto clock_shift = *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 60);
  cfs_twin a(config, 0, 1);
  cfs_twin b(config, shift, 1 + clock_shift);
  for (cfs_twin* twin : {&a, &b}) twin->place_orphans_at(4 * ms);
  for (int i = 0; i < 4; ++i) {
    for (const step& s : draw_stream(time_scale::ticks)) {
      RC_ASSERT(a.apply(s) == b.apply(s));
      RC_ASSERT(a.difference() == "");
      RC_ASSERT(b.difference() == "");
      RC_ASSERT(a.comparable());
      same_but_for_the_shift(a, b, shift, clock_shift);
    }
  }
}

TEST(cfs_shift, a_shifted_stream_decides_the_same) {
  EXPECT_TRUE(rc::check("CFS decisions do not depend on the origin of virtual time and clock",
                        shifted_stream_decides_the_same));
}

}  // namespace
}  // namespace vlag

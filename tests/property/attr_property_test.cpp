// SPDX-License-Identifier: Apache-2.0
//
// Random sets on random tasks in any state: one that fails, and one that asks for what is so
// already, leave every byte of the class, its storage and its tasks as it was.
#include "vlag/attr.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "core/attr_stream.hpp"
#include "core/one_cpu.hpp"

namespace vlag {
namespace {

using test::attr_memory;
using test::attr_stream;
using test::ms;

constexpr std::size_t tasks = 6;
constexpr std::size_t steps = 150;

attr_stream::choices everything() {
  return {{0, 0, 0, 1, 2, 3, 3, 4, 5, 6, 7, 99, 0x80000000U},
          {0, 48, 56, 60, 60, 60, 60, 64, 128, 1, 47, 50, 5'000},
          {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x80, 0x100}};
}

// Which privileges the host grants, and whether it takes real-time tasks.
struct host_state {
  fair_class* fair;
  std::uint64_t now_ns;
  unsigned granted;
  bool takes_real_time;
  bool displaced = false;
};

attr_host host_of(host_state& state) {
  attr_host host;
  host.context = &state;
  host.permits = [](void* context, const task&, attr_privilege what) noexcept {
    return (static_cast<host_state*>(context)->granted >> static_cast<unsigned>(what) & 1U) != 0;
  };
  host.enter_real_time = [](void* context, task& t, sched_policy, unsigned) noexcept {
    auto& s = *static_cast<host_state*>(context);
    if (!s.takes_real_time || &t == s.fair->current()) return false;
    const bool was_fair = t.policy != sched_policy::fifo && t.policy != sched_policy::round_robin;
    if (was_fair) s.fair->remove(t, s.now_ns);
    return true;
  };
  host.leave_real_time = [](void* context, task& t) noexcept {
    auto& s = *static_cast<host_state*>(context);
    s.displaced = !s.fair->join_asleep(t, s.now_ns);
  };
  return host;
}

constexpr std::size_t storage_places = 16;

// Everything that a set may write to, in one piece of memory.
template <typename Fair, typename Config>
struct world {
  explicit world(const Config& c) : memory(storage_places), config(c) {
    std::memset(static_cast<void*>(memory.bytes().data()), 0, memory.bytes().size());
    storage = std::make_unique<timeline_storage>(memory.bytes(), storage_places);
    fair = std::make_unique<Fair>(config, *storage);
  }

  [[nodiscard]] std::vector<std::byte> bytes() const {
    std::vector<std::byte> all;
    const auto add = [&all](const void* from, std::size_t size) {
      const auto* first = static_cast<const std::byte*>(from);
      all.insert(all.end(), first, first + size);
    };
    add(memory.bytes().data(), memory.bytes().size());
    add(storage.get(), sizeof *storage);
    add(fair.get(), sizeof *fair);
    add(members.data(), sizeof members);
    return all;
  }

  test::storage_memory memory;
  Config config;
  std::unique_ptr<timeline_storage> storage;
  std::unique_ptr<Fair> fair;
  std::array<task, tasks> members;
};

template <typename Fair>
void live_on(Fair& fair, std::array<task, tasks>& members, attr_stream& dice,
             std::uint64_t& now_ns) {
  now_ns += dice.below(5 * ms);
  fair.tick(now_ns);
  if (fair.current() != nullptr && dice.chance(30)) {
    fair.block(now_ns);
    fair.schedule(now_ns);
  }
  task& t = members[dice.below(tasks)];
  const bool real_time = t.policy == sched_policy::fifo || t.policy == sched_policy::round_robin;
  if (!real_time && (!t.queued || t.sched_delayed)) fair.wake(t, now_ns);
  if (fair.need_resched() || fair.current() == nullptr) fair.schedule(now_ns);
}

sched_attr same_again(sched_attr attr, const attr_memory& asked) {
  std::uint64_t flags = 0;
  std::memcpy(&flags, asked.data() + offsetof(sched_attr, flags), sizeof flags);
  attr.flags |= flags & (sched_flag::util_clamp_min | sched_flag::util_clamp_max);
  attr.flags |= sched_flag::latency_nice;
  return attr;
}

class fair_world : public world<fair_class, eevdf_config> {
 public:
  fair_world() : world(test::three_ms_slices()) {}
};
class cfs_world : public world<cfs_class, cfs_config> {
 public:
  cfs_world() : world(cfs_config{}) {}
};

}  // namespace

// Real-time tasks are the EEVDF class's alone here: the host above is written for it.
RC_GTEST_PROP(attr_law, a_set_that_fails_or_changes_nothing_leaves_every_byte,
              (std::uint64_t seed)) {
  fair_world w;
  attr_stream dice(seed, everything());
  std::uint64_t now_ns = 1;
  host_state state{w.fair.get(), now_ns, 0x1f, true};
  const attr_host host = host_of(state);
  for (task& t : w.members) {
    set_initial_attributes(t, sched_policy::normal, 0);
    RC_ASSERT(w.fair->fork(t, now_ns));
  }
  std::size_t failed = 0;
  std::size_t succeeded = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    live_on(*w.fair, w.members, dice, now_ns);
    state.now_ns = now_ns;
    state.granted = dice.chance(80) ? 0x1fU : static_cast<unsigned>(dice.below(0x20));
    state.takes_real_time = dice.chance(70);
    task& t = w.members[dice.below(tasks)];
    attr_memory memory = dice.next();
    const attr_memory asked = memory;
    const std::vector<std::byte> before = w.bytes();
    now_ns += dice.below(1'000);
    const attr_error result = set_attr(*w.fair, &t, memory, now_ns, host);
    RC_ASSERT(!state.displaced);
    if (result != attr_error::none) {
      ++failed;
      RC_ASSERT(w.bytes() == before);
      if (result != attr_error::too_big) RC_ASSERT(memory == asked);
      continue;
    }
    ++succeeded;
    state.granted = 0;  // what is so already needs no privilege
    const std::vector<std::byte> after = w.bytes();
    const sched_attr again = same_again(attributes_of(*w.fair, t), asked);
    RC_ASSERT(set_attr(*w.fair, &t, again, now_ns + 1, host) == attr_error::none);
    RC_ASSERT(w.bytes() == after);
  }
  RC_ASSERT(failed > steps / 5);
  RC_ASSERT(succeeded > steps / 10);
}

RC_GTEST_PROP(attr_law, under_cfs_too, (std::uint64_t seed)) {
  cfs_world w;
  attr_stream dice(seed, everything());
  std::uint64_t now_ns = 1;
  for (task& t : w.members) {
    set_initial_attributes(t, sched_policy::normal, 0);
    RC_ASSERT(w.fair->fork(t, now_ns));
  }
  for (std::size_t i = 0; i < steps; ++i) {
    live_on(*w.fair, w.members, dice, now_ns);
    task& t = w.members[dice.below(tasks)];
    attr_memory memory = dice.next();
    const std::vector<std::byte> before = w.bytes();
    const attr_error result = set_attr(*w.fair, &t, memory, now_ns);
    if (result != attr_error::none) RC_ASSERT(w.bytes() == before);
    const sched_attr now_so = attributes_of(*w.fair, t);
    const std::vector<std::byte> after = w.bytes();
    RC_ASSERT(set_attr(*w.fair, &t, same_again(now_so, memory), now_ns) == attr_error::none);
    RC_ASSERT(w.bytes() == after);
  }
}

}  // namespace vlag

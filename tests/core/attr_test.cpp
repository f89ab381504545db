// SPDX-License-Identifier: Apache-2.0
#include "vlag/attr.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "core/one_cpu.hpp"

namespace vlag {
namespace {

using test::ms;
using test::one_cpu;
using test::us;

sched_attr normal(int nice = 0, std::uint64_t runtime_ns = 0) {
  sched_attr attr;
  attr.nice = nice;
  attr.runtime_ns = runtime_ns;
  return attr;
}

sched_attr with_latency_nice(int latency_nice, std::uint64_t runtime_ns = 0) {
  sched_attr attr = normal(0, runtime_ns);
  attr.flags = sched_flag::latency_nice;
  attr.latency_nice = latency_nice;
  return attr;
}

// The structure in memory that is longer than it, with a size in it.
std::array<std::byte, 4200> in_memory(const sched_attr& attr, std::uint32_t size) {
  std::array<std::byte, 4200> bytes{};
  std::memcpy(bytes.data(), &attr, sizeof attr);
  std::memcpy(bytes.data(), &size, sizeof size);
  return bytes;
}

std::uint32_t size_in(const std::array<std::byte, 4200>& bytes) {
  std::uint32_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  return size;
}

void expect_same(const task& a, const task& b) {
  EXPECT_EQ(a.policy, b.policy);
  EXPECT_EQ(a.static_nice, b.static_nice);
  EXPECT_EQ(a.prio_nice, b.prio_nice);
  EXPECT_EQ(a.latency_nice, b.latency_nice);
  EXPECT_EQ(a.slice_ns, b.slice_ns);
  EXPECT_EQ(a.custom_slice, b.custom_slice);
  EXPECT_EQ(a.latency_slice, b.latency_slice);
  EXPECT_EQ(a.reset_on_fork, b.reset_on_fork);
  EXPECT_EQ(a.rt_priority, b.rt_priority);
  EXPECT_EQ(a.util_min, b.util_min);
  EXPECT_EQ(a.util_max, b.util_max);
  EXPECT_EQ(a.weight.full, b.weight.full);
  EXPECT_EQ(a.vruntime, b.vruntime);
  EXPECT_EQ(a.deadline, b.deadline);
  EXPECT_EQ(a.vlag, b.vlag);
  EXPECT_EQ(a.timeline_hook, b.timeline_hook);
  EXPECT_EQ(a.group, b.group);
}

void expect_refused(attr_error expected, const sched_attr& attr, const attr_host& host = {}) {
  one_cpu cpu;
  cpu.fork();
  task& t = cpu.fork(3, 1 * ms);
  cpu.run_and_switch(1 * ms);
  const task before = t;
  EXPECT_EQ(set_attr(cpu.fair, &t, attr, cpu.now + 1, host), expected);
  expect_same(t, before);
}

TEST(attr, the_latency_slice_is_the_base_slice_by_the_weight_of_that_nice_level) {
  EXPECT_EQ(latency_slice_ns(3 * ms, -20), 34'609U);
  EXPECT_EQ(latency_slice_ns(3 * ms, 0), 3 * ms);
  EXPECT_EQ(latency_slice_ns(3 * ms, 19), 204'800'000U);
}

TEST(attr, each_size_is_read_and_a_larger_one_only_with_zeros_behind) {
  one_cpu cpu;
  task& t = cpu.fork();
  for (const std::uint32_t size : {0U, 48U, 56U, 60U, 64U, 4096U}) {
    auto bytes = in_memory(normal(static_cast<int>(size % 7)), size);
    EXPECT_EQ(set_attr(cpu.fair, &t, bytes, 0), attr_error::none) << size;
    EXPECT_EQ(t.static_nice, static_cast<int>(size % 7));
  }
  for (const std::uint32_t size : {1U, 47U, 4097U}) {
    auto bytes = in_memory(normal(), size);
    EXPECT_EQ(set_attr(cpu.fair, &t, bytes, 0), attr_error::too_big) << size;
    EXPECT_EQ(size_in(bytes), sched_attr_size_ver2);
  }
  for (const std::uint32_t at : {60U, 63U, 4095U}) {
    auto bytes = in_memory(normal(), 4096);
    bytes[at] = std::byte{1};
    EXPECT_EQ(set_attr(cpu.fair, &t, bytes, 0), attr_error::too_big) << at;
    EXPECT_EQ(size_in(bytes), sched_attr_size_ver2);
  }
  auto bytes = in_memory(normal(), 60);
  const std::span<std::byte> all(bytes);
  EXPECT_EQ(set_attr(cpu.fair, &t, all.first(59), 0), attr_error::bad_address);
  EXPECT_EQ(set_attr(cpu.fair, &t, all.first(3), 0), attr_error::bad_address);
}

TEST(attr, a_flag_needs_the_size_that_has_its_field) {
  one_cpu cpu;
  task& t = cpu.fork();
  const auto with_flag = [&](std::uint64_t flag, std::uint32_t size) {
    sched_attr attr = normal();
    attr.flags = flag;
    attr.util_max = most_util;
    auto bytes = in_memory(attr, size);
    return set_attr(cpu.fair, &t, bytes, 0);
  };
  EXPECT_EQ(with_flag(sched_flag::util_clamp_min, 48), attr_error::invalid);
  EXPECT_EQ(with_flag(sched_flag::util_clamp_max, 55), attr_error::invalid);
  EXPECT_EQ(with_flag(sched_flag::util_clamp_max, 56), attr_error::none);
  EXPECT_EQ(with_flag(sched_flag::latency_nice, 59), attr_error::invalid);
  EXPECT_EQ(with_flag(sched_flag::latency_nice, 60), attr_error::none);
}

TEST(attr, bad_values_are_refused_and_change_nothing) {
  for (const std::uint32_t policy : {4U, 6U, 7U, 99U, 0x80000000U}) {
    sched_attr attr = normal(5);
    attr.policy = policy;
    expect_refused(attr_error::invalid, attr);
  }
  for (const std::uint64_t flag : {std::uint64_t{0x100}, std::uint64_t{1} << 63}) {
    sched_attr attr = normal(5);
    attr.flags = flag;
    expect_refused(attr_error::invalid, attr);
  }
  expect_refused(attr_error::invalid, with_latency_nice(-21));
  expect_refused(attr_error::invalid, with_latency_nice(20));
  sched_attr attr = normal(5);
  attr.rt_priority = 1;
  expect_refused(attr_error::invalid, attr);
  attr.policy = static_cast<std::uint32_t>(sched_policy::fifo);
  expect_refused(attr_error::invalid, attr);  // the host has no real-time class
  attr = normal(5);
  attr.flags = sched_flag::util_clamp_min;
  attr.util_min = 1025;
  expect_refused(attr_error::invalid, attr);
  attr.flags |= sched_flag::util_clamp_max;
  attr.util_min = 600;
  attr.util_max = 599;
  expect_refused(attr_error::invalid, attr);
}

TEST(attr, an_unknown_task_is_told_after_a_bad_structure_and_before_a_bad_value) {
  one_cpu cpu;
  sched_attr attr = normal();
  attr.policy = 99;
  EXPECT_EQ(set_attr(cpu.fair, nullptr, attr, 0), attr_error::no_such_task);
  attr.policy = 0x80000000U;
  EXPECT_EQ(set_attr(cpu.fair, nullptr, attr, 0), attr_error::invalid);
  std::array<std::byte, 60> bytes{};
  EXPECT_EQ(get_attr(cpu.fair, nullptr, bytes), attr_error::no_such_task);
}

TEST(attr, the_host_may_refuse_what_raises_a_task) {
  struct refusal {
    attr_privilege what;
    int asked;
  } refusing{attr_privilege::lower_nice, 0};
  attr_host host;
  host.context = &refusing;
  host.permits = [](void* context, const task&, attr_privilege what) noexcept {
    auto& r = *static_cast<refusal*>(context);
    ++r.asked;
    return what != r.what;
  };
  expect_refused(attr_error::not_permitted, normal(2), host);
  refusing.what = attr_privilege::lower_latency_nice;
  expect_refused(attr_error::not_permitted, with_latency_nice(-1), host);
  refusing.asked = 0;
  one_cpu cpu;
  task& t = cpu.fork();
  EXPECT_EQ(set_attr(cpu.fair, &t, normal(4), 0, host), attr_error::none);
  EXPECT_EQ(refusing.asked, 0);
}

TEST(attr, nice_and_slice_are_clamped) {
  one_cpu cpu;
  task& t = cpu.fork();
  EXPECT_EQ(set_attr(cpu.fair, &t, normal(-100, 1), 0), attr_error::none);
  EXPECT_EQ(t.static_nice, -20);
  EXPECT_EQ(t.slice_ns, 100 * us);
  EXPECT_EQ(set_attr(cpu.fair, &t, normal(100, 1'000 * ms), 0), attr_error::none);
  EXPECT_EQ(t.static_nice, 19);
  EXPECT_EQ(t.slice_ns, 100 * ms);
}

TEST(attr, a_set_that_changes_nothing_does_not_requeue) {
  for (const std::uint64_t slice_ns : {std::uint64_t{0}, std::uint64_t{1}, 2 * ms}) {
    one_cpu cpu;
    cpu.fork();
    task& t = cpu.fork();
    task& after = cpu.fork();
    ASSERT_EQ(set_attr(cpu.fair, &t, normal(2, slice_ns), 0), attr_error::none);
    ASSERT_EQ(set_attr(cpu.fair, &after, normal(2, slice_ns), 0), attr_error::none);
    cpu.pass(50 * us);
    const task before = t;
    EXPECT_EQ(set_attr(cpu.fair, &t, normal(2, slice_ns), cpu.now), attr_error::none);
    expect_same(t, before);
    sched_attr as_read = attributes_of(cpu.fair, t);
    EXPECT_EQ(set_attr(cpu.fair, &t, as_read, cpu.now), attr_error::none);
    expect_same(t, before);
  }
}

TEST(attr, keep_policy_and_keep_params_keep_them) {
  one_cpu cpu;
  task& t = cpu.fork(3, 1 * ms, sched_policy::batch);
  sched_attr attr = normal(7);
  attr.flags = sched_flag::keep_policy;
  EXPECT_EQ(set_attr(cpu.fair, &t, attr, 0), attr_error::none);
  EXPECT_EQ(t.policy, sched_policy::batch);
  EXPECT_EQ(t.static_nice, 7);
  attr = normal(-3, 9 * ms);
  attr.flags = sched_flag::keep_params | sched_flag::reset_on_fork;
  EXPECT_EQ(set_attr(cpu.fair, &t, attr, 0), attr_error::none);
  EXPECT_EQ(t.policy, sched_policy::batch);
  EXPECT_EQ(t.static_nice, 7);
  EXPECT_TRUE(t.reset_on_fork);
}

TEST(attr, an_own_slice_wins_over_latency_nice) {
  one_cpu cpu;
  task& t = cpu.fork();
  EXPECT_EQ(set_attr(cpu.fair, &t, with_latency_nice(-20), 0), attr_error::none);
  EXPECT_EQ(t.slice_ns, 34'609U);
  EXPECT_EQ(set_attr(cpu.fair, &t, normal(0, 2 * ms), 0), attr_error::none);
  EXPECT_EQ(t.slice_ns, 2 * ms);
  EXPECT_EQ(t.latency_nice, -20);
  EXPECT_EQ(set_attr(cpu.fair, &t, normal(), 0), attr_error::none);
  EXPECT_EQ(t.slice_ns, 34'609U);
  sched_attr back = attributes_of(cpu.fair, t);  // read, changed, written
  back.flags = sched_flag::latency_nice;
  back.latency_nice = 0;
  EXPECT_EQ(set_attr(cpu.fair, &t, back, 0), attr_error::none);
  EXPECT_EQ(t.slice_ns, 3 * ms);
  EXPECT_FALSE(t.custom_slice);
}

TEST(attr, an_idle_task_keeps_its_own_slice_and_follows_latency_nice_without_one) {
  one_cpu cpu;
  task& with_own = cpu.fork(0, 2 * ms);
  task& without = cpu.fork();
  sched_attr attr = with_latency_nice(-10, 7 * ms);
  attr.policy = static_cast<std::uint32_t>(sched_policy::idle);
  for (task* t : {&with_own, &without}) {
    ASSERT_EQ(set_attr(cpu.fair, t, attr, 0), attr_error::none);
    EXPECT_EQ(t->weight.full, weight_of_idle_policy().full);
  }
  EXPECT_EQ(with_own.slice_ns, 2 * ms);
  EXPECT_EQ(without.slice_ns, latency_slice_ns(3 * ms, -10));
  attr.latency_nice = 0;
  for (task* t : {&with_own, &without}) {
    ASSERT_EQ(set_attr(cpu.fair, t, attr, 0), attr_error::none);
  }
  EXPECT_EQ(with_own.slice_ns, 2 * ms);
  EXPECT_EQ(without.slice_ns, 3 * ms);
  EXPECT_FALSE(without.custom_slice);
}

TEST(attr, the_size_in_a_structure_says_how_much_of_it_counts) {
  for (const std::uint32_t size : {1U, 47U, 65U, 4096U}) {
    sched_attr attr = normal(5);
    attr.size = size;
    expect_refused(attr_error::too_big, attr);
  }
  one_cpu cpu;
  sched_attr attr = with_latency_nice(5);
  attr.size = sizeof attr;
  EXPECT_EQ(set_attr(cpu.fair, &cpu.fork(), attr, 0), attr_error::none);
  attr.size = sched_attr_size_ver1;
  expect_refused(attr_error::invalid, attr);
  attr.size = 0;
  attr.flags = sched_flag::util_clamp_min;
  expect_refused(attr_error::invalid, attr);
}

// The base slice at the next request, without being told.
TEST(attr, without_a_slice_the_base_slice_counts_from_the_next_request) {
  one_cpu cpu;
  task& t = cpu.fork();
  cpu.fork();
  cpu.schedule();
  cpu.config.base_slice_ns = 1 * ms;
  EXPECT_EQ(attributes_of(cpu.fair, t).runtime_ns, 3 * ms);
  for (int i = 0; i < 20; ++i) cpu.run_and_switch(1 * ms);
  EXPECT_EQ(attributes_of(cpu.fair, t).runtime_ns, 1 * ms);
}

TEST(attr, the_latency_slice_follows_the_base_slice) {
  one_cpu cpu;
  task& t = cpu.fork();
  EXPECT_EQ(set_attr(cpu.fair, &t, with_latency_nice(19), 0), attr_error::none);
  EXPECT_FALSE(latency_base_changed(cpu.fair, t, 0));
  cpu.config.base_slice_ns = 1 * ms;
  EXPECT_TRUE(latency_base_changed(cpu.fair, t, 0));
  EXPECT_EQ(t.slice_ns, 68'266'666U);
}

TEST(attr, latency_nice_moves_decisions_as_the_slice_of_that_length_does) {
  one_cpu by_nice, by_slice;
  for (one_cpu* cpu : {&by_nice, &by_slice}) {
    for (int i = 0; i < 3; ++i) cpu->fork();
    cpu->schedule();
  }
  const auto change = [&](std::size_t i, int latency_nice) {
    by_nice.pass(300 * us);
    by_slice.pass(300 * us);
    ASSERT_EQ(
        set_attr(by_nice.fair, &by_nice.tasks[i], with_latency_nice(latency_nice), by_nice.now),
        attr_error::none);
    by_slice.fair.set_slice(by_slice.tasks[i], latency_slice_ns(3 * ms, latency_nice),
                            by_slice.now);
  };
  change(2, -12);
  change(0, 8);
  change(1, -3);
  for (int i = 0; i < 2'000; ++i) {
    const task* a = by_nice.run_and_switch(250 * us);
    const task* b = by_slice.run_and_switch(250 * us);
    ASSERT_EQ(a->id, b->id) << i;
    ASSERT_EQ(a->vruntime, b->vruntime);
    ASSERT_EQ(a->deadline, b->deadline);
  }
}

TEST(attr, reading_gives_every_field_as_far_as_the_caller_knows_them) {
  one_cpu cpu;
  task& t = cpu.fork();
  sched_attr attr = with_latency_nice(-7, 2 * ms);
  attr.flags |= sched_flag::reset_on_fork | sched_flag::util_clamp_min | sched_flag::util_clamp_max;
  attr.policy = static_cast<std::uint32_t>(sched_policy::batch);
  attr.nice = 5;
  attr.util_min = 100;
  attr.util_max = 900;
  ASSERT_EQ(set_attr(cpu.fair, &t, attr, 0), attr_error::none);
  for (const std::size_t size : {48U, 56U, 60U, 4096U}) {
    std::vector<std::byte> bytes(size, std::byte{0xa5});
    ASSERT_EQ(get_attr(cpu.fair, &t, bytes), attr_error::none);
    sched_attr got;
    const std::size_t known = std::min<std::size_t>(size, 60);
    std::memcpy(static_cast<void*>(&got), bytes.data(), known);
    EXPECT_EQ(got.size, known);
    EXPECT_EQ(got.policy, 3U);
    EXPECT_EQ(got.flags, sched_flag::reset_on_fork);
    EXPECT_EQ(got.nice, 5);
    EXPECT_EQ(got.runtime_ns, 2 * ms);
    EXPECT_EQ(got.util_min, size >= 56 ? 100U : 0U);
    EXPECT_EQ(got.util_max, size >= 56 ? 900U : 0U);
    EXPECT_EQ(got.latency_nice, size >= 60 ? -7 : 0);
    for (std::size_t i = known; i < size; ++i) ASSERT_EQ(bytes[i], std::byte{0xa5});
  }
  std::vector<std::byte> bytes(4097);
  EXPECT_EQ(get_attr(cpu.fair, &t, bytes), attr_error::invalid);
  EXPECT_EQ(get_attr(cpu.fair, &t, std::span(bytes).first(47)), attr_error::invalid);
  EXPECT_EQ(rr_interval_ns(cpu.fair, t), 2 * ms);
}

TEST(attr, a_child_inherits_unless_it_is_to_be_reset) {
  one_cpu cpu;
  task& t = cpu.fork(-5, 0, sched_policy::batch);
  sched_attr attr = with_latency_nice(-10);
  attr.flags |= sched_flag::keep_policy | sched_flag::util_clamp_min;
  attr.nice = -5;
  attr.util_min = 300;
  ASSERT_EQ(set_attr(cpu.fair, &t, attr, 0), attr_error::none);
  task child;
  inherit_attributes(child, t);
  EXPECT_EQ(child.policy, sched_policy::batch);
  EXPECT_EQ(child.static_nice, -5);
  EXPECT_EQ(child.latency_nice, -10);
  EXPECT_EQ(child.slice_ns, t.slice_ns);
  EXPECT_EQ(child.util_min, 300);
  ASSERT_TRUE(cpu.fair.fork(child, 0));
  EXPECT_EQ(child.slice_ns, latency_slice_ns(3 * ms, -10));

  for (const int nice : {-5, 5}) {
    task reset;
    t.reset_on_fork = true;
    t.static_nice = static_cast<std::int8_t>(nice);
    inherit_attributes(reset, t);
    EXPECT_EQ(reset.policy, sched_policy::normal);
    EXPECT_EQ(reset.static_nice, std::max(nice, 0));
    EXPECT_EQ(reset.weight.full, weight_of_nice(std::max(nice, 0)).full);
    EXPECT_EQ(reset.latency_nice, 0);
    EXPECT_FALSE(reset.custom_slice);
    EXPECT_FALSE(reset.reset_on_fork);
    EXPECT_EQ(reset.util_min, 0);
  }
  cpu.fair.remove(child, 0);
}

TEST(attr, a_real_time_policy_is_the_hosts_to_carry_out) {
  one_cpu cpu;
  task& t = cpu.fork(4);
  attr_host host;
  host.context = &cpu;
  host.enter_real_time = [](void* context, task& who, sched_policy, unsigned) noexcept {
    auto& c = *static_cast<one_cpu*>(context);
    if (who.queued) c.fair.remove(who, c.now);
    return true;
  };
  host.leave_real_time = [](void* context, task& who) noexcept {
    auto& c = *static_cast<one_cpu*>(context);
    if (c.fair.join_asleep(who, c.now)) c.fair.wake(who, c.now);
  };
  sched_attr attr = normal();
  attr.policy = static_cast<std::uint32_t>(sched_policy::round_robin);
  attr.rt_priority = 20;
  ASSERT_EQ(set_attr(cpu.fair, &t, attr, 0, host), attr_error::none);
  EXPECT_FALSE(t.queued);
  EXPECT_EQ(attributes_of(cpu.fair, t).rt_priority, 20U);
  EXPECT_EQ(rr_interval_ns(cpu.fair, t), 100 * ms);
  ASSERT_EQ(set_attr(cpu.fair, &t, normal(-3, 5 * ms), 0, host), attr_error::none);
  EXPECT_TRUE(t.queued);
  EXPECT_EQ(t.rt_priority, 0);
  EXPECT_EQ(t.slice_ns, 5 * ms);
  EXPECT_EQ(t.weight.full, weight_of_nice(-3).full);
}

TEST(attr, cfs_carries_slice_and_latency_nice_without_effect) {
  test::storage_memory memory(4);
  timeline_storage storage(memory.bytes(), 4);
  const cfs_config config;
  cfs_class fair(config, storage);
  std::array<task, 2> tasks;
  for (task& t : tasks) {
    set_initial_attributes(t, sched_policy::normal, 0);
    ASSERT_TRUE(fair.fork(t, 0));
  }
  const std::uint64_t vruntime = tasks[1].vruntime;
  const std::uint32_t place = tasks[1].timeline_hook;
  ASSERT_EQ(set_attr(fair, &tasks[1], with_latency_nice(-9, 50 * us), 0), attr_error::none);
  EXPECT_EQ(tasks[1].vruntime, vruntime);
  EXPECT_EQ(tasks[1].timeline_hook, place);
  EXPECT_EQ(attributes_of(fair, tasks[1]).runtime_ns, 100 * us);
  EXPECT_EQ(attributes_of(fair, tasks[1]).latency_nice, -9);
  EXPECT_EQ(rr_interval_ns(fair, tasks[1]), fair.slice_of(tasks[1]));
  for (task& t : tasks) fair.remove(t, 0);
}

}  // namespace
}  // namespace vlag

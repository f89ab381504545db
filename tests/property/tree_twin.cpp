// SPDX-License-Identifier: Apache-2.0
#include "property/tree_twin.hpp"

#include "vlag/weight.hpp"

#include <string>
#include <vector>

namespace vlag::test {
std::string tree_twin::difference() {
  std::string found;
  if (!answers_equal_) found += "an operation answered something else\n";
  expect(found, "current", model_.current(), number_of(cpu_.fair.current()));
  expect(found, "need_resched", model_.need_resched(), cpu_.fair.need_resched());
  expect(found, "anomalies", 0, cpu_.fair.anomalies());
  for (const int g : living(true)) {
    compare_queue(g, found);
    if (g != 0) compare_bandwidth(g, found);
    if (g != 0) compare_entity(g, found);
  }
  for (const int who : living(false)) compare_entity(who, found);
  return found;
}

void tree_twin::compare_queue(int g, std::string& found) {
  const auto& r = model_.rows()[static_cast<std::size_t>(g)];
  const task_group* group = nodes_[static_cast<std::size_t>(g)].as_group;
  const fair_level& level = cpu_.fair.level(group);
  const run_queue& queue = level.queue;
  const std::string name = "group " + std::to_string(g) + ' ';
  const std::vector<int> members = model_.on_queue(g);
  const auto [queued, delayed, idle] = model_.tasks_below(g);
  expect(found, name + "running", r.running, number_of(queue.current()));
  expect(found, name + "buddy", r.buddy, number_of(queue.buddy()));
  expect(found, name + "nr_queued", members.size(), queue.nr_queued());
  expect(found, name + "h_nr_queued", queued, level.h_nr_queued);
  expect(found, name + "h_nr_runnable", queued - delayed, level.h_nr_runnable);
  expect(found, name + "h_nr_delayed", delayed, level.h_nr_delayed);
  expect(found, name + "h_nr_idle", idle, level.h_nr_idle);
  expect(found, name + "V", model_.average(g), queue.average_vruntime());
  expect(found, name + "W", model_.total_weight(g), queue.total_weight());
  expect(found, name + "min_slice", model_.min_slice(g), cpu_.fair.min_slice(group));
  expect(found, name + "peek", members.empty() ? -1 : model_.pick(g),
         number_of(cpu_.fair.peek_in(group)));

  std::uint64_t load = 0;
  std::uint32_t idle_here = 0;
  std::uint32_t tasks_here = 0;
  for (const int who : members) {
    load += model_.rows()[static_cast<std::size_t>(who)].full_weight;
    idle_here += model_.is_idle(who) ? 1 : 0;
  }
  for (const int who : living(false)) {
    tasks_here += model_.rows()[static_cast<std::size_t>(who)].parent == g ? 1 : 0;
  }
  expect(found, name + "load", load, queue.load());
  expect(found, name + "nr_idle", idle_here, level.nr_idle);
  expect(found, name + "nr_tasks", tasks_here, group->nr_tasks());

  std::vector<int> order;
  std::int64_t sum = 0;
  queue.waiting().for_each([&](const entity& e) {
    order.push_back(number_of(&e));
    sum += signed_difference(e.vruntime, queue.reference()) *
           static_cast<std::int64_t>(small_weight(e.weight.full));
  });
  if (order != model_.waiting(g)) found += name + "timeline order\n";
  expect(found, name + "S", sum, queue.weighted_sum());
}

void tree_twin::compare_bandwidth(int g, std::string& found) const {
  const auto& r = model_.rows()[static_cast<std::size_t>(g)];
  const task_group* group = nodes_[static_cast<std::size_t>(g)].as_group;
  const fair_level& level = cpu_.fair.level(group);
  const bandwidth_pool& pool = group->bandwidth();
  const std::string name = "group " + std::to_string(g) + ' ';
  expect(found, name + "shares", r.shares, group->shares());
  expect(found, name + "idle", r.idle, group->idle());
  expect(found, name + "throttled", r.throttled, level.throttled);
  expect(found, name + "throttle_count", model_.throttled_above(g), level.throttle_count);
  expect(found, name + "in hand", r.in_hand_ns, level.remaining_ns);
  expect(found, name + "pool", r.pool.runtime_ns, pool.runtime_ns);
  expect(found, name + "pool idle", r.pool.idle, pool.idle);
  expect(found, name + "timer", r.pool.timer_armed, pool.timer_armed);
  expect(found, name + "timer expires", r.pool.timer_expires_ns, pool.timer_expires_ns);
  expect(found, name + "periods", r.pool.nr_periods, pool.nr_periods);
  expect(found, name + "throttled periods", r.pool.nr_throttled, pool.nr_throttled);
}

void tree_twin::compare_entity(int who, std::string& found) const {
  const auto& r = model_.rows()[static_cast<std::size_t>(who)];
  const node& n = nodes_[static_cast<std::size_t>(who)];
  const entity& e = r.is_group ? static_cast<const entity&>(cpu_.fair.level(n.as_group))
                               : static_cast<const entity&>(*n.as_task);
  const run_queue& queue = level_of(e).queue;
  const std::string name = (r.is_group ? "entity " : "task ") + std::to_string(who) + ' ';
  expect(found, name + "queued", r.queued, e.queued);
  expect(found, name + "delayed", r.delayed, e.sched_delayed);
  expect(found, name + "parent", r.parent, number_of(e.parent));
  expect(found, name + "weight", r.full_weight, e.weight.full);
  expect(found, name + "slice", r.slice_ns, e.slice_ns);
  expect(found, name + "service", r.service_ns, e.sum_exec_ns);
  expect(found, name + "relative", r.relative, e.rel_deadline);
  if (!r.queued) return expect(found, name + "lag kept", r.vlag, e.vlag);
  expect(found, name + "vruntime", r.vruntime, e.vruntime);
  expect(found, name + "deadline", r.deadline, e.deadline);
  expect(found, name + "eligible", model_.eligible(who), queue.eligible(e));
  if (queue.current() == &e) {
    expect(found, name + "protected", r.token == r.deadline, queue.slice_protected(e));
  }
}

}  // namespace vlag::test

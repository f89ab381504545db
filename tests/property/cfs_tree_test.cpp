// SPDX-License-Identifier: Apache-2.0
//
// The CFS class with task groups against the exact model, on random streams.
#include "property/cfs_tree_model.hpp"
#include "property/tree_streams.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace vlag::test {
namespace {

class cfs_tree_twin : public tree_pair<grouped_cfs_cpu, cfs_tree_model> {
 public:
  using tree_pair::tree_pair;

  // What differs now, in words; empty: nothing.
  std::string difference() {
    std::string found;
    if (!answers_equal_) found += "an operation answered something else\n";
    expect(found, "current", model_.current(), number_of(cpu_.fair.current()));
    expect(found, "need_resched", model_.need_resched(), cpu_.fair.need_resched());
    expect(found, "anomalies", 0, cpu_.fair.anomalies());
    for (const int g : living(true)) {
      compare_queue(g, found);
      if (g != 0) compare_entity(g, found);
    }
    for (const int who : living(false)) compare_entity(who, found);
    return found;
  }

 private:
  void compare_queue(int g, std::string& found) {
    const auto& r = model_.rows()[static_cast<std::size_t>(g)];
    const task_group* group = nodes_[static_cast<std::size_t>(g)].as_group;
    const cfs_level& level = cpu_.fair.level(group);
    const cfs_queue& queue = level.queue;
    const std::string name = "group " + std::to_string(g) + ' ';
    const auto [queued, idle] = model_.tasks_below(g);
    expect(found, name + "min_vruntime", r.floor, queue.min_vruntime());
    expect(found, name + "running", r.running, number_of(queue.current()));
    expect(found, name + "next", r.next, number_of(queue.next_buddy()));
    expect(found, name + "last", r.last, number_of(queue.last_buddy()));
    expect(found, name + "skip", r.skip, number_of(queue.skip_buddy()));
    expect(found, name + "nr_queued", model_.on_queue(g).size(), queue.nr_queued());
    expect(found, name + "nr_idle", model_.idle_here(g), queue.nr_idle());
    expect(found, name + "h_nr_queued", queued, level.h_nr_queued);
    expect(found, name + "h_nr_idle", idle, level.h_nr_idle);
    expect(found, name + "load", model_.load(g), queue.load());
    expect(found, name + "peek", model_.pick(g), number_of(cpu_.fair.peek_in(group)));
    expect(found, name + "shares", r.shares, group->shares());
    expect(found, name + "idle", r.idle, group->idle());
    std::uint32_t tasks_here = 0;
    for (const int who : living(false)) {
      tasks_here += model_.rows()[static_cast<std::size_t>(who)].parent == g ? 1 : 0;
    }
    expect(found, name + "nr_tasks", tasks_here, group->nr_tasks());
    std::vector<int> order;
    queue.waiting().for_each([&](const entity& e) { order.push_back(number_of(&e)); });
    if (order != model_.waiting(g)) found += name + "timeline order\n";
  }

  void compare_entity(int who, std::string& found) const {
    const auto& r = model_.rows()[static_cast<std::size_t>(who)];
    const node& n = nodes_[static_cast<std::size_t>(who)];
    const entity& e = r.is_group ? static_cast<const entity&>(cpu_.fair.level(n.as_group))
                                 : static_cast<const entity&>(*n.as_task);
    const std::string name = (r.is_group ? "entity " : "task ") + std::to_string(who) + ' ';
    expect(found, name + "queued", r.queued, e.queued);
    expect(found, name + "parent", r.parent, number_of(e.parent));
    expect(found, name + "weight", r.full_weight, e.weight.full);
    expect(found, name + "vruntime", r.vruntime, e.vruntime);
    expect(found, name + "charged until", r.charged_until_ns, e.exec_start_ns);
    expect(found, name + "service", r.service_ns, e.sum_exec_ns);
    expect(found, name + "service at start", r.service_at_start_ns, e.prev_sum_exec_ns);
    expect(found, name + "slice", model_.slice(who), cpu_.fair.slice_of(e));
  }
};

cfs_config some_cfs_config() {
  cfs_config config;
  // A third each: the defaults, one feature turned, any combination.
  const int how = *rc::gen::inRange(0, 3);
  const int one = *rc::gen::inRange(0, static_cast<int>(feature::count));
  const int bits = *rc::gen::inRange(0, 1 << static_cast<int>(feature::count));
  for (int f = 0; f < static_cast<int>(feature::count); ++f) {
    const auto which = static_cast<feature>(f);
    if (how == 1 && one == f) config.features.set(which, !config.features.has(which));
    if (how == 2) config.features.set(which, (bits >> f & 1) != 0);
  }
  const std::uint64_t cpus = *rc::gen::element<std::uint64_t>(1, 1, 2, 4);
  config.latency_ns *= cpus;
  config.min_granularity_ns *= cpus;
  config.wakeup_granularity_ns *= cpus;
  config.nr_latency = *rc::gen::element(8U, 8U, 3U, 1U);
  config.child_runs_first = *rc::gen::inRange(0, 4) == 0;
  return config;
}

// A group's entity starts from 0: the root's virtual time stays within 2^62 of that, so that all
// can be compared.
std::uint64_t start_near_zero() {
  const auto away = *rc::gen::oneOf(rc::gen::just(std::uint64_t{1} << 20),
                                    rc::gen::inRange<std::uint64_t>(0, 100 * ms),
                                    rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 62));
  return *rc::gen::inRange(0, 3) == 0 ? away : 0 - away;
}

void check_mix(const mix& from, int longest, std::size_t compare_each = 1) {
  const std::vector<tree_operation> stream = tree_and_stream(from, longest);
  cfs_tree_twin twin(some_cfs_config(), start_near_zero());
  check_tree(twin, stream, compare_each);
}

RC_GTEST_PROP(cfs_tree, does_anything, ()) { check_mix(everything, 300, 2); }

RC_GTEST_PROP(cfs_tree, moves_tasks, ()) { check_mix(with_more(tree_act::move, 60), 250, 2); }

RC_GTEST_PROP(cfs_tree, empties_its_groups, ()) {
  mix sleepers = with_more(tree_act::block, 40);
  sleepers.emplace_back(10, tree_act::exit);
  sleepers.emplace_back(10, tree_act::remove_group);
  sleepers.emplace_back(10, tree_act::make_group);
  check_mix(sleepers, 250, 2);
}

RC_GTEST_PROP(cfs_tree, changes_weights, ()) {
  mix weights = with_more(tree_act::set_weight, 40);
  weights.emplace_back(20, tree_act::set_idle);
  check_mix(weights, 250, 2);
}

RC_GTEST_PROP(cfs_tree, yields, ()) {
  mix yields = with_more(tree_act::yield, 30);
  yields.emplace_back(20, tree_act::yield_to);
  check_mix(yields, 250, 2);
}

RC_GTEST_PROP(cfs_tree, holds_many_tasks, ()) { check_mix(with_more(tree_act::fork, 80), 300, 11); }

}  // namespace
}  // namespace vlag::test

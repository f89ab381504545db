// SPDX-License-Identifier: Apache-2.0
//
// Streams of operations on tasks and groups, and a fair class and its exact model driven side by
// side with them.
#pragma once

#include "core/grouped_cpu.hpp"
#include "vlag/weight.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace vlag::test {

enum class tree_act : std::uint8_t {
  tick,            // amount ns pass, all levels are accounted
  run,             // amount ns pass, the running task's level is accounted
  pass,            // amount ns pass
  fork,            // where, nice, policy, amount = own slice or 0
  block,           // and schedule
  block_and_wake,  // before anybody scheduled
  exit,            // and schedule
  wake,
  remove,
  yield,     // and schedule
  yield_to,  // and schedule
  set_nice,
  set_attributes,  // policy, nice, amount = own slice or 0
  move,            // where
  schedule,
  mark_resched,
  higher_class,
  make_group,    // where
  remove_group,  // where
  set_weight,    // where, amount
  set_idle,      // where, amount odd or even
  set_latency,   // where, nice
  set_limit,     // where, amount: the quota; 0: none
  next_timer,    // time passes until a period timer is due, or no time
  count
};

struct tree_operation {
  tree_act what = tree_act::tick;
  unsigned who = 0;    // of the living tasks, modulo their number
  unsigned where = 0;  // of the living groups, modulo their number
  std::uint64_t amount = 0;
  int nice = 0;
  sched_policy policy = sched_policy::normal;
};

inline constexpr std::array act_names = {
    "tick",           "run",        "pass",     "fork",         "block",        "block_and_wake",
    "exit",           "wake",       "remove",   "yield",        "yield_to",     "set_nice",
    "set_attributes", "move",       "schedule", "mark_resched", "higher_class", "make_group",
    "remove_group",   "set_weight", "set_idle", "set_latency",  "set_limit",    "next_timer"};
static_assert(act_names.size() == static_cast<std::size_t>(tree_act::count));

inline std::ostream& operator<<(std::ostream& out, const tree_operation& op) {
  return out << act_names[static_cast<std::size_t>(op.what)] << "{who " << op.who << ", where "
             << op.where << ", amount " << op.amount << ", nice " << op.nice << ", policy "
             << static_cast<int>(op.policy) << '}';
}

template <typename Expected, typename Got>
void expect(std::string& found, const std::string& what, Expected expected, Got got) {
  if (expected == static_cast<Expected>(got)) return;
  std::ostringstream line;
  line << what << ": model " << +expected << ", class " << +got << '\n';
  found += line.str();
}

// Model has the operations of the class, on rows that are numbered alike.
template <typename Cpu, typename Model>
class tree_pair {
 public:
  static constexpr std::size_t most_tasks = 200;
  static constexpr std::size_t most_groups = 24;
  static constexpr std::uint32_t deepest = 5;
  // The model knows cpu.max and cpu.latency.nice; otherwise those operations are skipped.
  static constexpr bool has_limits =
      requires(Model m, bandwidth_limit limit) { m.set_limit(0, limit, std::uint64_t{0}); };

  template <typename Config>
  tree_pair(const Config& config, std::uint64_t start)
      : cpu_(config, most_tasks), model_(config, start) {
    cpu_.fair.start_at(start);
    nodes_.push_back({nullptr, &cpu_.tree.root()});
  }

  [[nodiscard]] Cpu& cpu() { return cpu_; }

  // Applies it to both; an operation that makes no sense at this point is skipped.
  void apply(const tree_operation& op) {
    auto& fair = cpu_.fair;
    switch (op.what) {
      case tree_act::tick:
        cpu_.now += op.amount;
        fair.tick(cpu_.now);
        return model_.tick(cpu_.now);
      case tree_act::run:
        cpu_.now += op.amount;
        fair.account(cpu_.now);
        return model_.run(cpu_.now);
      case tree_act::pass:
        cpu_.now += op.amount;
        return;
      case tree_act::next_timer:
        if constexpr (has_limits) {
          if (cpu_.tree.next_timer_ns() != UINT64_MAX) {
            cpu_.now = std::max(cpu_.now, cpu_.tree.next_timer_ns()) + op.amount;
          }
          run_timers();
        }
        return;
      case tree_act::schedule:
        return schedule();
      case tree_act::higher_class:
        fair.yield_cpu_to_higher_class(cpu_.now);
        return model_.higher_class(cpu_.now);
      case tree_act::mark_resched:
        if (fair.current() == nullptr) return;
        fair.set_need_resched();
        return model_.mark_resched();
      case tree_act::block:
      case tree_act::block_and_wake:
      case tree_act::exit:
      case tree_act::yield:
        if (can_block()) apply_to_running(op.what);
        return;
      default:
        break;
    }
    const std::vector<int> groups = living(true);
    const int where = groups[op.where % groups.size()];
    if (op.what == tree_act::fork) return add_task(where, op);
    if (op.what >= tree_act::make_group) return apply_to_group(where, op);
    const std::vector<int> tasks = living(false);
    if (!tasks.empty()) apply_to_task(tasks[op.who % tasks.size()], where, op);
  }

 protected:
  struct node {
    task* as_task = nullptr;
    task_group* as_group = nullptr;
  };

  void agree(bool same) { answers_equal_ = answers_equal_ && same; }

  std::vector<int> living(bool groups) const {
    std::vector<int> found;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto& r = model_.rows()[i];
      if (r.alive && r.is_group == groups) found.push_back(static_cast<int>(i));
    }
    return found;
  }

  int number_of(const entity* e) const {
    if (e == nullptr) return -1;
    const auto id = e->is_group ? static_cast<const group_part&>(*e).group->id
                                : std::uint64_t{static_cast<const task&>(*e).id};
    return static_cast<int>(id);
  }

  bool can_block() const {
    const task* running = cpu_.fair.current();
    return running != nullptr && running->queued && !running->sched_delayed;
  }

  void schedule() { agree(number_of(cpu_.schedule()) == model_.schedule(cpu_.now)); }

  void run_timers()
    requires has_limits
  {
    cpu_.tree.run_timers(cpu_.now);
    for (const task_group* g = &cpu_.tree.root(); g != nullptr;
         g = next_in_tree(*g, cpu_.tree.root())) {
      model_.period_timer(static_cast<int>(g->id), cpu_.now);
    }
  }

  void add_task(int where, const tree_operation& op) {
    if (living(false).size() >= most_tasks) return;
    task& t = cpu_.tasks.emplace_back();
    t.id = static_cast<std::uint32_t>(nodes_.size());
    set_initial_attributes(t, op.policy, op.nice);
    t.custom_slice = op.amount != 0;
    t.slice_ns = op.amount;
    t.group = nodes_[static_cast<std::size_t>(where)].as_group;
    nodes_.push_back({&t, nullptr});
    agree(cpu_.fair.fork(t, cpu_.now));
    model_.fork(where, op.policy, op.nice, op.amount, cpu_.now);
  }

  void apply_to_running(tree_act what) {
    auto& fair = cpu_.fair;
    const std::uint64_t now = cpu_.now;
    task& running = *fair.current();
    if (what == tree_act::yield) {
      fair.yield(now);
      model_.yield(now);
    } else if (what == tree_act::exit) {
      fair.exit(now);
      model_.exit(now);
    } else {
      agree(fair.block(now) == model_.block(now));
    }
    if (what != tree_act::block_and_wake) return schedule();
    fair.wake(running, now);
    model_.wake(number_of(&running), now);
  }

  void apply_to_task(int who, int where, const tree_operation& op) {
    task& t = *nodes_[static_cast<std::size_t>(who)].as_task;
    auto& fair = cpu_.fair;
    const std::uint64_t now = cpu_.now;
    switch (op.what) {
      case tree_act::wake:
        fair.wake(t, now);
        return model_.wake(who, now);
      case tree_act::remove:
        if (&t == fair.current()) return;
        fair.remove(t, now);
        return model_.remove(who, now);
      case tree_act::yield_to:
        if (!can_block()) return;
        agree(fair.yield_to(t, now) == model_.yield_to(who, now));
        return schedule();
      case tree_act::set_nice:
        fair.set_nice(t, op.nice, now);
        return model_.set_nice(who, op.nice, now);
      case tree_act::set_attributes:
        return agree(fair.set_attributes(t, op.policy, op.nice, op.amount, now) ==
                     model_.set_attributes(who, op.policy, op.nice, op.amount, now));
      case tree_act::move:
        fair.move(t, nodes_[static_cast<std::size_t>(where)].as_group, now);
        return model_.move(who, where, now);
      default:
        return;
    }
  }

  void apply_to_group(int where, const tree_operation& op) {
    task_group& g = *nodes_[static_cast<std::size_t>(where)].as_group;
    const std::uint64_t now = cpu_.now;
    if (op.what == tree_act::make_group) {
      if (cpu_.level(g).depth >= deepest || living(true).size() > most_groups) return;
      cpu_.group(g).id = nodes_.size();
      nodes_.push_back({nullptr, &cpu_.groups.back()});
      model_.make_group(where);
      return;
    }
    if (where == 0) return;
    switch (op.what) {
      case tree_act::remove_group:
        if (cpu_.tree.destroy(g, now) == group_error::none) model_.remove_group(where, now);
        return;
      case tree_act::set_weight:
        if (g.set_shares(op.amount, now) == group_error::none) {
          model_.set_shares(where, std::clamp<std::uint64_t>(op.amount, 2, 1 << 18) << 10U, now);
        }
        return;
      case tree_act::set_idle:
        g.set_idle(static_cast<std::int64_t>(op.amount % 2), now);
        return model_.set_idle(where, op.amount % 2 == 1, now);
      default:
        if constexpr (has_limits) limit_group(g, where, op);
        return;
    }
  }

  void limit_group(task_group& g, int where, const tree_operation& op)
    requires has_limits
  {
    const std::uint64_t now = cpu_.now;
    if (op.what == tree_act::set_latency) {
      g.set_latency_nice(op.nice, now);
      return model_.set_latency_nice(where, op.nice);
    }
    bandwidth_limit limit;
    if (op.amount != 0) limit.quota_ns = 1 * ms + op.amount % (20 * ms);
    limit.period_ns = (1 + op.who % 40) * ms;
    limit.burst_ns = limit.quota_ns == no_quota ? 0 : limit.quota_ns / (1 + op.who % 3);
    agree(g.set_bandwidth(limit, now) == group_error::none);
    return model_.set_limit(where, limit, now);
  }

  Cpu cpu_;
  Model model_;
  std::vector<node> nodes_;  // by the model's numbers
  bool answers_equal_ = true;
};

}  // namespace vlag::test

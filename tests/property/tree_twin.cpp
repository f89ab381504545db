// SPDX-License-Identifier: Apache-2.0
#include "property/tree_twin.hpp"

#include "vlag/weight.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <sstream>

namespace vlag::test {
namespace {

constexpr std::array act_names = {
    "tick",           "run",        "pass",     "fork",         "block",        "block_and_wake",
    "exit",           "wake",       "remove",   "yield",        "yield_to",     "set_nice",
    "set_attributes", "move",       "schedule", "mark_resched", "higher_class", "make_group",
    "remove_group",   "set_weight", "set_idle", "set_latency",  "set_limit",    "next_timer"};
static_assert(act_names.size() == static_cast<std::size_t>(tree_act::count));

template <typename Expected, typename Got>
void expect(std::string& found, const std::string& what, Expected expected, Got got) {
  if (expected == static_cast<Expected>(got)) return;
  std::ostringstream line;
  line << what << ": model " << +expected << ", class " << +got << '\n';
  found += line.str();
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const tree_operation& op) {
  return out << act_names[static_cast<std::size_t>(op.what)] << "{who " << op.who << ", where "
             << op.where << ", amount " << op.amount << ", nice " << op.nice << ", policy "
             << static_cast<int>(op.policy) << '}';
}

tree_twin::tree_twin(const eevdf_config& config, std::uint64_t start)
    : cpu_(config, most_tasks), model_(config, start) {
  cpu_.fair.start_at(start);
  nodes_.push_back({nullptr, &cpu_.tree.root()});
}

std::vector<int> tree_twin::living(bool groups) const {
  std::vector<int> found;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto& r = model_.rows()[i];
    if (r.alive && r.is_group == groups) found.push_back(static_cast<int>(i));
  }
  return found;
}

int tree_twin::number_of(const entity* e) const {
  if (e == nullptr) return -1;
  const auto id = e->is_group ? static_cast<const group_part&>(*e).group->id
                              : std::uint64_t{static_cast<const task&>(*e).id};
  return static_cast<int>(id);
}

bool tree_twin::can_block() const {
  const task* running = cpu_.fair.current();
  return running != nullptr && running->queued && !running->sched_delayed;
}

void tree_twin::schedule() { agree(number_of(cpu_.schedule()) == model_.schedule(cpu_.now)); }

void tree_twin::run_timers() {
  cpu_.tree.run_timers(cpu_.now);
  for (const task_group* g = &cpu_.tree.root(); g != nullptr;
       g = next_in_tree(*g, cpu_.tree.root())) {
    model_.period_timer(static_cast<int>(g->id), cpu_.now);
  }
}

void tree_twin::apply(const tree_operation& op) {
  fair_class& fair = cpu_.fair;
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
      if (cpu_.tree.next_timer_ns() != UINT64_MAX) {
        cpu_.now = std::max(cpu_.now, cpu_.tree.next_timer_ns()) + op.amount;
      }
      return run_timers();
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

void tree_twin::add_task(int where, const tree_operation& op) {
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

void tree_twin::apply_to_running(tree_act what) {
  fair_class& fair = cpu_.fair;
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

void tree_twin::apply_to_task(int who, int where, const tree_operation& op) {
  task& t = *nodes_[static_cast<std::size_t>(who)].as_task;
  fair_class& fair = cpu_.fair;
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

void tree_twin::apply_to_group(int where, const tree_operation& op) {
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
    case tree_act::set_latency:
      g.set_latency_nice(op.nice, now);
      return model_.set_latency_nice(where, op.nice);
    case tree_act::set_limit: {
      bandwidth_limit limit;
      if (op.amount != 0) limit.quota_ns = 1 * ms + op.amount % (20 * ms);
      limit.period_ns = (1 + op.who % 40) * ms;
      limit.burst_ns = limit.quota_ns == no_quota ? 0 : limit.quota_ns / (1 + op.who % 3);
      agree(g.set_bandwidth(limit, now) == group_error::none);
      return model_.set_limit(where, limit, now);
    }
    default:
      return;
  }
}

// ---- Comparing

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

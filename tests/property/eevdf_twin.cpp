// SPDX-License-Identifier: Apache-2.0
#include "property/eevdf_twin.hpp"

#include <array>
#include <ostream>
#include <sstream>
#include <utility>

namespace vlag::test {
namespace {

constexpr std::array act_names = {
    "run",          "pass",        "fork",           "block",    "block_and_wake",
    "exit",         "wake",        "remove",         "yield",    "yield_to",
    "set_nice",     "set_slice",   "set_attributes", "reweight", "schedule",
    "mark_resched", "higher_class"};
static_assert(act_names.size() == static_cast<std::size_t>(act::count));

int number_of(const entity* e) {
  return e == nullptr ? -1 : static_cast<int>(static_cast<const task*>(e)->id) - 1;
}

template <typename Expected, typename Got>
void expect(std::string& found, const std::string& what, Expected expected, Got got) {
  if (expected == static_cast<Expected>(got)) return;
  std::ostringstream line;
  line << what << ": model " << +expected << ", class " << +got << '\n';
  found += line.str();
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const operation& op) {
  return out << act_names[static_cast<std::size_t>(op.what)] << "{who " << op.who << ", amount "
             << op.amount << ", nice " << op.nice << ", policy " << static_cast<int>(op.policy)
             << '}';
}

eevdf_twin::eevdf_twin(const eevdf_config& config, std::uint64_t start, std::size_t most_tasks,
                       beside what)
    : cpu_(config, most_tasks), most_tasks_(most_tasks) {
  cpu_.fair.start_at(start);
  if (what == beside::the_model) model_.emplace(config, start);
}

std::vector<int> eevdf_twin::living() const {
  std::vector<int> found;
  for (std::size_t i = 0; i < alive_.size(); ++i) {
    if (alive_[i]) found.push_back(static_cast<int>(i));
  }
  return found;
}

bool eevdf_twin::can_block() const {
  const task* running = cpu_.fair.current();
  return running != nullptr && running->queued && !running->sched_delayed;
}

// Weights and deadlines of no real use can be scaled up until products wrap, which the model does
// not do.
bool eevdf_twin::rescaling_fits(const task& t, std::uint64_t full_weight) const {
  __extension__ using wide = __int128;
  const std::uint64_t average = cpu_.fair.queue().average_vruntime();
  const std::int64_t far = t.queued ? signed_difference(t.deadline, average) : t.vlag;
  const wide product = static_cast<wide>(far < 0 ? -far : far) * static_cast<wide>(t.weight.full);
  return product < (wide{1} << 62) && product / static_cast<wide>(full_weight) < (wide{1} << 44);
}

void eevdf_twin::schedule() {
  const int picked = number_of(cpu_.schedule());
  agree(picked, [&](exact_model& m) { return m.schedule(cpu_.now); });
}

void eevdf_twin::apply(const operation& op) {
  fair_class& fair = cpu_.fair;
  const std::uint64_t now = cpu_.now;
  switch (op.what) {
    case act::run:
      cpu_.run(op.amount);
      return follow([&](exact_model& m) { m.tick(cpu_.now); });
    case act::pass:
      return cpu_.pass(op.amount);
    case act::fork:
      if (living().size() >= most_tasks_) return;
      cpu_.fork(op.nice, op.amount, op.policy);
      alive_.push_back(true);
      return follow([&](exact_model& m) { m.fork(op.policy, op.nice, op.amount, now); });
    case act::schedule:
      return schedule();
    case act::higher_class:
      fair.yield_cpu_to_higher_class(now);
      return follow([&](exact_model& m) { m.higher_class(now); });
    case act::mark_resched:
      if (fair.current() == nullptr) return;
      fair.set_need_resched();
      return follow([](exact_model& m) { m.mark_resched(); });
    case act::block:
    case act::block_and_wake:
    case act::exit:
    case act::yield:
      if (can_block()) apply_to_running(op.what);
      return;
    default:
      break;
  }
  const std::vector<int> candidates = living();
  if (!candidates.empty()) apply_to(candidates[op.who % candidates.size()], op);
}

void eevdf_twin::apply_to_running(act what) {
  fair_class& fair = cpu_.fair;
  const std::uint64_t now = cpu_.now;
  task& running = *fair.current();
  if (what == act::yield) {
    fair.yield(now);
    follow([&](exact_model& m) { m.yield(now); });
  } else if (what == act::exit) {
    alive_[running.id - 1] = false;
    fair.exit(now);
    follow([&](exact_model& m) { m.exit(now); });
  } else {
    agree(fair.block(now), [&](exact_model& m) { return m.block(now); });
  }
  if (what != act::block_and_wake) return schedule();
  cpu_.wake(running);
  follow([&](exact_model& m) { m.wake(m.running(), now); });
}

void eevdf_twin::apply_to(int who, const operation& op) {
  task& t = cpu_.tasks[static_cast<std::size_t>(who)];
  const std::uint64_t now = cpu_.now;
  fair_class& fair = cpu_.fair;
  switch (op.what) {
    case act::wake:
      fair.wake(t, now);
      return follow([&](exact_model& m) { m.wake(who, now); });
    case act::remove:
      if (&t == fair.current()) return;
      alive_[t.id - 1] = false;
      fair.remove(t, now);
      return follow([&](exact_model& m) { m.remove(who, now); });
    case act::yield_to:
      if (!can_block()) return;
      agree(fair.yield_to(t, now), [&](exact_model& m) { return m.yield_to(who, now); });
      return schedule();
    case act::set_nice:
      fair.set_nice(t, op.nice, now);
      return follow([&](exact_model& m) { m.set_nice(who, op.nice, now); });
    case act::set_slice: {
      const auto keep = std::pair(t.policy, t.static_nice);
      return agree(fair.set_slice(t, op.amount, now), [&](exact_model& m) {
        return m.set_attributes(who, keep.first, keep.second, op.amount, now);
      });
    }
    case act::set_attributes:
      return agree(fair.set_attributes(t, op.policy, op.nice, op.amount, now), [&](exact_model& m) {
        return m.set_attributes(who, op.policy, op.nice, op.amount, now);
      });
    case act::reweight:
      if (!rescaling_fits(t, op.amount)) return;
      fair.reweight(t, op.amount, now);
      return follow([&](exact_model& m) { m.reweight(who, op.amount, now); });
    default:
      return;
  }
}

std::string eevdf_twin::difference() {
  std::string found;
  if (!answers_equal_) found += "an operation answered something else\n";
  compare_queue(found);
  for (int who = 0; who < static_cast<int>(model_->rows().size()); ++who) compare_task(who, found);
  return found;
}

void eevdf_twin::compare_queue(std::string& found) {
  fair_class& fair = cpu_.fair;
  const run_queue& queue = fair.queue();
  const int queued = model_->count_queued();
  expect(found, "running", model_->running(), number_of(fair.current()));
  expect(found, "need_resched", model_->need_resched(), fair.need_resched());
  expect(found, "buddy", model_->buddy(), number_of(fair.buddy()));
  expect(found, "nr_queued", queued, fair.nr_queued());
  expect(found, "nr_runnable", queued - model_->count_delayed(), fair.nr_runnable());
  expect(found, "nr_delayed", model_->count_delayed(), fair.nr_delayed());
  expect(found, "peek", queued == 0 ? -1 : model_->pick(), number_of(fair.peek()));
  expect(found, "V", model_->average(), queue.average_vruntime());
  expect(found, "W", model_->total_weight(), queue.total_weight());
  expect(found, "min_slice", model_->min_slice(), fair.min_slice());
  expect(found, "anomalies", 0, fair.anomalies());
  expect(found, "free places", most_tasks_ - living().size(), cpu_.storage.free_places());

  std::uint64_t load = 0;
  for (const exact_model::row& r : model_->rows()) load += r.queued ? r.full_weight : 0;
  expect(found, "load", load, queue.load());

  std::vector<int> order;
  std::int64_t sum = 0;
  std::uint64_t weight = 0;
  queue.waiting().for_each([&](const entity& e) {
    order.push_back(number_of(&e));
    const std::uint64_t small = small_weight(e.weight.full);
    sum += signed_difference(e.vruntime, queue.reference()) * static_cast<std::int64_t>(small);
    weight += small;
  });
  if (order != model_->waiting()) found += "timeline order\n";
  expect(found, "S", sum, queue.weighted_sum());
  expect(found, "W_q", weight, queue.waiting_weight());
}

void eevdf_twin::compare_task(int who, std::string& found) {
  const exact_model::row& r = model_->rows()[static_cast<std::size_t>(who)];
  const task& t = cpu_.tasks[static_cast<std::size_t>(who)];
  const run_queue& queue = cpu_.fair.queue();
  const std::string name = "task " + std::to_string(who) + ' ';
  expect(found, name + "queued", r.queued, t.queued);
  if (!r.alive) return;
  expect(found, name + "delayed", r.delayed, t.sched_delayed);
  expect(found, name + "weight", r.full_weight, t.weight.full);
  expect(found, name + "slice", r.slice_ns, t.slice_ns);
  expect(found, name + "service", r.service_ns, t.sum_exec_ns);
  expect(found, name + "relative", r.relative, t.rel_deadline);
  expect(found, name + "nice", r.prio_nice, t.prio_nice);
  if (!r.queued) {
    expect(found, name + "lag kept", r.vlag, t.vlag);
    return;
  }
  expect(found, name + "vruntime", r.vruntime, t.vruntime);
  expect(found, name + "deadline", r.deadline, t.deadline);
  expect(found, name + "eligible", model_->eligible(who), queue.eligible(t));
  expect(found, name + "lag", signed_difference(model_->average(), r.vruntime), queue.lag(t));
  if (who == model_->running()) {
    expect(found, name + "protected", r.token == r.deadline, queue.slice_protected(t));
  }
}

}  // namespace vlag::test

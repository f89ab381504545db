// SPDX-License-Identifier: Apache-2.0
#include "property/cfs_twin.hpp"

#include <cstdlib>
#include <ostream>
#include <span>
#include <sstream>

namespace vlag {
namespace {

constexpr std::array<const char*, action_count> action_names = {
    "run",      "advance",     "tick",   "schedule",     "block",           "exit",
    "wake",     "wake_queued", "yield",  "yield_to",     "set_nice",        "set_attributes",
    "reweight", "fork",        "remove", "higher_class", "set_need_resched"};

std::unique_ptr<std::byte[], void (*)(void*)> aligned_bytes(std::size_t bytes) {
  return {static_cast<std::byte*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64)), &std::free};
}

std::size_t storage_bytes() { return timeline_storage::required_bytes(cfs_twin::max_tasks); }

std::uint32_t id_of(const entity* e) { return e == nullptr ? 0 : static_cast<const task*>(e)->id; }

}  // namespace

std::ostream& operator<<(std::ostream& out, const step& s) {
  return out << action_names[static_cast<std::size_t>(s.what)] << "(who " << s.who << ", ns "
             << s.ns << ", nice " << s.nice << ", policy " << static_cast<int>(s.policy)
             << ", weight " << s.weight << ")";
}

cfs_twin::cfs_twin(const cfs_config& config, std::uint64_t min_vruntime, std::uint64_t start_ns)
    : config_(config),
      memory_(aligned_bytes(storage_bytes())),
      storage_(std::span(memory_.get(), storage_bytes()), max_tasks),
      fast_(config_, storage_),
      model_(config_, min_vruntime),
      now_(start_ns) {
  fast_.start_at(min_vruntime);
}

bool cfs_twin::candidate(action what, const task& t) const {
  switch (what) {
    case action::wake:
      return true;  // of a runnable one: nothing happens
    case action::wake_queued:
      return t.queued && &t != fast_.current();
    case action::remove:
      return &t != fast_.current();
    default:
      return true;
  }
}

task* cfs_twin::choose(const step& s) const {
  std::uint32_t found = 0;
  for (const auto& t : tasks_) found += t && candidate(s.what, *t) ? 1 : 0;
  if (found == 0) return nullptr;
  std::uint32_t skip = s.who % found;
  for (const auto& t : tasks_) {
    if (t && candidate(s.what, *t) && skip-- == 0) return t.get();
  }
  return nullptr;
}

bool cfs_twin::apply(const step& s) {
  if (!difference_.empty()) return false;
  task* const running = fast_.current();
  switch (s.what) {
    case action::run:
    case action::advance:
    case action::tick:
    case action::schedule:
    case action::higher_class:
    case action::set_need_resched:
      now_ += s.ns;
      on_cpu(s);
      return true;
    case action::block:
    case action::exit:
    case action::yield:
      if (running == nullptr) return false;
      now_ += s.ns;
      on_cpu(s);
      return true;
    case action::fork:
      if (count_ == max_tasks) return false;
      fork(s);
      return true;
    default:
      break;
  }
  if (s.what == action::yield_to && running == nullptr) return false;
  task* const t = choose(s);
  if (t == nullptr) return false;
  now_ += s.ns;
  on_task(s, *t);
  return true;
}

void cfs_twin::on_cpu(const step& s) {
  switch (s.what) {
    case action::run:
      fast_.account(now_);
      model_.account(now_);
      break;
    case action::tick:
      fast_.tick(now_);
      model_.tick(now_);
      break;
    case action::schedule:
      return schedule();
    case action::block:
      fast_.block(now_);
      model_.block(now_);
      compare("block");
      return schedule();
    case action::exit:
      return exit();
    case action::yield:
      fast_.yield(now_);
      model_.yield(now_);
      compare("yield");
      return schedule();
    case action::higher_class:
      fast_.yield_cpu_to_higher_class(now_);
      model_.yield_cpu_to_higher_class(now_);
      break;
    case action::set_need_resched:
      fast_.set_need_resched();
      model_.set_need_resched();
      break;
    default:
      break;
  }
  compare(action_names[static_cast<std::size_t>(s.what)]);
}

void cfs_twin::on_task(const step& s, task& t) {
  switch (s.what) {
    case action::wake:
      fast_.wake(t, now_);
      model_.wake(t.id, now_);
      break;
    case action::wake_queued:
      fast_.wake_queued(t, now_);
      model_.wake_queued(t.id, now_);
      break;
    case action::yield_to: {
      const bool done = fast_.yield_to(t, now_);
      same("yield_to", "result", t.id, done, model_.yield_to(t.id, now_));
      compare("yield_to");
      if (done) schedule();
      return;
    }
    case action::set_nice:
      fast_.set_nice(t, s.nice, now_);
      model_.set_nice(t.id, s.nice, now_);
      break;
    case action::set_attributes: {
      const bool done = fast_.set_attributes(t, s.policy, s.nice, 0, now_);
      same("set_attributes", "result", t.id, done,
           model_.set_attributes(t.id, s.policy, s.nice, now_));
      break;
    }
    case action::reweight:
      fast_.reweight(t, s.weight, now_);
      model_.reweight(t.id, s.weight, now_);
      break;
    case action::remove: {
      const std::uint32_t id = t.id;
      fast_.remove(t, now_);
      model_.remove(id, now_);
      forget(id);
      break;
    }
    default:
      break;
  }
  compare(action_names[static_cast<std::size_t>(s.what)]);
}

void cfs_twin::fork(const step& s) {
  std::uint32_t id = 1;
  while (tasks_[id]) ++id;
  tasks_[id] = std::make_unique<task>();
  task& child = *tasks_[id];
  ++count_;
  child.id = id;
  set_initial_attributes(child, s.policy, s.nice);
  const bool orphan = fast_.current() == nullptr;
  same("fork", "room", id, fast_.place_new(child, now_), true);
  model_.place_new(id, s.policy, s.nice, now_);
  if (orphan && orphan_distance_ != 0) {
    child.vruntime = orphan_distance_;
    model_.set_vruntime(id, orphan_distance_);
  }
  compare("place_new");
  now_ += s.ns;
  fast_.enqueue_new(child, now_);
  model_.enqueue_new(id, now_);
  compare("fork");
}

void cfs_twin::exit() {
  const std::uint32_t id = fast_.current()->id;
  fast_.exit(now_);
  model_.exit(now_);
  compare("exit");
  schedule();
  model_.remove(id, now_);
  forget(id);
  compare("exit");
}

void cfs_twin::forget(std::uint32_t id) {
  tasks_[id].reset();
  --count_;
  same("leaving", "free places", 0, storage_.free_places(), max_tasks - count_);
}

void cfs_twin::schedule() {
  const task* const picked = fast_.schedule(now_);
  model_.schedule(now_);
  same("schedule", "picked", 0, id_of(picked), model_.current);
  compare("schedule");
}

template <typename A, typename B>
void cfs_twin::same(const char* where, const char* field, std::uint32_t id, A fast, B exact) {
  if (!comparing_ || !difference_.empty() || !model_.comparable()) return;
  if (fast == static_cast<A>(exact)) return;
  std::ostringstream out;
  out << "after " << where << " at " << now_ << " ns: " << field;
  if (id != 0) out << " of task " << id;
  out << " is " << +fast << ", the model says " << +static_cast<A>(exact);
  difference_ = out.str();
}

void cfs_twin::compare(const char* where) {
  if (!comparing_ || !difference_.empty() || !model_.comparable()) return;
  same(where, "need_resched", 0, fast_.need_resched(), model_.resched);
  same(where, "current", 0, id_of(fast_.current()), model_.current);
  same(where, "peek", 0, id_of(fast_.peek()), model_.pick());
  same(where, "next buddy", 0, id_of(fast_.next_buddy()), model_.next);
  same(where, "last buddy", 0, id_of(fast_.last_buddy()), model_.last);
  same(where, "skip buddy", 0, id_of(fast_.skip_buddy()), model_.skip);
  same(where, "nr_queued", 0, fast_.nr_queued(), model_.nr_queued());
  same(where, "nr_runnable", 0, fast_.nr_runnable(), model_.nr_queued());
  same(where, "nr_idle_policy", 0, fast_.nr_idle_policy(), model_.nr_idle());
  same(where, "load", 0, fast_.load(), model_.load());
  same(where, "min_vruntime", 0, fast_.min_vruntime(), model_.min_vruntime);
  same(where, "anomalies", 0, fast_.anomalies(), 0U);
  same(where, "time_to_request_end", 0, fast_.time_to_request_end(), model_.time_to_request_end());

  std::vector<std::uint32_t> order;
  fast_.waiting().for_each(
      [&](const entity& e) { order.push_back(static_cast<const task&>(e).id); });
  const std::vector<std::uint32_t> exact_order = model_.waiting();
  same(where, "number of waiting", 0, order.size(), exact_order.size());
  for (std::size_t i = 0; i < order.size() && i < exact_order.size(); ++i) {
    same(where, "place in the order", exact_order[i], order[i], exact_order[i]);
  }
  for (const model_task& exact : model_.tasks) {
    const task& t = *tasks_[exact.id];
    same(where, "vruntime", t.id, t.vruntime, exact.vruntime);
    same(where, "queued", t.id, t.queued, exact.queued);
    same(where, "policy", t.id, static_cast<int>(t.policy), static_cast<int>(exact.policy));
    same(where, "static_nice", t.id, int{t.static_nice}, exact.static_nice);
    same(where, "prio_nice", t.id, int{t.prio_nice}, exact.prio_nice);
    same(where, "weight", t.id, t.weight.full, exact.weight);
    same(where, "exec_start_ns", t.id, t.exec_start_ns, exact.exec_start);
    same(where, "sum_exec_ns", t.id, t.sum_exec_ns, exact.sum_exec);
    same(where, "prev_sum_exec_ns", t.id, t.prev_sum_exec_ns, exact.prev_sum_exec);
    same(where, "slice_of", t.id, fast_.slice_of(t), model_.slice(exact));
  }
}

}  // namespace vlag

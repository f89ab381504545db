// SPDX-License-Identifier: Apache-2.0
//
// Changes of attributes: of a task by taking it out, changing it and putting it back; of a group in
// place.
#include "core/mutant.hpp"
#include "vlag/fair_class.hpp"
#include "vlag/sched_attr.hpp"

#include <algorithm>
#include <new>

namespace vlag {

// ---- Tasks

fair_class::interrupted fair_class::take_out(task& t, std::uint64_t now_ns) noexcept {
  const interrupted was{t.queued, &t == running_};
  if (was.queued) dequeue(t, leaving::to_be_changed, now_ns);
  if (was.running) put_all(t, now_ns);
  return was;
}

void fair_class::put_back(task& t, interrupted was, std::uint64_t now_ns) noexcept {
  if (was.queued) enqueue(t, entry::changed, now_ns);
  if (was.running) set_all(t, now_ns);
}

void fair_class::apply_weight(task& t) noexcept {
  const load_weight weight =
      t.policy == sched_policy::idle ? weight_of_idle_policy() : weight_of_nice(t.static_nice);
  level_of(t).queue.rescale_lag(t, weight.full);
  t.weight = weight;
}

void fair_class::apply_slice(task& t, std::uint64_t slice_ns, slice_origin origin) const noexcept {
  t.latency_slice = origin == slice_origin::latency_nice;
  t.custom_slice = slice_ns != 0 && may_have_slice(t);
  t.latency_slice = t.latency_slice && t.custom_slice;
  if (!t.custom_slice) {
    t.slice_ns = config_->base_slice_ns;
  } else {
    t.slice_ns = t.latency_slice
                     ? slice_ns
                     : std::clamp(slice_ns, shortest_own_slice_ns, longest_own_slice_ns);
  }
}

void fair_class::priority_changed(task& t, int old_nice, std::uint64_t now_ns) noexcept {
  if (!t.queued || root_.queue.nr_queued() == 1) return;
  if (&t != running_) {
    check_preemption(t, entry::changed, now_ns);
  } else if (t.prio_nice > old_nice) {
    reschedule(decision::priority_changed, t);
  }
}

void fair_class::set_nice(task& t, int nice, std::uint64_t now_ns) noexcept {
  if (nice == t.static_nice) return;
  const int old_nice = t.prio_nice;
  const interrupted was = take_out(t, now_ns);
  t.static_nice = static_cast<std::int8_t>(nice);
  t.prio_nice = static_cast<std::int8_t>(nice);
  apply_weight(t);
  put_back(t, was, now_ns);
  priority_changed(t, old_nice, now_ns);
}

bool fair_class::set_slice(task& t, std::uint64_t slice_ns, std::uint64_t now_ns) noexcept {
  return set_attributes(t, t.policy, t.static_nice, slice_ns, now_ns);
}

bool fair_class::set_attributes(task& t, sched_policy policy, int nice, std::uint64_t slice_ns,
                                std::uint64_t now_ns, slice_origin origin) noexcept {
  const bool idle = policy == sched_policy::idle;
  const bool keeps_slice = idle && origin == slice_origin::own;
  if (policy == t.policy && (idle || nice == t.static_nice) &&
      (keeps_slice || slice_ns == t.slice_ns)) {
    return false;
  }
  const int old_nice = t.prio_nice;
  const interrupted was = take_out(t, now_ns);
  t.policy = policy;
  t.prio_nice = static_cast<std::int8_t>(nice);
  if (!idle) t.static_nice = static_cast<std::int8_t>(nice);
  if (!keeps_slice) apply_slice(t, slice_ns, origin);
  apply_weight(t);
  put_back(t, was, now_ns);
  if (t.prio_nice != old_nice) priority_changed(t, old_nice, now_ns);
  return true;
}

void fair_class::reweight(task& t, std::uint64_t full_weight, std::uint64_t now_ns) noexcept {
  if (t.queued) account_queue(level_of(t), now_ns);
  level_of(t).queue.reweight(t, full_weight);
}

void fair_class::move(task& t, task_group* group, std::uint64_t now_ns) noexcept {
  fair_level& to = level_for(group);
  const interrupted was = take_out(t, now_ns);
  if (task_group* from = level_of(t).group; from != nullptr) --from->nr_tasks_;
  if (to.group != nullptr) ++to.group->nr_tasks_;
  t.group = group;
  t.parent = &to;
  if (mutant(fault::move_loses_deadline)) t.rel_deadline = false;
  put_back(t, was, now_ns);
  if (was.running) reschedule(decision::moved_while_running, t);
}

// ---- Groups

void fair_class::join_tree(task_group& root, unsigned cpu) noexcept {
  root_.group = &root;
  cpu_ = cpu;
}

group_part* fair_class::make_part(void* memory, task_group& g, group_part& parent) noexcept {
  if (!storage_->reserve_place()) return nullptr;
  auto* part = new (memory) fair_level(*config_, *storage_);
  part->group = &g;
  part->parent = &parent;
  part->depth = parent.depth + 1;
  part->throttle_count = static_cast<const fair_level&>(parent).throttle_count;
  return part;
}

void fair_class::remove_part(group_part& part, std::uint64_t now_ns) noexcept {
  auto& level = static_cast<fair_level&>(part);
  if (level.sched_delayed) dequeue(level, leaving::delay_complete, now_ns);
  level.~fair_level();
  storage_->release_place();
}

bool fair_class::is_current(const group_part& part) const noexcept {
  return level_of(part).queue.current() == &part;
}

void fair_class::idle_changed(group_part& part) noexcept {
  level_of(part).nr_idle += is_idle(part) ? 1U : 0U - 1U;
}

void fair_class::shares_changed(group_part& part, std::uint64_t now_ns) noexcept {
  for (entity* e = &part; e->parent != nullptr; e = e->parent) refresh_weight(*e, now_ns);
}

// An empty group shows its slice when it is queued.
void fair_class::latency_nice_changed(group_part& part, std::uint64_t /*now_ns*/) noexcept {
  for (entity* e = &part; e->parent != nullptr && e->queued && !e->sched_delayed; e = e->parent) {
    run_queue& queue = level_of(*e).queue;
    queue.set_slice(*e, slice_of_group(*e, own_level(*e).queue.min_slice()));
  }
}

std::uint64_t fair_class::anomalies() const noexcept {
  std::uint64_t sum = root_.queue.anomalies();
  if (root_.group == nullptr) return sum;
  for (const task_group* g = next_in_tree(*root_.group, *root_.group); g != nullptr;
       g = next_in_tree(*g, *root_.group)) {
    sum += level(g).queue.anomalies();
  }
  return sum;
}

}  // namespace vlag

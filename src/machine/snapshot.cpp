// SPDX-License-Identifier: Apache-2.0
#include "machine/snapshot.hpp"

#include "vlag/cfs_class.hpp"
#include "vlag/fair_class.hpp"

namespace vlag {
namespace {

entity_view common_view(const entity& e, const entity* running) {
  entity_view view;
  view.is_group = e.is_group;
  if (e.is_group) {
    const task_group* group = static_cast<const group_part&>(e).group;
    view.id = group == nullptr ? 0 : group->id;
  } else {
    view.id = static_cast<const task&>(e).id;
  }
  view.vruntime = e.vruntime;
  view.deadline = e.deadline;
  view.slice_ns = e.slice_ns;
  view.weight = e.weight;
  view.sum_exec_ns = e.sum_exec_ns;
  view.queued = e.queued;
  view.running = &e == running;
  if (view.running) view.ran_ns = e.sum_exec_ns - e.prev_sum_exec_ns;
  view.delayed = e.sched_delayed;
  view.custom_slice = e.custom_slice;
  view.idle = is_idle(e);
  return view;
}

// What both classes' queues have.
template <typename Class, typename Level>
queue_view common_queue_view(const Class& fair, const Level& level) {
  const auto& queue = level.queue;
  queue_view view;
  view.group = level.group == nullptr ? 0 : level.group->id;
  view.depth = level.depth;
  view.nr_queued = queue.nr_queued();
  view.h_nr_queued = level.h_nr_queued;
  view.h_nr_idle = level.h_nr_idle;
  view.load = queue.load();
  view.throttled = level.throttled;
  if (const entity* c = queue.current(); c != nullptr && c->queued) {
    view.entities.push_back(view_of(fair, level, *c));
  }
  queue.waiting().for_each(
      [&](const entity& e) { view.entities.push_back(view_of(fair, level, e)); });
  return view;
}

}  // namespace

entity_view view_of(const task& t) { return common_view(t, nullptr); }

entity_view view_of(const fair_class& /*fair*/, const fair_level& level, const entity& e) {
  const run_queue& queue = level.queue;
  entity_view view = common_view(e, queue.current());
  view.lag = e.queued ? queue.lag(e) : e.vlag;
  view.eligible = e.queued && queue.eligible(e);
  view.protected_slice = view.running && queue.slice_protected(e);
  view.next_buddy = queue.buddy() == &e;
  return view;
}

queue_view view_of(const fair_class& fair, const fair_level& level) {
  const run_queue& queue = level.queue;
  queue_view view = common_queue_view(fair, level);
  view.engine = fair_engine::eevdf;
  view.h_nr_runnable = level.h_nr_runnable;
  view.reference = queue.reference();
  view.average_vruntime = queue.average_vruntime();
  return view;
}

entity_view view_of(const cfs_class& fair, const cfs_level& level, const entity& e) {
  const cfs_queue& queue = level.queue;
  entity_view view = common_view(e, queue.current());
  view.next_buddy = queue.next_buddy() == &e;
  view.last_buddy = queue.last_buddy() == &e;
  view.skip_buddy = queue.skip_buddy() == &e;
  view.slice_ns = fair.slice_of(e);
  return view;
}

queue_view view_of(const cfs_class& fair, const cfs_level& level) {
  const cfs_queue& queue = level.queue;
  queue_view view = common_queue_view(fair, level);
  view.engine = fair_engine::cfs;
  view.h_nr_runnable = level.h_nr_queued;
  view.reference = queue.min_vruntime();
  return view;
}

}  // namespace vlag

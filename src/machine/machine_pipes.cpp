// SPDX-License-Identifier: Apache-2.0
//
// The part of the machine in which tasks send each other bytes and signals.
#include "machine/machine.hpp"
#include "machine/machine_state.hpp"

#include <algorithm>

namespace vlag {

sync_pipe::sync_pipe(std::uint32_t capacity_bytes)
    : pages_((std::clamp<std::uint32_t>(capacity_bytes, 1, largest_pipe_bytes) - 1) /
                 pipe_page_bytes +
             1) {}

std::uint64_t sync_pipe::put(std::uint64_t bytes, bool may_fill_up) noexcept {
  std::uint64_t left = bytes;
  const auto odd = static_cast<std::uint32_t>(bytes % pipe_page_bytes);
  if (may_fill_up && !empty()) {
    page& last = pages_[(first_ + used_ - 1) % pages_.size()];
    if (odd <= pipe_page_bytes - last.end) {
      last.end += odd;
      left -= odd;
    }
  }
  while (left != 0 && !full()) {
    const auto part = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, pipe_page_bytes));
    pages_[(first_ + used_) % pages_.size()] = {0, part};
    ++used_;
    left -= part;
  }
  return bytes - left;
}

std::uint64_t sync_pipe::take(std::uint64_t bytes) noexcept {
  std::uint64_t left = bytes;
  while (left != 0 && !empty()) {
    page& p = pages_[first_];
    const auto part = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, p.end - p.begin));
    p.begin += part;
    left -= part;
    if (p.begin != p.end) break;
    first_ = (first_ + 1) % pages_.size();
    --used_;
  }
  return bytes - left;
}

std::uint64_t machine::signals_taken(std::uint32_t task) const noexcept {
  return sync_.of_task[task].signals_taken;
}

// False: what the call costs comes first, then the operation is reached again.
bool machine::begin_call(cpu& c, sim_task& t, std::uint64_t bytes, std::uint64_t cost_ns) {
  sync_place& place = sync_.of_task[t.id];
  if (place.call_begun) return true;
  place.call_begun = true;
  place.call_waited = false;
  place.call_left_bytes = bytes;
  if (cost_ns == 0) return true;
  --t.next_step;
  t.remaining_ns = cost_ns;
  arm_work(c);
  return false;
}

bool machine::write_pipe(cpu& c, sim_task& t, const op& step) {
  if (!begin_call(c, t, step.value, pipe_cost_ns(step.value))) return false;
  sync_place& place = sync_.of_task[t.id];
  sync_pipe& pipe = sync_.pipes[step.target];
  const bool was_empty = pipe.empty();
  place.call_left_bytes -= pipe.put(place.call_left_bytes, !place.call_waited);
  const bool done = place.call_left_bytes == 0;
  if (was_empty && !pipe.empty()) wake_first(pipe.readers, t);
  if (!done) {
    --t.next_step;  // goes on when it is woken
    place.call_waited = true;
    wait_in(c, t, pipe.writers);
    return false;
  }
  place.call_begun = false;
  if (place.call_waited && !pipe.full()) wake_first(pipe.writers, t);
  return true;
}

bool machine::read_pipe(cpu& c, sim_task& t, const op& step) {
  if (!begin_call(c, t, step.value, pipe_cost_ns(step.value))) return false;
  sync_place& place = sync_.of_task[t.id];
  sync_pipe& pipe = sync_.pipes[step.target];
  const bool was_full = pipe.full();
  place.call_left_bytes -= pipe.take(place.call_left_bytes);
  if (was_full) wake_first(pipe.writers, t);
  if (place.call_left_bytes != 0) {
    --t.next_step;
    place.call_waited = true;
    wait_in(c, t, pipe.readers);
    return false;
  }
  place.call_begun = false;
  if (place.call_waited && !pipe.empty()) wake_first(pipe.readers, t);
  return true;
}

std::uint64_t machine::pipe_cost_ns(std::uint64_t bytes) const noexcept {
  return config_.pipe_call_ns + bytes * config_.pipe_byte_ps / 1'000;
}

// ---- Signals

bool machine::send_signal(cpu& c, sim_task& t, const op& step) {
  sim_task& target = tasks_[step.target];
  const std::uint64_t queue_ns = target.signal_pending ? 0 : config_.queue_cost_ns;
  if (!begin_call(c, t, 0, config_.kill_cost_ns + queue_ns)) return false;
  sync_.of_task[t.id].call_begun = false;
  if (target.state == task_state::unborn || target.state == task_state::gone) return true;
  target.signal_pending = true;
  if (target.state == task_state::blocked) {
    if (interrupt(target)) wake(target, t.id);
    return true;
  }
  if (target.state != task_state::running) return true;
  cpu& where = *cpus_[target.cpu];
  synchronise(where);
  take_signal(target);
  arm_work(where);
  if (&target == &t) return t.remaining_ns == 0;
  refresh(where);
  return true;
}

void machine::take_signal(sim_task& t) {
  t.signal_pending = false;
  ++sync_.of_task[t.id].signals_taken;
  if (t.remaining_ns != forever_ns) t.remaining_ns += config_.signal_cost_ns;
}

// False: it waits for what a signal does not end, and takes the signal when it runs again.
bool machine::interrupt(sim_task& t) {
  if (t.ended) return false;
  if (!sync_.of_task[t.id].waits) return true;
  waiter_list* const list = list_to_leave(t);
  if (list == nullptr) return false;
  std::erase(*list, t.id);
  return true;
}

// Of the list that the task waits in, where its operation starts again after a signal; nullptr: it
// does not.
waiter_list* machine::list_to_leave(sim_task& t) {
  sync_place& place = sync_.of_task[t.id];
  if (place.blocking_mutex != sync_place::none) {
    sync_mutex& m = sync_.mutexes[place.blocking_mutex];
    if (m.kind != mutex_kind::plain) return nullptr;
    place.blocking_mutex = sync_place::none;
    return &m.waiters;
  }
  if (place.call_begun) {
    const op& call = t.steps[t.next_step];
    sync_pipe& pipe = sync_.pipes[call.target];
    return call.kind == op_kind::pipe_read ? &pipe.readers : &pipe.writers;
  }
  const op& at = t.steps[t.next_step - 1];
  if (at.kind != op_kind::sem_wait && at.kind != op_kind::barrier) return nullptr;
  --t.next_step;
  return at.kind == op_kind::sem_wait ? &sync_.semaphores[at.target].waiters
                                      : &sync_.barriers[at.target].waiters;
}

}  // namespace vlag

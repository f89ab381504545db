// SPDX-License-Identifier: Apache-2.0
//
// The part of the machine that carries out programs.
#include "machine/machine.hpp"
#include "machine/machine_state.hpp"

#include <algorithm>
#include <cassert>

namespace vlag {
namespace {

// A CPU that carries out more operations than that in so little time gets nowhere: a loop in which
// no time passes, or almost none.
constexpr std::uint32_t most_steps = 1'000'000;
constexpr std::uint64_t most_steps_within_ns = 10'000'000;
// Then so many operations of all CPUs tell who takes part.
constexpr std::uint32_t steps_to_tell_from = 10'000;

}  // namespace

void machine::run_program(cpu& c) {
  sim_task& t = *c.current;
  for (;;) {
    if (c.synced_ns > now_) {  // what the last step cost comes first
      arm_work(c);
      return;
    }
    if (gets_nowhere(c, t)) return;
    static constexpr op no_more{op_kind::end, 0, 0};
    const op& step = t.next_step < t.steps.size() ? t.steps[t.next_step++] : no_more;
    if (!perform(c, t, step)) return;
  }
}

bool machine::gets_nowhere(cpu& c, const sim_task& t) {
  if (now_ - c.steps_since_ns >= most_steps_within_ns) {
    c.steps_since_ns = now_;
    c.steps = 0;
    suspects_.clear();
  }
  if (++c.steps <= most_steps && suspects_.empty()) return false;
  const auto at = std::lower_bound(suspects_.begin(), suspects_.end(), t.id);
  if (at == suspects_.end() || *at != t.id) suspects_.insert(at, t.id);
  if (c.steps <= most_steps) return false;
  if (c.steps == most_steps + steps_to_tell_from) livelocked_ = t.id;
  return livelocked_ != no_task;
}

bool machine::perform(cpu& c, sim_task& t, const op& step) {
  switch (step.kind) {
    case op_kind::run:
      if (step.value == 0) return true;
      t.remaining_ns = step.value;
      arm_work(c);
      return false;
    case op_kind::watch: {
      sim_task& target = tasks_[step.target];
      const bool blocked = target.state == task_state::blocked || target.state == task_state::gone;
      t.remaining_ns = blocked ? step.value : forever_ns;
      if (!blocked) {
        t.watch_after_ns = step.value;
        t.next_watcher = target.first_watcher;
        target.first_watcher = t.id;
      }
      if (t.remaining_ns == 0) return true;
      arm_work(c);
      return false;
    }
    case op_kind::wake:
    case op_kind::signal: {
      sim_task& target = tasks_[step.target];
      if (target.state == task_state::blocked && !waits_for_others(target.id) &&
          (target.waits_for_wake || step.kind == op_kind::signal)) {
        wake(target, t.id);
      } else if (step.kind == op_kind::wake) {
        ++target.pending_wakes;
      }
      return true;
    }
    case op_kind::wait:
      if (t.pending_wakes != 0) {
        --t.pending_wakes;
        return true;
      }
      t.waits_for_wake = true;
      leave_cpu(c, t, false);
      return false;
    case op_kind::sleep_until:
      if (step.value <= now_) return true;
      [[fallthrough]];
    case op_kind::sleep:
    case op_kind::sleep_ticks:
    case op_kind::sleep_to_period:
      set_timer(t, timer_for(t, step));
      leave_cpu(c, t, false);
      return false;
    case op_kind::fork:
      if (tasks_[step.target].state == task_state::unborn) start_new(tasks_[step.target], t.id);
      return true;
    case op_kind::exit:
      leave_cpu(c, t, true);
      return false;
    case op_kind::yield:
      c.clock_ns = clock_for_schedule(c);
      ++c.counters.yields;
      if (t.real_time()) {
        c.rt_yields = true;
      } else {
        c.fair->yield(c.clock_ns);
      }
      arm_work(c);
      c.yields = true;
      schedule(c);
      return false;
    case op_kind::set_nice:
      if (!t.real_time()) {
        c.clock_ns = std::max(c.clock_ns, clock(now_));
        c.fair->set_nice(t, static_cast<int>(static_cast<std::int64_t>(step.value)), c.clock_ns);
        track_change(c, t);
        if (c.fair->need_resched()) request_switch(c, config_.switch_delay_ns);
        arm_hrtick(c);
      }
      return true;
    case op_kind::set_latency_nice:
      if (!t.real_time()) {
        c.clock_ns = std::max(c.clock_ns, clock(now_));
        c.fair->set_latency_nice(t, static_cast<int>(static_cast<std::int64_t>(step.value)),
                                 c.clock_ns);
        if (c.fair->need_resched()) request_switch(c, config_.switch_delay_ns);
        arm_hrtick(c);
      }
      return true;
    case op_kind::set_slice:
      if (!t.real_time()) {
        c.clock_ns = std::max(c.clock_ns, clock(now_));
        c.fair->set_slice(t, step.value, c.clock_ns);
        if (c.fair->need_resched()) request_switch(c, config_.switch_delay_ns);
        arm_hrtick(c);
      }
      return true;
    case op_kind::join_group:
      change_group(t, step.target);
      return true;
    case op_kind::write_group: {
      const group_write& write = group_writes_.at(step.target);
      if (write.group == 0 || write.group > groups_.size() ||
          set_group_file(write.group, write.file) != group_error::none) {
        ++refused_writes_;
      }
      return true;
    }
    case op_kind::move:  // acts at a wake-up; a task that did not block stays where it is
      return true;
    case op_kind::milestone:
      ++milestones_;
      last_milestone_ns_ = now_;
      return true;
    case op_kind::jump:
      t.next_step = static_cast<std::uint32_t>(step.value);
      return true;
    case op_kind::end:
      ended_by_ = t.id;
      t.ended = true;
      leave_cpu(c, t, false);
      return false;
    case op_kind::finish:
      if (alive_ == 1) ended_by_ = t.id;
      leave_cpu(c, t, true);
      return false;
    case op_kind::repeat: {
      op& counter = t.steps[t.next_step - 1];
      if (++counter.target < counter.value >> 32) {
        t.next_step = static_cast<std::uint32_t>(counter.value);
      } else {
        counter.target = 0;
      }
      return true;
    }
    case op_kind::busy:
      t.steps[t.next_step].value = now_ + std::min(step.value, never_ns);
      t.steps[t.next_step].target = 0;
      return true;
    case op_kind::busy_chunk:
      if (step.target != 0 && now_ >= step.value) return true;
      ++t.steps[--t.next_step].target;
      t.remaining_ns = busy_chunk_ns;
      arm_work(c);
      return false;
    case op_kind::fork_next: {
      std::uint64_t next = step.target;
      const std::uint64_t end = next + step.value;
      while (next < end && tasks_[next].state != task_state::unborn) ++next;
      if (next == end) {
        out_of_forks_ = t.id;
        return false;
      }
      if (notes_ != nullptr) notes_->on_fork(static_cast<std::uint32_t>(next));
      start_new(tasks_[next], t.id);
      return true;
    }
    case op_kind::note:
      if (notes_ != nullptr) notes_->on_note(now_, t.id, step.target, step.value);
      return true;
    case op_kind::note_chunks:
      if (notes_ != nullptr) {
        notes_->on_note(now_, t.id, step.target, t.steps[t.next_step - 2].target);
      }
      return true;
    case op_kind::lock:
    case op_kind::unlock:
    case op_kind::cond_wait:
    case op_kind::cond_signal:
    case op_kind::cond_broadcast:
    case op_kind::barrier:
    case op_kind::sem_post:
    case op_kind::sem_wait:
    case op_kind::timer_origin:
    case op_kind::timer:
    case op_kind::timer_absolute:
    case op_kind::pipe_write:
    case op_kind::pipe_read:
    case op_kind::kill:
    case op_kind::set_policy:
      return perform_sync(c, t, step);
  }
  return false;
}

std::uint64_t machine::timer_for(const sim_task& t, const op& step) const {
  const std::uint64_t slack = t.real_time() ? 0 : config_.timer_slack_ns;
  switch (step.kind) {
    case op_kind::sleep:
      return now_ + std::min(step.value, never_ns) + slack;
    case op_kind::sleep_until:
      return std::max(now_, std::min(step.value, never_ns)) + slack;
    case op_kind::sleep_ticks:
      return next_tick_after(now_) +
             (std::clamp<std::uint64_t>(step.value, 1, never_ns / config_.tick_ns) - 1) *
                 config_.tick_ns +
             config_.tick_timer_delay_ns;
    case op_kind::sleep_to_period: {
      const std::uint64_t origin = config_.period_origins_ns.at(step.target);
      if (now_ < origin) return origin;
      return origin + ((now_ - origin) / step.value + 1) * step.value;
    }
    default:
      return now_;
  }
}

void machine::set_timer(sim_task& t, std::uint64_t at_ns) {
  timers_.push(at_ns, t.id, t.generation);
}

void machine::leave_cpu(cpu& c, sim_task& t, bool gone) {
  assert(t.state == task_state::running);
  t.state = gone ? task_state::gone : task_state::blocked;
  if (gone) --alive_;
  t.blocked_since_ns = now_;
  ++t.figures.voluntary;
  c.clock_ns = clock_for_schedule(c);
  if (!t.real_time()) {
    if (gone) {
      c.fair->exit(c.clock_ns);
    } else {
      c.fair->block(c.clock_ns);
    }
    track_change(c, t);
  }
  schedule(c);
  if (gone && load_ != nullptr && !t.real_time()) load_->task_leaves(t.id, c.clock_ns);
  notify_watchers(t);
}

void machine::notify_watchers(sim_task& t) {
  std::uint32_t next = t.first_watcher;
  t.first_watcher = no_task;
  while (next != no_task) {
    sim_task& watcher = tasks_[next];
    next = watcher.next_watcher;
    watcher.next_watcher = no_task;
    cpu& c = *cpus_[watcher.cpu];
    if (c.current == &watcher) synchronise(c);
    watcher.remaining_ns = watcher.watch_after_ns;
    if (c.current == &watcher) {
      arm_work(c);
      refresh(c);
    }
  }
}

}  // namespace vlag

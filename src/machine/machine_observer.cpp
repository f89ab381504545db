// SPDX-License-Identifier: Apache-2.0
//
// The part of the machine that tells its observer.
#include "machine/machine.hpp"
#include "machine/machine_state.hpp"

namespace vlag {

void machine::set_observer(machine_observer* observer) {
  observer_ = observer;
  tells_decisions_ = observer != nullptr && observer->wants_decisions();
  for (auto& c : cpus_) listen(*c);
}

// A class has one hook, and it may be wanted by the observer and by the watch.
void machine::listen(cpu& c) {
  c.owner = this;
  if (!tells_decisions_ && c.watch == nullptr) {
    c.fair->set_decision_hook(nullptr, nullptr);
    return;
  }
  c.fair->set_decision_hook(
      [](void* context, decision what, const entity& who) {
        const cpu& on = *static_cast<const cpu*>(context);
        if (on.watch != nullptr) on.watch->on_decision(what, who);
        if (!on.owner->tells_decisions_) return;
        on.owner->observer_->on_decision(on.owner->now_, on.number,
                                         who.is_group ? no_task : static_cast<const task&>(who).id,
                                         what);
      },
      &c);
}

void machine::tell_switch(const cpu& c, const sim_task* previous, const sim_task* next) const {
  const bool runnable = previous != nullptr && previous->state == task_state::running;
  if (previous != nullptr) {
    off_cpu why = c.yields ? off_cpu::yielded : off_cpu::preempted;
    if (previous->state == task_state::gone) {
      why = off_cpu::exited;
    } else if (!runnable) {
      why = previous->waits_for_wake ? off_cpu::waits : off_cpu::sleeps;
    }
    observer_->on_leave(now_, c.number, previous->id, why);
  }
  observer_->on_switch(now_, c.number, previous == nullptr ? no_task : previous->id, runnable,
                       next == nullptr ? no_task : next->id);
}

}  // namespace vlag

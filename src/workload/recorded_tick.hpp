// SPDX-License-Identifier: Apache-2.0
//
// What a recording tells about the ticks and delays of the machine it was made on.
#pragma once

#include "trace/event.hpp"
#include "workload/recorded_programs.hpp"

namespace vlag {

// Fills tick_phase_ns (relative to span.from_ns) and the delays. Ticks show in wake-ups made in
// softirq context, which follow a tick at once, and in switches away from a runnable task that no
// wake-up precedes. Requires: out.tick_ns is set.
void infer_ticks(const trace::recording& recording, const recorded_span& span,
                 recorded_machine& out);

}  // namespace vlag

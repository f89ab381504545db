// SPDX-License-Identifier: Apache-2.0
//
// Reads a recording, whatever its format.
#pragma once

#include "trace/event.hpp"
#include "trace/intake.hpp"
#include "trace/time_order.hpp"

#include <string>

namespace vlag::trace {

// Gives the events one by one in the order of time (equal times in file order), in bounded memory:
// under 200 MB whatever the file's size. `about` is filled on the way: texts are in it when an
// event points at them, the rest is complete at the end only. Wake-ups are as recorded: see
// let_waking_stand_in(). Throws input_error: missing or unreadable file, no known format (says what
// the file looks like instead), no events. What can be read past (lost events, lines out of order,
// a cut last line, malformed lines) is counted as anomalies; so are events that come so late that
// they cannot be given in order any more, which are left out.
void visit_recording(const std::string& path, recording_info& about, event_visitor& to,
                     const progress& tell = {});

// The whole recording in memory, sorted, with let_waking_stand_in() done. Throws input_error as
// above, and for a recording without a sched_switch.
[[nodiscard]] recording read_recording(const std::string& path, const progress& tell = {});

// A recording with sched_waking but without a single sched_wakeup (perf sched record asks for no
// more) would have no wake-ups: each `waking` becomes a `wakeup` then. True: done.
bool let_waking_stand_in(recording& all);

}  // namespace vlag::trace

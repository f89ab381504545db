// SPDX-License-Identifier: Apache-2.0
//
// Reads a whole ftrace text: the kernel's `trace` file or `trace-cmd report`. One pass over the
// lines, no allocation per event; names are interned.
#pragma once

#include "input/line_reader.hpp"
#include "trace/event.hpp"
#include "trace/reader.hpp"

namespace vlag::trace {

// Appends events, names and anomalies to `out` and sorts the events by time (stable) if they came
// out of order. out.path names the input in messages. Throws input_error: the first thousand lines
// hold no event and so it is some other text, no events at all, no sched_switch among them, damaged
// input.
//
// Anomalies: "lost events" (one for each gap), "out of order" (earlier than a line above it),
// "cut last line" (no line end; not read, since a number may be cut too), "malformed line" (not of
// ftrace's form, such as the second line of a marker), "malformed event" (arguments of an event
// that is read).
void read_ftrace_text(line_reader& lines, recording& out, const progress& tell);

}  // namespace vlag::trace

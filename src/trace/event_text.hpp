// SPDX-License-Identifier: Apache-2.0
//
// Reads recordings that are text: one event a line. One pass, no allocation per event, bounded
// memory.
#pragma once

#include "input/line_reader.hpp"
#include "trace/intake.hpp"

namespace vlag::trace {

// ftrace text: the kernel's `trace` file or `trace-cmd report`. Gives events in the file's order;
// about().path names the input in messages. Throws input_error: the first thousand lines hold no
// event and so it is some other text, no events at all, damaged input.
//
// Anomalies: "lost events" (one for each gap), "out of order" (earlier than a line above it),
// "cut last line" (no line end; not read, since a number may be cut too), "malformed line" (not of
// ftrace's form, such as the second line of a marker), "malformed event" (arguments of an event
// that is read).
void read_ftrace_text(line_reader& lines, intake& to, const progress& tell);

// The same for the output of `perf script`, which says nothing about interrupts.
void read_perf_script(line_reader& lines, intake& to, const progress& tell);

}  // namespace vlag::trace

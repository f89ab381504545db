// SPDX-License-Identifier: Apache-2.0
//
// Reads trace.dat, the file of trace-cmd, versions 6 and 7, through libtracecmd. The library may
// crash or run wild on a damaged file, so it works in a process of its own, with limits on memory
// and CPU time.
#pragma once

#include "input/seekable_bytes.hpp"
#include "trace/intake.hpp"

namespace vlag::trace {

// Gives events in the order of time. about().path names the input in messages. Throws input_error:
// the file is damaged beyond use, which ended the process that read it or made it take more than
// 1 GiB of memory, 20 s of CPU time and 2 s a MiB, or 2 minutes without a word.
// Requires: file.descriptor() >= 0.
//
// Anomalies: "lost events" (one for each gap), "malformed event", "unknown event" (no format for
// it), "other buffers" (named ones, which are not read).
void read_trace_dat(const seekable_bytes& file, intake& to, const progress& tell);

}  // namespace vlag::trace

// SPDX-License-Identifier: Apache-2.0
//
// Reads Perfetto traces (protobuf) that hold ftrace events: what traced_probes or tracebox records
// from the data source linux.ftrace, compact scheduling or not, packets compressed or not.
#pragma once

#include "input/byte_source.hpp"
#include "trace/intake.hpp"

namespace vlag::trace {

// Gives events in the file's order, which is CPU by CPU. about().path names the input in messages.
// Throws input_error: no ftrace event in it, a packet of more than 64 MiB.
//
// Anomalies: "lost events" (the trace does not say how many), "damaged packet", "malformed event",
// "unknown previous task" (compact scheduling names the next task only, so the first switch of each
// CPU is from the idle task as far as is known), "cut file".
void read_perfetto(byte_source& source, intake& to, const progress& tell);

}  // namespace vlag::trace

// SPDX-License-Identifier: Apache-2.0
//
// Reads perf.data, the file of `perf record` and `perf sched record` (Linux 4.14 and later): as a
// file, and as a stream (`perf record -o -`), with records compressed by zstd (`-z`) or plain, of
// little-endian 64-bit machines. One pass over the records, bounded memory.
#pragma once

#include "input/byte_source.hpp"
#include "input/seekable_bytes.hpp"
#include "trace/intake.hpp"

#include <memory>
#include <string_view>

namespace vlag::trace {

// The beginning of one that is a stream; it needs not be seekable.
[[nodiscard]] bool is_perf_stream(std::string_view head) noexcept;

// Gives events in the file's order, with the ends of rounds. about().path names the input in
// messages. Throws input_error: a head that makes no sense, no event formats in it, no sample with
// time, CPU and event.
//
// Anomalies: "lost events" (perf's own count), "malformed event" (a sample or its event that makes
// no sense), "unknown event" (no format for it), "unknown sample" (of no attribute), "damaged
// record" (what follows it is not read), "cut file".
void read_perf_data(const seekable_bytes& file, intake& to, const progress& tell);
void read_perf_stream(byte_source& stream, intake& to, const progress& tell);

}  // namespace vlag::trace

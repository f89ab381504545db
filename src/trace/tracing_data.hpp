// SPDX-License-Identifier: Apache-2.0
//
// The block in which perf.data keeps the formats of its trace events: what tracefs said when the
// recording was made.
#pragma once

#include "trace/event_formats.hpp"

#include <string>
#include <string_view>

namespace vlag::trace {

// Takes the formats in. Empty: all read; else what is wrong, with the byte in the block: then the
// formats before that place are kept. A format text that makes no sense is `what` too, unless it
// belongs to an event that is not read.
[[nodiscard]] std::string read_tracing_data(std::string_view block, event_formats& into);

}  // namespace vlag::trace

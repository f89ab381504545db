// SPDX-License-Identifier: Apache-2.0
//
// Reads a recording, whatever its format.
#pragma once

#include "trace/event.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace vlag::trace {

// Told now and then how far reading is: bytes consumed, bytes in all (0 unknown), events so far.
using progress = std::function<void(std::uint64_t, std::uint64_t, std::uint64_t)>;

// Throws input_error: missing or unreadable file, no known format (says what the file looks like
// instead), no sched_switch in it. What can be read past (lost events, lines out of order, a cut
// last line, malformed lines) is counted as anomalies.
[[nodiscard]] recording read_recording(const std::string& path, const progress& tell = {});

}  // namespace vlag::trace

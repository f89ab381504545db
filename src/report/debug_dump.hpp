// SPDX-License-Identifier: Apache-2.0
//
// A machine at one moment, in the manner of the kernel's scheduler debug file: each queue with its
// counts and virtual times, each task. Field names are the kernel's.
#pragma once

#include "machine/snapshot.hpp"

#include <cstdint>
#include <string>

namespace vlag {

// Virtual times are ms with ns after the point, signed, as that file has them; `-` where there is
// nothing (no task waits; a task that is on no queue is not eligible or late). vlag: on a queue
// V - vruntime, virtual ns; off it what was kept. State: >R runs, R wants to, S blocked, N not yet
// begun, X gone.
[[nodiscard]] std::string debug_dump(const machine_snapshot& snapshot);

// "-1.048576": ns as ms, exactly.
[[nodiscard]] std::string split_ms(std::int64_t ns);

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// RapidCheck generators of CFS configurations and of streams of steps.
#pragma once

#include "property/cfs_twin.hpp"

#include <rapidcheck.h>

#include <vector>

namespace vlag {

// What the times in a stream are like.
enum class time_scale : std::uint8_t {
  ticks,  // up to some ms, often at the edges of the tunables
  ages,   // also seconds to months
};

[[nodiscard]] cfs_config draw_config();
[[nodiscard]] std::vector<step> draw_stream(time_scale scale);

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// What every command on a recording starts from: the recording, the workload in it, the policies to
// run it under.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "progress_bar.hpp"
#include "replay_options.hpp"
#include "trace/event.hpp"
#include "workload/replay.hpp"
#include "workload/variant.hpp"

namespace vlag {

struct replay_source {
  trace::recording recording{};
  recorded_attributes attributes{};
  std::unique_ptr<recorded_workload> workload{};
  std::optional<policy_variant> recorded_under{};  // as the attributes say
  std::vector<policy_variant> variants{};          // at least one
  std::vector<std::string> notes{};                // what is not used, and why
};

[[nodiscard]] progress_bar::show shown_progress(const source_request& request);

// Reads, builds, parses and checks all of it; throws input_error.
[[nodiscard]] replay_source open_source(source_request& request);

// Some task of the recording matches; otherwise throws input_error with the nearest name.
void require_match(const replay_source& source, const std::string& option,
                   const std::string& pattern);

}  // namespace vlag

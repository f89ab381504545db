// SPDX-License-Identifier: Apache-2.0
//
// Where things lie in a sample of perf.data: an attribute of the recording says which parts each of
// its samples has, in an order that never changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace vlag::trace {

// What a perf_event_attr says that matters here.
struct sample_layout {
  std::uint64_t parts = 0;            // PERF_SAMPLE_ bits
  std::uint64_t read_format = 0;      // PERF_FORMAT_ bits
  bool id_behind_all = false;         // sample_id_all
  std::optional<std::int32_t> clock;  // clockid_t when one was chosen
};

// Of the attribute's bytes, however long this version's are. nullopt: too short.
[[nodiscard]] std::optional<sample_layout> layout_of(std::string_view attribute) noexcept;

struct sample {
  std::uint64_t time_ns = 0;
  std::uint32_t cpu = 0;
  std::string_view raw;  // the event as the kernel wrote it
};

// `body` is what follows the record's header. False: a part is missing that the layout asks for, or
// is cut.
[[nodiscard]] bool read_sample(std::string_view body, const sample_layout& layout,
                               sample& out) noexcept;

// The id that says to which attribute a sample belongs; nullopt: the layout has none, or it is cut.
[[nodiscard]] std::optional<std::uint64_t> id_of_sample(std::string_view body,
                                                        const sample_layout& layout) noexcept;

// Samples have all that a scheduler recording needs: time, CPU and the event's bytes.
[[nodiscard]] bool is_complete(const sample_layout& layout) noexcept;

}  // namespace vlag::trace

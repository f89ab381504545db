// SPDX-License-Identifier: Apache-2.0
//
// What a file is, told by its first bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vlag::trace {

inline constexpr std::string_view expected_recording =
    "expected perf.data, the output of perf script, trace.dat, ftrace text (the kernel's trace "
    "file "
    "or the output of trace-cmd report) or a Perfetto trace, plain or compressed with gzip, xz or "
    "zstd";

enum class trace_format : std::uint8_t { ftrace_text, perf_script, perf_data, trace_dat, perfetto };

// As messages call it: "perf.data".
[[nodiscard]] std::string_view name_of(trace_format format) noexcept;

// Which of the formats that are read this is; nullopt: none of them. A text that could be ftrace's
// counts as such, until its reader finds no event in it.
[[nodiscard]] std::optional<trace_format> sniff(std::string_view head);

// The name of a format that is certainly not text, with a hint what to do about it: "perf.data",
// "an ELF file", "binary data"…; nullopt: text.
[[nodiscard]] std::optional<std::string> foreign_format(std::string_view head);

// As foreign_format(), and for a text that turned out not to be ftrace's: "CSV", "JSON", "the
// output of perf script", "text with no ftrace event".
[[nodiscard]] std::string describe_content(std::string_view head);

}  // namespace vlag::trace

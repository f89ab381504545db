// SPDX-License-Identifier: Apache-2.0
//
// What a file is, told by its first bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace vlag::trace {

inline constexpr std::string_view expected_recording =
    "expected ftrace text (the kernel's trace file or the output of trace-cmd report), plain or "
    "compressed with gzip, xz or zstd";

// The name of a format that is certainly not ftrace text, with a hint what to do about it:
// "perf.data (…)", "an ELF file", "binary data"…; nullopt: text that may be ftrace's.
[[nodiscard]] std::optional<std::string> foreign_format(std::string_view head);

// As foreign_format(), and for a text that turned out not to be ftrace's: "CSV", "JSON", "the
// output of perf script", "text with no ftrace event".
[[nodiscard]] std::string describe_content(std::string_view head);

}  // namespace vlag::trace

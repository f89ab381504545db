// SPDX-License-Identifier: Apache-2.0
#include "trace/reader.hpp"

#include "input/byte_source.hpp"
#include "input/input_error.hpp"
#include "input/line_reader.hpp"
#include "trace/ftrace_text.hpp"
#include "trace/sniff.hpp"

#include <fmt/format.h>

namespace vlag::trace {

recording read_recording(const std::string& path, const progress& tell) {
  line_reader lines(path);
  recording out;
  out.path = shown_path(path);
  if (const auto format = foreign_format(lines.peek())) {
    throw input_error(fmt::format("{}: not a recording that can be read: looks like {}; {}",
                                  out.path, *format, expected_recording));
  }
  out.format = "ftrace text";
  read_ftrace_text(lines, out, tell);
  return out;
}

}  // namespace vlag::trace

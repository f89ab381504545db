// SPDX-License-Identifier: Apache-2.0
//
// Both kinds of text: what sniff says decides.
#include "fuzz_input.hpp"
#include "input/input_error.hpp"
#include "input/line_reader.hpp"
#include "trace/event_text.hpp"
#include "trace/sniff.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  vlag::trace::recording_info about;
  vlag::fuzz::checker checked(about);
  vlag::trace::intake taken(about, checked, vlag::fuzz::events_held);
  static_cast<void>(vlag::trace::describe_content(bytes.substr(0, 4096)));
  const auto format = vlag::trace::sniff(bytes.substr(0, 4096));
  try {
    vlag::line_reader lines(std::make_unique<vlag::fuzz::memory_source>(bytes), "input");
    if (format == vlag::trace::trace_format::perf_script) {
      vlag::trace::read_perf_script(lines, taken, {});
    } else {
      vlag::trace::read_ftrace_text(lines, taken, {});
    }
  } catch (const vlag::input_error&) {
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "fuzz_input.hpp"
#include "input/input_error.hpp"
#include "trace/perf_data.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  vlag::trace::recording_info about;
  vlag::fuzz::checker checked(about);
  vlag::trace::intake taken(about, checked, vlag::fuzz::events_held);
  try {
    if (vlag::trace::is_perf_stream(bytes)) {
      vlag::fuzz::memory_source source(bytes);
      vlag::trace::read_perf_stream(source, taken, {});
    } else {
      vlag::trace::read_perf_data(*vlag::seekable_view(bytes), taken, {});
    }
  } catch (const vlag::input_error&) {
  }
  return 0;
}

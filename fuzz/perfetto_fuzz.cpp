// SPDX-License-Identifier: Apache-2.0
#include "trace/perfetto.hpp"

#include "fuzz_input.hpp"
#include "input/input_error.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  vlag::fuzz::memory_source source({reinterpret_cast<const char*>(data), size});
  vlag::trace::recording_info about;
  vlag::fuzz::checker checked(about);
  vlag::trace::intake taken(about, checked, vlag::fuzz::events_held);
  try {
    vlag::trace::read_perfetto(source, taken, {});
  } catch (const vlag::input_error&) {
  }
  return 0;
}

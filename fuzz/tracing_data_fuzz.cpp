// SPDX-License-Identifier: Apache-2.0
//
// The formats that a recording brings, and an event read by each of them: the input is a block of
// formats, and its last 256 bytes are the event as well.
#include "fuzz_input.hpp"
#include "trace/tracing_data.hpp"

#include <algorithm>
#include <string>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  vlag::trace::event_formats formats;
  static_cast<void>(vlag::trace::read_tracing_data(bytes, formats));
  std::string raw(bytes.substr(size - std::min<std::size_t>(size, 256)));
  if (raw.size() < 2) return 0;
  for (unsigned id = 0; id < 1024; ++id) {
    raw[0] = static_cast<char>(id & 0xff);
    raw[1] = static_cast<char>(id >> 8);
    vlag::trace::event entry;
    vlag::trace::raw_texts texts;
    std::string_view name;
    static_cast<void>(formats.read(raw, entry, texts, name));
    if (texts.comm.size() + texts.other_comm.size() + texts.text.size() > 3 * raw.size()) {
      std::abort();
    }
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
//
// The bundled recordings of each binary format, and what the tools that made them print of them.
#pragma once

#include "input/byte_source.hpp"

#include <string>
#include <vector>

namespace vlag::test {

struct bundled_format {
  std::string file;
  std::string expected;  // text of perf script, or of trace-cmd report
  std::string format;    // as the reader calls it
};

[[nodiscard]] inline std::string bundled_path(const std::string& name) {
  return std::string(VLAG_TEST_DATA "/traces/formats/") + name;
}

[[nodiscard]] inline std::vector<bundled_format> bundled_formats() {
  return {
      {"6.18-load-2cpu.perf.data.xz", "6.18-load-2cpu.perf.data.txt.xz", "perf.data"},
      {"6.18-load-2cpu.zstd.perf.data.xz", "6.18-load-2cpu.zstd.perf.data.txt.xz", "perf.data"},
      {"6.18-load-2cpu.pipe.perf.data.xz", "6.18-load-2cpu.pipe.perf.data.txt.xz", "perf.data"},
      {"6.18-load-2cpu.v6.trace.dat.xz", "6.18-load-2cpu.trace.dat.txt.xz", "trace.dat"},
      {"6.18-load-2cpu.v7.trace.dat.xz", "6.18-load-2cpu.trace.dat.txt.xz", "trace.dat"},
  };
}

// The file's bytes, unpacked.
[[nodiscard]] inline std::string bytes_of(const std::string& path) {
  const auto source = open_bytes(path);
  std::string all;
  std::string piece(std::size_t{1} << 16, '\0');
  while (const std::size_t got = source->read(piece.data(), piece.size())) {
    all.append(piece, 0, got);
  }
  return all;
}

}  // namespace vlag::test

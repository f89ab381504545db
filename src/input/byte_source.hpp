// SPDX-License-Identifier: Apache-2.0
//
// Bytes of a file or of standard input, decompressed on the way (gzip, xz, zstd: told by the first
// bytes). Streams in bounded memory: whatever a compressed file claims, no more is held than the
// caller's buffer, one input buffer and the decoder's own window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace vlag {

class byte_source {
 public:
  virtual ~byte_source() = default;
  byte_source() = default;
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;

  // Fills up to `size` bytes, size > 0; 0 only at the end. Throws input_error: the file cannot be
  // read, or a compressed stream is damaged or ends early.
  [[nodiscard]] virtual std::size_t read(char* into, std::size_t size) = 0;

  // Bytes of the file (compressed, if it is) used so far, and its size; 0 when unknown (a pipe).
  [[nodiscard]] virtual std::uint64_t bytes_consumed() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t file_size() const noexcept = 0;
};

// Opens a file, or standard input for "-". Throws input_error: no such file, a directory, not
// readable, empty.
[[nodiscard]] std::unique_ptr<byte_source> open_bytes(const std::string& path);

// How messages call a path: "standard input" for "-".
[[nodiscard]] std::string shown_path(const std::string& path);

}  // namespace vlag

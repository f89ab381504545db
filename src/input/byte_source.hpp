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
#include <string_view>

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

  // The descriptor of a plain file, which may be read at any place as well; -1: there is none.
  [[nodiscard]] virtual int plain_descriptor() const noexcept { return -1; }
};

// Another source whose first bytes can be looked at before they are read.
class headed_source final : public byte_source {
 public:
  static constexpr std::size_t head_bytes = 4096;

  // Throws what reading throws.
  explicit headed_source(std::unique_ptr<byte_source> below);

  // Up to head_bytes, fewer only if there are no more; the same at any time.
  [[nodiscard]] std::string_view head() const noexcept { return head_; }

  [[nodiscard]] std::size_t read(char* into, std::size_t size) override;
  [[nodiscard]] std::uint64_t bytes_consumed() const noexcept override;
  [[nodiscard]] std::uint64_t file_size() const noexcept override;
  [[nodiscard]] int plain_descriptor() const noexcept override;

 private:
  std::unique_ptr<byte_source> below_;
  std::string head_;
  std::size_t given_ = 0;  // of the head
};

// Opens a file, or standard input for "-". Throws input_error: no such file, a directory, not
// readable, empty.
[[nodiscard]] std::unique_ptr<byte_source> open_bytes(const std::string& path);

// How messages call a path: "standard input" for "-".
[[nodiscard]] std::string shown_path(const std::string& path);

}  // namespace vlag

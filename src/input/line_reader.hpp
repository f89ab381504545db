// SPDX-License-Identifier: Apache-2.0
//
// Lines of a text file, plain or compressed (gzip, xz, zstd: told by content, not by name), read as
// a stream in bounded memory. Not thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace vlag {

class byte_source;

class line_reader {
 public:
  // Longest line that is accepted, bytes.
  static constexpr std::size_t max_line_bytes = std::size_t{1} << 24;

  // Opens a file, or standard input for "-", and reads its first bytes. Throws input_error: no such
  // file, a directory, not readable, empty, a compressed stream damaged at its beginning.
  explicit line_reader(const std::string& path);
  // As above, for a source that is open; `name` stands for it in messages.
  line_reader(std::unique_ptr<byte_source> source, std::string name);
  ~line_reader();
  line_reader(const line_reader&) = delete;
  line_reader& operator=(const line_reader&) = delete;

  // The next line without its end (\n or \r\n); false at the end of the input. The view holds until
  // the next call. Throws input_error: a damaged compressed stream, a line that is too long.
  [[nodiscard]] bool next(std::string_view& line);

  // Of the line returned last: its number from 1, and the offset of its first byte (uncompressed).
  [[nodiscard]] std::uint64_t line_number() const noexcept;
  [[nodiscard]] std::uint64_t byte_offset() const noexcept;
  // The line returned last ended with the input, not with a line end.
  [[nodiscard]] bool last_line_was_cut() const noexcept;
  // Compressed bytes consumed and size of the file (0 when unknown), for a progress display.
  [[nodiscard]] std::uint64_t bytes_consumed() const noexcept;
  [[nodiscard]] std::uint64_t file_size() const noexcept;

  // The first bytes of the (uncompressed) content, up to 4 KiB, without consuming them; the same at
  // any time.
  [[nodiscard]] std::string_view peek();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// Bytes of a file that can be read at any place, for formats whose parts point at one another.
#pragma once

#include "input/byte_source.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace vlag {

class seekable_bytes {
 public:
  seekable_bytes() = default;
  virtual ~seekable_bytes() = default;
  seekable_bytes(const seekable_bytes&) = delete;
  seekable_bytes& operator=(const seekable_bytes&) = delete;

  // Up to `size` bytes from `offset` on; fewer only at the end. Throws input_error: a read fails.
  [[nodiscard]] virtual std::size_t read_at(std::uint64_t offset, char* into,
                                            std::size_t size) const = 0;
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  // Of the file that holds exactly these bytes; -1: there is none.
  [[nodiscard]] virtual int descriptor() const noexcept { return -1; }
};

// A plain file is read where it is. What is compressed or comes through a pipe is copied to a
// temporary file without a name first, of at most 16 GiB. `name` stands for it in messages. Throws
// input_error: it is larger, the copy cannot be written, damaged data.
[[nodiscard]] std::unique_ptr<seekable_bytes> make_seekable(std::unique_ptr<byte_source> source,
                                                            std::string name);

// Bytes in memory, which must outlive it.
[[nodiscard]] std::unique_ptr<seekable_bytes> seekable_view(std::string_view bytes);

// A stretch of them as a stream; `bytes` must outlive it. Ends early where they end.
[[nodiscard]] std::unique_ptr<byte_source> stretch_of(const seekable_bytes& bytes,
                                                      std::uint64_t offset, std::uint64_t size);

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// A window over a stream of bytes: as many as the next record needs, contiguous.
#pragma once

#include "input/byte_source.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace vlag::trace {

class record_window {
 public:
  // `first_offset`: of the source's first byte in the file, for messages.
  record_window(byte_source& source, std::uint64_t first_offset)
      : source_(source), buffer_(first_bytes), offset_(first_offset) {}

  // The next `size` bytes, fewer only at the end; they hold until the next call. The buffer grows
  // to twice what is asked for at most, and only as far as bytes do come.
  [[nodiscard]] std::string_view peek(std::size_t size) {
    while (end_ - begin_ < size && !ended_) read_more();
    return {buffer_.data() + begin_, std::min(size, end_ - begin_)};
  }

  // Requires: no more than was peeked at.
  void skip(std::size_t size) noexcept {
    begin_ += size;
    offset_ += size;
  }

  // Reads past `size` bytes without holding them; false: there are not as many.
  [[nodiscard]] bool pass(std::uint64_t size) {
    while (size > 0) {
      const std::size_t step =
          peek(static_cast<std::size_t>(std::min<std::uint64_t>(size, 65536))).size();
      if (step == 0) return false;
      skip(step);
      size -= step;
    }
    return true;
  }

  // Of the next byte.
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }

 private:
  static constexpr std::size_t first_bytes = std::size_t{1} << 18;

  void read_more() {
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
    const std::size_t got = source_.read(buffer_.data() + end_, buffer_.size() - end_);
    end_ += got;
    ended_ = got == 0;
  }

  byte_source& source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_;
  bool ended_ = false;
};

}  // namespace vlag::trace

// SPDX-License-Identifier: Apache-2.0
#include "trace/tracing_data.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

namespace vlag::trace {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t longest_format = std::uint64_t{1} << 20;

class block_cursor {
 public:
  explicit block_cursor(std::string_view block) : block_(block) {}

  [[nodiscard]] bool take(std::string_view expected) {
    if (block_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }
  template <typename integer>
  [[nodiscard]] bool take_number(integer& value) {
    if (block_.size() - at_ < sizeof value) return false;
    std::memcpy(&value, block_.data() + at_, sizeof value);
    at_ += sizeof value;
    return true;
  }
  [[nodiscard]] bool take_bytes(std::uint64_t size, std::string_view& bytes) {
    if (size > block_.size() - at_) return false;
    bytes = block_.substr(at_, static_cast<std::size_t>(size));
    at_ += static_cast<std::size_t>(size);
    return true;
  }
  // Up to a zero byte, which is taken as well.
  [[nodiscard]] bool take_text(std::string_view& text) {
    const std::size_t stop = block_.find('\0', at_);
    if (stop == std::string_view::npos) return false;
    text = block_.substr(at_, stop - at_);
    at_ = stop + 1;
    return true;
  }
  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  std::string_view block_;
  std::size_t at_ = 0;
};

// A u64 length and a text of that length.
bool take_sized(block_cursor& cursor, std::string_view& text) {
  std::uint64_t size = 0;
  return cursor.take_number(size) && size <= longest_format && cursor.take_bytes(size, text);
}

std::string read_formats(block_cursor& cursor, std::string_view system, std::uint32_t count,
                         event_formats& into) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t where = cursor.at();
    std::string_view text;
    if (!take_sized(cursor, text)) {
      return fmt::format("byte {}: a format of the system {} is cut", where, system);
    }
    if (!into.add_text(system, text)) {
      return fmt::format("byte {}: a format of the system {} makes no sense", where, system);
    }
  }
  return {};
}

std::string read_head(block_cursor& cursor) {
  std::string_view version;
  std::uint8_t big_endian = 0;
  std::uint8_t long_size = 0;
  std::uint32_t page_size = 0;
  if (!cursor.take("\x17\x08\x44tracing"sv) || !cursor.take_text(version)) {
    return "byte 0: its signature is missing";
  }
  if (!cursor.take_number(big_endian) || !cursor.take_number(long_size) ||
      !cursor.take_number(page_size)) {
    return fmt::format("byte {}: its head is cut", cursor.at());
  }
  if (big_endian != 0) return "it comes from a big-endian machine, which is not read";
  if (long_size != sizeof(std::uint64_t))
    return "it comes from a 32-bit machine, which is not read";
  std::string_view text;
  if (!cursor.take("header_page\0"sv) || !take_sized(cursor, text) ||
      !cursor.take("header_event\0"sv) || !take_sized(cursor, text)) {
    return fmt::format("byte {}: the description of the page is cut", cursor.at());
  }
  return {};
}

}  // namespace

std::string read_tracing_data(std::string_view block, event_formats& into) {
  block_cursor cursor(block);
  if (std::string wrong = read_head(cursor); !wrong.empty()) return wrong;
  std::uint32_t count = 0;
  if (!cursor.take_number(count)) return fmt::format("byte {}: it is cut", cursor.at());
  if (std::string wrong = read_formats(cursor, "ftrace", count, into); !wrong.empty()) return wrong;
  std::uint32_t systems = 0;
  if (!cursor.take_number(systems)) return fmt::format("byte {}: it is cut", cursor.at());
  for (std::uint32_t i = 0; i < systems; ++i) {
    std::string_view system;
    if (!cursor.take_text(system) || !cursor.take_number(count)) {
      return fmt::format("byte {}: the list of systems is cut", cursor.at());
    }
    if (std::string wrong = read_formats(cursor, system, count, into); !wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace vlag::trace

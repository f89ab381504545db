// SPDX-License-Identifier: Apache-2.0
#include "input/line_reader.hpp"

#include "input/byte_source.hpp"
#include "input/input_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace vlag {
namespace {

constexpr std::size_t first_buffer_bytes = std::size_t{1} << 19;
constexpr std::size_t peek_bytes = 4096;

}  // namespace

struct line_reader::state {
  std::string name;
  std::unique_ptr<byte_source> source;
  std::vector<char> buffer = std::vector<char>(first_buffer_bytes);
  std::size_t begin = 0;  // of what has not been returned
  std::size_t end = 0;    // of what has been read
  std::string head;
  std::uint64_t line = 0;
  std::uint64_t offset = 0;       // of the line returned last
  std::uint64_t next_offset = 0;  // of buffer[begin]
  bool cut = false;
  bool ended = false;

  // Reads on; false at the end of the input.
  bool read_more() {
    if (ended) return false;
    if (end == buffer.size()) make_room();
    const std::size_t got = source->read(buffer.data() + end, buffer.size() - end);
    end += got;
    ended = got == 0;
    return !ended;
  }

  void make_room() {
    if (begin > 0) {
      std::memmove(buffer.data(), buffer.data() + begin, end - begin);
      end -= begin;
      begin = 0;
    }
    if (end > buffer.size() / 2) buffer.resize(buffer.size() * 2);
  }

  // `bytes` are known to lie before the line's end.
  void check_length(std::size_t bytes) const {
    if (bytes <= max_line_bytes) return;
    throw input_error(
        fmt::format("{}: line {} (at byte {}) is longer than {} MiB; expected lines of "
                    "text",
                    name, line + 1, next_offset, max_line_bytes >> 20));
  }
};

line_reader::line_reader(const std::string& path)
    : line_reader(open_bytes(path), shown_path(path)) {}

line_reader::line_reader(std::unique_ptr<byte_source> source, std::string name)
    : state_(std::make_unique<state>()) {
  state_->name = std::move(name);
  state_->source = std::move(source);
  while (state_->end < peek_bytes && state_->read_more()) {
  }
  if (state_->end == 0) {
    throw input_error(fmt::format("{}: is empty once decompressed; expected text", state_->name));
  }
  state_->head.assign(state_->buffer.data(), std::min(state_->end, peek_bytes));
}

line_reader::~line_reader() = default;

bool line_reader::next(std::string_view& line) {
  state& s = *state_;
  std::size_t scanned = 0;
  const char* newline = nullptr;
  for (;;) {
    const char* from = s.buffer.data() + s.begin;
    const std::size_t held = s.end - s.begin;
    newline = static_cast<const char*>(std::memchr(from + scanned, '\n', held - scanned));
    if (newline != nullptr) break;
    scanned = held;
    s.check_length(scanned);
    if (!s.read_more()) break;
  }
  const char* from = s.buffer.data() + s.begin;
  s.cut = newline == nullptr;
  std::size_t length = s.cut ? s.end - s.begin : static_cast<std::size_t>(newline - from);
  if (s.cut && length == 0) return false;
  s.check_length(length);
  const std::size_t taken = s.cut ? length : length + 1;
  s.offset = s.next_offset;
  s.next_offset += taken;
  s.begin += taken;
  ++s.line;
  if (length > 0 && !s.cut && from[length - 1] == '\r') --length;
  line = {from, length};
  return true;
}

std::uint64_t line_reader::line_number() const noexcept { return state_->line; }
std::uint64_t line_reader::byte_offset() const noexcept { return state_->offset; }
bool line_reader::last_line_was_cut() const noexcept { return state_->cut; }
std::uint64_t line_reader::bytes_consumed() const noexcept {
  return state_->source->bytes_consumed();
}
std::uint64_t line_reader::file_size() const noexcept { return state_->source->file_size(); }
std::string_view line_reader::peek() { return state_->head; }

}  // namespace vlag

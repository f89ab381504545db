// SPDX-License-Identifier: Apache-2.0
#include "trace/perf_sample.hpp"

#include <bit>
#include <cstring>

namespace vlag::trace {
namespace {

// PERF_SAMPLE_ bits, linux/perf_event.h.
constexpr std::uint64_t part_ip = 1U << 0;
constexpr std::uint64_t part_tid = 1U << 1;
constexpr std::uint64_t part_time = 1U << 2;
constexpr std::uint64_t part_addr = 1U << 3;
constexpr std::uint64_t part_read = 1U << 4;
constexpr std::uint64_t part_callchain = 1U << 5;
constexpr std::uint64_t part_id = 1U << 6;
constexpr std::uint64_t part_cpu = 1U << 7;
constexpr std::uint64_t part_period = 1U << 8;
constexpr std::uint64_t part_stream_id = 1U << 9;
constexpr std::uint64_t part_raw = 1U << 10;
constexpr std::uint64_t part_identifier = 1U << 16;

// PERF_FORMAT_ bits.
constexpr std::uint64_t format_times = 3;  // enabled, running
constexpr std::uint64_t format_id = 4;
constexpr std::uint64_t format_group = 8;
constexpr std::uint64_t format_lost = 16;

class body_cursor {
 public:
  explicit body_cursor(std::string_view body) : left_(body) {}

  template <typename integer>
  [[nodiscard]] bool take(integer& value) noexcept {
    if (left_.size() < sizeof value) return false;
    std::memcpy(&value, left_.data(), sizeof value);
    left_.remove_prefix(sizeof value);
    return true;
  }
  [[nodiscard]] bool skip_words(std::uint64_t count) noexcept {
    if (count > left_.size() / 8) return false;
    left_.remove_prefix(static_cast<std::size_t>(count) * 8);
    return true;
  }
  [[nodiscard]] std::string_view left() const noexcept { return left_; }

 private:
  std::string_view left_;
};

bool skip_read(body_cursor& body, std::uint64_t format) noexcept {
  const auto times = static_cast<unsigned>(std::popcount(format & format_times));
  const unsigned a_value =
      1U + ((format & format_id) != 0 ? 1U : 0U) + ((format & format_lost) != 0 ? 1U : 0U);
  if ((format & format_group) == 0) return body.skip_words(times + a_value);
  std::uint64_t values = 0;
  constexpr std::uint64_t most_values = 1U << 16;
  return body.take(values) && values <= most_values && body.skip_words(times + values * a_value);
}

template <typename integer>
integer load(std::string_view from, std::size_t offset) noexcept {
  integer value{};
  std::memcpy(&value, from.data() + offset, sizeof value);
  return value;
}

}  // namespace

std::optional<sample_layout> layout_of(std::string_view attribute) noexcept {
  constexpr std::size_t shortest = 64;
  constexpr std::size_t clock_offset = 92;
  constexpr std::uint64_t flag_id_behind_all = std::uint64_t{1} << 18;
  constexpr std::uint64_t flag_clock = std::uint64_t{1} << 25;
  if (attribute.size() < shortest) return std::nullopt;
  sample_layout layout;
  layout.parts = load<std::uint64_t>(attribute, 24);
  layout.read_format = load<std::uint64_t>(attribute, 32);
  const auto flags = load<std::uint64_t>(attribute, 40);
  layout.id_behind_all = (flags & flag_id_behind_all) != 0;
  if ((flags & flag_clock) != 0 && attribute.size() >= clock_offset + 4) {
    layout.clock = load<std::int32_t>(attribute, clock_offset);
  }
  return layout;
}

bool read_sample(std::string_view body_bytes, const sample_layout& layout, sample& out) noexcept {
  body_cursor body(body_bytes);
  const auto has = [&layout](std::uint64_t part) { return (layout.parts & part) != 0; };
  if (has(part_identifier) && !body.skip_words(1)) return false;
  if (has(part_ip) && !body.skip_words(1)) return false;
  if (has(part_tid) && !body.skip_words(1)) return false;
  if (has(part_time) && !body.take(out.time_ns)) return false;
  if (has(part_addr) && !body.skip_words(1)) return false;
  if (has(part_id) && !body.skip_words(1)) return false;
  if (has(part_stream_id) && !body.skip_words(1)) return false;
  std::uint32_t reserved = 0;
  if (has(part_cpu) && (!body.take(out.cpu) || !body.take(reserved))) return false;
  if (has(part_period) && !body.skip_words(1)) return false;
  if (has(part_read) && !skip_read(body, layout.read_format)) return false;
  std::uint64_t frames = 0;
  if (has(part_callchain) && (!body.take(frames) || !body.skip_words(frames))) return false;
  std::uint32_t raw_size = 0;
  if (!has(part_raw) || !body.take(raw_size) || raw_size > body.left().size()) return false;
  out.raw = body.left().substr(0, raw_size);
  return true;
}

std::optional<std::uint64_t> id_of_sample(std::string_view body_bytes,
                                          const sample_layout& layout) noexcept {
  body_cursor body(body_bytes);
  std::uint64_t id = 0;
  if ((layout.parts & part_identifier) != 0) {
    if (!body.take(id)) return std::nullopt;
    return id;
  }
  if ((layout.parts & part_id) == 0) return std::nullopt;
  const auto before = static_cast<std::uint64_t>(
      std::popcount(layout.parts & (part_ip | part_tid | part_time | part_addr)));
  if (!body.skip_words(before) || !body.take(id)) return std::nullopt;
  return id;
}

bool is_complete(const sample_layout& layout) noexcept {
  constexpr std::uint64_t needed = part_time | part_cpu | part_raw;
  return (layout.parts & needed) == needed;
}

}  // namespace vlag::trace

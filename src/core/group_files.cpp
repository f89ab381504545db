// SPDX-License-Identifier: Apache-2.0
//
// The attributes of a group as text, with the names and formats of the cgroup files.
#include "vlag/group.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>

namespace vlag {
namespace {

constexpr std::uint64_t us = 1'000;

bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view stripped(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// A number in decimal, octal (0...) or hexadecimal (0x...), and nothing behind it.
template <typename Number>
group_error read_number(std::string_view text, Number& value) noexcept {
  const bool minus = std::is_signed_v<Number> && text.starts_with('-');
  if (minus || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.front() == '0') {
    base = 8;
  }
  std::uint64_t size = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), size, base);
  if (failure == std::errc::invalid_argument || end != text.data() + text.size()) {
    return group_error::invalid;
  }
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Number>::max());
  if (failure != std::errc{} || size > most + (minus ? 1 : 0)) return group_error::out_of_range;
  value = static_cast<Number>(minus ? 0 - size : size);
  return group_error::none;
}

// Microseconds; what is too long for ns is refused by the limits anyway.
group_error read_us(std::string_view text, std::uint64_t& ns) noexcept {
  std::uint64_t value = 0;
  if (const auto failure = read_number(text, value); failure != group_error::none) return failure;
  if (value > std::numeric_limits<std::uint64_t>::max() / us) return group_error::invalid;
  ns = value * us;
  return group_error::none;
}

// "QUOTA" or "QUOTA PERIOD", QUOTA a number or "max".
group_error read_limit(std::string_view text, bandwidth_limit& limit) noexcept {
  const auto gap = std::find_if(text.begin(), text.end(), is_space);
  const std::string_view quota(text.data(), static_cast<std::size_t>(gap - text.begin()));
  text.remove_prefix(quota.size());
  const std::string_view period = stripped(text);
  if (quota == "max") {
    limit.quota_ns = no_quota;
  } else if (read_us(quota, limit.quota_ns) != group_error::none) {
    return group_error::invalid;
  }
  if (period.empty()) return group_error::none;
  return read_us(period, limit.period_ns) == group_error::none ? group_error::none
                                                               : group_error::invalid;
}

// Writes into a buffer that may turn out too small.
class text_writer {
 public:
  explicit text_writer(std::span<char> buffer) noexcept : buffer_(buffer) {}

  text_writer& operator<<(std::string_view text) noexcept {
    if (buffer_.size() - size_ < text.size()) {
      fits_ = false;
    } else {
      std::copy(text.begin(), text.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(size_));
      size_ += text.size();
    }
    return *this;
  }
  text_writer& operator<<(std::int64_t value) noexcept { return number(value); }
  text_writer& operator<<(std::uint64_t value) noexcept { return number(value); }

  [[nodiscard]] group_text done() const noexcept {
    return fits_ ? group_text{group_error::none, size_} : group_text{group_error::out_of_range, 0};
  }

 private:
  template <typename Number>
  text_writer& number(Number value) noexcept {
    std::array<char, 24> digits{};
    const char* const end = std::to_chars(digits.begin(), digits.end(), value).ptr;
    return *this << std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }

  std::span<char> buffer_;
  std::size_t size_ = 0;
  bool fits_ = true;
};

// The nice level whose weight is nearest; of two at the same distance the lower one.
std::int64_t nearest_nice(std::uint64_t small) noexcept {
  const auto distance = [&](int nice) {
    const std::uint64_t weight = small_weight(weight_of_nice(nice).full);
    return weight > small ? weight - small : small - weight;
  };
  int best = min_nice;
  for (int nice = min_nice + 1; nice <= max_nice; ++nice) {
    if (distance(nice) < distance(best)) best = nice;
  }
  return best;
}

enum class file : std::uint8_t {
  weight,
  weight_nice,
  shares,
  idle,
  latency_nice,
  max,
  max_burst,
  stat
};

struct file_name {
  std::string_view name;
  file which;
};
constexpr std::array<file_name, 8> files = {{{"cpu.weight", file::weight},
                                             {"cpu.weight.nice", file::weight_nice},
                                             {"cpu.shares", file::shares},
                                             {"cpu.idle", file::idle},
                                             {"cpu.latency.nice", file::latency_nice},
                                             {"cpu.max", file::max},
                                             {"cpu.max.burst", file::max_burst},
                                             {"cpu.stat", file::stat}}};

std::optional<file> find_file(std::string_view name) noexcept {
  for (const auto& f : files) {
    if (f.name == name) return f.which;
  }
  return std::nullopt;
}

// Reads a number and hands it to a setter.
template <typename Number, typename Set>
group_error set_number(std::string_view text, Set&& set) noexcept {
  Number value{};
  const group_error failure = read_number(text, value);
  return failure != group_error::none ? failure : set(value);
}

}  // namespace

group_error task_group::set(std::string_view name, std::string_view written,
                            std::uint64_t now_ns) noexcept {
  const auto which = find_file(name);
  if (!which) return group_error::no_such_file;
  const std::string_view text = stripped(written);
  using s64 = std::int64_t;
  using u64 = std::uint64_t;
  switch (*which) {
    case file::weight:
      return set_number<u64>(text, [&](u64 v) { return set_weight(v, now_ns); });
    case file::weight_nice:
      return set_number<s64>(text, [&](s64 v) { return set_weight_nice(v, now_ns); });
    case file::shares:
      return set_number<u64>(text, [&](u64 v) { return set_shares(v, now_ns); });
    case file::idle:
      return set_number<s64>(text, [&](s64 v) { return set_idle(v, now_ns); });
    case file::latency_nice:
      return set_number<s64>(text, [&](s64 v) { return set_latency_nice(v, now_ns); });
    case file::max: {
      bandwidth_limit limit = bandwidth_.limit;
      const group_error failure = read_limit(text, limit);
      return failure != group_error::none ? failure : set_bandwidth(limit, now_ns);
    }
    case file::max_burst: {
      bandwidth_limit limit = bandwidth_.limit;
      const group_error failure = read_us(text, limit.burst_ns);
      return failure != group_error::none ? failure : set_bandwidth(limit, now_ns);
    }
    case file::stat:
      return group_error::not_allowed;
  }
  return group_error::no_such_file;
}

group_text task_group::get(std::string_view name, std::span<char> buffer) const noexcept {
  const auto which = find_file(name);
  if (!which) return {group_error::no_such_file, 0};
  text_writer out(buffer);
  const std::uint64_t small = shares_ >> weight_resolution_bits;
  switch (*which) {
    case file::weight:
      out << (small * 100 + 512) / 1024;
      break;
    case file::weight_nice:
      out << nearest_nice(small);
      break;
    case file::shares:
      out << small;
      break;
    case file::idle:
      out << std::uint64_t{idle_ ? 1U : 0U};
      break;
    case file::latency_nice:
      out << std::int64_t{latency_nice_};
      break;
    case file::max:
      if (bandwidth_.limit.quota_ns == no_quota) {
        out << "max";
      } else {
        out << bandwidth_.limit.quota_ns / us;
      }
      out << " " << bandwidth_.limit.period_ns / us;
      break;
    case file::max_burst:
      out << bandwidth_.limit.burst_ns / us;
      break;
    case file::stat:
      out << "nr_periods " << bandwidth_.nr_periods << "\nnr_throttled " << bandwidth_.nr_throttled;
      break;
  }
  return out.done();
}

}  // namespace vlag

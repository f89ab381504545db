// SPDX-License-Identifier: Apache-2.0
//
// A cursor over one line. Every take_… moves on only if it succeeds.
#pragma once

#include <charconv>
#include <cstddef>
#include <string_view>

namespace vlag::trace {

class scanner {
 public:
  explicit scanner(std::string_view text) noexcept
      : at_(text.data()), end_(text.data() + text.size()) {}

  [[nodiscard]] bool at_end() const noexcept { return at_ == end_; }
  [[nodiscard]] char peek() const noexcept { return at_ == end_ ? '\0' : *at_; }
  [[nodiscard]] std::string_view rest() const noexcept {
    return {at_, static_cast<std::size_t>(end_ - at_)};
  }

  void skip_spaces() noexcept {
    while (at_ != end_ && *at_ == ' ') ++at_;
  }

  [[nodiscard]] bool take(char c) noexcept {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  [[nodiscard]] bool take(std::string_view text) noexcept {
    if (!rest().starts_with(text)) return false;
    at_ += text.size();
    return true;
  }

  // Decimal, in range of the type; signed types take a '-'.
  template <typename integer>
  [[nodiscard]] bool take_number(integer& value) noexcept {
    const auto [stop, error] = std::from_chars(at_, end_, value);
    if (error != std::errc{}) return false;
    at_ = stop;
    return true;
  }

  // Up to the next space or the end; empty at a space.
  [[nodiscard]] std::string_view take_word() noexcept {
    const char* from = at_;
    while (at_ != end_ && *at_ != ' ') ++at_;
    return {from, static_cast<std::size_t>(at_ - from)};
  }

 private:
  const char* at_;
  const char* end_;
};

}  // namespace vlag::trace

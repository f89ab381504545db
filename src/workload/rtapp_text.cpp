// SPDX-License-Identifier: Apache-2.0
#include "workload/rtapp_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "input/input_error.hpp"
#include "input/printable.hpp"

namespace vlag {
namespace {

using type = rtapp_value::type;

class parser {
 public:
  parser(std::string_view text, const std::string& name, key_reading keys,
         std::vector<text_place>& dropped)
      : text_(text), name_(name), keys_(keys), dropped_(dropped) {}

  rtapp_value whole() {
    skip_space();
    if (!at('{')) fail("expected { at the beginning of the workload");
    rtapp_value result = value(1);
    skip_space();
    if (i_ != text_.size()) fail("expected the end of the file after the closing }");
    return result;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const { fail_at(here(), what); }
  [[noreturn]] void fail_at(text_place place, std::string_view what) const {
    throw input_error(at_place(name_, place, what));
  }
  [[nodiscard]] text_place here() const {
    return {line_, static_cast<std::uint32_t>(i_ - line_start_ + 1)};
  }
  [[nodiscard]] bool at(char c) const { return i_ < text_.size() && text_[i_] == c; }
  [[nodiscard]] std::string found() const {
    if (i_ >= text_.size()) return "the file ends";
    return fmt::format("found '{}'", printable(text_.substr(i_, 1)));
  }

  void step() {
    if (text_[i_] == '\n') {
      ++line_;
      line_start_ = i_ + 1;
    }
    ++i_;
  }

  void skip_space() {
    while (i_ < text_.size()) {
      const char c = text_[i_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
        step();
      } else if (text_.substr(i_, 2) == "//") {
        while (i_ < text_.size() && text_[i_] != '\n') step();
      } else if (text_.substr(i_, 2) == "/*") {
        skip_block_comment();
      } else {
        return;
      }
    }
  }

  void skip_block_comment() {
    const text_place begin = here();
    const std::size_t end = text_.find("*/", i_ + 2);
    if (end == text_.npos) fail_at(begin, "a comment that never ends; expected */");
    while (i_ < end + 2) step();
  }

  rtapp_value value(int depth) {
    if (depth > max_rtapp_depth) {
      fail(fmt::format("nested too deep; expected at most {} levels", max_rtapp_depth));
    }
    rtapp_value v;
    v.place = here();
    if (at('{')) {
      object(v, depth);
    } else if (at('[')) {
      array(v, depth);
    } else if (at('"') || at('\'')) {
      v.is = type::string;
      v.text = string();
    } else {
      word(v);
    }
    return v;
  }

  void object(rtapp_value& v, int depth) {
    v.is = type::object;
    std::unordered_map<std::string, std::size_t> places;  // looked up only
    step();
    for (;;) {
      skip_space();
      if (at('}')) break;
      rtapp_member m = member(depth);
      const auto [known, is_new] = places.try_emplace(m.key, v.members.size());
      if (is_new || keys_ == key_reading::in_order) {
        v.members.push_back(std::move(m));
      } else {
        dropped_.push_back(v.members[known->second].place);
        v.members[known->second] = std::move(m);
      }
      go_past_comma('}', "a member");
    }
    step();
  }

  rtapp_member member(int depth) {
    rtapp_member m;
    m.place = here();
    if (!at('"') && !at('\'')) fail(fmt::format("expected a key in quotes or }}; {}", found()));
    m.key = string();
    skip_space();
    if (at(':')) {
      step();
      skip_space();
      m.value = value(depth + 1);
    } else if (keys_ == key_reading::strict || (!at(',') && !at('}'))) {
      fail(fmt::format("expected : after the key \"{}\"; {}", printable(m.key), found()));
    } else {
      m.value.place = m.place;
    }
    return m;
  }

  void array(rtapp_value& v, int depth) {
    v.is = type::array;
    step();
    for (;;) {
      skip_space();
      if (at(']')) break;
      v.items.push_back(value(depth + 1));
      go_past_comma(']', "a value");
    }
    step();
  }

  // Which may lack before the closing bracket.
  void go_past_comma(char closing, std::string_view after) {
    skip_space();
    if (at(',')) {
      step();
    } else if (!at(closing)) {
      fail(fmt::format("expected , or {} after {}; {}", closing, after, found()));
    }
  }

  std::string string() {
    const text_place begin = here();
    const char quote = text_[i_];
    std::string result;
    step();
    while (i_ < text_.size() && text_[i_] != quote) {
      if (text_[i_] != '\\') {
        result += text_[i_];
        step();
        continue;
      }
      step();
      if (i_ < text_.size()) escape(result);
    }
    if (i_ >= text_.size()) {
      fail_at(begin, fmt::format("a string that never ends; expected {}", quote));
    }
    step();
    return result;
  }

  void escape(std::string& result) {
    constexpr std::string_view letters = "\"'\\/bfnrt";
    constexpr std::string_view meanings = "\"'\\/\b\f\n\r\t";
    const std::size_t which = letters.find(text_[i_]);
    if (which != letters.npos) {
      result += meanings[which];
      step();
      return;
    }
    unsigned code = 0;
    const char* const digits = text_.data() + i_ + 1;
    if (text_[i_] != 'u' || text_.size() - i_ < 5 ||
        std::from_chars(digits, digits + 4, code, 16).ptr != digits + 4) {
      fail("expected one of \" ' \\ / b f n r t or u and four hex digits after a backslash");
    }
    for (int n = 0; n < 5; ++n) step();
    if (code < 0x80) {
      result += static_cast<char>(code);
    } else if (code < 0x800) {
      result += static_cast<char>(0xc0 | code >> 6);
      result += static_cast<char>(0x80 | (code & 0x3f));
    } else {
      result += static_cast<char>(0xe0 | code >> 12);
      result += static_cast<char>(0x80 | (code >> 6 & 0x3f));
      result += static_cast<char>(0x80 | (code & 0x3f));
    }
  }

  void word(rtapp_value& v) {
    const std::size_t begin = i_;
    while (i_ < text_.size() &&
           (std::string_view("+-._").find(text_[i_]) != std::string_view::npos ||
            (text_[i_] >= '0' && text_[i_] <= '9') || (text_[i_] >= 'a' && text_[i_] <= 'z') ||
            (text_[i_] >= 'A' && text_[i_] <= 'Z'))) {
      step();
    }
    const std::string_view w = text_.substr(begin, i_ - begin);
    if (w == "true" || w == "false") {
      v.is = type::boolean;
      v.truth = w == "true";
      return;
    }
    if (w == "null") {
      v.is = type::null;
      return;
    }
    if (w.empty()) fail(fmt::format("expected a value; {}", found()));
    const char* const end = w.data() + w.size();
    if (const auto r = std::from_chars(w.data(), end, v.number); r.ptr == end) {
      if (r.ec != std::errc{}) fail_at(v.place, "a number beyond 64 bits; expected a smaller one");
      v.is = type::integer;
      return;
    }
    double real = 0;
    if (std::from_chars(w.data(), end, real).ptr != end) {
      fail_at(v.place, fmt::format("'{}' is no value; expected a number, a string, true, false, "
                                   "null, {{ or [",
                                   printable(w)));
    }
    v.is = type::real;
    v.text = w;
  }

  std::string_view text_;
  const std::string& name_;
  key_reading keys_;
  std::vector<text_place>& dropped_;
  std::size_t i_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace

rtapp_value parse_rtapp_text(std::string_view text, const std::string& name, key_reading keys,
                             std::vector<text_place>& dropped) {
  if (text.size() > max_rtapp_bytes) {
    throw input_error(
        fmt::format("{}: more than {} bytes; expected a workload file", name, max_rtapp_bytes));
  }
  return parser(text, name, keys, dropped).whole();
}

std::string at_place(const std::string& name, text_place place, std::string_view what) {
  return fmt::format("{}:{}:{}: {}", name, place.line, place.column, what);
}

std::string_view to_string(rtapp_value::type t) noexcept {
  switch (t) {
    case type::missing:
      return "no value";
    case type::null:
      return "null";
    case type::boolean:
      return "true or false";
    case type::integer:
      return "an integer";
    case type::real:
      return "a number with a fraction";
    case type::string:
      return "a string";
    case type::array:
      return "an array";
    case type::object:
      return "an object";
  }
  return "";
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// JSON as rt-app's workload files have it, which is more than the standard allows: comments,
// trailing commas, single quotes, keys that come twice, and keys without a value. Members keep
// their order, and every value knows its place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

struct text_place {
  std::uint32_t line = 0;  // both from 1
  std::uint32_t column = 0;
};

struct rtapp_member;

struct rtapp_value {
  enum class type : std::uint8_t { missing, null, boolean, integer, real, string, array, object };
  type is = type::missing;  // missing: a key without a value
  bool truth = false;
  std::int64_t number = 0;
  std::string text;  // of a string, and of a real as it stands in the file
  std::vector<rtapp_value> items;
  std::vector<rtapp_member> members;
  text_place place;
};

struct rtapp_member {
  std::string key;
  text_place place;
  rtapp_value value;
};

enum class key_reading : std::uint8_t {
  in_order,  // each of equal keys counts; a key may lack its value
  strict,    // as json-c: of equal keys the last value, in the first's place; a value is required
};

inline constexpr std::size_t max_rtapp_bytes = std::size_t{16} << 20;
inline constexpr int max_rtapp_depth = 32;

// Linear time. dropped: the places of keys that strict reading replaced. Throws input_error with
// name, line, column and what was expected.
[[nodiscard]] rtapp_value parse_rtapp_text(std::string_view text, const std::string& name,
                                           key_reading keys, std::vector<text_place>& dropped);

// "FILE:LINE:COLUMN: what", as every message on a workload file is.
[[nodiscard]] std::string at_place(const std::string& name, text_place place,
                                   std::string_view what);

[[nodiscard]] std::string_view to_string(rtapp_value::type type) noexcept;

}  // namespace vlag

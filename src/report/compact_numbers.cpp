// SPDX-License-Identifier: Apache-2.0
#include "report/compact_numbers.hpp"

namespace vlag {

void append_varint(std::string& bytes, std::uint64_t value) {
  while (value >= 0x80) {
    bytes.push_back(static_cast<char>(static_cast<unsigned char>((value & 0x7f) | 0x80)));
    value >>= 7U;
  }
  bytes.push_back(static_cast<char>(value));
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  result.reserve((bytes.size() + 2) / 3 * 4);
  const auto at = [&](std::size_t i) -> std::uint32_t {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0;
  };
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t group = at(i) << 16U | at(i + 1) << 8U | at(i + 2);
    result.push_back(letters[group >> 18U]);
    result.push_back(letters[group >> 12U & 63U]);
    result.push_back(i + 1 < bytes.size() ? letters[group >> 6U & 63U] : '=');
    result.push_back(i + 2 < bytes.size() ? letters[group & 63U] : '=');
  }
  return result;
}

}  // namespace vlag

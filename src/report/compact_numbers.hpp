// SPDX-License-Identifier: Apache-2.0
//
// Long rows of numbers as short text: LEB128 bytes (seven bits a byte, the lowest first; the high
// bit says that more follow) in base64.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vlag {

void append_varint(std::string& bytes, std::uint64_t value);

// RFC 4648, with padding.
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "trace/event.hpp"

namespace vlag::trace {

string_table::string_table() { static_cast<void>(intern({})); }

string_table::string_table(const string_table& other) {
  for (const std::string& text : other.texts_) static_cast<void>(intern(text));
}

string_table& string_table::operator=(const string_table& other) {
  if (this != &other) *this = string_table(other);
  return *this;
}

std::uint32_t string_table::intern(std::string_view text) {
  if (const auto found = index_.find(text); found != index_.end()) return found->second;
  const auto index = static_cast<std::uint32_t>(texts_.size());
  texts_.emplace_back(text);
  index_.emplace(texts_.back(), index);
  return index;
}

std::string_view string_table::text(std::uint32_t index) const { return texts_.at(index); }

}  // namespace vlag::trace

// SPDX-License-Identifier: Apache-2.0
//
// One line of untrusted JSON as a flat list of nodes, and the only way in which its values are
// read: each access checks kind and range, and says no with the file and the line.
//
// Integers are exact from -2^63 to 2^64-1; anything else that JSON calls a number is kept as text
// and is no integer. Nodes and text are reused from line to line: no allocation in the long run.
// Not thread safe.
#pragma once

#include "input/input_error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

enum class json_kind : std::uint8_t { null, boolean, integer, other_number, text, array, object };

struct json_node {
  json_kind kind = json_kind::null;
  bool negative = false;        // integer: below 0
  std::uint64_t magnitude = 0;  // integer: its absolute value
  std::uint32_t count = 0;      // array, object: number of children
  std::uint32_t end = 0;        // index behind the last node inside this one
  std::uint32_t key_at = 0, key_size = 0;
  std::uint32_t text_at = 0, text_size = 0;
};

class json_line {
 public:
  // Bounds on what a line may hold; a longer or deeper one is refused.
  static constexpr std::size_t max_nodes = std::size_t{1} << 21;
  static constexpr std::size_t max_keys = 64;  // of one object
  static constexpr unsigned max_depth = 6;

  explicit json_line(std::string file) : file_(std::move(file)) {}

  // Throws input_error: not one JSON object, a key twice, a bound exceeded.
  void parse(std::string_view text, std::uint64_t line_number);

  [[nodiscard]] const json_node& root() const noexcept { return nodes_.front(); }
  [[nodiscard]] std::string_view key(const json_node& n) const noexcept;
  [[nodiscard]] std::string_view text(const json_node& n) const noexcept;

  // The value under a key of the root; nullptr when there is none.
  [[nodiscard]] const json_node* find(std::string_view key) const noexcept;
  // The same, but its absence is an error.
  [[nodiscard]] const json_node& require(std::string_view key) const;

  // Calls visit(const json_node&) for each child of an array or object, in order.
  template <typename Visit>
  void for_each_child(const json_node& parent, Visit&& visit) const {
    const auto first = static_cast<std::size_t>(&parent - nodes_.data()) + 1;
    for (std::size_t at = first; at < parent.end; at = nodes_[at].end) visit(nodes_[at]);
  }

  // Values with their kind and range checked; `what` names the value in the message.
  [[nodiscard]] std::uint64_t unsigned_value(const json_node& n, std::string_view what,
                                             std::uint64_t lowest, std::uint64_t highest) const;
  [[nodiscard]] std::int64_t signed_value(const json_node& n, std::string_view what,
                                          std::int64_t lowest, std::int64_t highest) const;
  [[nodiscard]] std::string_view text_value(const json_node& n, std::string_view what) const;
  void require_kind(const json_node& n, std::string_view what, json_kind kind) const;

  // Throws input_error: "FILE:LINE: what".
  [[noreturn]] void reject(std::string_view what) const;
  // The value as a user finds it in the file, shortened, fit for a message.
  [[nodiscard]] std::string shown(const json_node& n) const;

 private:
  std::string file_;
  std::uint64_t line_ = 0;
  std::vector<json_node> nodes_;
  std::string text_;
};

// Text of an untrusted file fit for a message: quoted, shortened, nothing unprintable.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace vlag

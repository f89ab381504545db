// SPDX-License-Identifier: Apache-2.0
#include "vectors/json_line.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace vlag {
namespace {

constexpr std::size_t shown_bytes = 40;

std::string_view name_of(json_kind kind) {
  switch (kind) {
    case json_kind::null:
      return "null";
    case json_kind::boolean:
      return "true or false";
    case json_kind::integer:
      return "an integer";
    case json_kind::other_number:
      return "a number";
    case json_kind::text:
      return "a string";
    case json_kind::array:
      return "an array";
    case json_kind::object:
      return "an object";
  }
  return "";
}

// Fills the node list while nlohmann-json reads; stops at the first thing that is out of bounds.
class node_builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  node_builder(std::vector<json_node>& nodes, std::string& text) : nodes_(nodes), text_(text) {}

  bool null() override { return add(json_kind::null) != nullptr; }
  bool boolean(bool value) override {
    json_node* n = add(json_kind::boolean);
    if (n != nullptr) n->magnitude = value ? 1 : 0;
    return n != nullptr;
  }
  bool number_unsigned(std::uint64_t value) override {
    json_node* n = add(json_kind::integer);
    if (n != nullptr) n->magnitude = value;
    return n != nullptr;
  }
  bool number_integer(std::int64_t value) override {
    json_node* n = add(json_kind::integer);
    if (n == nullptr) return false;
    n->negative = value < 0;
    const auto bits = static_cast<std::uint64_t>(value);
    n->magnitude = n->negative ? 0 - bits : bits;
    return true;
  }
  bool number_float(double /*value*/, const std::string& written) override {
    return add_text(json_kind::other_number, written);
  }
  bool string(std::string& value) override { return add_text(json_kind::text, value); }
  bool binary(nlohmann::json::binary_t& /*value*/) override { return false; }

  bool start_object(std::size_t /*size*/) override { return open(json_kind::object); }
  bool start_array(std::size_t /*size*/) override { return open(json_kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    const std::uint32_t parent = open_.back();
    if (nodes_[parent].count >= json_line::max_keys) {
      return stop(fmt::format("more than {} keys in one object", json_line::max_keys));
    }
    for (std::size_t at = parent + 1; at < nodes_.size(); at = nodes_[at].end) {
      const std::string_view other{text_.data() + nodes_[at].key_at, nodes_[at].key_size};
      if (other == name) return stop(fmt::format("the key {} is there twice", in_quotes(name)));
    }
    key_at_ = static_cast<std::uint32_t>(text_.size());
    key_size_ = static_cast<std::uint32_t>(name.size());
    text_ += name;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& last,
                   const nlohmann::json::exception& /*error*/) override {
    return stop(fmt::format("no JSON at byte {} of the line, near {}: expected one object a line",
                            position, in_quotes(last)));
  }

  const std::string& failure() const { return failure_; }

 private:
  json_node* add(json_kind kind) {
    if (nodes_.size() >= json_line::max_nodes) {
      stop(fmt::format("more than {} values in one line", json_line::max_nodes));
      return nullptr;
    }
    if (!open_.empty()) ++nodes_[open_.back()].count;
    json_node& n = nodes_.emplace_back();
    n.kind = kind;
    n.end = static_cast<std::uint32_t>(nodes_.size());
    n.key_at = std::exchange(key_at_, 0);
    n.key_size = std::exchange(key_size_, 0);
    return &n;
  }
  bool add_text(json_kind kind, std::string_view value) {
    json_node* n = add(kind);
    if (n == nullptr) return false;
    n->text_at = static_cast<std::uint32_t>(text_.size());
    n->text_size = static_cast<std::uint32_t>(value.size());
    text_ += value;
    return true;
  }
  bool open(json_kind kind) {
    if (open_.size() >= json_line::max_depth) {
      return stop(fmt::format("nested more than {} deep", json_line::max_depth));
    }
    if (add(kind) == nullptr) return false;
    open_.push_back(static_cast<std::uint32_t>(nodes_.size() - 1));
    return true;
  }
  bool close() {
    nodes_[open_.back()].end = static_cast<std::uint32_t>(nodes_.size());
    open_.pop_back();
    return true;
  }
  bool stop(std::string why) {
    failure_ = std::move(why);
    return false;
  }

  std::vector<json_node>& nodes_;
  std::string& text_;
  std::vector<std::uint32_t> open_;
  std::uint32_t key_at_ = 0, key_size_ = 0;
  std::string failure_;
};

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, shown_bytes)) {
    const bool plain = c >= 0x20 && c < 0x7f;
    out += plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  out += text.size() > shown_bytes ? "...\"" : "\"";
  return out;
}

void json_line::parse(std::string_view text, std::uint64_t line_number) {
  line_ = line_number;
  nodes_.clear();
  text_.clear();
  node_builder builder(nodes_, text_);
  if (!nlohmann::json::sax_parse(text, &builder)) reject(builder.failure());
  if (root().kind != json_kind::object) {
    reject(fmt::format("{}: expected one JSON object a line", name_of(root().kind)));
  }
}

std::string_view json_line::key(const json_node& n) const noexcept {
  return {text_.data() + n.key_at, n.key_size};
}

std::string_view json_line::text(const json_node& n) const noexcept {
  return {text_.data() + n.text_at, n.text_size};
}

const json_node* json_line::find(std::string_view wanted) const noexcept {
  for (std::size_t at = 1; at < nodes_.size(); at = nodes_[at].end) {
    if (key(nodes_[at]) == wanted) return &nodes_[at];
  }
  return nullptr;
}

const json_node& json_line::require(std::string_view wanted) const {
  const json_node* found = find(wanted);
  if (found == nullptr) reject(fmt::format("\"{}\" is missing", wanted));
  return *found;
}

std::uint64_t json_line::unsigned_value(const json_node& n, std::string_view what,
                                        std::uint64_t lowest, std::uint64_t highest) const {
  const bool fits = n.kind == json_kind::integer && !n.negative && n.magnitude >= lowest &&
                    n.magnitude <= highest;
  if (!fits) {
    reject(fmt::format("\"{}\" is {}: expected an integer from {} to {}", what, shown(n), lowest,
                       highest));
  }
  return n.magnitude;
}

std::int64_t json_line::signed_value(const json_node& n, std::string_view what, std::int64_t lowest,
                                     std::int64_t highest) const {
  const std::uint64_t most = n.negative ? std::uint64_t{1} << 63 : (std::uint64_t{1} << 63) - 1;
  const bool exact = n.kind == json_kind::integer && n.magnitude <= most;
  const auto value = static_cast<std::int64_t>(n.negative ? 0 - n.magnitude : n.magnitude);
  if (!exact || value < lowest || value > highest) {
    reject(fmt::format("\"{}\" is {}: expected an integer from {} to {}", what, shown(n), lowest,
                       highest));
  }
  return value;
}

std::string_view json_line::text_value(const json_node& n, std::string_view what) const {
  require_kind(n, what, json_kind::text);
  return text(n);
}

void json_line::require_kind(const json_node& n, std::string_view what, json_kind kind) const {
  if (n.kind == kind) return;
  reject(fmt::format("\"{}\" is {}: expected {}", what, shown(n), name_of(kind)));
}

void json_line::reject(std::string_view what) const {
  throw input_error(fmt::format("{}:{}: {}", file_, line_, what));
}

std::string json_line::shown(const json_node& n) const {
  switch (n.kind) {
    case json_kind::null:
      return "null";
    case json_kind::boolean:
      return n.magnitude != 0 ? "true" : "false";
    case json_kind::integer:
      return fmt::format("{}{}", n.negative ? "-" : "", n.magnitude);
    case json_kind::other_number:
      return std::string(text(n).substr(0, shown_bytes));
    case json_kind::text:
      return in_quotes(text(n));
    case json_kind::array:
      return fmt::format("an array of {}", n.count);
    case json_kind::object:
      return "an object";
  }
  return "";
}

}  // namespace vlag

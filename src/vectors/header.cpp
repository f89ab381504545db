// SPDX-License-Identifier: Apache-2.0
#include "vectors/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace vlag {

void check_header_keys(const json_line& header, std::initializer_list<std::string_view> more) {
  static constexpr std::array<std::string_view, 8> common = {
      "format", "kernel", "name", "hz", "tick_nsec", "t0", "feat", "ent_cols"};
  header.for_each_child(header.root(), [&](const json_node& n) {
    const std::string_view key = header.key(n);
    if (std::find(common.begin(), common.end(), key) != common.end()) return;
    if (std::find(more.begin(), more.end(), key) != more.end()) return;
    header.reject(fmt::format("unknown key {} in the header: known are {}, {}", in_quotes(key),
                              fmt::join(common, ", "), fmt::join(more, ", ")));
  });
}

std::uint64_t header_number(const json_line& header, std::string_view key, std::uint64_t lowest,
                            std::uint64_t highest) {
  return header.unsigned_value(header.require(key), key, lowest, highest);
}

feature_set header_features(const json_line& header, fair_engine engine) {
  feature_set features = default_features(engine);
  const json_node& written = header.require("feat");
  header.require_kind(written, "feat", json_kind::object);
  header.for_each_child(written, [&](const json_node& n) {
    const std::string_view name = header.key(n);
    const feature_info* info = find_feature(engine, name);
    if (info == nullptr)
      header.reject(fmt::format("unknown feature {} in \"feat\"", in_quotes(name)));
    features.set(info->id, header.unsigned_value(n, name, 0, 1) != 0);
  });
  return features;
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "vectors/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

namespace vlag {
namespace {

constexpr std::uint64_t highest_id = std::numeric_limits<std::int32_t>::max();

cell read_cell(const json_line& line, const json_node& n, std::string_view what) {
  if (n.kind == json_kind::null) return {};
  if (n.kind != json_kind::integer) {
    line.reject(fmt::format("\"{}\" is {}: expected an integer from -2^63 to 2^64-1, or null", what,
                            line.shown(n)));
  }
  return {n.magnitude, n.negative, false, true};
}

// List entries in the one line that names the difference; the whole is in the states below it.
constexpr std::size_t most_entries = 20;

std::string joined(const std::vector<cell>& list) {
  std::string out = "[";
  for (std::size_t i = 0; i < list.size() && i < most_entries; ++i) {
    out += fmt::format("{}{}", i == 0 ? "" : ",", shown(list[i]));
  }
  return out + (list.size() > most_entries ? ",...]" : "]");
}

bool lists_match(const std::vector<cell>& expected, const std::vector<cell>& got) {
  return std::equal(expected.begin(), expected.end(), got.begin(), got.end(), matches);
}

std::optional<difference> first_field_difference(const state_layout& layout, const state& expected,
                                                 const state& got) {
  for (std::size_t i = 0; i < layout.fields.size(); ++i) {
    if (matches(expected.fields[i], got.fields[i])) continue;
    return difference{std::string(layout.fields[i]), shown(expected.fields[i]),
                      shown(got.fields[i])};
  }
  return std::nullopt;
}

std::optional<difference> first_list_difference(const state_layout& layout, const state& expected,
                                                const state& got) {
  for (std::size_t i = 0; i < layout.lists.size(); ++i) {
    if (lists_match(expected.lists[i], got.lists[i])) continue;
    return difference{std::string(layout.lists[i]), joined(expected.lists[i]),
                      joined(got.lists[i])};
  }
  return std::nullopt;
}

}  // namespace

std::string shown(const cell& c) {
  return c.none ? "none" : fmt::format("{}{}", c.negative ? "-" : "", c.magnitude);
}

void state::reset(const state_layout& layout) {
  fields.assign(layout.fields.size(), cell{});
  lists.resize(layout.lists.size());
  for (auto& list : lists) list.clear();
  cells.clear();
}

state_reader::state_reader(const state_layout& layout, const json_line& header,
                           std::string_view columns_key)
    : layout_(layout), seen_(layout.fields.size() + layout.lists.size() + 1) {
  const json_node& names = header.require(columns_key);
  header.require_kind(names, columns_key, json_kind::array);
  const auto known = layout.columns.first(layout.read_columns());
  header.for_each_child(names, [&](const json_node& n) {
    const std::string_view name = header.text_value(n, columns_key);
    const auto at = static_cast<std::size_t>(
        std::distance(known.begin(), std::find(known.begin(), known.end(), name)));
    if (at == known.size()) {
      header.reject(fmt::format("\"{}\" names the unknown column {}: known are {}", columns_key,
                                in_quotes(name), fmt::join(known, ", ")));
    }
    if (std::find(column_of_.begin(), column_of_.end(), at) != column_of_.end()) {
      header.reject(fmt::format("\"{}\" names {} twice", columns_key, name));
    }
    column_of_.push_back(at);
  });
  for (std::size_t at = 0; at < known.size(); ++at) {
    if (std::find(column_of_.begin(), column_of_.end(), at) != column_of_.end()) continue;
    header.reject(fmt::format("\"{}\" lacks the column {}", columns_key, known[at]));
  }
}

std::size_t state_reader::parts() const noexcept {
  return layout_.fields.size() + layout_.lists.size() + 1;
}

std::string_view state_reader::part_name(std::size_t part) const noexcept {
  if (part < layout_.fields.size()) return layout_.fields[part];
  part -= layout_.fields.size();
  return part < layout_.lists.size() ? layout_.lists[part] : layout_.table;
}

void state_reader::begin(state& out) {
  out.reset(layout_);
  for (std::size_t i = layout_.read_fields(); i < layout_.fields.size(); ++i) {
    out.fields[i].compared = false;
  }
  std::fill(seen_.begin(), seen_.end(), false);
}

// Keys come in the order of the layout as a rule, so the search starts behind the last hit.
bool state_reader::read_part(const json_line& line, const json_node& n, state& out) {
  const std::string_view key = line.key(n);
  const std::size_t count = parts();
  std::size_t part = last_part_;
  std::size_t tried = 0;
  do {
    part = part + 1 < count ? part + 1 : 0;
  } while (part_name(part) != key && ++tried < count);
  const std::size_t fields = layout_.fields.size();
  if (tried == count || (part >= layout_.read_fields() && part < fields)) return false;
  last_part_ = part;
  seen_[part] = true;
  if (part < fields) {
    out.fields[part] = read_cell(line, n, key);
  } else if (part - fields < layout_.lists.size()) {
    read_list(line, n, out.lists[part - fields]);
  } else {
    read_table(line, n, out);
  }
  return true;
}

void state_reader::read_list(const json_line& line, const json_node& n,
                             std::vector<cell>& out) const {
  line.require_kind(n, line.key(n), json_kind::array);
  line.for_each_child(n, [&](const json_node& id) {
    out.push_back(cell::of(line.unsigned_value(id, line.key(n), 1, highest_id)));
  });
}

void state_reader::read_table(const json_line& line, const json_node& n, state& out) const {
  line.require_kind(n, layout_.table, json_kind::array);
  std::uint64_t last_id = 0;
  line.for_each_child(n, [&](const json_node& row) {
    line.require_kind(row, layout_.table, json_kind::array);
    if (row.count != column_of_.size()) {
      line.reject(fmt::format("a row of \"{}\" has {} values: expected {}", layout_.table,
                              row.count, column_of_.size()));
    }
    const std::size_t start = out.cells.size();
    out.cells.resize(start + layout_.columns.size());
    std::size_t position = 0;
    line.for_each_child(row, [&](const json_node& value) {
      const std::size_t column = column_of_[position++];
      const std::string_view name = layout_.columns[column];
      if (column == 0) static_cast<void>(line.unsigned_value(value, name, 1, highest_id));
      out.cells[start + column] = read_cell(line, value, name);
    });
    for (std::size_t c = layout_.read_columns(); c < layout_.columns.size(); ++c) {
      out.cells[start + c].compared = false;
    }
    const std::uint64_t id = out.cells[start].magnitude;
    if (id <= last_id) {
      line.reject(fmt::format("the rows of \"{}\" are out of order: {} follows {}", layout_.table,
                              id, last_id));
    }
    last_id = id;
  });
}

void state_reader::finish(const json_line& line) const {
  for (std::size_t part = 0; part < parts(); ++part) {
    const bool derived = part >= layout_.read_fields() && part < layout_.fields.size();
    if (!seen_[part] && !derived) line.reject(fmt::format("\"{}\" is missing", part_name(part)));
  }
}

std::optional<difference> first_difference(const state_layout& layout, const state& expected,
                                           const state& got) {
  if (auto found = first_field_difference(layout, expected, got)) return found;
  if (auto found = first_list_difference(layout, expected, got)) return found;
  const std::size_t rows = std::max(expected.rows(layout), got.rows(layout));
  for (std::size_t r = 0; r < rows; ++r) {
    const std::uint64_t no_row = std::numeric_limits<std::uint64_t>::max();
    const auto e = r < expected.rows(layout) ? expected.row(layout, r) : std::span<const cell>{};
    const auto g = r < got.rows(layout) ? got.row(layout, r) : std::span<const cell>{};
    const std::uint64_t e_id = e.empty() ? no_row : e.front().magnitude;
    const std::uint64_t g_id = g.empty() ? no_row : g.front().magnitude;
    if (e_id != g_id) {
      const bool missing = e_id < g_id;
      return difference{fmt::format("{} of task {}", layout.table, missing ? e_id : g_id),
                        missing ? "a row" : "no row", missing ? "no row" : "a row"};
    }
    for (std::size_t c = 0; c < layout.columns.size(); ++c) {
      if (matches(e[c], g[c])) continue;
      return difference{fmt::format("{} of task {}", layout.columns[c], e_id), shown(e[c]),
                        shown(g[c])};
    }
  }
  return std::nullopt;
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "vectors/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

namespace vlag {
namespace {

constexpr std::int64_t highest_id = std::numeric_limits<std::int32_t>::max();

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

std::optional<difference> first_table_difference(const table_layout& layout,
                                                 const state_table& expected,
                                                 const state_table& got) {
  for (std::size_t r = 0; r < std::max(expected.rows(), got.rows()); ++r) {
    const auto e = r < expected.rows() ? expected.row(r) : std::span<const cell>{};
    const auto g = r < got.rows() ? got.row(r) : std::span<const cell>{};
    const int order = e.empty() ? 1 : g.empty() ? -1 : order_of_rows(layout, e, g);
    if (order != 0) {
      const bool missing = order < 0;
      return difference{fmt::format("{} of {}", layout.name, named_row(layout, missing ? e : g)),
                        missing ? "a row" : "no row", missing ? "no row" : "a row"};
    }
    for (std::size_t c = 0; c < layout.columns.size(); ++c) {
      if (matches(e[c], g[c])) continue;
      return difference{fmt::format("{} of {}", layout.columns[c], named_row(layout, e)),
                        shown(e[c]), shown(g[c])};
    }
  }
  return std::nullopt;
}

}  // namespace

int order_of_rows(const table_layout& table, std::span<const cell> a,
                  std::span<const cell> b) noexcept {
  for (std::size_t k = 0; k < table.keys; ++k) {
    if (a[k].negative != b[k].negative) return a[k].negative ? -1 : 1;
    if (a[k].magnitude != b[k].magnitude) return a[k].magnitude < b[k].magnitude ? -1 : 1;
  }
  return 0;
}

std::string named_row(const table_layout& table, std::span<const cell> row) {
  std::string name(table.row_name);
  for (std::size_t k = 0; k < table.keys; ++k) {
    name += k == 0 ? " " : fmt::format(" {} ", table.columns[k]);
    name += shown(row[k]);
  }
  return name;
}

std::string shown(const cell& c) {
  return c.none ? "none" : fmt::format("{}{}", c.negative ? "-" : "", c.magnitude);
}

void state::reset(const state_layout& layout) {
  fields.assign(layout.fields.size(), cell{});
  lists.resize(layout.lists.size());
  for (auto& list : lists) list.clear();
  tables.resize(layout.tables.size());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    tables[i].width = layout.tables[i].columns.size();
    tables[i].cells.clear();
  }
}

state_reader::state_reader(const state_layout& layout, const json_line& header)
    : layout_(layout),
      column_of_(layout.tables.size()),
      seen_(layout.fields.size() + layout.lists.size() + layout.tables.size()) {
  for (std::size_t which = 0; which < layout.tables.size(); ++which) {
    const table_layout& table = layout.tables[which];
    read_columns(header, which, table.columns_key);
    const auto& found = column_of_[which];
    for (std::size_t at = 0; at < table.read_columns(); ++at) {
      if (std::find(found.begin(), found.end(), at) != found.end()) continue;
      header.reject(
          fmt::format("\"{}\" lacks the column {}", table.columns_key, table.columns[at]));
    }
  }
}

void state_reader::read_columns(const json_line& header, std::size_t which, std::string_view key) {
  const table_layout& table = layout_.tables[which];
  const auto known = table.columns.first(table.read_columns());
  auto& columns = column_of_[which];
  const json_node& names = header.require(key);
  header.require_kind(names, key, json_kind::array);
  header.for_each_child(names, [&](const json_node& n) {
    const std::string_view name = header.text_value(n, key);
    const bool others = name.starts_with('<') && name.ends_with('>') && key == table.columns_key;
    if (others) {
      read_columns(header, which, name.substr(1, name.size() - 2));
      return;
    }
    const auto at = static_cast<std::size_t>(
        std::distance(known.begin(), std::find(known.begin(), known.end(), name)));
    if (at == known.size()) {
      header.reject(fmt::format("\"{}\" names the unknown column {}: known are {}", key,
                                in_quotes(name), fmt::join(known, ", ")));
    }
    if (std::find(columns.begin(), columns.end(), at) != columns.end()) {
      header.reject(fmt::format("\"{}\" names {} twice", key, name));
    }
    columns.push_back(at);
  });
}

std::size_t state_reader::parts() const noexcept { return seen_.size(); }

std::string_view state_reader::part_name(std::size_t part) const noexcept {
  if (part < layout_.fields.size()) return layout_.fields[part];
  part -= layout_.fields.size();
  if (part < layout_.lists.size()) return layout_.lists[part];
  return layout_.tables[part - layout_.lists.size()].name;
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
    const std::size_t which = part - fields - layout_.lists.size();
    read_table(line, n, which, out.tables[which]);
  }
  return true;
}

void state_reader::read_list(const json_line& line, const json_node& n,
                             std::vector<cell>& out) const {
  line.require_kind(n, line.key(n), json_kind::array);
  line.for_each_child(n, [&](const json_node& id) {
    out.push_back(
        cell::of(line.unsigned_value(id, line.key(n), 1, static_cast<std::uint64_t>(highest_id))));
  });
}

void state_reader::read_table(const json_line& line, const json_node& n, std::size_t which,
                              state_table& out) const {
  const table_layout& table = layout_.tables[which];
  line.require_kind(n, table.name, json_kind::array);
  if (table.keys == 0) {
    read_row(line, n, which, out);
    return;
  }
  line.for_each_child(n, [&](const json_node& row) {
    read_row(line, row, which, out);
    const std::size_t last = out.rows() - 1;
    if (last == 0 || order_of_rows(table, out.row(last - 1), out.row(last)) < 0) return;
    line.reject(fmt::format("the rows of \"{}\" are out of order: {} follows {}", table.name,
                            named_row(table, out.row(last)), named_row(table, out.row(last - 1))));
  });
}

void state_reader::read_row(const json_line& line, const json_node& n, std::size_t which,
                            state_table& out) const {
  const table_layout& table = layout_.tables[which];
  const auto& column_of = column_of_[which];
  line.require_kind(n, table.name, json_kind::array);
  if (n.count != column_of.size()) {
    line.reject(fmt::format("a row of \"{}\" has {} values: expected {}", table.name, n.count,
                            column_of.size()));
  }
  const std::span<cell> row = out.add_row();
  std::size_t position = 0;
  line.for_each_child(n, [&](const json_node& value) {
    const std::size_t column = column_of[position++];
    const std::string_view name = table.columns[column];
    if (column < table.keys) {
      static_cast<void>(line.signed_value(value, name, table.lowest_key, highest_id));
    }
    row[column] = read_cell(line, value, name);
  });
  for (cell& derived : row.subspan(table.read_columns())) derived.compared = false;
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
  for (std::size_t i = 0; i < layout.tables.size(); ++i) {
    const table_layout& table = layout.tables[i];
    if (auto found = first_table_difference(table, expected.tables[i], got.tables[i])) return found;
  }
  return std::nullopt;
}

}  // namespace vlag

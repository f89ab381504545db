// SPDX-License-Identifier: Apache-2.0
#include "vectors/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

namespace vlag {
namespace {

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
    return difference{std::string(layout.lists[i].name), joined(expected.lists[i]),
                      joined(got.lists[i])};
  }
  return std::nullopt;
}

std::optional<difference> first_table_difference(const table_layout& layout,
                                                 const table_state& expected,
                                                 const table_state& got) {
  for (std::size_t r = 0; r < std::max(expected.rows(), got.rows()); ++r) {
    const auto e = r < expected.rows() ? expected.row(r) : std::span<const cell>{};
    const auto g = r < got.rows() ? got.row(r) : std::span<const cell>{};
    const int order = e.empty() ? 1 : g.empty() ? -1 : order_of_rows(layout, e, g);
    const auto where = [&](std::string_view what) {
      return fmt::format("{} of {}", what, named_row(layout, order > 0 ? g : e));
    };
    if (order != 0) {
      const bool missing = order < 0;
      return difference{where(layout.name), missing ? "a row" : "no row",
                        missing ? "no row" : "a row"};
    }
    for (std::size_t c = 0; c < layout.columns.size(); ++c) {
      if (!matches(e[c], g[c]))
        return difference{where(layout.columns[c]), shown(e[c]), shown(g[c])};
    }
    if (!layout.list.empty() && !lists_match(expected.lists[r], got.lists[r])) {
      return difference{where(layout.list), joined(expected.lists[r]), joined(got.lists[r])};
    }
  }
  return std::nullopt;
}

}  // namespace

int order_of_rows(const table_layout& table, std::span<const cell> a,
                  std::span<const cell> b) noexcept {
  for (std::size_t k = 0; k < table.keys; ++k) {
    if (a[k].negative != b[k].negative) return a[k].negative ? -1 : 1;
    if (a[k].magnitude == b[k].magnitude) continue;
    const bool smaller_first = !a[k].negative || table.order == row_order::groups_first;
    return (a[k].magnitude < b[k].magnitude) == smaller_first ? -1 : 1;
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
    tables[i].lists.clear();
  }
}

state_reader::state_reader(const state_layout& layout, const json_line& header) : layout_(layout) {
  for (const auto& table : layout.tables) columns_.push_back(read_columns(table, header));
  seen_.resize(parts());
}

state_reader::column_order state_reader::read_columns(const table_layout& table,
                                                      const json_line& header) {
  const std::string_view key = table.columns_key;
  const json_node& names = header.require(key);
  header.require_kind(names, key, json_kind::array);
  const auto read = table.columns.first(table.read_columns());
  std::vector<std::string_view> known(read.begin(), read.end());
  if (!table.list.empty()) known.push_back(table.list);
  column_order order;
  const auto place_of = [&](std::size_t at) { return at < read.size() ? at : list_column; };
  const auto is_there = [&](std::size_t column) {
    return std::find(order.begin(), order.end(), column) != order.end();
  };
  const auto read_name = [&](const json_node& n) {
    const std::string_view name = header.text_value(n, key);
    const auto at = static_cast<std::size_t>(
        std::distance(known.begin(), std::find(known.begin(), known.end(), name)));
    if (at == known.size()) {
      header.reject(fmt::format("\"{}\" names the unknown column {}: known are {}", key,
                                in_quotes(name), fmt::join(known, ", ")));
    }
    if (is_there(place_of(at))) header.reject(fmt::format("\"{}\" names {} twice", key, name));
    order.push_back(place_of(at));
  };
  header.for_each_child(names, [&](const json_node& n) {
    const std::string_view name = header.text_value(n, key);
    if (!name.starts_with('<') || !name.ends_with('>')) {
      read_name(n);
      return;
    }
    const std::string_view other = name.substr(1, name.size() - 2);
    const json_node& more = header.require(other);
    header.require_kind(more, other, json_kind::array);
    header.for_each_child(more, read_name);
  });
  for (std::size_t at = 0; at < known.size(); ++at) {
    if (is_there(place_of(at))) continue;
    header.reject(fmt::format("\"{}\" lacks the column {}", key, known[at]));
  }
  return order;
}

std::size_t state_reader::parts() const noexcept {
  return layout_.fields.size() + layout_.lists.size() + layout_.tables.size();
}

std::string_view state_reader::part_name(std::size_t part) const noexcept {
  if (part < layout_.fields.size()) return layout_.fields[part];
  part -= layout_.fields.size();
  if (part < layout_.lists.size()) return layout_.lists[part].name;
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
  const std::size_t lists = fields + layout_.lists.size();
  if (part < fields) {
    out.fields[part] = read_cell(line, n, key);
  } else if (part < lists) {
    read_list(line, n, layout_.lists[part - fields], out.lists[part - fields]);
  } else {
    read_table(line, n, part - lists, out.tables[part - lists]);
  }
  return true;
}

void state_reader::read_list(const json_line& line, const json_node& n, const list_layout& list,
                             std::vector<cell>& out) const {
  if (list.may_be_null && n.kind == json_kind::null) {
    out.emplace_back();
    return;
  }
  line.require_kind(n, list.name, json_kind::array);
  line.for_each_child(n, [&](const json_node& entry) {
    out.push_back(list.lowest < 0 && entry.negative
                      ? cell::of_signed(line.signed_value(entry, list.name, list.lowest, -1))
                      : cell::of(line.unsigned_value(
                            entry, list.name,
                            static_cast<std::uint64_t>(std::max<std::int64_t>(list.lowest, 0)),
                            list.highest)));
  });
}

void state_reader::read_table(const json_line& line, const json_node& n, std::size_t table,
                              table_state& out) const {
  const table_layout& layout = layout_.tables[table];
  line.require_kind(n, layout.name, json_kind::array);
  if (layout.keys == 0) {
    read_row(line, n, table, out);
    return;
  }
  line.for_each_child(n, [&](const json_node& row) {
    read_row(line, row, table, out);
    const std::size_t last = out.rows() - 1;
    if (last == 0 || order_of_rows(layout, out.row(last - 1), out.row(last)) < 0) return;
    line.reject(fmt::format("the rows of \"{}\" are out of order: {} follows {}", layout.name,
                            named_row(layout, out.row(last)),
                            named_row(layout, out.row(last - 1))));
  });
}

void state_reader::read_row(const json_line& line, const json_node& row, std::size_t table,
                            table_state& out) const {
  const table_layout& layout = layout_.tables[table];
  const column_order& order = columns_[table];
  line.require_kind(row, layout.name, json_kind::array);
  if (row.count != order.size()) {
    line.reject(fmt::format("a row of \"{}\" has {} values: expected {}", layout.name, row.count,
                            order.size()));
  }
  const std::span<cell> cells = out.add_row();
  std::size_t position = 0;
  line.for_each_child(row, [&](const json_node& value) {
    const std::size_t column = order[position++];
    if (column == list_column) {
      read_list(line, value, {layout.list, layout.lowest_id}, out.lists.emplace_back());
      return;
    }
    const std::string_view name = layout.columns[column];
    if (column < layout.keys) {
      static_cast<void>(line.signed_value(value, name, layout.lowest_id, highest_row_id));
    }
    cells[column] = read_cell(line, value, name);
  });
  for (std::size_t c = layout.read_columns(); c < layout.columns.size(); ++c) {
    cells[c].compared = false;
  }
}

bool state_reader::may_be_missing(std::size_t part) const noexcept {
  const std::size_t fields = layout_.fields.size();
  if (part < fields) return part >= layout_.read_fields();
  const std::size_t lists = fields + layout_.lists.size();
  return part >= lists && layout_.tables[part - lists].may_be_missing;
}

void state_reader::finish(const json_line& line) const {
  for (std::size_t part = 0; part < parts(); ++part) {
    if (seen_[part] || may_be_missing(part)) continue;
    line.reject(fmt::format("\"{}\" is missing", part_name(part)));
  }
}

std::optional<difference> first_difference(const state_layout& layout, const state& expected,
                                           const state& got) {
  if (auto found = first_field_difference(layout, expected, got)) return found;
  if (auto found = first_list_difference(layout, expected, got)) return found;
  for (std::size_t i = 0; i < layout.tables.size(); ++i) {
    if (auto found = first_table_difference(layout.tables[i], expected.tables[i], got.tables[i])) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace vlag

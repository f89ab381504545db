// SPDX-License-Identifier: Apache-2.0
//
// What a vector says after each operation, and what our policy says: the same shape for both, so
// that comparing and printing know nothing of a policy.
//
// A state has scalar fields, lists of ids, and tables: a row a task, say, in the order of their
// ids, each of which may have a list of its own. A kind of vectors names them in a state_layout.
// Names that only we derive (none is in the file) stand last among the fields and among the
// columns.
#pragma once

#include "vectors/json_line.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

// An exact integer from -2^63 to 2^64-1, or "none".
struct cell {
  std::uint64_t magnitude = 0;
  bool negative = false;
  bool none = true;
  bool compared = true;  // on the expected side; false: a left-over that means nothing

  [[nodiscard]] static constexpr cell of(std::uint64_t value) noexcept {
    return {value, false, false, true};
  }
  [[nodiscard]] static constexpr cell of_signed(std::int64_t value) noexcept {
    const auto bits = static_cast<std::uint64_t>(value);
    return {value < 0 ? 0 - bits : bits, value < 0, false, true};
  }
  [[nodiscard]] constexpr bool is(std::uint64_t value) const noexcept {
    return !none && !negative && magnitude == value;
  }
  // The low 64 bits, two's complement.
  [[nodiscard]] constexpr std::uint64_t bits() const noexcept {
    return negative ? 0 - magnitude : magnitude;
  }
};

// expected matches got: same value, or nothing to compare.
[[nodiscard]] constexpr bool matches(const cell& expected, const cell& got) noexcept {
  if (!expected.compared) return true;
  if (expected.none || got.none) return expected.none == got.none;
  return expected.magnitude == got.magnitude && expected.negative == got.negative;
}

inline constexpr std::int64_t highest_row_id = std::numeric_limits<std::int32_t>::max();

struct list_layout {
  std::string_view name;
  std::int64_t lowest = 1;
  std::uint64_t highest = highest_row_id;
  bool may_be_null = false;  // it is then a list of one "none"
};

// Rows in the order of their ids: by value, or those below 0 (groups, as minus their id) first and
// by magnitude.
enum class row_order : std::uint8_t { by_value, groups_first };

struct table_layout {
  std::string_view name;
  std::string_view columns_key;               // the header key that names the columns
  std::string_view row_name;                  // what a row is, for messages
  std::span<const std::string_view> columns;  // the first are the keys
  std::size_t derived_columns = 0;
  std::int64_t lowest_id = 1;
  std::string_view list = {};   // the column that is a list of ids; empty: there is none
  bool may_be_missing = false;  // it then has no rows
  // Columns that name a row: its id, or also a CPU, say. 0: there is one row, written flat.
  std::size_t keys = 1;
  row_order order = row_order::by_value;

  [[nodiscard]] std::size_t read_columns() const noexcept {
    return columns.size() - derived_columns;
  }
};

struct state_layout {
  std::span<const std::string_view> fields;
  std::size_t derived_fields = 0;
  std::span<const list_layout> lists;
  std::span<const table_layout> tables;

  [[nodiscard]] std::size_t read_fields() const noexcept { return fields.size() - derived_fields; }
};

struct table_state {
  std::size_t width = 0;
  std::vector<cell> cells;               // row after row
  std::vector<std::vector<cell>> lists;  // one a row, where the table has them

  [[nodiscard]] std::size_t rows() const noexcept { return cells.size() / width; }
  [[nodiscard]] std::span<const cell> row(std::size_t index) const {
    return std::span(cells).subspan(index * width, width);
  }
  [[nodiscard]] std::span<cell> row(std::size_t index) {
    return std::span(cells).subspan(index * width, width);
  }
  // A new row of empty cells.
  std::span<cell> add_row() {
    cells.resize(cells.size() + width);
    return row(rows() - 1);
  }
};

struct state {
  std::vector<cell> fields;
  std::vector<std::vector<cell>> lists;
  std::vector<table_state> tables;

  // Empties it: no list entry, no row, every field "none" and compared.
  void reset(const state_layout& layout);
};

// Rows by their keys: below 0, 0 or above 0 as a stands before, beside or behind b.
[[nodiscard]] int order_of_rows(const table_layout& table, std::span<const cell> a,
                                std::span<const cell> b) noexcept;
// "task 3", "group 1 cpu 0".
[[nodiscard]] std::string named_row(const table_layout& table, std::span<const cell> row);

// Reads the state part of vector lines.
class state_reader {
 public:
  // "<other>" among the columns that the header names stands for the names under its key "other".
  // Throws input_error: a table's columns in the header are not those of the layout, in any order.
  state_reader(const state_layout& layout, const json_line& header);

  // Fills the state from a line. Derived cells are left "none" and not compared. Keys that are not
  // part of a state are offered to other_key(key), which answers whether they belong to the line.
  // Throws input_error: a key missing or unknown, a value of the wrong kind, rows out of order.
  template <typename OtherKey>
  void read(const json_line& line, state& out, OtherKey&& other_key) {
    begin(out);
    line.for_each_child(line.root(), [&](const json_node& n) {
      if (!read_part(line, n, out) && !other_key(line.key(n))) {
        line.reject("unknown key " + in_quotes(line.key(n)));
      }
    });
    finish(line);
  }

 private:
  void begin(state& out);
  bool read_part(const json_line& line, const json_node& n, state& out);
  void read_list(const json_line& line, const json_node& n, const list_layout& list,
                 std::vector<cell>& out) const;
  void read_table(const json_line& line, const json_node& n, std::size_t table,
                  table_state& out) const;
  void read_row(const json_line& line, const json_node& row, std::size_t table,
                table_state& out) const;
  void finish(const json_line& line) const;
  [[nodiscard]] bool may_be_missing(std::size_t part) const noexcept;
  [[nodiscard]] std::string_view part_name(std::size_t part) const noexcept;
  [[nodiscard]] std::size_t parts() const noexcept;

  // Position in a row of the file -> column of the layout; list_column: the list.
  using column_order = std::vector<std::size_t>;
  static constexpr std::size_t list_column = SIZE_MAX;
  [[nodiscard]] static column_order read_columns(const table_layout& table,
                                                 const json_line& header);

  const state_layout& layout_;
  std::vector<column_order> columns_;  // by table
  std::vector<bool> seen_;             // by part: fields, lists, tables
  std::size_t last_part_ = 0;
};

// The first place, in the order of the layout, where two states differ.
struct difference {
  std::string where;  // "resched", "rb", "vruntime of task 3", "rb of group 1"
  std::string expected;
  std::string got;
};

[[nodiscard]] std::optional<difference> first_difference(const state_layout& layout,
                                                         const state& expected, const state& got);

// Both states side by side, differing cells marked with '*', values that mean nothing in
// parentheses. Ends with a line end.
[[nodiscard]] std::string side_by_side(const state_layout& layout, const state& expected,
                                       const state& got);

[[nodiscard]] std::string shown(const cell& c);

}  // namespace vlag

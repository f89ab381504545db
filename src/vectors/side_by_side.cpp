// SPDX-License-Identifier: Apache-2.0
#include "vectors/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace vlag {
namespace {

// Rows printed at most, and list entries; a queue of a vector is small.
constexpr std::size_t most_rows = 100;
constexpr std::size_t most_entries = 100;

std::string shown_list(const std::vector<cell>& list) {
  std::string out;
  for (std::size_t i = 0; i < list.size() && i < most_entries; ++i) {
    out += fmt::format("{}{}", i == 0 ? "" : " ", shown(list[i]));
  }
  if (list.size() > most_entries) out += fmt::format(" and {} more", list.size() - most_entries);
  return out.empty() ? "-" : out;
}

using text_row = std::vector<std::string>;

// One row of a table, on one side.
struct table_row {
  std::span<const cell> cells;  // empty: the row is not there
  const std::vector<cell>* list = nullptr;

  table_row() = default;
  table_row(const table_state& table, std::size_t row)
      : cells(table.row(row)), list(row < table.lists.size() ? &table.lists[row] : nullptr) {}
};

bool same_lists(const table_row& a, const table_row& b) {
  return a.list == nullptr || b.list == nullptr ||
         std::equal(a.list->begin(), a.list->end(), b.list->begin(), b.list->end(), matches);
}

// A table: a line for a row that matches, two for one that differs.
class shown_table {
 public:
  explicit shown_table(const table_layout& layout) : layout_(layout) {
    text_row head{""};
    head.insert(head.end(), layout.columns.begin(), layout.columns.end());
    if (!layout.list.empty()) head.emplace_back(layout.list);
    lines_.push_back(std::move(head));
  }

  void add(const table_state& expected, const table_state& got) {
    std::size_t e = 0;
    std::size_t g = 0;
    while (e < expected.rows() || g < got.rows()) {
      if (lines_.size() > most_rows) {
        left_out_ = std::max(expected.rows() - e, got.rows() - g);
        return;
      }
      const table_row er = e < expected.rows() ? table_row(expected, e) : table_row();
      const table_row gr = g < got.rows() ? table_row(got, g) : table_row();
      const int order = er.cells.empty()   ? 1
                        : gr.cells.empty() ? -1
                                           : order_of_rows(layout_, er.cells, gr.cells);
      const bool take_e = order <= 0;
      const bool take_g = order >= 0;
      add_rows(take_e ? er : table_row(), take_g ? gr : table_row());
      e += take_e ? 1 : 0;
      g += take_g ? 1 : 0;
    }
  }

  std::string text() const {
    std::vector<std::size_t> widths(lines_.front().size(), 0);
    for (const auto& line : lines_) {
      for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
    }
    std::string out;
    for (const auto& line : lines_) {
      std::string row = fmt::format("  {:<{}}", line[0], widths[0]);
      for (std::size_t c = 1; c < line.size(); ++c) {
        row += fmt::format("  {:>{}}", line[c], widths[c]);
      }
      row.erase(row.find_last_not_of(' ') + 1);
      out += row + "\n";
    }
    if (left_out_ != 0) out += fmt::format("  and {} more {}s\n", left_out_, layout_.row_name);
    return out;
  }

 private:
  void add_rows(const table_row& expected, const table_row& got) {
    const auto& e = expected.cells;
    const auto& g = got.cells;
    const bool same = !e.empty() && !g.empty() && same_lists(expected, got) &&
                      std::equal(e.begin(), e.end(), g.begin(), g.end(), matches);
    if (same) {
      lines_.push_back(text_of("both", got, expected, got));
      return;
    }
    if (!e.empty()) lines_.push_back(text_of("expected", expected, expected, got));
    if (!g.empty()) lines_.push_back(text_of("got", got, expected, got));
  }

  static text_row text_of(std::string_view side, const table_row& values, const table_row& expected,
                          const table_row& got) {
    text_row line{std::string(side)};
    const bool alone = expected.cells.empty() || got.cells.empty();
    for (std::size_t c = 0; c < values.cells.size(); ++c) {
      const bool stale = !expected.cells.empty() && !expected.cells[c].compared;
      const bool differs = !alone && !matches(expected.cells[c], got.cells[c]);
      const std::string value = shown(values.cells[c]);
      const bool marked = differs || (alone && c == 0);
      line.push_back(stale    ? fmt::format("({})", value)
                     : marked ? fmt::format("*{}", value)
                              : value);
    }
    if (values.list != nullptr) {
      line.push_back(
          fmt::format("{}{}", same_lists(expected, got) ? "" : "*", shown_list(*values.list)));
    }
    return line;
  }

  const table_layout& layout_;
  std::vector<text_row> lines_;
  std::size_t left_out_ = 0;
};

}  // namespace

std::string side_by_side(const state_layout& layout, const state& expected, const state& got) {
  struct line {
    std::string name, expected, got;
    bool differs;
  };
  std::vector<line> lines{{"", "expected", "got", false}};
  for (std::size_t i = 0; i < layout.fields.size(); ++i) {
    const cell& e = expected.fields[i];
    const std::string value = shown(e);
    lines.push_back({std::string(layout.fields[i]), e.compared ? value : fmt::format("({})", value),
                     shown(got.fields[i]), !matches(e, got.fields[i])});
  }
  for (std::size_t i = 0; i < layout.lists.size(); ++i) {
    const auto& e = expected.lists[i];
    const auto& g = got.lists[i];
    lines.push_back({std::string(layout.lists[i].name), shown_list(e), shown_list(g),
                     !std::equal(e.begin(), e.end(), g.begin(), g.end(), matches)});
  }
  std::size_t name_width = 0;
  std::size_t expected_width = 0;
  for (const auto& l : lines) {
    name_width = std::max(name_width, l.name.size());
    expected_width = std::max(expected_width, l.expected.size());
  }
  std::string out;
  for (const auto& l : lines) {
    out += fmt::format("{} {:<{}}  {:<{}}  {}\n", l.differs ? '*' : ' ', l.name, name_width,
                       l.expected, expected_width, l.got);
  }
  for (std::size_t i = 0; i < layout.tables.size(); ++i) {
    shown_table table(layout.tables[i]);
    table.add(expected.tables[i], got.tables[i]);
    out += table.text();
  }
  return out;
}

}  // namespace vlag

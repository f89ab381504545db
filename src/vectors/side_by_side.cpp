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

// A table: a line for a row that is the same on both sides, two for one that differs.
class table_text {
 public:
  explicit table_text(const table_layout& layout) : layout_(layout) {
    text_row head{""};
    head.insert(head.end(), layout.columns.begin(), layout.columns.end());
    lines_.push_back(std::move(head));
  }

  void add(const state_table& expected, const state_table& got) {
    std::size_t e = 0;
    std::size_t g = 0;
    while (e < expected.rows() || g < got.rows()) {
      if (lines_.size() > most_rows) {
        left_out_ = std::max(expected.rows() - e, got.rows() - g);
        return;
      }
      const auto er = e < expected.rows() ? expected.row(e) : std::span<const cell>{};
      const auto gr = g < got.rows() ? got.row(g) : std::span<const cell>{};
      const int order = er.empty() ? 1 : gr.empty() ? -1 : order_of_rows(layout_, er, gr);
      const bool take_e = order <= 0;
      const bool take_g = order >= 0;
      add_rows(take_e ? er : std::span<const cell>{}, take_g ? gr : std::span<const cell>{});
      e += take_e ? 1 : 0;
      g += take_g ? 1 : 0;
    }
  }

  std::string text() const {
    std::vector<std::size_t> widths(layout_.columns.size() + 1, 0);
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
  void add_rows(std::span<const cell> expected, std::span<const cell> got) {
    const bool both = !expected.empty() && !got.empty();
    const bool same =
        both && std::equal(expected.begin(), expected.end(), got.begin(), got.end(), matches);
    if (same) {
      lines_.push_back(text_of("both", got, expected, got));
      return;
    }
    if (!expected.empty()) lines_.push_back(text_of("expected", expected, expected, got));
    if (!got.empty()) lines_.push_back(text_of("got", got, expected, got));
  }

  static text_row text_of(std::string_view side, std::span<const cell> values,
                          std::span<const cell> expected, std::span<const cell> got) {
    text_row line{std::string(side)};
    for (std::size_t c = 0; c < values.size(); ++c) {
      const bool alone = expected.empty() || got.empty();
      const bool stale = !expected.empty() && !expected[c].compared;
      const bool differs = !alone && !matches(expected[c], got[c]);
      const std::string value = shown(values[c]);
      const bool marked = differs || (alone && c == 0);
      line.push_back(stale    ? fmt::format("({})", value)
                     : marked ? fmt::format("*{}", value)
                              : value);
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
    lines.push_back({std::string(layout.lists[i]), shown_list(e), shown_list(g),
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
    table_text table(layout.tables[i]);
    table.add(expected.tables[i], got.tables[i]);
    out += table.text();
  }
  return out;
}

}  // namespace vlag

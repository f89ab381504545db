// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "input/printable.hpp"

namespace vlag {
namespace {

__extension__ using u128 = unsigned __int128;

constexpr std::string_view between_columns = "  ";

}  // namespace

text_table::text_table(std::vector<column> columns) : columns_(std::move(columns)) {}

void text_table::add_row(std::vector<std::string> cells) {
  assert(cells.size() <= columns_.size());
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back({row_kind::cells, std::move(cells)});
}

void text_table::add_rule() { rows_.push_back({row_kind::rule, {}}); }

void text_table::add_gap() { rows_.push_back({row_kind::gap, {}}); }

std::string text_table::text() const {
  std::vector<std::size_t> widths;
  std::vector<std::string> titles;
  for (const column& c : columns_) {
    widths.push_back(c.title.size());
    titles.push_back(c.title);
  }
  for (const row& r : rows_) {
    for (std::size_t i = 0; i < r.cells.size(); ++i) {
      widths[i] = std::max(widths[i], r.cells[i].size());
    }
  }
  std::size_t total = between_columns.size() * (widths.size() - 1);
  for (const std::size_t w : widths) total += w;

  std::string result;
  const auto append = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += between_columns;
      line += columns_[i].side == align::left ? fmt::format("{:<{}}", cells[i], widths[i])
                                              : fmt::format("{:>{}}", cells[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  };
  const std::string rule = std::string(total, '-') + '\n';
  append(titles);
  result += rule;
  for (const row& r : rows_) {
    if (r.kind == row_kind::cells) append(r.cells);
    if (r.kind == row_kind::rule) result += rule;
    if (r.kind == row_kind::gap) result += '\n';
  }
  return result;
}

std::string as_ms(std::uint64_t ns) {
  const std::uint64_t us = ns / 1000 + (ns % 1000 >= 500 ? 1 : 0);
  return fmt::format("{}.{:03}", us / 1000, us % 1000);
}

std::string as_seconds(std::uint64_t ns) {
  const std::uint64_t us = ns / 1000 + (ns % 1000 >= 500 ? 1 : 0);
  return fmt::format("{}.{:06}", us / 1'000'000, us % 1'000'000);
}

std::string as_percent(std::uint64_t ppm) {
  const std::uint64_t tenths = (ppm + 500) / 1000;
  return fmt::format("{}.{}", tenths / 10, tenths % 10);
}

std::string as_ratio(std::uint64_t per_mille) {
  if (per_mille >= 100'000) return fmt::format("{}", muldiv(per_mille, 1, 1000));
  const std::uint64_t tenths = (per_mille + 50) / 100;
  return fmt::format("{}.{}", tenths / 10, tenths % 10);
}

std::uint64_t muldiv(std::uint64_t a, std::uint64_t b, std::uint64_t c) noexcept {
  const u128 result = static_cast<u128>(a) * b / c;
  constexpr auto limit = std::numeric_limits<std::uint64_t>::max();
  return result > limit ? limit : static_cast<std::uint64_t>(result);
}

}  // namespace vlag

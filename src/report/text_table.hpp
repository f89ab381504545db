// SPDX-License-Identifier: Apache-2.0
//
// A plain-text table: aligned columns, two blanks apart, no colour. And how figures are written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

enum class align : std::uint8_t { left, right };

class text_table {
 public:
  struct column {
    std::string title;
    align side = align::right;
  };

  explicit text_table(std::vector<column> columns);
  // Requires: at most as many cells as columns; missing ones are empty. Shown as printable() says.
  void add_row(std::vector<std::string> cells);
  void add_rule();  // a line of dashes
  void add_gap();   // an empty line

  // Every line ends with \n and carries no blanks before it.
  [[nodiscard]] std::string text() const;

 private:
  enum class row_kind : std::uint8_t { cells, rule, gap };
  struct row {
    row_kind kind;
    std::vector<std::string> cells;
  };
  std::vector<column> columns_;
  std::vector<row> rows_;
};

// "12.345": ns as ms, rounded to the nearest us.
[[nodiscard]] std::string as_ms(std::uint64_t ns);
// "668.725201": ns as seconds, rounded to the nearest us.
[[nodiscard]] std::string as_seconds(std::uint64_t ns);
// "12.3": parts per million as per cent, rounded to the nearest tenth.
[[nodiscard]] std::string as_percent(std::uint64_t ppm);
// "5.3": thousandths, rounded to the nearest tenth; without a decimal from 100 up.
[[nodiscard]] std::string as_ratio(std::uint64_t per_mille);

// a * b / c, without overflow in between, saturating. Requires: c > 0.
[[nodiscard]] std::uint64_t muldiv(std::uint64_t a, std::uint64_t b, std::uint64_t c) noexcept;

}  // namespace vlag

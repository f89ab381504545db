// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace vlag {
namespace {

constexpr auto most = std::numeric_limits<std::uint64_t>::max();

TEST(text_table, aligns_and_leaves_no_blanks_at_line_ends) {
  text_table table({{"Name", align::left}, {"ms"}, {"Note", align::left}});
  table.add_row({"a", "1.5", "first"});
  table.add_row({"longer", "10.5"});
  table.add_rule();
  table.add_gap();
  table.add_row({"z"});
  EXPECT_EQ(table.text(),
            "Name      ms  Note\n"
            "-------------------\n"
            "a        1.5  first\n"
            "longer  10.5\n"
            "-------------------\n"
            "\n"
            "z\n");
}

TEST(text_table, figures_are_rounded_to_nearest) {
  EXPECT_EQ(as_ms(0), "0.000");
  EXPECT_EQ(as_ms(499), "0.000");
  EXPECT_EQ(as_ms(500), "0.001");
  EXPECT_EQ(as_ms(12'345'678), "12.346");
  EXPECT_EQ(as_seconds(668'725'201'000), "668.725201");
  EXPECT_EQ(as_percent(883'600), "88.4");
  EXPECT_EQ(as_percent(449), "0.0");
  EXPECT_EQ(as_ratio(5'349), "5.3");
  EXPECT_EQ(as_ratio(123'456), "123");
  EXPECT_EQ(as_ms(most), "18446744073709.552");
}

TEST(text_table, muldiv_does_not_overflow) {
  EXPECT_EQ(muldiv(most, most, most), most);
  EXPECT_EQ(muldiv(most, 2, 1), most);
  EXPECT_EQ(muldiv(7, 3, 2), 10U);
}

}  // namespace
}  // namespace vlag

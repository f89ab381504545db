// SPDX-License-Identifier: Apache-2.0
#include "input/text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <functional>
#include <limits>
#include <string>

namespace vlag {
namespace {

constexpr std::uint64_t longest_ns = std::numeric_limits<std::int64_t>::max();

TEST(parse_duration, reads_every_unit_exactly) {
  EXPECT_EQ(parse_duration("0.1ms"), 100'000U);
  EXPECT_EQ(parse_duration("700us"), 700'000U);
  EXPECT_EQ(parse_duration("3s"), 3'000'000'000U);
  EXPECT_EQ(parse_duration("250000"), 250'000U);
  EXPECT_EQ(parse_duration("0"), 0U);
  EXPECT_EQ(parse_duration("17ns"), 17U);
  EXPECT_EQ(parse_duration("0.000000001s"), 1U);
  EXPECT_EQ(parse_duration("1.000000000000s"), 1'000'000'000U);
  EXPECT_EQ(parse_duration("9007199254740993ns"), 9'007'199'254'740'993U);  // no double holds it
  EXPECT_EQ(parse_duration("9223372036.854775807s"), longest_ns);
  EXPECT_EQ(parse_duration("0009s"), 9'000'000'000U);
}

TEST(parse_duration, refuses_what_is_none) {
  for (const char* text : {"",
                           "ms",
                           "-1ms",
                           "+1ms",
                           " 1ms",
                           "1 ms",
                           "1ms ",
                           ".5ms",
                           "1.ms",
                           "1..5ms",
                           "1.5.5s",
                           "1m",
                           "1h",
                           "1MS",
                           "0x10",
                           "1e3",
                           "nan",
                           "0.5",
                           "0.5ns",
                           "1.0001us",
                           "0.0000000001s",
                           "9223372036.854775808s",
                           "9223372036854775808",
                           "99999999999999999999999",
                           "1s1ms"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(parse_integer, takes_the_whole_range_and_nothing_else) {
  EXPECT_EQ(parse_integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_integer("+5"), 5);
  EXPECT_EQ(parse_integer("-0"), 0);
  for (const char* text : {"", "+", "-", "+-5", "--5", "5 ", " 5", "5.0", "0x5", "five",
                           "9223372036854775808", "-9223372036854775809"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
}

TEST(format_duration, takes_the_shortest_exact_form) {
  EXPECT_EQ(format_duration(0), "0s");
  EXPECT_EQ(format_duration(100'000), "100us");
  EXPECT_EQ(format_duration(1'500'000), "1.5ms");
  EXPECT_EQ(format_duration(2'800'000), "2.8ms");
  EXPECT_EQ(format_duration(3'000'000'000), "3s");
  EXPECT_EQ(format_duration(500'000'000), "500ms");
  EXPECT_EQ(format_duration(1'250'000), "1.25ms");
  EXPECT_EQ(format_duration(1'000'001), "1000001ns");
  EXPECT_EQ(format_duration(999), "999ns");
  EXPECT_EQ(format_duration(longest_ns), "9223372036.854775807s");
}

TEST(format_duration, is_read_back_as_the_same_time) {
  EXPECT_TRUE(rc::check("format, then parse", [] {
    const auto digits = *rc::gen::inRange<std::uint64_t>(0, 20'000);
    auto ns = digits;
    for (auto zeros = *rc::gen::inRange(0, 14); zeros > 0; --zeros) ns *= 10;
    RC_ASSERT(parse_duration(format_duration(ns)) == ns);
    const auto any = *rc::gen::inRange<std::uint64_t>(0, longest_ns);
    RC_ASSERT(parse_duration(format_duration(any)) == any);
  }));
}

TEST(glob_matches, knows_stars_question_marks_and_sets) {
  EXPECT_TRUE(glob_matches("", ""));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("hog*", "hog12"));
  EXPECT_TRUE(glob_matches("*/0:*", "kworker/0:2-events"));
  EXPECT_TRUE(glob_matches("h?g", "hog"));
  EXPECT_TRUE(glob_matches("mi[0-3]", "mi2"));
  EXPECT_TRUE(glob_matches("mi[!0-3]", "mi7"));
  EXPECT_TRUE(glob_matches("a[]]b", "a]b"));
  EXPECT_TRUE(glob_matches("a[b-]c", "a-c"));
  EXPECT_TRUE(glob_matches("a[bc", "a[bc"));
  EXPECT_TRUE(glob_matches("*a*b", "xxaxxaxxb"));
  EXPECT_FALSE(glob_matches("", "a"));
  EXPECT_FALSE(glob_matches("hog", "hogs"));
  EXPECT_FALSE(glob_matches("hog?", "hog"));
  EXPECT_FALSE(glob_matches("mi[0-3]", "mi4"));
  EXPECT_FALSE(glob_matches("mi[!0-3]", "mi2"));
  EXPECT_FALSE(glob_matches("Hog", "hog"));
}

TEST(glob_matches, ends_soon_on_many_stars) {
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern += "*a";
  EXPECT_FALSE(glob_matches(pattern + "b", std::string(2'000, 'a')));
}

bool matches_by_definition(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') {
    return matches_by_definition(pattern.substr(1), name) ||
           (!name.empty() && matches_by_definition(pattern, name.substr(1)));
  }
  if (name.empty() || (pattern.front() != '?' && pattern.front() != name.front())) return false;
  return matches_by_definition(pattern.substr(1), name.substr(1));
}

TEST(glob_matches, agrees_with_the_recursive_definition) {
  EXPECT_TRUE(rc::check("glob", [] {
    const auto size = rc::gen::inRange<std::size_t>(0, 12);
    const auto pattern =
        *rc::gen::container<std::string>(*size, rc::gen::element('*', '?', 'a', 'b'));
    const auto name = *rc::gen::container<std::string>(*size, rc::gen::element('a', 'b'));
    RC_ASSERT(glob_matches(pattern, name) == matches_by_definition(pattern, name));
  }));
}

TEST(nearest_name, finds_what_was_meant) {
  constexpr std::array<std::string_view, 4> names{"RUN_TO_PARITY", "PLACE_LAG",
                                                  "PLACE_REL_DEADLINE", "DELAY_DEQUEUE"};
  EXPECT_EQ(nearest_name("RUN_TO_PARTIY", names), "RUN_TO_PARITY");
  EXPECT_EQ(nearest_name("place_lag", names), "PLACE_LAG");
  EXPECT_EQ(nearest_name("PLACELAG", names), "PLACE_LAG");
  EXPECT_EQ(nearest_name("DELAY_DQUEU", names), "DELAY_DEQUEUE");
  EXPECT_EQ(nearest_name("HRTICK", names), std::nullopt);
  EXPECT_EQ(nearest_name("", names), std::nullopt);
  EXPECT_EQ(nearest_name(std::string(100'000, 'P'), names), std::nullopt);
}

TEST(nearest_name, proposes_nothing_that_shares_no_letter) {
  constexpr std::array<std::string_view, 2> names{"hz", "hog"};
  EXPECT_EQ(nearest_name("qw", names), std::nullopt);
  EXPECT_EQ(nearest_name("zh", names), "hz");
}

TEST(nearest_name, takes_the_first_of_several_as_near) {
  constexpr std::array<std::string_view, 2> names{"linux-6.12", "linux-6.11"};
  EXPECT_EQ(nearest_name("linux-6.1x", names), "linux-6.12");
}

}  // namespace
}  // namespace vlag

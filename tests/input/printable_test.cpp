// SPDX-License-Identifier: Apache-2.0
#include "input/printable.hpp"

#include <gtest/gtest.h>

namespace vlag {
namespace {

TEST(printable, keeps_text) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("kworker/0:1H ~\\"), "kworker/0:1H ~\\");
  EXPECT_EQ(printable("\u00a0\u00fc\u20ac\U0001f600"), "\u00a0\u00fc\u20ac\U0001f600");
}

TEST(printable, escapes_control_characters) {
  EXPECT_EQ(printable("a\x1b[2J\a\t\r\n\x7f"), "a\\x1b[2J\\x07\\x09\\x0d\\x0a\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");  // CSI in one character
}

TEST(printable, escapes_bytes_that_are_no_utf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("a\x80z"), "a\\x80z");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");                    // cut short
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond the last
}

}  // namespace
}  // namespace vlag

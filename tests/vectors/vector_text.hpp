// SPDX-License-Identifier: Apache-2.0
//
// Vectors as text that a test can spoil.
#pragma once

#include "input/input_error.hpp"
#include "input/line_reader.hpp"
#include "vectors/verify.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

// The header and the first operations of a recorded vector ("eevdf/hogs3_equal").
inline std::vector<std::string> recorded_lines(const std::string& name, std::size_t operations) {
  line_reader reader(VLAG_TEST_DATA "/vectors/" + name + ".jsonl.xz");
  std::vector<std::string> lines;
  std::string_view line;
  while (lines.size() <= operations && reader.next(line)) lines.emplace_back(line);
  return lines;
}

// What verifying a text comes to: an error, or totals with what was printed.
struct verdict {
  std::string error;  // without the file name; empty: none
  verify_totals totals;
  std::string printed;
};

inline verdict verify_text(std::string_view text) {
  static const std::string path =
      testing::TempDir() + "vlag_vector_" + std::to_string(getpid()) + ".jsonl";
  std::ofstream(path, std::ios::binary) << text;
  verdict result;
  std::ostringstream out;
  try {
    verify_vector(path, result.totals, out);
  } catch (const input_error& e) {
    result.error = e.what();
    EXPECT_EQ(result.error.rfind(path, 0), 0U) << result.error;
    result.error.erase(0, path.size());
    EXPECT_EQ(result.error.find('\n'), std::string::npos) << result.error;
  }
  result.printed = out.str();
  std::remove(path.c_str());
  return result;
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

}  // namespace vlag

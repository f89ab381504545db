// SPDX-License-Identifier: Apache-2.0
//
// Golden vectors: logs of operations on a scheduling policy of a reference kernel, with its state
// after each. A file (JSON lines, plain or compressed) is one vector: a header line, whose "format"
// says of which kind it is, then an operation a line. See driver.hpp for the kinds.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace vlag {

struct verify_totals {
  std::uint64_t vectors = 0;
  std::uint64_t operations = 0;   // driven and compared
  std::uint64_t differences = 0;  // vectors that differ somewhere
};

// The files that a path stands for: itself, or all *.jsonl, plain or compressed, of a directory,
// sorted by name. Throws input_error: a directory without any.
[[nodiscard]] std::vector<std::string> vector_files(const std::string& path);

// Drives this build's policy with one vector and compares after each operation. At the first
// difference it is printed to out, with both states, and the rest of the vector is left.
// Throws input_error: FILE:LINE, what is wrong, what was expected.
void verify_vector(const std::string& path, verify_totals& totals, std::ostream& out);

}  // namespace vlag

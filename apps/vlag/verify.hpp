// SPDX-License-Identifier: Apache-2.0
//
// vlag verify VECTOR...: this build's policy against recorded kernel decisions.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace vlag {

// Verifies each vector and each vector of each directory, prints differences as they are found, and
// ends with "N vectors, M operations, D differences".
// Returns 0 when D is 0, else 1. Throws input_error at the first malformed vector.
int run_verify(const std::vector<std::string>& paths, std::ostream& out);

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// The one way in which a reader says no to its input: a line for the user that says what is wrong,
// where (file, line or byte offset) and what was expected. The command prints it and exits with 2.
#pragma once

#include <stdexcept>
#include <string>

namespace vlag {

class input_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace vlag

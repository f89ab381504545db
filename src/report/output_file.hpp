// SPDX-License-Identifier: Apache-2.0
//
// Result files: written whole or not at all.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace vlag {

// Says no early, before work is done for a file that cannot be written: its folder is missing or
// not writable, or it is a folder itself. Throws input_error.
void require_writable(const std::string& path);

// Says no when the result would replace an input, "-" being standard input. Throws input_error.
void require_other_file(const std::string& path, const std::string& input);

// Two names of one file, whether it exists or not.
[[nodiscard]] bool same_output(const std::string& path, const std::string& other);

// Writes a new file beside and renames it; a symbolic link stays and its target is replaced; a
// device or pipe is written to directly. Throws input_error; then nothing of the old file is lost.
void write_whole_file(const std::string& path, std::string_view content);

// The same in pieces, for what is too large to hold: nothing is at `path` before finish(), and
// nothing is left when the writer goes without. (A device or pipe gets the pieces as they come.)
class whole_file {
 public:
  explicit whole_file(const std::string& path);
  ~whole_file();
  whole_file(const whole_file&) = delete;
  whole_file& operator=(const whole_file&) = delete;

  void write(std::string_view piece);
  // Requires: no write() or finish() follows.
  void finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// Inputs for tests of readers: a file that lives as long as the object, its content compressed on
// demand, and standard input fed from a text.
#pragma once

#include <string>
#include <string_view>
#include <thread>

namespace vlag::test {

class scratch_file {
 public:
  explicit scratch_file(std::string_view content);
  ~scratch_file();
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

[[nodiscard]] std::string gzip(std::string_view content);
[[nodiscard]] std::string xz(std::string_view content);
[[nodiscard]] std::string zstd(std::string_view content);

// While it lives, descriptor 0 is a pipe that carries `content`.
class fed_stdin {
 public:
  explicit fed_stdin(std::string content);
  ~fed_stdin();
  fed_stdin(const fed_stdin&) = delete;
  fed_stdin& operator=(const fed_stdin&) = delete;

 private:
  int saved_ = -1;
  std::thread writer_;
};

}  // namespace vlag::test

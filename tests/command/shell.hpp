// SPDX-License-Identifier: Apache-2.0
//
// A folder that goes with the object, and lines for a shell that are run in it.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace vlag::test {

class scratch_shell {
 public:
  struct outcome {
    int code;
    std::string out;
    std::string err;
  };

  scratch_shell() {
    std::string name = (std::filesystem::temp_directory_path() / "vlag-shell-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) folder_ = name;
  }
  ~scratch_shell() { std::filesystem::remove_all(folder_); }
  scratch_shell(const scratch_shell&) = delete;
  scratch_shell& operator=(const scratch_shell&) = delete;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] outcome run(const std::string& line) const {
    const std::string whole =
        "cd '" + folder_.string() + "' && { " + line + "\n} >.stdout 2>.stderr </dev/null";
    const int status = std::system(whole.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(".stdout"), content(".stderr")};
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace vlag::test

// SPDX-License-Identifier: Apache-2.0
//
// Gives a target each file of a folder once: what a build without libFuzzer does.
#include "fuzz_input.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

int main(int argc, char** argv) {
  unsigned given = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(file), {}};
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++given;
    }
  }
  std::printf("%u inputs\n", given);
  return given > 0 ? 0 : 1;
}

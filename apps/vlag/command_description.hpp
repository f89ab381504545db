// SPDX-License-Identifier: Apache-2.0
//
// What the command line accepts, read from its definitions: man pages and completion are made of
// it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace vlag {

struct described_option {
  std::vector<std::string> spellings;  // "-s", "--sort"; of a positional its name: "TRACE"
  bool positional = false;
  bool required = false;
  bool repeats = false;
  std::string argument;              // "SPEC"; empty: a flag
  std::vector<std::string> choices;  // the values there are, when they can be listed
  bool takes_file = false;
  std::string meaning;        // one line
  std::string default_value;  // empty: none
};

struct described_command {
  std::vector<std::string> path;  // "vlag", "trace", "info"
  std::string summary;
  std::string more;                       // empty: nothing more to say
  std::string exit_status;                // "0 done, 1 …"
  std::string example;                    // lines of shell, not indented
  std::vector<described_option> options;  // positionals first
  std::vector<described_command> commands;

  // The path's parts with that between them.
  [[nodiscard]] std::string title(char between) const;
};

// Without what is hidden from help.
[[nodiscard]] described_command describe(const CLI::App& app);

}  // namespace vlag

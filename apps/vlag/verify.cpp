// SPDX-License-Identifier: Apache-2.0
#include "verify.hpp"

#include "vectors/verify.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>

namespace vlag {

int run_verify(const std::vector<std::string>& paths, std::ostream& out) {
  verify_totals totals;
  for (const auto& path : paths) {
    for (const auto& file : vector_files(path)) verify_vector(file, totals, out);
  }
  out << fmt::format("{} vectors, {} operations, {} differences\n", totals.vectors,
                     totals.operations, totals.differences);
  return totals.differences == 0 ? 0 : 1;
}

void add_verify_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "verify", "check this build's policy against recorded decisions of a reference kernel");
  command->footer(
      "Prints the first difference of each vector with both states. Exit code: 0 no difference, 1 "
      "differences, 2 a malformed vector.\n\nExample:\n  vlag verify tests/data/vectors/eevdf");
  auto paths = std::make_shared<std::vector<std::string>>();
  command
      ->add_option("VECTOR", *paths,
                   "vectors (JSON lines, plain or compressed), directories of them, or - for "
                   "standard input")
      ->required();
  command->callback([paths, &exit_code] { exit_code = run_verify(*paths, std::cout); });
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "verify.hpp"

#include "vectors/verify.hpp"

#include <fmt/format.h>

#include <ostream>

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

}  // namespace vlag

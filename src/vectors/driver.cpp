// SPDX-License-Identifier: Apache-2.0
#include "vectors/driver.hpp"

#include <array>

namespace vlag {

std::span<const vector_kind> vector_kinds() noexcept {
  static constexpr std::array<vector_kind, 5> kinds = {{
      {"eevdf-oracle-1", make_eevdf_driver},
      {"cfs-oracle-1", make_cfs_driver},
      {"pelt-1", make_pelt_driver},
      {"eevdf-hier-1", make_eevdf_groups_driver},
      {"cfs-hier-1", make_cfs_groups_driver},
  }};
  return kinds;
}

}  // namespace vlag

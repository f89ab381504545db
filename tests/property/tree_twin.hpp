// SPDX-License-Identifier: Apache-2.0
//
// The EEVDF class and its exact model side by side: after every operation all that can be seen of
// both must be equal.
#pragma once

#include "core/grouped_cpu.hpp"
#include "property/tree_model.hpp"
#include "property/tree_pair.hpp"

#include <string>

namespace vlag::test {

class tree_twin : public tree_pair<grouped_cpu, tree_model> {
 public:
  using tree_pair::tree_pair;

  // What differs now, in words; empty: nothing.
  [[nodiscard]] std::string difference();

 private:
  void compare_queue(int g, std::string& found);
  void compare_bandwidth(int g, std::string& found) const;
  void compare_entity(int who, std::string& found) const;
};

}  // namespace vlag::test

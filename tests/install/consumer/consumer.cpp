// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "vlag/weight.hpp"

int main() {
  const vlag::load_weight weight = vlag::weight_of_nice(5);
  std::printf("3 ms at nice 5: %llu virtual ns\n",
              static_cast<unsigned long long>(vlag::to_virtual(3'000'000, weight)));
}

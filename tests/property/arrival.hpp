// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace vlag::test {

// How an entity comes onto a queue of a model.
enum class arrival { of_fork, of_wake, other };

}  // namespace vlag::test

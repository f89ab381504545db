// SPDX-License-Identifier: Apache-2.0
// The timeline without vector instructions.
#include "core/timeline_layout.hpp"

#include <bit>
#include <cstdint>
#include <new>

namespace vlag::detail {
namespace {

#include "core/timeline_vector_plain.inl"

#include "core/timeline_code.inl"

}  // namespace

const timeline_code timeline_code_plain = code;

}  // namespace vlag::detail

// SPDX-License-Identifier: Apache-2.0
// The timeline for processors with AVX2.
#if defined(__x86_64__)

#include "core/timeline_layout.hpp"

#include <bit>
#include <cstdint>
#include <new>

#include <immintrin.h>

// Everything above is built for any processor; what follows only runs on one that has these.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2")
#endif

namespace vlag::detail {
namespace {

#include "core/timeline_vector_avx2.inl"

#include "core/timeline_code.inl"

}  // namespace

const timeline_code timeline_code_avx2 = code;

}  // namespace vlag::detail

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif

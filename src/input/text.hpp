// SPDX-License-Identifier: Apache-2.0
//
// Small texts that users type: durations, numbers, name patterns, and the nearest name to a
// misspelt one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace vlag {

// "0.1ms", "700us", "3s", "250000" (ns) to ns, exactly (no floating point); units ns, us, ms, s.
// nullopt: not a duration, negative, below 1 ns resolution, or above 2^63 - 1 ns.
[[nodiscard]] std::optional<std::uint64_t> parse_duration(std::string_view text) noexcept;

// A decimal integer with an optional sign, in full; nullopt when it is not one or does not fit.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;

// ns as a user reads it: the shortest exact form among s, ms, us, ns ("0.1ms" gives "100us").
[[nodiscard]] std::string format_duration(std::uint64_t ns);

// Shell-style pattern over the whole name: * ? [abc]. Linear time in practice, no recursion.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view name) noexcept;

// The candidate with the smallest edit distance, if it is near enough to be meant.
[[nodiscard]] std::optional<std::string_view> nearest_name(
    std::string_view name, std::span<const std::string_view> candidates);

}  // namespace vlag

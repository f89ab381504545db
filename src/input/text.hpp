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

// ns as a user reads it: the shortest exact form among s, ms, us, ns that does not begin with "0."
// ("0.1ms" gives "100us", 1500000 ns "1.5ms"); of two as short the larger unit. 0 is "0s".
// parse_duration() gives the same ns back.
[[nodiscard]] std::string format_duration(std::uint64_t ns);

// Shell-style pattern over the whole name: * ? [abc] [a-z] [!abc]; a '[' that is not closed stands
// for itself. Linear time in practice, O(pattern * name) at worst, no recursion.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view name) noexcept;

// Whether a name means itself only, or may match others.
[[nodiscard]] constexpr bool is_glob(std::string_view pattern) noexcept {
  return pattern.find_first_of("*?[") != std::string_view::npos;
}

// The candidate with the smallest edit distance (insert, delete, replace, swap of neighbours; case
// does not count), if it is near enough to be meant: at most max(2, a third of the name) and not
// all of it. The first of several as near.
[[nodiscard]] std::optional<std::string_view> nearest_name(
    std::string_view name, std::span<const std::string_view> candidates);

}  // namespace vlag

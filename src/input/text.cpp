// SPDX-License-Identifier: Apache-2.0
#include "input/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <vector>

namespace vlag {
namespace {

struct time_unit {
  std::string_view name;
  std::uint64_t ns;
};

constexpr std::array<time_unit, 4> units{
    {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}}};

constexpr std::uint64_t longest_ns = std::numeric_limits<std::int64_t>::max();

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view take_digits(std::string_view& text) noexcept {
  const auto stop = std::find_if_not(text.begin(), text.end(), is_digit);
  const std::string_view digits = text.substr(0, static_cast<std::size_t>(stop - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

// Adds digits * unit_ns; false on overflow.
bool add_whole(std::string_view digits, std::uint64_t unit_ns, std::uint64_t& total) noexcept {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || stop != digits.data() + digits.size()) return false;
  return !__builtin_mul_overflow(value, unit_ns, &total);
}

// The fraction's value in ns; nullopt when it is no whole number of them.
std::optional<std::uint64_t> fraction_ns(std::string_view digits, std::uint64_t unit_ns) noexcept {
  std::uint64_t total = 0;
  for (const char digit : digits) {
    const auto value = static_cast<std::uint64_t>(digit - '0');
    unit_ns /= 10;
    if (unit_ns == 0 && value != 0) return std::nullopt;
    total += value * unit_ns;
  }
  return total;
}

// "1.5" for 1'500'000 in ms.
std::string in_unit(std::uint64_t ns, const time_unit& unit) {
  std::string text = std::to_string(ns / unit.ns);
  std::uint64_t rest = ns % unit.ns;
  if (rest > 0) text += '.';
  for (std::uint64_t place = unit.ns / 10; rest > 0; place /= 10) {
    text += static_cast<char>('0' + rest / place);
    rest %= place;
  }
  text += unit.name;
  return text;
}

// Matches one name character against the bracket set that starts at pattern[at] == '['. Gives the
// position after the set, or npos when no ']' closes it.
std::size_t match_set(std::string_view pattern, std::size_t at, char c, bool& matched) noexcept {
  std::size_t i = at + 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  bool found = false;
  for (bool first = true; i < pattern.size() && (first || pattern[i] != ']'); first = false) {
    const char low = pattern[i];
    char high = low;
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      high = pattern[i + 2];
      i += 2;
    }
    const auto value = static_cast<unsigned char>(c);
    found |= static_cast<unsigned char>(low) <= value && value <= static_cast<unsigned char>(high);
    ++i;
  }
  matched = found != negated;
  return i < pattern.size() ? i + 1 : std::string_view::npos;
}

// One pattern element, no star, against one character; moves `at` behind it when it fits.
bool match_one(std::string_view pattern, std::size_t& at, char c) noexcept {
  if (pattern[at] == '[') {
    bool matched = false;
    const std::size_t after = match_set(pattern, at, c, matched);
    if (after != std::string_view::npos) {
      if (matched) at = after;
      return matched;
    }
  }
  if (pattern[at] != '?' && pattern[at] != c) return false;
  ++at;
  return true;
}

// Edits between two names: insert, delete, replace, swap two neighbours; case does not count.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> before_last(width);
  std::vector<std::size_t> last(width);
  std::vector<std::size_t> row(width);
  for (std::size_t j = 0; j < width; ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j < width; ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0U : 1U)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::uint64_t> parse_duration(std::string_view text) noexcept {
  const std::string_view whole = take_digits(text);
  if (whole.empty()) return std::nullopt;
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = take_digits(text);
    if (fraction.empty()) return std::nullopt;
  }
  if (text.empty()) text = "ns";
  const auto unit = std::find_if(units.begin(), units.end(),
                                 [text](const time_unit& u) { return u.name == text; });
  if (unit == units.end()) return std::nullopt;
  std::uint64_t total = 0;
  if (!add_whole(whole, unit->ns, total)) return std::nullopt;
  const auto rest = fraction_ns(fraction, unit->ns);
  if (!rest || total > longest_ns || *rest > longest_ns - total) return std::nullopt;
  return total + *rest;
}

std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.empty() || !is_digit(text.front())) return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string format_duration(std::uint64_t ns) {
  if (ns == 0) return "0s";
  std::string shortest;
  for (const time_unit& unit : units) {
    if (ns < unit.ns) continue;
    std::string form = in_unit(ns, unit);
    if (shortest.empty() || form.size() < shortest.size()) shortest = std::move(form);
  }
  return shortest;
}

bool glob_matches(std::string_view pattern, std::string_view name) noexcept {
  std::size_t at = 0;
  std::size_t i = 0;
  std::size_t star = std::string_view::npos;  // last star seen, and where it began to match
  std::size_t star_from = 0;
  while (i < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      star_from = i;
    } else if (at < pattern.size() && match_one(pattern, at, name[i])) {
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++star_from;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

std::optional<std::string_view> nearest_name(std::string_view name,
                                             std::span<const std::string_view> candidates) {
  constexpr std::size_t longest_name = 256;  // beyond, nobody meant one of ours
  if (name.empty() || name.size() > longest_name) return std::nullopt;
  const std::size_t most = std::max<std::size_t>(2, name.size() / 3);
  std::optional<std::string_view> best;
  std::size_t best_distance = most + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    const bool nothing_kept = distance >= std::max(name.size(), candidate.size());
    if (distance >= best_distance || nothing_kept) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// When the rule of `eligibility` may be replaced by a comparison with the average.
//
// Let W = weight > 0, d = floor(sum / W) and x = v - reference as a signed number. While
// |x| <= reach = 2^(62 - bits of W), x * W does not leave +-2^62, so it has not wrapped, and
// sum >= x * W is the same as d >= x. Cutting d to +-2^61 changes no such comparison, as
// reach <= 2^61, and keeps (value - v) within 2^62: its sign is the answer.
struct exact_average {
  std::uint64_t value = 0;  // reference + d
  std::uint64_t reach = 0;  // 0: there is none

  explicit exact_average(const eligibility& test) noexcept {
    if (test.weight <= 0 || test.weight >> 60 != 0) return;
    constexpr std::int64_t farthest = std::int64_t{1} << 61;
    std::int64_t quotient = 0;
    if (test.sum < 0 || test.sum >= test.weight) {
      quotient = test.sum / test.weight;
      if (test.sum % test.weight < 0) --quotient;
    }
    if (quotient > farthest) quotient = farthest;
    if (quotient < -farthest) quotient = -farthest;
    value = test.reference + static_cast<std::uint64_t>(quotient);
    reach = std::uint64_t{1} << (62 - std::bit_width(static_cast<std::uint64_t>(test.weight)));
  }
  [[nodiscard]] bool exists() const noexcept { return reach != 0; }
};

// SPDX-License-Identifier: Apache-2.0
//
// Vectors with bytes, arguments and lines spoilt at random: each is verified, differs or is refused
// in one line; none crashes (run it under the sanitizers too).
#include "vectors/vector_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace vlag {
namespace {

class spoiler {
 public:
  explicit spoiler(std::uint64_t seed) : random_(seed) {}

  std::string spoil(std::vector<std::string> lines) {
    for (std::size_t n = 1 + below(3); n > 0; --n) {
      switch (below(4)) {
        case 0:
          spoil_line(lines);
          break;
        case 1:
          spoil_number(lines[below(lines.size())]);
          break;
        default:
          spoil_byte(lines[below(lines.size())]);
          break;
      }
    }
    std::string text = joined(lines);
    if (below(16) == 0) text.resize(below(text.size()));
    return text;
  }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

  void spoil_byte(std::string& line) {
    if (line.empty()) return;
    static constexpr std::string_view likely = "0123456789-{}[]\",:eE.ntf\\ ";
    const std::size_t at = below(line.size());
    switch (below(4)) {
      case 0:
        line[at] = static_cast<char>(below(256));
        break;
      case 1:
        line.erase(at, 1 + below(4));
        break;
      case 2:
        line.insert(at, 1, likely[below(likely.size())]);
        break;
      default:
        line[at] = likely[below(likely.size())];
        break;
    }
  }

  void spoil_number(std::string& line) {
    static constexpr std::array<const char*, 12> odd = {"0",
                                                        "1",
                                                        "-1",
                                                        "-9223372036854775808",
                                                        "9223372036854775807",
                                                        "9223372036854775808",
                                                        "18446744073709551615",
                                                        "18446744073709551616",
                                                        "4294967296",
                                                        "2147483647",
                                                        "100000",
                                                        "1e400"};
    // Arguments stand before the state: the first few numbers are spoilt most often.
    const std::size_t skip = below(below(2) == 0 ? 4 : 60);
    std::size_t at = line.find(':');
    for (std::size_t i = 0; i < skip && at != std::string::npos; ++i) at = line.find(':', at + 1);
    if (at == std::string::npos) return;
    const std::size_t end = line.find_first_of(",}]", at);
    if (end != std::string::npos) line.replace(at + 1, end - at - 1, odd[below(odd.size())]);
  }

  void spoil_line(std::vector<std::string>& lines) {
    const auto at = static_cast<std::ptrdiff_t>(below(lines.size()));
    switch (below(3)) {
      case 0:
        if (lines.size() > 1) lines.erase(lines.begin() + at);
        break;
      case 1:
        lines.insert(lines.begin() + at, lines[below(lines.size())]);
        break;
      default:
        std::swap(lines[static_cast<std::size_t>(at)], lines[below(lines.size())]);
        break;
    }
  }

  std::mt19937_64 random_;
};

void never_crashes(const std::string& name, std::uint64_t rounds, std::uint64_t one_in = 10) {
  const auto lines = recorded_lines(name, 60);
  ASSERT_EQ(lines.size(), 61U);
  std::uint64_t refused = 0;
  std::uint64_t differing = 0;
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    SCOPED_TRACE(testing::Message() << name << ", seed " << seed);
    const verdict found = verify_text(spoiler(seed).spoil(lines));
    refused += found.error.empty() ? 0 : 1;
    differing += found.totals.differences;
  }
  EXPECT_GT(refused, rounds / one_in);
  EXPECT_GT(differing, rounds / 20);
}

TEST(mutation, eevdf_never_crashes) {
  never_crashes("eevdf/rand_setattr", 1500);
  never_crashes("eevdf/unit_reweight", 1500);
}
TEST(mutation, cfs_never_crashes) {
  never_crashes("cfs/rand_setattr", 1500);
  never_crashes("cfs/unit_reweight", 1500);
}
TEST(mutation, groups_never_crash) {
  never_crashes("hierarchy/rand_groupchurn", 1500);
  never_crashes("hierarchy/rand_bw_lat", 1500);
  never_crashes("cfs-hierarchy/rand_deep", 1500);
  never_crashes("cfs-hierarchy/rand_yield", 1500);
}

TEST(mutation, pelt_never_crashes) {
  never_crashes("pelt/rand_groups_1", 1500, 20);
  never_crashes("pelt/rand_unit_1", 1500, 20);
}

}  // namespace
}  // namespace vlag

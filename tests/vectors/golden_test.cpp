// SPDX-License-Identifier: Apache-2.0
//
// Every recorded vector, one test each: the policy decides as the reference did.
#include "vectors/verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>

namespace vlag {
namespace {

const std::string data = VLAG_TEST_DATA "/vectors/";

// Vectors of a folder, named without the path that all share.
std::vector<std::string> vectors_in(const std::string& folder) {
  std::vector<std::string> names = vector_files(data + folder);
  for (auto& name : names) name.erase(0, data.size());
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).filename().string();
  name.resize(name.find('.'));
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

class golden : public testing::TestWithParam<std::string> {};

TEST_P(golden, decides_as_recorded) {
  verify_totals totals;
  std::ostringstream out;
  verify_vector(data + GetParam(), totals, out);
  EXPECT_EQ(totals.differences, 0U) << out.str();
  EXPECT_GT(totals.operations, 10U);
}

INSTANTIATE_TEST_SUITE_P(eevdf, golden, testing::ValuesIn(vectors_in("eevdf")), test_name);
INSTANTIATE_TEST_SUITE_P(cfs, golden, testing::ValuesIn(vectors_in("cfs")), test_name);
INSTANTIATE_TEST_SUITE_P(pelt, golden, testing::ValuesIn(vectors_in("pelt")), test_name);

INSTANTIATE_TEST_SUITE_P(hierarchy, golden, testing::ValuesIn(vectors_in("hierarchy")), test_name);
INSTANTIATE_TEST_SUITE_P(cfs_hierarchy, golden, testing::ValuesIn(vectors_in("cfs-hierarchy")),
                         test_name);

// None of the 235 vectors can go missing unnoticed.
TEST(golden_set, is_complete) {
  EXPECT_EQ(vectors_in("eevdf").size(), 63U);
  EXPECT_EQ(vectors_in("cfs").size(), 40U);
  EXPECT_EQ(vectors_in("hierarchy").size(), 59U);
  EXPECT_EQ(vectors_in("cfs-hierarchy").size(), 38U);
  EXPECT_EQ(vectors_in("pelt").size(), 35U);
}

}  // namespace
}  // namespace vlag

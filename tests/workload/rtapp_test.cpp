// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>

#include "input/input_error.hpp"
#include "workload/rtapp_run.hpp"

namespace vlag {
namespace {

std::string refusal(std::string_view text) {
  try {
    static_cast<void>(
        run_rtapp(parse_rtapp(text, "w", {}), parse_variant("linux-6.12", {}, 1, 4'000'000), {}));
  } catch (const input_error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(rtapp, what_is_wrong_is_told_with_its_place) {
  EXPECT_EQ(refusal("{\"tasks\":{\"a\":{\n\"run\":-1}}}"),
            "w:2:7: \"run\" is -1; expected 0 to 1000000000000");
  EXPECT_EQ(refusal(R"({"tasks":{"a":{"fork":"a"}}})").substr(0, 7), "w:1:16:");
  EXPECT_EQ(refusal(R"({"tasks":{"a":{"slep":1}}})").substr(0, 7), "w:1:16:");
  EXPECT_EQ(refusal(R"({"tasks":{"a":{"yield":""}}})").substr(0, 7), "w:1:16:");
  EXPECT_EQ(refusal(R"({"tasks":{"a":{"loop":1,"run":1,'run':2,"suspend",},}/**/})"), "accepted");
}

TEST(rtapp, equal_keys_count_in_order_unless_strict) {
  const std::string_view text = R"({"tasks":{"a":{"loop":1,"run":1000,"run":3000}}})";
  const policy_variant variant = parse_variant("linux-6.12", {}, 1, 4'000'000);
  EXPECT_EQ(run_rtapp(parse_rtapp(text, "w", {}), variant, {}).tasks.at(0).cpu_ns, 4'000'000U);
  const rtapp_workload strict = parse_rtapp(text, "w", {key_reading::strict, 0});
  EXPECT_EQ(run_rtapp(strict, variant, {}).tasks.at(0).cpu_ns, 3'000'000U);
  EXPECT_EQ(strict.warnings.size(), 1U);
}

// Debian's examples, when its package is installed.
TEST(rtapp, the_examples_of_the_real_program_run) {
  const std::filesystem::path folder = "/usr/share/doc/rt-app/examples/tutorial";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "rt-app is not installed";
  rtapp_run_options options;
  options.duration_ns = 100'000'000;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const rtapp_workload w = read_rtapp(file.path().string(), {});
    EXPECT_FALSE(
        run_rtapp(w, parse_variant("linux-6.12", {}, w.cpus, 4'000'000), options).tasks.empty());
  }
}

}  // namespace
}  // namespace vlag

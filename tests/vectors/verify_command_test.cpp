// SPDX-License-Identifier: Apache-2.0
//
// vlag verify: files and directories, the last line, the exit code.
#include "../../apps/vlag/verify.hpp"
#include "vectors/vector_text.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace vlag {
namespace {

const std::string data = VLAG_TEST_DATA "/vectors/";

TEST(verify_command, all_recorded_vectors_agree) {
  std::ostringstream out;
  EXPECT_EQ(run_verify({data + "eevdf", data + "cfs", data + "hierarchy", data + "cfs-hierarchy",
                        data + "pelt"},
                       out),
            0);
  EXPECT_EQ(out.str(), "235 vectors, 124587 operations, 0 differences\n");
}

TEST(verify_command, goes_on_after_a_difference) {
  auto lines = recorded_lines("cfs/hogs3_equal", 30);
  const std::string flag = "\"resched\":";
  const auto at = lines[20].find(flag) + flag.size();
  lines[20][at] = lines[20][at] == '0' ? '1' : '0';
  const std::string altered = testing::TempDir() + "vlag_altered.jsonl";
  std::ofstream(altered) << joined(lines);
  std::ostringstream out;
  EXPECT_EQ(run_verify({altered, data + "cfs/tie_fifo.jsonl.xz", altered}, out), 1);
  std::filesystem::remove(altered);
  EXPECT_EQ(out.str().rfind(altered + ": operation 20 (", 0), 0U) << out.str();
  EXPECT_NE(out.str().find("line 21: resched: expected "), std::string::npos);
  EXPECT_TRUE(out.str().ends_with("\n3 vectors, 200 operations, 2 differences\n")) << out.str();
}

TEST(verify_command, a_malformed_vector_is_an_input_error) {
  std::ostringstream out;
  EXPECT_THROW(run_verify({data + "eevdf/INDEX.tsv"}, out), input_error);
  EXPECT_THROW(run_verify({data + "no_such_file"}, out), input_error);
  EXPECT_THROW(run_verify({data}, out), input_error);
}

TEST(verify_command, is_chosen_on_the_command_line) {
  CLI::App app("test");
  int exit_code = -1;
  add_verify_command(app, exit_code);
  testing::internal::CaptureStdout();
  app.parse("verify " + data + "cfs/tie_fifo.jsonl.xz", false);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "1 vectors, 160 operations, 0 differences\n");
  EXPECT_EQ(exit_code, 0);
  EXPECT_THROW(app.parse("verify", false), CLI::RequiredError);
}

}  // namespace
}  // namespace vlag

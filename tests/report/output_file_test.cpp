// SPDX-License-Identifier: Apache-2.0
#include "report/output_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "input/input_error.hpp"

namespace vlag {
namespace {

namespace fs = std::filesystem;

class output_file : public ::testing::Test {
 protected:
  output_file()
      : folder_(fs::temp_directory_path() /
                ("vlag-output-" + std::to_string(::getpid()) + "-" +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::create_directories(folder_);
  }
  ~output_file() override { fs::remove_all(folder_); }

  static std::string content(const fs::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(output_file, is_written_and_replaced_whole) {
  const fs::path path = folder_ / "r.json";
  write_whole_file(path, "one");
  EXPECT_EQ(content(path), "one");
  write_whole_file(path, "two");
  EXPECT_EQ(content(path), "two");
  EXPECT_EQ(files(), 1U);
}

TEST_F(output_file, a_link_stays_a_link) {
  write_whole_file(folder_ / "target", "old");
  fs::create_symlink("target", folder_ / "link");
  write_whole_file(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(content(folder_ / "target"), "new");
}

TEST_F(output_file, a_device_is_written_to_and_left_alone) {
  write_whole_file("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THROW(write_whole_file("/dev/full", "x"), input_error);
}

TEST_F(output_file, folders_and_missing_folders_are_refused) {
  EXPECT_THROW(require_writable(folder_), input_error);
  EXPECT_THROW(require_writable(folder_ / "none" / "r.json"), input_error);
  EXPECT_THROW(write_whole_file(folder_ / "none" / "r.json", "x"), input_error);
  EXPECT_EQ(files(), 0U);
}

TEST_F(output_file, an_input_is_not_replaced) {
  const fs::path path = folder_ / "in";
  write_whole_file(path, "x");
  EXPECT_THROW(require_other_file(folder_ / "." / "in", path), input_error);
  require_other_file(folder_ / "out", path);
}

TEST_F(output_file, an_open_descriptor_is_written_on) {
  std::FILE* const open = std::fopen((folder_ / "log").c_str(), "w");
  ASSERT_NE(open, nullptr);
  std::fputs("before ", open);
  std::fflush(open);
  write_whole_file("/dev/fd/" + std::to_string(::fileno(open)), "json");
  std::fputs(" after", open);
  std::fclose(open);
  EXPECT_EQ(content(folder_ / "log"), "before json after");
  EXPECT_THROW(require_writable("/dev/fd/999"), input_error);
  std::FILE* const input = std::fopen((folder_ / "log").c_str(), "r");
  ASSERT_NE(input, nullptr);
  EXPECT_THROW(require_writable("/dev/fd/" + std::to_string(::fileno(input))), input_error);
  std::fclose(input);
}

TEST_F(output_file, two_names_of_one_file_are_noticed) {
  EXPECT_TRUE(same_output(folder_ / "a", folder_ / "." / "a"));
  fs::create_symlink("b", folder_ / "link");
  write_whole_file(folder_ / "b", "x");
  EXPECT_TRUE(same_output(folder_ / "b", folder_ / "link"));
  EXPECT_FALSE(same_output(folder_ / "a", folder_ / "b"));
}

}  // namespace
}  // namespace vlag

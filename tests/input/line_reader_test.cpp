// SPDX-License-Identifier: Apache-2.0
#include "input/line_reader.hpp"

#include "input/input_error.hpp"
#include "input/scratch_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace vlag {
namespace {

using test::fed_stdin;
using test::scratch_file;

std::vector<std::string> lines_of(const std::string& path) {
  line_reader reader(path);
  std::vector<std::string> lines;
  std::string_view line;
  while (reader.next(line)) lines.emplace_back(line);
  return lines;
}

std::vector<std::string> lines_in(std::string_view content) {
  const scratch_file file(content);
  return lines_of(file.path());
}

std::string refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const input_error& error) {
    return error.what();
  }
  return "no input_error";
}

std::string refusal_in(std::string_view content) {
  const scratch_file file(content);
  return refusal_of([&] { static_cast<void>(lines_of(file.path())); });
}

bool says(const std::string& message, std::string_view part) {
  return message.find(part) != std::string::npos && message.find('\n') == std::string::npos;
}

// Poorly compressible, so that a stream spans many blocks.
std::string long_text() {
  std::string text;
  std::uint64_t value = 88172645463325252ULL;
  for (int i = 0; i < 60'000; ++i) {
    value ^= value << 13;
    value ^= value >> 7;
    value ^= value << 17;
    text += std::to_string(value) + "\n";
  }
  return text;
}

const std::vector<std::function<std::string(std::string_view)>> compressions{test::gzip, test::xz,
                                                                             test::zstd};

TEST(line_reader, gives_lines_with_number_and_offset) {
  const scratch_file file("one\n\nthree\r\nfour");
  line_reader reader(file.path());
  std::string_view line;
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "one");
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "");
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "three");
  EXPECT_EQ(reader.line_number(), 3U);
  EXPECT_EQ(reader.byte_offset(), 5U);
  EXPECT_FALSE(reader.last_line_was_cut());
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "four");
  EXPECT_EQ(reader.byte_offset(), 12U);
  EXPECT_TRUE(reader.last_line_was_cut());
  EXPECT_FALSE(reader.next(line));
  EXPECT_FALSE(reader.next(line));
}

TEST(line_reader, a_final_line_end_opens_no_further_line) {
  EXPECT_EQ(lines_in("a\nb\n"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(lines_in("\n"), (std::vector<std::string>{""}));
}

TEST(line_reader, keeps_zero_bytes_and_lone_carriage_returns) {
  const std::string text("a\0b\rc\n", 6);
  EXPECT_EQ(lines_in(text), (std::vector<std::string>{std::string("a\0b\rc", 5)}));
}

TEST(line_reader, peeks_without_consuming) {
  const scratch_file file(std::string(10'000, 'x') + "\n");
  line_reader reader(file.path());
  EXPECT_EQ(reader.peek(), std::string(4096, 'x'));
  std::string_view line;
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line.size(), 10'000U);
  EXPECT_EQ(reader.peek().size(), 4096U);
}

TEST(line_reader, knows_how_far_it_is_in_a_file) {
  const std::string packed = test::xz(long_text());
  const scratch_file file(packed);
  line_reader reader(file.path());
  EXPECT_EQ(reader.file_size(), packed.size());
  std::string_view line;
  while (reader.next(line)) {
  }
  EXPECT_EQ(reader.bytes_consumed(), packed.size());
}

TEST(line_reader, reads_every_compression_as_the_plain_text) {
  const std::string text = long_text();
  const auto plain = lines_in(text);
  ASSERT_EQ(plain.size(), 60'000U);
  for (const auto& compress : compressions) EXPECT_EQ(lines_in(compress(text)), plain);
}

TEST(line_reader, reads_streams_put_one_after_another) {
  for (const auto& compress : compressions) {
    EXPECT_EQ(lines_in(compress("a\nb") + compress("") + compress("c\n")),
              (std::vector<std::string>{"a", "bc"}));
  }
}

TEST(line_reader, says_where_a_cut_stream_ends) {
  const std::string text = long_text();
  for (const auto& compress : compressions) {
    const std::string packed = compress(text);
    for (const std::size_t size : {packed.size() - 1, packed.size() / 2, std::size_t{20}}) {
      const std::string message = refusal_in(packed.substr(0, size));
      EXPECT_TRUE(says(message, "the stream ends early")) << message;
      EXPECT_TRUE(says(message, "near byte " + std::to_string(size))) << message;
    }
  }
}

TEST(line_reader, notices_a_changed_byte_in_a_stream) {
  const std::string text = long_text();
  for (const auto& compress : compressions) {
    std::string packed = compress(text);
    packed[packed.size() / 2] = static_cast<char>(packed[packed.size() / 2] ^ 0x10);
    const std::string message = refusal_in(packed);
    EXPECT_TRUE(says(message, "damaged")) << message;
  }
}

TEST(line_reader, notices_what_follows_a_stream) {
  for (const auto& compress : compressions) {
    const std::string message = refusal_in(compress("a\n") + "something else");
    EXPECT_TRUE(says(message, "damaged")) << message;
  }
}

TEST(line_reader, skips_zero_padding_behind_gzip) {
  EXPECT_EQ(lines_in(test::gzip("a\n") + std::string(512, '\0')), (std::vector<std::string>{"a"}));
}

TEST(line_reader, a_small_file_that_claims_a_line_of_a_gigabyte_stops_at_the_limit) {
  const std::string mebibyte(std::size_t{1} << 20, ' ');
  std::string bomb;
  const std::string packed = test::zstd(mebibyte);
  for (int i = 0; i < 1024; ++i) bomb += packed;
  ASSERT_LT(bomb.size(), 200'000U);
  const scratch_file file(bomb);
  line_reader reader(file.path());
  std::string_view line;
  const std::string message = refusal_of([&] { static_cast<void>(reader.next(line)); });
  EXPECT_TRUE(says(message, "longer than 16 MiB")) << message;
  EXPECT_LT(reader.bytes_consumed(), bomb.size() / 16);
}

TEST(line_reader, takes_a_line_of_16_mib_and_no_longer) {
  const std::string longest(line_reader::max_line_bytes, 'x');
  EXPECT_EQ(lines_in("a\n" + longest + "\nb\n")[1].size(), line_reader::max_line_bytes);
  const std::string message = refusal_in("a\n" + longest + "x\nb\n");
  EXPECT_TRUE(says(message, "line 2 (at byte 2) is longer than 16 MiB")) << message;
  EXPECT_TRUE(says(refusal_in(longest + "x"), "line 1 (at byte 0)"));
}

TEST(line_reader, reads_standard_input) {
  const std::string text = long_text();
  const fed_stdin input(test::gzip(text));
  EXPECT_EQ(lines_of("-"), lines_in(text));
}

TEST(line_reader, reads_standard_input_that_is_short_and_plain) {
  const fed_stdin input("a\nb\n");
  EXPECT_EQ(lines_of("-"), (std::vector<std::string>{"a", "b"}));
}

TEST(line_reader, refuses_what_cannot_be_read) {
  const auto refusal = [](const std::string& path) {
    return refusal_of([&] { static_cast<void>(lines_of(path)); });
  };
  EXPECT_TRUE(says(refusal("/no/such/file"), "/no/such/file: cannot open: No such file"));
  EXPECT_TRUE(says(refusal(std::filesystem::temp_directory_path().string()), "is a directory"));
  EXPECT_TRUE(says(refusal("/dev/null"), "/dev/null: is empty"));
  EXPECT_TRUE(says(refusal_in(""), "is empty"));
  for (const auto& compress : compressions) {
    EXPECT_TRUE(says(refusal_in(compress("")), "is empty once decompressed"));
  }
  const fed_stdin nothing("");
  EXPECT_TRUE(says(refusal("-"), "standard input: is empty"));
}

TEST(line_reader, refuses_a_file_without_permission) {
  const scratch_file file("a\n");
  std::filesystem::permissions(file.path(), std::filesystem::perms::none);
  const bool permitted = ::access(file.path().c_str(), R_OK) == 0;  // root may read anything
  const std::string message = refusal_of([&] { static_cast<void>(lines_of(file.path())); });
  EXPECT_TRUE(says(message, permitted ? "no input_error" : "Permission denied")) << message;
}

}  // namespace
}  // namespace vlag

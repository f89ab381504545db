// SPDX-License-Identifier: Apache-2.0
#include "trace/sniff.hpp"

#include <gtest/gtest.h>

#include <string>

namespace vlag::trace {
namespace {

using namespace std::string_literals;

void expect_described(const std::string& content, std::string_view as) {
  const std::string got = describe_content(content);
  EXPECT_TRUE(got.starts_with(as)) << "got: " << got;
}

TEST(describe_content, knows_binary_files) {
  expect_described("PERFILE2"s + std::string(96, '\0'), "perf.data");
  expect_described("2ELIFREP"s + std::string(96, '\0'), "perf.data of a big-endian");
  expect_described("\x17\x08\x44tracing6\0\0\x08"s, "trace.dat");
  expect_described(
      "\x7f"
      "ELF\x02\x01\x01"s,
      "an ELF file");
  expect_described("PK\x03\x04\x14"s, "a zip archive");
  expect_described("BZh91AY&SY"s, "bzip2");
  expect_described("\xff\xfe#\0 \0"s, "UTF-16");
  expect_described("\x1f\x8b\x08"s, "gzip data inside");
  expect_described(std::string(4096, '\0'), "binary data");
  expect_described("\x01\x02\x03\x04\x05\x06", "binary data");
}

TEST(describe_content, knows_perfetto_traces_by_their_chain_of_packets) {
  const std::string packet = "\x0a\x04\x40\x05\x50\x01"s;
  expect_described(packet + packet + packet, "a Perfetto trace");
  const std::string large = "\x0a\x80\x20\x12"s + std::string(4092, 'x');
  expect_described(large, "a Perfetto trace");
  expect_described("\n\nhello\nworld\n", "text without any ftrace event");
}

TEST(describe_content, knows_texts_that_are_something_else) {
  expect_described("  {\"traceEvents\": [{}]}", "a Chrome JSON trace");
  expect_described("{\"a\": 1}\n", "JSON");
  expect_described("[\n  {\"a\": 1}]\n", "JSON");
  expect_described("<!DOCTYPE html>\n<html>", "an HTML page");
  expect_described("<?xml version=\"1.0\"?>", "XML");
  expect_described("a,b,c\n1,2,3\n4,5,6\n", "CSV");
  expect_described("a\tb\n1\t2\n", "a table separated by tabs");
  expect_described("#!/bin/sh\necho\n", "a script");
  expect_described("[    0.000000] Linux version 6.1\n", "a kernel log");
  expect_described("\n \n\t\n", "blank lines");
  expect_described("hello\nworld\n", "text without any ftrace event");
}

TEST(describe_content, knows_traces_that_are_not_read) {
  expect_described(
      "# perf\nswapper     0 [000] 123.456789: sched:sched_switch: prev_comm=swapper/0 "
      "prev_pid=0\n",
      "the output of perf script");
  expect_described("# tracer: nop\n#\n", "an ftrace text without events");
  expect_described("# tracer: nop\n#\n# nop latency trace v1.1.5 on 6.1.0\n",
                   "ftrace text in the latency format");
  expect_described("  bash-12  [000] d..2. 123456789: sched_switch: a:1 [1] R ==> b:2 [2]\n",
                   "ftrace text with a clock that does not count seconds");
}

TEST(foreign_format, lets_text_through) {
  for (const std::string content : {"# tracer: nop\n", "cpus=4\n", "{}", "a,b\n",
                                    " <idle>-0 [000] 1.0: sched_switch: \n", "\n\n"}) {
    EXPECT_EQ(foreign_format(content), std::nullopt) << content;
  }
}

}  // namespace
}  // namespace vlag::trace

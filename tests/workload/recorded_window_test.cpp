// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "input/input_error.hpp"
#include "workload/recorded_programs.hpp"
#include "workload/recording_builder.hpp"

namespace vlag {
namespace {

using test::recording_builder;

constexpr std::uint64_t origin_us = 5'000'000;

recording_builder sample() {
  recording_builder b;
  b.run(origin_us, 0, 'R', 1).mark(origin_us + 1000, "go on: 1").mark(origin_us + 2000, "stop");
  b.mark(origin_us + 3000, "stop").run(origin_us + 4000, 1, 'S', 0);
  return b;
}

// Relative to the first event, us.
std::pair<std::uint64_t, std::uint64_t> window(const std::string& text) {
  const recorded_span span = find_window(sample().get(), text);
  return {span.from_ns / 1000 - origin_us, span.to_ns / 1000 - origin_us};
}

void refuses(const std::string& text, const std::vector<std::string>& parts) {
  try {
    static_cast<void>(window(text));
    FAIL() << text << " was accepted";
  } catch (const input_error& e) {
    const std::string message = e.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const std::string& part : parts) {
      EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
    }
  }
}

using span_us = std::pair<std::uint64_t, std::uint64_t>;

TEST(recorded_window, is_all_of_it_when_nothing_is_said) {
  EXPECT_EQ(window(""), span_us(0, 4000));
  EXPECT_EQ(window(".."), span_us(0, 4000));
}

TEST(recorded_window, takes_markers_times_and_both) {
  EXPECT_EQ(window("go on: 1..stop"), span_us(1000, 2000));
  EXPECT_EQ(window("0..1ms"), span_us(0, 1000));
  EXPECT_EQ(window("500us..stop"), span_us(500, 2000));
  EXPECT_EQ(window("stop.."), span_us(2000, 4000));
  EXPECT_EQ(window("..4000000"), span_us(0, 4000));
}

TEST(recorded_window, that_is_not_in_the_recording_is_refused) {
  refuses("go", {"'go' is not FROM..TO"});
  refuses("halt..stop", {"'halt'", "neither a marker of hand.trace nor a time"});
  refuses("-1ms..stop", {"'-1ms'"});
  refuses("0..5ms", {"5ms lies after the end of hand.trace", "spans 4ms"});
}

TEST(recorded_window, that_is_empty_or_inverted_says_where_its_ends_are) {
  refuses("1ms..1ms", {"is empty", "ends at 1ms", "begins at 1ms"});
  refuses("stop..go on: 1", {"is empty", "ends at 1ms", "begins at 2ms"});
}

TEST(recorded_window, needs_events) {
  EXPECT_THROW(static_cast<void>(find_window(trace::recording{}, "")), input_error);
  recording_builder one;
  one.run(5, 0, 'R', 1);
  try {
    static_cast<void>(find_window(one.get(), ""));
    FAIL();
  } catch (const input_error& e) {
    EXPECT_STREQ(e.what(), "hand.trace: it spans no time: all its events are at one moment");
  }
}

TEST(recorded_window, of_more_than_90_days_comes_from_a_broken_time_stamp) {
  recording_builder b;
  b.run(0, 0, 'R', 1).run(18'000'000'000'000'000, 1, 'S', 0);
  EXPECT_THROW(static_cast<void>(find_window(b.get(), "")), input_error);
  EXPECT_EQ(find_window(b.get(), "0..1s").to_ns, 1'000'000'000U);
}

}  // namespace
}  // namespace vlag

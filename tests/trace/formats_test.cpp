// SPDX-License-Identifier: Apache-2.0
//
// Recordings of a real kernel in every binary format: event for event what perf script and
// trace-cmd report print of them.
#include "input/scratch_file.hpp"
#include "trace/bundled.hpp"
#include "trace/ftrace_writer.hpp"
#include "trace/reader.hpp"
#include "trace/summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace vlag::trace {
namespace {

class keeper final : public event_visitor {
 public:
  void visit(const event& entry) override { events.push_back(entry); }
  std::vector<event> events;
};

struct visited {
  recording_info about;
  std::vector<event> events;
};

visited visit(const std::string& path) {
  visited result;
  keeper kept;
  visit_recording(path, result.about, kept);
  result.events = kept.events;
  return result;
}

void expect_same_event(const recording_info& a, const event& left, const recording_info& b,
                       const event& right) {
  ASSERT_EQ(left.time_ns, right.time_ns);
  ASSERT_EQ(kernel_name(left.kind), kernel_name(right.kind));
  ASSERT_EQ(left.cpu, right.cpu);
  ASSERT_EQ(left.pid, right.pid);
  ASSERT_EQ(left.prio, right.prio);
  ASSERT_EQ(left.other_pid, right.other_pid);
  ASSERT_EQ(left.other_prio, right.other_prio);
  ASSERT_EQ(left.target_cpu, right.target_cpu);
  ASSERT_EQ(left.amount, right.amount);
  ASSERT_EQ(left.prev_state.letter, right.prev_state.letter);
  ASSERT_EQ(left.prev_state.preempted, right.prev_state.preempted);
  ASSERT_EQ(a.strings.text(left.comm), b.strings.text(right.comm));
  ASSERT_EQ(a.strings.text(left.other_comm), b.strings.text(right.other_comm));
  ASSERT_EQ(a.strings.text(left.text), b.strings.text(right.text));
}

void expect_same_events(const visited& got, const visited& want) {
  ASSERT_EQ(got.events.size(), want.events.size());
  for (std::size_t i = 0; i < got.events.size(); ++i) {
    SCOPED_TRACE(i);
    expect_same_event(got.about, got.events[i], want.about, want.events[i]);
    ASSERT_EQ(got.events[i].context_pid, want.events[i].context_pid);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(formats, equal_what_the_tools_that_made_them_print) {
  for (const test::bundled_format& one : test::bundled_formats()) {
    SCOPED_TRACE(one.file);
    const visited got = visit(test::bundled_path(one.file));
    const visited want = visit(test::bundled_path(one.expected));
    EXPECT_EQ(got.about.format, one.format);
    EXPECT_GT(got.events.size(), 1000U);
    EXPECT_TRUE(got.about.anomalies.empty());
    EXPECT_TRUE(want.about.anomalies.empty());
    EXPECT_EQ(got.about.others.size(), want.about.others.size());
    EXPECT_EQ(got.about.other_events, want.about.other_events);
    EXPECT_EQ(got.about.cpus, 2U);
    EXPECT_EQ(got.about.resolution_ns, 1U);
    EXPECT_EQ(got.about.kernel_release, "6.18.44-example");
    EXPECT_EQ(got.about.host, "vm");
    EXPECT_EQ(got.about.clock, one.format == "perf.data" ? "perf" : "local");
    expect_same_events(got, want);
  }
}

TEST(formats, know_from_the_record_what_the_texts_do_not_say) {
  for (const test::bundled_format& one : test::bundled_formats()) {
    SCOPED_TRACE(one.file);
    const visited got = visit(test::bundled_path(one.file));
    const auto in = [&got](context_kind kind) {
      return std::count_if(got.events.begin(), got.events.end(),
                           [kind](const event& e) { return e.context == kind; });
    };
    EXPECT_EQ(in(context_kind::unknown), 0);
    EXPECT_GT(in(context_kind::hardirq), 10);
    EXPECT_GT(in(context_kind::task), 100);
    for (const event& entry : got.events) {
      if (entry.kind != event_kind::sched_switch) continue;
      ASSERT_EQ(entry.pid, entry.context_pid);
    }
  }
}

TEST(formats, are_read_whole_as_they_are_visited) {
  for (const test::bundled_format& one : test::bundled_formats()) {
    SCOPED_TRACE(one.file);
    visited want = visit(test::bundled_path(one.file));
    const recording whole = read_recording(test::bundled_path(one.file));
    ASSERT_EQ(whole.events.size(), want.events.size());
    const bool woken = std::any_of(want.events.begin(), want.events.end(),
                                   [](const event& e) { return e.kind == event_kind::wakeup; });
    for (std::size_t i = 0; i < want.events.size(); ++i) {
      event& entry = want.events[i];
      if (!woken && entry.kind == event_kind::waking) entry.kind = event_kind::wakeup;
      expect_same_event(whole, whole.events[i], want.about, entry);
    }
  }
}

// perf sched record asks for sched_waking only.
TEST(formats, have_wake_ups_without_a_sched_wakeup) {
  const recording got = read_recording(test::bundled_path("6.18-load-2cpu.perf.data.xz"));
  const auto count = [&got](event_kind kind) {
    return std::count_if(got.events.begin(), got.events.end(),
                         [kind](const event& e) { return e.kind == kind; });
  };
  EXPECT_EQ(count(event_kind::waking), 0);
  EXPECT_GT(count(event_kind::wakeup), 100);
  const recording both = read_recording(test::bundled_path("6.18-load-2cpu.v6.trace.dat.xz"));
  const auto wakings = std::count_if(both.events.begin(), both.events.end(),
                                     [](const event& e) { return e.kind == event_kind::waking; });
  EXPECT_GT(wakings, 100);
}

std::string as_ftrace(const std::string& path) {
  recording_info about;
  std::string text;
  ftrace_writer writer(about, [&text](std::string_view piece) { text += piece; });
  visit_recording(path, about, writer);
  writer.finish();
  return text;
}

TEST(ftrace_writer, writes_what_reads_back_the_same) {
  for (const test::bundled_format& one : test::bundled_formats()) {
    SCOPED_TRACE(one.file);
    const visited want = visit(test::bundled_path(one.file));
    const test::scratch_file text(as_ftrace(test::bundled_path(one.file)));
    const visited got = visit(text.path());
    EXPECT_EQ(got.about.format, "ftrace text");
    EXPECT_TRUE(got.about.anomalies.empty());
    expect_same_events(got, want);
    for (std::size_t i = 0; i < got.events.size(); ++i) {
      ASSERT_EQ(got.events[i].context, want.events[i].context);
      ASSERT_EQ(got.events[i].need_resched, want.events[i].need_resched);
    }
  }
}

TEST(ftrace_writer, keeps_microseconds_and_lines) {
  const std::string line =
      "             a b-12      [001] 1.000250: sched_waking: comm=x pid=3 prio=120 "
      "target_cpu=000\n";
  const test::scratch_file in(line);
  const std::string text = as_ftrace(in.path());
  EXPECT_NE(text.find("<...>-12      [001]     1.000250: sched_waking: comm=x pid=3 prio=120 "
                      "target_cpu=000\n"),
            std::string::npos)
      << text;
}

TEST(trace_summary, counts_what_is_there) {
  recording_info about;
  trace_summary seen;
  visit_recording(test::bundled_path("6.18-load-2cpu.perf.data.xz"), about, seen);
  EXPECT_EQ(seen.events(), 1748U);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < event_kinds; ++i) sum += seen.events(static_cast<event_kind>(i));
  EXPECT_EQ(sum, seen.events());
  EXPECT_GT(seen.tasks(), 6U);
  EXPECT_LT(seen.first_ns(), seen.last_ns());
}

}  // namespace
}  // namespace vlag::trace

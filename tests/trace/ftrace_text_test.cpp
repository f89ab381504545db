// SPDX-License-Identifier: Apache-2.0
#include "trace/event_text.hpp"

#include "input/input_error.hpp"
#include "input/scratch_file.hpp"
#include "trace/reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace vlag::trace {
namespace {

using test::scratch_file;

recording read_text(std::string_view text) {
  const scratch_file file(text);
  return read_recording(file.path());
}

std::string refusal_of(const std::string& path) {
  try {
    static_cast<void>(read_recording(path));
  } catch (const input_error& error) {
    return error.what();
  }
  return "no input_error";
}

std::string refusal_in(std::string_view text) {
  const scratch_file file(text);
  return refusal_of(file.path());
}

bool says(const std::string& message, std::string_view part) {
  return message.find(part) != std::string::npos && message.find('\n') == std::string::npos;
}

std::string at(const std::string& time, const std::string& event, const std::string& cpu = "000") {
  return "             hog-93      [" + cpu + "] d..2. " + time + ": " + event + "\n";
}

std::string switch_at(const std::string& time, const std::string& cpu = "000") {
  return at(time,
            "sched_switch: prev_comm=hog prev_pid=93 prev_prio=120 prev_state=S ==> "
            "next_comm=swapper/0 next_pid=0 next_prio=120",
            cpu);
}

const anomaly* find_anomaly(const recording& recorded, std::string_view kind) {
  const auto found = std::find_if(recorded.anomalies.begin(), recorded.anomalies.end(),
                                  [kind](const anomaly& a) { return a.kind == kind; });
  return found == recorded.anomalies.end() ? nullptr : &*found;
}

std::uint64_t count_of(const recording& recorded, std::string_view kind) {
  const anomaly* found = find_anomaly(recorded, kind);
  return found == nullptr ? 0 : found->count;
}

TEST(ftrace_text, gives_a_whole_recording) {
  const recording got =
      read_text("# tracer: nop\n#\n" + switch_at("1.000001", "002") +
                at("1.000002", "sched_wakeup: comm=hog pid=93 prio=120 target_cpu=005", "003"));
  EXPECT_EQ(got.format, "ftrace text");
  EXPECT_EQ(got.lines, 4U);
  EXPECT_EQ(got.cpus, 6U);
  EXPECT_EQ(got.resolution_ns, 1000U);
  EXPECT_TRUE(got.anomalies.empty());
  ASSERT_EQ(got.events.size(), 2U);
  EXPECT_EQ(got.events[0].where, 3U);
  EXPECT_EQ(got.events[0].cpu, 2U);
  EXPECT_EQ(got.strings.text(got.events[0].comm), "hog");
  EXPECT_EQ(got.strings.text(got.events[0].other_comm), "swapper/0");
  EXPECT_EQ(got.events[1].comm, got.events[0].comm);
}

TEST(ftrace_text, notices_nanoseconds) {
  EXPECT_EQ(read_text(switch_at("1.000001") + switch_at("1.000001001")).resolution_ns, 1U);
}

TEST(ftrace_text, takes_what_trace_cmd_prints_around_events) {
  const recording got =
      read_text("CPU 1 is empty\nversion = 7\ncpus=2\n\n" +
                at("1.000001", "sched_switch:         hog:93 [120] S ==> b:8 [120]"));
  EXPECT_EQ(got.events.size(), 1U);
  EXPECT_TRUE(got.anomalies.empty());
}

TEST(ftrace_text, counts_lost_events) {
  const recording got =
      read_text(switch_at("1.000001") + "CPU:2 [LOST 123 EVENTS]\nCPU:1 [LOST EVENTS]\n" +
                "CPU:0 [7 EVENTS DROPPED]\nCPU:0 [EVENTS DROPPED]\n");
  EXPECT_EQ(got.lost_events, 130U);
  const anomaly* lost = find_anomaly(got, "lost events");
  ASSERT_NE(lost, nullptr);
  EXPECT_EQ(lost->count, 4U);
  EXPECT_EQ(lost->first.front(), "line 2: CPU 2 lost 123 events");
  EXPECT_EQ(got.anomalies.size(), 1U);
}

TEST(ftrace_text, sorts_lines_out_of_order_and_counts_them) {
  const recording got = read_text(switch_at("1.000003") + switch_at("1.000001", "001") +
                                  switch_at("1.000001", "002") + switch_at("1.000004"));
  ASSERT_EQ(got.events.size(), 4U);
  EXPECT_EQ(got.events[0].cpu, 1U);
  EXPECT_EQ(got.events[1].cpu, 2U);
  EXPECT_EQ(got.events[2].where, 1U);
  EXPECT_EQ(count_of(got, "out of order"), 2U);
  EXPECT_EQ(find_anomaly(got, "out of order")->first.front(),
            "line 2: 2000 ns earlier than a line above it");
}

TEST(ftrace_text, does_not_trust_a_cut_last_line) {
  std::string text = switch_at("1.000001") + switch_at("1.000002");
  text.resize(text.size() - 2);  // next_prio=12
  const recording got = read_text(text);
  EXPECT_EQ(got.events.size(), 1U);
  EXPECT_EQ(count_of(got, "cut last line"), 1U);
  EXPECT_TRUE(read_text(switch_at("1.000001") + "# end").anomalies.empty());
}

TEST(ftrace_text, reads_past_malformed_lines_and_shows_the_first_five) {
  std::string text = switch_at("1.000001");
  for (int i = 0; i < 2000; ++i) text += "second line of a marker\n";
  text += at("1.000002", "sched_switch: prev_comm=hog prev_pid=") + switch_at("1.000003");
  const recording got = read_text(text);
  EXPECT_EQ(got.events.size(), 2U);
  EXPECT_EQ(count_of(got, "malformed line"), 2000U);
  EXPECT_EQ(find_anomaly(got, "malformed line")->first.size(), 5U);
  EXPECT_TRUE(find_anomaly(got, "malformed line")->first[4].starts_with("line 6: "));
  EXPECT_EQ(count_of(got, "malformed event"), 1U);
}

TEST(ftrace_text, skips_comments_and_stack_traces_between_events) {
  const recording got = read_text(switch_at("1.000001") + at("1.000001", "<stack trace>") +
                                  " => schedule\n => do_idle\n##### CPU 2 buffer started ####\n");
  EXPECT_TRUE(got.anomalies.empty());
}

TEST(ftrace_text, counts_events_of_other_kinds_by_name) {
  std::string text = switch_at("1.000001");
  for (int i = 0; i < 100; ++i) text += at("1.000002", "odd_" + std::to_string(i) + ": x");
  text += at("1.000002", "odd_3: y") + at("1.000002", "irq:irq_handler_entry: irq=1");
  const recording got = read_text(text);
  EXPECT_EQ(got.other_events, 102U);
  ASSERT_EQ(got.others.size(), 64U);
  EXPECT_EQ(got.others[3].name, "odd_3");
  EXPECT_EQ(got.others[3].count, 2U);
  EXPECT_TRUE(got.anomalies.empty());
}

TEST(ftrace_text, takes_line_ends_of_windows) {
  std::string text = "# tracer: nop\r\n";
  for (const char c : switch_at("1.000001")) text += c == '\n' ? "\r\n" : std::string(1, c);
  const recording got = read_text(text);
  EXPECT_EQ(got.events.size(), 1U);
  EXPECT_TRUE(got.anomalies.empty());
}

TEST(ftrace_text, reads_compressed_files_and_standard_input) {
  const std::string text = switch_at("1.000001") + switch_at("1.000002");
  for (const std::string& packed : {test::gzip(text), test::xz(text), test::zstd(text)}) {
    EXPECT_EQ(read_text(packed).events.size(), 2U);
  }
  const test::fed_stdin input(test::xz(text));
  const recording got = read_recording("-");
  EXPECT_EQ(got.events.size(), 2U);
  EXPECT_EQ(got.path, "standard input");
}

TEST(ftrace_text, tells_how_far_it_is) {
  std::string text;
  while (text.size() < (std::size_t{4} << 20)) text += switch_at("1.000001");
  const scratch_file file(text);
  std::vector<std::uint64_t> events;
  const auto tell = [&](std::uint64_t bytes, std::uint64_t of, std::uint64_t so_far) {
    EXPECT_LE(bytes, of);
    EXPECT_EQ(of, text.size());
    events.push_back(so_far);
  };
  const recording got = read_recording(file.path(), tell);
  ASSERT_GE(events.size(), 2U);
  EXPECT_TRUE(std::is_sorted(events.begin(), events.end()));
  EXPECT_EQ(events.back(), got.events.size());
}

TEST(read_recording, says_what_a_file_looks_like_instead) {
  EXPECT_TRUE(says(refusal_in(std::string("PERFILE2") + std::string(90, '\0')), "perf.data"));
  EXPECT_TRUE(says(refusal_in("{\"a\": 1}\n"), "looks like JSON; expected perf.data, "));
  EXPECT_TRUE(says(refusal_in("a,b\n1,2\n"), "looks like CSV"));
  EXPECT_TRUE(says(refusal_in("# tracer: nop\n#\n"), "an ftrace text without events"));
  EXPECT_TRUE(says(refusal_in(test::gzip(std::string(100, '\0'))), "binary data"));
  EXPECT_TRUE(says(refusal_in(test::gzip(test::gzip("a\n"))), "gzip data inside"));
  EXPECT_TRUE(says(refusal_in(""), "is empty"));
  EXPECT_TRUE(says(refusal_of("/no/such/trace"), "/no/such/trace: cannot open"));
  EXPECT_TRUE(says(refusal_of(std::filesystem::temp_directory_path().string()), "a directory"));
}

TEST(read_recording, gives_up_on_a_long_text_that_is_no_trace) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "no event here\n";
  // Behind a thousand lines nobody looks for the first event.
  EXPECT_TRUE(says(refusal_in(text + switch_at("1.000001")), "text without any ftrace event"));
}

TEST(read_recording, wants_a_sched_switch) {
  const std::string message =
      refusal_in(at("1.000001", "irq_handler_entry: irq=1") +
                 at("1.000002", "sched_process_exit: comm=a pid=1 prio=120"));
  EXPECT_TRUE(says(message, "no sched_switch among its 2 events (2 lines)")) << message;
}

TEST(string_table, can_be_copied) {
  recording first = read_text(switch_at("1.000001"));
  recording second = first;
  first = {};
  EXPECT_EQ(second.strings.intern("swapper/0"), second.events[0].other_comm);
  const auto index = second.strings.intern("new");
  EXPECT_EQ(second.strings.text(index), "new");
  second = recording(second);
  EXPECT_EQ(second.strings.intern("new"), index);
}

}  // namespace
}  // namespace vlag::trace

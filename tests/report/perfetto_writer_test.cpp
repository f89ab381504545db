// SPDX-License-Identifier: Apache-2.0
//
// What the writer writes, decoded field by field with the field numbers of Perfetto's
// documentation.
#include "report/perfetto_writer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <tuple>

#include "input/input_error.hpp"
#include "trace/reader.hpp"
#include "workload/replay.hpp"
#include "workload/variant.hpp"

namespace vlag {
namespace {

using protozero::pbf_reader;

struct decoded_event {
  std::uint64_t at_ns = 0;
  std::uint32_t pid = 0;
  std::uint32_t flags = 0;
  std::uint32_t kind = 0;  // field number of the event
  std::map<std::uint32_t, std::int64_t> numbers;
  std::map<std::uint32_t, std::string> texts;
};

struct decoded_packet {
  std::optional<std::uint64_t> at_ns;
  std::uint32_t sequence = 0;
  std::uint32_t kind = 0;
  std::string body;
};

decoded_event event_of(pbf_reader reader) {
  decoded_event e;
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        e.at_ns = reader.get_uint64();
        break;
      case 2:
        e.pid = reader.get_uint32();
        break;
      case 5:
        e.flags = reader.get_uint32();
        break;
      default: {
        e.kind = reader.tag();
        pbf_reader body = reader.get_message();
        while (body.next()) {
          const std::uint32_t tag = body.tag();  // gone once the value is read
          if (body.wire_type() == protozero::pbf_wire_type::varint) {
            e.numbers[tag] = body.get_int64();
          } else {
            e.texts[tag] = body.get_string();
          }
        }
      }
    }
  }
  return e;
}

struct decoded_trace {
  std::vector<decoded_packet> packets;
  std::map<std::uint32_t, std::vector<decoded_event>> by_cpu;

  explicit decoded_trace(const std::string& file) {
    pbf_reader reader(file);
    while (reader.next(1)) read_packet(reader.get_message());
  }

 private:
  void read_packet(pbf_reader reader) {
    decoded_packet& p = packets.emplace_back();
    while (reader.next()) {
      switch (reader.tag()) {
        case 8:
          p.at_ns = reader.get_uint64();
          break;
        case 10:
          p.sequence = reader.get_uint32();
          break;
        case 13:
          EXPECT_EQ(reader.get_uint32(), 1U);
          break;
        default:
          p.kind = reader.tag();
          p.body = reader.get_string();
      }
    }
    if (p.kind == 1) read_bundle(pbf_reader(p.body));
  }

  void read_bundle(pbf_reader reader) {
    ASSERT_TRUE(reader.next(1));  // the CPU comes first
    std::vector<decoded_event>& events = by_cpu[reader.get_uint32()];
    while (reader.next(2)) events.push_back(event_of(reader.get_message()));
  }
};

// Fields of a message without nesting.
struct fields {
  std::map<std::uint32_t, std::int64_t> numbers;
  std::map<std::uint32_t, std::string> texts;

  explicit fields(const std::string& body) {
    pbf_reader reader(body);
    while (reader.next()) {
      const std::uint32_t tag = reader.tag();
      if (reader.wire_type() == protozero::pbf_wire_type::varint) {
        numbers[tag] = reader.get_int64();
      } else {
        texts[tag] = reader.get_string();
      }
    }
  }
};

struct written {
  std::string file;
  perfetto_writer writer{[this](std::string_view piece) { file += piece; }};
};

schedule_info two_tasks(bool simulated) {
  schedule_info info;
  info.label = simulated ? "linux-6.12" : "recorded";
  info.simulated = simulated;
  info.cpus = 2;
  info.span_ns = 1000;
  info.clock_at_start_ns = 5'000'000;
  info.tasks = {{101, "frame", 120}, {102, "mi0", 125}};
  return info;
}

// CPU 1: frame runs, mi0 is woken by it, takes the CPU, sleeps; frame goes on.
void tell_two(schedule_sink& sink, bool simulated) {
  sink.begin(two_tasks(simulated));
  sink.on_start(1, 0);
  sink.on_wakeup({.at_ns = 100, .cpu = 1, .told_on = 0, .woken = 1, .waker = no_task});
  if (simulated) {
    sink.on_reason({.at_ns = 100, .cpu = 1, .about = 1, .what = decision::wakeup_preempts});
  }
  schedule_switch e{.at_ns = 110, .cpu = 1, .previous = 0, .next = 1, .next_prio = 125};
  e.left.preempted = true;
  sink.on_switch(e);
  if (simulated) {
    sink.on_reading({.at_ns = 110, .cpu = 1, .chosen = 1, .values = {-900, -1000, 100, 3000}});
  }
  e = {.at_ns = 300, .cpu = 1, .previous = 1, .previous_prio = 125, .next = 0};
  e.left.letter = 'D';
  sink.on_switch(e);
  sink.on_migrate({.at_ns = 400, .task = 1, .from_cpu = 1, .to_cpu = 0, .told_on = 0});
  sink.end(1000);
}

TEST(perfetto_writer, says_which_states_it_writes) {
  written w;
  tell_two(w.writer, false);
  const decoded_trace trace(w.file);
  const decoded_packet& first = trace.packets.front();
  ASSERT_EQ(first.kind, 45U);
  const fields name(fields(first.body).texts.at(1));
  EXPECT_EQ(name.texts.at(1), "Linux");
  // The decoder reads "major.minor" and needs 4.14 at least.
  EXPECT_EQ(name.texts.at(3), "6.12.0");
}

TEST(perfetto_writer, writes_switches_field_by_field) {
  written w;
  tell_two(w.writer, false);
  const decoded_trace trace(w.file);
  std::vector<decoded_event> switches;
  for (const decoded_event& e : trace.by_cpu.at(1)) {
    if (e.kind == 4) switches.push_back(e);
  }
  ASSERT_EQ(switches.size(), 4U);  // start, two of the schedule, the end

  EXPECT_EQ(switches[0].at_ns, 5'000'000U);
  EXPECT_EQ(switches[0].numbers.at(2), 0);
  EXPECT_EQ(switches[0].numbers.at(6), 101);

  const decoded_event& lost = switches[1];
  EXPECT_EQ(lost.at_ns, 5'000'110U);
  EXPECT_EQ(lost.pid, 101U);
  EXPECT_EQ(lost.texts.at(1), "frame");
  EXPECT_EQ(lost.numbers.at(2), 101);
  EXPECT_EQ(lost.numbers.at(3), 120);
  EXPECT_EQ(lost.numbers.at(4), 0x100);
  EXPECT_EQ(lost.texts.at(5), "mi0");
  EXPECT_EQ(lost.numbers.at(6), 102);
  EXPECT_EQ(lost.numbers.at(7), 125);

  EXPECT_EQ(switches[2].numbers.at(4), 2);  // D
  EXPECT_EQ(switches[3].at_ns, 5'001'000U);
  EXPECT_EQ(switches[3].numbers.at(2), 101);
  EXPECT_EQ(switches[3].numbers.at(6), 0);
  EXPECT_EQ(switches[3].texts.at(5), "swapper/1");
}

TEST(perfetto_writer, writes_wake_ups_and_migrations_field_by_field) {
  written w;
  tell_two(w.writer, false);
  const decoded_trace trace(w.file);
  const std::vector<decoded_event>& events = trace.by_cpu.at(0);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].kind, 20U);
  EXPECT_EQ(events[0].at_ns, 5'000'100U);
  EXPECT_EQ(events[0].flags, 8U);  // an interrupt
  EXPECT_EQ(events[0].texts.at(1), "mi0");
  EXPECT_EQ(events[0].numbers.at(2), 102);
  EXPECT_EQ(events[0].numbers.at(3), 125);
  EXPECT_EQ(events[0].numbers.at(5), 1);
  EXPECT_EQ(events[1].kind, 491U);
  EXPECT_EQ(events[1].numbers.at(2), 102);
  EXPECT_EQ(events[1].numbers.at(4), 1);
  EXPECT_EQ(events[1].numbers.at(5), 0);
}

TEST(perfetto_writer, gives_each_run_cpus_threads_and_a_process_of_its_own) {
  written w;
  tell_two(w.writer, false);
  tell_two(w.writer, true);
  const decoded_trace trace(w.file);
  ASSERT_EQ(trace.by_cpu.size(), 4U);
  EXPECT_EQ(trace.by_cpu.at(3).at(1).numbers.at(2), 10'000'101);
  EXPECT_EQ(trace.by_cpu.at(3).at(1).numbers.at(6), 10'000'102);
  EXPECT_EQ(trace.by_cpu.at(2).at(0).numbers.at(5), 3);  // target CPU

  std::map<std::int64_t, std::string> processes;
  std::map<std::int64_t, std::int64_t> process_of;
  for (const decoded_packet& p : trace.packets) {
    if (p.kind != 2) continue;
    pbf_reader reader(p.body);
    while (reader.next()) {
      const std::uint32_t tag = reader.tag();
      const fields f(reader.get_string());
      if (tag == 1) processes[f.numbers.at(1)] = f.texts.at(3);
      if (tag == 2) process_of[f.numbers.at(1)] = f.numbers.at(3);
    }
  }
  EXPECT_EQ(processes, (std::map<std::int64_t, std::string>{{9'999'999, "recorded"},
                                                            {19'999'999, "linux-6.12"}}));
  EXPECT_EQ(
      process_of,
      (std::map<std::int64_t, std::int64_t>{
          {101, 9'999'999}, {102, 9'999'999}, {10'000'101, 19'999'999}, {10'000'102, 19'999'999}}));
}

struct track_values {
  std::string name;
  std::vector<std::pair<std::uint64_t, std::int64_t>> values;
  std::vector<std::string> instants;
};

std::map<std::int64_t, track_values> tracks_of(const decoded_trace& trace) {
  std::map<std::int64_t, track_values> tracks;
  for (const decoded_packet& p : trace.packets) {
    const fields f(p.body);
    if (p.kind == 60) {
      track_values& t = tracks[f.numbers.at(1)];
      if (f.texts.contains(2)) t.name = f.texts.at(2);
      if (f.texts.contains(4)) t.name = "thread " + fields(f.texts.at(4)).texts.at(5);
      if (f.texts.contains(3)) t.name = "process " + fields(f.texts.at(3)).texts.at(6);
    } else if (p.kind == 11) {
      // A track is described before anything is on it.
      track_values& t = tracks.at(f.numbers.at(11));
      if (f.numbers.at(9) == 4) t.values.emplace_back(p.at_ns.value(), f.numbers.at(30));
      if (f.numbers.at(9) == 3) t.instants.push_back(f.texts.at(23));
    }
  }
  return tracks;
}

TEST(perfetto_writer, writes_counters_and_reasons) {
  written w;
  tell_two(w.writer, true);
  std::map<std::string, track_values> by_name;
  for (const auto& [uuid, t] : tracks_of(decoded_trace(w.file))) by_name[t.name] = t;
  using values = std::vector<std::pair<std::uint64_t, std::int64_t>>;
  EXPECT_EQ(by_name.at("CPU 1 runnable").values,
            (values{{5'000'000, 1}, {5'000'100, 2}, {5'000'300, 1}}));
  EXPECT_EQ(by_name.at("CPU 1 V").values, (values{{5'000'110, -900}}));
  EXPECT_EQ(by_name.at("CPU 1 lag").values, (values{{5'000'110, 100}}));
  EXPECT_TRUE(by_name.contains("process linux-6.12"));
  EXPECT_EQ(by_name.at("thread frame").instants,
            (std::vector<std::string>{"preempted: a woken task was picked over it"}));
}

TEST(perfetto_writer, refuses_what_a_trace_cannot_hold) {
  written w;
  schedule_info info = two_tasks(false);
  info.tasks[0].pid = perfetto_pids_a_run - 1;
  EXPECT_THROW(w.writer.begin(info), input_error);
  info = two_tasks(false);
  info.cpus = 3000;
  w.writer.begin(info);
  w.writer.end(0);
  EXPECT_THROW(w.writer.begin(info), input_error);
}

std::string recording_with_two_policies() {
  const std::string base = VLAG_TEST_DATA "/traces/6.12-d-1cpu";
  const trace::recording recording = trace::read_recording(base + ".trace.xz");
  replay_options options;
  options.window = "runner: release..runner: stop";
  const recorded_workload workload(recording, read_attributes(base + ".json"), options);
  written w;
  tell_recording(recording, workload.window_from_ns(), workload.window_to_ns(), w.writer);
  for (const char* policy : {"linux-6.12", "linux-6.1"}) {
    const policy_variant variant = parse_variant(policy, {}, workload.cpus(), workload.tick_ns());
    simulated_schedule adapter({policy, workload.cpus(), 0, 0}, w.writer);
    static_cast<void>(workload.simulate(variant, {}, &adapter));
  }
  return w.file;
}

TEST(perfetto_writer, every_switch_is_balanced_and_time_never_goes_back_on_a_cpu) {
  const decoded_trace trace(recording_with_two_policies());
  ASSERT_EQ(trace.by_cpu.size(), 3U);
  for (const auto& [cpu, events] : trace.by_cpu) {
    std::int64_t running = 0;
    std::uint64_t latest = 0;
    std::size_t switches = 0;
    for (const decoded_event& e : events) {
      ASSERT_GE(e.at_ns, latest);
      latest = e.at_ns;
      if (e.kind != 4) continue;
      ASSERT_EQ(e.numbers.at(2), running) << "CPU " << cpu << " at " << e.at_ns;
      running = e.numbers.at(6);
      ++switches;
    }
    EXPECT_EQ(running, 0);
    EXPECT_GT(switches, 500U);
  }
  // A preemption and its instant event come in pairs, in simulated runs.
  std::size_t lost = 0;
  for (const std::uint32_t cpu : {1U, 2U}) {
    for (const decoded_event& e : trace.by_cpu.at(cpu)) {
      lost += e.kind == 4 && e.numbers.at(4) == 0x100 ? 1U : 0U;
    }
  }
  std::size_t instants = 0;
  for (const auto& [uuid, t] : tracks_of(trace)) {
    instants += t.instants.size();
    for (const std::string& text : t.instants) EXPECT_EQ(text.find("no reason"), text.npos);
  }
  EXPECT_EQ(instants, lost);
}

using read_switch = std::tuple<std::uint64_t, unsigned, std::int32_t, char, bool, std::int32_t,
                               std::int32_t, std::string, std::int32_t>;
std::vector<read_switch> switches_of(const trace::recording& all) {
  std::vector<read_switch> result;
  for (const trace::event& e : all.events) {
    if (e.kind != trace::event_kind::sched_switch) continue;
    // A preempted task is R+, and nothing else can be said of it.
    result.emplace_back(e.time_ns, e.cpu, e.pid, e.prev_state.letter, e.prev_state.preempted,
                        e.prio, e.other_pid, std::string(all.strings.text(e.other_comm)),
                        e.other_prio);
  }
  return result;
}

TEST(perfetto_writer, the_reader_reads_the_same_switches) {
  const trace::recording all = trace::read_recording(VLAG_TEST_DATA "/traces/6.12-d-1cpu.trace.xz");
  written w;
  tell_recording(all, all.events.front().time_ns, all.events.back().time_ns, w.writer);
  const std::string path =
      std::filesystem::temp_directory_path() / ("vlag-perfetto-read-" + std::to_string(::getpid()));
  std::ofstream(path, std::ios::binary) << w.file;
  const std::vector<read_switch> back = switches_of(trace::read_recording(path));
  std::filesystem::remove(path);
  const std::vector<read_switch> recorded = switches_of(all);
  ASSERT_GT(recorded.size(), 1000U);
  // Besides: the switch to what ran at the beginning, and to idle at the end.
  EXPECT_LE(back.size(), recorded.size() + 2);
  EXPECT_NE(std::search(back.begin(), back.end(), recorded.begin(), recorded.end()), back.end());
}

TEST(perfetto_writer, protoc_decodes_it) {
  if (std::system("protoc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "protoc is missing";
  const std::string path =
      std::filesystem::temp_directory_path() / ("vlag-perfetto-" + std::to_string(::getpid()));
  const std::string file = recording_with_two_policies();
  std::ofstream(path, std::ios::binary) << file;
  std::FILE* pipe = ::popen(("protoc --decode_raw < " + path).c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::size_t switches = 0;
  std::size_t packets = 0;
  char line[4096];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    const std::string text = line;
    packets += text == "1 {\n" ? 1U : 0U;
    switches += text == "      4 {\n" ? 1U : 0U;
  }
  EXPECT_EQ(::pclose(pipe), 0);
  std::filesystem::remove(path);
  const decoded_trace trace(file);
  std::size_t expected = 0;
  for (const auto& [cpu, events] : trace.by_cpu) {
    for (const decoded_event& e : events) expected += e.kind == 4 ? 1U : 0U;
  }
  EXPECT_EQ(packets, trace.packets.size());
  EXPECT_EQ(switches, expected);
}

}  // namespace
}  // namespace vlag

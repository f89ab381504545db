// SPDX-License-Identifier: Apache-2.0
//
// Perfetto traces written here, field by field as Perfetto's protos number them, are read back.
#include "input/input_error.hpp"
#include "input/scratch_file.hpp"
#include "trace/reader.hpp"

#include <gtest/gtest.h>
#include <zlib.h>
#include <protozero/pbf_writer.hpp>

#include <random>
#include <string>
#include <vector>

namespace vlag::trace {
namespace {

using protozero::pbf_writer;

class keeper final : public event_visitor {
 public:
  void visit(const event& entry) override { events.push_back(entry); }
  std::vector<event> events;
};

struct visited {
  recording_info about;
  std::vector<event> events;
};

visited visit(const std::string& bytes) {
  const test::scratch_file file(bytes);
  visited result;
  keeper kept;
  visit_recording(file.path(), result.about, kept);
  result.events = kept.events;
  return result;
}

std::string packet_of(const std::string& content) {
  std::string trace;
  pbf_writer(trace).add_message(1, content);
  return trace;
}

// An FtraceEvent with one event in it.
template <typename fill>
std::string ftrace_event(std::uint64_t time_ns, std::uint32_t pid, unsigned field,
                         const fill& fields) {
  std::string bytes;
  pbf_writer entry(bytes);
  entry.add_uint64(1, time_ns);
  entry.add_uint32(2, pid);
  std::string body;
  pbf_writer inner(body);
  fields(inner);
  entry.add_message(field, body);
  return bytes;
}

std::string switch_event(std::uint64_t time_ns, const std::string& from, std::int32_t from_pid,
                         std::int64_t state, const std::string& to, std::int32_t to_pid) {
  return ftrace_event(time_ns, static_cast<std::uint32_t>(from_pid), 4, [&](pbf_writer& w) {
    w.add_string(1, from);
    w.add_int32(2, from_pid);
    w.add_int32(3, 120);
    w.add_int64(4, state);
    w.add_string(5, to);
    w.add_int32(6, to_pid);
    w.add_int32(7, -1);
  });
}

std::string wake_event(unsigned field, std::uint64_t time_ns, std::uint32_t by,
                       const std::string& comm, std::int32_t pid, std::int32_t cpu) {
  return ftrace_event(time_ns, by, field, [&](pbf_writer& w) {
    w.add_string(1, comm);
    w.add_int32(2, pid);
    w.add_int32(3, 110);
    w.add_int32(4, 1);
    w.add_int32(5, cpu);
  });
}

std::string bundle(std::uint32_t cpu, const std::vector<std::string>& events, bool lost = false) {
  std::string bytes;
  pbf_writer content(bytes);
  content.add_uint32(1, cpu);
  for (const std::string& one : events) content.add_message(2, one);
  if (lost) content.add_bool(3, true);
  std::string packet;
  pbf_writer(packet).add_message(1, bytes);
  return packet;
}

std::string all_kinds() {
  return bundle(3,
                {switch_event(1000, "a", 10, 0x100, "b", 11), wake_event(20, 1100, 11, "c", 12, 1),
                 wake_event(17, 1200, 11, "c", 12, 1), wake_event(114, 1300, 11, "d", 13, 2),
                 ftrace_event(1400, 11, 491,
                              [](pbf_writer& w) {
                                w.add_string(1, "c");
                                w.add_int32(2, 12);
                                w.add_int32(3, 120);
                                w.add_int32(4, 5);
                                w.add_int32(5, 6);
                              }),
                 ftrace_event(1500, 11, 239,
                              [](pbf_writer& w) {
                                w.add_string(1, "parent");
                                w.add_int32(2, 20);
                                w.add_string(3, "child");
                                w.add_int32(4, 21);
                              }),
                 ftrace_event(1600, 11, 238,
                              [](pbf_writer& w) {
                                w.add_string(1, "c");
                                w.add_int32(2, 12);
                                w.add_int32(3, 12);
                                w.add_int32(4, 99);
                              }),
                 ftrace_event(1700, 11, 240,
                              [](pbf_writer& w) {
                                w.add_string(1, "c");
                                w.add_int32(2, 12);
                                w.add_int32(3, 98);
                              }),
                 ftrace_event(1800, 11, 237,
                              [](pbf_writer& w) {
                                w.add_string(1, "/bin/x");
                                w.add_int32(2, 12);
                                w.add_int32(3, 14);
                              }),
                 ftrace_event(1900, 11, 11,
                              [](pbf_writer& w) {
                                w.add_uint32(1, 1'800'000);
                                w.add_uint32(2, 4);
                              }),
                 ftrace_event(2000, 0, 13,
                              [](pbf_writer& w) {
                                w.add_uint32(1, 0xffff'ffff);
                                w.add_uint32(2, 3);
                              }),
                 ftrace_event(2100, 11, 3,
                              [](pbf_writer& w) {
                                w.add_uint64(1, 7);
                                w.add_string(2, "release\n");
                              }),
                 ftrace_event(2200, 11, 36, [](pbf_writer& w) { w.add_uint32(1, 7); })});
}

TEST(perfetto, gives_every_kind_of_event) {
  const visited got = visit(packet_of(all_kinds()) + packet_of(bundle(0, {})));
  EXPECT_EQ(got.about.format, "Perfetto trace");
  EXPECT_TRUE(got.about.anomalies.empty());
  EXPECT_EQ(got.about.other_events, 1U);
  constexpr event_kind kinds[] = {
      event_kind::sched_switch,  event_kind::waking,       event_kind::wakeup,
      event_kind::wakeup_new,    event_kind::migrate,      event_kind::fork,
      event_kind::exit,          event_kind::process_free, event_kind::exec,
      event_kind::cpu_frequency, event_kind::cpu_idle,     event_kind::marker};
  ASSERT_EQ(got.events.size(), std::size(kinds));
  const auto text = [&got](std::uint32_t index) { return got.about.strings.text(index); };
  for (std::size_t i = 0; i < got.events.size(); ++i) {
    EXPECT_EQ(kernel_name(got.events[i].kind), kernel_name(kinds[i]));
    EXPECT_EQ(got.events[i].cpu, 3U);
    EXPECT_EQ(got.events[i].time_ns, 1000 + 100 * i);
  }
  const event& first = got.events[0];
  EXPECT_EQ(first.context_pid, 10);
  EXPECT_EQ(text(first.comm), "a");
  EXPECT_EQ(first.pid, 10);
  EXPECT_EQ(first.prio, 120);
  EXPECT_EQ(first.prev_state.letter, 'R');
  EXPECT_TRUE(first.prev_state.preempted);
  EXPECT_EQ(text(first.other_comm), "b");
  EXPECT_EQ(first.other_pid, 11);
  EXPECT_EQ(first.other_prio, -1);
  EXPECT_EQ(got.events[1].pid, 12);
  EXPECT_EQ(got.events[1].prio, 110);
  EXPECT_EQ(got.events[1].target_cpu, 1);
  EXPECT_EQ(got.events[4].amount, 5U);
  EXPECT_EQ(got.events[4].target_cpu, 6);
  EXPECT_EQ(text(got.events[5].comm), "child");
  EXPECT_EQ(text(got.events[5].other_comm), "parent");
  EXPECT_EQ(got.events[5].pid, 21);
  EXPECT_EQ(got.events[6].prio, 99);
  EXPECT_EQ(got.events[7].prio, 98);
  EXPECT_EQ(text(got.events[8].text), "/bin/x");
  EXPECT_EQ(got.events[8].other_pid, 14);
  EXPECT_EQ(got.events[9].amount, 1'800'000U);
  EXPECT_EQ(got.events[9].target_cpu, 4);
  EXPECT_EQ(got.events[10].amount, leaves_idle);
  EXPECT_EQ(text(got.events[11].text), "release");
  EXPECT_EQ(got.about.cpus, 7U);
}

TEST(perfetto, merges_cpus_and_says_what_was_lost) {
  const std::string trace = packet_of(bundle(0, {switch_event(2000, "a", 1, 1, "b", 2)})) +
                            packet_of(bundle(1, {switch_event(1000, "c", 3, 2, "d", 4)}, true));
  const visited got = visit(trace);
  ASSERT_EQ(got.events.size(), 2U);
  EXPECT_EQ(got.events[0].cpu, 1U);
  EXPECT_EQ(got.events[0].prev_state.letter, 'D');
  EXPECT_EQ(got.events[1].cpu, 0U);
  ASSERT_EQ(got.about.anomalies.size(), 1U);
  EXPECT_EQ(got.about.anomalies[0].kind, "lost events");
}

std::string compact_bundle() {
  std::string block;
  pbf_writer w(block);
  const std::vector<std::uint64_t> switch_ns{5000, 100, 200};
  const std::vector<std::int64_t> states{0, 0x100, 1};
  const std::vector<std::int32_t> next{7, 8, 0};
  const std::vector<std::int32_t> prio{120, 100, 120};
  const std::vector<std::uint32_t> names{0, 1, 2};
  w.add_packed_uint64(1, switch_ns.begin(), switch_ns.end());
  w.add_packed_int64(2, states.begin(), states.end());
  w.add_packed_int32(3, next.begin(), next.end());
  w.add_packed_int32(4, prio.begin(), prio.end());
  for (const char* name : {"seven", "eight", "swapper"}) w.add_string(5, name);
  w.add_packed_uint32(6, names.begin(), names.end());
  const std::vector<std::uint64_t> waking_ns{5050, 100};
  const std::vector<std::int32_t> woken{8, 9};
  const std::vector<std::int32_t> cpus{1, 0};
  const std::vector<std::int32_t> waking_prio{100, 101};
  const std::vector<std::uint32_t> waking_names{1, 0};
  w.add_packed_uint64(7, waking_ns.begin(), waking_ns.end());
  w.add_packed_int32(8, woken.begin(), woken.end());
  w.add_packed_int32(9, cpus.begin(), cpus.end());
  w.add_packed_int32(10, waking_prio.begin(), waking_prio.end());
  w.add_packed_uint32(11, waking_names.begin(), waking_names.end());
  std::string bytes;
  pbf_writer content(bytes);
  content.add_uint32(1, 1);
  content.add_message(4, block);
  std::string packet;
  pbf_writer(packet).add_message(1, bytes);
  return packet;
}

TEST(perfetto, unfolds_compact_scheduling) {
  const visited got = visit(packet_of(compact_bundle()) + packet_of(bundle(0, {})));
  ASSERT_EQ(got.events.size(), 5U);
  const auto text = [&got](std::uint32_t index) { return got.about.strings.text(index); };
  EXPECT_EQ(got.events[0].time_ns, 5000U);
  EXPECT_EQ(text(got.events[0].other_comm), "seven");
  EXPECT_EQ(got.events[1].kind, event_kind::waking);
  EXPECT_EQ(got.events[1].time_ns, 5050U);
  EXPECT_EQ(got.events[1].context_pid, 7);
  EXPECT_EQ(text(got.events[1].comm), "eight");
  EXPECT_EQ(got.events[1].target_cpu, 1);
  EXPECT_EQ(got.events[2].pid, 7);
  EXPECT_EQ(text(got.events[2].comm), "seven");
  EXPECT_TRUE(got.events[2].prev_state.preempted);
  EXPECT_EQ(got.events[2].other_prio, 100);
  EXPECT_EQ(got.events[3].time_ns, 5150U);
  EXPECT_EQ(got.events[3].context_pid, 8);
  EXPECT_EQ(got.events[4].time_ns, 5300U);
  EXPECT_EQ(got.events[4].pid, 8);
  EXPECT_EQ(got.events[4].prev_state.letter, 'S');
  EXPECT_EQ(got.events[4].other_pid, 0);
  ASSERT_EQ(got.about.anomalies.size(), 1U);
  EXPECT_EQ(got.about.anomalies[0].kind, "unknown previous task");
}

std::string deflated(const std::string& bytes) {
  uLongf size = ::compressBound(bytes.size());
  std::string packed(size, '\0');
  if (::compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                 reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) != Z_OK) {
    throw std::runtime_error("compress");
  }
  packed.resize(size);
  return packed;
}

std::string system_info() {
  std::string names;
  pbf_writer utsname(names);
  utsname.add_string(1, "Linux");
  utsname.add_string(3, "6.12.9");
  std::string info;
  pbf_writer(info).add_message(1, names);
  std::string packet;
  pbf_writer(packet).add_message(45, info);
  return packet;
}

TEST(perfetto, reads_compressed_packets_and_the_kernel_release) {
  std::string packed;
  pbf_writer(packed).add_bytes(50, deflated(packet_of(all_kinds()) + packet_of(all_kinds())));
  const visited got = visit(packet_of(system_info()) + packet_of(packed));
  EXPECT_EQ(got.about.kernel_release, "6.12.9");
  EXPECT_EQ(got.events.size(), 24U);
}

TEST(perfetto, names_tasks_by_the_process_tree) {
  std::string thread;
  pbf_writer entry(thread);
  entry.add_int32(1, 2);
  entry.add_string(2, "named");
  std::string tree;
  pbf_writer(tree).add_message(2, thread);
  std::string packet;
  pbf_writer(packet).add_message(2, tree);
  const visited got =
      visit(packet_of(packet) + packet_of(bundle(0, {switch_event(1, "a", 1, 1, "", 2)})));
  ASSERT_EQ(got.events.size(), 1U);
  EXPECT_EQ(got.about.strings.text(got.events[0].other_comm), "named");
}

TEST(perfetto, without_ftrace_events_is_refused) {
  try {
    static_cast<void>(visit(packet_of(system_info()) + packet_of(system_info())));
    FAIL();
  } catch (const input_error& error) {
    EXPECT_NE(std::string_view(error.what()).find("without ftrace events"), std::string::npos);
  }
}

TEST(perfetto, damage_is_read_past_or_refused) {
  std::string packed;
  pbf_writer(packed).add_bytes(50, deflated(packet_of(all_kinds())));
  const std::string intact = packet_of(system_info()) + packet_of(all_kinds()) +
                             packet_of(compact_bundle()) + packet_of(packed) +
                             packet_of(all_kinds());
  unsigned results = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937_64 random(seed);
    std::string damaged = intact;
    for (auto flips = random() % 4; flips > 0; --flips) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    if (seed % 2 == 0) damaged.resize(random() % damaged.size());
    try {
      const visited got = visit(damaged);
      ++results;
    } catch (const input_error& error) {
      ASSERT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
    }
  }
  EXPECT_GT(results, 1000U);
}

}  // namespace
}  // namespace vlag::trace

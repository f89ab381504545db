// SPDX-License-Identifier: Apache-2.0
//
// Random events written in every dialect are read back as they were; random damage is either
// refused or read past, and never leads to an inconsistent recording.
#include "input/input_error.hpp"
#include "input/scratch_file.hpp"
#include "trace/dialect.hpp"
#include "trace/reader.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace vlag::trace {
namespace {

using test::dialect;
using test::told_event;

constexpr std::size_t longest_comm = 15;

// Names of any bytes that a line can hold, put together from pieces that look like its fields.
rc::Gen<std::string> any_comm() {
  const auto piece = rc::gen::oneOf(
      rc::gen::element<std::string>("hog", " prev_pid=1", " prev_state=S", " ==> next_comm=", "] [",
                                    " pid=1 prio=2", ":1 [1] R ==> ", "-5 [000] ", " 1.0: x: ", "=",
                                    " child_pid=3", " CPU:7", "kworker/0:2", " ", "-", ":", "(12)"),
      rc::gen::map(rc::gen::inRange(1, 256), [](int byte) {
        return std::string(1, byte == '\n' ? 'n' : static_cast<char>(byte));
      }));
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(3, piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string comm;
                        for (const std::string& text : pieces) comm += text;
                        comm.resize(std::min(comm.size(), longest_comm));
                        return comm;
                      });
}

// trace-cmd pads in front of the arguments, so blanks at the start of a name are lost there.
std::string as_printed(std::string comm, const dialect& how) {
  if (how.short_tasks) comm.erase(0, std::min(comm.find_first_not_of(' '), comm.size()));
  return comm;
}

std::string any_flags() {
  const auto letter = [](std::string_view choice) {
    return choice[*rc::gen::inRange<std::size_t>(0, choice.size())];
  };
  return {letter("d.Db"),
          letter(".NnpLbBl"),
          letter(".shHzZ"),
          letter(".123456789abcdef"),
          letter(".123456789abcdef"),
          letter(".123")};
}

void tell_flags(event& entry, const std::string& flags) {
  constexpr std::string_view letters = ".shHzZ";
  constexpr context_kind contexts[] = {context_kind::task,    context_kind::softirq,
                                       context_kind::hardirq, context_kind::hardirq,
                                       context_kind::nmi,     context_kind::nmi};
  entry.context = contexts[letters.find(flags[2])];
  entry.need_resched = flags[1] != '.';
}

told_event any_event(const dialect& how, std::uint64_t time_ns) {
  const auto pid = rc::gen::inRange(100, 4'194'304);
  const auto prio = rc::gen::inRange(-1, 140);
  told_event told;
  event& entry = told.event;
  entry.kind = static_cast<event_kind>(*rc::gen::inRange(0, static_cast<int>(event_kinds)));
  entry.time_ns = time_ns;
  entry.cpu = static_cast<std::uint16_t>(*rc::gen::inRange(0, 8192));
  entry.context_pid = *pid;
  told.flags = any_flags();
  if (how.flags > 0) tell_flags(entry, told.flags);
  told.context_comm = *any_comm();
  if (entry.kind == event_kind::marker) {
    told.marker = *any_comm() + "x";
    return told;
  }
  switch (entry.kind) {
    case event_kind::exec:
      told.marker = *any_comm() + "/bin/x";
      entry.pid = *pid;
      entry.other_pid = *pid;
      return told;
    case event_kind::stat_runtime:
    case event_kind::stat_wait:
    case event_kind::stat_sleep:
    case event_kind::stat_iowait:
    case event_kind::stat_blocked:
      told.comm = *any_comm();
      entry.pid = *pid;
      entry.amount = *rc::gen::arbitrary<std::uint64_t>();
      return told;
    case event_kind::cpu_frequency:
    case event_kind::cpu_idle:
      entry.amount = *rc::gen::arbitrary<std::uint32_t>();
      entry.target_cpu = *rc::gen::inRange(0, 8192);
      return told;
    default:
      break;
  }
  const bool is_switch = entry.kind == event_kind::sched_switch;
  const bool is_fork = entry.kind == event_kind::fork;
  entry.pid = is_switch ? entry.context_pid : *pid;
  if (!is_fork) entry.prio = *prio;
  told.comm = as_printed(*any_comm(), how);
  if (is_switch || is_fork) {
    entry.other_pid = *pid;
    told.other_comm = *any_comm();
  }
  if (is_switch) {
    entry.other_prio = *prio;
    entry.prev_state.letter = *rc::gen::element('R', 'S', 'D', 'T', 't', 'X', 'Z', 'P', 'I');
    entry.prev_state.preempted = *rc::gen::arbitrary<bool>();
  } else if (!is_fork && entry.kind != event_kind::exit && entry.kind != event_kind::process_free) {
    entry.target_cpu = *rc::gen::inRange(0, 8192);
    if (entry.kind == event_kind::migrate) {
      entry.amount = static_cast<std::uint64_t>(*rc::gen::inRange(0, 8192));
    }
  }
  return told;
}

dialect any_dialect() {
  dialect how;
  how.flags = *rc::gen::element(0U, 4U, 5U, 6U);
  how.tgid = *rc::gen::arbitrary<bool>();
  how.nanoseconds = *rc::gen::arbitrary<bool>();
  how.trace_cmd = *rc::gen::arbitrary<bool>();
  how.short_tasks = how.trace_cmd && *rc::gen::arbitrary<bool>();
  how.carriage_returns = *rc::gen::arbitrary<bool>();
  return how;
}

// What read_recording() makes of a recording without a sched_wakeup.
void let_waking_stand_in(std::vector<told_event>& told) {
  for (const told_event& one : told) {
    if (one.event.kind == event_kind::wakeup) return;
  }
  for (told_event& one : told) {
    if (one.event.kind == event_kind::waking) one.event.kind = event_kind::wakeup;
  }
}

void expect_same(const recording& got, const event& entry, const told_event& told) {
  const event& want = told.event;
  RC_ASSERT(entry.time_ns == want.time_ns);
  RC_ASSERT(entry.kind == want.kind);
  RC_ASSERT(entry.context == want.context);
  RC_ASSERT(entry.need_resched == want.need_resched);
  RC_ASSERT(entry.prev_state.letter == want.prev_state.letter);
  RC_ASSERT(entry.prev_state.preempted == want.prev_state.preempted);
  RC_ASSERT(entry.cpu == want.cpu);
  RC_ASSERT(entry.context_pid == want.context_pid);
  RC_ASSERT(entry.pid == want.pid);
  RC_ASSERT(entry.prio == want.prio);
  RC_ASSERT(entry.other_pid == want.other_pid);
  RC_ASSERT(entry.other_prio == want.other_prio);
  RC_ASSERT(entry.target_cpu == want.target_cpu);
  RC_ASSERT(entry.amount == want.amount);
  RC_ASSERT(got.strings.text(entry.comm) == told.comm);
  RC_ASSERT(got.strings.text(entry.other_comm) == told.other_comm);
  RC_ASSERT(got.strings.text(entry.text) == told.marker);
}

TEST(round_trip, every_dialect_is_read_as_it_was_written) {
  EXPECT_TRUE(rc::check("events to text and back", [] {
    const dialect how = any_dialect();
    const std::uint64_t step = how.nanoseconds ? 1 : 1000;
    std::uint64_t time_ns = *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 45) * 1000;
    std::vector<told_event> told;
    std::string text;
    for (int left = *rc::gen::inRange(1, 20); left > 0; --left) {
      told.push_back(any_event(how, time_ns));
      time_ns += *rc::gen::inRange<std::uint64_t>(0, 1'000'000) * step;
    }
    told_event last = any_event(how, time_ns);  // a recording must hold a switch
    last.event.kind = event_kind::sched_switch;
    last.event.target_cpu = -1;
    last.event.amount = 0;
    last.event.pid = last.event.context_pid;
    last.marker.clear();
    told.push_back(last);
    for (const told_event& one : told) text += test::line_of(one, how);
    RC_LOG() << text;
    const test::scratch_file file(text);
    const recording got = read_recording(file.path());
    let_waking_stand_in(told);
    RC_ASSERT(got.anomalies.empty());
    RC_ASSERT(got.events.size() == told.size());
    RC_ASSERT(got.resolution_ns == step);
    for (std::size_t i = 0; i < told.size(); ++i) {
      RC_ASSERT(got.events[i].where == i + 1);
      expect_same(got, got.events[i], told[i]);
    }
  }));
}

// A text in which every dialect and every kind of line occurs.
std::string mixed_text() {
  std::string text =
      "# tracer: nop\n#  _-----=> irqs-off/BH-disabled\n# / _----=> need-resched\n"
      "CPU:2 [LOST 123 EVENTS]\n => schedule\ncpus=2\n";
  std::uint64_t time_ns = 1'000'000'000;
  for (const bool nanoseconds : {false, true}) {
    for (const bool short_tasks : {false, true}) {
      for (int kind = 0; kind < static_cast<int>(event_kinds); ++kind) {
        told_event told;
        told.event.kind = static_cast<event_kind>(kind);
        told.event.time_ns = time_ns += 1001;
        told.event.pid = told.event.context_pid = 93;
        told.event.target_cpu = 1;
        told.context_comm = told.comm = "a:1 [1] R ==> b";
        told.other_comm = " next_pid=1 ";
        told.marker = "release";
        told.flags = "dNh3..";
        text += test::line_of(told, {.flags = short_tasks ? 0U : 5U,
                                     .tgid = nanoseconds,
                                     .nanoseconds = nanoseconds,
                                     .short_tasks = short_tasks,
                                     .trace_cmd = short_tasks,
                                     .carriage_returns = false});
      }
    }
  }
  return text;
}

void mutate(std::string& text, std::mt19937_64& random) {
  const auto below = [&random](std::size_t limit) { return random() % limit; };
  for (auto edits = 1 + below(6); edits > 0 && !text.empty(); --edits) {
    const std::size_t where = below(text.size());
    switch (below(6)) {
      case 0:
        text[where] = static_cast<char>(below(256));
        break;
      case 1:
        text[where] = " -[]():=0123456789.\n\r"[below(21)];
        break;
      case 2:
        text.insert(where, 1, static_cast<char>(below(256)));
        break;
      case 3:
        text.erase(where, 1 + below(20));
        break;
      case 4:
        text.insert(where, text.substr(below(text.size()), 1 + below(80)));
        break;
      default:
        if (below(8) == 0) text.resize(where);
        break;
    }
  }
}

// Refused in one line, or consistent.
void read_damaged(const std::string& text) {
  const test::scratch_file file(text);
  try {
    const recording got = read_recording(file.path());
    EXPECT_TRUE(
        std::is_sorted(got.events.begin(), got.events.end(),
                       [](const event& a, const event& b) { return a.time_ns < b.time_ns; }));
    for (const event& entry : got.events) {
      EXPECT_LT(entry.cpu, got.cpus);
      EXPECT_LT(entry.target_cpu, static_cast<std::int32_t>(got.cpus));
      EXPECT_LT(std::max({entry.comm, entry.other_comm, entry.text}), got.strings.size());
      EXPECT_LE(entry.where, got.lines);
    }
    for (const anomaly& a : got.anomalies) {
      EXPECT_EQ(a.first.size(), std::min<std::size_t>(a.count, 5));
    }
  } catch (const input_error& error) {
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
    EXPECT_TRUE(std::string_view(error.what()).starts_with(file.path()));
  }
}

TEST(damage, to_a_text_is_read_past_or_refused) {
  const std::string intact = mixed_text();
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::string text = intact;
    mutate(text, random);
    read_damaged(text);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(damage, to_a_compressed_text_is_read_past_or_refused) {
  const std::string intact = mixed_text();
  for (const std::string& packed : {test::gzip(intact), test::xz(intact), test::zstd(intact)}) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
      SCOPED_TRACE(seed);
      std::mt19937_64 random(seed);
      std::string text = packed;
      mutate(text, random);
      read_damaged(text);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(damage, a_text_cut_anywhere_gives_its_whole_lines) {
  const std::string intact = mixed_text();
  const std::size_t first_event = intact.find("sched_switch");
  const std::size_t second_line = intact.find('\n', first_event) + 1;
  for (std::size_t size = second_line; size < intact.size(); size += 3) {
    const test::scratch_file file(intact.substr(0, size));
    const recording got = read_recording(file.path());
    const auto whole =
        std::count(intact.begin(), intact.begin() + static_cast<std::ptrdiff_t>(size), '\n');
    EXPECT_EQ(got.events.size(), static_cast<std::size_t>(whole) - 6) << size;
  }
}

}  // namespace
}  // namespace vlag::trace

// SPDX-License-Identifier: Apache-2.0
#include "trace/ftrace_line.hpp"

#include <gtest/gtest.h>

#include <string>

namespace vlag::trace {
namespace {

struct read_line {
  bool is_line = false;
  line_kind kind = line_kind::malformed;
  line_head head;
  event entry;
  event_texts texts;
};

// The views point into `line`.
read_line read(std::string_view line) {
  read_line result;
  result.is_line = parse_head(line, result.head);
  if (!result.is_line) return result;
  result.entry.context_pid = result.head.pid;
  result.kind = read_arguments(result.head, result.entry, result.texts);
  read_flags(result.head.flags, {}, result.entry);
  return result;
}

read_line read_arguments_of(std::string_view event_and_arguments, std::int32_t context_pid = 92) {
  static std::string line;
  line = "          runner-" + std::to_string(context_pid) + "      [000] d..2.     0.913496: ";
  line += event_and_arguments;
  return read(line);
}

void expect_switch(const read_line& got, std::string_view comm, int pid,
                   std::string_view other_comm, int other_pid) {
  ASSERT_EQ(got.kind, line_kind::known);
  EXPECT_EQ(got.texts.comm, comm);
  EXPECT_EQ(got.entry.pid, pid);
  EXPECT_EQ(got.texts.other_comm, other_comm);
  EXPECT_EQ(got.entry.other_pid, other_pid);
}

TEST(parse_head, reads_the_kernels_line) {
  const auto got = read(
      "     kworker/0:2-45      [003] dNh4.    12.913501: sched_waking: comm=rcu_preempt pid=15 "
      "prio=120 target_cpu=002");
  ASSERT_EQ(got.kind, line_kind::known);
  EXPECT_EQ(got.head.pid, 45);
  EXPECT_EQ(got.head.cpu, 3U);
  EXPECT_EQ(got.head.time_ns, 12'913'501'000U);
  EXPECT_EQ(got.entry.kind, event_kind::waking);
  EXPECT_EQ(got.entry.context, context_kind::hardirq);
  EXPECT_TRUE(got.entry.need_resched);
  EXPECT_EQ(got.texts.comm, "rcu_preempt");
  EXPECT_EQ(got.entry.pid, 15);
  EXPECT_EQ(got.entry.prio, 120);
  EXPECT_EQ(got.entry.target_cpu, 2);
}

TEST(parse_head, takes_every_flag_column_width) {
  for (const char* flags : {"", "d..2 ", "d..2. ", "d..2.. ", "dNs3.1 ", "b..2a "}) {
    const std::string line = std::string("            bash-77      [012] ") + flags +
                             " 1234.567890: sched_process_exit: comm=bash pid=77 prio=120";
    const auto got = read(line);
    ASSERT_EQ(got.kind, line_kind::known) << flags;
    EXPECT_EQ(got.head.cpu, 12U);
    EXPECT_EQ(got.head.time_ns, 1'234'567'890'000U);
  }
}

TEST(parse_head, takes_a_tgid_column) {
  for (const char* tgid : {"(     77)", "(-------)", "(77)", "(-----)"}) {
    const std::string line =
        std::string("            bash-77      ") + tgid +
        " [012] d..2.  1.567890: sched_process_exit: comm=bash pid=77 prio=120";
    EXPECT_EQ(read(line).kind, line_kind::known) << tgid;
  }
}

TEST(parse_head, takes_cpu_numbers_of_any_width_up_to_the_highest) {
  const auto cpu_of = [](const std::string& cpu) {
    return read("            bash-77      [" + cpu +
                "] d..2.  1.567890: sched_process_exit: comm=a "
                "pid=77 prio=120");
  };
  EXPECT_EQ(cpu_of("0").head.cpu, 0U);
  EXPECT_EQ(cpu_of("0007").head.cpu, 7U);
  EXPECT_EQ(cpu_of("8191").head.cpu, 8191U);
  EXPECT_FALSE(cpu_of("8192").is_line);
  EXPECT_FALSE(cpu_of("65536").is_line);
  EXPECT_FALSE(cpu_of("-1").is_line);
  EXPECT_FALSE(cpu_of("").is_line);
}

TEST(parse_head, takes_microseconds_and_nanoseconds) {
  const auto time_of = [](const std::string& time) {
    return read("            bash-77      [000] d..2. " + time +
                ": sched_process_exit: comm=a "
                "pid=77 prio=120");
  };
  EXPECT_EQ(time_of("1.000001").head.time_ns, 1'000'001'000U);
  EXPECT_EQ(time_of("1.000000001").head.time_ns, 1'000'000'001U);
  EXPECT_EQ(time_of("9223372035.999999999").head.time_ns, 9'223'372'035'999'999'999U);
  EXPECT_FALSE(time_of("9223372036.000000000").is_line);
  EXPECT_FALSE(time_of("99999999999999999999.000000").is_line);
  EXPECT_FALSE(time_of("123456789").is_line);
  EXPECT_FALSE(time_of("1.").is_line);
  EXPECT_FALSE(time_of("1.0000000001").is_line);
}

TEST(parse_head, finds_the_pid_whatever_the_name_looks_like) {
  for (const char* comm : {"a-1 [0] 1.0: b:", "-5 [000] ", "] [", "a b-c-12", "--", " -1", "x:y=z",
                           "(12) [001]", "", "ends in space ", "\x01\xff-9 ", "<...>"}) {
    std::string line(16 - std::string_view(comm).size(), ' ');
    line += comm;
    line += "-4321    [007] d..2.   5.000001: sched_process_exit: comm=q pid=4321 prio=120";
    const auto got = read(line);
    ASSERT_EQ(got.kind, line_kind::known) << line;
    EXPECT_EQ(got.head.pid, 4321) << line;
    EXPECT_EQ(got.head.cpu, 7U);
  }
}

TEST(parse_head, reads_lines_without_the_padding) {
  const auto got =
      read("Web Content-12 [001] 5.000001: sched_process_exit: comm=q pid=12 prio=120");
  ASSERT_EQ(got.kind, line_kind::known);
  EXPECT_EQ(got.head.pid, 12);
  EXPECT_EQ(got.entry.context, context_kind::unknown);
  const auto marker = read("sh-1 [0] 1.0: tracing_mark_write: a-2 [1] 2.0: x: y-3 [2] 3.0: z: w");
  ASSERT_EQ(marker.kind, line_kind::known);
  EXPECT_EQ(marker.head.pid, 1);
  EXPECT_EQ(marker.texts.marker, "a-2 [1] 2.0: x: y-3 [2] 3.0: z: w");
}

TEST(parse_head, takes_a_system_in_front_of_the_event) {
  EXPECT_EQ(read_arguments_of("sched:sched_process_exit: comm=a pid=1 prio=120").kind,
            line_kind::known);
  const auto other = read_arguments_of("irq:irq_handler_entry: irq=16 name=ehci");
  EXPECT_EQ(other.kind, line_kind::other);
  EXPECT_EQ(other.head.event, "irq_handler_entry");
}

TEST(parse_head, leaves_other_events_alone) {
  for (const char* text : {"sys_openat(dfd: ffffff9c, filename: 7f)", "sys_openat -> 0x3",
                           "schedule <-do_idle", "sched_process_hang: comm=a pid=1",
                           "<stack trace>", "enq: (enqueue_entity+0x0/0x520) pid=129", ""}) {
    EXPECT_EQ(read_arguments_of(text).kind, line_kind::other) << text;
  }
}

TEST(parse_head, refuses_what_is_no_line) {
  for (const char* line :
       {"", " ", "-", "-1", "-1 ", "a-1 [", "a-1 [0", "a-1 [0]", "a-1 [0] ", "a-1 [0] d..2.",
        "a-1 [0] d..2. 1.0", "a-1 (x) [0] 1.0: e: ", "a-99999999999 [0] 1.0: e: ",
        "swapper 0 [000] 1.0: sched:sched_switch: x",
        "a-1 [0] d..2.3456789 1.0: e: ", "a-1 [0] d,,2 1.0: e: "}) {
    EXPECT_FALSE(read(line).is_line) << line;
  }
}

TEST(read_flags, tells_context_and_need_resched) {
  const auto flags = [](std::string_view text) {
    event out;
    read_flags(text, {}, out);
    return out;
  };
  EXPECT_EQ(flags(".....").context, context_kind::task);
  EXPECT_EQ(flags("d.s4.").context, context_kind::softirq);
  EXPECT_EQ(flags("d.h3.").context, context_kind::hardirq);
  EXPECT_EQ(flags("d.H3.").context, context_kind::hardirq);
  EXPECT_EQ(flags("d.z3.").context, context_kind::nmi);
  EXPECT_EQ(flags("d.Z3.").context, context_kind::nmi);
  EXPECT_EQ(flags("").context, context_kind::unknown);
  EXPECT_EQ(flags("d.?3.").context, context_kind::unknown);
  for (const char letter : std::string_view("NnpLbBl")) {
    EXPECT_TRUE(flags(std::string("d") + letter + ".2.").need_resched) << letter;
  }
  EXPECT_FALSE(flags("d..2.").need_resched);
  EXPECT_FALSE(flags("N..2.").need_resched);
}

TEST(read_flags, follows_the_columns_that_the_header_names) {
  flag_columns columns;
  for (const char* line : {"# tracer: nop", "#                              _-------=> irqs-off",
                           "#                             / _------=> need-resched",
                           "#                            | / _-----=> need-resched-lazy",
                           "#                            || / _----=> hardirq/softirq",
                           "#                            ||| / _---=> preempt-depth",
                           "#                            |||| / _--=> preempt-lazy-depth",
                           "#                            ||||| / _-=> migrate-disable",
                           "#                            |||||| /     delay"}) {
    learn_column(line, columns);
  }
  event out;
  read_flags("dN.h21.", columns, out);
  EXPECT_TRUE(out.need_resched);
  EXPECT_EQ(out.context, context_kind::hardirq);
  event without_header;
  read_flags("dN.h21.", {}, without_header);
  EXPECT_EQ(without_header.context, context_kind::hardirq);
  learn_column("# tracer: nop", columns);
  event after_reset;
  read_flags("d.s2.", columns, after_reset);
  EXPECT_EQ(after_reset.context, context_kind::softirq);
}

TEST(read_state, takes_letters_combinations_and_numbers) {
  const auto state = [](std::string_view text) {
    switch_state out;
    EXPECT_TRUE(read_state(text, out)) << text;
    return std::string(1, out.letter) + (out.preempted ? "+" : "");
  };
  for (const char* letter : {"R", "S", "D", "T", "t", "X", "Z", "P", "I", "K", "W", "R+", "S+"}) {
    EXPECT_EQ(state(letter), letter);
  }
  EXPECT_EQ(state("S|K"), "S");
  EXPECT_EQ(state("D|W"), "D");
  EXPECT_EQ(state("D|K|W+"), "D+");
  EXPECT_EQ(state("x"), "X");
  EXPECT_EQ(state("0"), "R");
  EXPECT_EQ(state("1"), "S");
  EXPECT_EQ(state("2"), "D");
  EXPECT_EQ(state("4"), "T");
  EXPECT_EQ(state("8"), "t");
  EXPECT_EQ(state("16"), "X");
  EXPECT_EQ(state("0x20"), "Z");
  EXPECT_EQ(state("0x40"), "P");
  EXPECT_EQ(state("128"), "I");
  EXPECT_EQ(state("256"), "R+");
  EXPECT_EQ(state("0x102"), "D+");
  EXPECT_EQ(state("130"), "D");
  switch_state out;
  for (const char* text :
       {"", "+", "S|", "|S", "SS", "S||K", "?", "0x", "1x", "0x1g", "-1", "S K"}) {
    EXPECT_FALSE(read_state(text, out)) << text;
  }
}

TEST(sched_switch, is_read_in_full) {
  const auto got = read_arguments_of(
      "sched_switch: prev_comm=cc1 prev_pid=92 prev_prio=49 prev_state=R+ ==> "
      "next_comm=kworker/0:2 next_pid=45 next_prio=-1");
  expect_switch(got, "cc1", 92, "kworker/0:2", 45);
  EXPECT_EQ(got.entry.prio, 49);
  EXPECT_EQ(got.entry.other_prio, -1);
  EXPECT_EQ(got.entry.prev_state.letter, 'R');
  EXPECT_TRUE(got.entry.prev_state.preempted);
}

TEST(sched_switch, is_read_with_names_that_look_like_fields) {
  for (const char* comm :
       {" prev_pid=1 ", " prev_pid=", "prev_state=S", " ==> next_comm=", " next_pid=1 ",
        " next_prio=1", "a=b c=d", "", " ", "  x  ", "] [", "==>", " prio=", ":1 [1] R ==> b"}) {
    const std::string text = "sched_switch: prev_comm=" + std::string(comm) +
                             " prev_pid=92 prev_prio=120 prev_state=S ==> next_comm=" + comm +
                             " next_pid=8 next_prio=110";
    expect_switch(read_arguments_of(text), comm, 92, comm, 8);
  }
}

TEST(sched_switch, is_read_as_trace_cmd_prints_it) {
  const auto got =
      read_arguments_of("sched_switch:         swapper/0:0 [120] R ==> bash:1 [-1]", 0);
  expect_switch(got, "swapper/0", 0, "bash", 1);
  EXPECT_EQ(got.entry.other_prio, -1);
}

TEST(sched_switch, in_short_form_is_settled_by_length_and_context) {
  expect_switch(read_arguments_of("sched_switch: x:1 [1] R ==> y:92 [120] S ==> b:8 [120]"),
                "x:1 [1] R ==> y", 92, "b", 8);
  expect_switch(read_arguments_of("sched_switch: a:92 [120] S ==> x:1 [1] R ==> y:8 [120]"), "a",
                92, "x:1 [1] R ==> y", 8);
  expect_switch(read_arguments_of("sched_switch: x:1 [1] R ==> y:9 [1] S ==> b:8 [120]", 9),
                "x:1 [1] R ==> y", 9, "b", 8);
  expect_switch(read_arguments_of("sched_switch: x:7 [1] R ==> y:7 [1] S ==> bb:8 [1]", 7),
                "x:7 [1] R ==> y", 7, "bb", 8);
  expect_switch(read_arguments_of("sched_switch: a:b:92 [120] S ==> c:d:8 [120]"), "a:b", 92, "c:d",
                8);
  // The pid in front is missing from the switch: the first reading stands.
  expect_switch(read_arguments_of("sched_switch: a:5 [120] S ==> b:8 [120]"), "a", 5, "b", 8);
}

TEST(sched_switch, takes_a_raw_number_and_no_arrow) {
  const auto got = read_arguments_of(
      "sched_switch: prev_comm=a prev_pid=92 prev_prio=120 prev_state=0x2 next_comm=b next_pid=8 "
      "next_prio=120");
  expect_switch(got, "a", 92, "b", 8);
  EXPECT_EQ(got.entry.prev_state.letter, 'D');
}

TEST(sched_switch, takes_fields_that_others_add_behind) {
  expect_switch(
      read_arguments_of("sched_switch: prev_comm=a prev_pid=92 prev_prio=120 prev_state=S ==> "
                        "next_comm=b next_pid=8 next_prio=120 expeller_type=1"),
      "a", 92, "b", 8);
}

TEST(sched_switch, that_makes_no_sense_is_malformed) {
  for (const char* text :
       {"sched_switch: ", "sched_switch", "sched_switch: prev_comm=",
        "sched_switch: prev_comm=a prev_pid=92 prev_prio=120 prev_state=S ==> next_comm=b "
        "next_pid=8",
        "sched_switch: prev_comm=a prev_pid=92 prev_prio=120 prev_state= ==> next_comm=b "
        "next_pid=8 "
        "next_prio=120",
        "sched_switch: prev_comm=a prev_pid=92 prev_prio=120 prev_state=Q ==> next_comm=b "
        "next_pid=8 next_prio=120",
        "sched_switch: prev_comm=a prev_pid=99999999999 prev_prio=120 prev_state=S ==> next_comm=b "
        "next_pid=8 next_prio=120",
        "sched_switch: prev_comm=a prev_pid=92 prev_prio=120 prev_state=S ==> next_comm=b "
        "next_pid=8 "
        "next_prio=12x",
        "sched_switch: a:92 [120] S ==> b:8 [120",
        "sched_switch: a:92 [120] S ==> b:8 [120] tail"}) {
    EXPECT_EQ(read_arguments_of(text).kind, line_kind::malformed) << text;
  }
}

void expect_wake(std::string_view text, std::string_view comm, int target_cpu) {
  const auto got = read_arguments_of(text);
  ASSERT_EQ(got.kind, line_kind::known) << text;
  EXPECT_EQ(got.texts.comm, comm) << text;
  EXPECT_EQ(got.entry.pid, 45) << text;
  EXPECT_EQ(got.entry.prio, 120) << text;
  EXPECT_EQ(got.entry.target_cpu, target_cpu) << text;
}

TEST(sched_wakeup, is_read_in_every_form) {
  expect_wake("sched_wakeup: comm=a pid=45 prio=120 target_cpu=012", "a", 12);
  expect_wake("sched_wakeup: comm=a pid=45 prio=120 success=1 target_cpu=012", "a", 12);
  expect_wake("sched_wakeup:         a:45 [120] CPU:012", "a", 12);
  expect_wake("sched_wakeup:         a:45 [120] success=1 CPU:012", "a", 12);
  expect_wake("sched_wakeup:         a:45 [120]<CANT FIND FIELD success> CPU:012", "a", 12);
  expect_wake("sched_wakeup:         a:45 [120] <CANT FIND FIELD success>CPU:012", "a", 12);
  expect_wake("sched_waking: comm=x pid=1 prio=2 pid=45 prio=120 target_cpu=001", "x pid=1 prio=2",
              1);
  expect_wake("sched_wakeup_new: x:1 [1] CPU:7:45 [120] CPU:003", "x:1 [1] CPU:7", 3);
}

TEST(sched_wakeup, that_makes_no_sense_is_malformed) {
  for (const char* text :
       {"sched_wakeup: comm=a pid=45 prio=120", "sched_wakeup: comm=a pid=45 prio=120 target_cpu=",
        "sched_wakeup: comm=a pid=45 prio=120 target_cpu=-1",
        "sched_wakeup: comm=a pid=45 prio=120 target_cpu=8192", "sched_waking: a:45 [120]",
        "sched_waking: a:45 [120] CPU:", "sched_wakeup_new: comm=a pid= prio=120 target_cpu=000"}) {
    EXPECT_EQ(read_arguments_of(text).kind, line_kind::malformed) << text;
  }
}

TEST(sched_process_fork, names_child_and_parent) {
  const auto got = read_arguments_of(
      "sched_process_fork: comm=x pid=1 pid=2 child_comm=y child_pid=3 child_pid=4");
  ASSERT_EQ(got.kind, line_kind::known);
  EXPECT_EQ(got.texts.other_comm, "x pid=1");
  EXPECT_EQ(got.entry.other_pid, 2);
  EXPECT_EQ(got.texts.comm, "y child_pid=3");
  EXPECT_EQ(got.entry.pid, 4);
}

TEST(sched_process_exit, takes_names_and_the_field_of_newer_kernels) {
  for (const char* tail : {"", " group_dead=true", " group_dead=false"}) {
    const auto got = read_arguments_of(
        std::string("sched_process_exit: comm=x pid=1 prio=2 pid=45 prio=120") + tail);
    ASSERT_EQ(got.kind, line_kind::known);
    EXPECT_EQ(got.texts.comm, "x pid=1 prio=2");
    EXPECT_EQ(got.entry.pid, 45);
    EXPECT_EQ(got.entry.prio, 120);
  }
}

TEST(sched_migrate_task, gives_the_destination) {
  const auto got = read_arguments_of(
      "sched_migrate_task: comm=rcu_preempt pid=15 prio=120 orig_cpu=1 dest_cpu=2");
  ASSERT_EQ(got.kind, line_kind::known);
  EXPECT_EQ(got.entry.kind, event_kind::migrate);
  EXPECT_EQ(got.entry.target_cpu, 2);
}

TEST(marker, keeps_its_text) {
  const auto marker_of = [](std::string_view text) {
    const auto got = read_arguments_of(text);
    EXPECT_EQ(got.kind, line_kind::known) << text;
    EXPECT_EQ(got.entry.kind, event_kind::marker);
    return std::string(got.texts.marker);
  };
  EXPECT_EQ(marker_of("tracing_mark_write: runner: release"), "runner: release");
  EXPECT_EQ(marker_of("tracing_mark_write:  two  spaces "), " two  spaces ");
  EXPECT_EQ(marker_of("tracing_mark_write: "), "");
  EXPECT_EQ(marker_of("print:                tracing_mark_write: runner: stop"), "runner: stop");
  EXPECT_EQ(marker_of("print:                0xffffffff8116d9e0S: hello"), "hello");
  EXPECT_EQ(marker_of("bprint:               ffffffff8116d9e0: hello"), "hello");
  EXPECT_EQ(read_arguments_of("bprint: do_idle: woke").kind, line_kind::other);
}

}  // namespace
}  // namespace vlag::trace

// SPDX-License-Identifier: Apache-2.0
//
// vlag record: what it says, and a recording where this host permits one.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "command/shell.hpp"

namespace {

using vlag::test::scratch_shell;

class record : public ::testing::Test {
 protected:
  scratch_shell::outcome vlag(const std::string& arguments) const {
    return shell_.run(VLAG_COMMAND " " + arguments);
  }
  void refuses(const scratch_shell::outcome& o, const std::string& part) const {
    EXPECT_EQ(o.code, 2);
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
  }
  std::size_t files() const {
    const auto listed = shell_.run("ls");
    return static_cast<std::size_t>(std::count(listed.out.begin(), listed.out.end(), '\n'));
  }
  // A reason to skip; empty when it has recorded.
  std::string recorded(const std::string& with) const {
    const auto o =
        vlag("record --with " + with + " -o a.data -- sh -c 'nice -n 5 sh -c \"sleep 0.3\"'");
    if (o.err.find("cannot record") != std::string::npos) return o.err;
    EXPECT_EQ(o.code, 0) << o.err;
    return {};
  }
  void expect_a_recording() const {
    EXPECT_EQ(files(), 2U);
    const auto about = vlag("trace info a.data");
    EXPECT_EQ(about.code, 0) << about.err;
    EXPECT_NE(about.out.find("sched_switch"), std::string::npos);
    EXPECT_NE(about.out.find("lost events  0\n"), std::string::npos) << about.out;
    const auto attributes = nlohmann::json::parse(shell_.content("a.data.json"));
    EXPECT_EQ(attributes.at("kernel").get<std::string>() + "\n", shell_.run("uname -r").out);
    const auto replay = vlag("replay a.data --attrs a.data.json --quiet");
    EXPECT_EQ(replay.code, 0) << replay.err;
  }

  scratch_shell shell_;
};

TEST_F(record, says_what_to_type_elsewhere) {
  const auto o = vlag("record --print-commands -o 'my file' -- make \"it's\"");
  EXPECT_EQ(o.code, 0);
  EXPECT_NE(o.out.find("perf record "), std::string::npos);
  EXPECT_NE(o.out.find("-e sched:sched_switch "), std::string::npos);
  EXPECT_NE(o.out.find("-o 'my file' -- make 'it'\\''s'\n"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("trace-cmd record "), std::string::npos);
  for (const auto* shell : {"sh", "bash"}) {
    shell_.write("commands", o.out);
    EXPECT_EQ(shell_.run(std::string(shell) + " -n commands").err, "");
  }
  EXPECT_EQ(files(), 1U);
}

TEST_F(record, waits_as_long_as_said) {
  EXPECT_NE(vlag("record --print-commands --duration 1500ms").out.find(" sleep 1.500000000\n"),
            std::string::npos);
  EXPECT_NE(vlag("record --print-commands").out.find(" sleep 5.000000000\n"), std::string::npos);
}

TEST_F(record, refuses_in_one_line) {
  refuses(vlag("record --duration soon"), "'soon' is no duration like 5s");
  refuses(vlag("record --duration 0s"), "'0s' is no duration");
  refuses(vlag("record --duration 1s -- true"), "--duration");
  refuses(vlag("record -o /no/such/folder/a.data"), "no folder");
  refuses(vlag("record -o a --attrs ./a"), "--attrs: ./a is the recording");
  refuses(shell_.run("PATH=/nowhere " VLAG_COMMAND " record --with perf"),
          "cannot record: perf is not installed");
  EXPECT_EQ(files(), 0U);
}

TEST_F(record, records_with_perf) {
  if (const std::string reason = recorded("perf"); !reason.empty()) GTEST_SKIP() << reason;
  expect_a_recording();
}

TEST_F(record, records_with_tracefs) {
  if (const std::string reason = recorded("tracefs"); !reason.empty()) GTEST_SKIP() << reason;
  expect_a_recording();
  EXPECT_EQ(shell_
                .run("ls -d /sys/kernel/tracing/instances/vlag-* "
                     "/sys/kernel/debug/tracing/instances/vlag-*")
                .out,
            "");
}

TEST_F(record, leaves_nothing_for_a_command_that_is_not_there) {
  for (const std::string with : {"perf", "tracefs"}) {
    refuses(vlag("record --with " + with + " -- no-such-command"), "");
    EXPECT_EQ(files(), 0U) << with;
  }
}

// Sent as soon as the recording is on.
TEST_F(record, a_signal_ends_it_early_and_it_is_written) {
  const auto interrupted = [this](const std::string& with, const std::string& signal,
                                  const std::string& is_on) {
    return shell_.run("rm -f *; " VLAG_COMMAND " record --with " + with +
                      " -o a.data --duration 60s & for i in $(seq 100); do ls -d " + is_on +
                      " >/dev/null 2>&1 && break; sleep 0.1; done; sleep 0.3; kill -" + signal +
                      " $!; wait $!");
  };
  const auto perf = interrupted("perf", "TERM", "*.unfinished-*");
  if (perf.err.find("cannot record") != std::string::npos) GTEST_SKIP() << perf.err;
  EXPECT_EQ(perf.code, 0) << perf.err;
  expect_a_recording();
  const auto tracefs = interrupted("tracefs", "HUP", "/sys/kernel/debug/tracing/instances/vlag-$!");
  if (tracefs.err.find("cannot record") != std::string::npos) GTEST_SKIP() << tracefs.err;
  EXPECT_EQ(tracefs.code, 0) << tracefs.err;
  expect_a_recording();
}

}  // namespace

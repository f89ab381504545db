// SPDX-License-Identifier: Apache-2.0
//
// Events that rt-app ignores: pipes, signals, sleeps to a period; tasks that read their clock.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "input/input_error.hpp"
#include "workload/rtapp_run.hpp"

namespace vlag {
namespace {

constexpr std::uint64_t ms = 1'000'000;

rtapp_workload workload(std::string_view tasks) {
  return parse_rtapp(fmt::format("{{\"tasks\":{{{}}}}}", tasks), "w", {});
}

run_figures run(std::string_view tasks, std::uint64_t duration_ns = 1000 * ms,
                const char* policy = "linux-6.12") {
  const rtapp_workload w = workload(tasks);
  rtapp_run_options options;
  options.duration_ns = duration_ns;
  return run_rtapp(w, parse_variant(policy, {}, w.cpus, 4 * ms), options);
}

// What is refused begins so; "accepted".
std::string refusal(std::string_view event) {
  try {
    static_cast<void>(workload(fmt::format("\"a\":{{\"loop\":1,\n{}}}", event)));
  } catch (const input_error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(rtapp_pipes, a_name_is_a_message_of_100_bytes) {
  const rtapp_workload w =
      workload(R"("a":{"loop":1,"vlag_send":"p","vlag_send1":{"pipe":"p","bytes":7}},
                  "b":{"loop":1,"vlag_recv":{"pipe":"p","capacity":8192}})");
  ASSERT_EQ(w.pipes, (std::vector<std::uint32_t>{8192}));
  const program& a = w.tasks.at(0).steps;
  EXPECT_EQ(a.at(1).kind, op_kind::pipe_write);
  EXPECT_EQ(a.at(1).value, 100U);
  EXPECT_EQ(a.at(2).value, 7U);
  EXPECT_EQ(w.tasks.at(1).steps.at(1).kind, op_kind::pipe_read);
  EXPECT_TRUE(w.warnings.empty());
}

// As hackbench: all messages arrive, each side pays for its own.
TEST(rtapp_pipes, an_at_sign_is_the_number_of_the_instance) {
  for (const char* policy : {"linux-6.1", "linux-6.12"}) {
    const run_figures f =
        run(R"("snd":{"instance":3,"loop":20,"vlag_send_all":{"pipe":"p","count":4}},
               "rcv":{"instance":4,"loop":60,"vlag_recv":"p@"})",
            1000 * ms, policy);
    const std::uint64_t message_ns = plain_workload_machine().pipe_call_ns;
    ASSERT_EQ(f.tasks.size(), 7U);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(f.tasks.at(i).cpu_ns, 80 * message_ns);
    for (std::size_t i = 3; i < 7; ++i) EXPECT_EQ(f.tasks.at(i).cpu_ns, 60 * message_ns);
    EXPECT_TRUE(f.anomalies.empty());
  }
}

TEST(rtapp_pipes, who_waits_for_good_is_told) {
  const run_figures f = run(R"("rcv":{"loop":1,"vlag_recv":"p"})");
  ASSERT_EQ(f.anomalies.size(), 1U);
  EXPECT_EQ(f.anomalies.front().first,
            "tasks wait for good: rcv-0 at 1:27 for bytes in a pipe, or room");
  EXPECT_EQ(workload(R"("rcv":{"loop":1,"vlag_recv":"p"})").warnings.at(0),
            "w:1:27: nobody sends to pipe \"p\"");
}

TEST(rtapp_signals, each_instance_gets_one_and_its_sleep_ends) {
  const run_figures f = run(R"("sleeper":{"instance":2,"loop":1,"sleep":900000,"run":1000},
                               "killer":{"loop":1,"sleep":10000,"vlag_kill":"sleeper"})");
  ASSERT_EQ(f.tasks.size(), 3U);
  const machine_config m = plain_workload_machine();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(f.tasks.at(i).cpu_ns, 1 * ms + m.signal_cost_ns);
    EXPECT_LT(f.tasks.at(i).sleep_ns, 11 * ms);
  }
  EXPECT_EQ(f.tasks.at(2).cpu_ns, 2 * (m.kill_cost_ns + m.queue_cost_ns));
}

// Also with nothing else in the loop: a signal takes time.
TEST(rtapp_signals, a_storm_is_no_livelock) {
  const run_figures f = run(
      R"("parent":{"loop":-1,"sleep":1000},"child":{"loop":-1,"vlag_kill":"parent"})", 100 * ms);
  EXPECT_GT(f.tasks.at(0).wakeups, 1000U);
}

TEST(rtapp_periods, a_sleep_ends_at_the_next_multiple_whatever_the_work_took) {
  const run_figures f = run(R"("frame":{"loop":-1,"run":2000,"vlag_sleep_to":16667})", 1000 * ms);
  EXPECT_EQ(f.tasks.at(0).wakeups, 59U);
  EXPECT_EQ(f.tasks.at(0).cpu_ns, 60 * 2 * ms);
}

// Reading the CPU clock is a scheduling point of EEVDF, and none of CFS.
TEST(rtapp_clock, a_task_that_reads_its_clock_is_switched_more_often) {
  const auto switches = [](std::string_view poll, const char* policy) {
    return run(fmt::format(R"("a":{{"instance":2,{}"loop":-1,"run":8000}})", poll), 1000 * ms,
               policy)
        .tasks.at(0)
        .switches_in;
  };
  constexpr std::string_view poll = R"("vlag_clock_poll":53,)";
  EXPECT_GT(switches(poll, "linux-6.12"), 3 * switches("", "linux-6.12"));
  EXPECT_EQ(switches(poll, "linux-6.1"), switches("", "linux-6.1"));
}

TEST(rtapp_own_events, what_is_wrong_is_told_with_its_place) {
  EXPECT_EQ(refusal(R"("vlag_send":1)"), "w:2:13: \"vlag_send\" is an integer; expected a string");
  EXPECT_EQ(refusal(R"("vlag_recv":{"pipe":"p","bytes":0})"),
            "w:2:33: \"bytes\" is 0; expected 1 to 1073741824");
  EXPECT_EQ(refusal(R"("vlag_recv":{"bytes":1})"),
            "w:2:13: \"vlag_recv\" lacks \"pipe\"; expected a string there");
  EXPECT_EQ(refusal(R"("vlag_recv":{"pipe":"p","size":1})"),
            "w:2:25: \"size\" in \"vlag_recv\"; expected pipe, bytes or capacity");
  EXPECT_EQ(refusal(R"("vlag_send":{"pipe":"p","count":1})").substr(0, 7), "w:2:25:");
  EXPECT_EQ(refusal(R"("vlag_send_all":{"pipe":"p"})").substr(0, 7), "w:2:17:");
  EXPECT_EQ(refusal(R"("vlag_send_all":{"pipe":"p","count":1025})").substr(0, 7), "w:2:37:");
  EXPECT_EQ(
      refusal(R"("vlag_send":{"pipe":"p","capacity":2},"vlag_recv":{"pipe":"p","capacity":3})")
          .substr(0, 7),
      "w:2:74:");
  EXPECT_EQ(refusal(R"("vlag_kill":"b")"),
            "w:2:13: \"vlag_kill\" of \"b\", which is no task that begins with the run; expected "
            "one of \"tasks\" with instances");
  EXPECT_EQ(refusal(R"("vlag_sleep_to":0)").substr(0, 7), "w:2:17:");
  EXPECT_EQ(refusal(R"("run":1,"vlag_sedn":"p")").substr(0, 7), "w:2:9: ");
  EXPECT_EQ(refusal(R"("phases":{"x":{"vlag_clock_poll":5,"run":1}})").substr(0, 7), "w:2:34:");
  EXPECT_EQ(refusal(R"("run":1,"vlag_clock_poll":-1)").substr(0, 7), "w:2:27:");
  EXPECT_EQ(refusal(R"("vlag_send":"p")"), "accepted");
}

}  // namespace
}  // namespace vlag

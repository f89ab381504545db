// SPDX-License-Identifier: Apache-2.0
#include "report/debug_dump.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "machine/machine.hpp"

namespace vlag {
namespace {

constexpr std::uint64_t ms = 1'000'000;

TEST(debug_dump, virtual_times_are_ms_with_all_ns) {
  EXPECT_EQ(split_ms(0), "0.000000");
  EXPECT_EQ(split_ms(-1'048'576), "-1.048576");
  EXPECT_EQ(split_ms(-1), "-0.000001");
  EXPECT_EQ(split_ms(std::numeric_limits<std::int64_t>::min()), "-9223372036854.775808");
}

// One that sleeps, two that compute, one not yet born, one of real time that waits for 50 ms.
void add_tasks(machine& simulated) {
  std::int32_t pid = 10;
  const auto add = [&](const char* name, program steps, start_state start = start_state::runnable,
                       sched_policy policy = sched_policy::normal) {
    task_setup setup;
    setup.pid = pid++;
    setup.name = name;
    setup.start = start;
    setup.policy = policy;
    setup.rt_priority = policy == sched_policy::fifo ? 50 : 0;
    setup.steps = std::move(steps);
    simulated.add_task(std::move(setup));
  };
  add("hog", {{op_kind::run, 0, forever_ns}});
  add("sleeper", {{op_kind::run, 0, 1 * ms}, {op_kind::sleep, 0, 50 * ms}});
  add("hog2", {{op_kind::run, 0, forever_ns}});
  add("child", {{op_kind::run, 0, 1 * ms}}, start_state::unborn);
  add("rt", {{op_kind::sleep, 0, 50 * ms}}, start_state::blocked, sched_policy::fifo);
}

std::string dump_of(const char* profile_name, std::uint64_t at_ns) {
  machine_config config;
  config.tick_jitter_ns = 0;
  const policy_config policy = configure(*find_profile(profile_name), 1, config.tick_ns);
  machine simulated(config, policy, 5);
  add_tasks(simulated);
  static_cast<void>(simulated.run_until(at_ns));
  return debug_dump(simulated.snapshot());
}

TEST(debug_dump, of_eevdf) {
  EXPECT_EQ(dump_of("linux-6.12", 9 * ms), R"(cpu#0
  .nr_switches                  : 3
  .clock                        : 8.000000
  .curr                         : hog2:12

cfs_rq[0]:/
  .left_deadline                : 3.651424
  .left_vruntime                : 2.951424
  .zero_vruntime                : 2.451424
  .avg_vruntime                 : 2.451424
  .right_vruntime               : 2.951424
  .spread                       : 0.000000
  .nr_queued                    : 2
  .h_nr_runnable                : 2
  .h_nr_queued                  : 2
  .h_nr_idle                    : 0
  .load                         : 2097152

runnable tasks:
 S  task     PID   vruntime  eligible  deadline     slice       vlag  delayed  sum-exec  switches  prio  latency-nice  wait-time  sum-sleep  group-path
-------------------------------------------------------------------------------------------------------------------------------------------------------
 R  hog       10   2.951424         N  3.651424  0.700000  -0.500000           4.000000         1   120             0   5.000000   0.000000  /
 S  sleeper   11  -0.048576         -         -  0.700000   0.666666           1.000000         1   120             0   0.000000   4.000000  /
>R  hog2      12   1.951424         E  2.651424  0.700000   0.500000           3.000000         1   120             0   0.000000   0.000000  /
 N  child     13   0.000000         -         -  0.000000   0.000000           0.000000         0   120             0   0.000000   0.000000  /
 S  rt        14          -         -         -         -          -           0.000000         0    49             -   0.000000   9.000000  /
)");
}

TEST(debug_dump, of_cfs) {
  EXPECT_EQ(dump_of("linux-6.1", 9 * ms), R"(cpu#0
  .nr_switches                  : 3
  .clock                        : 8.000000
  .curr                         : hog2:12

cfs_rq[0]:/
  .MIN_vruntime                 : 2.951424
  .min_vruntime                 : 1.951424
  .max_vruntime                 : 2.951424
  .spread                       : 0.000000
  .nr_running                   : 2
  .h_nr_running                 : 2
  .idle_h_nr_running            : 0
  .load                         : 2097152

runnable tasks:
 S  task     PID   vruntime  sum-exec  switches  prio  latency-nice  wait-time  sum-sleep  group-path
-----------------------------------------------------------------------------------------------------
 R  hog       10   2.951424  4.000000         1   120             0   5.000000   0.000000  /
 S  sleeper   11  -0.048576  1.000000         1   120             0   0.000000   4.000000  /
>R  hog2      12   1.951424  3.000000         1   120             0   0.000000   0.000000  /
 N  child     13   0.000000  0.000000         0   120             0   0.000000   0.000000  /
 S  rt        14          -  0.000000         0    49             -   0.000000   9.000000  /
)");
}

TEST(debug_dump, of_an_idle_machine_and_several_cpus) {
  machine_config config;
  config.cpus = 2;
  const policy_config policy = configure(*find_profile("linux-6.12"), 2, config.tick_ns);
  machine simulated(config, policy, 1);
  static_cast<void>(simulated.run_until(1));
  EXPECT_EQ(debug_dump(simulated.snapshot()), R"(cpu#0
  .nr_switches                  : 0
  .clock                        : 0.000000
  .curr                         : idle

cfs_rq[0]:/
  .left_deadline                : -
  .left_vruntime                : -
  .zero_vruntime                : -1.048576
  .avg_vruntime                 : -1.048576
  .right_vruntime               : -
  .spread                       : -
  .nr_queued                    : 0
  .h_nr_runnable                : 0
  .h_nr_queued                  : 0
  .h_nr_idle                    : 0
  .load                         : 0

runnable tasks:
S  task  PID  vruntime  eligible  deadline  slice  vlag  delayed  sum-exec  switches  prio  latency-nice  wait-time  sum-sleep  group-path
------------------------------------------------------------------------------------------------------------------------------------------

cpu#1
  .nr_switches                  : 0
  .clock                        : 0.000000
  .curr                         : idle

cfs_rq[1]:/
  .left_deadline                : -
  .left_vruntime                : -
  .zero_vruntime                : -1.048576
  .avg_vruntime                 : -1.048576
  .right_vruntime               : -
  .spread                       : -
  .nr_queued                    : 0
  .h_nr_runnable                : 0
  .h_nr_queued                  : 0
  .h_nr_idle                    : 0
  .load                         : 0

runnable tasks:
S  task  PID  vruntime  eligible  deadline  slice  vlag  delayed  sum-exec  switches  prio  latency-nice  wait-time  sum-sleep  group-path
------------------------------------------------------------------------------------------------------------------------------------------
)");
}

}  // namespace
}  // namespace vlag

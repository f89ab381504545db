// SPDX-License-Identifier: Apache-2.0
#include "workload/random_workload.hpp"

#include <gtest/gtest.h>

#include "rtapp_case.hpp"

namespace vlag {
namespace test {
namespace {

std::string refused(std::string_view text) {
  try {
    static_cast<void>(parse_random_request(text));
  } catch (const input_error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(random_workload, what_is_asked_for_is_read_or_refused) {
  const random_request r = parse_random_request(
      "tasks=3,seed=18446744073709551615,cpus=2,groups=4,"
      "rt=0,sync=0,fork=0,policies=0,duration=7");
  EXPECT_EQ(r.tasks, 3U);
  EXPECT_EQ(r.seed, ~std::uint64_t{0});
  EXPECT_EQ(r.cpus, 2U);
  EXPECT_EQ(r.groups, 4U);
  EXPECT_EQ(r.rt, 0U);
  EXPECT_FALSE(r.sync || r.fork || r.policies);
  EXPECT_EQ(r.duration_s, 7U);
  EXPECT_EQ(parse_random_request("").tasks, 8U);
  EXPECT_EQ(refused("tasks=0"), "random:tasks=0: expected tasks= and a number from 1 to 1000");
  EXPECT_EQ(refused("tasks"), "random:tasks: expected tasks= and a number from 1 to 1000");
  EXPECT_EQ(refused("cpus=1x"), "random:cpus=1x: expected cpus= and a number from 1 to 64");
  EXPECT_EQ(refused("speed=1"),
            "random:speed=1: expected one of tasks, seed, cpus, groups, rt, sync, fork, policies, "
            "duration, with = and a number");
}

// Every event and setting of rt-app's comes up; all of it is a file without fault.
TEST(random_workload, has_everything) {
  std::string all;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    random_request r;
    r.seed = seed;
    r.cpus = 2;
    r.groups = 3;
    const std::string text = random_workload_text(r);
    EXPECT_EQ(text, random_workload_text(r));
    EXPECT_EQ(refusal(text), "accepted") << text;
    all += text;
  }
  for (const char* key :
       {"run",      "runtime",    "sleep",     "timer", "yield",    "mem",   "iorun",   "memrun",
        "lock",     "unlock",     "wait",      "sync",  "signal",   "broad", "barrier", "sem_post",
        "sem_wait", "suspend",    "resume",    "fork",  "instance", "delay", "loop",    "policy",
        "priority", "dl-runtime", "taskgroup", "cpus",  "util_min", "phases"}) {
    EXPECT_NE(all.find(fmt::format("\"{}\":", key)), std::string::npos) << key;
  }
}

TEST(random_workload, only_what_is_asked_for) {
  random_request r;
  r.sync = false;
  r.fork = false;
  r.rt = 0;
  r.tasks = 100;
  const std::string text = random_workload_text(r);
  for (const char* key : {"lock", "sem_wait", "suspend", "barrier", "fork", "cpus", "taskgroup"}) {
    EXPECT_EQ(text.find(fmt::format("\"{}\":", key)), std::string::npos) << key;
  }
  EXPECT_EQ(text.find("SCHED_FIFO"), std::string::npos);
}

}  // namespace
}  // namespace test
}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// What an attributes file says of a host, from a made-up /proc and /sys.
#include "vlag/host_state.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "command/shell.hpp"

namespace {

using nlohmann::json;
using vlag::test::scratch_shell;

class host_state : public ::testing::Test {
 protected:
  host_state() {
    shell_.write("proc/sys/kernel/osrelease", "6.12.95+deb13\n");
    shell_.write("proc/sys/kernel/sched_autogroup_enabled", "0\n");
    shell_.write("boot/config-6.12.95+deb13", "# CONFIG_HZ_100 is not set\nCONFIG_HZ=1000\n");
    shell_.write("sys/devices/system/cpu/online", "0-3\n");
    shell_.write("sys/kernel/debug/sched/features", "PLACE_LAG RUN_TO_PARITY \n");
    shell_.write("sys/kernel/debug/sched/base_slice_ns", "2800000\n");
  }
  void task(int pid, int tid, const std::string& cgroup, const std::string& cpus = "0-3") const {
    const std::string folder = "proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/";
    shell_.write(folder + "comm", "t" + std::to_string(tid) + "\n");
    shell_.write(folder + "status",
                 "Name:\tx\nCpus_allowed:\tf\nCpus_allowed_list:\t" + cpus + "\n");
    shell_.write(folder + "cgroup", cgroup);
  }
  vlag::host_state read() const {
    return vlag::read_host(shell_.folder().string(), [this](int tid, vlag::sched_attr& attr) {
      const auto found = attrs_.find(tid);
      if (found == attrs_.end()) return ESRCH;
      attr = found->second;
      return 0;
    });
  }
  vlag::sched_attr& attr(int tid) {
    attrs_[tid].runtime_ns = 2'800'000;
    return attrs_[tid];
  }

  scratch_shell shell_;
  std::map<int, vlag::sched_attr> attrs_;
};

constexpr const char* unified_mount =
    "24 1 0:22 / /proc rw - proc proc rw\n"
    "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";

TEST_F(host_state, kernel_features_and_tick) {
  const json file = json::parse(vlag::attributes_text(read(), {}));
  EXPECT_EQ(file, json::parse(R"({"hz": 1000, "kernel": "6.12.95+deb13",
      "features": "PLACE_LAG RUN_TO_PARITY", "base_slice_ns": 2800000})"));
}

TEST_F(host_state, only_recorded_tasks_with_something_to_say) {
  for (const int tid : {10, 11, 12, 13, 14, 15}) {
    task(10, tid, "0::/\n", tid == 14 ? "2" : "0-3");
    attr(tid);
  }
  attr(11).nice = -5;
  attr(12).policy = 1;
  attr(12).runtime_ns = 0;
  attr(13).runtime_ns = 100'000;
  attr(15).nice = 3;
  const json file = json::parse(vlag::attributes_text(read(), {10, 11, 12, 13, 14, 99}));
  EXPECT_EQ(file.at("tasks"), json::parse(R"([
      {"pid": 11, "comm": "t11", "nice": -5}, {"pid": 12, "comm": "t12", "policy": "fifo"},
      {"pid": 13, "comm": "t13", "slice_us": 100}, {"pid": 14, "comm": "t14", "cpus": "2"}])"));
  EXPECT_FALSE(file.contains("groups"));
}

TEST_F(host_state, groups_of_the_unified_hierarchy) {
  shell_.write("proc/self/mountinfo", unified_mount);
  shell_.write("sys/fs/cgroup/web/cpu.weight", "300\n");
  shell_.write("sys/fs/cgroup/web/cpu.max", "50000 100000\n");
  shell_.write("sys/fs/cgroup/web/one/cpu.weight", "100\n");
  shell_.write("sys/fs/cgroup/web/one/cpu.max", "max 100000\n");
  shell_.write("sys/fs/cgroup/web/one/no-controller/cgroup.procs", "");
  shell_.write("sys/fs/cgroup/low/cpu.weight", "0\n");
  shell_.write("sys/fs/cgroup/low/cpu.idle", "1\n");
  shell_.write("sys/fs/cgroup/unused/cpu.weight", "7\n");
  task(10, 10, "0::/web/one/no-controller\n");
  task(11, 11, "0::/low\n");
  task(12, 12, "0::/not/controlled\n");
  task(13, 13, "0::/unused\n");
  for (const int tid : {10, 11, 12, 13}) attr(tid);
  const json file = json::parse(vlag::attributes_text(read(), {10, 11, 12}));
  EXPECT_EQ(file.at("groups"), json::parse(R"([{"path": "/low", "cpu.idle": "1"},
      {"path": "/web", "cpu.weight": "300", "cpu.max": "50000 100000"}, {"path": "/web/one"}])"));
  EXPECT_EQ(file.at("tasks"), json::parse(R"([{"pid": 10, "comm": "t10", "group": "/web/one"},
      {"pid": 11, "comm": "t11", "group": "/low"}])"));
}

TEST_F(host_state, groups_of_the_first_version) {
  shell_.write("proc/self/mountinfo",
               std::string(unified_mount) +
                   "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  const std::string folder = "sys/fs/cgroup/cpu,cpuacct/a/";
  shell_.write(folder + "cpu.shares", "2048\n");
  shell_.write(folder + "cpu.cfs_quota_us", "20000\n");
  shell_.write(folder + "cpu.cfs_period_us", "100000\n");
  task(10, 10, "9:name=systemd:/x\n4:cpu,cpuacct:/a\n0::/y\n");
  attr(10);
  const json file = json::parse(vlag::attributes_text(read(), {10}));
  EXPECT_EQ(file.at("groups"),
            json::parse(R"([{"path": "/a", "cpu.max": "20000 100000", "cpu.shares": "2048"}])"));
}

TEST_F(host_state, sessions_are_groups_when_the_kernel_makes_them) {
  shell_.write("proc/self/mountinfo", unified_mount);
  shell_.write("proc/10/autogroup", "/autogroup-78 nice 4\n");
  task(10, 10, "0::/\n");
  attr(10);
  EXPECT_FALSE(json::parse(vlag::attributes_text(read(), {10})).contains("groups"));
  shell_.write("proc/sys/kernel/sched_autogroup_enabled", "1\n");
  const json file = json::parse(vlag::attributes_text(read(), {10}));
  EXPECT_EQ(file.at("groups"),
            json::parse(R"([{"path": "/autogroup-78", "cpu.weight.nice": "4"}])"));
}

TEST_F(host_state, the_slice_of_most_is_the_base_slice_when_the_kernel_hides_it) {
  shell_.write("sys/kernel/debug/sched/base_slice_ns", "");
  for (const int tid : {10, 11, 12}) {
    task(10, tid, "0::/\n");
    attr(tid);
  }
  attr(11).runtime_ns = 500'000;
  EXPECT_EQ(read().base_slice_ns, 2'800'000U);
}

TEST_F(host_state, what_came_later_is_added) {
  task(10, 10, "0::/\n");
  attr(10);
  vlag::host_state first = read();
  attr(10).nice = 2;
  task(20, 20, "0::/\n");
  attr(20);
  vlag::add_later(first, read());
  EXPECT_EQ(first.tasks.size(), 2U);
  EXPECT_EQ(first.tasks.at(10).nice, 2);
}

TEST(host_text, is_read_or_passed_over) {
  EXPECT_EQ(vlag::configured_hz("CONFIG_HZ=250\n"), 250U);
  EXPECT_EQ(vlag::configured_hz("CONFIG_HZ=x\nCONFIG_HZ_100=y\n"), std::nullopt);
  EXPECT_EQ(vlag::cpu_cgroup(""), "/");
  EXPECT_EQ(vlag::cpu_cgroup("3:cpuset:/c\n0::/u"), "/u");
  EXPECT_EQ(vlag::cpu_cgroup("garbage\n:\n0:x\n"), "/");
  EXPECT_EQ(vlag::cpu_cgroup_mount("1 2\nno dash\n").folder, "");
  EXPECT_FALSE(vlag::parse_autogroup("/autogroup-0 nice 0\n"));
  EXPECT_FALSE(vlag::parse_autogroup("/autogroup-5"));
  ASSERT_TRUE(vlag::parse_autogroup("/autogroup-5 nice -3\n"));
  EXPECT_EQ(vlag::parse_autogroup("/autogroup-5 nice -3\n")->nice, -3);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "report/schedule.hpp"

#include <gtest/gtest.h>

#include <map>

#include "trace/reader.hpp"
#include "workload/replay.hpp"
#include "workload/variant.hpp"

namespace vlag {
namespace {

// Measures what it is told, by the rules of run_figures.
class measuring_sink : public schedule_sink {
 public:
  struct sums {
    std::uint64_t cpu_ns = 0;
    std::uint64_t switches_in = 0;
    std::uint64_t voluntary = 0;
    std::uint64_t involuntary = 0;
    std::uint64_t wakeups = 0;
    bool operator==(const sums&) const = default;
  };

  void begin(const schedule_info& info) override {
    ++begins;
    told = info;
    on_.assign(info.cpus, {no_task, 0});
  }
  void on_start(unsigned cpu, std::uint32_t running) override { on_.at(cpu) = {running, 0}; }
  void on_switch(const schedule_switch& e) override {
    advance(e.at_ns);
    leave(e.cpu, e.previous, e.at_ns);
    if (e.previous != no_task) {
      sums& s = of(e.previous);
      ++(e.left.runnable() ? s.involuntary : s.voluntary);
    }
    if (e.next != no_task) ++of(e.next).switches_in;
    on_.at(e.cpu) = {e.next, e.at_ns};
  }
  void on_wakeup(const schedule_wakeup& e) override {
    advance(e.at_ns);
    if (e.kind != wakeup_kind::waking) ++of(e.woken).wakeups;
  }
  void on_reason(const schedule_reason& e) override {
    advance(e.at_ns);
    ++reasons;
  }
  void on_reading(const schedule_reading& e) override {
    advance(e.at_ns);
    EXPECT_EQ(on_.at(e.cpu).task, e.chosen);
    ++readings;
  }
  void end(std::uint64_t at_ns) override {
    advance(at_ns);
    for (unsigned cpu = 0; cpu < on_.size(); ++cpu) leave(cpu, on_[cpu].task, at_ns);
    ++ends;
  }

  schedule_info told;
  std::map<std::int32_t, sums> by_pid;
  int begins = 0;
  int ends = 0;
  int reasons = 0;
  int readings = 0;
  int unbalanced = 0;  // somebody else left than had come
  std::uint64_t latest_ns = 0;

 private:
  struct stay {
    std::uint32_t task;
    std::uint64_t since_ns;
  };
  sums& of(std::uint32_t task) { return by_pid[told.tasks.at(task).pid]; }
  void advance(std::uint64_t at_ns) {
    EXPECT_GE(at_ns, latest_ns);
    latest_ns = at_ns;
  }
  void leave(unsigned cpu, std::uint32_t task, std::uint64_t at_ns) {
    if (on_.at(cpu).task != task) ++unbalanced;
    if (task != no_task) of(task).cpu_ns += at_ns - on_[cpu].since_ns;
  }
  std::vector<stay> on_;
};

std::map<std::int32_t, measuring_sink::sums> measured(const run_figures& run) {
  std::map<std::int32_t, measuring_sink::sums> result;
  for (const task_figures& t : run.tasks) {
    measuring_sink::sums& s = result[t.pid];
    s.cpu_ns += t.cpu_ns;
    s.switches_in += t.switches_in;
    s.voluntary += t.voluntary;
    s.involuntary += t.involuntary;
    s.wakeups += t.wakeups;
  }
  std::erase_if(result, [](const auto& entry) { return entry.second == measuring_sink::sums{}; });
  return result;
}

class schedule : public ::testing::TestWithParam<const char*> {
 protected:
  schedule()
      : recording(trace::read_recording(folder + GetParam() + ".trace.xz")),
        attributes(read_attributes(folder + GetParam() + ".json")) {}

  const std::string folder = VLAG_TEST_DATA "/traces/";
  trace::recording recording;
  recorded_attributes attributes;
};

TEST_P(schedule, recorded_gives_the_figures_of_the_recording) {
  for (const char* window : {"", "runner: release..runner: stop", "50ms..110ms"}) {
    replay_options options;
    options.window = window;
    const recorded_workload workload(recording, attributes, options);
    measuring_sink sink;
    tell_recording(recording, workload.window_from_ns(), workload.window_to_ns(), sink);
    EXPECT_EQ(sink.begins, 1);
    EXPECT_EQ(sink.ends, 1);
    EXPECT_FALSE(sink.told.simulated);
    EXPECT_EQ(sink.unbalanced, 0) << window;
    std::erase_if(sink.by_pid,
                  [](const auto& entry) { return entry.second == measuring_sink::sums{}; });
    EXPECT_EQ(sink.by_pid, measured(workload.recorded())) << window;
  }
}

TEST_P(schedule, simulated_gives_the_figures_of_the_simulation) {
  for (const char* window : {"", "runner: release..runner: stop"}) {
    replay_options options;
    options.window = window;
    const recorded_workload workload(recording, attributes, options);
    for (const char* policy : {"linux-6.12", "linux-6.1"}) {
      const policy_variant variant = parse_variant(policy, {}, workload.cpus(), workload.tick_ns());
      measuring_sink sink;
      simulated_schedule adapter({policy, workload.cpus(), 0, 0}, sink);
      const run_figures run = workload.simulate(variant, {}, &adapter);
      EXPECT_EQ(sink.begins, 1);
      EXPECT_EQ(sink.ends, 1);
      EXPECT_TRUE(sink.told.simulated);
      EXPECT_EQ(sink.unbalanced, 0);
      EXPECT_GT(sink.reasons, 0);
      EXPECT_GT(sink.readings, 0);
      EXPECT_EQ(sink.latest_ns, run.to_ns - run.from_ns);
      std::erase_if(sink.by_pid,
                    [](const auto& entry) { return entry.second == measuring_sink::sums{}; });
      EXPECT_EQ(sink.by_pid, measured(run)) << policy << " " << window;
    }
  }
}

TEST_P(schedule, an_observer_changes_nothing) {
  const recorded_workload workload(recording, attributes, {});
  const policy_variant variant =
      parse_variant("linux-6.12", {}, workload.cpus(), workload.tick_ns());
  schedule_sink nobody;
  simulated_schedule adapter({"x", workload.cpus(), 0, 0}, nobody);
  EXPECT_EQ(measured(workload.simulate(variant)),
            measured(workload.simulate(variant, {}, &adapter)));
}

INSTANTIATE_TEST_SUITE_P(recordings, schedule,
                         ::testing::Values("6.12-d-1cpu", "6.1-m-1cpu", "6.12-h-1cpu"),
                         [](const auto& param) {
                           std::string name = param.param;
                           for (char& c : name) {
                             if (c == '-' || c == '.') c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace vlag

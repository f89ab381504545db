// SPDX-License-Identifier: Apache-2.0
//
// Whatever the programs, time is neither lost nor made: random tasks on random machines.
#include "scenario.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

namespace vlag {

void showValue(const op& o, std::ostream& out) {
  out << "{" << static_cast<int>(o.kind) << ", " << o.target << ", " << o.value << "}";
}

void showValue(const task_setup& t, std::ostream& out) {
  out << "policy " << static_cast<int>(t.policy) << " nice " << t.nice << " rt " << t.rt_priority
      << " slice " << t.slice_ns << " poll " << t.clock_poll_ns << " cpu " << t.cpu << " start "
      << static_cast<int>(t.start) << " ";
  for (const op& o : t.steps) showValue(o, out);
  out << "\n";
}

namespace test {
namespace {

constexpr std::uint64_t span_ns = 60 * ms;

struct workload {
  machine_config config;
  bool cfs = false;
  bool grouped = false;
  std::vector<task_setup> tasks;
};

void showValue(const workload& w, std::ostream& out) {
  out << "cpus " << w.config.cpus << " tick " << w.config.tick_ns << " hrtick " << w.config.hrtick
      << " delays " << w.config.switch_delay_ns << " " << w.config.idle_switch_delay_ns << " "
      << w.config.tick_switch_delay_ns << " costs " << w.config.switch_cost_ns << " "
      << w.config.wakeup_cost_ns << " " << w.config.tick_cost_ns << " cfs " << w.cfs << " track "
      << w.config.track_load << " groups " << w.grouped << "\n";
  for (const task_setup& t : w.tasks) vlag::showValue(t, out);
}

template <typename T>
T one_of(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}

std::uint64_t any_time() {
  return one_of<std::uint64_t>({0, 1, 999, 20 * us, 100 * us, 700 * us, 1 * ms, 4 * ms, 15 * ms});
}

std::uint32_t below(std::size_t limit) {
  return static_cast<std::uint32_t>(*rc::gen::inRange<std::size_t>(0, limit));
}

const std::vector<group_setup>& all_groups() {
  static const std::vector<group_setup> groups = {{"/a", {{"cpu.weight", "300"}}},
                                                  {"/a/b", {{"cpu.max", "2000 5000"}}},
                                                  {"/c", {{"cpu.idle", "1"}}},
                                                  {"/c/d", {{"cpu.latency.nice", "-5"}}}};
  return groups;
}

const std::vector<group_write>& all_writes() {
  static const std::vector<group_write> writes = {
      {1, {"cpu.weight", "20"}},     {1, {"cpu.max", "1000 3000"}}, {2, {"cpu.max", "max"}},
      {2, {"cpu.max", "1000 7000"}}, {3, {"cpu.idle", "0"}},        {3, {"cpu.idle", "1"}},
      {4, {"cpu.max.burst", "500"}}, {4, {"cpu.weight", "0"}}};
  return writes;
}

op any_op(std::size_t tasks, unsigned cpus) {
  const auto kind =
      static_cast<op_kind>(*rc::gen::inRange(0, static_cast<int>(op_kind::write_group) + 1));
  op result{kind, 0, any_time()};
  switch (kind) {
    case op_kind::run:
      if (*rc::gen::inRange(0, 20) == 0) result.value = forever_ns;
      break;
    case op_kind::wake:
    case op_kind::signal:
    case op_kind::fork:
    case op_kind::watch:
      result.target = below(tasks);
      break;
    case op_kind::move:
      result.target = below(cpus);
      break;
    case op_kind::join_group:
      result.target = below(all_groups().size() + 1);
      break;
    case op_kind::write_group:
      result.target = below(all_writes().size());
      break;
    case op_kind::sleep_ticks:
      result.value = below(4);
      break;
    case op_kind::sleep_to_period:
      result.target = below(2);
      result.value += 500;
      break;
    case op_kind::sleep:
      if (*rc::gen::inRange(0, 20) == 0) result.value = forever_ns;
      break;
    case op_kind::set_nice:
    case op_kind::set_latency_nice:
      result.value = static_cast<std::uint64_t>(std::int64_t{*rc::gen::inRange(-20, 20)});
      break;
    case op_kind::exit:
    case op_kind::end:  // rarer than the others, or nobody lives long
      if (*rc::gen::inRange(0, 4) != 0) result = sleep(300 * us);
      break;
    default:
      break;
  }
  return result;
}

task_setup any_task(std::size_t tasks, unsigned cpus) {
  task_setup t;
  t.policy =
      one_of({sched_policy::normal, sched_policy::normal, sched_policy::normal, sched_policy::batch,
              sched_policy::idle, sched_policy::fifo, sched_policy::round_robin});
  t.nice = *rc::gen::inRange(-20, 20);
  t.rt_priority = *rc::gen::inRange(1, 4);
  t.slice_ns = one_of<std::uint64_t>({0, 0, 100 * us, 20 * ms});
  t.clock_poll_ns = one_of<std::uint64_t>({0, 0, 0, 150 * us});
  t.cpu = below(cpus);
  t.group = static_cast<std::uint32_t>(below(all_groups().size() + 1));
  t.start = one_of(
      {start_state::runnable, start_state::runnable, start_state::blocked, start_state::unborn});
  const auto length = *rc::gen::inRange<std::size_t>(0, 12);
  for (std::size_t i = 0; i < length; ++i) t.steps.push_back(any_op(tasks, cpus));
  if (*rc::gen::inRange(0, 3) != 0) {
    // A loop that takes time, so that no run ends early in a livelock.
    t.steps.push_back(run(100 * us));
    t.steps.push_back(jump(0));
  }
  for (op& o : t.steps) {
    if (o.kind == op_kind::jump) o.value = 0;
  }
  const auto takes_time = std::find_if(t.steps.begin(), t.steps.end(), [](const op& o) {
    return o.kind == op_kind::jump || (o.kind == op_kind::run && o.value != 0);
  });
  if (takes_time != t.steps.end() && takes_time->kind == op_kind::jump) *takes_time = run(50 * us);
  return t;
}

rc::Gen<workload> any_workload() {
  return rc::gen::exec([] {
    workload w;
    w.cfs = *rc::gen::arbitrary<bool>();
    w.grouped = *rc::gen::arbitrary<bool>();
    w.config.cpus = *rc::gen::inRange(1U, 5U);
    w.config.tick_ns = one_of<std::uint64_t>({1 * ms, 4 * ms, 10 * ms});
    w.config.tick_phase_ns = any_time();
    w.config.hrtick = *rc::gen::arbitrary<bool>();
    w.config.skip_clock_update = *rc::gen::arbitrary<bool>();
    w.config.track_load = *rc::gen::arbitrary<bool>();
    w.config.seed = *rc::gen::arbitrary<std::uint64_t>();
    for (std::uint64_t* part :
         {&w.config.switch_delay_ns, &w.config.idle_switch_delay_ns, &w.config.tick_switch_delay_ns,
          &w.config.poll_switch_delay_ns, &w.config.switch_cost_ns, &w.config.wakeup_cost_ns,
          &w.config.tick_cost_ns, &w.config.tick_timer_delay_ns, &w.config.timer_slack_ns}) {
      *part = one_of<std::uint64_t>({0, 0, 1, 2 * us, 60 * us});
    }
    w.config.period_origins_ns = {0, 3 * ms};
    const auto tasks = *rc::gen::inRange<std::size_t>(1, 12);
    for (std::size_t i = 0; i < tasks; ++i) w.tasks.push_back(any_task(tasks, w.config.cpus));
    return w;
  });
}

// Follows the events and checks each against what must hold of any run.
class auditor final : public machine_observer {
 public:
  explicit auditor(const workload& w) : running_(w.config.cpus, no_task), since_(w.config.cpus) {}

  void on_switch(std::uint64_t at_ns, unsigned cpu, std::uint32_t previous, bool runnable,
                 std::uint32_t next) override {
    advance(at_ns);
    RC_ASSERT(running_[cpu] == previous);
    if (previous != no_task) {
      cpu_ns_[previous] += at_ns - since_[cpu];
      if (runnable) waiting_.insert(previous);
    } else {
      idle_ns_ += at_ns - since_[cpu];
    }
    if (next != no_task) RC_ASSERT(waiting_.erase(next) == 1U);
    running_[cpu] = next;
    since_[cpu] = at_ns;
  }

  void on_wakeup(std::uint64_t at_ns, unsigned /*cpu*/, std::uint32_t woken,
                 std::uint32_t /*waker*/) override {
    advance(at_ns);
    RC_ASSERT(waiting_.insert(woken).second);
    RC_ASSERT(std::count(running_.begin(), running_.end(), woken) == 0);
  }

  void finish(std::uint64_t at_ns) {
    for (unsigned cpu = 0; cpu < running_.size(); ++cpu) {
      (running_[cpu] == no_task ? idle_ns_ : cpu_ns_[running_[cpu]]) += at_ns - since_[cpu];
    }
  }
  [[nodiscard]] std::uint64_t cpu_ns(std::uint32_t task) { return cpu_ns_[task]; }
  [[nodiscard]] std::uint64_t idle_ns() const { return idle_ns_; }
  [[nodiscard]] bool runs(std::uint32_t task) const {
    return std::count(running_.begin(), running_.end(), task) != 0;
  }

 private:
  void advance(std::uint64_t at_ns) {
    RC_ASSERT(at_ns >= now_);
    now_ = at_ns;
  }

  std::uint64_t now_ = 0;
  std::uint64_t idle_ns_ = 0;
  std::vector<std::uint32_t> running_;
  std::vector<std::uint64_t> since_;
  std::set<std::uint32_t> waiting_;
  std::map<std::uint32_t, std::uint64_t> cpu_ns_;
};

void remove_groups(task_setup& setup) {
  setup.group = 0;
  for (op& o : setup.steps) {
    if (o.kind == op_kind::join_group || o.kind == op_kind::write_group) o = milestone();
  }
}

run_figures run(const workload& w, machine_observer& observer) {
  const policy_config policy =
      configure(*find_profile(w.cfs ? "linux-6.1" : "linux-6.12"), w.config.cpus, w.config.tick_ns);
  machine simulated(w.config, policy, w.tasks.size(), all_groups().size());
  if (w.grouped) {
    for (const group_setup& g : all_groups()) {
      RC_ASSERT(simulated.add_group(g).error == group_error::none);
    }
    for (const group_write& write : all_writes()) simulated.add_group_write(write);
  }
  for (std::size_t i = 0; i < w.tasks.size(); ++i) {
    task_setup setup = w.tasks[i];
    setup.pid = static_cast<std::int32_t>(i);
    if (simulated.groups() == 0) remove_groups(setup);
    simulated.add_task(std::move(setup));
  }
  simulated.set_observer(&observer);
  while (simulated.now_ns() < span_ns && simulated.livelocked() == no_task) {
    simulated.run_until(span_ns);
  }
  return simulated.figures();
}

void check_task(const task_figures& t, bool running) {
  RC_ASSERT(t.switches_in == t.voluntary + t.involuntary + (running ? 1 : 0));
  // One more: a wait under way at the end may count.
  RC_ASSERT(t.wake_latency.count() + t.preempt_wait.count() <= t.switches_in + 1);
  RC_ASSERT(t.cpu_ns + t.sleep_ns + t.wake_latency.sum_ns() + t.preempt_wait.sum_ns() <= span_ns);
  const std::uint64_t longest = std::max(t.wake_latency.max_ns(), t.preempt_wait.max_ns());
  RC_ASSERT(t.max_wait_to_ns - t.max_wait_from_ns == longest);
}

TEST(conservation, of_time_and_switches) {
  EXPECT_TRUE(rc::check([] {
    const workload w = *any_workload();
    auditor audit(w);
    const run_figures found = run(w, audit);
    audit.finish(found.to_ns);

    std::uint64_t cpu_ns = 0;
    for (std::uint32_t i = 0; i < found.tasks.size(); ++i) {
      const task_figures& t = found.tasks[i];
      RC_ASSERT(t.cpu_ns == audit.cpu_ns(i));
      check_task(t, audit.runs(i));
      cpu_ns += t.cpu_ns;
    }
    std::uint64_t busy_ns = 0;
    std::uint64_t idle_ns = 0;
    for (const cpu_figures& c : found.cpus) {
      RC_ASSERT(c.busy_ns + c.idle_ns == found.to_ns);
      RC_ASSERT(c.ticks <= c.busy_ns / w.config.tick_ns + c.switches + 1);
      busy_ns += c.busy_ns;
      idle_ns += c.idle_ns;
    }
    RC_ASSERT(busy_ns == cpu_ns);
    RC_ASSERT(idle_ns == audit.idle_ns());
    for (const auto& [name, count] : found.anomalies) RC_ASSERT(name != "sums wrapped");
    // A new task counts for half a CPU on a queue that has none yet, and there is one a group.
    const std::uint64_t assumed = 512 * (1 + found.groups.size());
    for (const load_figures& l : found.cpu_loads) RC_ASSERT(l.util <= 1100 + assumed);
    for (const load_figures& l : found.task_loads) RC_ASSERT(l.util <= 1100U);
    if (found.groups.empty()) return;
    RC_ASSERT(found.groups[0].cpu_ns + found.groups[2].cpu_ns <= cpu_ns);
    RC_ASSERT(found.groups[0].cpu_ns >= found.groups[1].cpu_ns);
    RC_ASSERT(found.groups[2].cpu_ns >= found.groups[3].cpu_ns);
  }));
}

class event_log final : public machine_observer {
 public:
  void on_switch(std::uint64_t at_ns, unsigned cpu, std::uint32_t previous, bool runnable,
                 std::uint32_t next) override {
    switches.push_back({at_ns, cpu, previous, runnable, next});
  }
  std::vector<switch_event> switches;
};

TEST(conservation, of_every_event_from_one_run_to_the_next) {
  EXPECT_TRUE(rc::check([] {
    const workload w = *any_workload();
    event_log first;
    event_log second;
    run(w, first);
    run(w, second);
    RC_ASSERT(first.switches == second.switches);
  }));
}

}  // namespace
}  // namespace test
}  // namespace vlag

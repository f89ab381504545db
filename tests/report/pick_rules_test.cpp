// SPDX-License-Identifier: Apache-2.0
//
// The rules that explanations are made from, against what the classes really chose: random
// machines, all bundled recordings.
#include "report/pick_rules.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "report/explain.hpp"
#include "trace/reader.hpp"
#include "workload/replay.hpp"

namespace vlag {
namespace {

constexpr std::uint64_t us = 1'000;
constexpr std::uint64_t ms = 1'000'000;

// Follows every decision.
class checker final : public pick_observer {
 public:
  explicit checker(const policy_config& policy) : policy_(&policy) {}

  void on_pick(const pick_record& record) override {
    ++picks;
    const followed_pick followed = follow(record, *policy_);
    for (std::size_t i = 0; i < followed.choices.size(); ++i) {
      rules.insert(followed.choices[i].rule);
      const queue_view& queue = record.steps[i];
      for (const entity_view& e : queue.entities) check_eligibility(queue, e);
      if (queue.entities[followed.choices[i].winner].delayed) ++delayed_winners;
    }
    if (followed.agrees) return;
    if (++disagreements == 1) {
      first = explain_pick(record, *policy_, "previous", "chosen") + "really " +
              std::to_string(record.chosen);
    }
  }

  std::uint64_t picks = 0;
  std::uint64_t disagreements = 0;
  std::uint64_t delayed_winners = 0;
  std::uint64_t wrong_eligibility = 0;
  std::set<pick_rule> rules;
  std::string first;

 private:
  void check_eligibility(const queue_view& queue, const entity_view& e) {
    if (queue.engine == fair_engine::cfs) return;
    const eligibility_view when = eligibility_of(queue, e);
    const bool right = when.eligible == e.eligible && (when.service_ns == 0) == when.eligible &&
                       (when.eligible || static_cast<std::int64_t>(when.virtual_ns) >= -e.lag - 1);
    wrong_eligibility += right ? 0 : 1;
  }

  const policy_config* policy_;
};

template <typename T>
T any_of(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}

// A tree of up to three levels; some groups are idle, light, or may use little of a CPU.
void add_groups(machine& simulated, unsigned groups) {
  std::vector<std::string> paths{""};
  for (unsigned i = 0; i < groups; ++i) {
    group_setup setup;
    setup.path = *rc::gen::elementOf(paths) + "/g" + std::to_string(i);
    if (*rc::gen::inRange(0, 2) == 0) {
      setup.files.push_back({"cpu.weight", std::to_string(any_of({1, 30, 300, 10000}))});
    }
    if (*rc::gen::inRange(0, 4) == 0) setup.files.push_back({"cpu.max", "3000 20000"});
    if (*rc::gen::inRange(0, 6) == 0) setup.files.push_back({"cpu.idle", "1"});
    RC_ASSERT(simulated.add_group(setup).error == group_error::none);
    if (std::count(setup.path.begin(), setup.path.end(), '/') < 3) paths.push_back(setup.path);
  }
}

void add_something(machine& simulated, unsigned tasks, unsigned cpus, unsigned groups) {
  for (unsigned i = 0; i < tasks; ++i) {
    task_setup setup;
    setup.pid = static_cast<std::int32_t>(i) + 100;
    setup.name = "t";
    setup.cpu = i % cpus;
    setup.group = *rc::gen::inRange(0U, groups + 1);
    setup.nice = any_of({0, 0, 0, -20, -5, 3, 19});
    setup.policy = any_of({sched_policy::normal, sched_policy::normal, sched_policy::normal,
                           sched_policy::batch, sched_policy::idle, sched_policy::fifo});
    setup.rt_priority = setup.policy == sched_policy::fifo ? 1 : 0;
    setup.slice_ns = any_of<std::uint64_t>({0, 0, 0, 100 * us, 3 * ms, 20 * ms});
    const std::uint64_t work = any_of<std::uint64_t>({20 * us, 300 * us, 2 * ms, 9 * ms});
    const std::uint64_t sleep = any_of<std::uint64_t>({30 * us, 1 * ms, 7 * ms});
    setup.steps.push_back({op_kind::run, 0, work});
    if (*rc::gen::inRange(0, 4) == 0) setup.steps.push_back({op_kind::yield, 0, 0});
    if (*rc::gen::inRange(0, 3) == 0) {
      setup.steps.push_back({op_kind::wake, *rc::gen::inRange(0U, tasks), 0});
    }
    const bool rests = setup.policy == sched_policy::fifo || *rc::gen::inRange(0, 3) != 0;
    if (rests) setup.steps.push_back({op_kind::sleep, 0, sleep});
    if (*rc::gen::inRange(0, 8) == 0) {
      setup.steps.push_back({op_kind::set_nice, 0, static_cast<std::uint64_t>(any_of({0, 7}))});
    }
    setup.steps.push_back({op_kind::jump, 0, 0});
    simulated.add_task(std::move(setup));
  }
}

void check_random_machine(const char* profile_name) {
  const unsigned cpus = *rc::gen::inRange(1U, 3U);
  const unsigned tasks = *rc::gen::inRange(1U, 14U);
  machine_config config;
  config.cpus = cpus;
  config.tick_ns = any_of<std::uint64_t>({1 * ms, 4 * ms});
  config.switch_delay_ns = any_of<std::uint64_t>({0, 5 * us});
  config.hrtick = *rc::gen::inRange(0, 4) == 0;
  config.seed = *rc::gen::arbitrary<std::uint64_t>();
  policy_config policy = configure(*find_profile(profile_name), cpus, config.tick_ns);
  for (const feature_info& f : all_features()) {
    if (f.engine != policy.engine || *rc::gen::inRange(0, 4) != 0) continue;
    RC_ASSERT(set_feature(policy, f.name, !f.default_on) == set_result::ok);
  }
  const unsigned groups = any_of({0U, 0U, 1U, 3U, 6U});
  machine simulated(config, policy, tasks, 6);
  checker check(policy);
  simulated.observe_picks(check);
  add_groups(simulated, groups);
  add_something(simulated, tasks, cpus, groups);
  static_cast<void>(simulated.run_until(300 * ms));
  if (check.disagreements != 0) RC_FAIL(check.first);
  RC_ASSERT(check.wrong_eligibility == 0U);
}

RC_GTEST_PROP(pick_rules, eevdf_goes_by_them_on_random_machines, ()) {
  check_random_machine(any_of({"linux-6.12", "linux-6.6", "eevdf-rfc"}));
}
RC_GTEST_PROP(pick_rules, cfs_goes_by_them_on_random_machines, ()) {
  check_random_machine("linux-6.1");
}

// Every decision of every bundled recording's replay, under the policy of each engine.
TEST(pick_rules, hold_for_every_decision_of_all_recordings) {
  std::set<pick_rule> rules;
  std::uint64_t recordings = 0;
  std::uint64_t delayed_winners = 0;
  for (const auto& entry : std::filesystem::directory_iterator(VLAG_TEST_DATA "/traces")) {
    const std::string path = entry.path().string();
    const std::size_t at = path.find(".trace.xz");
    if (at == std::string::npos) continue;
    const trace::recording recording = trace::read_recording(path, {});
    const recorded_attributes attributes = read_attributes(path.substr(0, at) + ".json");
    const recorded_workload workload(recording, attributes, {});
    ++recordings;
    const std::string span =
        std::to_string(workload.recorded().to_ns - workload.recorded().from_ns);
    for (const char* name : {"linux-6.12", "linux-6.1"}) {
      const policy_variant variant = parse_variant(name, {}, workload.cpus(), workload.tick_ns());
      checker check(variant.config);
      const auto stopped =
          workload.run_to(variant, workload.moment(recording, "test", span), &check);
      EXPECT_EQ(check.disagreements, 0U) << path << " " << name << "\n" << check.first;
      EXPECT_EQ(check.wrong_eligibility, 0U) << path;
      EXPECT_GT(check.picks, 100U) << path;
      rules.insert(check.rules.begin(), check.rules.end());
      delayed_winners += check.delayed_winners;
    }
  }
  EXPECT_GE(recordings, 26U);
  EXPECT_GT(delayed_winners, 100U);
  for (const pick_rule rule :
       {pick_rule::alone, pick_rule::protected_slice, pick_rule::earliest_deadline,
        pick_rule::leftmost, pick_rule::running_leftmost, pick_rule::next_buddy}) {
    EXPECT_TRUE(rules.contains(rule)) << static_cast<int>(rule);
  }
}

entity_view entity(const char* name, std::uint64_t vruntime, std::uint64_t deadline) {
  entity_view e;
  e.name = name;
  e.vruntime = vruntime;
  e.deadline = deadline;
  e.weight = weight_of_nice(0);
  e.queued = true;
  return e;
}

TEST(pick_rules, time_until_eligible_is_that_of_service_to_others) {
  queue_view queue;
  queue.reference = 1000;
  queue.entities = {entity("a", 1000, 2000), entity("b", 1300, 1500)};
  // V is 1150. b is 150 ahead; with a weight of 2048 in all, V moves half as fast as time.
  const eligibility_view b = eligibility_of(queue, queue.entities[1]);
  EXPECT_FALSE(b.eligible);
  EXPECT_EQ(b.virtual_ns, 150U);
  EXPECT_EQ(b.service_ns, 300U);
  EXPECT_TRUE(eligibility_of(queue, queue.entities[0]).eligible);
  queue.entities[0].vruntime += 300;  // a was served: now b's lag is 0
  EXPECT_TRUE(eligibility_of(queue, queue.entities[1]).eligible);
}

TEST(pick_rules, lag_becomes_cpu_time_by_the_weight) {
  EXPECT_EQ(service_ns(1000, nice_0_weight), 1000);
  EXPECT_EQ(service_ns(-1000, 2 * nice_0_weight), -2000);
  EXPECT_EQ(service_ns(1000, nice_0_weight / 4), 250);
}

TEST(pick_rules, a_choice_that_the_class_did_not_make_is_noticed) {
  const policy_config policy = configure(*find_profile("linux-6.12"), 1, 4 * ms);
  pick_record record;
  queue_view queue;
  queue.entities = {entity("a", 1000, 2000), entity("b", 1000, 1500)};
  queue.entities[1].id = 1;
  record.steps = {queue};
  record.chosen_exists = true;
  record.chosen = 1;
  EXPECT_TRUE(follow(record, policy).agrees);
  record.chosen = 0;
  EXPECT_FALSE(follow(record, policy).agrees);
}

}  // namespace
}  // namespace vlag

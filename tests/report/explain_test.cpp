// SPDX-License-Identifier: Apache-2.0
#include "report/explain.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace vlag {
namespace {

constexpr std::uint64_t us = 1'000;
constexpr std::uint64_t ms = 1'000'000;

entity_view entity(std::uint64_t id, const char* name, std::uint64_t vruntime,
                   std::uint64_t deadline, std::int64_t lag) {
  entity_view e;
  e.id = id;
  e.pid = static_cast<std::int32_t>(id) + 100;
  e.name = name;
  e.vruntime = vruntime;
  e.deadline = deadline;
  e.slice_ns = 3 * ms;
  e.weight = weight_of_nice(0);
  e.lag = lag;
  e.queued = true;
  return e;
}

told_decision told(std::uint64_t at_ns, decision what, const entity_view& who) {
  return {at_ns, what, who};
}

policy_config policy_of(const char* name) { return configure(*find_profile(name), 1, 4 * ms); }

pick_record two_on_a_queue() {
  pick_record record;
  record.at_ns = 50 * ms;
  record.previous_exists = true;
  record.previous = 0;
  record.fate = previous_fate::runnable;
  queue_view queue;
  queue.nr_queued = 3;
  queue.average_vruntime = 10 * ms;
  queue.reference = 10 * ms;
  queue.entities = {entity(0, "runner", 12 * ms, 14 * ms, -2 * static_cast<std::int64_t>(ms)),
                    entity(1, "late", 9 * ms, 11 * ms, 1 * ms),
                    entity(2, "later", 9 * ms, 12 * ms, 1 * ms)};
  queue.entities[0].running = true;
  record.told = {told(50 * ms - 3 * us, decision::request_used_up, queue.entities[0])};
  record.steps = {std::move(queue)};
  record.chosen_exists = true;
  record.chosen = 1;
  return record;
}

TEST(explain, earliest_deadline) {
  EXPECT_EQ(explain_pick(two_on_a_queue(), policy_of("linux-6.12"), "runner:100", "late:101"),
            R"(Before: runner:100 ran and wants to go on.
  3us earlier: runner:100 had used up its request: the CPU time that it may have at a time.

Queue /: 3 candidates, V = 10.000000 ms

  Candidate   Vruntime ms  Lag ms, virtual  Lag ms, CPU time  Deadline ms  Slice ms  Eligible  V to go ms  Others' CPU ms  State
--------------------------------------------------------------------------------------------------------------------------------
  runner:100    12.000000        -2.000000         -2.000000    14.000000  3.000000  no          2.000000        6.000000  runs
> late:101       9.000000         1.000000          1.000000    11.000000  3.000000  yes
  later:102      9.000000         1.000000          1.000000    12.000000  3.000000  yes

Chosen: late:101: its deadline is the earliest of the eligible, 1ms before that of later:102.

late:101 runs; runner:100 lost the CPU.
)");
}

TEST(explain, delayed_one_leaves_and_the_choice_begins_anew) {
  pick_record record = two_on_a_queue();
  record.told.clear();
  queue_view second = record.steps[0];
  record.steps[0].entities[1].delayed = true;
  record.fate = previous_fate::blocked;
  record.told = {told(50 * ms, decision::delayed_completed, second.entities[1])};
  second.entities.erase(second.entities.begin() + 1);
  second.nr_queued = 2;
  second.reference = 11 * ms;
  second.average_vruntime = 10'500'000;
  record.steps.push_back(std::move(second));
  record.chosen = 2;
  const std::string text = explain_pick(record, policy_of("linux-6.12"), "runner:100", "later:102");
  EXPECT_NE(text.find("It is asleep and was kept queued only until the others had caught up"),
            std::string::npos);
  EXPECT_NE(text.find("Chosen: later:102: it is the only eligible one.\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("please report"), std::string::npos) << text;
}

TEST(explain, group_then_the_task_in_it) {
  pick_record record = two_on_a_queue();
  record.steps[0].entities[1].is_group = true;
  record.steps[0].entities[1].id = 7;
  record.steps[0].entities[1].name = "/web";
  queue_view inner;
  inner.group = 7;
  inner.depth = 1;
  inner.path = "/web";
  inner.nr_queued = 1;
  inner.entities = {entity(1, "late", 1 * ms, 2 * ms, 0)};
  record.steps.push_back(std::move(inner));
  const std::string text = explain_pick(record, policy_of("linux-6.12"), "runner:100", "late:101");
  EXPECT_NE(text.find("Chosen: /web: its deadline is the earliest of the eligible, 1ms before that "
                      "of later:102.\n  It stands for its tasks: the choice goes on among them.\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Queue /web: 1 candidate, V = 0.000000 ms\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Chosen: late:101: nobody else is on the queue.\n\nlate:101 runs; runner:100 "
                      "lost the CPU.\n"),
            std::string::npos)
      << text;
}

TEST(explain, disagreement_is_said) {
  pick_record record = two_on_a_queue();
  record.chosen = 2;
  EXPECT_NE(explain_pick(record, policy_of("linux-6.12"), "a", "b").find("please report"),
            std::string::npos);
}

TEST(explain, cfs_leftmost) {
  pick_record record = two_on_a_queue();
  record.steps[0].engine = fair_engine::cfs;
  record.told[0].what = decision::ran_its_share;
  record.steps[0].entities[2].vruntime = 11 * ms;
  EXPECT_EQ(explain_pick(record, policy_of("linux-6.1"), "runner:100", "late:101"),
            R"(Before: runner:100 ran and wants to go on.
  3us earlier: runner:100 had used up its share of the period.

Queue /: 3 candidates, min_vruntime = 10.000000 ms

  Candidate   Vruntime ms  Ahead ms, virtual  Ahead ms, CPU time  Share ms    Ran ms  State
-------------------------------------------------------------------------------------------
  runner:100    12.000000           3.000000            3.000000  3.000000  0.000000  runs
> late:101       9.000000           0.000000            0.000000  3.000000
  later:102     11.000000           2.000000            2.000000  3.000000

Chosen: late:101: its vruntime is the smallest, 2ms before that of later:102.

late:101 runs; runner:100 lost the CPU.
)");
}

TEST(explain, idle_and_real_time) {
  pick_record record;
  record.fate = previous_fate::blocked;
  record.previous_exists = true;
  EXPECT_EQ(explain_pick(record, policy_of("linux-6.12"), "a:1", ""),
            "Before: a:1 blocked.\n\nNobody is runnable: the CPU goes idle.\n");
  record.chosen_exists = true;
  record.chosen = 3;
  record.chosen_real_time = true;
  EXPECT_EQ(explain_pick(record, policy_of("linux-6.12"), "a:1", "rt:9"),
            "Before: a:1 blocked.\n\nrt:9 runs: it is a real-time task, and these run before all "
            "others.\n");
}

}  // namespace
}  // namespace vlag

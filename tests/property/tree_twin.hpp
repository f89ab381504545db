// SPDX-License-Identifier: Apache-2.0
//
// Streams of operations on tasks and groups, and the class and the exact model run side by side on
// them: after every operation all that can be seen of both must be equal.
#pragma once

#include "core/grouped_cpu.hpp"
#include "property/tree_model.hpp"

#include <iosfwd>
#include <string>
#include <vector>

namespace vlag::test {

enum class tree_act : std::uint8_t {
  tick,            // amount ns pass, all levels are accounted
  run,             // amount ns pass, the running task's level is accounted
  pass,            // amount ns pass
  fork,            // where, nice, policy, amount = own slice or 0
  block,           // and schedule
  block_and_wake,  // before anybody scheduled
  exit,            // and schedule
  wake,
  remove,
  yield,     // and schedule
  yield_to,  // and schedule
  set_nice,
  set_attributes,  // policy, nice, amount = own slice or 0
  move,            // where
  schedule,
  mark_resched,
  higher_class,
  make_group,    // where
  remove_group,  // where
  set_weight,    // where, amount
  set_idle,      // where, amount odd or even
  set_latency,   // where, nice
  set_limit,     // where, amount: the quota; 0: none
  next_timer,    // time passes until a period timer is due, or no time
  count
};

struct tree_operation {
  tree_act what = tree_act::tick;
  unsigned who = 0;    // of the living tasks, modulo their number
  unsigned where = 0;  // of the living groups, modulo their number
  std::uint64_t amount = 0;
  int nice = 0;
  sched_policy policy = sched_policy::normal;
};

std::ostream& operator<<(std::ostream& out, const tree_operation& op);

class tree_twin {
 public:
  static constexpr std::size_t most_tasks = 200;
  static constexpr std::size_t most_groups = 24;
  static constexpr std::uint32_t deepest = 5;

  tree_twin(const eevdf_config& config, std::uint64_t start);

  // Applies it to both; an operation that makes no sense at this point is skipped.
  void apply(const tree_operation& op);
  // What differs now, in words; empty: nothing.
  [[nodiscard]] std::string difference();
  [[nodiscard]] grouped_cpu& cpu() { return cpu_; }

 private:
  struct node {
    task* as_task = nullptr;
    task_group* as_group = nullptr;
  };

  [[nodiscard]] std::vector<int> living(bool groups) const;
  [[nodiscard]] int number_of(const entity* e) const;
  [[nodiscard]] bool can_block() const;
  void agree(bool same) { answers_equal_ = answers_equal_ && same; }
  void schedule();
  void apply_to_running(tree_act what);
  void apply_to_task(int who, int where, const tree_operation& op);
  void apply_to_group(int where, const tree_operation& op);
  void add_task(int where, const tree_operation& op);
  void run_timers();
  void compare_queue(int g, std::string& found);
  void compare_bandwidth(int g, std::string& found) const;
  void compare_entity(int who, std::string& found) const;

  grouped_cpu cpu_;
  tree_model model_;
  std::vector<node> nodes_;  // by the model's numbers
  bool answers_equal_ = true;
};

}  // namespace vlag::test

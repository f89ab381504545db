// SPDX-License-Identifier: Apache-2.0
//
// Streams of operations, and the class and the exact model run side by side on them: after every
// operation all that can be seen of both must be equal.
#pragma once

#include "core/one_cpu.hpp"
#include "property/exact_model.hpp"

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace vlag::test {

enum class act : std::uint8_t {
  run,             // amount ns pass and are accounted
  pass,            // amount ns pass
  fork,            // nice, policy, amount = own slice or 0
  block,           // and schedule
  block_and_wake,  // before anybody scheduled
  exit,            // and schedule
  wake,
  remove,
  yield,     // and schedule
  yield_to,  // and schedule
  set_nice,
  set_slice,       // amount
  set_attributes,  // policy, nice, amount
  reweight,        // amount
  schedule,
  mark_resched,  // the host wants the CPU back
  higher_class,  // and takes it
  count
};

struct operation {
  act what = act::run;
  unsigned who = 0;  // of the living tasks, modulo their number
  std::uint64_t amount = 0;
  int nice = 0;
  sched_policy policy = sched_policy::normal;
};

std::ostream& operator<<(std::ostream& out, const operation& op);

enum class beside : std::uint8_t { the_model, nothing };

class eevdf_twin {
 public:
  eevdf_twin(const eevdf_config& config, std::uint64_t start, std::size_t most_tasks,
             beside what = beside::the_model);

  // Applies it to both (or to the class alone); an operation that makes no sense at this point is
  // skipped.
  void apply(const operation& op);
  // What differs now, in words; empty: nothing. Requires: the model runs beside.
  [[nodiscard]] std::string difference();

  [[nodiscard]] one_cpu& cpu() { return cpu_; }
  [[nodiscard]] bool alive(const task& t) const { return alive_[t.id - 1]; }

 private:
  [[nodiscard]] std::vector<int> living() const;
  [[nodiscard]] bool can_block() const;
  [[nodiscard]] bool rescaling_fits(const task& t, std::uint64_t full_weight) const;
  // Does the same with the model, where there is one, and notes whether it answers the same.
  template <typename Answer, typename Call>
  void agree(Answer of_class, Call&& of_model) {
    if (model_) answers_equal_ = answers_equal_ && of_class == of_model(*model_);
  }
  template <typename Call>
  void follow(Call&& of_model) {
    if (model_) of_model(*model_);
  }
  void schedule();
  void apply_to_running(act what);
  void apply_to(int who, const operation& op);
  void compare_queue(std::string& found);
  void compare_task(int who, std::string& found);

  one_cpu cpu_;
  std::optional<exact_model> model_;
  std::vector<bool> alive_;
  std::size_t most_tasks_;
  bool answers_equal_ = true;  // of the operations that answer something
};

}  // namespace vlag::test

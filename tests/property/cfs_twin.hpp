// SPDX-License-Identifier: Apache-2.0
//
// cfs_class and cfs_model side by side, driven by the same steps; the whole state of both is
// compared after every operation. A step that makes no sense where it stands is left out, so any
// sequence of steps is a valid one and can be shrunk.
#pragma once

#include "property/cfs_model.hpp"

#include "vlag/cfs_class.hpp"
#include "vlag/timeline.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace vlag {

enum class action : std::uint8_t {
  run,  // time passes and the running task is accounted
  advance,
  tick,
  schedule,
  block,
  exit,
  wake,
  wake_queued,
  yield,
  yield_to,
  set_nice,
  set_attributes,
  reweight,
  fork,
  remove,
  higher_class,
  set_need_resched,
};
inline constexpr int action_count = 17;

// who: which one of the tasks that the action can be about, counted modulo their number.
// ns: passes before the action (fork: between placement and enqueue).
struct step {
  action what = action::run;
  std::uint32_t who = 0;
  std::uint64_t ns = 0;
  int nice = 0;
  sched_policy policy = sched_policy::normal;
  std::uint64_t weight = 1024;
};
std::ostream& operator<<(std::ostream& out, const step& s);

class cfs_twin {
 public:
  static constexpr std::uint32_t max_tasks = 12;

  cfs_twin(const cfs_config& config, std::uint64_t min_vruntime, std::uint64_t start_ns);

  // Without a parent, a child's vruntime starts at this distance from min_vruntime rather than at
  // the number 0.
  void place_orphans_at(std::uint64_t distance) { orphan_distance_ = distance; }
  void compare_after_each(bool on) { comparing_ = on; }

  // False: left out.
  bool apply(const step& s);
  // The first difference ("" if none), told with both values.
  [[nodiscard]] const std::string& difference() const { return difference_; }
  void compare(const char* where);
  // What happened is defined: see cfs_model::comparable().
  [[nodiscard]] bool comparable() const { return model_.comparable(); }

  [[nodiscard]] const cfs_class& fast() const { return fast_; }
  [[nodiscard]] const task* find(std::uint32_t id) const { return tasks_[id].get(); }

 private:
  [[nodiscard]] task* choose(const step& s) const;
  [[nodiscard]] bool candidate(action what, const task& t) const;
  void on_cpu(const step& s);
  void on_task(const step& s, task& t);
  void fork(const step& s);
  void exit();
  void forget(std::uint32_t id);
  void schedule();
  template <typename A, typename B>
  void same(const char* where, const char* field, std::uint32_t id, A fast, B exact);

  cfs_config config_;
  std::unique_ptr<std::byte[], void (*)(void*)> memory_;
  timeline_storage storage_;
  cfs_class fast_;
  cfs_model model_;
  std::array<std::unique_ptr<task>, max_tasks + 1> tasks_;
  std::uint32_t count_ = 0;
  std::uint64_t now_;
  std::uint64_t orphan_distance_ = 0;
  bool comparing_ = true;
  std::string difference_;
};

}  // namespace vlag

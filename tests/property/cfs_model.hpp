// SPDX-License-Identifier: Apache-2.0
//
// What cfs_class must do, written down a second time and as plainly as possible: one list of tasks,
// every sum and every order found by looking at all of them, vruntimes as 128-bit integers that
// never wrap. Shares no arithmetic with the class; only the table of nice weights and inverses is
// the same.
//
// Virtual times are only comparable within 2^63 of each other; comparable() tells whether they
// were, at every step so far.
#pragma once

#include "vlag/entity.hpp"
#include "vlag/features.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace vlag {

__extension__ using wide = __int128;

struct model_task {
  std::uint32_t id = 0;
  sched_policy policy = sched_policy::normal;
  int static_nice = 0;
  int prio_nice = 0;
  std::uint64_t weight = 0;
  std::uint64_t inverse = 0;  // of the table; 0: not known
  wide vruntime = 0;
  std::uint64_t exec_start = 0;
  std::uint64_t sum_exec = 0;
  std::uint64_t prev_sum_exec = 0;
  bool queued = false;
  std::uint64_t joined = 0;  // order of insertion among the waiting ones

  [[nodiscard]] bool idle() const { return policy == sched_policy::idle; }
};

class cfs_model {
 public:
  cfs_model(const cfs_config& config, std::uint64_t min_vruntime);

  // The operations; ids that must exist, times that never go back.
  void place_new(std::uint32_t id, sched_policy policy, int nice, std::uint64_t now);
  void enqueue_new(std::uint32_t id, std::uint64_t now);
  void wake(std::uint32_t id, std::uint64_t now);
  void wake_queued(std::uint32_t id, std::uint64_t now);
  void block(std::uint64_t now);
  void exit(std::uint64_t now);
  void remove(std::uint32_t id, std::uint64_t now);
  void schedule(std::uint64_t now);
  void yield_cpu_to_higher_class(std::uint64_t now);
  void tick(std::uint64_t now);
  void account(std::uint64_t now);
  void yield(std::uint64_t now);
  bool yield_to(std::uint32_t id, std::uint64_t now);
  void set_nice(std::uint32_t id, int nice, std::uint64_t now);
  bool set_attributes(std::uint32_t id, sched_policy policy, int nice, std::uint64_t now);
  void reweight(std::uint32_t id, std::uint64_t weight, std::uint64_t now);
  void set_need_resched() { resched = true; }
  void set_vruntime(std::uint32_t id, wide vruntime) { at(id).vruntime = vruntime; }

  // The state. Ids; 0: none.
  std::vector<model_task> tasks;  // by id, ascending
  std::uint32_t current = 0;      // also between block() and schedule()
  std::uint32_t next = 0;
  std::uint32_t last = 0;
  std::uint32_t skip = 0;
  bool resched = false;
  wide min_vruntime;

  [[nodiscard]] std::uint64_t load() const;
  [[nodiscard]] std::uint32_t nr_queued() const;
  [[nodiscard]] std::uint32_t nr_idle() const;
  [[nodiscard]] std::uint64_t slice(const model_task& t) const;
  [[nodiscard]] std::uint64_t time_to_request_end() const;
  [[nodiscard]] std::vector<std::uint32_t> waiting() const;  // in order
  [[nodiscard]] std::uint32_t pick() const;
  [[nodiscard]] const model_task& get(std::uint32_t id) const;
  [[nodiscard]] bool comparable() const { return comparable_; }

 private:
  [[nodiscard]] model_task& at(std::uint32_t id);
  [[nodiscard]] const model_task* running() const;  // current, if queued
  [[nodiscard]] wide virtual_time(std::uint64_t ns, const model_task& t) const;
  [[nodiscard]] int gap(const model_task& ahead, const model_task& behind) const;
  [[nodiscard]] bool on(feature f) const { return config_->features.has(f); }
  void check_range();
  void charge(std::uint64_t now);
  void raise_min();
  void place(model_task& t, bool fresh, std::uint64_t now);
  void join(model_task& t, bool woken, std::uint64_t now);
  void leave(model_task& t, bool sleeps, bool advance, std::uint64_t now);
  void put(std::uint64_t now);
  void set(model_task& t, std::uint64_t now);
  void forget_buddy(std::uint32_t id);
  void preempt(const model_task& woken, bool fork, std::uint64_t now);
  void change(model_task& t, sched_policy policy, int static_nice, int prio_nice, bool advance,
              std::uint64_t now);
  void priority_changed(const model_task& t, int old_nice, std::uint64_t now);

  const cfs_config* config_;
  bool higher_ = false;
  bool comparable_ = true;
  std::uint64_t insertions_ = 0;
};

}  // namespace vlag

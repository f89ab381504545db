// SPDX-License-Identifier: Apache-2.0
//
// The CFS class with task groups on one CPU once more, as plainly as it can be said: no sums,
// counters or orders are kept. Every question is answered by a scan over all tasks and groups.
// Slow, and right as long as virtual times on a queue lie within 2^63 of each other. Bandwidth is
// left out.
//
// Tasks and groups are rows with one numbering; row 0 is the root group, -1 is nobody.
#pragma once

#include "vlag/cfs_class.hpp"
#include "vlag/entity.hpp"
#include "vlag/features.hpp"

#include <cstdint>
#include <vector>

namespace vlag::test {

class cfs_tree_model {
 public:
  struct row {
    bool is_group = false;
    bool alive = true;
    int parent = 0;  // the group on whose queue it is
    // As an entity.
    std::uint64_t vruntime = 0;
    std::uint64_t full_weight = nice_0_weight;
    std::uint64_t inverse = 4194303;
    std::uint64_t charged_until_ns = 0;
    std::uint64_t service_ns = 0;
    std::uint64_t service_at_start_ns = 0;
    std::uint64_t turn = 0;  // when it last joined the waiting ones
    bool queued = false;
    // As a task.
    sched_policy policy = sched_policy::normal;
    int static_nice = 0;
    int prio_nice = 0;
    // As a group.
    std::uint64_t floor = std::uint64_t{0} - (1U << 20);  // min_vruntime
    int running = -1;
    int next = -1;
    int last = -1;
    int skip = -1;
    std::uint64_t shares = nice_0_weight;
    bool idle = false;
  };

  cfs_tree_model(const cfs_config& config, std::uint64_t start);

  int fork(int group, sched_policy policy, int nice, std::uint64_t, std::uint64_t now);
  void wake(int who, std::uint64_t now);
  bool block(std::uint64_t now);
  void exit(std::uint64_t now);
  void remove(int who, std::uint64_t now);
  int schedule(std::uint64_t now);
  void higher_class(std::uint64_t now);
  void mark_resched() { need_resched_ = true; }
  void run(std::uint64_t now);
  void tick(std::uint64_t now);
  void yield(std::uint64_t now);
  bool yield_to(int who, std::uint64_t now);
  void set_nice(int who, int nice, std::uint64_t now);
  bool set_attributes(int who, sched_policy policy, int nice, std::uint64_t, std::uint64_t now);
  void move(int who, int group, std::uint64_t now);

  int make_group(int parent);
  void remove_group(int g, std::uint64_t) { at(g).alive = false; }
  void set_shares(int g, std::uint64_t shares, std::uint64_t now);  // a full weight
  void set_idle(int g, bool idle, std::uint64_t now);

  [[nodiscard]] const std::vector<row>& rows() const { return rows_; }
  [[nodiscard]] int current() const { return current_; }
  [[nodiscard]] bool need_resched() const { return need_resched_; }

  // Of the queue of a group.
  [[nodiscard]] std::vector<int> on_queue(int g) const;
  [[nodiscard]] std::vector<int> waiting(int g) const;  // in timeline order
  [[nodiscard]] std::uint64_t load(int g) const;
  [[nodiscard]] std::uint32_t idle_here(int g) const;
  [[nodiscard]] int pick(int g) const;
  // Tasks below a group.
  struct counts {
    std::uint32_t queued, idle;
  };
  [[nodiscard]] counts tasks_below(int g) const;
  [[nodiscard]] bool is_idle(int who) const;
  [[nodiscard]] std::uint64_t slice(int who) const { return slice_on(at(who).parent, who); }

 private:
  struct was {
    bool queued;
    bool running;
  };

  row& at(int who) { return rows_[static_cast<std::size_t>(who)]; }
  [[nodiscard]] const row& at(int who) const { return rows_[static_cast<std::size_t>(who)]; }
  [[nodiscard]] row& queue_of(int who) { return at(at(who).parent); }
  [[nodiscard]] bool on(feature f) const { return config_.features.has(f); }
  [[nodiscard]] std::vector<int> path(int who) const;  // from it up, without the root
  [[nodiscard]] bool far_behind(int behind, int ahead) const;
  [[nodiscard]] std::uint64_t slice_on(int g, int who) const;

  void raise_floor(int g);
  void account(int g, std::uint64_t now);
  void place(int g, int who, std::uint64_t now);  // a sleeper
  void join_queue(int who, bool woken, std::uint64_t now);
  void leave_queue(int who, bool sleeps, bool advance, std::uint64_t now);
  void put(int who, std::uint64_t now);
  void set(int who, std::uint64_t now);

  void enqueue(int who, bool woken, std::uint64_t now);
  void dequeue(int who, bool sleeps, bool advance, std::uint64_t now);
  void nominate(int who, int row::* slot);
  void drop_buddies(int who);
  void preempt(int woken, bool forked, std::uint64_t now);
  was take_out(int who, bool advance, std::uint64_t now);
  void put_back(int who, was before, std::uint64_t now);
  void give_weight(int who);
  void after_priority(int who, int old_nice, std::uint64_t now);

  cfs_config config_;
  std::vector<row> rows_;
  std::uint64_t turns_ = 0;
  int current_ = -1;
  bool need_resched_ = false;
  bool higher_ = false;
};

}  // namespace vlag::test

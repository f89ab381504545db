// SPDX-License-Identifier: Apache-2.0
//
// The EEVDF class with task groups and bandwidth on one CPU once more, as plainly as it can be
// said: no sums, counters or orders are kept. Every question, however often it is asked, is
// answered by a scan over all tasks and groups in 128-bit integers. Slow, and right as long as
// virtual times on a queue lie within 2^63 of each other.
//
// Tasks and groups are rows with one numbering; row 0 is the root group, -1 is nobody.
#pragma once

#include "property/arrival.hpp"
#include "vlag/entity.hpp"
#include "vlag/features.hpp"
#include "vlag/group.hpp"

#include <cstdint>
#include <vector>

namespace vlag::test {

class tree_model {
 public:
  struct row {
    bool is_group = false;
    bool alive = true;
    int parent = 0;  // the group on whose queue it is
    // As an entity.
    std::uint64_t vruntime = 0;
    std::uint64_t deadline = 0;
    std::uint64_t slice_ns = 0;
    std::uint64_t full_weight = nice_0_weight;
    std::uint64_t inverse = 4194304;
    std::int64_t vlag = 0;
    std::uint64_t token = 0;
    std::uint64_t charged_until_ns = 0;
    std::uint64_t service_ns = 0;
    std::uint64_t turn = 0;  // when it last joined the waiting ones
    bool queued = false;
    bool delayed = false;
    bool own_slice = false;
    bool relative = false;
    // As a task.
    sched_policy policy = sched_policy::normal;
    int static_nice = 0;
    int prio_nice = 0;
    // As a group: its queue, its attributes, its bandwidth.
    int running = -1;
    int buddy = -1;
    std::uint64_t rest = 0;  // V of the empty queue: where it was last asked for
    std::uint64_t shares = nice_0_weight;
    bool idle = false;
    int latency_nice = 0;
    bool limited = false;
    bool throttled = false;
    std::int64_t in_hand_ns = 0;
    bandwidth_pool pool;
  };

  tree_model(const eevdf_config& config, std::uint64_t start);

  int fork(int group, sched_policy policy, int nice, std::uint64_t own_slice_ns, std::uint64_t now);
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
  bool set_attributes(int who, sched_policy policy, int nice, std::uint64_t slice_ns,
                      std::uint64_t now);
  void move(int who, int group, std::uint64_t now);

  int make_group(int parent);
  void remove_group(int g, std::uint64_t now);
  void set_shares(int g, std::uint64_t shares, std::uint64_t now);  // a full weight
  void set_idle(int g, bool idle, std::uint64_t now);
  void set_latency_nice(int g, int nice);
  void set_limit(int g, const bandwidth_limit& limit, std::uint64_t now);
  void period_timer(int g, std::uint64_t now);

  [[nodiscard]] const std::vector<row>& rows() const { return rows_; }
  [[nodiscard]] int current() const { return current_; }
  [[nodiscard]] bool need_resched() const { return need_resched_; }

  // Of the queue of a group.
  [[nodiscard]] std::vector<int> on_queue(int g) const;
  [[nodiscard]] std::vector<int> waiting(int g) const;  // in timeline order
  [[nodiscard]] std::int64_t total_weight(int g) const;
  [[nodiscard]] std::uint64_t average(int g) const;
  [[nodiscard]] std::uint64_t min_slice(int g) const;
  [[nodiscard]] int pick(int g) const;
  [[nodiscard]] bool eligible(int who) const;
  // Tasks below a group, throttled parts left out, of which a test holds.
  struct counts {
    std::uint32_t queued, delayed, idle;
  };
  [[nodiscard]] counts tasks_below(int g) const;
  [[nodiscard]] int throttled_above(int g) const;  // itself included
  [[nodiscard]] bool is_idle(int who) const;

 private:
  enum class way : std::uint8_t { to_sleep, for_good, to_be_changed, delay_over };
  struct was {
    bool queued;
    bool running;
  };

  row& at(int who) { return rows_[static_cast<std::size_t>(who)]; }
  [[nodiscard]] const row& at(int who) const { return rows_[static_cast<std::size_t>(who)]; }
  [[nodiscard]] row& queue_of(int who) { return at(at(who).parent); }
  [[nodiscard]] const row& queue_of(int who) const { return at(at(who).parent); }
  [[nodiscard]] bool on(feature f) const { return config_.features.has(f); }
  [[nodiscard]] std::vector<int> path(int who) const;  // from it up, without the root
  [[nodiscard]] int depth(int who) const { return static_cast<int>(path(who).size()); }

  std::uint64_t settle(int g) { return at(g).rest = average(g); }
  [[nodiscard]] std::int64_t lag_of(int who) const;
  void renew(int who);
  void account(int g, std::uint64_t now);
  void place(int who, arrival how);
  void join_queue(int who, arrival how, std::uint64_t now);
  bool leave_queue(int who, way why, std::uint64_t now);
  void requeue(int who);
  void refresh_weight(int g, std::uint64_t now);
  void refresh_slice(int g, std::uint64_t slice_ns);
  void refresh_from(int g, std::uint64_t slice_ns, std::uint64_t now);

  void enqueue(int who, arrival how, std::uint64_t now);
  bool dequeue(int who, way why, std::uint64_t now);
  void nominate(int who);
  void drop_buddy(int who);
  int pick_task(std::uint64_t now);
  void put(int who, std::uint64_t now);
  void set(int who, std::uint64_t now);
  void put_all(std::uint64_t now);
  void set_all(int who, std::uint64_t now);
  void preempt(int woken, bool nominated, std::uint64_t now);
  was take_out(int who, std::uint64_t now);
  void put_back(int who, was before, std::uint64_t now);
  void give_weight(int who);
  void after_priority(int who, int old_nice, std::uint64_t now);

  void start_timer(int g, std::uint64_t now);
  bool fetch(int g, std::int64_t target_ns, std::uint64_t now);
  void charge(int g, std::uint64_t ns, std::uint64_t now);
  bool must_stop(int g, std::uint64_t now);
  bool throttle(int g, std::uint64_t now);
  void unthrottle(int g, std::uint64_t now);

  eevdf_config config_;
  std::vector<row> rows_;
  std::uint64_t turns_ = 0;
  int current_ = -1;
  bool need_resched_ = false;
  bool higher_ = false;
};

}  // namespace vlag::test

// SPDX-License-Identifier: Apache-2.0
//
// The EEVDF class once more, as plainly as it can be said: no sums are kept, no order is kept, no
// reference moves. Every question is answered by a scan over all tasks in 128-bit integers. Slow,
// and right as long as virtual times lie within 2^63 of each other.
//
// Tasks are known by number, 0, 1, ...; -1 is nobody.
#pragma once

#include "property/arrival.hpp"
#include "vlag/entity.hpp"
#include "vlag/features.hpp"

#include <cstdint>
#include <vector>

namespace vlag::test {

class exact_model {
 public:
  struct row {
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
    sched_policy policy = sched_policy::normal;
    int static_nice = 0;
    int prio_nice = 0;
    bool alive = true;
    bool queued = false;
    bool delayed = false;
    bool own_slice = false;
    bool relative = false;
  };

  exact_model(const eevdf_config& config, std::uint64_t start) : config_(config), rest_(start) {}

  int fork(sched_policy policy, int nice, std::uint64_t own_slice_ns, std::uint64_t now);
  void wake(int who, std::uint64_t now);
  bool block(std::uint64_t now);
  void exit(std::uint64_t now);
  void remove(int who, std::uint64_t now);
  int schedule(std::uint64_t now);
  void higher_class(std::uint64_t now);
  void mark_resched() { need_resched_ = true; }
  void account(std::uint64_t now);
  void tick(std::uint64_t now);
  void yield(std::uint64_t now);
  bool yield_to(int who, std::uint64_t now);
  void set_nice(int who, int nice, std::uint64_t now);
  bool set_attributes(int who, sched_policy policy, int nice, std::uint64_t slice_ns,
                      std::uint64_t now);
  void reweight(int who, std::uint64_t full_weight, std::uint64_t now);

  [[nodiscard]] const std::vector<row>& rows() const { return rows_; }
  [[nodiscard]] int running() const { return running_; }
  [[nodiscard]] int buddy() const { return buddy_; }
  [[nodiscard]] bool need_resched() const { return need_resched_; }
  [[nodiscard]] int count_queued() const;
  [[nodiscard]] int count_delayed() const;
  [[nodiscard]] std::int64_t total_weight() const;
  [[nodiscard]] std::uint64_t average() const;
  [[nodiscard]] bool eligible(int who) const;
  [[nodiscard]] std::uint64_t min_slice() const;
  [[nodiscard]] std::vector<int> waiting() const;  // in timeline order
  [[nodiscard]] int pick() const;

 private:
  struct was {
    bool queued;
    bool running;
  };

  row& at(int who) { return rows_[static_cast<std::size_t>(who)]; }
  [[nodiscard]] const row& at(int who) const { return rows_[static_cast<std::size_t>(who)]; }
  [[nodiscard]] bool on(feature f) const { return config_.features.has(f); }
  [[nodiscard]] bool is_waiting(int who) const { return at(who).queued && who != running_; }
  [[nodiscard]] std::int64_t lag_of(int who) const;
  std::uint64_t settle();
  void renew(int who);
  void place(int who, arrival how);
  void join(int who, arrival how, std::uint64_t now);
  void leave(int who);
  void stop_running();
  void start_running(int who, std::uint64_t now);
  void preempt(int woken, bool nominate, std::uint64_t now);
  was take_out(int who, std::uint64_t now);
  void put_back(int who, was before, std::uint64_t now);
  void give_weight(int who);
  void after_priority(int who, int old_nice, std::uint64_t now);

  eevdf_config config_;
  std::vector<row> rows_;
  std::uint64_t rest_;  // V of an empty queue: where it was last asked for
  std::uint64_t turns_ = 0;
  int running_ = -1;
  int buddy_ = -1;
  bool need_resched_ = false;
  bool higher_ = false;
};

}  // namespace vlag::test

// SPDX-License-Identifier: Apache-2.0
//
// EEVDF as published (Stoica and Abdel-Wahab, 1995), on one CPU: for tests of its theorems and for
// teaching. Calls and time as in fair_class.hpp; the rules differ:
//
// - A client asks for requests one after the other. A request of length r (wall ns) of a client of
//   weight w has a virtual eligible time ve and a virtual deadline vd = ve + r/w, which are fixed
//   while it is served; the next one has ve + used/w, which is vd when it was used in full.
// - Time is given in quanta, which end with the tick, the end of a request told by the host's timer
//   (time_to_request_end()), or when the client leaves. A new quantum goes to the request with the
//   earliest vd among those with ve <= V. A wake-up ends no quantum.
// - Virtual time V moves by 1/W per ns, W being the weight of all active clients.
// - A client that leaves takes its lag along and has it again when it comes back (strategy 1), with
//   a new request; a change of weight is both at once. On an empty queue lag is forgotten.
//
// The arithmetic is exact. A client has received v = base + served/w of virtual time: base is a
// multiple of 2^-20 ns, set when it joins, and served whole ns. V is the weighted mean of all v,
//
//   V = sum of (w_i * base_i + served_i) / W,
//
// so lags w_i (V - v_i) sum to zero, always; and every comparison is one of whole numbers of 128
// bits. The one rounding is that of base at a join: the lag after it is the lag given, and up to
// (w + 1) / 2^20 ns more. Example: clients of weight 2 and 1 that have run 1 and 0 ns from V = 0
// on: V = (1 + 0) / 3, lags 2 (1/3 - 1/2) = -1/3 and 1/3.
//
// Limits: W < 2^31, virtual times < 2^58 ns from when the queue was last empty (of one client of
// nice 0: 9 years), lag < 2^48 ns. Beyond them anomalies() counts.
//
// Not thread safe. Allocates nothing: the owner provides a paper_client a task.
#pragma once

#include "vlag/entity.hpp"
#include "vlag/features.hpp"

#include <cstdint>
#include <span>

namespace vlag {

__extension__ using paper_wide = __int128;

// A number in 2^-20 ns.
inline constexpr unsigned paper_fraction_bits = 20;

// What the algorithm keeps of a client. Clients on the queue are nodes of a search tree by vd,
// each of which knows the one with the earliest ve below it.
struct paper_client {
  paper_wide base = 0;          // virtual, 2^-20 ns
  paper_wide lag = 0;           // wall-clock, 2^-20 ns, while it is away
  std::uint64_t weight = 0;     // small
  std::uint64_t served_ns = 0;  // since base was set
  std::uint64_t begun_ns = 0;   // served_ns at the start of the request
  std::uint64_t request_ns = 0;
  std::uint64_t turn = 0;  // among equal deadlines the request made first is served first
  task* owner = nullptr;
  std::uint32_t left = 0;
  std::uint32_t right = 0;
  std::uint32_t earliest = 0;  // the client with the earliest ve of this subtree
  std::uint32_t priority = 0;  // heap order of the tree, pseudo-random
};

class paper_class {
 public:
  // Both must outlive the class; clients.size() tasks may be in it. Requires: < 2^32 - 1 of them.
  paper_class(const paper_config& config, std::span<paper_client> clients) noexcept;

  [[nodiscard]] bool fork(task& t, std::uint64_t now_ns) noexcept;
  [[nodiscard]] bool join_asleep(task& t, std::uint64_t now_ns) noexcept;
  void wake(task& t, std::uint64_t now_ns) noexcept;
  bool block(std::uint64_t now_ns) noexcept;
  void exit(std::uint64_t now_ns) noexcept;
  void remove(task& t, std::uint64_t now_ns) noexcept;
  task* schedule(std::uint64_t now_ns) noexcept;
  void yield_cpu_to_higher_class(std::uint64_t now_ns) noexcept;
  void tick(std::uint64_t now_ns) noexcept;
  void account(std::uint64_t now_ns) noexcept;
  // Gives the rest of the request away.
  void yield(std::uint64_t now_ns) noexcept;
  void set_nice(task& t, int nice, std::uint64_t now_ns) noexcept;
  // Acts at the next request. 0: the base slice. False: nothing changes.
  bool set_slice(task& t, std::uint64_t slice_ns, std::uint64_t now_ns) noexcept;

  [[nodiscard]] task* current() const noexcept { return running_; }
  [[nodiscard]] bool need_resched() const noexcept { return need_resched_; }
  void set_need_resched() noexcept { need_resched_ = true; }
  [[nodiscard]] std::uint64_t time_to_request_end() const noexcept;
  [[nodiscard]] std::uint32_t nr_runnable() const noexcept { return active_; }
  [[nodiscard]] std::uint64_t anomalies() const noexcept { return anomalies_; }

  // For tests. V as a fraction: numerator in 2^-20 virtual ns, over total_weight() (0: empty).
  [[nodiscard]] paper_wide average_numerator() const noexcept { return sum_; }
  [[nodiscard]] std::uint64_t total_weight() const noexcept { return weight_; }
  // Lag times W in 2^-20 ns, exact. Requires: t is queued.
  [[nodiscard]] paper_wide lag_times_weight(const task& t) const noexcept;
  [[nodiscard]] bool eligible(const task& t) const noexcept;
  [[nodiscard]] const paper_client& client(const task& t) const noexcept {
    return clients_[t.timeline_hook];
  }
  // Nodes of the tree looked at so far.
  [[nodiscard]] std::uint64_t nodes_visited() const noexcept { return visited_; }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct parts {
    std::uint32_t before, after;
  };

  [[nodiscard]] paper_client& client_of(const task& t) noexcept {
    return clients_[t.timeline_hook];
  }
  [[nodiscard]] bool eligible(const paper_client& c) const noexcept;
  void join(task& t) noexcept;
  void leave(task& t) noexcept;
  void leave_for_good(task& t, std::uint64_t now_ns) noexcept;
  void begin_request(task& t) noexcept;
  void check_limits() noexcept;

  // The tree: all return the root of what they were given.
  void refresh(std::uint32_t node) noexcept;
  [[nodiscard]] parts split(std::uint32_t node, const paper_client& at) noexcept;
  [[nodiscard]] std::uint32_t merge(std::uint32_t before, std::uint32_t after) noexcept;
  [[nodiscard]] std::uint32_t without(std::uint32_t node, std::uint32_t gone) noexcept;
  void insert(std::uint32_t node) noexcept;
  [[nodiscard]] std::uint32_t first_eligible() noexcept;

  const paper_config* config_;
  std::span<paper_client> clients_;
  task* running_ = nullptr;
  paper_wide sum_ = 0;  // of w * base and served, 2^-20
  std::uint64_t weight_ = 0;
  std::uint64_t turns_ = 0;
  std::uint64_t visited_ = 0;
  std::uint64_t anomalies_ = 0;
  std::uint32_t root_ = none;
  std::uint32_t free_ = none;
  std::uint32_t active_ = 0;
  bool need_resched_ = false;
  bool higher_class_runs_ = false;
};

}  // namespace vlag

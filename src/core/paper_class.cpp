// SPDX-License-Identifier: Apache-2.0
#include "vlag/paper_class.hpp"

#include "vlag/weight.hpp"

#include <algorithm>
#include <limits>

namespace vlag {
namespace {

constexpr paper_wide fixed(std::uint64_t ns) noexcept {
  return static_cast<paper_wide>(ns) << paper_fraction_bits;
}

constexpr paper_wide floor_divide(paper_wide a, paper_wide b) noexcept {
  return a / b - (a % b < 0 ? 1 : 0);
}

// Virtual times of a client, times its weight.
constexpr paper_wide eligible_time(const paper_client& c) noexcept {
  return c.base * static_cast<paper_wide>(c.weight) + fixed(c.begun_ns);
}
constexpr paper_wide deadline(const paper_client& c) noexcept {
  return eligible_time(c) + fixed(c.request_ns);
}
constexpr paper_wide received(const paper_client& c) noexcept {
  return c.base * static_cast<paper_wide>(c.weight) + fixed(c.served_ns);
}

constexpr bool is_earlier(paper_wide a, std::uint64_t weight_of_a, paper_wide b,
                          std::uint64_t weight_of_b) noexcept {
  return a * static_cast<paper_wide>(weight_of_b) < b * static_cast<paper_wide>(weight_of_a);
}

constexpr bool in_order(const paper_client& a, const paper_client& b) noexcept {
  const paper_wide of_a = deadline(a);
  const paper_wide of_b = deadline(b);
  if (is_earlier(of_a, a.weight, of_b, b.weight)) return true;
  return !is_earlier(of_b, b.weight, of_a, a.weight) && a.turn < b.turn;
}

// Scatters the turns, so that the tree is balanced whatever the order of requests.
constexpr std::uint32_t scattered(std::uint64_t turn) noexcept {
  turn = (turn ^ turn >> 31) * 0x9e3779b97f4a7c15U;
  turn = (turn ^ turn >> 29) * 0xbf58476d1ce4e5b9U;
  return static_cast<std::uint32_t>(turn >> 32);
}

}  // namespace

paper_class::paper_class(const paper_config& config, std::span<paper_client> clients) noexcept
    : config_(&config), clients_(clients) {
  for (auto slot = static_cast<std::uint32_t>(clients.size()); slot-- != 0;) {
    clients_[slot].left = free_;
    free_ = slot;
  }
}

// ---- Joining and leaving

bool paper_class::join_asleep(task& t, std::uint64_t) noexcept {
  if (free_ == none) return false;
  const std::uint32_t slot = free_;
  free_ = clients_[slot].left;
  clients_[slot] = paper_client{};
  clients_[slot].owner = &t;
  t.timeline_hook = slot;
  t.queued = false;
  t.sched_delayed = false;
  return true;
}

bool paper_class::fork(task& t, std::uint64_t now_ns) noexcept {
  if (!join_asleep(t, now_ns)) return false;
  t.sum_exec_ns = 0;
  t.prev_sum_exec_ns = 0;
  wake(t, now_ns);
  return true;
}

void paper_class::wake(task& t, std::uint64_t now_ns) noexcept {
  if (t.queued) return;
  account(now_ns);
  join(t);
  if (running_ == nullptr && !higher_class_runs_) need_resched_ = true;
}

// v is chosen so that w (V - v) is the lag after V has moved for it.
void paper_class::join(task& t) noexcept {
  paper_client& c = client_of(t);
  c.weight = small_weight(t.weight.full);
  c.served_ns = 0;
  c.base = 0;
  const auto own = static_cast<paper_wide>(c.weight);
  const auto others = static_cast<paper_wide>(weight_);
  if (others != 0) c.base = floor_divide(sum_ * own - c.lag * (others + own), others * own);
  sum_ += received(c);
  weight_ += c.weight;
  ++active_;
  t.queued = true;
  check_limits();
  begin_request(t);
  insert(t.timeline_hook);
}

void paper_class::leave(task& t) noexcept {
  paper_client& c = client_of(t);
  root_ = without(root_, t.timeline_hook);
  c.lag = floor_divide(lag_times_weight(t), static_cast<paper_wide>(weight_));
  sum_ -= received(c);
  weight_ -= c.weight;
  --active_;
  t.queued = false;
}

void paper_class::leave_for_good(task& t, std::uint64_t now_ns) noexcept {
  account(now_ns);
  if (t.queued) leave(t);
  clients_[t.timeline_hook].left = free_;
  free_ = t.timeline_hook;
}

bool paper_class::block(std::uint64_t now_ns) noexcept {
  account(now_ns);
  leave(*running_);
  return false;
}

void paper_class::exit(std::uint64_t now_ns) noexcept { leave_for_good(*running_, now_ns); }
void paper_class::remove(task& t, std::uint64_t now_ns) noexcept { leave_for_good(t, now_ns); }

void paper_class::set_nice(task& t, int nice, std::uint64_t now_ns) noexcept {
  if (nice == t.static_nice) return;
  account(now_ns);
  const bool was_queued = t.queued;
  if (was_queued) leave(t);
  set_initial_attributes(t, t.policy, nice);
  if (was_queued) join(t);
}

bool paper_class::set_slice(task& t, std::uint64_t slice_ns, std::uint64_t) noexcept {
  if (slice_ns == (t.custom_slice ? t.slice_ns : 0)) return false;
  t.custom_slice = slice_ns != 0;
  t.slice_ns = slice_ns;
  return true;
}

void paper_class::check_limits() noexcept {
  const paper_wide farthest = fixed(std::uint64_t{1} << 58) * static_cast<paper_wide>(weight_);
  if (weight_ >> 31 != 0 || sum_ > farthest || sum_ < -farthest) ++anomalies_;
}

// ---- Serving

void paper_class::begin_request(task& t) noexcept {
  paper_client& c = client_of(t);
  if (!t.custom_slice) t.slice_ns = config_->base_slice_ns;
  c.begun_ns = c.served_ns;
  c.request_ns = t.slice_ns;
  c.turn = ++turns_;
}

void paper_class::account(std::uint64_t now_ns) noexcept {
  if (running_ == nullptr || !running_->queued) return;
  if (!before(running_->exec_start_ns, now_ns)) return;
  const std::uint64_t ran_ns = now_ns - running_->exec_start_ns;
  running_->exec_start_ns = now_ns;
  running_->sum_exec_ns += ran_ns;
  paper_client& c = client_of(*running_);
  c.served_ns += ran_ns;
  sum_ += fixed(ran_ns);
  if (c.served_ns - c.begun_ns < c.request_ns) return;
  root_ = without(root_, running_->timeline_hook);
  begin_request(*running_);
  insert(running_->timeline_hook);
  check_limits();
  if (active_ > 1) need_resched_ = true;
}

void paper_class::tick(std::uint64_t now_ns) noexcept {
  account(now_ns);
  if (running_ != nullptr && active_ > 1) need_resched_ = true;
}

void paper_class::yield(std::uint64_t now_ns) noexcept {
  if (running_ == nullptr) return;
  account(now_ns);
  root_ = without(root_, running_->timeline_hook);
  begin_request(*running_);
  insert(running_->timeline_hook);
}

void paper_class::yield_cpu_to_higher_class(std::uint64_t now_ns) noexcept {
  account(now_ns);
  running_ = nullptr;
  higher_class_runs_ = true;
  need_resched_ = false;
}

task* paper_class::schedule(std::uint64_t now_ns) noexcept {
  account(now_ns);
  higher_class_runs_ = false;
  need_resched_ = false;
  const std::uint32_t chosen = first_eligible();
  task* const next = chosen == none ? nullptr : clients_[chosen].owner;
  if (next != running_ && next != nullptr) {
    next->exec_start_ns = now_ns;
    next->prev_sum_exec_ns = next->sum_exec_ns;
  }
  return running_ = next;
}

std::uint64_t paper_class::time_to_request_end() const noexcept {
  if (running_ == nullptr || !running_->queued || active_ < 2) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  const paper_client& c = client(*running_);
  return c.request_ns - std::min(c.request_ns, c.served_ns - c.begun_ns);
}

// ---- Lag and eligibility

paper_wide paper_class::lag_times_weight(const task& t) const noexcept {
  const paper_client& c = client(t);
  return sum_ * static_cast<paper_wide>(c.weight) - received(c) * static_cast<paper_wide>(weight_);
}

bool paper_class::eligible(const paper_client& c) const noexcept {
  return !is_earlier(sum_, weight_, eligible_time(c), c.weight);
}

bool paper_class::eligible(const task& t) const noexcept { return eligible(client(t)); }

// ---- The tree: a treap

void paper_class::refresh(std::uint32_t node) noexcept {
  ++visited_;
  paper_client& c = clients_[node];
  c.earliest = node;
  for (const std::uint32_t child : {c.left, c.right}) {
    if (child == none) continue;
    const paper_client& below = clients_[clients_[child].earliest];
    const paper_client& best = clients_[c.earliest];
    if (is_earlier(eligible_time(below), below.weight, eligible_time(best), best.weight)) {
      c.earliest = clients_[child].earliest;
    }
  }
}

paper_class::parts paper_class::split(std::uint32_t node, const paper_client& at) noexcept {
  if (node == none) return {none, none};
  paper_client& c = clients_[node];
  if (in_order(c, at)) {
    const parts below = split(c.right, at);
    c.right = below.before;
    refresh(node);
    return {node, below.after};
  }
  const parts below = split(c.left, at);
  c.left = below.after;
  refresh(node);
  return {below.before, node};
}

std::uint32_t paper_class::merge(std::uint32_t before, std::uint32_t after) noexcept {
  if (before == none) return after;
  if (after == none) return before;
  const bool before_on_top = clients_[before].priority > clients_[after].priority;
  if (before_on_top) {
    clients_[before].right = merge(clients_[before].right, after);
  } else {
    clients_[after].left = merge(before, clients_[after].left);
  }
  const std::uint32_t top = before_on_top ? before : after;
  refresh(top);
  return top;
}

std::uint32_t paper_class::without(std::uint32_t node, std::uint32_t gone) noexcept {
  paper_client& c = clients_[node];
  if (node == gone) return merge(c.left, c.right);
  std::uint32_t& child = in_order(clients_[gone], c) ? c.left : c.right;
  child = without(child, gone);
  refresh(node);
  return node;
}

void paper_class::insert(std::uint32_t node) noexcept {
  paper_client& c = clients_[node];
  c.left = none;
  c.right = none;
  c.priority = scattered(c.turn);
  refresh(node);
  const parts around = split(root_, c);
  root_ = merge(merge(around.before, node), around.after);
}

std::uint32_t paper_class::first_eligible() noexcept {
  std::uint32_t node = root_;
  while (node != none) {
    ++visited_;
    const paper_client& c = clients_[node];
    if (c.left != none && eligible(clients_[clients_[c.left].earliest])) {
      node = c.left;
    } else if (eligible(c)) {
      return node;
    } else {
      node = c.right;
    }
  }
  return none;
}

}  // namespace vlag

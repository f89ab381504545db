// SPDX-License-Identifier: Apache-2.0
#include "trace/time_order.hpp"

#include <algorithm>

namespace vlag::trace {

time_order::time_order(event_visitor& to, std::size_t most_held) : to_(to), most_held_(most_held) {}

bool time_order::add(const event& entry) {
  if (entry.time_ns < passed_ns_) return false;
  if (!held_.empty() && entry.time_ns < held_.back().time_ns) sorted_ = false;
  held_.push_back(entry);
  latest_ns_ = std::max(latest_ns_, entry.time_ns);
  if (held_.size() >= most_held_) {
    sort();
    pass_on_first(held_.size() / 2);
  }
  return true;
}

void time_order::round_ended() {
  pass_on(round_latest_ns_);
  round_latest_ns_ = latest_ns_;
}

void time_order::finish() {
  sort();
  pass_on_first(held_.size());
}

void time_order::pass_on(std::uint64_t until_ns) {
  sort();
  const auto end =
      std::upper_bound(held_.begin(), held_.end(), until_ns,
                       [](std::uint64_t ns, const event& entry) { return ns < entry.time_ns; });
  pass_on_first(static_cast<std::size_t>(end - held_.begin()));
}

void time_order::pass_on_first(std::size_t count) {
  if (count == 0) return;
  passed_ns_ = held_[count - 1].time_ns;
  for (std::size_t i = 0; i < count; ++i) to_.visit(held_[i]);
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(count));
}

void time_order::sort() {
  if (sorted_) return;
  std::stable_sort(held_.begin(), held_.end(),
                   [](const event& a, const event& b) { return a.time_ns < b.time_ns; });
  sorted_ = true;
}

}  // namespace vlag::trace

// SPDX-License-Identifier: Apache-2.0
#include "workload/recorded_period.hpp"

#include <algorithm>

namespace vlag {
namespace {

constexpr std::size_t min_wakes = 8;
constexpr std::uint64_t max_error_ns = 200'000;

struct fit {
  std::uint64_t multiples = 0;  // periods between the first wake-up and the last
  std::uint64_t worst_ns = 0;   // largest distance of a wake-up from a multiple
};

fit fit_period(const std::vector<std::uint64_t>& times, std::uint64_t period) {
  fit result;
  for (const std::uint64_t at : times) {
    const std::uint64_t since = at - times.front();
    const std::uint64_t nearest = (since + period / 2) / period;
    const std::uint64_t expected = nearest * period;
    result.worst_ns =
        std::max(result.worst_ns, since > expected ? since - expected : expected - since);
    result.multiples = nearest;
  }
  return result;
}

bool takes_next_multiple(const std::vector<external_wake>& wakes, std::uint64_t period,
                         std::uint64_t allowed) {
  return std::all_of(wakes.begin() + 1, wakes.end(), [&](const external_wake& wake) {
    return wake.woken_ns - wake.blocked_ns <= period + 2 * allowed;
  });
}

}  // namespace

std::optional<wake_period> find_period(const std::vector<external_wake>& wakes) {
  if (wakes.size() < min_wakes) return std::nullopt;
  std::vector<std::uint64_t> times;
  std::vector<std::uint64_t> gaps;
  std::uint64_t shortest_sleep = UINT64_MAX;
  std::uint64_t longest_sleep = 0;
  // The first sleep began before the recording was watched.
  for (std::size_t i = 1; i < wakes.size(); ++i) {
    times.push_back(wakes[i].woken_ns);
    const std::uint64_t sleep = wakes[i].woken_ns - wakes[i].blocked_ns;
    shortest_sleep = std::min(shortest_sleep, sleep);
    longest_sleep = std::max(longest_sleep, sleep);
    if (i > 1) gaps.push_back(wakes[i].woken_ns - wakes[i - 1].woken_ns);
  }
  std::sort(gaps.begin(), gaps.end());
  std::uint64_t period = gaps[gaps.size() / 10];
  if (period == 0) return std::nullopt;
  // Widening the base step by step keeps the multiple of each wake-up certain.
  for (std::size_t n = 2; n <= times.size(); n = std::min(2 * n, times.size())) {
    const std::vector<std::uint64_t> head(times.begin(),
                                          times.begin() + static_cast<std::ptrdiff_t>(n));
    const fit f = fit_period(head, period);
    if (f.multiples != 0) period = (head.back() - head.front()) / f.multiples;
    if (n == times.size()) break;
  }
  const std::uint64_t allowed = std::min(period / 100, max_error_ns);
  if (fit_period(times, period).worst_ns > allowed) return std::nullopt;
  if (longest_sleep - shortest_sleep <= 2 * allowed) return std::nullopt;
  return wake_period{period, times.front(), takes_next_multiple(wakes, period, allowed)};
}

}  // namespace vlag

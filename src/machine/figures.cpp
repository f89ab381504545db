// SPDX-License-Identifier: Apache-2.0
#include "machine/figures.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace vlag {
namespace {

// Values below 2^sub_bits have a bucket each; above, every octave has 2^(sub_bits - 1) buckets, so
// a bucket is at most 1/64 of its value wide and its middle at most 1/128 off: below 1 %.
constexpr unsigned sub_bits = 7;
constexpr std::uint64_t half = std::uint64_t{1} << (sub_bits - 1);

// A listed bucket: its index in the upper bits, its count in the lower ones.
constexpr unsigned count_bits = 52;
constexpr std::uint64_t count_mask = (std::uint64_t{1} << count_bits) - 1;
// Above, looking up costs more than the memory is worth.
constexpr std::size_t most_listed = 64;

std::size_t bucket_of(std::uint64_t value) {
  const auto width = static_cast<unsigned>(std::bit_width(value));
  if (width <= sub_bits) return static_cast<std::size_t>(value);
  const unsigned shift = width - sub_bits;
  return static_cast<std::size_t>(shift * half + (value >> shift));
}

duration_histogram::bucket bounds_of(std::size_t index) {
  const auto i = static_cast<std::uint64_t>(index);
  if (i < 2 * half) return {i, i + 1, 0};
  const auto shift = static_cast<unsigned>(i / half - 1);
  const std::uint64_t low = (i - shift * half) << shift;
  return {low, low + (std::uint64_t{1} << shift), 0};
}

}  // namespace

bool duration_histogram::listed() const noexcept { return cells_.size() <= most_listed; }

template <typename Visit>
bool duration_histogram::for_each_bucket(Visit&& visit) const {
  if (listed()) {
    return std::all_of(cells_.begin(), cells_.end(), [&](std::uint64_t cell) {
      return visit(static_cast<std::size_t>(cell >> count_bits), cell & count_mask);
    });
  }
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (cells_[i] != 0 && !visit(i, cells_[i])) return false;
  }
  return true;
}

void duration_histogram::add_to(std::size_t index, std::uint64_t count) {
  if (listed()) {
    const std::uint64_t key = std::uint64_t{index} << count_bits;
    const auto at = std::lower_bound(cells_.begin(), cells_.end(), key);
    if (at != cells_.end() && *at >> count_bits == index) {
      *at += count;
      return;
    }
    if (cells_.size() < most_listed) {
      cells_.insert(at, key | count);
      return;
    }
    // As many buckets are in use, so the highest index makes it longer than any list.
    std::vector<std::uint64_t> all(std::max<std::size_t>(cells_.back() >> count_bits, index) + 1);
    for (const std::uint64_t cell : cells_) all[cell >> count_bits] = cell & count_mask;
    cells_ = std::move(all);
  }
  if (index >= cells_.size()) cells_.resize(index + 1);
  cells_[index] += count;
}

void duration_histogram::add(std::uint64_t duration_ns) { add(duration_ns, 0); }

void duration_histogram::add(std::uint64_t duration_ns, std::uint64_t at_ns) {
  add_to(bucket_of(duration_ns), 1);
  if (count_ == 0 || duration_ns < min_) min_ = duration_ns;
  if (count_ == 0 || duration_ns > max_) {
    max_ = duration_ns;
    max_at_ = at_ns;
  }
  ++count_;
  sum_ += duration_ns;
  const double difference = static_cast<double>(duration_ns) - mean_;
  mean_ += difference / static_cast<double>(count_);
  m2_ += difference * (static_cast<double>(duration_ns) - mean_);
}

void duration_histogram::merge(const duration_histogram& other) {
  if (other.count_ == 0) return;
  other.for_each_bucket([this](std::size_t index, std::uint64_t count) {
    add_to(index, count);
    return true;
  });
  if (count_ == 0 || other.min_ < min_) min_ = other.min_;
  if (count_ == 0 || other.max_ > max_) {
    max_ = other.max_;
    max_at_ = other.max_at_;
  }
  const auto n = static_cast<double>(count_);
  const auto m = static_cast<double>(other.count_);
  const double difference = other.mean_ - mean_;
  m2_ += other.m2_ + difference * difference * n * m / (n + m);
  mean_ += difference * m / (n + m);
  count_ += other.count_;
  sum_ += other.sum_;
}

double duration_histogram::variance() const noexcept {
  return count_ < 2 ? 0.0 : m2_ / static_cast<double>(count_ - 1);
}

std::uint64_t duration_histogram::quantile_ns(unsigned per_mille) const noexcept {
  if (count_ == 0) return 0;
  const std::uint64_t whole = count_ / 1000 * per_mille;
  const std::uint64_t rest = (count_ % 1000 * per_mille + 999) / 1000;
  const std::uint64_t rank = std::max<std::uint64_t>(whole + rest, 1);
  std::uint64_t seen = 0;
  std::uint64_t result = max_;
  for_each_bucket([&](std::size_t index, std::uint64_t count) {
    seen += count;
    if (seen < rank) return true;
    const bucket b = bounds_of(index);
    result = std::clamp(b.low_ns + (b.high_ns - b.low_ns - 1) / 2, min_, max_);
    return false;
  });
  return result;
}

std::vector<duration_histogram::bucket> duration_histogram::buckets() const {
  std::vector<bucket> result;
  for_each_bucket([&](std::size_t index, std::uint64_t count) {
    bucket b = bounds_of(index);
    b.count = count;
    result.push_back(b);
    return true;
  });
  return result;
}

void task_figures::add_open_wait(std::uint64_t from_ns, std::uint64_t to_ns, bool began_by_wakeup) {
  const std::uint64_t waited = to_ns - from_ns;
  if (waited <= max_wait_to_ns - max_wait_from_ns) return;
  (began_by_wakeup ? wake_latency : preempt_wait).add(waited, to_ns);
  max_wait_from_ns = from_ns;
  max_wait_to_ns = to_ns;
}

duration_histogram delay_of(const task_figures& task) {
  duration_histogram delay = task.wake_latency;
  delay.merge(task.preempt_wait);
  return delay;
}

void add_figures(task_figures& sum, const task_figures& task) {
  sum.cpu_ns += task.cpu_ns;
  sum.switches_in += task.switches_in;
  sum.voluntary += task.voluntary;
  sum.involuntary += task.involuntary;
  sum.wakeups += task.wakeups;
  sum.sleep_ns += task.sleep_ns;
  sum.wake_latency.merge(task.wake_latency);
  sum.preempt_wait.merge(task.preempt_wait);
  if (task.max_wait_to_ns - task.max_wait_from_ns > sum.max_wait_to_ns - sum.max_wait_from_ns) {
    sum.max_wait_from_ns = task.max_wait_from_ns;
    sum.max_wait_to_ns = task.max_wait_to_ns;
  }
}

}  // namespace vlag

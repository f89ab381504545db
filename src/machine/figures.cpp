// SPDX-License-Identifier: Apache-2.0
#include "machine/figures.hpp"

#include <algorithm>
#include <bit>

namespace vlag {
namespace {

// Values below 2^sub_bits have a bucket each; above, every octave has 2^(sub_bits - 1) buckets, so
// a bucket is at most 1/64 of its value wide and its middle at most 1/128 off: below 1 %.
constexpr unsigned sub_bits = 7;
constexpr std::uint64_t half = std::uint64_t{1} << (sub_bits - 1);

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

void duration_histogram::add(std::uint64_t duration_ns) { add(duration_ns, 0); }

void duration_histogram::add(std::uint64_t duration_ns, std::uint64_t at_ns) {
  const std::size_t index = bucket_of(duration_ns);
  if (index >= counts_.size()) counts_.resize(index + 1);
  ++counts_[index];
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
  if (counts_.size() < other.counts_.size()) counts_.resize(other.counts_.size());
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
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
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) {
      const bucket b = bounds_of(i);
      return std::clamp(b.low_ns + (b.high_ns - b.low_ns - 1) / 2, min_, max_);
    }
  }
  return max_;
}

std::vector<duration_histogram::bucket> duration_histogram::buckets() const {
  std::vector<bucket> result;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    bucket b = bounds_of(i);
    b.count = counts_[i];
    result.push_back(b);
  }
  return result;
}

}  // namespace vlag

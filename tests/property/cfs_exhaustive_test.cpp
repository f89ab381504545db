// SPDX-License-Identifier: Apache-2.0
//
// The class against the model on every short sequence of steps with up to three tasks.
#include "property/cfs_twin.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace vlag {
namespace {

constexpr std::uint64_t ms = 1'000'000;

std::vector<step> all_steps() {
  const auto normal = sched_policy::normal;
  return {
      {.what = action::run, .ns = ms},
      {.what = action::advance, .ns = 1'700'000},
      {.what = action::tick, .ns = 4 * ms},
      {.what = action::schedule},
      {.what = action::block, .ns = 300'000},
      {.what = action::exit},
      {.what = action::wake, .who = 0, .ns = 500'000},
      {.what = action::wake, .who = 1},
      {.what = action::wake, .who = 2, .ns = 9 * ms},
      {.what = action::wake_queued, .who = 0},
      {.what = action::yield},
      {.what = action::yield_to, .who = 1},
      {.what = action::set_nice, .who = 0, .nice = 2, .policy = normal},
      {.what = action::set_nice, .who = 1, .nice = -5, .policy = normal},
      {.what = action::set_attributes, .who = 0, .nice = 0, .policy = sched_policy::idle},
      {.what = action::set_attributes, .who = 1, .nice = 1, .policy = sched_policy::batch},
      {.what = action::reweight, .who = 0, .weight = 5000},
      {.what = action::fork, .ns = 100'000, .nice = 1},
      {.what = action::remove, .who = 0},
      {.what = action::higher_class},
  };
}

std::vector<step> few_steps() {
  return {
      {.what = action::tick, .ns = 2 * ms},
      {.what = action::schedule},
      {.what = action::block, .ns = ms},
      {.what = action::wake, .who = 0},
      {.what = action::wake, .who = 1, .ns = 4 * ms},
      {.what = action::yield_to, .who = 2, .ns = ms},
      {.what = action::yield},
  };
}

// Goes through all sequences of a length from one start; each is told by its steps when it fails.
class exhaustive {
 public:
  exhaustive(const cfs_config& config, std::vector<int> nices, std::vector<step> steps)
      : config_(config), nices_(std::move(nices)), steps_(std::move(steps)) {}

  void all_of_length(std::size_t length) {
    sequence_.clear();
    extend(length);
  }
  [[nodiscard]] std::uint64_t sequences() const { return sequences_; }

 private:
  // False: the last step does nothing here, so what follows was seen without it.
  bool play() {
    cfs_twin twin(config_, cfs_queue::initial_min_vruntime, 1);
    twin.compare_after_each(false);
    for (const int nice : nices_) {
      twin.apply({.what = action::fork, .nice = nice});
      if (twin.fast().current() == nullptr) twin.apply({.what = action::schedule});
    }
    bool applied = true;
    for (std::size_t i = 0; i < sequence_.size(); ++i) {
      if (i + 1 == sequence_.size()) twin.compare_after_each(true);
      applied = twin.apply(sequence_[i]);
    }
    EXPECT_TRUE(twin.comparable());
    EXPECT_EQ(twin.difference(), "") << told();
    return applied;
  }

  void extend(std::size_t left) {
    if (left == 0 || testing::Test::HasFailure()) return;
    for (const step& s : steps_) {
      sequence_.push_back(s);
      ++sequences_;
      if (play()) extend(left - 1);
      sequence_.pop_back();
    }
  }

  [[nodiscard]] std::string told() const {
    std::ostringstream out;
    out << "tasks of nice";
    for (const int nice : nices_) out << ' ' << nice;
    for (const step& s : sequence_) out << '\n' << s;
    return out.str();
  }

  cfs_config config_;
  std::vector<int> nices_;
  std::vector<step> steps_;
  std::vector<step> sequence_;
  std::uint64_t sequences_ = 0;
};

void check_all(const cfs_config& config, const std::vector<int>& nices,
               const std::vector<step>& steps, std::size_t length) {
  for (std::size_t tasks = 1; tasks <= nices.size(); ++tasks) {
    exhaustive all(config, {nices.begin(), nices.begin() + static_cast<std::ptrdiff_t>(tasks)},
                   steps);
    all.all_of_length(length);
    EXPECT_GT(all.sequences(), 10'000U);
  }
}

TEST(cfs_exhaustive, every_short_sequence_with_the_defaults) {
  check_all({}, {0, 0, 0}, all_steps(), 4);
}

TEST(cfs_exhaustive, every_sequence_of_a_few_steps) { check_all({}, {0, 0, 1}, few_steps(), 6); }

TEST(cfs_exhaustive, every_short_sequence_when_two_are_many) {
  cfs_config config;
  config.nr_latency = 2;
  config.features.set(feature::next_buddy, true);
  check_all(config, {0, -5, 5}, all_steps(), 4);
}

TEST(cfs_exhaustive, every_short_sequence_with_everything_switched) {
  cfs_config config;
  config.child_runs_first = true;
  config.wakeup_granularity_ns = 0;
  config.nr_latency = 1;
  for (const feature f : {feature::gentle_fair_sleepers, feature::start_debit,
                          feature::wakeup_preemption, feature::base_slice}) {
    config.features.set(f, false);
  }
  check_all(config, {3, 0, 0}, all_steps(), 4);
}

}  // namespace
}  // namespace vlag

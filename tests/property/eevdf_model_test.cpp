// SPDX-License-Identifier: Apache-2.0
//
// The class against the exact model: every short sequence of operations first, random streams
// after.
#include "property/eevdf_streams.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace vlag::test {
namespace {

// Every sequence of up to so many operations after the given beginning. All proper beginnings of a
// sequence were checked before it, so only its end needs comparing.
class every_sequence {
 public:
  every_sequence(eevdf_config config, std::vector<operation> beginning,
                 std::vector<operation> alphabet)
      : config_(config), so_far_(std::move(beginning)), alphabet_(std::move(alphabet)) {}

  void check(int more) {
    if (::testing::Test::HasFatalFailure()) return;
    eevdf_twin twin(config_, 0, 3);
    for (const operation& op : so_far_) twin.apply(op);
    const std::string found = twin.difference();
    ++checked_;
    if (!found.empty()) {
      std::ostringstream sequence;
      for (const operation& op : so_far_) sequence << op << '\n';
      FAIL() << sequence.str() << found;
    }
    if (more == 0) return;
    for (const operation& op : alphabet_) {
      so_far_.push_back(op);
      check(more - 1);
      so_far_.pop_back();
    }
  }
  [[nodiscard]] long checked() const { return checked_; }

 private:
  eevdf_config config_;
  std::vector<operation> so_far_;
  std::vector<operation> alphabet_;
  long checked_ = 0;
};

const std::vector<operation> three_tasks = {
    {act::fork, 0, 0, 0}, {act::fork, 0, 1 * ms, 0}, {act::fork, 0, 0, 5}, {act::schedule}};

const std::vector<operation> daily_life = {
    {act::run, 0, 1 * ms}, {act::run, 0, 4 * ms}, {act::pass, 0, 2 * ms},
    {act::block},          {act::wake, 0},        {act::wake, 1},
    {act::wake, 2},        {act::schedule},       {act::yield}};

const std::vector<operation> rarities = {{act::run, 0, 3 * ms},
                                         {act::block},
                                         {act::block_and_wake},
                                         {act::wake, 0},
                                         {act::schedule},
                                         {act::yield_to, 2},
                                         {act::set_nice, 0, 0, 10},
                                         {act::set_nice, 1, 0, -10},
                                         {act::set_slice, 0, 500 * us},
                                         {act::set_attributes, 2, 2 * ms, 0, sched_policy::idle},
                                         {act::reweight, 0, 4096 << 10},
                                         {act::exit},
                                         {act::remove, 1},
                                         {act::fork, 0, 0, 0},
                                         {act::mark_resched},
                                         {act::higher_class}};

TEST(eevdf_every_sequence, of_daily_life_up_to_six_operations) {
  every_sequence sequences(three_ms_slices(), three_tasks, daily_life);
  sequences.check(6);
  EXPECT_EQ(sequences.checked(), 1 + 9 + 81 + 729 + 6561 + 59049 + 531441);
}

TEST(eevdf_every_sequence, of_everything_up_to_four_operations) {
  every_sequence sequences(three_ms_slices(), three_tasks, rarities);
  sequences.check(4);
}

TEST(eevdf_every_sequence, from_an_empty_queue) {
  std::vector<operation> alphabet = daily_life;
  alphabet.insert(alphabet.end(),
                  {{act::fork, 0, 0, 0}, {act::fork, 0, 500 * us, -3}, {act::exit}});
  every_sequence sequences(three_ms_slices(), {}, alphabet);
  sequences.check(5);
}

TEST(eevdf_every_sequence, with_each_feature_turned) {
  for (int f = 0; f != eevdf_features; ++f) {
    eevdf_config config = three_ms_slices();
    const auto which = static_cast<feature>(f);
    config.features.set(which, !config.features.has(which));
    every_sequence sequences(config, three_tasks, daily_life);
    sequences.check(4);
    every_sequence rare_ones(config, three_tasks, rarities);
    rare_ones.check(3);
  }
}

void check_stream(const eevdf_config& config, std::uint64_t start, std::size_t most_tasks,
                  const std::vector<operation>& stream, std::size_t compare_each = 1) {
  eevdf_twin twin(config, start, most_tasks);
  for (std::size_t i = 0; i < stream.size(); ++i) {
    twin.apply(stream[i]);
    if (i % compare_each != 0) continue;
    const std::string found = twin.difference();
    if (!found.empty()) {
      RC_FAIL("after operation " + std::to_string(i) + ":\n" + found);
    }
  }
}

RC_GTEST_PROP(eevdf_model, few_tasks_do_anything, ()) {
  check_stream(*any_config(), *start_of_virtual_time(), 4, *some_stream(400));
}

RC_GTEST_PROP(eevdf_model, many_tasks_do_anything, ()) {
  std::vector<operation> stream(*rc::gen::inRange<std::size_t>(10, 60));
  for (operation& op : stream) {
    op = {act::fork, 0, *some_slice(), *some_nice(), *some_policy()};
  }
  const std::vector<operation> rest = *some_stream(300);
  stream.insert(stream.end(), rest.begin(), rest.end());
  check_stream(*any_config(), *start_of_virtual_time(), 64, stream);
}

// Around the sizes at which the timeline changes its form.
RC_GTEST_PROP(eevdf_model, crowds_grow_and_shrink, ()) {
  std::vector<operation> stream;
  const auto some = [&](act what, int most) {
    const int n = *rc::gen::inRange(0, most);
    for (int i = 0; i < n; ++i) {
      const bool makes = what == act::fork;
      stream.push_back({what, *rc::gen::inRange(0U, 200U), makes ? *some_slice() : *some_time(),
                        makes ? *some_nice() : 0});
      if (!makes) stream.push_back({act::run, 0, 4 * ms});
      if (!makes) stream.push_back({act::schedule});
    }
  };
  for (int round = 0; round < 3; ++round) {
    some(act::fork, 150);
    some(act::block, 60);
    some(act::remove, 60);
    some(act::wake, 60);
  }
  check_stream(three_ms_slices(), *start_of_virtual_time(), 200, stream, 23);
}

RC_GTEST_PROP(eevdf_model, equal_tasks_tie, ()) {
  std::vector<operation> stream(6, operation{act::fork});
  for (const unsigned kind :
       *rc::gen::container<std::vector<unsigned>>(rc::gen::inRange(0U, 24U))) {
    constexpr act common[] = {act::run, act::run, act::schedule, act::block, act::wake, act::yield};
    stream.push_back({common[kind % 6], kind / 4, 3 * ms});
  }
  check_stream(three_ms_slices(), 0, 8, stream);
}

}  // namespace
}  // namespace vlag::test

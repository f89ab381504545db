// SPDX-License-Identifier: Apache-2.0
//
// What an attributes file says about tasks. Patterns are tried one by one, pids and full names are
// looked up: a file may name every task of a large machine.
#include "input/text.hpp"
#include "workload/recorded_builder.hpp"

#include <algorithm>
#include <string>

namespace vlag {
namespace {

void choose_latest(entry_choice& choice, const entry_choice& other) {
  choice.nice = std::max(choice.nice, other.nice);
  choice.slice = std::max(choice.slice, other.slice);
  choice.latency_nice = std::max(choice.latency_nice, other.latency_nice);
  choice.clock_poll = std::max(choice.clock_poll, other.clock_poll);
  choice.policy = std::max(choice.policy, other.policy);
  choice.group = std::max(choice.group, other.group);
}

entry_choice choice_of(const recorded_attributes::task& entry, std::size_t place) {
  const auto number = [place](bool said) { return said ? place + 1 : 0; };
  return {number(entry.nice.has_value()),         number(entry.slice_ns.has_value()),
          number(entry.latency_nice.has_value()), number(entry.clock_poll_ns.has_value()),
          number(entry.policy.has_value()),       number(entry.group.has_value())};
}

}  // namespace

void program_builder::index_attributes() {
  for (std::size_t i = 0; i < attributes_.tasks.size(); ++i) {
    const recorded_attributes::task& entry = attributes_.tasks[i];
    if (is_glob(entry.pattern)) {
      glob_attributes_.push_back({i, false});
      continue;
    }
    exact_entries& same = exact_attributes_[entry.pattern];
    choose_latest(same.choice, choice_of(entry, i));
    ++same.count;
  }
}

void program_builder::apply_attributes(const traced_task& t, task_setup& setup) {
  entry_choice choice;
  for (const std::string& key : {setup.name, std::to_string(t.pid)}) {
    const auto found = exact_attributes_.find(key);
    if (found == exact_attributes_.end()) continue;
    found->second.matched = true;
    choose_latest(choice, found->second.choice);
  }
  for (glob_entry& glob : glob_attributes_) {
    const recorded_attributes::task& entry = attributes_.tasks[glob.entry];
    if (!glob_matches(entry.pattern, setup.name)) continue;
    glob.matched = true;
    choose_latest(choice, choice_of(entry, glob.entry));
  }
  const std::vector<recorded_attributes::task>& entries = attributes_.tasks;
  setup.clock_poll_ns = setup.policy == sched_policy::normal ? attributes_.clock_poll_ns : 0;
  if (choice.nice != 0) setup.nice = static_cast<int>(*entries[choice.nice - 1].nice);
  if (choice.slice != 0) setup.slice_ns = *entries[choice.slice - 1].slice_ns;
  if (choice.latency_nice != 0) {
    setup.latency_nice = static_cast<int>(*entries[choice.latency_nice - 1].latency_nice);
  }
  if (choice.clock_poll != 0) setup.clock_poll_ns = *entries[choice.clock_poll - 1].clock_poll_ns;
  if (choice.policy != 0) setup.policy = *entries[choice.policy - 1].policy;
  if (choice.group != 0) setup.group = groups_.number_of(*entries[choice.group - 1].group);
  if (is_real_time(setup.policy)) setup.rt_priority = std::max(setup.rt_priority, 1);
}

void program_builder::note_unmatched_attributes() {
  std::uint64_t unmatched = 0;
  for (const auto& [pattern, same] : exact_attributes_) {
    if (!same.matched) unmatched += same.count;
  }
  for (const glob_entry& glob : glob_attributes_) {
    if (!glob.matched) ++unmatched;
  }
  if (unmatched != 0) anomalies_["tasks of the attributes that match no task"] += unmatched;
}

}  // namespace vlag

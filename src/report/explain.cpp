// SPDX-License-Identifier: Apache-2.0
#include "report/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "input/printable.hpp"
#include "input/text.hpp"
#include "report/debug_dump.hpp"
#include "report/pick_rules.hpp"
#include "report/task_groups.hpp"
#include "report/text_table.hpp"
#include "vlag/entity.hpp"

namespace vlag {
namespace {

std::string duration(std::uint64_t ns) { return format_duration(ns); }
std::string duration(std::int64_t ns) {
  return format_duration(static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)));
}

// ---- Why a choice was due

std::string_view told_text(decision what) {
  switch (what) {
    case decision::request_used_up:
      return "{} had used up its request: the CPU time that it may have at a time";
    case decision::ineligible_gives_way:
      return "{} had received more than its fair share, and nothing protected its slice any more";
    case decision::wakeup_preempts:
      return "{} became runnable, and would be chosen rather than the running task";
    case decision::idle_policy_yields:
      return "{} became runnable while something of idle policy ran, which gives way at once";
    case decision::priority_changed:
      return "the priority of {} was lowered while it ran";
    case decision::cpu_was_idle:
      return "{} became runnable on the idle CPU";
    case decision::protection_cancelled:
      return "one with a shorter request became runnable: the slice of {} lost its protection";
    case decision::dequeue_delayed:
      return "{} fell asleep with more than its fair share: it stays queued, delayed, until the "
             "others have caught up";
    case decision::delayed_completed:
      return "{}, asleep but still queued, had its turn and left the queue";
    case decision::delayed_requeued:
      return "{} woke up while it was still queued";
    case decision::moved_while_running:
      return "{} changed its group while it ran";
    case decision::out_of_bandwidth:
      return "{} belongs to a group that has used up its quota";
    case decision::group_throttled:
      return "group {} was taken off until its quota is filled again";
    case decision::group_unthrottled:
      return "group {} came back: its quota was filled";
    case decision::ran_its_share:
      return "{} had used up its share of the period";
    case decision::ran_ahead:
      return "{} was ahead of the first waiting one by more than its share of the period";
    case decision::tick_repicks:
      return "a tick found that {} would not be chosen again";
    case decision::child_runs_first:
      return "{} was created, and is to run before its parent";
  }
  return "{}";
}

std::string fate_text(const pick_record& record, const std::string& previous) {
  switch (record.fate) {
    case previous_fate::none:
      return "the CPU was idle";
    case previous_fate::runnable:
      return fmt::format("{} ran and wants to go on", previous);
    case previous_fate::yielded:
      return fmt::format("{} gave up its turn (yield)", previous);
    case previous_fate::blocked:
      return fmt::format("{} blocked", previous);
    case previous_fate::gone:
      break;
  }
  return fmt::format("{} exited", previous);
}

std::string why_due(const pick_record& record, const std::string& previous) {
  std::string result = fmt::format("Before: {}.\n", fate_text(record, previous));
  for (const told_decision& told : record.told) {
    const std::string when =
        told.at_ns == record.at_ns ? "then" : duration(record.at_ns - told.at_ns) + " earlier";
    result += fmt::format("  {}: {}.\n", when,
                          fmt::format(fmt::runtime(told_text(told.what)), entity_title(told.who)));
  }
  return result;
}

// ---- Who could be chosen

std::string state_text(const entity_view& e) {
  std::vector<std::string_view> words;
  if (e.running) words.emplace_back("runs");
  if (e.protected_slice) words.emplace_back("protected");
  if (e.delayed) words.emplace_back("delayed");
  if (e.next_buddy) words.emplace_back("next buddy");
  if (e.last_buddy) words.emplace_back("last buddy");
  if (e.skip_buddy) words.emplace_back("skip buddy");
  if (e.idle) words.emplace_back("idle policy");
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string marked(const entity_view& e, bool wins) {
  return fmt::format("{} {}", wins ? ">" : " ", entity_title(e));
}

std::string eevdf_candidates(const queue_view& queue, std::size_t winner) {
  text_table table({{"  Candidate", align::left},
                    {"Vruntime ms"},
                    {"Lag ms, virtual"},
                    {"Lag ms, CPU time"},
                    {"Deadline ms"},
                    {"Slice ms"},
                    {"Eligible", align::left},
                    {"V to go ms"},
                    {"Others' CPU ms"},
                    {"State", align::left}});
  for (std::size_t i = 0; i < queue.entities.size(); ++i) {
    const entity_view& e = queue.entities[i];
    const eligibility_view when = eligibility_of(queue, e);
    const auto to_go = [&](std::uint64_t ns) {
      return when.eligible ? std::string() : split_ms(static_cast<std::int64_t>(ns));
    };
    table.add_row({marked(e, i == winner), split_ms(static_cast<std::int64_t>(e.vruntime)),
                   split_ms(e.lag), split_ms(service_ns(e.lag, e.weight.full)),
                   split_ms(static_cast<std::int64_t>(e.deadline)),
                   split_ms(static_cast<std::int64_t>(e.slice_ns)), when.eligible ? "yes" : "no",
                   to_go(when.virtual_ns), to_go(when.service_ns), state_text(e)});
  }
  return table.text();
}

std::string cfs_candidates(const queue_view& queue, std::size_t winner) {
  std::uint64_t least = queue.entities.front().vruntime;
  for (const entity_view& e : queue.entities) {
    if (before(e.vruntime, least)) least = e.vruntime;
  }
  text_table table({{"  Candidate", align::left},
                    {"Vruntime ms"},
                    {"Ahead ms, virtual"},
                    {"Ahead ms, CPU time"},
                    {"Share ms"},
                    {"Ran ms"},
                    {"State", align::left}});
  for (std::size_t i = 0; i < queue.entities.size(); ++i) {
    const entity_view& e = queue.entities[i];
    const std::int64_t ahead = signed_difference(e.vruntime, least);
    table.add_row({marked(e, i == winner), split_ms(static_cast<std::int64_t>(e.vruntime)),
                   split_ms(ahead), split_ms(service_ns(ahead, e.weight.full)),
                   split_ms(static_cast<std::int64_t>(e.slice_ns)),
                   e.running ? split_ms(static_cast<std::int64_t>(e.ran_ns)) : "", state_text(e)});
  }
  return table.text();
}

std::string queue_title(const queue_view& queue) {
  const std::string queued =
      fmt::format("{} candidate{}", queue.nr_queued, queue.nr_queued == 1 ? "" : "s");
  if (queue.engine == fair_engine::cfs) {
    return fmt::format("Queue {}: {}, min_vruntime = {} ms\n", printable(queue.path), queued,
                       split_ms(static_cast<std::int64_t>(queue.reference)));
  }
  return fmt::format("Queue {}: {}, V = {} ms\n", printable(queue.path), queued,
                     split_ms(static_cast<std::int64_t>(queue.average_vruntime)));
}

// ---- Who was, and by which rule

// ", 1.5ms before that of x:5, the next" or nothing.
std::string deadline_lead(const queue_view& queue, const entity_view& winner) {
  const entity_view* next = nullptr;
  for (const entity_view& e : queue.entities) {
    if (&e == &winner || !eligibility_of(queue, e).eligible) continue;
    if (next == nullptr || before(e.deadline, next->deadline)) next = &e;
  }
  if (next == nullptr) return "it is the only eligible one";
  const std::int64_t lead = signed_difference(next->deadline, winner.deadline);
  if (lead == 0) {
    return fmt::format(
        "its deadline is the earliest of the eligible; {} has the same and came later",
        entity_title(*next));
  }
  return fmt::format("its deadline is the earliest of the eligible, {} before that of {}",
                     duration(lead), entity_title(*next));
}

std::string lead_of_leftmost(const queue_view& queue, const entity_view& winner) {
  const entity_view* next = nullptr;
  for (const entity_view& e : queue.entities) {
    if (&e != &winner && (next == nullptr || before(e.vruntime, next->vruntime))) next = &e;
  }
  if (next == nullptr) return "it has received least";
  return fmt::format("its vruntime is the smallest, {} before that of {}",
                     duration(signed_difference(next->vruntime, winner.vruntime)),
                     entity_title(*next));
}

std::string rule_text(const queue_view& queue, const queue_choice& choice) {
  const entity_view& winner = queue.entities[choice.winner];
  switch (choice.rule) {
    case pick_rule::alone:
      return "nobody else is on the queue";
    case pick_rule::buddy:
      return "it was named for the next turn (buddy) and is eligible, which comes before any "
             "deadline";
    case pick_rule::protected_slice:
      return fmt::format(
          "it runs, is eligible, and its slice is protected until its request is used up, in {} of "
          "virtual time: the others are not looked at",
          duration(signed_difference(winner.deadline, winner.vruntime)));
    case pick_rule::running_is_first:
      return fmt::format("it runs, and {}", deadline_lead(queue, winner));
    case pick_rule::earliest_deadline:
      return deadline_lead(queue, winner);
    case pick_rule::nobody_eligible:
      return "nobody is eligible, which takes sums that wrapped: the first in order is taken";
    case pick_rule::leftmost:
      return lead_of_leftmost(queue, winner);
    case pick_rule::running_leftmost:
      return fmt::format("it runs, and {}", lead_of_leftmost(queue, winner));
    case pick_rule::next_buddy:
      return "it was named for the next turn (next buddy), and is not ahead of the first by more "
             "than the wakeup granularity";
    case pick_rule::last_buddy:
      return "it was interrupted by a wake-up (last buddy), and is not ahead of the first by more "
             "than the wakeup granularity";
    case pick_rule::second_after_skip:
      break;
  }
  return "the one with the smallest vruntime gave up its turn (skip buddy), and this one is not "
         "ahead of it by more than the wakeup granularity";
}

std::string outcome_text(const entity_view& winner) {
  if (winner.delayed) {
    return "  It is asleep and was kept queued only until the others had caught up: now it leaves, "
           "and the choice begins anew.\n";
  }
  if (winner.is_group) return "  It stands for its tasks: the choice goes on among them.\n";
  return "";
}

std::string step_text(const queue_view& queue, const queue_choice& choice) {
  const entity_view& winner = queue.entities[choice.winner];
  const bool eevdf = queue.engine == fair_engine::eevdf;
  return fmt::format(
      "\n{}\n{}\nChosen: {}: {}.\n{}", queue_title(queue),
      eevdf ? eevdf_candidates(queue, choice.winner) : cfs_candidates(queue, choice.winner),
      entity_title(winner), rule_text(queue, choice), outcome_text(winner));
}

std::string conclusion(const pick_record& record, const std::string& previous,
                       const std::string& chosen) {
  if (!record.chosen_exists) return "\nNobody is runnable: the CPU goes idle.\n";
  if (record.chosen_real_time) {
    return fmt::format("\n{} runs: it is a real-time task, and these run before all others.\n",
                       chosen);
  }
  if (record.previous_exists && record.previous == record.chosen) {
    return fmt::format("\n{} goes on.\n", chosen);
  }
  if (record.fate == previous_fate::runnable || record.fate == previous_fate::yielded) {
    return fmt::format("\n{} runs; {} lost the CPU.\n", chosen, previous);
  }
  return fmt::format("\n{} runs.\n", chosen);
}

}  // namespace

std::string entity_title(const entity_name& e) {
  if (e.is_group) return printable(e.name);
  return fmt::format("{}:{}", shown_name(e.name), e.pid);
}

std::string explain_pick(const pick_record& record, const policy_config& policy,
                         const std::string& previous_task, const std::string& chosen_task) {
  const followed_pick followed = follow(record, policy);
  std::string result = why_due(record, previous_task);
  for (std::size_t i = 0; i < followed.choices.size(); ++i) {
    result += step_text(record.steps[i], followed.choices[i]);
  }
  result += conclusion(record, previous_task, chosen_task);
  if (!followed.agrees) {
    result += "The rules as this explanation knows them give somebody else: please report it.\n";
  }
  return result;
}

std::string explain_terms(fair_engine engine) {
  if (engine == fair_engine::cfs) {
    return "vruntime  CPU time received, divided by the task's weight\n"
           "ahead     how much more that is than what the one with the least has received\n"
           "share     CPU time that it may have at a time, its part of the period\n"
           "> marks who was chosen\n";
  }
  return "vruntime  CPU time received, divided by the task's weight\n"
         "V         the weighted average of all vruntimes: what each would have in a fair world\n"
         "lag       V - vruntime: above 0 it is owed CPU time, below 0 it was served ahead\n"
         "eligible  lag is not below 0; only then can it be chosen. To go: how far V must come,\n"
         "          and the CPU time that others must get for it, if nobody joins or leaves\n"
         "deadline  the vruntime at which its request (slice) is served in full; the earliest "
         "wins\n"
         "> marks who was chosen\n";
}

}  // namespace vlag

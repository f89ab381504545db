// SPDX-License-Identifier: Apache-2.0
#include "machine/sched_counters.hpp"

#include <array>

namespace vlag {
namespace {

constexpr std::array counters{
    sched_counter_info{"sched_count", &sched_counters::sched_count, false, false},
    sched_counter_info{"tick_check_preempts", &sched_counters::tick_check_preempts, false, false},
    sched_counter_info{"tick_preempts", &sched_counters::tick_preempts, false, false},
    sched_counter_info{"check_deadline", &sched_counters::check_deadline, true, false},
    sched_counter_info{"update_deadline", &sched_counters::update_deadline, true, false},
    sched_counter_info{"preempt_deadline", &sched_counters::preempt_deadline, true, false},
    sched_counter_info{"wakeup_preempts", &sched_counters::wakeup_preempts, false, false},
    sched_counter_info{"short_preempts", &sched_counters::short_preempts, true, false},
    sched_counter_info{"delayed", &sched_counters::delayed, true, false},
    sched_counter_info{"delayed_requeued", &sched_counters::delayed_requeued, true, false},
    sched_counter_info{"delayed_completed", &sched_counters::delayed_completed, true, false},
    sched_counter_info{"yields", &sched_counters::yields, false, false},
    sched_counter_info{"nvcsw", &sched_counters::nvcsw, false, false},
    sched_counter_info{"nivcsw", &sched_counters::nivcsw, false, false},
    sched_counter_info{"migrations_wakeup", &sched_counters::migrations_wakeup, false, false},
    sched_counter_info{"migrations_fork", &sched_counters::migrations_fork, false, false},
    sched_counter_info{"wait_sum", &sched_counters::wait_sum, false, true},
    sched_counter_info{"wait_count", &sched_counters::wait_count, false, false},
};
static_assert(counters.size() * sizeof(std::uint64_t) == sizeof(sched_counters));

}  // namespace

std::span<const sched_counter_info> all_sched_counters() noexcept { return counters; }

sched_counters& sched_counters::operator+=(const sched_counters& other) noexcept {
  for (const sched_counter_info& c : counters) this->*c.value += other.*c.value;
  return *this;
}

sched_counters& sched_counters::operator-=(const sched_counters& other) noexcept {
  for (const sched_counter_info& c : counters) this->*c.value -= other.*c.value;
  return *this;
}

}  // namespace vlag

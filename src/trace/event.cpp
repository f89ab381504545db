// SPDX-License-Identifier: Apache-2.0
#include "trace/event.hpp"

#include <array>

namespace vlag::trace {

std::string_view kernel_name(event_kind kind) noexcept {
  constexpr std::array<std::string_view, event_kinds> names{"sched_switch",
                                                            "sched_waking",
                                                            "sched_wakeup",
                                                            "sched_wakeup_new",
                                                            "sched_process_fork",
                                                            "sched_process_exit",
                                                            "sched_migrate_task",
                                                            "tracing_mark_write",
                                                            "sched_process_exec",
                                                            "sched_process_free",
                                                            "sched_stat_runtime",
                                                            "sched_stat_wait",
                                                            "sched_stat_sleep",
                                                            "sched_stat_iowait",
                                                            "sched_stat_blocked",
                                                            "cpu_frequency",
                                                            "cpu_idle"};
  return names[static_cast<std::size_t>(kind)];
}

string_table::string_table() { static_cast<void>(intern({})); }

string_table::string_table(const string_table& other) {
  for (const std::string& text : other.texts_) static_cast<void>(intern(text));
}

string_table& string_table::operator=(const string_table& other) {
  if (this != &other) *this = string_table(other);
  return *this;
}

std::uint32_t string_table::intern(std::string_view text) {
  if (const auto found = index_.find(text); found != index_.end()) return found->second;
  const auto index = static_cast<std::uint32_t>(texts_.size());
  texts_.emplace_back(text);
  index_.emplace(texts_.back(), index);
  return index;
}

std::optional<std::uint32_t> string_table::find(std::string_view text) const {
  const auto found = index_.find(text);
  if (found == index_.end()) return std::nullopt;
  return found->second;
}

std::string_view string_table::text(std::uint32_t index) const { return texts_.at(index); }

}  // namespace vlag::trace

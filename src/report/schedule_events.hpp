// SPDX-License-Identifier: Apache-2.0
//
// Single events of a recording told to a schedule_sink.
#pragma once

#include "report/schedule.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace vlag {

[[nodiscard]] bool is_wakeup(trace::event_kind kind) noexcept;
// A schedule has something to say of it.
[[nodiscard]] bool is_told(trace::event_kind kind) noexcept;

class event_telling {
 public:
  // The strings and the sink must outlive it.
  event_telling(const trace::string_table& strings, std::uint64_t from_ns, schedule_sink& sink)
      : strings_(strings), from_ns_(from_ns), sink_(sink) {}

  // The next number is that task's. Requires: it has none.
  void add(std::int32_t pid, std::uint32_t name);
  // no_task: idle, or unknown.
  [[nodiscard]] std::uint32_t number_of(std::int32_t pid) const;
  // Tasks that were not added are, and the sink is told. Requires: is_told(); not before from_ns.
  void tell(const trace::event& e);

 private:
  std::uint32_t known(std::int32_t pid, std::uint32_t name, std::int32_t prio, std::uint64_t at_ns);

  const trace::string_table& strings_;
  std::uint64_t from_ns_;
  schedule_sink& sink_;
  std::unordered_map<std::int32_t, std::uint32_t> numbers_;  // looked up only
  std::vector<std::uint32_t> names_;                         // in force, by number
};

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// What `perf sched map` prints (perf 6.1), from a schedule: a line a switch, a column a CPU, tasks
// by two letters: "*A0" took that CPU just now, "." is idle; who A0 is stands where it first comes,
// and again after it changed its name. After Z9 the letters start again at A0.
#pragma once

#include "report/schedule.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

class sched_map final : public schedule_sink {
 public:
  using output = std::function<void(std::string_view)>;
  // cpus: those with a column; empty: all.
  sched_map(std::vector<unsigned> cpus, output out)
      : shown_cpus_(std::move(cpus)), out_(std::move(out)) {}

  void begin(const schedule_info& info) override;
  void on_switch(const schedule_switch& e) override;
  void on_name(std::uint64_t at_ns, std::uint32_t task, std::string_view name) override;

 private:
  static constexpr std::array<char, 2> no_letters{};
  struct shown_task {
    std::string name;
    std::int32_t pid = 0;
    std::array<char, 2> letters{};
    bool renamed = false;  // since its name was shown
  };

  [[nodiscard]] bool name_task(std::uint32_t task);
  [[nodiscard]] bool has_column(unsigned cpu) const;

  std::vector<unsigned> shown_cpus_;
  output out_;
  std::vector<shown_task> tasks_;
  std::vector<std::array<char, 2>> on_;  // what runs on each CPU; no_letters: not known yet
  std::array<char, 2> next_{'A', '0'};
  std::uint64_t clock_ns_ = 0;
};

}  // namespace vlag

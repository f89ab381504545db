// SPDX-License-Identifier: Apache-2.0
//
// Builds task programs from a recording, and measures it. The rules:
//
// 1. A segment is the CPU time of a task between a wake-up and the next time it blocks; losing the
//    CPU does not end it.
// 2. A wake-up made by a running task is an edge: after so much CPU time of its segment the waker
//    wakes the other. One made by a timer interrupt is a sleep of the length recorded; one made in
//    softirq context is a timer counted in ticks and keeps its distance in ticks.
// 3. Interrupt wake-ups at multiples of one period, while the sleeps before them vary, are
// periodic.
// 4. In an endless segment (its task never blocks again) an edge fires when its target has blocked
//    and the waker has run as long since then as it had in the recording.
// 5. A task that still wants the CPU at the end goes on wanting it if its last segment is longer
//    than each before; else it is out of program there.
#pragma once

#include "machine/figures.hpp"
#include "machine/machine.hpp"
#include "trace/event.hpp"
#include "workload/group_list.hpp"
#include "workload/replay.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vlag {

// What the recording says about the machine, besides the tasks. Times are ns.
struct recorded_machine {
  unsigned cpus = 1;
  std::uint64_t tick_ns = 4'000'000;
  std::uint64_t tick_phase_ns = 0;  // relative to the start of the window
  bool tick_phase_known = false;
  std::uint64_t tick_timer_delay_ns = 0;
  std::uint64_t switch_delay_ns = 0;
  std::uint64_t idle_switch_delay_ns = 0;
  std::vector<std::uint64_t> period_origins_ns;
};

struct recorded_programs {
  recorded_machine machine;
  std::vector<task_setup> tasks;      // targets of operations are indices into this
  group_list groups;                  // that the tasks are in, and further ones of the attributes
  run_figures figures;                // the recording itself, measured over the window
  std::uint64_t span_ns = 0;          // from the first operation to the end of the window
  std::uint64_t measure_from_ns = 0;  // where the window begins in it
  std::uint64_t origin_ns = 0;        // where the first operation is, after the first event
  std::uint32_t milestones = 0;       // one a task: its recorded work is done
  std::vector<std::pair<std::string, std::uint64_t>> anomalies;
};

// A span of the recording in its own time, ns.
struct recorded_span {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
};

// Throws input_error: a marker or time that the recording does not hold, an empty span.
[[nodiscard]] recorded_span find_window(const trace::recording& recording,
                                        const std::string& window);

// A moment in the recording's own time, ns: a time after its first event or a marker's text. Throws
// input_error that begins with the option's name: neither, or after the end.
[[nodiscard]] std::uint64_t find_moment(const trace::recording& recording, std::string_view option,
                                        std::string_view text);

[[nodiscard]] recorded_programs build_programs(const trace::recording& recording,
                                               const recorded_attributes& attributes,
                                               const replay_options& options);

}  // namespace vlag

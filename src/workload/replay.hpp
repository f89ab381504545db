// SPDX-License-Identifier: Apache-2.0
//
// A recording becomes a workload: for each task the CPU time between its blocking points, and what
// woke it. Replaying it under another policy answers "what would this workload have done there?".
#pragma once

#include "machine/figures.hpp"
#include "trace/event.hpp"
#include "vlag/entity.hpp"
#include "workload/group_list.hpp"
#include "workload/variant.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vlag {

class machine;
class machine_observer;
class pick_observer;

// What a trace cannot say, from an attributes file (--attrs; docs/attributes-file.md).
struct recorded_attributes {
  std::uint64_t hz = 250;
  std::string kernel;                 // "6.12.95+deb12-cloud-amd64"; empty: unknown
  std::string profile;                // "linux-6.12"; empty: as the kernel says
  std::vector<std::string> features;  // as the kernel prints them: PLACE_LAG NO_HRTICK…
  std::optional<std::uint64_t> base_slice_ns;
  std::optional<std::uint64_t> latency_ns, min_granularity_ns, wakeup_granularity_ns,
      idle_min_granularity_ns;
  std::uint64_t clock_poll_ns = 0;  // every task reads its CPU clock that often; 0 never
  struct task {
    std::string pattern;
    std::optional<std::int64_t> nice;
    std::optional<std::uint64_t> slice_ns;
    std::optional<std::int64_t> latency_nice;
    std::optional<std::uint64_t> clock_poll_ns;
    std::optional<sched_policy> policy;
    std::optional<std::string> group;  // its path
  };
  std::vector<task> tasks;
  group_list groups;
};

// Throws input_error with the place in the file.
[[nodiscard]] recorded_attributes read_attributes(const std::string& path);

// The policy the recording was made under, as the attributes say; nullopt when they do not.
[[nodiscard]] std::optional<policy_variant> recorded_variant(const recorded_attributes& attributes,
                                                             unsigned cpus);

// One line for each thing in the attributes that is not used since they name no kernel or policy
// that has a profile: the kernel's release, features, constants.
[[nodiscard]] std::vector<std::string> unused_attributes(const recorded_attributes& attributes);

enum class external_wakes : std::uint8_t { automatic, relative, absolute };

struct replay_options {
  // A span of the recording: "FROM..TO", each a time (ns after the first event, or a duration) or a
  // marker text; empty: all of it.
  std::string window;
  external_wakes wakes = external_wakes::automatic;
  bool repeat = false;  // start programs again when they run out
  std::uint64_t seed = 1;
  bool count_decisions = false;  // fill the figures' counters
};

// A moment of a replay.
struct replay_moment {
  std::uint64_t simulated_ns = 0;          // the machine's time
  std::uint64_t after_first_event_ns = 0;  // the recording's
};

// Not thread safe; simulate() may be called several times and gives the same for the same variant.
class recorded_workload {
 public:
  // Throws input_error: the window is not in the recording, nothing runs in it.
  recorded_workload(const trace::recording& recording, const recorded_attributes& attributes,
                    const replay_options& options);
  ~recorded_workload();
  recorded_workload(recorded_workload&&) noexcept;

  [[nodiscard]] unsigned cpus() const noexcept;
  [[nodiscard]] std::uint64_t tick_ns() const noexcept;
  // The window in the recording's own clock.
  [[nodiscard]] std::uint64_t window_from_ns() const noexcept;
  [[nodiscard]] std::uint64_t window_to_ns() const noexcept;
  // The recording measured over its window.
  [[nodiscard]] const run_figures& recorded() const noexcept;
  // What the builder could not know: open ends, guessed wakers… name and count.
  [[nodiscard]] const std::vector<std::pair<std::string, std::uint64_t>>& anomalies()
      const noexcept;

  // Runs the workload under that variant; seed varies the tick jitter.
  // progress is told the simulated time in per mille of the span. The observer, when there is one,
  // is told of all tasks first, of on_measuring where the window begins, and of on_end where the
  // figures that are returned end.
  [[nodiscard]] run_figures simulate(const policy_variant& variant,
                                     const std::function<void(unsigned)>& progress = {},
                                     machine_observer* observer = nullptr) const;

  // A time after the recording's first event (in ns, or a duration like 1.5s) or a marker's text.
  // Throws input_error that begins with the option's name: neither, or outside of the window.
  // Requires: the recording is the one that the workload was made from.
  [[nodiscard]] replay_moment moment(const trace::recording& recording, std::string_view option,
                                     std::string_view text) const;
  [[nodiscard]] std::uint64_t after_first_event_ns(std::uint64_t simulated_ns) const noexcept;

  // Runs the workload under that variant up to the moment, events of that very ns included, and
  // gives the machine as it is then. Figures count from the window's beginning. The observer, if
  // there is one, must outlive the machine. ran_out: names of tasks that matter and ran out of
  // recorded work before.
  struct stopped_machine {
    std::unique_ptr<machine> simulated;
    std::vector<std::string> ran_out;
  };
  [[nodiscard]] stopped_machine run_to(const policy_variant& variant, const replay_moment& when,
                                       pick_observer* observer = nullptr) const;

 private:
  struct state;
  [[nodiscard]] std::unique_ptr<machine> prepare(const policy_variant& variant,
                                                 machine_observer* observer) const;
  void run_to_window(machine& simulated) const;
  std::unique_ptr<state> state_;
};

}  // namespace vlag

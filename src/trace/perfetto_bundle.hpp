// SPDX-License-Identifier: Apache-2.0
//
// Private to perfetto: the events of one CPU in one packet.
#pragma once

#include "trace/event_formats.hpp"
#include "trace/intake.hpp"

#include <protozero/pbf_reader.hpp>

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace vlag::trace {

// The field's value as a number; 0 with `wrong` set if it is none.
[[nodiscard]] std::uint64_t number_of(protozero::pbf_reader& field, bool& wrong);
// The field's value as bytes; empty with `wrong` set if it is none.
[[nodiscard]] std::string_view bytes_of(protozero::pbf_reader& field, bool& wrong);

class bundle_reader {
 public:
  explicit bundle_reader(intake& to) : to_(to), on_cpu_(highest_cpu_count) {}

  // `where`: of the packet. Throws protozero::exception: damaged.
  void read(std::string_view bundle, std::uint64_t where);

  // A thread's name, told apart from events.
  void name_task(std::int32_t pid, std::string_view name);

  [[nodiscard]] std::uint64_t seen() const noexcept { return seen_; }

 private:
  static constexpr std::size_t highest_cpu_count = 8192;

  struct running {
    std::int32_t pid = 0;
    std::int32_t prio = 120;
    std::uint32_t comm = 0;
    bool known = false;
  };
  struct compact {
    std::vector<std::uint64_t> switch_ns;  // distances
    std::vector<std::uint64_t> prev_state;
    std::vector<std::uint64_t> next_pid;
    std::vector<std::uint64_t> next_prio;
    std::vector<std::uint64_t> next_comm;
    std::vector<std::uint64_t> waking_ns;  // distances
    std::vector<std::uint64_t> waking_pid;
    std::vector<std::uint64_t> waking_cpu;
    std::vector<std::uint64_t> waking_prio;
    std::vector<std::uint64_t> waking_comm;
    std::vector<std::uint64_t> waking_flags;
    std::vector<std::string_view> names;
  };

  void read_event(std::string_view bytes);
  [[nodiscard]] bool read_fields(unsigned field, protozero::pbf_reader& event_field, event& out,
                                 raw_texts& texts);
  void read_compact(std::string_view bytes);
  void read_compact_switches(const compact& all, std::vector<event>& into);
  void read_compact_wakings(const compact& all, std::vector<event>& into);
  [[nodiscard]] std::uint32_t compact_name(const compact& all, std::uint64_t index,
                                           std::int32_t pid);
  void pass_on(event& entry);
  void note_malformed(std::string_view what);

  intake& to_;
  std::vector<running> on_cpu_;
  std::unordered_map<std::int32_t, std::uint32_t> names_;  // by pid; never iterated
  state_bits states_;
  std::uint64_t where_ = 0;
  std::uint64_t seen_ = 0;
  std::uint16_t cpu_ = 0;
};

}  // namespace vlag::trace

// SPDX-License-Identifier: Apache-2.0
//
// Private to trace_dat: what the process that reads the file tells the other over a pipe. Nothing
// that comes from there is trusted; both ends are of the same build.
#pragma once

#include "trace/event.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace vlag::trace {

enum class wire_kind : std::uint8_t {
  event,
  other,      // text: the event's name
  malformed,  // text: the event's name
  unknown,
  lost,     // number: how many, 0 unknown; of one CPU
  buffers,  // number: named buffers that are not read
  clock,    // text
  host,     // text
  release,  // text
  refused,  // text: why the file cannot be read
  end,      // all told
};

// In front of the texts, one behind the other.
struct wire_record {
  static constexpr std::uint32_t longest_text = 4096;

  std::uint64_t time_ns;
  std::uint64_t where;
  std::uint64_t number;  // amount of an event
  std::int32_t context_pid;
  std::int32_t pid;
  std::int32_t prio;
  std::int32_t other_pid;
  std::int32_t other_prio;
  std::int32_t target_cpu;
  std::uint16_t cpu;
  std::uint16_t comm_size;
  std::uint16_t other_comm_size;
  std::uint16_t text_size;
  std::uint8_t kind;  // wire_kind
  std::uint8_t event_kind;
  std::uint8_t context;
  std::uint8_t need_resched;
  char state;
  std::uint8_t preempted;
  std::uint8_t unused[2];
};

// Bytes of all its texts.
[[nodiscard]] std::uint32_t text_bytes(const wire_record& record) noexcept;

[[nodiscard]] wire_record to_wire(const event& entry) noexcept;
// nullopt: something is out of range. Texts are left to the caller.
[[nodiscard]] std::optional<event> from_wire(const wire_record& record) noexcept;

// The other process's life: reads the trace.dat behind one descriptor, tells through the other, and
// ends. Never returns.
[[noreturn]] void tell_trace_dat(int file, int pipe) noexcept;

}  // namespace vlag::trace

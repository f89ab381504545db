// SPDX-License-Identifier: Apache-2.0
//
// Writes events as ftrace text in every way that kernels and trace-cmd print them.
#pragma once

#include "trace/event.hpp"

#include <string>

namespace vlag::test {

// An event with its texts, as a generator makes it.
struct told_event {
  trace::event event;
  std::string context_comm;
  std::string comm;
  std::string other_comm;
  std::string marker;
  std::string flags;  // as many as the dialect shows are printed
};

struct dialect {
  unsigned flags = 5;        // flag columns: 0, 4, 5 or 6
  bool tgid = false;         // record-tgid
  bool nanoseconds = false;  // trace-cmd -t
  bool short_tasks = false;  // trace-cmd's "comm:pid [prio]"
  bool trace_cmd = false;    // event names padded, "print:" for markers
  bool carriage_returns = false;
};

// One line with its end.
[[nodiscard]] std::string line_of(const told_event& told, const dialect& how);

}  // namespace vlag::test

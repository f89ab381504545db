// SPDX-License-Identifier: Apache-2.0
//
// Writes events as ftrace text, as the kernel's `trace` file has it: one line an event, nanoseconds
// where the recording has them.
#pragma once

#include "trace/event.hpp"
#include "trace/time_order.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace vlag::trace {

// Reading what it wrote gives the same events again, but for `where`, and for line ends in names
// and markers, which are written as '?'. The name in front of a line is the one under which the
// task was last seen, or "<...>" as the kernel writes it when it does not know.
class ftrace_writer final : public event_visitor {
 public:
  // `about` belongs to the recording whose events come, `out` takes pieces of text of about 64 KiB;
  // both must outlive it. The header is written at once.
  ftrace_writer(const recording_info& about, std::function<void(std::string_view)> out);

  void visit(const event& entry) override;
  // Hands over what has not been yet. To be called once, at the end.
  void finish();

 private:
  void write_context(const event& entry);
  void write_arguments(const event& entry);
  void write_task(std::string_view before, const event& entry);
  void learn_names(const event& entry);
  [[nodiscard]] std::string_view text_of(std::uint32_t index);

  const recording_info& about_;
  std::function<void(std::string_view)> out_;
  std::string buffer_;
  std::string cleaned_[2];  // texts with a line end in them
  unsigned next_cleaned_ = 0;
  std::unordered_map<std::int32_t, std::uint32_t> names_;  // by pid; never iterated
};

}  // namespace vlag::trace

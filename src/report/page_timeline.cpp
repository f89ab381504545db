// SPDX-License-Identifier: Apache-2.0
#include "report/page_timeline.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/compact_numbers.hpp"
#include "report/text_table.hpp"

namespace vlag {
namespace {

using json = nlohmann::ordered_json;

std::string bin_bytes(const timeline_bins& line) {
  const timeline_request& request = line.request();
  std::string bytes;
  bytes.reserve(std::size_t{request.cpus} * request.bins_per_cpu * timeline_classes);
  for (unsigned cpu = 0; cpu < request.cpus; ++cpu) {
    for (unsigned bin = 0; bin < request.bins_per_cpu; ++bin) {
      for (unsigned which = 0; which < timeline_classes; ++which) {
        const std::uint64_t ns = line.busy_ns(cpu, bin, which);
        const std::uint64_t part = (ns * 255 + line.bin_ns() / 2) / line.bin_ns();
        bytes.push_back(static_cast<char>(static_cast<unsigned char>(part)));
      }
    }
  }
  return bytes;
}

std::uint64_t pid_code(std::int32_t pid) { return pid < 0 ? 0 : static_cast<std::uint64_t>(pid); }

std::uint64_t zigzag(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1U ^ static_cast<std::uint64_t>(value < 0 ? -1 : 0);
}

// Virtual ns beyond 2^51 would not be exact in the page; there are none in practice.
void append_optional(std::string& bytes, const std::optional<std::int64_t>& value) {
  constexpr std::int64_t limit = std::int64_t{1} << 51U;
  append_varint(bytes, value ? zigzag(std::clamp(*value, -limit, limit)) + 1 : 0);
}

std::string stretch_bytes(const timeline_window& window, std::uint64_t origin_ns) {
  std::string bytes;
  std::int64_t before = static_cast<std::int64_t>(origin_ns);
  for (const cpu_stretch& s : window.stretches) {
    const auto from = static_cast<std::int64_t>(s.from_ns);
    const std::int64_t step = from - before;
    before = from;
    append_varint(bytes, zigzag(step));
    append_varint(bytes, s.to_ns - s.from_ns);
    append_varint(bytes, s.cpu);
    append_varint(bytes, pid_code(s.pid));
    append_varint(bytes, s.waited_ns);
    append_varint(bytes, static_cast<std::uint64_t>(s.wait));
    append_varint(bytes, pid_code(s.waker));
    append_varint(bytes, static_cast<std::uint64_t>(s.left));
    append_varint(bytes, pid_code(s.next));
    append_varint(bytes, s.why ? static_cast<std::uint64_t>(*s.why) + 1 : 0);
    append_optional(bytes, s.lag);
    append_optional(bytes, s.to_deadline);
  }
  return bytes;
}

}  // namespace

std::string_view reason_text(decision why) noexcept {
  switch (why) {
    case decision::request_used_up:
      return "its request was used up";
    case decision::ineligible_gives_way:
      return "it had had more than its share by then";
    case decision::wakeup_preempts:
      return "a task woke that goes first";
    case decision::idle_policy_yields:
      return "a task woke to which SCHED_IDLE gives way";
    case decision::priority_changed:
      return "its priority was lowered";
    case decision::moved_while_running:
      return "its group changed";
    case decision::out_of_bandwidth:
      return "its group had used up its quota";
    case decision::tick_repicks:
      return "at a tick another one came first";
    case decision::ran_its_share:
      return "it had had its part of the period";
    case decision::ran_ahead:
      return "it was ahead of the first one waiting by more than its part";
    case decision::child_runs_first:
      return "its child runs first";
    case decision::cpu_was_idle:
    case decision::protection_cancelled:
    case decision::dequeue_delayed:
    case decision::delayed_completed:
    case decision::delayed_requeued:
    case decision::group_throttled:
    case decision::group_unthrottled:
      break;
  }
  return {};
}

nlohmann::ordered_json reason_texts() {
  json texts = json::array();
  for (unsigned i = 0; i <= static_cast<unsigned>(decision::child_runs_first); ++i) {
    texts.push_back(std::string(reason_text(static_cast<decision>(i))));
  }
  return texts;
}

nlohmann::ordered_json timeline_json(const timeline_bins& line) {
  const timeline_request& request = line.request();
  const auto relative = [&](std::uint64_t at_ns) {
    return at_ns - std::min(at_ns, request.from_ns);
  };
  json windows = json::array();
  for (const timeline_window& w : line.windows()) {
    windows.push_back({{"from", relative(w.span.from_ns)},
                       {"completeFrom", relative(w.complete_from_ns)},
                       {"to", relative(w.span.to_ns)},
                       {"count", w.stretches.size()},
                       {"dropped", w.dropped},
                       {"data", base64(stretch_bytes(w, request.from_ns))}});
  }
  return {{"span", relative(line.ended_ns())}, {"cpus", request.cpus},
          {"bins", request.bins_per_cpu},      {"binNs", line.bin_ns()},
          {"stretches", line.stretches()},     {"shares", base64(bin_bytes(line))},
          {"windows", std::move(windows)}};
}

}  // namespace vlag

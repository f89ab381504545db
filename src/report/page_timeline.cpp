// SPDX-License-Identifier: Apache-2.0
#include "report/page_timeline.hpp"

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

std::string stretch_bytes(const timeline_window& window, std::uint64_t origin_ns) {
  std::string bytes;
  std::int64_t before = static_cast<std::int64_t>(origin_ns);
  for (const cpu_stretch& s : window.stretches) {
    const auto from = static_cast<std::int64_t>(s.from_ns);
    const std::int64_t step = from - before;
    before = from;
    append_varint(bytes, static_cast<std::uint64_t>(step) << 1U ^
                             static_cast<std::uint64_t>(step < 0 ? -1 : 0));
    append_varint(bytes, s.to_ns - s.from_ns);
    append_varint(bytes, s.cpu);
    append_varint(bytes, pid_code(s.pid));
    append_varint(bytes, s.waited_ns);
    append_varint(bytes, static_cast<std::uint64_t>(s.wait));
    append_varint(bytes, pid_code(s.waker));
    append_varint(bytes, static_cast<std::uint64_t>(s.left));
    append_varint(bytes, pid_code(s.next));
  }
  return bytes;
}

}  // namespace

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
  return {{"span", request.to_ns - request.from_ns},
          {"cpus", request.cpus},
          {"bins", request.bins_per_cpu},
          {"binNs", line.bin_ns()},
          {"stretches", line.stretches()},
          {"shares", base64(bin_bytes(line))},
          {"windows", std::move(windows)}};
}

}  // namespace vlag

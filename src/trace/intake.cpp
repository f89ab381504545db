// SPDX-License-Identifier: Apache-2.0
#include "trace/intake.hpp"

namespace vlag::trace {
namespace {

constexpr std::size_t most_other_names = 64;
// A recording that writes a new text with each marker would fill the memory otherwise.
constexpr std::size_t most_texts = std::size_t{1} << 19;
constexpr std::uint64_t most_text_bytes = std::uint64_t{1} << 25;

}  // namespace

intake::intake(recording_info& about, event_visitor& to, std::size_t held)
    : about_(about), to_(to) {
  if (held > 0) order_.emplace(to, held);
}

std::uint32_t intake::name(std::string_view comm, std::int32_t pid) {
  std::uint32_t& slot = names_[static_cast<std::uint32_t>(pid) % names_.size()];
  if (about_.strings.text(slot) != comm) slot = text(comm);
  return slot;
}

std::uint32_t intake::text(std::string_view text) {
  if (about_.strings.size() < most_texts && text_bytes_ + text.size() <= most_text_bytes) {
    const std::size_t before = about_.strings.size();
    const std::uint32_t index = about_.strings.intern(text);
    if (about_.strings.size() > before) text_bytes_ += text.size();
    return index;
  }
  if (const auto known = about_.strings.find(text)) return *known;
  note("too many different texts", "event", events_, [] { return "its text is left out"; });
  return 0;
}

void intake::take(const event& entry) {
  ++events_;
  disordered_ |= entry.time_ns < latest_ns_;
  latest_ns_ = std::max(latest_ns_, entry.time_ns);
  highest_cpu_ = std::max({highest_cpu_, static_cast<std::int32_t>(entry.cpu), entry.target_cpu});
  if (!order_) {
    to_.visit(entry);
  } else if (!order_->add(entry)) {
    note("too late to be sorted", "event", events_,
         [] { return "left out: far behind the events around it"; });
  }
}

void intake::round_ended() {
  if (order_) order_->round_ended();
}

void intake::finish() {
  about_.cpus = static_cast<unsigned>(highest_cpu_) + 1;
  if (order_) order_->finish();
}

void intake::count_other(std::string_view name) {
  ++about_.other_events;
  std::vector<other_event>& others = about_.others;
  if (last_other_ >= others.size() || others[last_other_].name != name) {
    const auto found = std::find_if(others.begin(), others.end(),
                                    [name](const other_event& o) { return o.name == name; });
    last_other_ = static_cast<std::size_t>(found - others.begin());
    if (found == others.end()) {
      if (others.size() >= most_other_names) return;
      others.push_back({std::string(name), 0});
    }
  }
  ++others[last_other_].count;
}

anomaly& intake::anomaly_of(std::string_view kind) {
  const auto found = std::find_if(about_.anomalies.begin(), about_.anomalies.end(),
                                  [kind](const anomaly& a) { return a.kind == kind; });
  if (found != about_.anomalies.end()) return *found;
  return about_.anomalies.emplace_back(anomaly{std::string(kind), 0, {}});
}

}  // namespace vlag::trace

// SPDX-License-Identifier: Apache-2.0
//
// Events that rt-app does not have, and ignores: pipes, signals, sleeps to a period.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "input/printable.hpp"
#include "workload/rtapp_builder.hpp"

namespace vlag {
namespace {

constexpr std::int64_t default_message_bytes = 100;
constexpr std::int64_t largest_message_bytes = 1 << 30;
constexpr std::int64_t most_pipes_at_once = 1024;
constexpr std::size_t most_pipes = 65'536;

}  // namespace

std::string rtapp_builder::pipe_name_in(const rtapp_member& m) const {
  if (m.value.is != type::object) return string_of(m);
  constexpr std::array<std::string_view, 4> known{"pipe", "bytes", "capacity", "count"};
  const bool many = m.key.starts_with("vlag_send_all");
  for (const rtapp_member& k : m.value.members) {
    if (std::find(known.begin(), known.end(), k.key) != known.end() && (many || k.key != "count")) {
      continue;
    }
    fail(k.place, fmt::format("\"{}\" in \"{}\"; expected pipe, bytes{} or capacity",
                              printable(k.key), printable(m.key), many ? ", count" : ""));
  }
  return string_in(m.value, "pipe", m.key);
}

std::uint64_t rtapp_builder::message_bytes_in(const rtapp_member& m) const {
  if (m.value.is != type::object) return static_cast<std::uint64_t>(default_message_bytes);
  return static_cast<std::uint64_t>(
      integer_in(m.value, "bytes", default_message_bytes, 1, largest_message_bytes));
}

rtapp_builder::pipe_use& rtapp_builder::pipe(const rtapp_member& m, const std::string& name) {
  std::string full = name;
  if (const std::size_t at = full.find('@'); at != full.npos) {
    full.replace(at, 1, fmt::format("{}", instance_));
  }
  const auto [at, is_new] = pipes_.try_emplace(full);
  pipe_use& use = at->second;
  if (is_new) {
    if (result_.pipes.size() == most_pipes) {
      fail(m.place, fmt::format("more than {} pipes; expected fewer", most_pipes));
    }
    use.number = static_cast<std::uint32_t>(result_.pipes.size());
    use.place = m.place;
    result_.pipes.push_back(default_pipe_bytes);
  }
  const rtapp_value* capacity = m.value.is == type::object ? find(m.value, "capacity") : nullptr;
  if (capacity == nullptr) return use;
  const auto bytes =
      static_cast<std::uint32_t>(integer(*capacity, "capacity", 1, largest_pipe_bytes));
  if (use.sized && result_.pipes[use.number] != bytes) {
    fail(capacity->place, fmt::format("\"capacity\" of pipe \"{}\" is {}; expected {} as before",
                                      printable(full), bytes, result_.pipes[use.number]));
  }
  use.sized = true;
  result_.pipes[use.number] = bytes;
  return use;
}

void rtapp_builder::make_send(const rtapp_member& m) {
  pipe_use& use = pipe(m, pipe_name_in(m));
  use.written = true;
  emit(m.place, op_kind::pipe_write, use.number, message_bytes_in(m));
}

// To as many pipes as "count" says: the name and a number from 0.
void rtapp_builder::make_send_all(const rtapp_member& m) {
  need(m.value, type::object, m.key);
  const std::string name = pipe_name_in(m);
  const rtapp_value* count = find(m.value, "count");
  if (count == nullptr) {
    fail(m.value.place, fmt::format("\"{}\" lacks \"count\"; expected how many pipes to send to",
                                    printable(m.key)));
  }
  const std::int64_t pipes = integer(*count, "count", 1, most_pipes_at_once);
  for (std::int64_t i = 0; i < pipes; ++i) {
    pipe_use& use = pipe(m, fmt::format("{}{}", name, i));
    use.written = true;
    emit(m.place, op_kind::pipe_write, use.number, message_bytes_in(m));
  }
}

void rtapp_builder::make_recv(const rtapp_member& m) {
  pipe_use& use = pipe(m, pipe_name_in(m));
  use.read = true;
  emit(m.place, op_kind::pipe_read, use.number, message_bytes_in(m));
}

void rtapp_builder::tell_one_way_pipes() {
  for (const auto& [name, use] : pipes_) {
    if (use.written && use.read) continue;
    warn(use.place, fmt::format("nobody {} pipe \"{}\"", use.read ? "sends to" : "receives from",
                                printable(name)));
  }
}

// Each instance of the task gets one.
void rtapp_builder::make_kill(const rtapp_member& m) {
  const auto target = instances_.find(string_of(m));
  if (target == instances_.end() || target->second.count == 0) {
    fail(m.value.place, fmt::format("\"{}\" of \"{}\", which is no task that begins with the run; "
                                    "expected one of \"tasks\" with instances",
                                    printable(m.key), printable(m.value.text)));
  }
  for (std::uint32_t i = 0; i < target->second.count; ++i) {
    emit(m.place, op_kind::kill, target->second.first + i);
  }
}

void rtapp_builder::make_sleep_to(const rtapp_member& m) {
  const std::int64_t us = integer(m.value, m.key, 1, max_us);
  emit(m.place, op_kind::sleep_to_period, 0, static_cast<std::uint64_t>(us) * ns_per_us);
}

}  // namespace vlag

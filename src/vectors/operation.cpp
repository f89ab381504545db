// SPDX-License-Identifier: Apache-2.0
#include "vectors/operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

namespace vlag {
namespace {

constexpr std::array<std::pair<argument, std::string_view>, 15> argument_names = {
    {{arg_id, "id"},
     {arg_nice, "nice"},
     {arg_policy, "policy"},
     {arg_ns, "ns"},
     {arg_slice, "slice"},
     {arg_weight, "weight"},
     {arg_group, "group"},
     {arg_parent, "parent"},
     {arg_group_weight, "weight"},
     {arg_group_nice, "nice"},
     {arg_idle, "idle"},
     {arg_shares, "shares"},
     {arg_quota, "quota"},
     {arg_period, "period"},
     {arg_burst, "burst"}}};

constexpr std::uint64_t any_u64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t any_s32 = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t longest_us = std::int64_t{1} << 50;

std::string_view name_of(argument which) noexcept {
  return std::find_if(argument_names.begin(), argument_names.end(),
                      [&](const auto& named) { return named.first == which; })
      ->second;
}

sched_policy read_policy(const json_line& line, const json_node& n) {
  const std::string_view name = line.text_value(n, "policy");
  if (name == "normal") return sched_policy::normal;
  if (name == "batch") return sched_policy::batch;
  if (name == "idle") return sched_policy::idle;
  line.reject(fmt::format("\"policy\" is {}: expected normal, batch or idle", in_quotes(name)));
}

void read_argument(const json_line& line, const json_node& n, argument which, operation& op) {
  switch (which) {
    case arg_id:
      op.id = static_cast<std::uint32_t>(line.unsigned_value(n, "id", 1, max_vector_id));
      return;
    case arg_nice:
      op.nice = static_cast<int>(line.signed_value(n, "nice", min_nice, max_nice));
      return;
    case arg_policy:
      op.policy = read_policy(line, n);
      return;
    case arg_ns:
      op.ns = line.unsigned_value(n, "ns", 0, max_vector_time_ns);
      return;
    case arg_slice:
      op.slice_ns = line.unsigned_value(n, "slice", 0, max_vector_time_ns);
      return;
    case arg_weight:
      op.weight = line.unsigned_value(n, "weight", 1, any_u64);
      return;
    case arg_group:
      op.group = static_cast<std::uint32_t>(line.unsigned_value(n, "group", 0, max_vector_id));
      return;
    case arg_parent:
      op.parent = static_cast<std::uint32_t>(line.unsigned_value(n, "parent", 0, max_vector_id));
      return;
    case arg_group_weight:
    case arg_group_nice:
    case arg_idle:
      op.written = line.signed_value(n, name_of(which), -any_s32, any_s32);
      return;
    case arg_shares:
      op.shares = line.unsigned_value(n, "shares", 0, any_u64);
      return;
    case arg_quota:
      op.quota_us = line.signed_value(n, "quota", -longest_us, longest_us);
      return;
    case arg_period:
      op.period_us = line.unsigned_value(n, "period", 0, longest_us);
      return;
    case arg_burst:
      op.burst_us = line.unsigned_value(n, "burst", 0, longest_us);
      return;
    case no_argument:
      return;
  }
}

const operation_info& find_operation(const json_line& line, std::span<const operation_info> known) {
  const std::string_view name = line.text_value(line.require("op"), "op");
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const operation_info& info) { return info.name == name; });
  if (found != known.end()) return *found;
  std::vector<std::string_view> names;
  for (const auto& info : known) names.push_back(info.name);
  line.reject(
      fmt::format("unknown operation {}: known are {}", in_quotes(name), fmt::join(names, ", ")));
}

}  // namespace

operation read_operation(const json_line& line, std::span<const operation_info> known) {
  operation op;
  op.number = line.unsigned_value(line.require("i"), "i", 1, any_u64);
  op.info = &find_operation(line, known);
  if (const json_node* skip = line.find("skip")) {
    line.require_kind(*skip, "skip", json_kind::text);
    op.skipped = true;
    return op;
  }
  if (const json_node* crash = line.find("crash")) {
    line.require_kind(*crash, "crash", json_kind::text);
    op.crashed = true;
  }
  if (op.info->code == operation_code::of_kind) return op;
  for (const auto& [which, name] : argument_names) {
    const bool required = (op.info->required & which) != 0;
    if (!required && (op.info->optional & which) == 0) continue;
    const json_node* n = line.find(name);
    if (n != nullptr) {
      read_argument(line, *n, which, op);
    } else if (required) {
      line.reject(fmt::format("{} without its argument \"{}\"", op.info->name, name));
    }
  }
  return op;
}

bool is_operation_key(const operation& op, std::string_view key) noexcept {
  if (key == "i" || key == "op" || key == "skip" || key == "crash" || key == "warn") return true;
  return std::any_of(argument_names.begin(), argument_names.end(), [&](const auto& named) {
    return named.second == key && ((op.info->required | op.info->optional) & named.first) != 0;
  });
}

}  // namespace vlag

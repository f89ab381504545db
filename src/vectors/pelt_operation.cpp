// SPDX-License-Identifier: Apache-2.0
#include "vectors/pelt_operation.hpp"

#include "vectors/pelt_system.hpp"

#include <fmt/format.h>

#include <limits>

namespace vlag {
namespace {

constexpr std::uint64_t any_u64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t any_u32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t most_shares = std::uint64_t{1} << 18;

struct argument_info {
  std::string_view name;
  std::uint64_t lowest;
  std::uint64_t highest;
};

constexpr std::array<argument_info, static_cast<std::size_t>(pelt_argument::count)> arguments = {{
    {"id", 1, max_vector_id},
    {"cpu", 0, pelt_system::cpu_count - 1},
    {"group", 0, max_vector_id},
    {"parent", 0, max_vector_id},
    {"shares", 2, most_shares},
    {"weight", 2, any_u32},
    {"weight", 0, any_u64},
    {"ns", 0, max_vector_time_ns},
    {"sleep", 0, 1},
    {"cap", 1, full_capacity},
    {"freq", 1, full_capacity},
    {"now", 0, any_u64},
    {"on_rq", 0, 1},
    {"running", 0, 1},
    {"running", 0, any_u64},
    {"runnable", 0, any_u64},
    {"delayed", 0, 1},
    {"load", 0, any_u64},
    {"capacity", 0, any_u64},
    {"val", 0, any_u64},
    {"n", 0, any_u64},
    {"last_update_time", 0, any_u64},
    {"load_sum", 0, any_u64},
    {"runnable_sum", 0, any_u64},
    {"util_sum", 0, any_u32},
    {"period_contrib", 0, 1023},
    {"load_avg", 0, any_u64},
    {"runnable_avg", 0, any_u64},
    {"util_avg", 0, any_u64},
    {"util_est", 0, any_u32},
}};

constexpr unsigned bit(pelt_argument a) { return 1U << static_cast<unsigned>(a); }

constexpr unsigned id = bit(pelt_argument::id);
constexpr unsigned cpu = bit(pelt_argument::cpu);
constexpr unsigned group = bit(pelt_argument::group);
constexpr unsigned shares = bit(pelt_argument::shares);
constexpr unsigned small = bit(pelt_argument::small_weight);
constexpr unsigned full = bit(pelt_argument::full_weight);
constexpr unsigned now = bit(pelt_argument::now);
constexpr unsigned running = bit(pelt_argument::running);
constexpr unsigned runnable = bit(pelt_argument::runnable);
constexpr unsigned delayed = bit(pelt_argument::delayed);
constexpr unsigned average = bit(pelt_argument::count) - bit(pelt_argument::last_update_time);

// The bits of a row are pelt_arguments, not those that other kinds share.
constexpr operation_info of(std::string_view name, unsigned required, unsigned optional = 0) {
  return {name, operation_code::of_kind, required, optional};
}

constexpr std::array<operation_info, 27> operations = {{
    of("u_decay", bit(pelt_argument::val) | bit(pelt_argument::n)),
    of("u_set", id, average),
    of("u_se", id | now, bit(pelt_argument::on_rq) | running | full | runnable | delayed),
    of("u_blocked", id | now, full),
    of("u_cfs", id | now | bit(pelt_argument::load) | runnable | running, delayed),
    of("u_rt", now | running),
    of("u_hw", now | bit(pelt_argument::capacity)),
    of("u_irq", now | bit(pelt_argument::running_ns)),
    of("u_utilest", id, bit(pelt_argument::sleep)),
    of("scale", cpu, bit(pelt_argument::cap) | bit(pelt_argument::freq)),
    of("clock", bit(pelt_argument::ns), cpu),
    of("mkgroup", group | bit(pelt_argument::parent) | shares),
    of("setshares", group | shares),
    of("new", id | cpu | small | group),
    of("enqueue", id),
    of("dequeue", id | bit(pelt_argument::sleep)),
    of("delay", id),
    of("undelay", id),
    of("finish", id),
    of("switch", id),
    of("goidle", cpu),
    of("tick", cpu),
    of("decay", cpu, group),
    of("migrate", id | cpu),
    of("move", id | group),
    of("reweight", id | small),
    of("exit", id),
}};

template <typename Visit>
void for_each_argument(unsigned set, Visit&& visit) {
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    if ((set >> at & 1U) != 0) visit(at);
  }
}

}  // namespace

pelt_arguments::pelt_arguments(const json_line& line, const operation& op) {
  for_each_argument(op.info->required | op.info->optional, [&](std::size_t at) {
    const argument_info& info = arguments[at];
    const json_node* n = line.find(info.name);
    if (n == nullptr) {
      if ((op.info->required >> at & 1U) == 0) return;
      line.reject(fmt::format("{} without its argument \"{}\"", op.info->name, info.name));
    }
    present_[at] = true;
    values_[at] = line.unsigned_value(*n, info.name, info.lowest, info.highest);
  });
}

std::span<const operation_info> pelt_operations() noexcept { return operations; }

pelt_code code_of(const operation& op) noexcept {
  return static_cast<pelt_code>(op.info - operations.data());
}

bool is_pelt_argument(const operation& op, std::string_view key) noexcept {
  if (key == "i" || key == "op") return true;
  bool found = false;
  for_each_argument(op.info->required | op.info->optional,
                    [&](std::size_t at) { found = found || arguments[at].name == key; });
  return found;
}

}  // namespace vlag

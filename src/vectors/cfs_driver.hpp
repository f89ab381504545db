// SPDX-License-Identifier: Apache-2.0
//
// What the two kinds of CFS vectors, with and without groups, have in common.
#pragma once

#include "vectors/driver.hpp"
#include "vlag/cfs_class.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace vlag {

// The tunables and features of a header.
[[nodiscard]] cfs_config header_cfs_config(const json_line& header);

// The cells of an entity's row behind those that say which it is.
inline constexpr std::array<std::string_view, 8> cfs_entity_columns = {
    "on_rq", "is_curr", "policy", "weight", "vruntime", "exec_start", "sum_exec", "prev_sum_exec"};

// Driver: fair_driver or group_driver of the CFS class.
template <typename Driver>
class cfs_driver_of : public Driver {
 public:
  cfs_driver_of(const cfs_config& config, std::uint64_t start_ns, std::uint64_t min_vruntime)
      : Driver(config, start_ns) {
    this->policy_.start_at(min_vruntime);
  }

  void note_crash(const operation& op, const json_line& line) override {
    line.reject(
        fmt::format("a crash in {}: there is none in vectors of this format", op.info->name));
  }
  void expect_answer(const operation& /*op*/, state& /*expected*/) const override {}

 protected:
  void enter(task& t, const operation& op, const json_line& line) override {
    if (!this->policy_.place_new(t, this->now_)) line.reject("the queue is full");
    this->move_clock(op.ns, line);
    this->policy_.enqueue_new(t, this->now_);
  }

  void change_more(task& t, const operation& op, const json_line& line) override {
    if (op.info->code != operation_code::rewake) return;
    if (!t.queued || this->policy_.current() == &t) {
      line.reject(fmt::format("rewake of task {}, which is not waiting on the queue", op.id));
    }
    this->ret_ = 1;
    this->policy_.wake_queued(t, this->now_);
  }

  [[nodiscard]] std::int64_t wake_answer(const task& /*t*/) const override { return 2; }

  // In the order of cfs_entity_columns.
  static void observe_entity(const entity& e, std::span<cell> cells) {
    const auto policy =
        e.is_group ? cell::of_signed(-1)
                   : cell::of(static_cast<std::uint64_t>(static_cast<const task&>(e).policy));
    const std::array<cell, cfs_entity_columns.size()> values = {
        Driver::flag(e.queued),
        Driver::flag(cfs_level_of(e).queue.current() == &e),
        policy,
        cell::of(e.weight.full),
        cell::of(e.vruntime),
        cell::of(e.exec_start_ns),
        cell::of(e.sum_exec_ns),
        cell::of(e.prev_sum_exec_ns)};
    std::copy(values.begin(), values.end(), cells.begin());
  }
};

}  // namespace vlag

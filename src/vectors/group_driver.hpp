// SPDX-License-Identifier: Apache-2.0
//
// Drives a fair class on one CPU with task groups: what fair_driver.hpp does, and the tree.
//
// In vectors group 0 is the root, and the entity of a group is written as minus the group's id.
#pragma once

#include "vectors/fair_driver.hpp"
#include "vlag/group.hpp"

#include <array>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace vlag {

template <typename Class, typename Config>
class group_driver : public fair_driver<Class, Config> {
 protected:
  group_driver(const Config& config, std::uint64_t start_ns)
      : fair_driver<Class, Config>(config, start_ns, max_vector_groups),
        cpus_{&this->policy_},
        tree_(cpus_) {}

  void apply_more(const operation& op, const json_line& line) override {
    switch (op.info->code) {
      case operation_code::mkgroup:
        make_group(op, line);
        return;
      case operation_code::rmgroup:
        remove_group(op, line);
        return;
      case operation_code::period_timer:
        period_timer(op, line);
        return;
      default:
        this->ret_ = static_cast<std::int64_t>(write(group(op.group, line), op));
        if (op.info->code == operation_code::setmax && this->ret_ == 0) limits_seen_ = true;
        return;
    }
  }

  [[nodiscard]] task_group& group(std::uint32_t id, const json_line& line) {
    if (id == 0) return tree_.root();
    const auto found = groups_.find(id);
    if (found == groups_.end()) line.reject(fmt::format("group {} does not exist", id));
    return found->second->group;
  }

  // Calls visit(task_group&), the root first if it is asked for, then by id.
  template <typename Visit>
  void for_each_group(bool root_too, Visit&& visit) {
    if (root_too) visit(tree_.root());
    for (auto& [id, g] : groups_) visit(g->group);
  }
  // The same from the highest id down, without the root.
  template <typename Visit>
  void for_each_group_backwards(Visit&& visit) {
    for (auto at = groups_.rbegin(); at != groups_.rend(); ++at) visit(at->second->group);
  }

  [[nodiscard]] static std::uint64_t group_id(const group_part& part) { return part.group->id; }

  // A setmax was accepted: from then on lines tell of bandwidth.
  [[nodiscard]] bool limits_seen() const { return limits_seen_; }

 private:
  struct living_group {
    task_group group;
    std::vector<typename fair_driver<Class, Config>::cache_line> memory;
  };

  group_error write(task_group& g, const operation& op) {
    const std::uint64_t now = this->now_;
    switch (op.info->code) {
      case operation_code::setweight:
        return g.set_weight(static_cast<std::uint64_t>(op.written), now);
      case operation_code::setgnice:
        return g.set_weight_nice(op.written, now);
      case operation_code::setshares:
        return g.set_shares(op.shares, now);
      case operation_code::setidle:
        return g.set_idle(op.written, now);
      default:
        break;
    }
    bandwidth_limit limit;
    if (op.quota_us >= 0) limit.quota_ns = static_cast<std::uint64_t>(op.quota_us) * 1000;
    limit.period_ns = op.period_us * 1000;
    limit.burst_ns = op.burst_us * 1000;
    return g.set_bandwidth(limit, now);
  }

  void make_group(const operation& op, const json_line& line) {
    if (op.group == 0 || groups_.contains(op.group)) {
      line.reject(fmt::format("mkgroup of group {}, which exists already", op.group));
    }
    if (groups_.size() >= max_vector_groups) {
      line.reject(fmt::format("more than {} groups at once", max_vector_groups));
    }
    task_group& parent = group(op.parent, line);
    auto made = std::make_unique<living_group>();
    made->memory.resize(tree_.required_bytes() / sizeof(made->memory[0]));
    made->group.id = op.group;
    if (tree_.create(made->group, parent, std::as_writable_bytes(std::span(made->memory))) !=
        group_error::none) {
      line.reject("no room for another group");
    }
    groups_.emplace(op.group, std::move(made));
  }

  void remove_group(const operation& op, const json_line& line) {
    if (tree_.destroy(group(op.group, line), this->now_) != group_error::none) {
      line.reject(fmt::format("rmgroup of group {}, which is not empty", op.group));
    }
    groups_.erase(op.group);
  }

  void period_timer(const operation& op, const json_line& line) {
    task_group& g = group(op.group, line);
    if (!g.bandwidth().timer_armed || this->now_ < g.bandwidth().timer_expires_ns) {
      line.reject(fmt::format("period_timer of group {}, which is not due", op.group));
    }
    g.period_timer(this->now_);
  }

  std::array<group_scheduler*, 1> cpus_;
  group_tree tree_;
  std::map<std::uint32_t, std::unique_ptr<living_group>> groups_;
  bool limits_seen_ = false;
};

}  // namespace vlag

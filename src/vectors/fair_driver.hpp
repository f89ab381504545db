// SPDX-License-Identifier: Apache-2.0
//
// Drives a fair class on one CPU: what the EEVDF and the CFS vectors have in common. It owns the
// tasks, the clock and the storage, and lets through only what the class's contract allows.
#pragma once

#include "vectors/driver.hpp"
#include "vlag/entity.hpp"
#include "vlag/group.hpp"
#include "vlag/timeline.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace vlag {

template <typename Class, typename Config>
class fair_driver : public vector_driver {
 public:
  void apply(const operation& op, const json_line& line) final {
    check_sequence(op, line);
    ret_ = 0;
    picked_ = not_picked;
    begin_operation();
    switch (op.info->code) {
      case operation_code::run:
        move_clock(op.ns, line);
        policy_.account(now_);
        return;
      case operation_code::advance:
        move_clock(op.ns, line);
        return;
      case operation_code::tick:
        policy_.tick(now_);
        return;
      case operation_code::schedule:
        schedule();
        return;
      case operation_code::block:
      case operation_code::exit:
      case operation_code::yield:
      case operation_code::yield_to:
        leave_cpu(op, line);
        return;
      case operation_code::fork:
        fork(op, line);
        return;
      default:
        if ((op.info->required & arg_id) != 0) {
          change(living(op, line), op, line);
        } else {
          apply_more(op, line);
        }
        return;
    }
  }

 protected:
  static constexpr std::int64_t not_picked = -1;

  fair_driver(const Config& config, std::uint64_t start_ns, std::size_t groups = 0)
      : config_(config),
        memory_(timeline_storage::required_bytes(max_vector_tasks + groups, 1 + groups) /
                    sizeof(cache_line) +
                1),
        storage_(
            std::as_writable_bytes(std::span(memory_))
                .first(timeline_storage::required_bytes(max_vector_tasks + groups, 1 + groups)),
            max_vector_tasks + groups, 1 + groups),
        policy_(config_, storage_),
        now_(start_ns) {}

  // Called before an operation is driven.
  virtual void begin_operation() {}
  // Puts a new task in; its attributes are set.
  virtual void enter(task& t, const operation& op, const json_line& line) = 0;
  // Operations that are on no task.
  virtual void apply_more(const operation& /*op*/, const json_line& /*line*/) {}
  // Operations on a living task that only one class has.
  virtual void change_more(task& t, const operation& op, const json_line& line) = 0;
  // What "wake" returns for a task that is not runnable.
  [[nodiscard]] virtual std::int64_t wake_answer(const task& t) const = 0;

  void move_clock(std::uint64_t ns, const json_line& line) {
    if (ns > max_vector_time_ns - now_) line.reject("the clock passes 2^63 ns");
    now_ += ns;
  }
  // A group's entity is written as minus the group's id; 0: none.
  [[nodiscard]] static cell id_of(const entity* e) {
    if (e == nullptr) return cell::of(0);
    if (!e->is_group) return cell::of(static_cast<const task*>(e)->id);
    const auto id = static_cast<std::int64_t>(static_cast<const group_part*>(e)->group->id);
    return cell::of_signed(-id);
  }
  [[nodiscard]] static cell flag(bool on) { return cell::of(on ? 1 : 0); }

  // Ids of the waiting entities in the order of the timeline.
  static void list_waiting(const timeline& waiting, std::vector<cell>& ids) {
    waiting.for_each([&](const entity& e) { ids.push_back(id_of(&e)); });
  }

  // The waiting entity that has received least, by the distance from the reference.
  template <typename Queue>
  [[nodiscard]] static const entity* least_vruntime(const Queue& queue) {
    const entity* least = nullptr;
    queue.waiting().for_each([&](const entity& e) {
      const std::uint64_t z = queue.reference();
      if (least == nullptr ||
          signed_difference(e.vruntime, z) < signed_difference(least->vruntime, z)) {
        least = &e;
      }
    });
    return least;
  }

  Config config_;
  struct alignas(64) cache_line {
    std::byte bytes[64];
  };
  std::vector<cache_line> memory_;
  timeline_storage storage_;
  Class policy_;
  std::uint64_t now_;
  std::map<std::uint32_t, task> tasks_;
  std::int64_t ret_ = 0;
  std::int64_t picked_ = not_picked;

 private:
  void check_sequence(const operation& op, const json_line& line) const {
    if (schedule_due_ && op.info->code != operation_code::schedule) {
      line.reject(fmt::format("{} after the running task gave up the CPU: expected schedule",
                              op.info->name));
    }
  }

  task& living(const operation& op, const json_line& line) {
    const auto found = tasks_.find(op.id);
    if (found == tasks_.end()) {
      line.reject(fmt::format("{} of task {}, which does not exist", op.info->name, op.id));
    }
    return found->second;
  }

  void schedule() {
    const task* next = policy_.schedule(now_);
    picked_ = next == nullptr ? 0 : static_cast<std::int64_t>(next->id);
    schedule_due_ = false;
    if (leaving_ != 0) tasks_.erase(leaving_);
    leaving_ = 0;
  }

  void leave_cpu(const operation& op, const json_line& line) {
    task* running = policy_.current();
    if (running == nullptr) line.reject(fmt::format("{} while no task runs", op.info->name));
    schedule_due_ = true;
    if (op.info->code == operation_code::block) {
      ret_ = policy_.block(now_) ? 1 : 0;
    } else if (op.info->code == operation_code::exit) {
      leaving_ = running->id;
      policy_.exit(now_);
    } else if (op.info->code == operation_code::yield) {
      policy_.yield(now_);
    } else {
      schedule_due_ = policy_.yield_to(living(op, line), now_);
      ret_ = schedule_due_ ? 1 : 0;
    }
  }

  void fork(const operation& op, const json_line& line) {
    if (tasks_.contains(op.id)) {
      line.reject(fmt::format("fork of task {}, which exists already", op.id));
    }
    if (tasks_.size() >= max_vector_tasks) {
      line.reject(fmt::format("more than {} tasks at once", max_vector_tasks));
    }
    task& t = tasks_[op.id];
    t.id = op.id;
    set_initial_attributes(t, op.policy, op.nice);
    enter(t, op, line);
  }

  void change(task& t, const operation& op, const json_line& line) {
    switch (op.info->code) {
      case operation_code::wake:
        if (t.queued && !t.sched_delayed) {
          line.reject(fmt::format("wake of task {}, which is not asleep", op.id));
        }
        ret_ = wake_answer(t);
        policy_.wake(t, now_);
        return;
      case operation_code::renice:
        policy_.set_nice(t, op.nice, now_);
        return;
      case operation_code::setattr:
        ret_ = policy_.set_attributes(t, op.policy, op.nice, op.ns, now_) ? 1 : 0;
        return;
      case operation_code::reweight:
        policy_.reweight(t, op.weight, now_);
        return;
      default:
        change_more(t, op, line);
        return;
    }
  }

  std::uint32_t leaving_ = 0;  // exited; its row stays until schedule
  bool schedule_due_ = false;
};

}  // namespace vlag

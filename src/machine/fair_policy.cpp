// SPDX-License-Identifier: Apache-2.0
#include "machine/fair_policy.hpp"

#include <type_traits>
#include <utility>
#include "vlag/group.hpp"

namespace vlag {
namespace {

template <typename Class, typename Config>
class policy_of final : public fair_policy {
 public:
  policy_of(const Config& config, timeline_storage& storage) : class_(config, storage) {}

  bool fork(task& t, std::uint64_t now) override { return class_.fork(t, now); }
  bool join_asleep(task& t, std::uint64_t now) override { return class_.join_asleep(t, now); }
  void wake(task& t, std::uint64_t now) override { class_.wake(t, now); }
  bool block(std::uint64_t now) override { return class_.block(now); }
  void exit(std::uint64_t now) override { class_.exit(now); }
  void remove(task& t, std::uint64_t now) override { class_.remove(t, now); }
  task* schedule(std::uint64_t now) override { return class_.schedule(now); }
  void yield_cpu_to_higher_class(std::uint64_t now) override {
    class_.yield_cpu_to_higher_class(now);
  }
  void tick(std::uint64_t now) override { class_.tick(now); }
  void account(std::uint64_t now) override { class_.account(now); }
  void yield(std::uint64_t now) override { class_.yield(now); }
  void set_nice(task& t, int nice, std::uint64_t now) override { class_.set_nice(t, nice, now); }
  bool set_slice(task& t, std::uint64_t slice, std::uint64_t now) override {
    return class_.set_slice(t, slice, now);
  }
  void move(task& t, task_group* group, std::uint64_t now) override {
    if constexpr (has_groups) class_.move(t, group, now);
  }
  group_scheduler* groups() override {
    if constexpr (has_groups) return &class_;
    return nullptr;
  }
  bool need_resched() const override { return class_.need_resched(); }
  void set_need_resched() override { class_.set_need_resched(); }
  std::uint64_t time_to_request_end() const override { return class_.time_to_request_end(); }
  std::uint32_t nr_runnable() const override { return class_.nr_runnable(); }
  std::uint32_t nr_queued() const override { return class_.nr_queued(); }
  std::uint64_t anomalies() const override { return class_.anomalies(); }
  std::vector<queue_view> queues() const override {
    std::vector<queue_view> result;
    for_each_level([&](const auto& level) { result.push_back(view_of(class_, level)); });
    return result;
  }
  entity_view view(const task& t) const override {
    return view_of(class_, class_.level(t.group), t);
  }
  std::uint64_t deadline_checks() const override {
    std::uint64_t sum = 0;
    for_each_level([&](const auto& level) { sum += checks_of(level.queue).first; });
    return sum;
  }
  std::uint64_t deadline_updates() const override {
    std::uint64_t sum = 0;
    for_each_level([&](const auto& level) { sum += checks_of(level.queue).second; });
    return sum;
  }
  void set_watcher(fair_watcher& watcher, watch what) override {
    class_.set_decision_hook(
        [](void* to, decision told, const entity& who) {
          static_cast<fair_watcher*>(to)->on_decision(told, who);
        },
        &watcher);
    watcher_ = &watcher;
    if (what == watch::decisions) return;
    class_.set_choice_hook(
        [](void* to, const auto& level) {
          const auto& self = *static_cast<policy_of*>(to);
          self.watcher_->before_choice(view_of(self.class_, level));
        },
        this);
  }

 private:
  static constexpr bool has_groups = std::is_base_of_v<group_scheduler, Class>;

  // The root's, then those of all groups in the order of the tree.
  template <typename Visit>
  void for_each_level(Visit&& visit) const {
    visit(class_.level());
    const task_group* const root = class_.level().group;
    if (root == nullptr) return;
    for (const task_group* g = next_in_tree(*root, *root); g != nullptr;
         g = next_in_tree(*g, *root)) {
      visit(class_.level(g));
    }
  }
  static std::pair<std::uint64_t, std::uint64_t> checks_of(const run_queue& queue) {
    return {queue.deadline_checks(), queue.deadline_updates()};
  }
  static std::pair<std::uint64_t, std::uint64_t> checks_of(const cfs_queue&) { return {}; }

  Class class_;
  fair_watcher* watcher_ = nullptr;
};

}  // namespace

std::unique_ptr<fair_policy> make_fair_policy(const policy_config& config,
                                              timeline_storage& storage) {
  if (config.engine == fair_engine::cfs) {
    return std::make_unique<policy_of<cfs_class, cfs_config>>(config.cfs, storage);
  }
  return std::make_unique<policy_of<fair_class, eevdf_config>>(config.eevdf, storage);
}

}  // namespace vlag

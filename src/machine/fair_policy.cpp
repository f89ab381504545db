// SPDX-License-Identifier: Apache-2.0
#include "machine/fair_policy.hpp"

#include "vlag/attr.hpp"

#include <cassert>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace vlag {
namespace {

fair_reading reading_of(const fair_class& c, const task& t) {
  const run_queue& queue = c.level(t.group).queue;
  return {static_cast<std::int64_t>(queue.average_vruntime()),
          static_cast<std::int64_t>(t.vruntime), queue.lag(t),
          signed_difference(t.deadline, t.vruntime)};
}

fair_reading reading_of(const cfs_class& c, const task& t) {
  return {static_cast<std::int64_t>(c.min_vruntime()), static_cast<std::int64_t>(t.vruntime),
          std::nullopt, std::nullopt};
}

// The paper's lag and virtual time are fractions; nothing shows them.
fair_reading reading_of(const paper_class&, const task&) { return {}; }

// The paper's policy knows neither latency_nice nor groups, and tells no decisions.
template <typename Class>
inline constexpr bool of_paper = std::is_base_of_v<paper_class, Class>;

template <typename Class>
void change_latency_nice(Class& c, task& t, int latency_nice, std::uint64_t now) {
  if constexpr (of_paper<Class>) {
    t.latency_nice = static_cast<std::int8_t>(latency_nice);
  } else {
    sched_attr wanted;
    wanted.flags = sched_flag::keep_policy | sched_flag::keep_params | sched_flag::latency_nice;
    wanted.latency_nice = latency_nice;
    [[maybe_unused]] const attr_error e = set_attr(c, &t, wanted, now);
    assert(e == attr_error::none);
  }
}

template <typename Class>
bool change_slice(Class& c, task& t, std::uint64_t slice, std::uint64_t now) {
  if constexpr (!of_paper<Class>) {
    if (slice == 0 && t.latency_nice != 0) {
      sched_attr wanted = attributes_of(c, t);
      wanted.runtime_ns = 0;
      return set_attr(c, &t, wanted, now) == attr_error::none;
    }
  }
  return c.set_slice(t, slice, now);
}

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
    return change_slice(class_, t, slice, now);
  }
  void set_latency_nice(task& t, int latency_nice, std::uint64_t now) override {
    change_latency_nice(class_, t, latency_nice, now);
  }
  void move([[maybe_unused]] task& t, [[maybe_unused]] task_group* group,
            [[maybe_unused]] std::uint64_t now) override {
    if constexpr (!of_paper<Class>) class_.move(t, group, now);
  }
  group_scheduler* groups() override {
    if constexpr (of_paper<Class>) {
      return nullptr;
    } else {
      return &class_;
    }
  }
  bool need_resched() const override { return class_.need_resched(); }
  void set_need_resched() override { class_.set_need_resched(); }
  std::uint64_t time_to_request_end() const override { return class_.time_to_request_end(); }
  std::uint32_t nr_runnable() const override { return class_.nr_runnable(); }
  std::uint32_t nr_queued() const override {
    if constexpr (of_paper<Class>) {
      return class_.nr_runnable();
    } else {
      return class_.nr_queued();
    }
  }
  std::uint64_t anomalies() const override { return class_.anomalies(); }
  fair_reading reading(const task& t) const override { return reading_of(class_, t); }
  void set_decision_hook([[maybe_unused]] decision_hook hook,
                         [[maybe_unused]] void* context) override {
    if constexpr (!of_paper<Class>) class_.set_decision_hook(hook, context);
  }

  std::vector<queue_view> queues() const override {
    std::vector<queue_view> result;
    for_each_level([&](const auto& level) { result.push_back(view_of(class_, level)); });
    return result;
  }
  entity_view view(const task& t) const override {
    if constexpr (of_paper<Class>) {
      return view_of(t);
    } else {
      return view_of(class_, class_.level(t.group), t);
    }
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
  void watch_choices(choice_watcher& watcher) override {
    watcher_ = &watcher;
    if constexpr (!of_paper<Class>) {
      class_.set_choice_hook(
          [](void* to, const auto& level) {
            const auto& self = *static_cast<policy_of*>(to);
            self.watcher_->before_choice(view_of(self.class_, level));
          },
          this);
    }
  }

 private:
  // The paper's policy has none. The root's, then those of all groups in the order of the tree.
  template <typename Visit>
  void for_each_level([[maybe_unused]] Visit&& visit) const {
    if constexpr (!of_paper<Class>) {
      visit(class_.level());
      const task_group* const root = class_.level().group;
      if (root == nullptr) return;
      for (const task_group* g = next_in_tree(*root, *root); g != nullptr;
           g = next_in_tree(*g, *root)) {
        visit(class_.level(g));
      }
    }
  }
  static std::pair<std::uint64_t, std::uint64_t> checks_of(const run_queue& queue) {
    return {queue.deadline_checks(), queue.deadline_updates()};
  }
  static std::pair<std::uint64_t, std::uint64_t> checks_of(const cfs_queue&) { return {}; }

  Class class_;
  choice_watcher* watcher_ = nullptr;
};

// Its clients are not kept in the timeline's storage.
struct paper_clients {
  explicit paper_clients(std::size_t most) : clients(most) {}
  std::vector<paper_client> clients;
};
class paper_with_memory : private paper_clients, public paper_class {
 public:
  paper_with_memory(const paper_config& config, const timeline_storage& storage)
      : paper_clients(storage.free_places()), paper_class(config, clients) {}
};

}  // namespace

std::unique_ptr<fair_policy> make_fair_policy(const policy_config& config,
                                              timeline_storage& storage) {
  if (config.engine == fair_engine::cfs) {
    return std::make_unique<policy_of<cfs_class, cfs_config>>(config.cfs, storage);
  }
  if (config.engine == fair_engine::paper) {
    return std::make_unique<policy_of<paper_with_memory, paper_config>>(config.paper, storage);
  }
  return std::make_unique<policy_of<fair_class, eevdf_config>>(config.eevdf, storage);
}

}  // namespace vlag

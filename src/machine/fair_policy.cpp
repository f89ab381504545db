// SPDX-License-Identifier: Apache-2.0
#include "machine/fair_policy.hpp"

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
  task* schedule(std::uint64_t now) override {
    if (choice_watcher_ != nullptr) show_choice(class_, now);
    return class_.schedule(now);
  }
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
  bool need_resched() const override { return class_.need_resched(); }
  void set_need_resched() override { class_.set_need_resched(); }
  std::uint64_t time_to_request_end() const override { return class_.time_to_request_end(); }
  std::uint32_t nr_runnable() const override { return class_.nr_runnable(); }
  std::uint32_t nr_queued() const override { return class_.nr_queued(); }
  std::uint64_t anomalies() const override { return class_.anomalies(); }
  std::vector<queue_view> queues() const override { return queues_of(class_); }
  entity_view view(const task& t) const override { return view_in(class_, t); }
  std::uint64_t deadline_checks() const override { return checks_of(class_); }
  std::uint64_t deadline_updates() const override { return updates_of(class_); }
  void set_watcher(fair_watcher& watcher, watch what) override {
    class_.set_decision_hook(
        [](void* to, decision told, const entity& who) {
          static_cast<fair_watcher*>(to)->on_decision(told, who);
        },
        &watcher);
    if (what == watch::decisions_and_choices) watch_choices(class_, watcher);
  }

 private:
  // EEVDF tells of each choice itself.
  static void watch_choices(fair_class& fair, fair_watcher& watcher) {
    fair.set_choice_hook(
        [](void* to, const fair_level& level) {
          static_cast<fair_watcher*>(to)->before_choice(view_of(level));
        },
        &watcher);
  }
  static void show_choice(fair_class&, std::uint64_t) {}
  static std::vector<queue_view> queues_of(const fair_class& fair) {
    const fair_level& root = fair.level();
    std::vector<queue_view> result{view_of(root)};
    if (root.group == nullptr) return result;
    for (const task_group* g = next_in_tree(*root.group, *root.group); g != nullptr;
         g = next_in_tree(*g, *root.group)) {
      result.push_back(view_of(fair.level(g)));
    }
    return result;
  }
  static entity_view view_in(const fair_class& fair, const task& t) {
    return view_of(t, fair.level(t.group));
  }
  static std::uint64_t checks_of(const fair_class& fair) { return fair.deadline_checks(); }
  static std::uint64_t updates_of(const fair_class& fair) { return fair.deadline_updates(); }

  // CFS chooses once, after it has accounted the running task if that may go on.
  void watch_choices(cfs_class&, fair_watcher& watcher) { choice_watcher_ = &watcher; }
  void show_choice(cfs_class& fair, std::uint64_t now) {
    if (fair.nr_queued() == 0) return;
    if (fair.current() != nullptr && fair.current()->queued) fair.account(now);
    choice_watcher_->before_choice(view_of(fair.queue()));
  }
  static std::vector<queue_view> queues_of(const cfs_class& fair) {
    return {view_of(fair.queue())};
  }
  static entity_view view_in(const cfs_class& fair, const task& t) {
    return view_of(t, fair.queue());
  }
  static std::uint64_t checks_of(const cfs_class&) { return 0; }
  static std::uint64_t updates_of(const cfs_class&) { return 0; }

  fair_watcher* choice_watcher_ = nullptr;
  Class class_;
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

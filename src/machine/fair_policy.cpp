// SPDX-License-Identifier: Apache-2.0
#include "machine/fair_policy.hpp"

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
  bool need_resched() const override { return class_.need_resched(); }
  void set_need_resched() override { class_.set_need_resched(); }
  std::uint64_t time_to_request_end() const override { return class_.time_to_request_end(); }
  std::uint32_t nr_runnable() const override { return class_.nr_runnable(); }
  std::uint64_t anomalies() const override { return class_.anomalies(); }
  fair_reading reading(const task& t) const override { return reading_of(class_, t); }
  void set_decision_hook(decision_hook hook, void* context) override {
    class_.set_decision_hook(hook, context);
  }

 private:
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

// SPDX-License-Identifier: Apache-2.0
//
// Vectors "cfs-oracle-1": the CFS class of Linux 6.1, one flat queue. Every field of a line is
// compared (on "skip" lines all but ret).
#include "vectors/cfs_driver.hpp"

#include "vectors/fair_driver.hpp"
#include "vectors/header.hpp"
#include "vlag/cfs_class.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace vlag {
namespace {

namespace field {
enum : std::size_t {
  t,
  ret,
  resched,
  curr,
  picked,
  peek,
  next,
  last,
  skip_buddy,
  nr_queued,
  nr_running,
  h_nr_queued,
  nr_idle,
  h_nr_idle,
  load,
  min_vruntime,
  slice,
  count
};
}
constexpr std::array<std::string_view, field::count> field_names = {
    "t",       "ret",       "resched",    "curr",         "picked",     "peek",
    "next",    "last",      "skip_buddy", "nr_queued",    "nr_running", "h_nr_queued",
    "nr_idle", "h_nr_idle", "load",       "min_vruntime", "slice"};

constexpr std::array<list_layout, 1> list_layouts = {{{"rb"}}};

constexpr std::array<std::string_view, 1 + cfs_entity_columns.size()> column_names = [] {
  std::array<std::string_view, 1 + cfs_entity_columns.size()> names{"id"};
  std::copy(cfs_entity_columns.begin(), cfs_entity_columns.end(), names.begin() + 1);
  return names;
}();

constexpr std::array<table_layout, 1> table_layouts = {
    {{"ents", "ent_cols", "task", column_names, 0}}};

constexpr state_layout cfs_layout = {field_names, 0, list_layouts, table_layouts};

constexpr std::array<operation_info, 14> cfs_operations = {{
    {"fork", operation_code::fork, arg_id, arg_nice | arg_policy | arg_ns},
    {"run", operation_code::run, arg_ns},
    {"advance", operation_code::advance, arg_ns},
    {"tick", operation_code::tick, no_argument},
    {"block", operation_code::block, no_argument},
    {"exit", operation_code::exit, no_argument},
    {"wake", operation_code::wake, arg_id},
    {"rewake", operation_code::rewake, arg_id},
    {"yield", operation_code::yield, no_argument},
    {"yield_to", operation_code::yield_to, arg_id},
    {"renice", operation_code::renice, arg_id | arg_nice},
    {"setattr", operation_code::setattr, arg_id | arg_policy | arg_nice},
    {"reweight", operation_code::reweight, arg_id | arg_weight},
    {"schedule", operation_code::schedule, no_argument},
}};

class cfs_driver final : public cfs_driver_of<fair_driver<cfs_class, cfs_config>> {
 public:
  using cfs_driver_of::cfs_driver_of;

  const state_layout& layout() const noexcept override { return cfs_layout; }
  std::span<const operation_info> operations() const noexcept override { return cfs_operations; }

  void complete_expected(state& expected, const operation& op) const override {
    expected.fields[field::ret].compared = !op.skipped;
  }

  void observe(const operation& op, state& got) override {
    got.reset(cfs_layout);
    if (op.skipped) {
      ret_ = 0;
      picked_ = not_picked;
    }
    observe_queue(got);
    list_waiting(policy_.waiting(), got.lists.front());
    for (const auto& [id, t] : tasks_) {
      const std::span<cell> row = got.tables.front().add_row();
      row.front() = cell::of(id);
      observe_entity(t, row.subspan(1));
    }
  }

 private:
  void observe_queue(state& got) {
    auto& f = got.fields;
    f[field::t] = cell::of(now_);
    f[field::ret] = cell::of_signed(ret_);
    f[field::resched] = flag(policy_.need_resched());
    f[field::curr] = id_of(policy_.current());
    f[field::picked] = cell::of_signed(picked_);
    f[field::peek] = id_of(policy_.peek());
    f[field::next] = id_of(policy_.next_buddy());
    f[field::last] = id_of(policy_.last_buddy());
    f[field::skip_buddy] = id_of(policy_.skip_buddy());
    f[field::nr_queued] = cell::of(policy_.nr_queued());
    f[field::nr_running] = cell::of(policy_.nr_runnable());
    f[field::h_nr_queued] = cell::of(policy_.nr_queued());
    f[field::nr_idle] = cell::of(policy_.nr_idle_policy());
    f[field::h_nr_idle] = cell::of(policy_.nr_idle_policy());
    f[field::load] = cell::of(policy_.load());
    f[field::min_vruntime] = cell::of(policy_.min_vruntime());
    const task* running = policy_.current();
    if (running != nullptr && running->queued) {
      f[field::slice] = cell::of(policy_.slice_of(*running));
    }
  }
};

}  // namespace

cfs_config header_cfs_config(const json_line& header) {
  // Tunables as large as 8 CPUs and a hand-written second make them, with room.
  constexpr std::uint64_t most_ns = std::uint64_t{1} << 40;
  cfs_config config;
  config.features = header_features(header, fair_engine::cfs);
  config.latency_ns = header_number(header, "latency", 1, most_ns);
  config.min_granularity_ns = header_number(header, "min_granularity", 1, most_ns);
  config.idle_min_granularity_ns = header_number(header, "idle_min_granularity", 0, most_ns);
  config.wakeup_granularity_ns = header_number(header, "wakeup_granularity", 0, most_ns);
  config.nr_latency = static_cast<std::uint32_t>(
      header_number(header, "nr_latency", 0, std::numeric_limits<std::uint32_t>::max()));
  config.child_runs_first = header_number(header, "child_runs_first", 0, 1) != 0;
  return config;
}

std::unique_ptr<vector_driver> make_cfs_driver(const json_line& header) {
  constexpr std::uint64_t any_u64 = std::numeric_limits<std::uint64_t>::max();
  check_header_keys(header,
                    {"cpus", "scaling", "latency", "min_granularity", "idle_min_granularity",
                     "wakeup_granularity", "nr_latency", "child_runs_first", "min_vruntime"});
  const cfs_config config = header_cfs_config(header);
  const std::uint64_t start = header_number(header, "t0", 0, max_vector_time_ns);
  const std::uint64_t min_vruntime = header_number(header, "min_vruntime", 0, any_u64);
  return std::make_unique<cfs_driver>(config, start, min_vruntime);
}

}  // namespace vlag

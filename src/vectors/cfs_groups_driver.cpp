// SPDX-License-Identifier: Apache-2.0
//
// Vectors "cfs-hier-1": the CFS class of Linux 6.1 on one CPU, with task groups. Every field of a
// line is compared (on "skip" lines all but ret).
#include "vectors/cfs_driver.hpp"
#include "vectors/group_driver.hpp"
#include "vectors/header.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace vlag {
namespace {

namespace field {
enum : std::size_t { t, ret, resched, curr, picked, nr_running, count };
}
constexpr std::array<std::string_view, field::count> field_names = {"t",    "ret",    "resched",
                                                                    "curr", "picked", "nr_running"};

constexpr std::uint64_t any_u64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::array<list_layout, 1> list_layouts = {{{"slice", 0, any_u64, true}}};

namespace group_column {
enum : std::size_t {
  id,
  parent,
  shares,
  idle,
  nr_queued,
  h_nr_queued,
  nr_idle,
  h_nr_idle,
  load,
  min_vruntime,
  curr,
  next,
  last,
  skip_buddy,
  peek,
  count
};
}
constexpr std::array<std::string_view, group_column::count> group_columns = {
    "id",   "parent",       "shares", "idle", "nr_queued", "h_nr_queued", "nr_idle", "h_nr_idle",
    "load", "min_vruntime", "curr",   "next", "last",      "skip_buddy",  "peek"};

constexpr std::size_t entity_keys = 2;
constexpr auto entity_columns = [] {
  std::array<std::string_view, entity_keys + cfs_entity_columns.size()> names{"id", "parent"};
  std::copy(cfs_entity_columns.begin(), cfs_entity_columns.end(), names.begin() + entity_keys);
  return names;
}();

namespace table {
enum : std::size_t { groups, entities, count };
}
constexpr std::array<table_layout, table::count> table_layouts = {
    {{"groups", "group_cols", "group", group_columns, 0, -highest_row_id, "rb"},
     {"ents", "ent_cols", "entity", entity_columns, 0, -highest_row_id}}};

constexpr state_layout layout_of_kind = {field_names, 0, list_layouts, table_layouts};

constexpr std::array<operation_info, 20> known_operations = {{
    {"fork", operation_code::fork, arg_id, arg_nice | arg_policy | arg_ns | arg_group},
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
    {"schedule", operation_code::schedule, no_argument},
    {"mkgroup", operation_code::mkgroup, arg_group | arg_parent},
    {"rmgroup", operation_code::rmgroup, arg_group},
    {"setweight", operation_code::setweight, arg_group | arg_group_weight},
    {"setshares", operation_code::setshares, arg_group | arg_shares},
    {"setgnice", operation_code::setgnice, arg_group | arg_group_nice},
    {"setidle", operation_code::setidle, arg_group | arg_idle},
    {"move", operation_code::move, arg_id | arg_group},
}};

class cfs_groups_driver final : public cfs_driver_of<group_driver<cfs_class, cfs_config>> {
 public:
  using cfs_driver_of::cfs_driver_of;

  const state_layout& layout() const noexcept override { return layout_of_kind; }
  std::span<const operation_info> operations() const noexcept override { return known_operations; }

  void complete_expected(state& expected, const operation& op) const override {
    expected.fields[field::ret].compared = !op.skipped;
  }

  void observe(const operation& op, state& got) override {
    got.reset(layout_of_kind);
    if (op.skipped) {
      ret_ = 0;
      picked_ = not_picked;
    }
    auto& f = got.fields;
    f[field::t] = cell::of(now_);
    f[field::ret] = cell::of_signed(ret_);
    f[field::resched] = flag(policy_.need_resched());
    f[field::curr] = id_of(policy_.current());
    f[field::picked] = cell::of_signed(picked_);
    f[field::nr_running] = cell::of(policy_.nr_queued());
    list_slices(got.lists.front());
    for_each_group(true, [&](const task_group& g) { observe_group(g, got.tables[table::groups]); });
    for_each_group_backwards(
        [&](const task_group& g) { add_entity(policy_.level(&g), got.tables[table::entities]); });
    for (const auto& [id, t] : tasks_) add_entity(t, got.tables[table::entities]);
  }

 private:
  void enter(task& t, const operation& op, const json_line& line) override {
    t.group = &group(op.group, line);
    cfs_driver_of::enter(t, op, line);
  }

  void change_more(task& t, const operation& op, const json_line& line) override {
    if (op.info->code != operation_code::move) return cfs_driver_of::change_more(t, op, line);
    policy_.move(t, &group(op.group, line), now_);
  }

  // Of the running task and the groups it is in, from the task up; "none" when there is none.
  void list_slices(std::vector<cell>& slices) const {
    const entity* e = policy_.current();
    if (e == nullptr || !e->queued) {
      slices.emplace_back();
      return;
    }
    for (; e->parent != nullptr; e = e->parent) slices.push_back(cell::of(policy_.slice_of(*e)));
  }

  void observe_group(const task_group& g, table_state& groups) const {
    const cfs_level& level = policy_.level(&g);
    const cfs_queue& queue = level.queue;
    const std::span<cell> row = groups.add_row();
    row[group_column::id] = cell::of(g.id);
    row[group_column::parent] = g.is_root() ? cell::of_signed(-1) : cell::of(g.parent()->id);
    row[group_column::shares] = cell::of(g.shares());
    row[group_column::idle] = flag(g.idle());
    row[group_column::nr_queued] = cell::of(queue.nr_queued());
    row[group_column::h_nr_queued] = cell::of(level.h_nr_queued);
    row[group_column::nr_idle] = cell::of(queue.nr_idle());
    row[group_column::h_nr_idle] = cell::of(level.h_nr_idle);
    row[group_column::load] = cell::of(queue.load());
    row[group_column::min_vruntime] = cell::of(queue.min_vruntime());
    row[group_column::curr] = id_of(queue.current());
    row[group_column::next] = id_of(queue.next_buddy());
    row[group_column::last] = id_of(queue.last_buddy());
    row[group_column::skip_buddy] = id_of(queue.skip_buddy());
    row[group_column::peek] = id_of(policy_.peek_in(&g));
    list_waiting(queue.waiting(), groups.lists.emplace_back());
  }

  static void add_entity(const entity& e, table_state& entities) {
    const std::span<cell> row = entities.add_row();
    row[0] = id_of(&e);
    row[1] = cell::of(group_id(*e.parent));
    observe_entity(e, row.subspan(entity_keys));
  }
};

}  // namespace

std::unique_ptr<vector_driver> make_cfs_groups_driver(const json_line& header) {
  check_header_keys(header, {"cpus", "scaling", "latency", "min_granularity",
                             "idle_min_granularity", "wakeup_granularity", "nr_latency",
                             "child_runs_first", "min_vruntime", "group_cols"});
  const cfs_config config = header_cfs_config(header);
  const std::uint64_t start = header_number(header, "t0", 0, max_vector_time_ns);
  const std::uint64_t min_vruntime = header_number(header, "min_vruntime", 0, any_u64);
  return std::make_unique<cfs_groups_driver>(config, start, min_vruntime);
}

}  // namespace vlag

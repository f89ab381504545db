// SPDX-License-Identifier: Apache-2.0
//
// Vectors "eevdf-hier-1": the EEVDF class of Linux 6.12 on one CPU, with task groups and bandwidth.
//
// Compared is every field of a line, except what the reference leaves behind in an entity's row
// (the same cells as in eevdf_driver.cpp, here for tasks and groups):
//
//   cell       means something                                       otherwise
//   vruntime   on the queue                                          not compared
//   deadline   on the queue; off it while rel_deadline = 1           not compared
//   vlag       off the queue (the lag)                               not compared
//   vlag       running and on the queue: the slice-protection token, compared as "protected"
//
// The slack timer never starts on one CPU: its two cells must be 0. Only fix_min_slice = 1 is
// accepted: without it the reference's smallest slices are wrong.
#include "vectors/group_driver.hpp"
#include "vectors/header.hpp"
#include "vlag/fair_class.hpp"

#include <array>
#include <limits>

namespace vlag {
namespace {

namespace field {
enum : std::size_t { t, ret, resched, curr, picked, nr_running, count };
}
constexpr std::array<std::string_view, field::count> field_names = {"t",    "ret",    "resched",
                                                                    "curr", "picked", "nr_running"};

constexpr std::array<list_layout, 1> list_layouts = {{{"done_delayed"}}};

namespace group_column {
enum : std::size_t {
  id,
  parent,
  shares,
  idle,
  nr_queued,
  h_nr_queued,
  h_nr_runnable,
  h_nr_delayed,
  idle_nr,
  idle_h_nr,
  load,
  zero_vruntime,
  sum_wv,
  sum_w,
  total,
  average,
  min_vruntime,
  min_slice,
  curr,
  next,
  peek,
  count
};
}
constexpr std::array<std::string_view, group_column::count> group_columns = {
    "id",          "parent",        "shares",       "idle",    "nr_queued",
    "h_nr_queued", "h_nr_runnable", "h_nr_delayed", "idle_nr", "idle_h_nr",
    "load",        "zero_vruntime", "sum_wv",       "sum_w",   "W",
    "V",           "min_vruntime",  "min_slice",    "curr",    "next",
    "peek"};

namespace column {
enum : std::size_t {
  id,
  parent,
  on_rq,
  sched_delayed,
  is_curr,
  weight,
  vruntime,
  deadline,
  slice,
  custom_slice,
  vlag,
  rel_deadline,
  eligible,
  sum_exec,
  is_protected,
  count
};
}
constexpr std::array<std::string_view, column::count> entity_columns = {
    "id",     "parent",       "on_rq",    "sched_delayed", "is_curr",
    "weight", "vruntime",     "deadline", "slice",         "custom_slice",
    "vlag",   "rel_deadline", "eligible", "sum_exec",      "protected"};

namespace limit_column {
enum : std::size_t {
  id,
  quota,
  period,
  burst,
  runtime,
  enabled,
  remaining,
  throttled,
  throttle_count,
  idle,
  period_active,
  timer_armed,
  timer_expires,
  slack_armed,
  slack_expires,
  nr_periods,
  nr_throttled,
  count
};
}
constexpr std::array<std::string_view, limit_column::count> limit_columns = {"id",
                                                                             "quota",
                                                                             "period",
                                                                             "burst",
                                                                             "runtime",
                                                                             "enabled",
                                                                             "remaining",
                                                                             "throttled",
                                                                             "throttle_count",
                                                                             "idle",
                                                                             "period_active",
                                                                             "timer_armed",
                                                                             "timer_expires",
                                                                             "slack_armed",
                                                                             "slack_expires",
                                                                             "nr_periods",
                                                                             "nr_throttled"};

namespace table {
enum : std::size_t { groups, entities, limits, count };
}
constexpr std::array<table_layout, table::count> table_layouts = {
    {{"groups", "group_cols", "group", group_columns, 0, -highest_row_id, "rb"},
     {"ents", "ent_cols", "entity", entity_columns, 1, -highest_row_id},
     {"bw", "bw_cols", "group", limit_columns, 0, 1, {}, true}}};

constexpr state_layout layout_of_kind = {field_names, 0, list_layouts, table_layouts};

constexpr std::array<operation_info, 22> known_operations = {{
    {"fork", operation_code::fork, arg_id, arg_nice | arg_slice | arg_policy | arg_group},
    {"run", operation_code::run, arg_ns},
    {"advance", operation_code::advance, arg_ns},
    {"tick", operation_code::tick, no_argument},
    {"block", operation_code::block, no_argument},
    {"exit", operation_code::exit, no_argument},
    {"wake", operation_code::wake, arg_id},
    {"yield", operation_code::yield, no_argument},
    {"yield_to", operation_code::yield_to, arg_id},
    {"renice", operation_code::renice, arg_id | arg_nice},
    {"set_slice", operation_code::set_slice, arg_id | arg_ns},
    {"setattr", operation_code::setattr, arg_id | arg_policy | arg_nice | arg_ns},
    {"schedule", operation_code::schedule, no_argument},
    {"mkgroup", operation_code::mkgroup, arg_group | arg_parent},
    {"rmgroup", operation_code::rmgroup, arg_group},
    {"setweight", operation_code::setweight, arg_group | arg_group_weight},
    {"setshares", operation_code::setshares, arg_group | arg_shares},
    {"setgnice", operation_code::setgnice, arg_group | arg_group_nice},
    {"setidle", operation_code::setidle, arg_group | arg_idle},
    {"setmax", operation_code::setmax, arg_group | arg_quota | arg_period, arg_burst},
    {"move", operation_code::move, arg_id | arg_group},
    {"period_timer", operation_code::period_timer, arg_group},
}};

class eevdf_groups_driver final : public group_driver<fair_class, eevdf_config> {
 public:
  eevdf_groups_driver(const eevdf_config& config, std::uint64_t start_ns, std::uint64_t reference)
      : group_driver(config, start_ns) {
    policy_.start_at(reference);
    policy_.set_decision_hook(&note_decision, this);
  }

  const state_layout& layout() const noexcept override { return layout_of_kind; }
  std::span<const operation_info> operations() const noexcept override { return known_operations; }

  void complete_expected(state& expected, const operation& op) const override {
    expected.fields[field::ret].compared = !op.skipped;
    table_state& entities = expected.tables[table::entities];
    for (std::size_t r = 0; r < entities.rows(); ++r) complete_row(entities.row(r));
  }

  void observe(const operation& op, state& got) override {
    got.reset(layout_of_kind);
    if (op.skipped) {
      ret_ = 0;
      picked_ = not_picked;
      done_delayed_.clear();
    }
    auto& f = got.fields;
    f[field::t] = cell::of(now_);
    f[field::ret] = cell::of_signed(ret_);
    f[field::resched] = flag(policy_.need_resched());
    f[field::curr] = id_of(policy_.current());
    f[field::picked] = cell::of_signed(picked_);
    f[field::nr_running] = cell::of(policy_.nr_queued());
    got.lists.front() = done_delayed_;
    for_each_group(true, [&](const task_group& g) { observe_group(g, got.tables[table::groups]); });
    for_each_group_backwards([&](const task_group& g) {
      const fair_level& level = policy_.level(&g);
      observe_entity(level, -static_cast<std::int64_t>(g.id), got.tables[table::entities]);
    });
    for (const auto& [id, t] : tasks_) observe_entity(t, id, got.tables[table::entities]);
    if (!limits_seen()) return;
    for_each_group(false,
                   [&](const task_group& g) { observe_limit(g, got.tables[table::limits]); });
  }

  void note_crash(const operation& op, const json_line& line) override {
    line.reject(
        fmt::format("a crash in {}: there is none in vectors of this format", op.info->name));
  }
  void expect_answer(const operation& /*op*/, state& /*expected*/) const override {}

 private:
  static void note_decision(void* context, decision what, const entity& who) {
    if (what != decision::delayed_completed || who.is_group) return;
    const auto id = static_cast<const task&>(who).id;
    static_cast<eevdf_groups_driver*>(context)->done_delayed_.push_back(cell::of(id));
  }

  static void complete_row(std::span<cell> row) {
    const bool on_queue = row[column::on_rq].is(1);
    row[column::vruntime].compared = on_queue;
    row[column::deadline].compared = on_queue || row[column::rel_deadline].is(1);
    row[column::vlag].compared = !on_queue;
    row[column::is_protected].compared = true;
    if (on_queue && row[column::is_curr].is(1)) {
      const bool same = row[column::vlag].bits() == row[column::deadline].bits();
      row[column::is_protected] = flag(same);
    }
  }

  void begin_operation() override { done_delayed_.clear(); }

  void enter(task& t, const operation& op, const json_line& line) override {
    t.group = &group(op.group, line);
    t.custom_slice = op.slice_ns != 0;
    t.slice_ns = t.custom_slice ? op.slice_ns : config_.base_slice_ns;
    if (!policy_.fork(t, now_)) line.reject("the queue is full");
  }

  void change_more(task& t, const operation& op, const json_line& line) override {
    if (op.info->code == operation_code::set_slice) {
      ret_ = policy_.set_slice(t, op.ns, now_) ? 1 : 0;
    } else {
      policy_.move(t, &group(op.group, line), now_);
    }
  }

  std::int64_t wake_answer(const task& t) const override { return t.sched_delayed ? 1 : 2; }

  void observe_group(const task_group& g, table_state& groups) {
    const fair_level& level = policy_.level(&g);
    const run_queue& queue = level.queue;
    const std::span<cell> row = groups.add_row();
    row[group_column::id] = cell::of(g.id);
    row[group_column::parent] = g.is_root() ? cell::of_signed(-1) : cell::of(g.parent()->id);
    row[group_column::shares] = cell::of(g.shares());
    row[group_column::idle] = flag(g.idle());
    row[group_column::nr_queued] = cell::of(queue.nr_queued());
    row[group_column::h_nr_queued] = cell::of(level.h_nr_queued);
    row[group_column::h_nr_runnable] = cell::of(level.h_nr_runnable);
    row[group_column::h_nr_delayed] = cell::of(level.h_nr_delayed);
    row[group_column::idle_nr] = cell::of(level.nr_idle);
    row[group_column::idle_h_nr] = cell::of(level.h_nr_idle);
    row[group_column::load] = cell::of(queue.load());
    row[group_column::zero_vruntime] = cell::of(queue.reference());
    row[group_column::sum_wv] = cell::of_signed(queue.weighted_sum());
    row[group_column::sum_w] = cell::of(queue.waiting_weight());
    row[group_column::total] = cell::of(queue.total_weight());
    row[group_column::average] = cell::of(queue.average_vruntime());
    if (const entity* least = least_vruntime(queue); least != nullptr) {
      row[group_column::min_vruntime] = cell::of(least->vruntime);
    }
    if (queue.total_weight() != 0) {
      row[group_column::min_slice] = cell::of(policy_.min_slice(&g));
    }
    row[group_column::curr] = id_of(queue.current());
    row[group_column::next] = id_of(queue.buddy());
    row[group_column::peek] = id_of(policy_.peek_in(&g));
    list_waiting(queue.waiting(), groups.lists.emplace_back());
  }

  void observe_entity(const entity& e, std::int64_t id, table_state& entities) const {
    const run_queue& queue = level_of(e).queue;
    const bool runs = queue.current() == &e;
    const std::span<cell> row = entities.add_row();
    row[column::id] = cell::of_signed(id);
    row[column::parent] = cell::of(group_id(*e.parent));
    row[column::on_rq] = flag(e.queued);
    row[column::sched_delayed] = flag(e.sched_delayed);
    row[column::is_curr] = flag(runs);
    row[column::weight] = cell::of(e.weight.full);
    row[column::vruntime] = cell::of(e.vruntime);
    row[column::deadline] = cell::of(e.deadline);
    row[column::slice] = cell::of(e.slice_ns);
    row[column::custom_slice] = flag(e.custom_slice);
    row[column::vlag] = cell::of_signed(e.vlag);
    row[column::rel_deadline] = flag(e.rel_deadline);
    row[column::eligible] = e.queued ? flag(queue.eligible(e)) : cell::of_signed(-1);
    row[column::sum_exec] = cell::of(e.sum_exec_ns);
    if (runs && e.queued) row[column::is_protected] = flag(queue.slice_protected(e));
  }

  void observe_limit(const task_group& g, table_state& limits) const {
    const fair_level& level = policy_.level(&g);
    const bandwidth_pool& pool = g.bandwidth();
    const std::span<cell> row = limits.add_row();
    row[limit_column::id] = cell::of(g.id);
    if (pool.limit.quota_ns != no_quota) row[limit_column::quota] = cell::of(pool.limit.quota_ns);
    row[limit_column::period] = cell::of(pool.limit.period_ns);
    row[limit_column::burst] = cell::of(pool.limit.burst_ns);
    row[limit_column::runtime] = cell::of(pool.runtime_ns);
    row[limit_column::enabled] = flag(level.limited);
    row[limit_column::remaining] = cell::of_signed(level.remaining_ns);
    row[limit_column::throttled] = flag(level.throttled);
    row[limit_column::throttle_count] = cell::of(level.throttle_count);
    row[limit_column::idle] = flag(pool.idle);
    row[limit_column::period_active] = flag(pool.period_active);
    row[limit_column::timer_armed] = flag(pool.timer_armed);
    row[limit_column::timer_expires] = cell::of(pool.timer_expires_ns);
    row[limit_column::slack_armed] = cell::of(0);
    row[limit_column::slack_expires] = cell::of(0);
    row[limit_column::nr_periods] = cell::of(pool.nr_periods);
    row[limit_column::nr_throttled] = cell::of(pool.nr_throttled);
  }

  std::vector<cell> done_delayed_;  // ids of tasks, in this operation
};

}  // namespace

std::unique_ptr<vector_driver> make_eevdf_groups_driver(const json_line& header) {
  constexpr std::uint64_t second = 1'000'000'000;
  constexpr std::uint64_t any_u64 = std::numeric_limits<std::uint64_t>::max();
  check_header_keys(header, {"base_slice", "zero_vruntime", "fix_min_slice", "bw_slice_us",
                             "group_cols", "bw_cols"});
  eevdf_config config;
  config.features = header_features(header, fair_engine::eevdf);
  config.base_slice_ns = header_number(header, "base_slice", 1, second);
  config.tick_ns = header_number(header, "tick_nsec", 1, second);
  config.bandwidth_slice_ns = header_number(header, "bw_slice_us", 1, 1'000'000) * 1000;
  static_cast<void>(header_number(header, "fix_min_slice", 1, 1));
  const std::uint64_t start = header_number(header, "t0", 0, max_vector_time_ns);
  const std::uint64_t reference = header_number(header, "zero_vruntime", 0, any_u64);
  return std::make_unique<eevdf_groups_driver>(config, start, reference);
}

}  // namespace vlag

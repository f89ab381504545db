// SPDX-License-Identifier: Apache-2.0
//
// Vectors "pelt-1": load tracking of Linux 6.12 on two CPUs with groups, and of single averages.
//
// The operations "u_..." drive an average each and show it; the others drive a pelt_system and show
// all of it. Every field of a line is compared, except util_est of a group's queue, which has none.
#include "vectors/driver.hpp"
#include "vectors/header.hpp"
#include "vectors/pelt_operation.hpp"
#include "vectors/pelt_system.hpp"

#include <fmt/format.h>

#include <array>
#include <map>

namespace vlag {
namespace {

constexpr std::size_t average_count = 9;
constexpr std::array<std::string_view, average_count> average_columns = {
    "last_update_time", "load_sum",     "runnable_sum", "util_sum", "period_contrib",
    "load_avg",         "runnable_avg", "util_avg",     "util_est"};
constexpr std::array<std::string_view, 7> cpu_columns = {
    "cpu", "curr", "clock_task", "clock_pelt", "lost_idle_time", "cap", "freq"};

// The names with those of an average in their midst.
template <std::size_t Before, std::size_t Behind>
constexpr auto around_average(const std::array<std::string_view, Before>& before,
                              const std::array<std::string_view, Behind>& behind) {
  std::array<std::string_view, Before + average_count + Behind> all;
  std::size_t at = 0;
  for (const auto name : before) all[at++] = name;
  for (const auto name : average_columns) all[at++] = name;
  for (const auto name : behind) all[at++] = name;
  return all;
}

constexpr std::size_t queue_average_at = 6;
constexpr auto queue_columns = around_average<queue_average_at, 4>(
    {"group", "cpu", "load", "h_nr_queued", "h_nr_delayed", "has_curr"},
    {"tg_load_avg_contrib", "tg_load_avg", "propagate", "prop_runnable_sum"});
constexpr std::size_t queue_estimate_at = queue_average_at + average_count - 1;
constexpr auto entity_columns = around_average<7, 0>(
    {"id", "cpu", "on_rq", "sched_delayed", "is_curr", "weight", "runnable_weight"}, {});

constexpr std::int64_t lowest_id = -static_cast<std::int64_t>(max_vector_id);

enum : std::size_t { cpu_table, queue_table, entity_table };
constexpr std::array<table_layout, 3> system_tables = {{
    {.name = "rq",
     .columns_key = "rq_cols",
     .row_name = "cpu",
     .columns = cpu_columns,
     .lowest_id = 0},
    {.name = "cfs",
     .columns_key = "cfs_cols",
     .row_name = "group",
     .columns = queue_columns,
     .lowest_id = 0,
     .keys = 2},
    {.name = "ents",
     .columns_key = "ent_cols",
     .row_name = "entity",
     .columns = entity_columns,
     .lowest_id = lowest_id,
     .keys = 2,
     .order = row_order::groups_first},
}};
constexpr std::array<table_layout, 1> single_tables = {{{.name = "avg",
                                                         .columns_key = "avg_cols",
                                                         .row_name = "the average",
                                                         .columns = average_columns,
                                                         .keys = 0}}};

constexpr std::array<std::string_view, 2> field_names = {"ret", "result"};
constexpr std::span<const std::string_view> only_ret = std::span(field_names).first(1);
constexpr state_layout system_layout = {only_ret, 0, {}, system_tables};
constexpr state_layout single_layout = {only_ret, 0, {}, single_tables};
constexpr state_layout decay_layout = {field_names, 0, {}, {}};

constexpr cell flag(bool on) { return cell::of(on ? 1 : 0); }

void show_average(const load_average& a, std::span<cell> row) {
  const std::array<std::uint64_t, average_count> values = {
      a.last_update_ns, a.load_sum,     a.runnable_sum, a.util_sum, a.period_contrib,
      a.load_avg,       a.runnable_avg, a.util_avg,     a.util_est};
  for (std::size_t i = 0; i < average_count; ++i) row[i] = cell::of(values[i]);
}

using code = pelt_code;
using arg = pelt_argument;

class pelt_driver final : public vector_driver {
 public:
  explicit pelt_driver(std::uint64_t start_ns) : system_(start_ns) {}

  const state_layout& layout() const noexcept override { return system_layout; }
  const state_layout& layout_of(const operation& op) const noexcept override {
    if (code_of(op) == code::u_decay) return decay_layout;
    return is_single(op) ? single_layout : system_layout;
  }
  std::span<const operation_info> operations() const noexcept override { return pelt_operations(); }
  bool is_key(const operation& op, std::string_view key) const noexcept override {
    return is_pelt_argument(op, key);
  }

  void complete_expected(state& expected, const operation& op) const override {
    if (is_single(op)) return;
    table_state& queues = expected.tables[queue_table];
    for (std::size_t r = 0; r < queues.rows(); ++r) {
      const std::span<cell> row = queues.row(r);
      row[queue_estimate_at].compared = row.front().is(0);
    }
  }

  void apply(const operation& op, const json_line& line) override {
    const pelt_arguments args(line, op);
    ret_ = 0;
    if (is_single(op)) {
      apply_single(op, args, line);
    } else if (args.has(arg::id)) {
      apply_to_task(op, args, line);
    } else {
      apply_to_rest(op, args, line);
    }
  }

  void observe(const operation& op, state& got) override {
    got.reset(layout_of(op));
    got.fields.front() = cell::of(ret_);
    if (code_of(op) == code::u_decay) {
      got.fields.back() = cell::of(result_);
    } else if (is_single(op)) {
      show_average(*touched_, got.tables.front().add_row());
    } else {
      observe_system(got);
    }
  }

  void note_crash(const operation& op, const json_line& line) override {
    line.reject(
        fmt::format("a crash in {}: there is none in vectors of this format", op.info->name));
  }
  void expect_answer(const operation& /*op*/, state& /*expected*/) const override {}

 private:
  static bool is_single(const operation& op) noexcept { return code_of(op) < code::scale; }

  void apply_single(const operation& op, const pelt_arguments& args, const json_line& line) {
    if (code_of(op) == code::u_decay) {
      result_ = decayed_sum(args.get(arg::val), args.get(arg::n));
      return;
    }
    load_average& a = single(op, args, line);
    touched_ = &a;
    const std::uint64_t now = args.get(arg::now);
    switch (code_of(op)) {
      case code::u_set:
        set_average(a, args);
        return;
      case code::u_se:
        update_entity(a, args);
        return;
      case code::u_blocked:
        ret_ = update_blocked_average(a, now, args.get(arg::full_weight, nice_0_weight)) ? 1 : 0;
        return;
      case code::u_cfs:
        ret_ = update_queue_average(a, now, args.get(arg::load), args.get(arg::runnable),
                                    args.get(arg::running) != 0)
                   ? 1
                   : 0;
        return;
      case code::u_rt:
        ret_ = update_class_average(a, now, args.get(arg::running) != 0) ? 1 : 0;
        return;
      case code::u_hw:
        ret_ = update_pressure_average(a, now, args.get(arg::capacity)) ? 1 : 0;
        return;
      case code::u_irq:
        ret_ = update_interrupt_average(a, now, args.get(arg::running_ns), system_.cpu_at(0).clock);
        return;
      default:  // u_utilest
        if (args.get(arg::sleep, 1) != 0) sample_estimate(a, system_.cpu_at(0).clock.capacity());
        return;
    }
  }

  load_average& single(const operation& op, const pelt_arguments& args, const json_line& line) {
    switch (code_of(op)) {
      case code::u_rt:
        return real_time_;
      case code::u_hw:
        return pressure_;
      case code::u_irq:
        return interrupt_;
      default:
        break;
    }
    auto& averages = code_of(op) == code::u_cfs ? queues_ : entities_;
    if (averages.size() >= max_vector_tasks) {
      line.reject(fmt::format("more than {} averages", max_vector_tasks));
    }
    return averages[args.get_32(arg::id)];
  }

  static void set_average(load_average& a, const pelt_arguments& args) {
    a.last_update_ns = args.get(arg::last_update_time, a.last_update_ns);
    a.load_sum = args.get(arg::load_sum, a.load_sum);
    a.runnable_sum = args.get(arg::runnable_sum, a.runnable_sum);
    a.util_sum = args.get_32(arg::util_sum, a.util_sum);
    a.period_contrib = args.get_32(arg::period_contrib, a.period_contrib);
    a.load_avg = args.get(arg::load_avg, a.load_avg);
    a.runnable_avg = args.get(arg::runnable_avg, a.runnable_avg);
    a.util_avg = args.get(arg::util_avg, a.util_avg);
    a.util_est = args.get_32(arg::util_est, a.util_est);
  }

  void update_entity(load_average& a, const pelt_arguments& args) {
    entity_activity since;
    since.queued = args.get(arg::on_rq, 1) != 0;
    since.running = args.get(arg::running) != 0;
    if (args.get(arg::delayed) == 0) since.runnable = args.get(arg::runnable, since.queued ? 1 : 0);
    const std::uint64_t weight = args.get(arg::full_weight, nice_0_weight);
    ret_ = update_entity_average(a, args.get(arg::now), weight, since) ? 1 : 0;
  }

  void apply_to_rest(const operation& op, const pelt_arguments& args, const json_line& line) {
    const std::size_t cpu = args.get(arg::cpu);
    const std::uint32_t group = args.get_32(arg::group);
    switch (code_of(op)) {
      case code::scale:
        set_scale(cpu, args);
        return;
      case code::clock:
        for (std::size_t c = 0; c < pelt_system::cpu_count; ++c) {
          if (!args.has(arg::cpu) || c == cpu) advance(c, args.get(arg::ns), line);
        }
        return;
      case code::mkgroup:
        make_group(args, line);
        return;
      case code::setshares:
        require_group(group, line);
        if (group == 0) line.reject("setshares of the root group, which has none");
        system_.set_shares(group, args.get(arg::shares) << weight_resolution_bits);
        return;
      case code::goidle:
        system_.go_idle(cpu);
        return;
      case code::tick:
        system_.tick(cpu);
        return;
      default:  // decay
        require_group(group, line);
        ret_ = system_.decay(cpu, group) ? 1 : 0;
        return;
    }
  }

  void set_scale(std::size_t cpu, const pelt_arguments& args) {
    load_clock& clock = system_.cpu_at(cpu).clock;
    clock.set_scale(args.get_32(arg::cap, clock.capacity()),
                    args.get_32(arg::freq, clock.frequency()));
  }

  void advance(std::size_t cpu, std::uint64_t ns, const json_line& line) {
    if (ns > max_vector_time_ns - system_.cpu_at(cpu).clock.task_ns()) {
      line.reject("the clock passes 2^63 ns");
    }
    system_.advance(cpu, ns);
  }

  void make_group(const pelt_arguments& args, const json_line& line) {
    const std::uint32_t id = args.get_32(arg::group);
    const std::uint32_t parent = args.get_32(arg::parent);
    if (system_.groups().contains(id)) {
      line.reject(fmt::format("mkgroup of group {}, which exists already", id));
    }
    require_group(parent, line);
    if (system_.groups().size() >= max_vector_tasks) {
      line.reject(fmt::format("more than {} groups", max_vector_tasks));
    }
    system_.make_group(id, parent, args.get(arg::shares) << weight_resolution_bits);
  }

  void apply_to_task(const operation& op, const pelt_arguments& args, const json_line& line) {
    if (code_of(op) == code::start) {
      start(args, line);
      return;
    }
    pelt_system::task& t = living(op, args, line);
    const std::uint32_t group = args.get_32(arg::group);
    switch (code_of(op)) {
      case code::enqueue:
        system_.enqueue(t);
        return;
      case code::dequeue:
        system_.dequeue(t, args.get(arg::sleep) != 0);
        return;
      case code::delay:
        system_.delay(t);
        return;
      case code::undelay:
        system_.undelay(t);
        return;
      case code::finish:
        system_.finish_delayed(t);
        return;
      case code::switch_to:
        system_.switch_to(t);
        return;
      case code::migrate:
        system_.migrate(t, args.get(arg::cpu));
        return;
      case code::move:
        require_group(group, line);
        system_.move(t, group);
        return;
      case code::reweight:
        system_.reweight(t, args.get(arg::small_weight) << weight_resolution_bits);
        return;
      default:
        system_.exit(t);
        return;
    }
  }

  void start(const pelt_arguments& args, const json_line& line) {
    const std::uint32_t id = args.get_32(arg::id);
    const std::uint32_t group = args.get_32(arg::group);
    if (system_.find_task(id) != nullptr) {
      line.reject(fmt::format("new task {}, which exists already", id));
    }
    require_group(group, line);
    if (system_.tasks().size() >= max_vector_tasks) {
      line.reject(fmt::format("more than {} tasks at once", max_vector_tasks));
    }
    system_.start(id, args.get(arg::cpu), args.get(arg::small_weight) << weight_resolution_bits,
                  group);
  }

  void require_group(std::uint32_t id, const json_line& line) const {
    if (!system_.groups().contains(id)) {
      line.reject(fmt::format("group {} does not exist", id));
    }
  }

  // The task of an operation, in a state in which the operation makes sense.
  pelt_system::task& living(const operation& op, const pelt_arguments& args,
                            const json_line& line) {
    const std::uint32_t id = args.get_32(arg::id);
    pelt_system::task* found = system_.find_task(id);
    if (found == nullptr) {
      line.reject(fmt::format("{} of task {}, which does not exist", op.info->name, id));
    }
    if (const std::string_view fault = fault_of(code_of(op), *found); !fault.empty()) {
      line.reject(fmt::format("{} of task {}, which {}", op.info->name, id, fault));
    }
    return *found;
  }

  std::string_view fault_of(pelt_code what, const pelt_system::task& t) const {
    switch (what) {
      case code::enqueue:
        return t.queued ? "is queued" : "";
      case code::dequeue:
      case code::delay:
        return !t.queued ? "is not queued" : t.delayed ? "is delayed" : "";
      case code::undelay:
      case code::finish:
        return t.delayed ? "" : "is not delayed";
      case code::switch_to:
        return t.queued ? "" : "is not queued";
      case code::migrate:
        return system_.is_current(t) ? "is on its CPU" : "";
      case code::exit:
        return t.queued ? "is queued" : system_.is_current(t) ? "is on its CPU" : "";
      default:
        return "";
    }
  }

  void observe_system(state& got) const {
    for (std::size_t c = 0; c < pelt_system::cpu_count; ++c) {
      observe_cpu(c, got.tables[cpu_table].add_row());
    }
    for (const auto& [id, group] : system_.groups()) {
      for (const auto& queue : group.queues) {
        observe_queue(id, queue, got.tables[queue_table].add_row());
      }
      if (id == 0) continue;
      for (const auto& entity : group.entities) {
        observe_entity(-std::int64_t{id}, entity, got.tables[entity_table].add_row());
      }
    }
    for (const auto& [id, task] : system_.tasks()) {
      observe_entity(std::int64_t{id}, task, got.tables[entity_table].add_row());
    }
  }

  void observe_cpu(std::size_t index, std::span<cell> row) const {
    const auto& [clock, current] = system_.cpu_at(index);
    const std::array<std::uint64_t, cpu_columns.size()> values = {
        index,
        current == nullptr ? 0 : current->id,
        clock.task_ns(),
        clock.load_ns(),
        clock.lost_idle_ns(),
        clock.capacity(),
        clock.frequency()};
    for (std::size_t i = 0; i < values.size(); ++i) row[i] = cell::of(values[i]);
  }

  static void observe_queue(std::uint32_t id, const pelt_system::queue& q, std::span<cell> row) {
    row[0] = cell::of(id);
    row[1] = cell::of(q.cpu);
    row[2] = cell::of(q.weight);
    row[3] = cell::of(q.h_nr_queued);
    row[4] = cell::of(q.h_nr_delayed);
    row[5] = flag(q.running != nullptr);
    show_average(q.load.average, row.subspan(queue_average_at));
    const std::span<cell> behind = row.subspan(queue_average_at + average_count);
    behind[0] = cell::of(q.load.shared_load_avg);
    behind[1] = cell::of(q.group == nullptr ? 0 : q.group->load_avg);
    behind[2] = flag(q.load.propagates);
    behind[3] = cell::of_signed(q.load.propagated_sum);
  }

  static void observe_entity(std::int64_t id, const pelt_system::entity& e, std::span<cell> row) {
    row[0] = cell::of_signed(id);
    row[1] = cell::of(e.on->cpu);
    row[2] = flag(e.queued);
    row[3] = flag(e.delayed);
    row[4] = flag(e.on->running == &e);
    row[5] = cell::of(e.weight);
    row[6] = cell::of(e.load.runnable_weight);
    show_average(e.load.average, row.subspan(7));
  }

  pelt_system system_;
  std::map<std::uint32_t, load_average> entities_;  // single ones
  std::map<std::uint32_t, load_average> queues_;
  load_average real_time_, pressure_, interrupt_;
  const load_average* touched_ = &real_time_;  // by the last operation on a single one
  std::uint64_t ret_ = 0;
  std::uint64_t result_ = 0;
};

}  // namespace

std::unique_ptr<vector_driver> make_pelt_driver(const json_line& header) {
  check_header_keys(header, {"avg_cols", "rq_cols", "cfs_cols"});
  return std::make_unique<pelt_driver>(header_number(header, "t0", 0, max_vector_time_ns));
}

}  // namespace vlag

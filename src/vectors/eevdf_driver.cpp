// SPDX-License-Identifier: Apache-2.0
//
// Vectors "eevdf-oracle-1": the EEVDF class of Linux 6.12, one flat queue.
//
// Compared is every field of a line, except what the reference leaves behind in a task's row:
//
//   cell       means something                                       otherwise
//   vruntime   on the queue                                          not compared
//   deadline   on the queue; off it while rel_deadline = 1           not compared
//   vlag       off the queue (the lag)                               not compared
//   vlag       running and on the queue: the slice-protection token, compared as "protected":
//              the task is protected as long as the token equals the deadline
//
// On "skip" lines ret is not compared. Where the reference, its sums wrapped, finds nothing
// eligible and crashes, there is no state to compare; ours is to pick the first in the timeline and
// to count one anomaly, and that is what is compared there.
#include "vectors/fair_driver.hpp"
#include "vectors/header.hpp"
#include "vlag/fair_class.hpp"

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
  nr_queued,
  nr_running,
  h_nr_queued,
  h_nr_runnable,
  h_nr_delayed,
  zero_vruntime,
  sum_wv,
  sum_w,
  load,
  total,
  average,
  min_vruntime,
  anomalies,
  count
};
}
constexpr std::array<std::string_view, field::count> field_names = {"t",
                                                                    "ret",
                                                                    "resched",
                                                                    "curr",
                                                                    "picked",
                                                                    "peek",
                                                                    "next",
                                                                    "nr_queued",
                                                                    "nr_running",
                                                                    "h_nr_queued",
                                                                    "h_nr_runnable",
                                                                    "h_nr_delayed",
                                                                    "zero_vruntime",
                                                                    "sum_wv",
                                                                    "sum_w",
                                                                    "load",
                                                                    "W",
                                                                    "V",
                                                                    "min_vruntime",
                                                                    "anomalies"};

namespace list {
enum : std::size_t { done_delayed, rb, count };
}
constexpr std::array<list_layout, list::count> list_layouts = {{{"done_delayed"}, {"rb"}}};

namespace column {
enum : std::size_t {
  id,
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
constexpr std::array<std::string_view, column::count> column_names = {
    "id",    "on_rq",        "sched_delayed", "is_curr",      "weight",   "vruntime", "deadline",
    "slice", "custom_slice", "vlag",          "rel_deadline", "eligible", "sum_exec", "protected"};

constexpr std::array<table_layout, 1> table_layouts = {
    {{"ents", "ent_cols", "task", column_names, 1}}};

constexpr state_layout eevdf_layout = {field_names, 1, list_layouts, table_layouts};

constexpr std::array<operation_info, 14> eevdf_operations = {{
    {"fork", operation_code::fork, arg_id, arg_nice | arg_slice | arg_policy},
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
    {"reweight", operation_code::reweight, arg_id | arg_weight},
    {"schedule", operation_code::schedule, no_argument},
}};

class eevdf_driver final : public fair_driver<fair_class, eevdf_config> {
 public:
  eevdf_driver(const eevdf_config& config, std::uint64_t start_ns, std::uint64_t reference)
      : fair_driver(config, start_ns) {
    policy_.start_at(reference);
    policy_.set_decision_hook(&note_decision, this);
  }

  const state_layout& layout() const noexcept override { return eevdf_layout; }
  std::span<const operation_info> operations() const noexcept override { return eevdf_operations; }

  void complete_expected(state& expected, const operation& op) const override {
    expected.fields[field::ret].compared = !op.skipped;
    table_state& tasks = expected.tables.front();
    for (std::size_t r = 0; r < tasks.rows(); ++r) complete_row(tasks.row(r));
  }

  void observe(const operation& op, state& got) override {
    got.reset(eevdf_layout);
    got.fields[field::anomalies] = cell::of(policy_.anomalies());  // peek may add to it
    if (op.skipped) {
      ret_ = 0;
      picked_ = not_picked;
      done_delayed_.clear();
    }
    observe_class(got);
    observe_queue(got);
    got.lists[list::done_delayed] = done_delayed_;
    list_waiting(policy_.queue().waiting(), got.lists[list::rb]);
    for (const auto& [id, t] : tasks_) observe_task(t, got);
  }

  void note_crash(const operation& /*op*/, const json_line& /*line*/) override {
    anomalies_before_ = policy_.anomalies();
    const entity* first = policy_.queue().waiting().first();
    answer_ = first != nullptr ? static_cast<const task*>(first) : policy_.current();
  }

  void expect_answer(const operation& op, state& expected) const override {
    expected.fields[field::anomalies] = cell::of(anomalies_before_ + 1);
    if (op.info->code != operation_code::schedule) return;
    expected.fields[field::picked] = id_of(answer_);
    expected.fields[field::curr] = id_of(answer_);
  }

 private:
  static void note_decision(void* context, decision what, const entity& who) {
    if (what != decision::delayed_completed) return;
    const auto id = static_cast<const task&>(who).id;
    static_cast<eevdf_driver*>(context)->done_delayed_.push_back(cell::of(id));
  }

  static void complete_row(std::span<cell> row) {
    const bool on_queue = row[column::on_rq].is(1);
    row[column::vruntime].compared = on_queue;
    row[column::deadline].compared = on_queue || row[column::rel_deadline].is(1);
    row[column::vlag].compared = !on_queue;
    if (on_queue && row[column::is_curr].is(1)) {
      const bool same = row[column::vlag].bits() == row[column::deadline].bits();
      row[column::is_protected] = flag(same);
    }
  }

  void begin_operation() override { done_delayed_.clear(); }

  void enter(task& t, const operation& op, const json_line& line) override {
    t.custom_slice = op.slice_ns != 0;
    t.slice_ns = t.custom_slice ? op.slice_ns : config_.base_slice_ns;
    if (!policy_.fork(t, now_)) line.reject("the queue is full");
  }

  void change_more(task& t, const operation& op, const json_line& /*line*/) override {
    if (op.info->code == operation_code::set_slice) {
      ret_ = policy_.set_slice(t, op.ns, now_) ? 1 : 0;
    }
  }

  std::int64_t wake_answer(const task& t) const override { return t.sched_delayed ? 1 : 2; }

  void observe_class(state& got) {
    auto& f = got.fields;
    f[field::t] = cell::of(now_);
    f[field::ret] = cell::of_signed(ret_);
    f[field::resched] = flag(policy_.need_resched());
    f[field::curr] = id_of(policy_.current());
    f[field::picked] = cell::of_signed(picked_);
    f[field::peek] = id_of(policy_.peek());
    f[field::next] = id_of(policy_.buddy());
    f[field::nr_running] = cell::of(policy_.nr_queued());
    f[field::h_nr_queued] = cell::of(policy_.nr_queued());
    f[field::h_nr_runnable] = cell::of(policy_.nr_runnable());
    f[field::h_nr_delayed] = cell::of(policy_.nr_delayed());
  }

  void observe_queue(state& got) const {
    const run_queue& queue = policy_.queue();
    auto& f = got.fields;
    f[field::nr_queued] = cell::of(queue.nr_queued());
    f[field::zero_vruntime] = cell::of(queue.reference());
    f[field::sum_wv] = cell::of_signed(queue.weighted_sum());
    f[field::sum_w] = cell::of(queue.waiting_weight());
    f[field::load] = cell::of(queue.load());
    f[field::total] = cell::of(queue.total_weight());
    f[field::average] = cell::of(queue.average_vruntime());
    if (const entity* least = least_vruntime(queue); least != nullptr) {
      f[field::min_vruntime] = cell::of(least->vruntime);
    }
  }

  void observe_task(const task& t, state& got) const {
    const std::span<cell> row = got.tables.front().add_row();
    const bool running = policy_.current() == &t;
    row[column::id] = cell::of(t.id);
    row[column::on_rq] = flag(t.queued);
    row[column::sched_delayed] = flag(t.sched_delayed);
    row[column::is_curr] = flag(running);
    row[column::weight] = cell::of(t.weight.full);
    row[column::vruntime] = cell::of(t.vruntime);
    row[column::deadline] = cell::of(t.deadline);
    row[column::slice] = cell::of(t.slice_ns);
    row[column::custom_slice] = flag(t.custom_slice);
    row[column::vlag] = cell::of_signed(t.vlag);
    row[column::rel_deadline] = flag(t.rel_deadline);
    row[column::eligible] = t.queued ? flag(policy_.queue().eligible(t)) : cell::of_signed(-1);
    row[column::sum_exec] = cell::of(t.sum_exec_ns);
    if (running && t.queued) row[column::is_protected] = flag(policy_.queue().slice_protected(t));
  }

  std::vector<cell> done_delayed_;  // ids, in this operation
  std::uint64_t anomalies_before_ = 0;
  const task* answer_ = nullptr;  // what we define to be picked where the reference crashes
};

}  // namespace

std::unique_ptr<vector_driver> make_eevdf_driver(const json_line& header) {
  constexpr std::uint64_t second = 1'000'000'000;
  constexpr std::uint64_t any_u64 = std::numeric_limits<std::uint64_t>::max();
  check_header_keys(header, {"base_slice", "zero_vruntime"});
  eevdf_config config;
  config.features = header_features(header, fair_engine::eevdf);
  config.base_slice_ns = header_number(header, "base_slice", 1, second);
  config.tick_ns = header_number(header, "tick_nsec", 1, second);
  const std::uint64_t start = header_number(header, "t0", 0, max_vector_time_ns);
  const std::uint64_t reference = header_number(header, "zero_vruntime", 0, any_u64);
  return std::make_unique<eevdf_driver>(config, start, reference);
}

}  // namespace vlag

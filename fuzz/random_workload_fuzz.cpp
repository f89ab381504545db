// SPDX-License-Identifier: Apache-2.0
//
// A random workload (the input says which) under every profile, with what must hold for any
// workload checked: no CPU idles while a task waits for it, no task is on two CPUs or lost, times
// add up, queues agree with themselves, and the same run gives the same figures again.
#include "fuzz_input.hpp"
#include "input/input_error.hpp"
#include "workload/random_workload.hpp"
#include "workload/rtapp_run.hpp"

#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

constexpr std::uint64_t span_ns = 200'000'000;
constexpr std::uint64_t looks = 25;  // at the queues

std::string running;  // what is under way, for the message

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s: broken: %s\n", running.c_str(), what);
  std::abort();
}

class auditor final : public vlag::machine_observer {
 public:
  explicit auditor(unsigned cpus) : current_(cpus, vlag::no_task), waiting_(cpus), since_(cpus) {}

  void on_wakeup(std::uint64_t at_ns, unsigned cpu, std::uint32_t woken,
                 std::uint32_t /*waker*/) override {
    advance(at_ns);
    for (const auto& waiting : waiting_) must(!waiting.contains(woken), "woken while it waits");
    for (const std::uint32_t task : current_) must(task != woken, "woken while it runs");
    waiting_[cpu].insert(woken);
  }
  void on_switch(std::uint64_t at_ns, unsigned cpu, std::uint32_t previous, bool runnable,
                 std::uint32_t next) override {
    advance(at_ns);
    must(current_[cpu] == previous, "another task than that which came left the CPU");
    if (previous == vlag::no_task) {
      idle_ns_ += at_ns - since_[cpu];
    } else {
      ran_ns_[previous] += at_ns - since_[cpu];
      if (runnable) waiting_[cpu].insert(previous);
    }
    if (next != vlag::no_task) must(waiting_[cpu].erase(next) == 1, "came without waiting there");
    current_[cpu] = next;
    since_[cpu] = at_ns;
  }
  void on_end(std::uint64_t at_ns) override {
    advance(at_ns + 1);
    for (std::size_t cpu = 0; cpu < current_.size(); ++cpu) {
      (current_[cpu] == vlag::no_task ? idle_ns_ : ran_ns_[current_[cpu]]) += at_ns - since_[cpu];
    }
  }
  void check(const vlag::run_figures& figures) const {
    std::uint64_t busy_ns = 0;
    std::uint64_t idle_ns = 0;
    for (const vlag::cpu_figures& c : figures.cpus) {
      must(c.busy_ns + c.idle_ns == figures.to_ns, "busy and idle time are not all time");
      busy_ns += c.busy_ns;
      idle_ns += c.idle_ns;
    }
    must(idle_ns == idle_ns_, "idle time");
    std::uint64_t ran_ns = 0;
    for (const vlag::task_figures& t : figures.tasks) {
      ran_ns += t.cpu_ns;
      const auto seen = ran_ns_.find(static_cast<std::uint32_t>(t.pid) - 1);
      must(t.cpu_ns == (seen == ran_ns_.end() ? 0 : seen->second), "CPU time of a task");
      must(t.cpu_ns + t.sleep_ns + t.wake_latency.sum_ns() + t.preempt_wait.sum_ns() <=
               figures.to_ns,
           "running, sleeping and waiting take longer than the run");
      const std::uint64_t left = t.voluntary + t.involuntary;
      must(t.switches_in == left || t.switches_in == left + 1,
           "a task came more often than it left");
    }
    must(ran_ns == busy_ns, "CPU time of tasks and busy time of CPUs differ");
    for (const auto& [what, count] : figures.anomalies)
      must(what != "sums wrapped", "sums wrapped");
  }

 private:
  void advance(std::uint64_t at_ns) {
    must(at_ns >= now_ns_, "time went back");
    if (at_ns == now_ns_) return;
    for (std::size_t cpu = 0; cpu < current_.size(); ++cpu) {
      must(current_[cpu] != vlag::no_task || waiting_[cpu].empty(), "idle while a task waits");
    }
    now_ns_ = at_ns;
  }

  std::uint64_t now_ns_ = 0;
  std::uint64_t idle_ns_ = 0;
  std::vector<std::uint32_t> current_;
  std::vector<std::set<std::uint32_t>> waiting_;
  std::vector<std::uint64_t> since_;
  std::map<std::uint32_t, std::uint64_t> ran_ns_;
};

void check_order(const vlag::queue_view& q, bool by_deadline) {
  const vlag::entity_view* before = nullptr;
  for (const vlag::entity_view& e : q.entities) {
    if (e.running) continue;
    if (before != nullptr) {
      const std::uint64_t later = by_deadline ? e.deadline : e.vruntime;
      const std::uint64_t earlier = by_deadline ? before->deadline : before->vruntime;
      must(static_cast<std::int64_t>(later - earlier) >= 0, "order of a queue");
    }
    before = &e;
  }
}

__extension__ using wide = __int128;

// V is the average of the vruntimes by weight, so lags by weight add up to 0 but for its rounding.
void check_lags(const vlag::queue_view& q) {
  wide sum = 0;
  wide weights = 0;
  for (const vlag::entity_view& e : q.entities) {
    must(e.queued, "on a queue without being queued");
    const wide weight = static_cast<wide>(e.weight.full);
    sum += weight * e.lag;
    weights += weight;
    must(e.eligible == (e.lag >= 0), "eligible by its lag");
  }
  must(sum < weights + 1 && sum > -weights - 1, "lags do not add up to 0");
}

void check_queue(const vlag::queue_view& q, bool paper) {
  must(q.nr_queued == q.entities.size(), "number of entities");
  must(q.h_nr_runnable <= q.h_nr_queued, "more runnable tasks than queued");
  std::uint64_t load = 0;
  std::uint32_t at_work = 0;
  for (const vlag::entity_view& e : q.entities) {
    load += e.weight.full;
    at_work += e.running ? 1 : 0;
  }
  must(at_work <= 1, "two entities of a queue run");
  must(paper || load == q.load, "load is not the sum of weights");
  const bool eevdf = q.engine == vlag::fair_engine::eevdf;
  if (!paper) check_order(q, eevdf);
  if (eevdf && !paper) check_lags(q);
}

void look(const vlag::machine_snapshot& s, bool paper) {
  std::uint32_t running_tasks = 0;
  for (const vlag::task_view& t : s.tasks) {
    running_tasks += t.phase == vlag::task_phase::running ? 1 : 0;
  }
  for (const vlag::cpu_view& c : s.cpus) {
    running_tasks -= c.idle ? 0 : 1;
    for (const vlag::queue_view& q : c.queues) check_queue(q, paper);
  }
  must(running_tasks == 0, "tasks that run and CPUs that are busy differ");
}

void check(const vlag::rtapp_workload& w, const char* profile) {
  const auto variant = vlag::parse_variant(profile, {}, w.cpus, w.block.machine.tick_ns);
  vlag::rtapp_run_options options;
  options.duration_ns = span_ns;
  auditor audit(w.cpus);
  const vlag::run_figures figures = vlag::run_rtapp(w, variant, options, {}, &audit);
  audit.check(figures);

  const bool paper = std::string_view(profile) == "paper95";
  const auto again = vlag::run_rtapp_to(w, variant, options, 0);
  for (std::uint64_t n = 1; n <= looks; ++n) {
    static_cast<void>(again->run_until(figures.to_ns * n / looks));
    look(again->snapshot(), paper);
  }
  const vlag::run_figures second = again->figures();
  for (std::size_t i = 0, j = 0; i < figures.tasks.size(); ++i, ++j) {
    while (second.tasks[j].pid != figures.tasks[i].pid) ++j;
    must(figures.tasks[i].cpu_ns == second.tasks[j].cpu_ns &&
             figures.tasks[i].switches_in == second.tasks[j].switches_in,
         "another run of the same");
  }
}

vlag::random_request request_of(const std::uint8_t* data, std::size_t size) {
  const auto byte = [&](std::size_t i) { return i < size ? data[i] : std::uint8_t{0}; };
  vlag::random_request r;
  r.tasks = 1U + byte(0) % 16U;
  r.cpus = 1U + byte(1) % 4U;
  r.groups = byte(2) % 7U;
  r.rt = byte(3) % 60U;
  r.sync = (byte(4) & 1) != 0;
  r.fork = (byte(4) & 2) != 0;
  r.policies = (byte(4) & 4) != 0;
  for (std::size_t i = 5; i < size; ++i) r.seed = r.seed * 257 + data[i];
  return r;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = vlag::random_workload_text(request_of(data, size));
  const vlag::rtapp_workload w = vlag::parse_rtapp(text, "random", {});
  for (const char* const profile :
       {"linux-6.12", "linux-6.6", "linux-6.1", "eevdf-rfc", "paper95"}) {
    running = text + profile;
    check(w, profile);
  }
  return 0;
}

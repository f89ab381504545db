// SPDX-License-Identifier: Apache-2.0
#include "workload/recorded_tick.hpp"

#include <algorithm>
#include <vector>

namespace vlag {
namespace {

using trace::event;
using trace::event_kind;

// A tick handler runs that long before the switch that it causes.
constexpr std::uint64_t tick_to_switch_ns = 3'000;
// A switch that follows a wake-up within that time may be due to it.
constexpr std::uint64_t wakeup_effect_ns = 50'000;
// Moments of the same tick lie within that span.
constexpr std::uint64_t cluster_ns = 30'000;
// Fewer moments than that are no evidence.
constexpr std::size_t min_moments = 3;
// A task that waited longer than that for the CPU was not switched to by its wake-up.
constexpr std::uint64_t max_switch_delay_ns = 50'000;

// The residue that begins the fullest cluster, circularly; the cluster's size.
std::pair<std::uint64_t, std::size_t> fullest_cluster(std::vector<std::uint64_t> residues,
                                                      std::uint64_t modulus) {
  std::sort(residues.begin(), residues.end());
  const std::size_t n = residues.size();
  std::size_t best = 0;
  std::size_t best_size = 0;
  std::size_t end = 0;
  for (std::size_t i = 0; i < n; ++i) {
    end = std::max(end, i);
    while (end < i + n) {
      const std::uint64_t at = residues[end % n] + (end >= n ? modulus : 0);
      if (at - residues[i] > cluster_ns) break;
      ++end;
    }
    if (end - i > best_size) {
      best_size = end - i;
      best = i;
    }
  }
  return {n == 0 ? 0 : residues[best], best_size};
}

struct moments {
  std::vector<std::uint64_t> softirq_wakeups;
  std::vector<std::uint64_t> tick_switches;
  std::uint64_t busy_delay_sum = 0, busy_delays = 0;
  std::uint64_t idle_delay_sum = 0, idle_delays = 0;
};

struct cpu_view {
  std::uint64_t last_wakeup_ns = 0;
  std::int32_t last_woken_pid = 0;
  bool woken_seen = false;
};

void see_switch(const event& e, cpu_view& cpu, std::uint64_t tick_ns, moments& out) {
  const std::uint64_t since_wakeup = e.time_ns - cpu.last_wakeup_ns;
  if (cpu.woken_seen && e.other_pid == cpu.last_woken_pid && since_wakeup <= max_switch_delay_ns) {
    if (e.pid == 0) {
      out.idle_delay_sum += since_wakeup;
      ++out.idle_delays;
    } else if (e.prev_state.runnable()) {
      out.busy_delay_sum += since_wakeup;
      ++out.busy_delays;
    }
  }
  if (e.pid != 0 && e.prev_state.runnable() &&
      (!cpu.woken_seen || since_wakeup > wakeup_effect_ns)) {
    out.tick_switches.push_back(e.time_ns % tick_ns);
  }
}

moments collect(const trace::recording& recording, std::uint64_t tick_ns) {
  moments found;
  std::vector<cpu_view> cpus(recording.cpus);
  for (const event& e : recording.events) {
    cpu_view& cpu = cpus.at(e.cpu);
    if (e.kind == event_kind::wakeup) {
      if (e.context == trace::context_kind::softirq) {
        found.softirq_wakeups.push_back(e.time_ns % tick_ns);
      }
      cpu_view& target = e.target_cpu >= 0 && static_cast<unsigned>(e.target_cpu) < recording.cpus
                             ? cpus[static_cast<std::size_t>(e.target_cpu)]
                             : cpu;
      target.last_wakeup_ns = e.time_ns;
      target.last_woken_pid = e.pid;
      target.woken_seen = true;
    } else if (e.kind == event_kind::sched_switch) {
      see_switch(e, cpu, tick_ns, found);
    }
  }
  return found;
}

}  // namespace

void infer_ticks(const trace::recording& recording, const recorded_span& span,
                 recorded_machine& out) {
  const moments found = collect(recording, out.tick_ns);
  if (found.busy_delays != 0) out.switch_delay_ns = found.busy_delay_sum / found.busy_delays;
  out.idle_switch_delay_ns =
      found.idle_delays != 0 ? found.idle_delay_sum / found.idle_delays : out.switch_delay_ns;
  if (found.busy_delays == 0) out.switch_delay_ns = out.idle_switch_delay_ns;

  const auto [soft, softs] = fullest_cluster(found.softirq_wakeups, out.tick_ns);
  const auto [switched, switches] = fullest_cluster(found.tick_switches, out.tick_ns);
  if (softs < min_moments && switches < min_moments) return;
  // Where both speak, a tick's switch comes first: the wake-up in softirq follows it.
  const std::uint64_t shown = softs >= min_moments ? soft : switched;
  const std::uint64_t tick = shown + out.tick_ns - tick_to_switch_ns;
  out.tick_phase_known = true;
  out.tick_timer_delay_ns = tick_to_switch_ns;
  out.tick_phase_ns = (tick + out.tick_ns - span.from_ns % out.tick_ns) % out.tick_ns;
}

}  // namespace vlag

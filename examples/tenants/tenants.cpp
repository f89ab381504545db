// SPDX-License-Identifier: Apache-2.0
//
// An event loop that serves three tenants. A request arrives for one of them, waits, and is worked
// on until the loop says that another tenant is due. Weights (nice) share the time under load;
// latency_nice says who is served soon after a request arrives, at no cost in share. Time is
// simulated, so that the output is always the same; a server would read a clock.
#include "vlag/attr.hpp"

#include <array>
#include <cstdio>

using namespace vlag;

constexpr std::uint64_t us = 1'000, ms = 1'000'000, end = 10'000 * ms;

struct tenant : task {
  const char* name;
  int nice, latency;
  std::uint64_t every, work;  // a request of so much work arrives every so often
  std::uint64_t next_arrival = 0, backlog = 0, oldest = 0, served = 0, longest_wait = 0;
  bool waits = false;
};

int main() {
  alignas(64) static std::array<std::byte, 16'384> memory;
  if (timeline_storage::required_bytes(3) > memory.size()) return 1;
  timeline_storage storage(memory, 3);
  eevdf_config config;
  config.base_slice_ns = 3 * ms;
  fair_class fair(config, storage);
  std::array tenants = {tenant{{}, "gold", -5, 0, 3 * ms, 4 * ms},       // more work than time
                        tenant{{}, "basic", 0, 0, 3 * ms, 4 * ms},       // the same
                        tenant{{}, "chat", 0, -15, 10 * ms, 500 * us}};  // little, but at once

  std::uint64_t now = 0;
  for (tenant& t : tenants) {
    set_initial_attributes(t, sched_policy::normal, t.nice);
    sched_attr wanted;
    wanted.nice = t.nice;
    wanted.flags = sched_flag::latency_nice;
    wanted.latency_nice = t.latency;
    if (!fair.join_asleep(t, now)) return 1;
    if (set_attr(fair, &t, wanted, now) != attr_error::none) return 1;
  }

  for (task* running = nullptr; now < end;) {
    for (tenant& t : tenants) {  // what has arrived
      if (t.next_arrival > now) continue;
      if (t.backlog == 0) {
        t.waits = true;
        t.oldest = now;
        fair.wake(t, now);
      }
      t.backlog += t.work;
      t.next_arrival += t.every;
    }
    if (fair.need_resched() || running == nullptr) running = fair.schedule(now);
    if (running != nullptr) {
      tenant& t = *static_cast<tenant*>(running);
      if (t.waits && now - t.oldest > t.longest_wait) t.longest_wait = now - t.oldest;
      t.waits = false;
      t.backlog -= 100 * us;  // serve it for a while
      t.served += 100 * us;
    }
    now += 100 * us;
    fair.tick(now);
    if (running != nullptr && static_cast<tenant*>(running)->backlog == 0) {
      fair.block(now);
      running = fair.schedule(now);
    }
  }
  for (const tenant& t : tenants) {
    std::printf("%-5s nice %3d, latency_nice %3d: %4.1f %% of the time, waits up to %.1f ms\n",
                t.name, t.nice, t.latency,
                100.0 * static_cast<double>(t.served) / static_cast<double>(end),
                static_cast<double>(t.longest_wait) / ms);
  }
}

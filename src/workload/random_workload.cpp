// SPDX-License-Identifier: Apache-2.0
#include "workload/random_workload.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "input/input_error.hpp"
#include "input/printable.hpp"

namespace vlag {
namespace {

// splitmix64: its sequence is the same with every standard library.
class dice {
 public:
  explicit dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + below(high - low + 1);
  }
  bool chance(unsigned per_cent) { return below(100) < per_cent; }
  // Short ones are as likely as long ones.
  std::uint64_t us(unsigned most_bits) {
    return 1 + below(std::uint64_t{1} << between(0, most_bits));
  }

 private:
  std::uint64_t state_;
};

constexpr unsigned objects = 3;  // of each kind
constexpr unsigned most_phases = 3;
constexpr unsigned most_events = 6;
constexpr unsigned longest_bits = 14;  // of a run or a sleep, us

class writer {
 public:
  explicit writer(const random_request& request) : request_(request), dice_(request.seed) {}

  std::string text() {
    for (unsigned g = 0; g < request_.groups; ++g) {
      const bool nested = g > 0 && dice_.chance(50);
      groups_.push_back((nested ? groups_[dice_.below(g)] : std::string()) +
                        fmt::format("/g{}", g));
    }
    text_ = "{\n  \"tasks\": {\n";
    for (unsigned i = 0; i < request_.tasks; ++i) task(fmt::format("t{}", i));
    if (request_.fork) task("child");
    keeper();
    text_ += fmt::format("  }},\n  \"global\": {{ \"duration\": {}, \"pi_enabled\": {} }}\n}}\n",
                         request_.duration_s, dice_.chance(50));
    return std::move(text_);
  }

 private:
  void key(std::string_view name) { text_ += fmt::format("\"{}\": ", name); }
  void setting(std::string_view name, std::uint64_t value) {
    text_ += fmt::format("\"{}\": {}, ", name, value);
  }
  void event(std::string_view name, std::uint64_t value) { setting(name, value); }
  void event(std::string_view name, std::string_view value) {
    text_ += fmt::format("\"{}\": \"{}\", ", name, value);
  }
  std::string object(std::string_view kind) {
    return fmt::format("{}{}", kind, dice_.below(objects));
  }

  void task(const std::string& name) {
    const bool child = name == "child";
    met_ = false;
    real_time_ = !child && dice_.chance(request_.rt);
    text_ += fmt::format("    \"{}\": {{ ", name);
    if (child) setting("instance", 0);
    if (!child && dice_.chance(20)) setting("delay", dice_.us(longest_bits));
    text_ += fmt::format("\"loop\": {}, ", child ? 1 : -1);
    scheduling(true);
    text_ += "\"phases\": {\n";
    const std::uint64_t phases = dice_.between(1, most_phases);
    for (std::uint64_t p = 0; p < phases; ++p) phase(p, child);
    text_ += "    } },\n";
  }

  void phase(std::uint64_t number, bool child) {
    text_ += fmt::format("      \"p{}\": {{ \"loop\": {}, ", number, dice_.between(1, 4));
    if (request_.policies && dice_.chance(40)) scheduling(false);
    const std::uint64_t events = dice_.between(1, most_events);
    for (std::uint64_t e = 0; e < events; ++e) one_event(child);
    event("run", dice_.us(longest_bits));  // time passes in every phase
    // Real-time tasks leave something to the others.
    if (real_time_) event("sleep", 1'000 + dice_.us(longest_bits));
    text_ += "},\n";
  }

  void scheduling(bool whole_task) {
    if (real_time_) {
      event("policy", dice_.chance(50) ? "SCHED_FIFO" : "SCHED_RR");
      setting("priority", dice_.between(1, 99));
    } else {
      constexpr std::array<std::string_view, 3> fair{"SCHED_OTHER", "SCHED_BATCH", "SCHED_IDLE"};
      event("policy", fair[dice_.chance(70) ? 0 : dice_.below(fair.size())]);
      text_ += fmt::format("\"priority\": {}, ", static_cast<int>(dice_.below(40)) - 20);
      if (dice_.chance(30)) setting("dl-runtime", dice_.between(50, 120'000));
      if (!groups_.empty() && dice_.chance(60)) {
        event("taskgroup", dice_.chance(10) ? "/" : groups_[dice_.below(groups_.size())]);
      }
    }
    if (request_.cpus > 1 && (!whole_task || dice_.chance(50))) {
      text_ += fmt::format("\"cpus\": [{}], ", dice_.below(request_.cpus));
    }
    if (dice_.chance(5)) setting("util_min", dice_.below(1025));
  }

  void one_event(bool child) {
    switch (dice_.below(request_.sync ? 16 : 8)) {
      case 0:
      case 1:
        return event("run", dice_.us(longest_bits));
      case 2:
        return event("runtime", dice_.us(longest_bits - 2));
      case 3:
        return event("sleep", dice_.chance(10) ? 0 : dice_.us(longest_bits));
      case 4:
        return timer();
      case 5:
        return event("yield", "");
      case 6:
        if (request_.fork && !child && dice_.chance(20)) return fork_slowly();
        return memory();
      case 7:
        return memory();
      case 8:
      case 9:
        return section();
      case 10:
        return event("sem_wait", object("s"));
      case 11:
        return event("sem_post", object("s"));
      case 12:
        return dice_.chance(50) ? event("suspend", object("c")) : event("resume", object("c"));
      case 13:
        return wait();
      case 14:
        return dice_.chance(50) ? event("signal", object("c")) : event("broad", object("c"));
      default:
        // One, once a task: each comes there in the end.
        if (child || met_) return event("run", dice_.us(longest_bits));
        met_ = true;
        return event("barrier", "b");
    }
  }

  void timer() {
    constexpr std::array<std::string_view, 3> refs{"unique1", "unique2", "shared"};
    text_ += fmt::format("\"timer\": {{ \"ref\": \"{}\", \"period\": {}, \"mode\": \"{}\" }}, ",
                         refs[dice_.below(refs.size())], dice_.us(longest_bits),
                         dice_.chance(50) ? "relative" : "absolute");
  }

  void memory() {
    if (dice_.chance(30)) {
      text_ += fmt::format("\"memrun\": {{ \"type\": \"read\", \"size\": 4096, \"count\": {} }}, ",
                           dice_.us(12));
    } else {
      event(dice_.chance(50) ? "mem" : "iorun", dice_.us(20));
    }
  }

  // So that no more are forked than rt-app allows.
  void fork_slowly() {
    event("fork", "child");
    event("sleep", 20'000U * request_.tasks * request_.duration_s);
  }

  void section() {
    const std::string name = object("m");
    event("lock", name);
    if (dice_.chance(70)) event("run", dice_.us(longest_bits - 4));
    if (dice_.chance(10)) event("sleep", dice_.us(longest_bits - 2));
    event("unlock", name);
  }

  void wait() {
    const std::string name = object("m");
    event("lock", name);
    text_ += fmt::format("\"{}\": {{ \"ref\": \"{}\", \"mutex\": \"{}\" }}, ",
                         dice_.chance(50) ? "wait" : "sync", object("c"), name);
    event("unlock", name);
  }

  // Keeps waking whoever waits for a semaphore or a condition, so that the others go on.
  void keeper() {
    text_ += "    \"keeper\": { \"loop\": -1, \"policy\": \"SCHED_OTHER\", ";
    event("run", 20);
    for (unsigned i = 0; request_.sync && i < objects; ++i) {
      event("sem_post", fmt::format("s{}", i));
      event("broad", fmt::format("c{}", i));
      const std::string mutex = fmt::format("m{}", i);
      event("lock", mutex);
      event("unlock", mutex);
    }
    event("sleep", 3'000);
    text_ += "}\n";
  }

  const random_request& request_;
  dice dice_;
  std::vector<std::string> groups_;
  std::string text_;
  bool real_time_ = false;  // the task that is written
  bool met_ = false;        // it has its barrier
};

struct bound {
  std::string_view key;
  std::uint64_t low;
  std::uint64_t high;
};

constexpr std::array<bound, 9> bounds{{{"tasks", 1, 1'000},
                                       {"seed", 0, ~std::uint64_t{0}},
                                       {"cpus", 1, 64},
                                       {"groups", 0, 64},
                                       {"rt", 0, 100},
                                       {"sync", 0, 1},
                                       {"fork", 0, 1},
                                       {"policies", 0, 1},
                                       {"duration", 1, 1'000}}};

void set(random_request& r, std::string_view key, std::uint64_t value) {
  const auto number = static_cast<unsigned>(value);
  if (key == "tasks") r.tasks = number;
  if (key == "seed") r.seed = value;
  if (key == "cpus") r.cpus = number;
  if (key == "groups") r.groups = number;
  if (key == "rt") r.rt = number;
  if (key == "sync") r.sync = value != 0;
  if (key == "fork") r.fork = value != 0;
  if (key == "policies") r.policies = value != 0;
  if (key == "duration") r.duration_s = value;
}

void read_one(random_request& r, std::string_view item) {
  const std::size_t equals = item.find('=');
  const std::string_view key = item.substr(0, equals);
  for (const bound& b : bounds) {
    if (b.key != key) continue;
    const std::string_view digits = equals == item.npos ? "" : item.substr(equals + 1);
    std::uint64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value);
    if (digits.empty() || read.ec != std::errc{} || read.ptr != end || value < b.low ||
        value > b.high) {
      throw input_error(fmt::format("random:{}: expected {}= and a number from {} to {}",
                                    printable(item), key, b.low, b.high));
    }
    set(r, key, value);
    return;
  }
  std::string known;
  for (const bound& b : bounds) known += fmt::format("{}{}", known.empty() ? "" : ", ", b.key);
  throw input_error(
      fmt::format("random:{}: expected one of {}, with = and a number", printable(item), known));
}

}  // namespace

random_request parse_random_request(std::string_view text) {
  random_request result;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    read_one(result, text.substr(0, comma));
    text = comma == text.npos ? std::string_view() : text.substr(comma + 1);
  }
  return result;
}

std::string random_workload_text(const random_request& request) { return writer(request).text(); }

}  // namespace vlag

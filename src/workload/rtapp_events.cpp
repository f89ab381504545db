// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "input/printable.hpp"
#include "workload/rtapp_builder.hpp"

namespace vlag {
namespace {

// What touching memory and writing to a device take, as CPU time: 10 and 2 bytes a ns.
constexpr std::int64_t mem_bytes_per_ns = 10;
constexpr std::int64_t io_bytes_per_ns = 2;

// One letter more, less, or another.
bool one_edit_apart(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1) return false;
  std::size_t same = 0;
  while (same < a.size() && a[same] == b[same]) ++same;
  const std::size_t rest = a.size() == b.size() ? same + 1 : same;
  return a.substr(std::min(rest, a.size())) == b.substr(std::min(same + 1, b.size()));
}

}  // namespace

// In the order in which rt-app compares a key's beginning with them.
const std::vector<rtapp_builder::event_row>& rtapp_builder::event_rows() {
  static const std::vector<event_row> rows{
      {"lock", &rtapp_builder::make_lock},         {"unlock", &rtapp_builder::make_unlock},
      {"wait", &rtapp_builder::make_wait},         {"signal", &rtapp_builder::make_signal},
      {"broad", &rtapp_builder::make_broad},       {"sync", &rtapp_builder::make_sync},
      {"sleep", &rtapp_builder::make_sleep},       {"runtime", &rtapp_builder::make_runtime},
      {"run", &rtapp_builder::make_run},           {"timer", &rtapp_builder::make_timer},
      {"suspend", &rtapp_builder::make_suspend},   {"resume", &rtapp_builder::make_resume},
      {"memrun", &rtapp_builder::make_memrun},     {"mem", &rtapp_builder::make_mem},
      {"iorun", &rtapp_builder::make_iorun},       {"yield", &rtapp_builder::make_yield},
      {"barrier", &rtapp_builder::make_barrier},   {"fork", &rtapp_builder::make_fork},
      {"sem_post", &rtapp_builder::make_sem_post}, {"sem_wait", &rtapp_builder::make_sem_wait}};
  return rows;
}

std::string_view rtapp_event_of(std::string_view key) {
  for (const auto& row : rtapp_builder::event_rows()) {
    if (key.starts_with(row.prefix)) return row.prefix;
  }
  return {};
}

std::string_view rtapp_event_like(std::string_view key) {
  for (const auto& row : rtapp_builder::event_rows()) {
    if (one_edit_apart(key, row.prefix)) return row.prefix;
  }
  return {};
}

void rtapp_builder::make_events(const rtapp_value& phase) {
  bool any = false;
  for (const rtapp_member& m : phase.members) {
    if (is_setting(m.key)) continue;
    const auto row = std::find_if(event_rows().begin(), event_rows().end(),
                                  [&](const event_row& r) { return m.key.starts_with(r.prefix); });
    if (row == event_rows().end()) continue;
    any = true;
    if (m.value.is == type::missing && row->prefix != "suspend") {
      fail(m.place, fmt::format("\"{}\" has no value; only \"suspend\" may lack one; expected :",
                                printable(m.key)));
    }
    (this->*row->make)(m);
  }
  if (!any) fail(phase.place, "no events; expected at least one");
}

void rtapp_builder::emit(text_place place, op_kind kind, std::uint32_t target,
                         std::uint64_t value) {
  if (++steps_ > max_rtapp_steps) {
    fail(place, fmt::format("more than {} events in all tasks; expected fewer", max_rtapp_steps));
  }
  setup_.steps.push_back({kind, target, value});
  places_.push_back(place);
}

// ---- Time

void rtapp_builder::make_run(const rtapp_member& m) { emit(m.place, op_kind::run, 0, us_of(m)); }

void rtapp_builder::make_runtime(const rtapp_member& m) {
  emit(m.place, op_kind::busy, 0, us_of(m));
  emit(m.place, op_kind::busy_chunk);
}

void rtapp_builder::make_sleep(const rtapp_member& m) {
  emit(m.place, op_kind::sleep, 0, us_of(m));
}

void rtapp_builder::make_mem(const rtapp_member& m) {
  const std::int64_t bytes = integer(m.value, m.key, 0, max_us);
  emit(m.place, op_kind::run, 0, static_cast<std::uint64_t>(bytes / mem_bytes_per_ns));
}

void rtapp_builder::make_iorun(const rtapp_member& m) {
  const std::int64_t bytes = integer(m.value, m.key, 0, max_us);
  emit(m.place, op_kind::run, 0, static_cast<std::uint64_t>(bytes / io_bytes_per_ns));
}

void rtapp_builder::make_memrun(const rtapp_member& m) {
  need(m.value, type::object, m.key);
  const std::string& how = string_in(m.value, "type", m.key);
  if (how != "read" && how != "write" && how != "chase") {
    fail(m.value.place,
         fmt::format("memrun type \"{}\"; expected read, write or chase", printable(how)));
  }
  static_cast<void>(integer_in(m.value, "size", 0, 0, max_us));
  const std::int64_t count = integer_in(m.value, "count", 0, 0, max_us);
  const std::int64_t stride = integer_in(m.value, "stride", 64, 1, 1 << 20);
  emit(m.place, op_kind::run, 0, static_cast<std::uint64_t>(count * stride / mem_bytes_per_ns));
}

void rtapp_builder::make_timer(const rtapp_member& m) {
  need(m.value, type::object, m.key);
  std::string ref = "unknown";
  if (find(m.value, "ref") != nullptr) ref = string_in(m.value, "ref", m.key);
  const std::int64_t us = integer_in(m.value, "period", 0, 0, max_us);
  op_kind kind = op_kind::timer;
  if (const rtapp_value* mode = find(m.value, "mode")) {
    need(*mode, type::string, "mode");
    if (mode->text != "relative" && mode->text != "absolute") {
      fail(mode->place,
           fmt::format("timer mode \"{}\"; expected relative or absolute", printable(mode->text)));
    }
    if (mode->text == "absolute") kind = op_kind::timer_absolute;
  }
  const bool own = ref.starts_with("unique");
  emit(m.place, kind, number_of(own ? unique_timers_ : timers_, ref, result_.timers),
       static_cast<std::uint64_t>(us) * ns_per_us);
}

// ---- Waiting for each other

void rtapp_builder::make_lock(const rtapp_member& m) {
  emit(m.place, op_kind::lock, mutex(string_of(m)));
}

void rtapp_builder::make_unlock(const rtapp_member& m) {
  emit(m.place, op_kind::unlock, mutex(string_of(m)));
}

void rtapp_builder::make_wait(const rtapp_member& m) {
  need(m.value, type::object, m.key);
  const std::uint32_t cond = condition(string_in(m.value, "ref", m.key));
  const std::uint32_t with = mutex(string_in(m.value, "mutex", m.key));
  emit(m.place, op_kind::cond_wait, cond, with);
  emit(m.place, op_kind::lock, with);
}

void rtapp_builder::make_sync(const rtapp_member& m) {
  need(m.value, type::object, m.key);
  emit(m.place, op_kind::cond_signal, condition(string_in(m.value, "ref", m.key)));
  make_wait(m);
}

void rtapp_builder::make_signal(const rtapp_member& m) {
  emit(m.place, op_kind::cond_signal, condition(string_of(m)));
}

void rtapp_builder::make_broad(const rtapp_member& m) {
  emit(m.place, op_kind::cond_broadcast, condition(string_of(m)));
}

void rtapp_builder::make_suspend(const rtapp_member& m) {
  suspended_.insert(task_name_);
  if (m.value.is == type::string && m.value.text != task_name_ && !m.value.text.empty()) {
    warn_once(m, fmt::format("waits to be resumed as \"{}\", its task's name, whatever the value",
                             printable(task_name_)));
  }
  emit(m.place, op_kind::cond_wait, condition("task " + task_name_), no_mutex);
}

void rtapp_builder::make_resume(const rtapp_member& m) {
  resumed_.try_emplace(string_of(m), m.place);
  emit(m.place, op_kind::cond_broadcast, condition("task " + string_of(m)));
}

void rtapp_builder::make_yield(const rtapp_member& m) { emit(m.place, op_kind::yield); }

void rtapp_builder::make_barrier(const rtapp_member& m) {
  emit(m.place, op_kind::barrier, barriers_.at(string_of(m)));
}

void rtapp_builder::make_fork(const rtapp_member& m) {
  const fork_pool pool = pools_.at(m.value.text);
  emit(m.place, op_kind::fork_next, pool.first, pool.count);
}

void rtapp_builder::make_sem_post(const rtapp_member& m) {
  emit(m.place, op_kind::sem_post, semaphore(string_of(m)));
}

void rtapp_builder::make_sem_wait(const rtapp_member& m) {
  emit(m.place, op_kind::sem_wait, semaphore(string_of(m)));
}

// ---- Names

std::uint32_t rtapp_builder::number_of(numbers& known, const std::string& name,
                                       std::uint32_t& next) {
  const auto [at, is_new] = known.try_emplace(name, next);
  if (is_new) ++next;
  return at->second;
}

std::uint32_t rtapp_builder::mutex(const std::string& name) {
  auto next = static_cast<std::uint32_t>(result_.mutexes.size());
  const std::uint32_t number = number_of(mutexes_, name, next);
  if (next > result_.mutexes.size()) result_.mutexes.push_back(mutexes_are_);
  return number;
}

std::uint32_t rtapp_builder::condition(const std::string& name) {
  return number_of(conditions_, name, result_.conditions);
}

std::uint32_t rtapp_builder::semaphore(const std::string& name) {
  return number_of(semaphores_, name, result_.semaphores);
}

}  // namespace vlag

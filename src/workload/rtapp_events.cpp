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
  static const std::vector<event_row> rows{{"lock", &rtapp_builder::make_lock},
                                           {"unlock", &rtapp_builder::make_unlock},
                                           {"wait", &rtapp_builder::make_wait},
                                           {"signal", &rtapp_builder::make_signal},
                                           {"broad", &rtapp_builder::make_broad},
                                           {"sync", &rtapp_builder::make_sync},
                                           {"sleep", &rtapp_builder::make_sleep},
                                           {"runtime", &rtapp_builder::make_runtime},
                                           {"run", &rtapp_builder::make_run},
                                           {"timer", &rtapp_builder::make_timer},
                                           {"suspend", &rtapp_builder::make_suspend},
                                           {"resume", &rtapp_builder::make_resume},
                                           {"memrun", &rtapp_builder::make_memrun},
                                           {"mem", &rtapp_builder::make_mem},
                                           {"iorun", &rtapp_builder::make_iorun},
                                           {"yield", &rtapp_builder::make_yield},
                                           {"barrier", &rtapp_builder::make_barrier},
                                           {"fork", &rtapp_builder::make_fork},
                                           {"sem_post", &rtapp_builder::make_sem_post},
                                           {"sem_wait", &rtapp_builder::make_sem_wait},
                                           // Not rt-app's.
                                           {"vlag_send_all", &rtapp_builder::make_send_all},
                                           {"vlag_send", &rtapp_builder::make_send},
                                           {"vlag_recv", &rtapp_builder::make_recv},
                                           {"vlag_kill", &rtapp_builder::make_kill},
                                           {"vlag_sleep_to", &rtapp_builder::make_sleep_to}};
  return rows;
}

const rtapp_builder::event_row* rtapp_builder::event_row_of(std::string_view key) {
  for (const event_row& row : event_rows()) {
    if (key.starts_with(row.prefix)) return &row;
  }
  return nullptr;
}

std::string_view rtapp_event_of(std::string_view key) {
  const auto* const row = rtapp_builder::event_row_of(key);
  return row == nullptr ? std::string_view() : row->prefix;
}

std::string_view rtapp_event_like(std::string_view key) {
  const std::size_t last = key.find_last_not_of("0123456789_");
  key = key.substr(0, last == key.npos ? 0 : last + 1);
  for (const auto& row : rtapp_builder::event_rows()) {
    if (one_edit_apart(key, row.prefix)) return row.prefix;
  }
  return {};
}

void rtapp_builder::make_events(const rtapp_value& phase) {
  bool any = false;
  for (const rtapp_member& m : phase.members) {
    if (is_setting(m.key)) continue;
    const event_row* const row = event_row_of(m.key);
    if (row == nullptr) continue;
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

void rtapp_builder::note(text_place place, rtapp_note what, std::uint64_t value) {
  if (!options_.notes) return;
  const bool chunks = what == rtapp_note::runtime_ends;
  emit(place, chunks ? op_kind::note_chunks : op_kind::note, static_cast<std::uint32_t>(what),
       value);
}

// ---- Time

void rtapp_builder::make_run(const rtapp_member& m) {
  const std::uint64_t ns = us_of(m);
  note(m.place, rtapp_note::run_begins, ns / ns_per_us);
  emit(m.place, op_kind::run, 0, ns);
  note(m.place, rtapp_note::run_ends, ns / ns_per_us);
}

void rtapp_builder::make_runtime(const rtapp_member& m) {
  const std::uint64_t ns = us_of(m);
  note(m.place, rtapp_note::run_begins, ns / ns_per_us);
  emit(m.place, op_kind::busy, 0, ns);
  emit(m.place, op_kind::busy_chunk);
  note(m.place, rtapp_note::runtime_ends);
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
  constexpr std::array<std::string_view, 6> known{"type",   "size",    "count",
                                                  "stride", "pattern", "ref"};
  for (const rtapp_member& inner : m.value.members) {
    if (std::find(known.begin(), known.end(), inner.key) == known.end()) unknown(inner);
  }
  if (const rtapp_value* pattern = find(m.value, "pattern")) {
    need(*pattern, type::string, "pattern");
    if (pattern->text != "random" && pattern->text != "sequential") {
      fail(pattern->place, fmt::format("memrun pattern \"{}\"; expected random or sequential",
                                       printable(pattern->text)));
    }
  }
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
  for (const rtapp_member& inner : m.value.members) {
    if (inner.key != "ref" && inner.key != "period" && inner.key != "mode") unknown(inner);
  }
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
  note(m.place, rtapp_note::timer_begins, static_cast<std::uint64_t>(us));
  emit(m.place, kind, number_of(own ? unique_timers_ : timers_, ref, result_.timers),
       static_cast<std::uint64_t>(us) * ns_per_us);
  note(m.place, rtapp_note::timer_ends);
}

// ---- Waiting for each other

void rtapp_builder::make_lock(const rtapp_member& m) {
  provide(named::mutex, string_of(m), m.place);
  emit(m.place, op_kind::lock, mutex(m.value.text));
}

void rtapp_builder::make_unlock(const rtapp_member& m) {
  require(named::mutex, string_of(m), m.value.place, "unlock");
  emit(m.place, op_kind::unlock, mutex(m.value.text));
}

void rtapp_builder::make_wait(const rtapp_member& m) {
  need(m.value, type::object, m.key);
  for (const rtapp_member& inner : m.value.members) {
    if (inner.key != "ref" && inner.key != "mutex") unknown(inner);
  }
  const std::string& cond = string_in(m.value, "ref", m.key);
  const std::string& with = string_in(m.value, "mutex", m.key);
  require(named::condition, cond, m.place, "wait");
  require(named::mutex, with, m.place, "wait");
  emit(m.place, op_kind::cond_wait, condition(cond), mutex(with));
  emit(m.place, op_kind::lock, mutex(with));
}

void rtapp_builder::make_sync(const rtapp_member& m) {
  need(m.value, type::object, m.key);
  const std::string& cond = string_in(m.value, "ref", m.key);
  provide(named::condition, cond, m.place);
  emit(m.place, op_kind::cond_signal, condition(cond));
  make_wait(m);
}

void rtapp_builder::make_signal(const rtapp_member& m) {
  provide(named::condition, string_of(m), m.place);
  emit(m.place, op_kind::cond_signal, condition(m.value.text));
}

void rtapp_builder::make_broad(const rtapp_member& m) {
  provide(named::condition, string_of(m), m.place);
  emit(m.place, op_kind::cond_broadcast, condition(m.value.text));
}

// Without a value it waits as its task's name, which workgen would write there.
void rtapp_builder::make_suspend(const rtapp_member& m) {
  if (m.value.is != type::missing) need(m.value, type::string, m.key);
  const std::string& name = m.value.is == type::missing ? task_name_ : m.value.text;
  require(named::condition, name, m.place, "suspend");
  emit(m.place, op_kind::cond_wait, condition(name), no_mutex);
}

void rtapp_builder::make_resume(const rtapp_member& m) {
  provide(named::condition, string_of(m), m.place);
  emit(m.place, op_kind::cond_broadcast, condition(m.value.text));
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
  provide(named::semaphore, string_of(m), m.place);
  emit(m.place, op_kind::sem_post, semaphore(m.value.text));
}

void rtapp_builder::make_sem_wait(const rtapp_member& m) {
  require(named::semaphore, string_of(m), m.place, "sem_wait");
  emit(m.place, op_kind::sem_wait, semaphore(m.value.text));
}

// ---- Names

void rtapp_builder::provide(named what, const std::string& name, text_place place) {
  uses& u = uses_[{what, name}];
  if (u.provided.line == 0) u.provided = place;
}

void rtapp_builder::require(named what, const std::string& name, text_place place,
                            std::string_view by) {
  uses& u = uses_[{what, name}];
  if (u.needed.line != 0) return;
  u.needed = place;
  u.by = by;
}

void rtapp_builder::check_names() {
  for (const auto& [key, u] : uses_) {
    const auto& [what, text] = key;
    const std::string name = printable(text);
    if (what == named::mutex && u.provided.line == 0) {
      fail(u.needed, fmt::format("{} of mutex \"{}\", which no task locks; expected a lock of it",
                                 u.by, name));
    }
    if (what == named::condition && u.provided.line == 0) {
      warn(u.needed, fmt::format("{} of \"{}\", which nobody wakes: waits for good", u.by, name));
    }
    if (what == named::condition && u.needed.line == 0) {
      warn(u.provided, fmt::format("nobody waits for \"{}\": this wakes nobody", name));
    }
    if (what == named::semaphore && u.provided.line == 0) {
      warn(u.needed, fmt::format("{} of \"{}\", which nobody posts: waits for good", u.by, name));
    }
  }
}

std::uint32_t rtapp_builder::number_of(numbers& known, const std::string& name,
                                       std::uint32_t& next) {
  const auto [at, is_new] = known.try_emplace(name, next);
  if (is_new) ++next;
  return at->second;
}

std::uint32_t rtapp_builder::mutex(const std::string& name) {
  auto next = static_cast<std::uint32_t>(result_.mutexes.size());
  const std::uint32_t number = number_of(mutexes_, name, next);
  if (next > result_.mutexes.size()) {
    result_.mutexes.push_back(mutexes_are_);
    result_.mutex_names.push_back(name);
  }
  return number;
}

std::uint32_t rtapp_builder::condition(const std::string& name) {
  const std::uint32_t number = number_of(conditions_, name, result_.conditions);
  if (number == result_.condition_names.size()) result_.condition_names.push_back(name);
  return number;
}

std::uint32_t rtapp_builder::semaphore(const std::string& name) {
  const std::uint32_t number = number_of(semaphores_, name, result_.semaphores);
  if (number == result_.semaphore_names.size()) result_.semaphore_names.push_back(name);
  return number;
}

}  // namespace vlag

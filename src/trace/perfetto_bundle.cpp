// SPDX-License-Identifier: Apache-2.0
#include "trace/perfetto_bundle.hpp"

#include "trace/ftrace_line.hpp"

#include <algorithm>
#include <limits>
#include <span>

namespace vlag::trace {
namespace {

constexpr std::size_t most_named_tasks = std::size_t{1} << 20;
constexpr std::size_t most_compact = std::size_t{1} << 22;  // of one packet

enum class slot : std::uint8_t {
  comm,
  pid,
  prio,
  state,
  other_comm,
  other_pid,
  other_prio,
  target_cpu,
  amount,
  text,
  unused,
};

// Fields 1, 2, 3… of the event's message.
struct known_event {
  unsigned field;  // of FtraceEvent
  event_kind kind;
  std::span<const slot> slots;
};

constexpr slot switch_slots[] = {slot::comm,       slot::pid,       slot::prio,      slot::state,
                                 slot::other_comm, slot::other_pid, slot::other_prio};
constexpr slot wake_slots[] = {slot::comm, slot::pid, slot::prio, slot::unused, slot::target_cpu};
constexpr slot cpu_slots[] = {slot::amount, slot::target_cpu};
constexpr slot print_slots[] = {slot::unused, slot::text};
constexpr slot exec_slots[] = {slot::text, slot::pid, slot::other_pid};
constexpr slot exit_slots[] = {slot::comm, slot::pid, slot::unused, slot::prio};
constexpr slot free_slots[] = {slot::comm, slot::pid, slot::prio};
constexpr slot fork_slots[] = {slot::other_comm, slot::other_pid, slot::comm, slot::pid};
constexpr slot migrate_slots[] = {slot::comm, slot::pid, slot::prio, slot::amount,
                                  slot::target_cpu};

constexpr known_event known_events[] = {
    {3, event_kind::marker, print_slots},        {4, event_kind::sched_switch, switch_slots},
    {11, event_kind::cpu_frequency, cpu_slots},  {13, event_kind::cpu_idle, cpu_slots},
    {17, event_kind::wakeup, wake_slots},        {20, event_kind::waking, wake_slots},
    {114, event_kind::wakeup_new, wake_slots},   {237, event_kind::exec, exec_slots},
    {238, event_kind::exit, exit_slots},         {239, event_kind::fork, fork_slots},
    {240, event_kind::process_free, free_slots}, {491, event_kind::migrate, migrate_slots},
};

const known_event* find_known(unsigned field) {
  const auto* found = std::find_if(std::begin(known_events), std::end(known_events),
                                   [field](const known_event& k) { return k.field == field; });
  return found == std::end(known_events) ? nullptr : found;
}

bool to_int(std::uint64_t value, std::int32_t& into) {
  const auto whole = static_cast<std::int64_t>(value);
  if (whole < std::numeric_limits<std::int32_t>::min() ||
      whole > std::numeric_limits<std::int32_t>::max()) {
    return false;
  }
  into = static_cast<std::int32_t>(whole);
  return true;
}

bool names_cpu(event_kind kind) {
  return kind == event_kind::waking || kind == event_kind::wakeup ||
         kind == event_kind::wakeup_new || kind == event_kind::migrate ||
         kind == event_kind::cpu_idle || kind == event_kind::cpu_frequency;
}

// A field of the message that is missing has the value 0.
bool store(slot into, std::uint64_t value, event& out, const state_bits& states) {
  switch (into) {
    case slot::pid:
      return to_int(value, out.pid);
    case slot::prio:
      return to_int(value, out.prio);
    case slot::other_pid:
      return to_int(value, out.other_pid);
    case slot::other_prio:
      return to_int(value, out.other_prio);
    case slot::target_cpu:
      return to_int(value, out.target_cpu) && value <= highest_cpu;
    case slot::state:
      out.prev_state = states.state_of(value);
      return true;
    case slot::amount:
      out.amount = value;
      return true;
    default:
      return true;
  }
}

void take_numbers(protozero::pbf_reader& field, std::vector<std::uint64_t>& into, bool& wrong) {
  if (field.wire_type() == protozero::pbf_wire_type::varint) {  // not packed
    if (into.size() < most_compact) {
      into.push_back(field.get_uint64());
    } else {
      field.skip();
    }
    return;
  }
  if (field.wire_type() != protozero::pbf_wire_type::length_delimited) {
    wrong = true;
    field.skip();
    return;
  }
  const auto numbers = field.get_packed_uint64();
  for (const std::uint64_t number : numbers) {
    if (into.size() < most_compact) into.push_back(number);
  }
}

context_kind context_of(std::uint64_t flags) {
  if ((flags & 0x40) != 0) return context_kind::nmi;
  if ((flags & 0x08) != 0) return context_kind::hardirq;
  return (flags & 0x10) != 0 ? context_kind::softirq : context_kind::task;
}

}  // namespace

std::uint64_t number_of(protozero::pbf_reader& field, bool& wrong) {
  if (field.wire_type() == protozero::pbf_wire_type::varint) return field.get_uint64();
  wrong = true;
  field.skip();
  return 0;
}

std::string_view bytes_of(protozero::pbf_reader& field, bool& wrong) {
  if (field.wire_type() == protozero::pbf_wire_type::length_delimited) {
    const protozero::data_view view = field.get_view();
    return {view.data(), view.size()};
  }
  wrong = true;
  field.skip();
  return {};
}

void bundle_reader::read(std::string_view bundle, std::uint64_t where) {
  where_ = where;
  bool wrong = false;
  std::uint64_t cpu = 0;
  std::uint64_t clock = 0;
  std::vector<std::string_view> events;
  std::vector<std::string_view> compacts;
  bool lost = false;
  // The CPU may stand behind its events.
  for (protozero::pbf_reader field(bundle.data(), bundle.size()); field.next();) {
    switch (field.tag()) {
      case 1:
        cpu = number_of(field, wrong);
        break;
      case 2:
        events.push_back(bytes_of(field, wrong));
        break;
      case 3:
        lost |= number_of(field, wrong) != 0;
        break;
      case 4:
        compacts.push_back(bytes_of(field, wrong));
        break;
      case 5:
        clock = number_of(field, wrong);
        break;
      default:
        field.skip();
        break;
    }
  }
  if (wrong || cpu > highest_cpu) return note_malformed("a bundle");
  cpu_ = static_cast<std::uint16_t>(cpu);
  constexpr std::string_view clocks[] = {"boot", "unknown", "global", "local", "mono_raw"};
  if (clock < std::size(clocks)) to_.about().clock = clocks[clock];
  if (lost) {
    to_.note("lost events", "byte", where_,
             [cpu] { return fmt::format("CPU {} lost events, how many is unknown", cpu); });
  }
  for (const std::string_view one : compacts) read_compact(one);
  for (const std::string_view one : events) read_event(one);
}

void bundle_reader::name_task(std::int32_t pid, std::string_view name) {
  if (names_.size() < most_named_tasks && !name.empty()) names_[pid] = to_.name(name, pid);
}

void bundle_reader::read_event(std::string_view bytes) {
  event entry;
  raw_texts texts;
  bool wrong = false;
  bool known = false;
  unsigned other = 0;
  for (protozero::pbf_reader field(bytes.data(), bytes.size()); field.next();) {
    const unsigned tag = field.tag();
    if (tag == 1) {
      entry.time_ns = number_of(field, wrong);
    } else if (tag == 2) {
      wrong |= !to_int(number_of(field, wrong), entry.context_pid);
    } else if (tag == 5) {
      entry.context = context_of(number_of(field, wrong));
    } else if (find_known(tag) != nullptr) {
      wrong |= known || !read_fields(tag, field, entry, texts);
      known = true;
    } else {
      other = tag;
      field.skip();
    }
  }
  if (wrong) return note_malformed("an event");
  if (!known) return to_.count_other(fmt::format("ftrace event {}", other));
  if (entry.kind == event_kind::migrate && entry.amount > highest_cpu) {
    return note_malformed("a migration");
  }
  if (texts.text.ends_with('\n')) texts.text.remove_suffix(1);
  if (!texts.comm.empty()) entry.comm = to_.name(texts.comm, entry.pid);
  if (!texts.other_comm.empty()) entry.other_comm = to_.name(texts.other_comm, entry.other_pid);
  if (!texts.text.empty()) entry.text = to_.text(texts.text);
  pass_on(entry);
}

bool bundle_reader::read_fields(unsigned field, protozero::pbf_reader& event_field, event& out,
                                raw_texts& texts) {
  const known_event& known = *find_known(field);
  bool wrong = false;
  const std::string_view bytes = bytes_of(event_field, wrong);
  out.kind = known.kind;
  if (names_cpu(known.kind)) out.target_cpu = 0;
  for (protozero::pbf_reader part(bytes.data(), bytes.size()); part.next();) {
    const unsigned tag = part.tag();
    const slot into = tag <= known.slots.size() ? known.slots[tag - 1] : slot::unused;
    switch (into) {
      case slot::unused:
        part.skip();
        break;
      case slot::comm:
        texts.comm = bytes_of(part, wrong);
        break;
      case slot::other_comm:
        texts.other_comm = bytes_of(part, wrong);
        break;
      case slot::text:
        texts.text = bytes_of(part, wrong);
        break;
      default:
        wrong |= !store(into, number_of(part, wrong), out, states_);
        break;
    }
  }
  return !wrong;
}

void bundle_reader::read_compact(std::string_view bytes) {
  compact all;
  std::vector<std::uint64_t>* const columns[] = {
      nullptr,          &all.switch_ns,   &all.prev_state,  &all.next_pid,   &all.next_prio,
      nullptr,          &all.next_comm,   &all.waking_ns,   &all.waking_pid, &all.waking_cpu,
      &all.waking_prio, &all.waking_comm, &all.waking_flags};
  bool wrong = false;
  for (protozero::pbf_reader field(bytes.data(), bytes.size()); field.next();) {
    constexpr unsigned names_tag = 5;
    if (field.tag() == names_tag) {
      const std::string_view name = bytes_of(field, wrong);
      if (all.names.size() < most_compact) all.names.push_back(name);
    } else if (field.tag() < std::size(columns) && columns[field.tag()] != nullptr) {
      take_numbers(field, *columns[field.tag()], wrong);
    } else {
      field.skip();
    }
  }
  const std::size_t switches = all.switch_ns.size();
  const std::size_t wakings = all.waking_ns.size();
  if (wrong || all.prev_state.size() != switches || all.next_pid.size() != switches ||
      all.next_prio.size() != switches || all.next_comm.size() != switches ||
      all.waking_pid.size() != wakings || all.waking_cpu.size() != wakings ||
      all.waking_prio.size() != wakings || all.waking_comm.size() != wakings) {
    return note_malformed("a compact block");
  }
  std::vector<event> events;
  events.reserve(switches + wakings);
  read_compact_switches(all, events);
  read_compact_wakings(all, events);
  std::stable_sort(events.begin(), events.end(),
                   [](const event& a, const event& b) { return a.time_ns < b.time_ns; });
  for (event& entry : events) pass_on(entry);
}

std::uint32_t bundle_reader::compact_name(const compact& all, std::uint64_t index,
                                          std::int32_t pid) {
  return index < all.names.size() ? to_.name(all.names[index], pid) : 0;
}

void bundle_reader::read_compact_switches(const compact& all, std::vector<event>& into) {
  std::uint64_t now_ns = 0;
  for (std::size_t i = 0; i < all.switch_ns.size(); ++i) {
    event entry;
    now_ns += all.switch_ns[i];
    entry.time_ns = now_ns;
    entry.kind = event_kind::sched_switch;
    entry.prev_state = states_.state_of(all.prev_state[i]);
    entry.context_pid = -1;  // to be told by what ran before
    if (!to_int(all.next_pid[i], entry.other_pid) || !to_int(all.next_prio[i], entry.other_prio)) {
      note_malformed("a compact switch");
      continue;
    }
    entry.other_comm = compact_name(all, all.next_comm[i], entry.other_pid);
    into.push_back(entry);
  }
}

void bundle_reader::read_compact_wakings(const compact& all, std::vector<event>& into) {
  std::uint64_t now_ns = 0;
  for (std::size_t i = 0; i < all.waking_ns.size(); ++i) {
    event entry;
    now_ns += all.waking_ns[i];
    entry.time_ns = now_ns;
    entry.kind = event_kind::waking;
    entry.context_pid = -1;
    if (i < all.waking_flags.size()) entry.context = context_of(all.waking_flags[i]);
    if (!to_int(all.waking_pid[i], entry.pid) || !to_int(all.waking_prio[i], entry.prio) ||
        all.waking_cpu[i] > highest_cpu) {
      note_malformed("a compact waking");
      continue;
    }
    entry.target_cpu = static_cast<std::int32_t>(all.waking_cpu[i]);
    entry.comm = compact_name(all, all.waking_comm[i], entry.pid);
    into.push_back(entry);
  }
}

void bundle_reader::pass_on(event& entry) {
  entry.cpu = cpu_;
  entry.where = where_;
  running& now = on_cpu_[cpu_];
  const bool is_switch = entry.kind == event_kind::sched_switch;
  if (entry.context_pid < 0) {
    entry.context_pid = now.pid;
    if (is_switch) {
      entry.pid = now.pid;
      entry.prio = now.prio;
      entry.comm = now.comm;
    }
    if (is_switch && !now.known) {
      to_.note("unknown previous task", "byte", where_,
               [this] { return fmt::format("of the first switch of CPU {}", cpu_); });
    }
  }
  const auto fill = [this](std::int32_t pid, std::uint32_t& comm) {
    if (comm != 0 || pid == 0) return;
    if (const auto known = names_.find(pid); known != names_.end()) comm = known->second;
  };
  fill(entry.pid, entry.comm);
  if (is_switch) {
    fill(entry.other_pid, entry.other_comm);
    now = {entry.other_pid, entry.other_prio, entry.other_comm, true};
  }
  ++seen_;
  to_.take(entry);
}

void bundle_reader::note_malformed(std::string_view what) {
  to_.note("malformed event", "byte", where_,
           [what] { return fmt::format("{} whose parts make no sense", what); });
}

}  // namespace vlag::trace

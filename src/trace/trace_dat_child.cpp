// SPDX-License-Identifier: Apache-2.0
//
// The life of the process that reads a trace.dat. It may die at any point; the other side knows.
#include "trace/event_formats.hpp"
#include "trace/ftrace_line.hpp"
#include "trace/trace_dat_wire.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

extern "C" {
#include <event-parse.h>

// Of libtracecmd. Its header includes one of libtracefs that is no C++, so what is used is declared
// here. The last two are there to be called, but in no header: without them kernel and clock are
// not told.
struct tracecmd_input;
constexpr int tracecmd_without_plugins = 1;
tracecmd_input* tracecmd_open_fd(int fd, int flags);
tep_handle* tracecmd_get_tep(tracecmd_input* input);
int tracecmd_buffer_instances(tracecmd_input* input);
int tracecmd_iterate_events(tracecmd_input* input, cpu_set_t* cpus, int cpu_size,
                            int (*callback)(tracecmd_input*, tep_record*, int, void*), void* data);
void tracecmd_set_loglevel(enum tep_loglevel level);
__attribute__((weak)) const char* tracecmd_get_uname(tracecmd_input* input);
__attribute__((weak)) const char* tracecmd_get_trace_clock(tracecmd_input* input);
}

namespace vlag::trace {
namespace {

constexpr int good = 0;
constexpr int bad = 1;
constexpr std::size_t sent_at_once = std::size_t{1} << 16;

class teller {
 public:
  explicit teller(int pipe) : pipe_(pipe) {}

  void send(wire_record record, std::string_view comm, std::string_view other_comm,
            std::string_view text) {
    comm = comm.substr(0, wire_record::longest_text);
    other_comm = other_comm.substr(0, wire_record::longest_text);
    text = text.substr(0, wire_record::longest_text);
    record.comm_size = static_cast<std::uint16_t>(comm.size());
    record.other_comm_size = static_cast<std::uint16_t>(other_comm.size());
    record.text_size = static_cast<std::uint16_t>(text.size());
    const auto* bytes = reinterpret_cast<const char*>(&record);
    held_.insert(held_.end(), bytes, bytes + sizeof record);
    for (const std::string_view part : {comm, other_comm, text}) {
      held_.insert(held_.end(), part.begin(), part.end());
    }
    if (held_.size() >= sent_at_once) flush();
  }

  void send(wire_kind kind, std::uint64_t where, std::uint64_t number, std::string_view text,
            std::uint16_t cpu = 0) {
    wire_record record{};
    record.kind = static_cast<std::uint8_t>(kind);
    record.where = where;
    record.number = number;
    record.cpu = cpu;
    send(record, {}, {}, text);
  }

  void flush() {
    std::size_t sent = 0;
    while (sent < held_.size()) {
      const ssize_t count = ::write(pipe_, held_.data() + sent, held_.size() - sent);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) ::_exit(bad);
      sent += static_cast<std::size_t>(count);
    }
    held_.clear();
  }

 private:
  int pipe_;
  std::vector<char> held_;
};

// The list of flags that sched_switch's print format shows prev_state with, as the text that
// state_bits::learn() reads.
const tep_print_flag_sym* flags_in(const tep_print_arg* arg, unsigned depth) {
  if (depth > 50) return nullptr;
  for (; arg != nullptr; arg = arg->next) {
    const tep_print_flag_sym* found = nullptr;
    if (arg->type == TEP_PRINT_FLAGS) return arg->flags.flags;
    if (arg->type == TEP_PRINT_TYPE) found = flags_in(arg->typecast.item, depth + 1);
    if (arg->type == TEP_PRINT_OP) {
      found = flags_in(arg->op.left, depth + 1);
      if (found == nullptr) found = flags_in(arg->op.right, depth + 1);
    }
    if (found != nullptr) return found;
  }
  return nullptr;
}

std::string flags_text(const tep_event& from) {
  std::string text;
  for (const auto* flag = flags_in(from.print_fmt.args, 0); flag != nullptr; flag = flag->next) {
    if (flag->value == nullptr || flag->str == nullptr) continue;
    text += std::string("{ ") + flag->value + ", \"" + flag->str + "\" }";
  }
  return text;
}

class dat_file {
 public:
  dat_file(int file, int pipe) : tell_(pipe), file_(file) {}

  [[nodiscard]] int read() {
    ::tracecmd_set_loglevel(TEP_LOG_NONE);
    input_ = ::tracecmd_open_fd(file_, tracecmd_without_plugins);
    if (input_ == nullptr) return refuse("libtracecmd cannot open it");
    tep_ = ::tracecmd_get_tep(input_);
    if (::tep_is_file_bigendian(tep_)) {
      return refuse("it comes from a big-endian machine, which is not read");
    }
    if (const int buffers = ::tracecmd_buffer_instances(input_); buffers > 0) {
      tell_.send(wire_kind::buffers, 0, static_cast<std::uint64_t>(buffers), {});
    }
    tell_origin();
    const int result = ::tracecmd_iterate_events(
        input_, nullptr, 0,
        [](tracecmd_input*, tep_record* record, int cpu, void* self) {
          static_cast<dat_file*>(self)->take(*record, cpu);
          return 0;
        },
        this);
    if (result < 0) return refuse("libtracecmd cannot read its events");
    tell_.send(wire_kind::end, 0, 0, {});
    tell_.flush();
    return good;
  }

 private:
  void tell_origin() {
    if (tracecmd_get_trace_clock != nullptr) {
      // "[local] global counter": the one in brackets, or the only one.
      const char* clock = ::tracecmd_get_trace_clock(input_);
      std::string_view name = clock == nullptr ? std::string_view{} : clock;
      const std::size_t open = name.find('[');
      if (open != std::string_view::npos) name = name.substr(open + 1);
      tell_.send(wire_kind::clock, 0, 0, name.substr(0, name.find_first_of("] \n")));
    }
    if (tracecmd_get_uname != nullptr) {
      // "Linux HOST RELEASE MACHINE"
      const char* uname = ::tracecmd_get_uname(input_);
      std::string_view rest = uname == nullptr ? std::string_view{} : uname;
      std::string_view words[3];
      for (std::string_view& word : words) {
        word = rest.substr(0, rest.find(' '));
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
      }
      tell_.send(wire_kind::host, 0, 0, words[1]);
      tell_.send(wire_kind::release, 0, 0, words[2]);
    }
  }

  int refuse(std::string_view why) {
    tell_.send(wire_kind::refused, 0, 0, why);
    tell_.flush();
    return good;
  }

  void take(const tep_record& record, int cpu) {
    if (cpu < 0 || cpu > static_cast<int>(highest_cpu) || record.size < 0) {
      return tell_.send(wire_kind::malformed, record.offset, 0, "an event");
    }
    if (record.missed_events != 0) {
      const auto lost = static_cast<std::uint64_t>(std::max(record.missed_events, 0LL));
      tell_.send(wire_kind::lost, record.offset, lost, {}, static_cast<std::uint16_t>(cpu));
    }
    const std::string_view raw(static_cast<const char*>(record.data),
                               static_cast<std::size_t>(record.size));
    event entry;
    raw_texts texts;
    std::string_view name;
    raw_kind kind = formats_.read(raw, entry, texts, name);
    if (kind == raw_kind::unknown_id && learn(raw)) kind = formats_.read(raw, entry, texts, name);
    switch (kind) {
      case raw_kind::known:
        entry.time_ns = record.ts;
        entry.where = record.offset;
        entry.cpu = static_cast<std::uint16_t>(cpu);
        return tell_.send(to_wire(entry), texts.comm, texts.other_comm, texts.text);
      case raw_kind::other:
        return tell_.send(wire_kind::other, record.offset, 0, name);
      case raw_kind::malformed:
        return tell_.send(wire_kind::malformed, record.offset, 0, name.empty() ? "an event" : name);
      case raw_kind::unknown_id:
        return tell_.send(wire_kind::unknown, record.offset, 0, {});
    }
  }

  // Formats are looked at when their first event comes.
  [[nodiscard]] bool learn(std::string_view raw) {
    std::uint16_t id = 0;
    std::memcpy(&id, raw.data(), sizeof id);
    const tep_event* found = ::tep_find_event(tep_, id);
    if (found == nullptr) return false;
    if (std::string_view(found->name) == "sched_switch") {
      formats_.states().learn(flags_text(*found));
    }
    return formats_.add_event(*found);
  }

  teller tell_;
  event_formats formats_;
  tracecmd_input* input_ = nullptr;
  tep_handle* tep_ = nullptr;
  int file_;
};

}  // namespace

void tell_trace_dat(int file, int pipe) noexcept {
  int result = bad;
  try {
    // The file's place is shared with the other process, which reads by offset only.
    ::lseek(file, 0, SEEK_SET);
    result = dat_file(file, pipe).read();
  } catch (const std::exception&) {
    result = bad;
  }
  ::_exit(result);
}

}  // namespace vlag::trace

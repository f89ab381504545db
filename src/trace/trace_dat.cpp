// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_dat.hpp"

#include "input/input_error.hpp"
#include "trace/ftrace_line.hpp"
#include "trace/trace_dat_wire.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VLAG_SHADOW_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define VLAG_SHADOW_MEMORY 1
#endif
#endif

namespace vlag::trace {
namespace {

constexpr std::uint64_t memory_bytes = std::uint64_t{1} << 30;
constexpr std::uint64_t least_cpu_seconds = 20;
constexpr std::uint64_t cpu_seconds_per_mib = 2;
constexpr int longest_silence_ms = 120'000;
constexpr unsigned records_between_reports = 1U << 14;

void limit(int resource, std::uint64_t most) noexcept {
  const rlimit both{most, most};
  static_cast<void>(::setrlimit(static_cast<__rlimit_resource>(resource), &both));
}

// Address space in use already: the limit is for what comes on top.
[[maybe_unused]] std::uint64_t address_space() noexcept {
  std::uint64_t pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    unsigned long read = 0;
    if (std::fscanf(file, "%lu", &read) == 1) pages = read;
    std::fclose(file);
  }
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

[[noreturn]] void live_as_reader(int file, int pipe, std::uint64_t file_bytes,
                                 pid_t parent) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int held_file = ::fcntl(file, F_DUPFD_CLOEXEC, 3);
  const int held_pipe = ::fcntl(pipe, F_DUPFD_CLOEXEC, 3);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, stream);
  for (const int fault : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGPIPE, SIGXCPU, SIGTERM}) {
    std::signal(fault, SIG_DFL);
  }
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, least_cpu_seconds + (file_bytes >> 20) * cpu_seconds_per_mib);
#ifndef VLAG_SHADOW_MEMORY
  limit(RLIMIT_AS, address_space() + memory_bytes);
#endif
  tell_trace_dat(held_file, held_pipe);
}

// The other process; killed and waited for at the latest when this goes.
class reader_process {
 public:
  reader_process(int file, std::uint64_t file_bytes, const std::string& name) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) refuse_to_start(name);
    const pid_t parent = ::getpid();
    std::fflush(nullptr);
    process_ = ::fork();
    if (process_ == 0) {
      ::close(ends[0]);
      live_as_reader(file, ends[1], file_bytes, parent);
    }
    ::close(ends[1]);
    pipe_ = ends[0];
    if (process_ < 0) {
      ::close(pipe_);
      refuse_to_start(name);
    }
  }
  ~reader_process() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      static_cast<void>(wait());
    }
    ::close(pipe_);
  }
  reader_process(const reader_process&) = delete;
  reader_process& operator=(const reader_process&) = delete;

  // All `size` bytes; false: it has closed the pipe, or is silent for too long.
  [[nodiscard]] bool read(void* into, std::size_t size) {
    auto* to = static_cast<char*>(into);
    while (size > 0) {
      if (begin_ == end_ && !fill()) return false;
      const std::size_t count = std::min(size, end_ - begin_);
      std::memcpy(to, buffer_.data() + begin_, count);
      begin_ += count;
      to += count;
      size -= count;
    }
    return true;
  }

  // How it ended, in words; empty: well. Ends it if it has not by itself.
  [[nodiscard]] std::string ending() {
    if (silent_) ::kill(process_, SIGKILL);
    const int status = wait();
    if (silent_) return "it was read without end";
    if (WIFSIGNALED(status)) {
      const int signal = WTERMSIG(status);
      if (signal == SIGXCPU || signal == SIGKILL) return "reading it took too much time or memory";
      return fmt::format("libtracecmd failed on it with signal {} ({})", signal,
                         ::sigdescr_np(signal));
    }
    if (WEXITSTATUS(status) != 0) return "libtracecmd gave up on it";
    return {};
  }

 private:
  [[noreturn]] static void refuse_to_start(const std::string& name) {
    throw input_error(
        fmt::format("{}: cannot start the process that reads trace.dat: {}; expected room for one",
                    name, std::strerror(errno)));
  }

  [[nodiscard]] bool fill() {
    for (;;) {
      pollfd wanted{pipe_, POLLIN, 0};
      const int ready = ::poll(&wanted, 1, longest_silence_ms);
      if (ready < 0 && errno == EINTR) continue;
      silent_ = ready == 0;
      if (ready <= 0) return false;
      const ssize_t got = ::read(pipe_, buffer_.data(), buffer_.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      begin_ = 0;
      end_ = static_cast<std::size_t>(got);
      return true;
    }
  }

  [[nodiscard]] int wait() noexcept {
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return status;
  }

  std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 16);
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  pid_t process_ = -1;
  int pipe_ = -1;
  bool silent_ = false;
};

class dat_reading {
 public:
  dat_reading(const seekable_bytes& file, intake& to, const progress& tell)
      : to_(to),
        tell_(tell),
        all_bytes_(file.size()),
        process_(file.descriptor(), file.size(), to.about().path) {}

  void read() {
    to_.about().resolution_ns = 1;
    while (!ended_) read_one();
    if (const std::string wrong = process_.ending(); !wrong.empty()) refuse(wrong);
    if (to_.events() + to_.about().other_events == 0 && to_.about().anomalies.empty()) {
      refuse("it holds no events");
    }
    to_.finish();
    if (tell_) tell_(all_bytes_, all_bytes_, to_.events());
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    throw input_error(
        fmt::format("{}: trace.dat that cannot be read: {}; expected an intact file "
                    "of trace-cmd record",
                    to_.about().path, why));
  }

  void read_one() {
    wire_record record{};
    if (!process_.read(&record, sizeof record)) refuse_early_end();
    if (text_bytes(record) > 3 * wire_record::longest_text) refuse("its reader ran wild");
    texts_.resize(text_bytes(record));
    if (!process_.read(texts_.data(), texts_.size())) refuse_early_end();
    const std::string_view all = texts_;
    const std::string_view comm = all.substr(0, record.comm_size);
    const std::string_view other_comm = all.substr(record.comm_size, record.other_comm_size);
    const std::string_view text = all.substr(record.comm_size + record.other_comm_size);
    take(record, comm, other_comm, text);
    if (tell_ && ++records_ % records_between_reports == 0) {
      tell_(std::min(record.where, all_bytes_), all_bytes_, to_.events());
    }
  }

  [[noreturn]] void refuse_early_end() {
    const std::string wrong = process_.ending();
    refuse(wrong.empty() ? "its reader ended early" : wrong);
  }

  void take(const wire_record& record, std::string_view comm, std::string_view other_comm,
            std::string_view text) {
    switch (static_cast<wire_kind>(record.kind)) {
      case wire_kind::event:
        return take_event(record, comm, other_comm, text);
      case wire_kind::other:
        return to_.count_other(text);
      case wire_kind::malformed:
        return to_.note("malformed event", "byte", record.where,
                        [text] { return fmt::format("{} whose parts make no sense", text); });
      case wire_kind::unknown:
        return to_.note("unknown event", "byte", record.where,
                        [] { return "no format for its id"; });
      case wire_kind::lost:
        to_.count_lost(record.number);
        return to_.note("lost events", "byte", record.where, [&record] {
          return record.number > 0
                     ? fmt::format("CPU {} lost {} events", record.cpu, record.number)
                     : fmt::format("CPU {} lost events, how many is unknown", record.cpu);
        });
      case wire_kind::buffers:
        return to_.note("other buffers", "byte", 0, [&record] {
          return fmt::format("{} named buffers are not read", record.number);
        });
      case wire_kind::clock:
        to_.about().clock = text;
        return;
      case wire_kind::host:
        to_.about().host = text;
        return;
      case wire_kind::release:
        to_.about().kernel_release = text;
        return;
      case wire_kind::refused:
        refuse(text);
      case wire_kind::end:
        ended_ = true;
        return;
    }
    refuse("its reader ran wild");
  }

  void take_event(const wire_record& record, std::string_view comm, std::string_view other_comm,
                  std::string_view text) {
    auto entry = from_wire(record);
    if (!entry) refuse("its reader ran wild");
    if (!comm.empty()) entry->comm = to_.name(comm, entry->pid);
    if (!other_comm.empty()) entry->other_comm = to_.name(other_comm, entry->other_pid);
    if (!text.empty()) entry->text = to_.text(text);
    to_.take(*entry);
  }

  intake& to_;
  const progress& tell_;
  std::uint64_t all_bytes_;
  reader_process process_;
  std::string texts_;
  unsigned records_ = 0;
  bool ended_ = false;
};

}  // namespace

std::uint32_t text_bytes(const wire_record& record) noexcept {
  return std::uint32_t{record.comm_size} + record.other_comm_size + record.text_size;
}

wire_record to_wire(const event& entry) noexcept {
  wire_record record{};
  record.kind = static_cast<std::uint8_t>(wire_kind::event);
  record.event_kind = static_cast<std::uint8_t>(entry.kind);
  record.time_ns = entry.time_ns;
  record.where = entry.where;
  record.number = entry.amount;
  record.context_pid = entry.context_pid;
  record.pid = entry.pid;
  record.prio = entry.prio;
  record.other_pid = entry.other_pid;
  record.other_prio = entry.other_prio;
  record.target_cpu = entry.target_cpu;
  record.cpu = entry.cpu;
  record.context = static_cast<std::uint8_t>(entry.context);
  record.need_resched = entry.need_resched ? 1 : 0;
  record.state = entry.prev_state.letter;
  record.preempted = entry.prev_state.preempted ? 1 : 0;
  return record;
}

std::optional<event> from_wire(const wire_record& record) noexcept {
  const auto most_cpu = static_cast<std::int32_t>(highest_cpu);
  if (record.event_kind >= event_kinds || record.cpu > highest_cpu || record.target_cpu < -1 ||
      record.target_cpu > most_cpu ||
      record.context > static_cast<std::uint8_t>(context_kind::unknown) || record.state < 'A' ||
      record.state > 'z') {
    return std::nullopt;
  }
  event entry;
  entry.kind = static_cast<event_kind>(record.event_kind);
  entry.time_ns = record.time_ns;
  entry.where = record.where;
  entry.amount = record.number;
  entry.context_pid = record.context_pid;
  entry.pid = record.pid;
  entry.prio = record.prio;
  entry.other_pid = record.other_pid;
  entry.other_prio = record.other_prio;
  entry.target_cpu = record.target_cpu;
  entry.cpu = record.cpu;
  entry.context = static_cast<context_kind>(record.context);
  entry.need_resched = record.need_resched != 0;
  entry.prev_state.letter = record.state;
  entry.prev_state.preempted = record.preempted != 0;
  return entry;
}

void read_trace_dat(const seekable_bytes& file, intake& to, const progress& tell) {
  dat_reading(file, to, tell).read();
}

}  // namespace vlag::trace

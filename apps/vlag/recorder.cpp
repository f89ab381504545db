// SPDX-License-Identifier: Apache-2.0
#include "recorder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/perf_event.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "input/input_error.hpp"
#include "input/text.hpp"
#include "report/output_file.hpp"

namespace vlag {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 9> events = {
    "sched_switch",       "sched_waking",       "sched_wakeup",
    "sched_wakeup_new",   "sched_process_fork", "sched_process_exec",
    "sched_process_exit", "sched_migrate_task", "sched_stat_runtime"};

// Of each CPU: some 80,000 events, which a busy CPU writes in a fraction of a second; perf empties
// it all the time.
constexpr std::string_view perf_buffer = "8M";
// Of each CPU: nobody empties it. Some 60 bytes an event. All of them take an eighth of the memory
// at most.
constexpr long tracefs_buffer_kb = 65'536;
constexpr long tracefs_buffer_least_kb = 1024;
constexpr int cannot_run = 127;

std::string errno_text(int error) { return std::strerror(error); }

std::string content(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Of these, what this kernel has.
std::vector<std::string> known_events(const std::string& tracefs) {
  std::vector<std::string> known;
  for (const std::string_view name : events) {
    std::error_code error;
    if (fs::exists(fs::path(tracefs) / "events/sched" / name, error)) known.emplace_back(name);
  }
  return known;
}

std::string find_program(std::string_view name) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/bin:/bin" : path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string candidate = fmt::format("{}/{}", rest.substr(0, end), name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

volatile std::sig_atomic_t child = 0;
volatile std::sig_atomic_t interrupted = 0;

// The terminal gives SIGINT to the child too; perf and a workload can bear it twice.
void pass_on(int) {
  interrupted = 1;
  if (child > 0) ::kill(static_cast<pid_t>(child), SIGINT);
}

constexpr std::array ending_signals = {SIGINT, SIGTERM, SIGHUP};

// While it lives, the signals that end a program end the child instead.
class signals_end_child {
 public:
  signals_end_child() {
    struct sigaction action{};
    action.sa_handler = pass_on;
    for (std::size_t i = 0; i < ending_signals.size(); ++i) {
      ::sigaction(ending_signals[i], &action, &before_[i]);
    }
  }
  ~signals_end_child() {
    for (std::size_t i = 0; i < ending_signals.size(); ++i) {
      ::sigaction(ending_signals[i], &before_[i], nullptr);
    }
  }
  signals_end_child(const signals_end_child&) = delete;
  signals_end_child& operator=(const signals_end_child&) = delete;

 private:
  std::array<struct sigaction, ending_signals.size()> before_{};
};

[[noreturn]] void become(const std::vector<std::string>& words, int ready) {
  for (const int signal : ending_signals) std::signal(signal, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGINT);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  const int error = errno;
  static_cast<void>(::write(ready, &error, sizeof error));
  ::_exit(cannot_run);
}

// Runs it to its end; its wait status. Throws input_error when it cannot be started.
int run(std::span<const std::string> line) {
  const std::vector<std::string> words(line.begin(), line.end());
  std::array<int, 2> ready{};
  if (::pipe2(ready.data(), O_CLOEXEC) != 0) throw input_error("no pipe: " + errno_text(errno));
  // A signal that comes before the child is known must not be lost.
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  for (const int signal : ending_signals) sigaddset(&blocked, signal);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    become(words, ready[1]);
  }
  const int fork_error = errno;
  child = pid;
  ::close(ready[1]);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  int error = pid < 0 ? fork_error : 0;
  while (pid > 0 && ::read(ready[0], &error, sizeof error) < 0 && errno == EINTR) {
  }
  ::close(ready[0]);
  int status = 0;
  while (pid > 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  child = 0;
  if (error != 0) {
    throw input_error(fmt::format("{}: cannot be run: {}", words.front(), errno_text(error)));
  }
  return status;
}

void write_setting(const fs::path& path, std::string_view value) {
  const int file = ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  const bool written =
      file >= 0 && ::write(file, value.data(), value.size()) == static_cast<ssize_t>(value.size());
  const int error = errno;
  if (file >= 0) ::close(file);
  if (!written) {
    throw input_error(
        fmt::format("{}: '{}' cannot be written: {}", path.string(), value, errno_text(error)));
  }
}

// A ring buffer of our own in tracefs: others' tracing is not disturbed, and all of it goes away
// with its folder.
class trace_instance {
 public:
  explicit trace_instance(const std::string& tracefs)
      : folder_(fs::path(tracefs) / "instances" / fmt::format("vlag-{}", ::getpid())) {
    if (::mkdir(folder_.c_str(), 0700) != 0) {
      throw input_error(fmt::format("{}: cannot be made: {}", folder_.string(), errno_text(errno)));
    }
  }
  ~trace_instance() {
    std::ofstream(folder_ / "tracing_on") << "0";
    ::rmdir(folder_.c_str());
  }
  trace_instance(const trace_instance&) = delete;
  trace_instance& operator=(const trace_instance&) = delete;

  void set(std::string_view name, std::string_view value) const {
    write_setting(folder_ / name, value);
  }
  [[nodiscard]] fs::path file(std::string_view name) const { return folder_ / name; }

 private:
  fs::path folder_;
};

long tracefs_buffer_of_host_kb() {
  const long pages = std::max(1L, ::sysconf(_SC_PHYS_PAGES));
  const long cpus = std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF));
  const long fair_share = pages / 8 / cpus * (::sysconf(_SC_PAGESIZE) / 1024);
  return std::clamp(fair_share, tracefs_buffer_least_kb, tracefs_buffer_kb);
}

void copy_text(const fs::path& from, const std::string& to) {
  std::ifstream in(from, std::ios::binary);
  whole_file out(to);
  std::vector<char> piece(1 << 20);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())), in.gcount() > 0) {
    out.write({piece.data(), static_cast<std::size_t>(in.gcount())});
  }
  if (in.bad()) throw input_error(fmt::format("{}: cannot be read", from.string()));
  out.finish();
}

std::string shell_word(const std::string& word) {
  const bool is_plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::strchr("-_./:=,+@%", c) != nullptr;
  });
  if (is_plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string trace_cmd_line(const std::string& file, std::span<const std::string> workload) {
  std::vector<std::string> words{"trace-cmd", "record", "-b", fmt::format("{}", tracefs_buffer_kb),
                                 "-o",        file};
  for (const std::string_view name : events) {
    words.emplace_back("-e");
    words.push_back(fmt::format("sched:{}", name));
  }
  words.insert(words.end(), workload.begin(), workload.end());
  return shell_line(words);
}

std::string tracefs_script(const std::string& file, std::span<const std::string> workload) {
  std::string enable;
  for (const std::string_view name : events) {
    enable += fmt::format("{}{}", enable.empty() ? "" : " ", name);
  }
  return fmt::format(
      "d=/sys/kernel/tracing/instances/vlag; mkdir $d && {{\n"
      "  echo 0 > $d/tracing_on; echo mono > $d/trace_clock; echo {} > $d/buffer_size_kb\n"
      "  for e in {}; do\n"
      "    test ! -e $d/events/sched/$e || echo 1 > $d/events/sched/$e/enable\n"
      "  done\n"
      "  echo 1 > $d/tracing_on; {}; echo 0 > $d/tracing_on\n"
      "  cat $d/trace > {}; rmdir $d; }}",
      tracefs_buffer_kb, enable, shell_line(workload), shell_word(file));
}

// The kernel's answer to what perf will ask of it, for CPU 0; 0 or an errno.
int try_perf_event(unsigned long long id) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_TRACEPOINT;
  attr.size = sizeof attr;
  attr.config = id;
  attr.sample_period = 1;
  attr.sample_type = PERF_SAMPLE_RAW;
  attr.disabled = 1;
  const long file = ::syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
  if (file < 0) return errno;
  ::close(static_cast<int>(file));
  return 0;
}

}  // namespace

std::span<const std::string_view> recorded_events() noexcept { return events; }

std::vector<std::string> perf_command(std::span<const std::string> names, const std::string& file,
                                      std::span<const std::string> workload) {
  std::vector<std::string> words{
      "perf", "record", "-q", "-a", "-R", "-c", "1", "-m", std::string(perf_buffer)};
  for (const std::string& name : names) {
    words.emplace_back("-e");
    words.push_back(fmt::format("sched:{}", name));
  }
  words.insert(words.end(), {"-o", file, "--"});
  words.insert(words.end(), workload.begin(), workload.end());
  return words;
}

std::string shell_line(std::span<const std::string> words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(shell_word(word));
  return fmt::format("{}", fmt::join(quoted, " "));
}

std::string other_host_commands(const std::string& file, std::span<const std::string> workload) {
  const std::vector<std::string> all(events.begin(), events.end());
  return fmt::format(
      "# Each as root. With perf:\n{}\n\n# or with trace-cmd:\n{}\n\n"
      "# or with a shell alone:\n{}\n\n"
      "# Then, here: vlag trace info {}\n",
      shell_line(perf_command(all, file, workload)), trace_cmd_line(file, workload),
      tracefs_script(file, workload), shell_word(file));
}

std::string find_tracefs() {
  for (const char* const folder : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    if (::access(fmt::format("{}/events/sched/sched_switch", folder).c_str(), X_OK) == 0) {
      return folder;
    }
  }
  return {};
}

std::string perf_problem(const std::string& tracefs) {
  if (find_program("perf").empty()) return "perf is not installed (Debian: linux-perf)";
  if (tracefs.empty()) {
    return "this user cannot read the kernel's tracepoints in /sys/kernel/tracing (try as root)";
  }
  const auto id = parse_integer([&] {
    std::string text = content(fs::path(tracefs) / "events/sched/sched_switch/id");
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }());
  if (!id) return fmt::format("{}/events cannot be read (try as root)", tracefs);
  const int error = try_perf_event(static_cast<unsigned long long>(*id));
  if (error == 0) return {};
  return fmt::format(
      "the kernel refuses to trace the whole system: {} (try as root, or with CAP_PERFMON and "
      "kernel.perf_event_paranoid at -1)",
      errno_text(error));
}

std::string tracefs_problem(const std::string& tracefs) {
  if (tracefs.empty())
    return "tracefs is not readable (as root: mount -t tracefs nodev /sys/kernel/tracing)";
  if (::access(fmt::format("{}/instances", tracefs).c_str(), W_OK) == 0) return {};
  return fmt::format("{}/instances is not writable (try as root)", tracefs);
}

void record_with_perf(const std::string& tracefs, const std::string& file,
                      std::span<const std::string> workload) {
  // Perf's own message for a workload that is not there comes with others.
  if (workload.front().find('/') == std::string::npos && find_program(workload.front()).empty()) {
    throw input_error(fmt::format("{}: no such command", workload.front()));
  }
  const signals_end_child guard;
  const int status = run(perf_command(known_events(tracefs), file, workload));
  std::error_code error;
  if (fs::file_size(file, error) > 0 && !error) return;
  throw input_error(
      fmt::format("perf has recorded nothing (exit code {}); --with tracefs does without it",
                  WIFEXITED(status) ? WEXITSTATUS(status) : -1));
}

void record_with_tracefs(const std::string& tracefs, const std::string& file,
                         std::span<const std::string> workload) {
  const signals_end_child guard;
  const trace_instance instance(tracefs);
  instance.set("tracing_on", "0");
  instance.set("trace_clock", "mono");
  instance.set("buffer_size_kb", std::to_string(tracefs_buffer_of_host_kb()));
  for (const std::string& name : known_events(tracefs)) {
    instance.set(fmt::format("events/sched/{}/enable", name), "1");
  }
  instance.set("tracing_on", "1");
  if (interrupted == 0) static_cast<void>(run(workload));
  instance.set("tracing_on", "0");
  copy_text(instance.file("trace"), file);
}

}  // namespace vlag

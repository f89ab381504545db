// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "commands.hpp"
#include "host_state.hpp"
#include "input/input_error.hpp"
#include "input/printable.hpp"
#include "input/text.hpp"
#include "recorder.hpp"
#include "replay_options.hpp"
#include "report/output_file.hpp"
#include "trace/reader.hpp"
#include "vlag/linux_sched.hpp"

namespace vlag {
namespace {

namespace fs = std::filesystem;

struct record_request {
  std::string output = "vlag.data";
  std::string attributes;
  std::string duration;
  std::string with = "automatic";
  std::vector<std::string> workload;
  bool print_commands = false;
};

std::vector<std::string> workload_of(const record_request& request) {
  if (!request.workload.empty()) return request.workload;
  const std::string text = request.duration.empty() ? "5s" : request.duration;
  const auto ns = parse_duration(text);
  if (!ns || *ns == 0) {
    throw input_error(fmt::format("--duration: '{}' is no duration like 5s or 200ms", text));
  }
  constexpr std::uint64_t second = 1'000'000'000;
  return {"sleep", fmt::format("{}.{:09}", *ns / second, *ns % second)};
}

// Gone at the end unless it was given its name.
class unfinished_file {
 public:
  explicit unfinished_file(const std::string& name)
      : name_(name), now_(fmt::format("{}.unfinished-{}", name, ::getpid())) {}
  ~unfinished_file() {
    std::error_code ignored;
    fs::remove(now_, ignored);
    fs::remove(now_ + ".old", ignored);
  }
  unfinished_file(const unfinished_file&) = delete;
  unfinished_file& operator=(const unfinished_file&) = delete;

  [[nodiscard]] const std::string& path() const { return now_; }
  void finish() const {
    std::error_code error;
    fs::rename(now_, name_, error);
    if (error) throw input_error(fmt::format("{}: {}", name_, error.message()));
  }

 private:
  std::string name_;
  std::string now_;
};

class tasks_seen final : public trace::event_visitor {
 public:
  void visit(const trace::event& entry) override {
    ++events_;
    if (entry.pid > 0) ids_.insert(entry.pid);
    if (entry.kind == trace::event_kind::sched_switch && entry.other_pid > 0) {
      ids_.insert(entry.other_pid);
    }
  }
  [[nodiscard]] const std::set<int>& ids() const { return ids_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  std::set<int> ids_;
  std::uint64_t events_ = 0;
};

bool use_perf(const record_request& request, const std::string& tracefs) {
  const std::string perf = request.with == "tracefs" ? "not asked for" : perf_problem(tracefs);
  if (perf.empty()) return true;
  const std::string direct = request.with == "perf" ? "not asked for" : tracefs_problem(tracefs);
  if (direct.empty()) return false;
  if (request.with == "perf") throw input_error(fmt::format("cannot record: {}", perf));
  if (request.with == "tracefs") throw input_error(fmt::format("cannot record: {}", direct));
  throw input_error(fmt::format(
      "cannot record: {}; {}; --print-commands says what to type elsewhere", perf, direct));
}

bool same_place(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(a), ignored) ==
         fs::weakly_canonical(fs::absolute(b), ignored);
}

int record(const record_request& request) {
  const std::vector<std::string> workload = workload_of(request);
  if (request.print_commands) {
    fmt::print("{}", other_host_commands(request.output, workload));
    return 0;
  }
  const std::string attributes =
      request.attributes.empty() ? request.output + ".json" : request.attributes;
  if (same_place(attributes, request.output)) {
    throw input_error(
        fmt::format("--attrs: {} is the recording; expected another file", attributes));
  }
  require_writable(request.output);
  require_writable(attributes);
  const std::string tracefs = find_tracefs();
  const bool perf = use_perf(request, tracefs);
  const get_attr ask = [](int tid, sched_attr& attr) { return kernel_get_attr(tid, attr); };
  host_state host = read_host("", ask);
  const unfinished_file file(request.output);
  if (perf) {
    record_with_perf(tracefs, file.path(), workload);
  } else {
    record_with_tracefs(tracefs, file.path(), workload);
  }
  add_later(host, read_host("", ask));

  // Read once: what cannot be read should not be handed on, and only its tasks matter.
  trace::recording_info about;
  tasks_seen seen;
  trace::visit_recording(file.path(), about, seen);
  write_whole_file(attributes, attributes_text(host, seen.ids()));
  file.finish();
  fmt::print("{}: {} events of {} tasks, {} lost; {}\n", printable(request.output), seen.events(),
             seen.ids().size(), about.lost_events, printable(attributes));
  return 0;
}

}  // namespace

void add_record_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "record", "record this host's scheduling, with the attributes file that belongs to it");
  const auto request = std::make_shared<record_request>();
  command->add_option("-o,--output", request->output, "the recording to write")
      ->type_name("FILE")
      ->check(check_not_empty)
      ->capture_default_str();
  command
      ->add_option("--attrs", request->attributes,
                   "the attributes file to write (default: the recording's name and .json)")
      ->type_name("FILE")
      ->check(check_not_empty);
  CLI::Option* const duration =
      command->add_option("--duration", request->duration, "how long (default: 5s)")
          ->type_name("T")
          ->check(check_not_empty);
  command
      ->add_option("CMD", request->workload,
                   "record while this runs, with its arguments (after --); all of the host is "
                   "recorded")
      ->type_name("COMMAND")
      ->excludes(duration);
  command->add_option("--with", request->with, "what records: the first that this user may use")
      ->type_name("HOW")
      ->check(CLI::IsMember({"automatic", "perf", "tracefs"}))
      ->capture_default_str();
  command->add_flag("--print-commands", request->print_commands,
                    "record nothing; print what to type on another machine");
  command->footer(
      "SIGINT (Ctrl-C), SIGTERM and SIGHUP end the recording early; it is written all the same.\n\n"
      "Example:\n  vlag record -o web.data --duration 5s\n"
      "  vlag replay web.data --attrs web.data.json --self-check");
  command->callback([request, &exit_code] { exit_code = record(*request); });
}

}  // namespace vlag

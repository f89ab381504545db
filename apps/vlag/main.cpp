// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "commands.hpp"
#include "input/input_error.hpp"
#include "input/printable.hpp"
#include "input/text.hpp"
#include "verify.hpp"

namespace {

constexpr int bad_input = 2;
constexpr int internal_fault = 3;

// The code is what counts when standard error cannot be written.
int refuse(int code, std::string_view why) {
  const std::string line = fmt::format("vlag: {}\n", vlag::printable(why));
  std::fwrite(line.data(), 1, line.size(), stderr);
  return code;
}

// A standard stream that the caller closed stays unusable, instead of becoming the next file that
// is opened.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    if (::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

const CLI::App& chosen_command(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? app : *commands.front();
}

// "unknown option --polcy; did you mean --policy?"
std::string unexpected_argument(const CLI::App& app, const std::string& fallback) {
  const CLI::App& command = chosen_command(app);
  std::vector<std::string> extras = command.remaining();
  if (extras.empty()) extras = app.remaining();
  extras.erase(std::remove(extras.begin(), extras.end(), "--"), extras.end());
  if (extras.empty()) return fallback;
  const std::string& extra = extras.front();
  const bool is_option = extra.size() > 1 && extra.front() == '-';
  const std::string name = extra.substr(0, extra.find('='));

  std::vector<std::string> known;
  if (is_option) {
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& text : option->get_lnames()) known.push_back("--" + text);
    }
  } else if (&command == &app) {
    for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; })) {
      if (!c->get_group().empty()) known.push_back(c->get_name());
    }
  }
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  const auto near = vlag::nearest_name(name, candidates);
  return fmt::format("unknown {} {}{}",
                     is_option          ? "option"
                     : &command == &app ? "command"
                                        : "argument",
                     name, near ? fmt::format("; did you mean {}?", *near) : std::string{});
}

int usage_error(const CLI::App& app, const std::string& what) {
  const CLI::App& command = chosen_command(app);
  const std::string name = &command == &app ? "vlag" : "vlag " + command.get_name();
  return refuse(bad_input, fmt::format("{} ({} --help shows the usage)", what, name));
}

bool output_failed() { return std::fflush(stdout) != 0 || std::ferror(stdout) != 0; }

int refuse_output(std::string_view why) {
  return refuse(bad_input, fmt::format("standard output cannot be written: {}", why));
}

int run(int argc, char** argv) {
  CLI::App app("vlag: the EEVDF scheduler for user space", "vlag");
  app.set_version_flag("--version", "vlag " VLAG_VERSION);
  app.require_subcommand(1);
  app.footer("Exit code: 0 done, 1 a check said no, 2 bad usage or input, 3 internal fault.");
  int exit_code = 0;
  errno = 0;
  vlag::add_record_command(app, exit_code);
  vlag::add_replay_command(app, exit_code);
  vlag::add_run_command(app, exit_code);
  vlag::add_scenarios_command(app, exit_code);
  vlag::add_explain_command(app, exit_code);
  vlag::add_verify_command(app, exit_code);
  vlag::add_latency_command(app, exit_code);
  vlag::add_timehist_command(app, exit_code);
  vlag::add_map_command(app, exit_code);
  vlag::add_compare_command(app, exit_code);
  vlag::add_trace_command(app, exit_code);
  vlag::add_profiles_command(app, exit_code);
  vlag::add_features_command(app, exit_code);
  vlag::add_generate_command(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help, --version
    exit_code = app.exit(e);
  } catch (const CLI::ExtrasError& e) {
    return usage_error(app, unexpected_argument(app, e.what()));
  } catch (const CLI::ParseError& e) {
    return usage_error(app, argc < 2 ? "no command given" : unexpected_argument(app, e.what()));
  }
  if (output_failed()) return refuse_output(std::strerror(errno));
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  occupy_closed_streams();
  try {
    return run(argc, argv);
  } catch (const vlag::input_error& e) {
    return refuse(bad_input, e.what());
  } catch (const std::system_error& e) {
    if (std::ferror(stdout) != 0) return refuse_output(e.code().message());
    return refuse(bad_input, e.what());
  } catch (const std::exception& e) {
    return refuse(internal_fault, fmt::format("internal fault: {}", e.what()));
  }
}

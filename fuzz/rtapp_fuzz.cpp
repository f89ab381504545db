// SPDX-License-Identifier: Apache-2.0
//
// An rt-app file, read both ways and run for a few simulated ms, with rt-app's log.
#include "fuzz_input.hpp"
#include "input/input_error.hpp"
#include "workload/rtapp_log.hpp"
#include "workload/rtapp_run.hpp"

#include <string>

namespace {

constexpr std::size_t most_tasks = 3'000;
constexpr std::size_t most_steps = 20'000;

void run(std::string_view text, vlag::key_reading keys) {
  vlag::rtapp_options how;
  how.keys = keys;
  how.notes = true;
  const vlag::rtapp_workload w = vlag::parse_rtapp(text, "input", how);
  std::size_t steps = 0;
  for (const vlag::task_setup& t : w.tasks) steps += t.steps.size();
  if (w.tasks.size() > most_tasks || steps > most_steps) return;
  vlag::rtapp_log log(w);
  vlag::rtapp_run_options options;
  options.duration_ns = 3'000'000;
  options.log = &log;
  const auto variant = vlag::parse_variant("linux-6.12", {}, w.cpus, w.block.machine.tick_ns);
  const vlag::run_figures figures = vlag::run_rtapp(w, variant, options);
  if (figures.cpus.size() != w.cpus || log.files().empty()) std::abort();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto keys : {vlag::key_reading::in_order, vlag::key_reading::strict}) {
    try {
      run(text, keys);
    } catch (const vlag::input_error& e) {
      if (std::string_view(e.what()).find('\n') != std::string_view::npos) std::abort();
    }
  }
  return 0;
}

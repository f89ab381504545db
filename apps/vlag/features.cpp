// SPDX-License-Identifier: Apache-2.0
#include "vlag/features.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "input/input_error.hpp"
#include "input/text.hpp"
#include "report/text_table.hpp"
#include "vlag/profile.hpp"

namespace vlag {
namespace {

constexpr std::uint64_t example_tick_ns = 4'000'000;

struct features_request {
  std::optional<std::string> profile;
  unsigned cpus = 1;
  bool as_json = false;
};

const profile& profile_named(const std::string& name) {
  if (const profile* p = find_profile(name)) return *p;
  std::vector<std::string_view> known;
  for (const profile& p : all_profiles()) known.push_back(p.name);
  const auto near = nearest_name(name, known);
  throw input_error(fmt::format("--profile: unknown profile '{}'{} (known: {})", name,
                                near ? fmt::format("; did you mean '{}'?", *near) : std::string{},
                                fmt::join(known, ", ")));
}

std::vector<const profile*> chosen_profiles(const features_request& request) {
  std::vector<const profile*> result;
  if (!request.profile) {
    for (const profile& p : all_profiles()) result.push_back(&p);
    return result;
  }
  result.push_back(&profile_named(*request.profile));
  return result;
}

bool is_on(const policy_config& config, feature f) { return config.features().has(f); }

std::string constant_text(const policy_config& config, const constant_info& c) {
  const std::uint64_t value = constant_value(config, c);
  return c.is_time ? format_duration(value) : fmt::format("{}", value);
}

std::string range_text(const constant_info& c) {
  return c.is_time ? fmt::format("{}..{}", format_duration(c.minimum), format_duration(c.maximum))
                   : fmt::format("{}..{}", c.minimum, c.maximum);
}

void print_profile(const profile& p, unsigned cpus) {
  const policy_config config = configure(p, cpus, example_tick_ns);
  text_table table({{"Name", align::left},
                    {"Value", align::left},
                    {"Since", align::left},
                    {"Meaning", align::left}});
  for (const feature_info& f : all_features()) {
    if (f.engine != p.engine) continue;
    table.add_row({std::string(f.name), is_on(config, f.id) ? "on" : "off", std::string(f.since),
                   std::string(f.meaning)});
  }
  table.add_row({"HRTICK", "off", "2.6.25", "a timer ends a request instead of the next tick"});
  for (const constant_info& c : all_constants()) {
    if (c.engine != p.engine) continue;
    table.add_row({std::string(c.name), constant_text(config, c), std::string(c.since),
                   fmt::format("{} ({})", c.meaning, range_text(c))});
  }
  fmt::print("{} ({}), on {} CPU{}\n\n{}\n", p.name, p.reference, cpus, cpus == 1 ? "" : "s",
             table.text());
}

nlohmann::ordered_json profile_json(const profile& p, unsigned cpus) {
  const policy_config config = configure(p, cpus, example_tick_ns);
  nlohmann::ordered_json features = nlohmann::ordered_json::array();
  for (const feature_info& f : all_features()) {
    if (f.engine != p.engine) continue;
    features.push_back({{"name", std::string(f.name)},
                        {"on", is_on(config, f.id)},
                        {"since", std::string(f.since)},
                        {"meaning", std::string(f.meaning)}});
  }
  nlohmann::ordered_json constants = nlohmann::ordered_json::array();
  for (const constant_info& c : all_constants()) {
    if (c.engine != p.engine) continue;
    constants.push_back({{"name", std::string(c.name)},
                         {"unit", c.is_time ? "ns" : ""},
                         {"value", constant_value(config, c)},
                         {"minimum", c.minimum},
                         {"maximum", c.maximum},
                         {"since", std::string(c.since)},
                         {"meaning", std::string(c.meaning)}});
  }
  return {{"profile", std::string(p.name)},
          {"reference", std::string(p.reference)},
          {"cpus", cpus},
          {"features", std::move(features)},
          {"constants", std::move(constants)}};
}

void show(const features_request& request) {
  const std::vector<const profile*> profiles = chosen_profiles(request);
  if (request.as_json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const profile* p : profiles) list.push_back(profile_json(*p, request.cpus));
    const nlohmann::ordered_json whole{{"schema", "vlag-features/1"},
                                       {"profiles", std::move(list)}};
    fmt::print("{}\n", whole.dump(2));
    return;
  }
  for (const profile* p : profiles) print_profile(*p, request.cpus);
  fmt::print("Each can be changed: --policy linux-6.12,base_slice=3ms,NO_RUN_TO_PARITY\n");
}

}  // namespace

void add_features_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "features", "every feature and constant: value, meaning, since which kernel");
  command->footer("Example:\n  vlag features --profile linux-6.12");
  auto request = std::make_shared<features_request>();
  command
      ->add_option_function<std::string>(
          "--profile", [request](const std::string& name) { request->profile = name; },
          "just this one")
      ->type_name("NAME");
  command->add_option("--cpus", request->cpus, "the values on a machine of that many CPUs")
      ->type_name("N")
      ->check(CLI::Range(1u, 4096u))
      ->capture_default_str();
  command->add_flag("--json", request->as_json, "as JSON");
  command->callback([request, &exit_code] {
    show(*request);
    exit_code = 0;
  });
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "vlag/profile.hpp"

#include <fmt/format.h>
#include <array>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.hpp"
#include "report/text_table.hpp"

namespace vlag {
namespace {

std::string engine_text(fair_engine engine) {
  constexpr std::array names = {"EEVDF", "CFS", "paper"};
  return names[static_cast<std::size_t>(engine)];
}

void print_profiles() {
  text_table table({{"Profile", align::left},
                    {"Class", align::left},
                    {"Means", align::left},
                    {"What it is", align::left}});
  for (const profile& p : all_profiles()) {
    table.add_row({std::string(p.name), engine_text(p.engine), std::string(p.reference),
                   std::string(p.meaning)});
  }
  std::string levels;
  for (const profile& p : all_profiles()) {
    if (!p.exact) continue;
    levels += fmt::format("{}{} means {}", levels.empty() ? "" : ", ", p.name, p.reference);
  }
  fmt::print(
      "{}\n{}:\nthe decisions of exactly that patch level, not of the whole series.\n"
      "The others follow what they name in the direction of their effects.\n"
      "vlag features --profile NAME shows what each is made of.\n",
      table.text(), levels);
}

void print_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const profile& p : all_profiles()) {
    list.push_back({{"name", std::string(p.name)},
                    {"class", engine_text(p.engine)},
                    {"reference", std::string(p.reference)},
                    {"exact", p.exact},
                    {"meaning", std::string(p.meaning)}});
  }
  const nlohmann::ordered_json whole{{"schema", "vlag-profiles/1"}, {"profiles", std::move(list)}};
  fmt::print("{}\n", whole.dump(2));
}

}  // namespace

void add_profiles_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("profiles", "the policies that can be named, and what each means");
  command->footer("Example:\n  vlag profiles");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "as JSON");
  command->callback([as_json, &exit_code] {
    if (*as_json) {
      print_json();
    } else {
      print_profiles();
    }
    exit_code = 0;
  });
}

}  // namespace vlag

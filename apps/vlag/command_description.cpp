// SPDX-License-Identifier: Apache-2.0
#include "command_description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "vlag/profile.hpp"

namespace vlag {
namespace {

constexpr std::string_view exit_label = "Exit code: ";
constexpr std::string_view example_label = "Example:\n";

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string trimmed(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with(' ')) text.remove_suffix(1);
  while (text.starts_with('\n')) text.remove_prefix(1);
  return std::string(text);
}

// "HOW:{automatic,relative}" to its parts in braces.
std::vector<std::string> listed_choices(std::string_view type) {
  std::vector<std::string> choices;
  const std::size_t open = type.find('{');
  if (open == std::string_view::npos || !type.ends_with('}')) return choices;
  type = type.substr(open + 1, type.size() - open - 2);
  while (!type.empty()) {
    const std::size_t comma = std::min(type.find(','), type.size());
    choices.emplace_back(type.substr(0, comma));
    type.remove_prefix(std::min(comma + 1, type.size()));
  }
  return choices;
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const profile& p : all_profiles()) names.emplace_back(p.name);
  return names;
}

bool names_profile(const described_option& option) {
  const auto is = [&](std::string_view name) {
    return std::find(option.spellings.begin(), option.spellings.end(), name) !=
           option.spellings.end();
  };
  return is("--policy") || is("--profile");
}

described_option describe_option(const CLI::Option& from) {
  described_option option;
  option.positional = !from.nonpositional();
  if (option.positional) {
    option.spellings.push_back(from.get_name(true, false));
  } else {
    for (const std::string& name : from.get_snames()) option.spellings.push_back("-" + name);
    for (const std::string& name : from.get_lnames()) option.spellings.push_back("--" + name);
  }
  option.required = from.get_required();
  option.repeats = from.get_items_expected_max() > 1;
  option.meaning = one_line(from.get_description());
  option.default_value = from.get_default_str();
  const std::string type = from.get_type_name();
  if (from.get_items_expected_max() > 0) {
    option.argument = option.positional ? option.spellings.front() : type.substr(0, type.find(':'));
    option.choices = names_profile(option) ? profile_names() : listed_choices(type);
  }
  // A positional that says no other type is a file.
  option.takes_file = option.argument == "FILE" || (option.positional && type.starts_with("TEXT"));
  return option;
}

void read_footer(std::string_view footer, described_command& command) {
  if (const std::size_t at = footer.find(example_label); at != std::string_view::npos) {
    std::string_view lines = footer.substr(at + example_label.size());
    while (!lines.empty()) {
      const std::size_t end = std::min(lines.find('\n'), lines.size());
      std::string_view line = lines.substr(0, end);
      if (line.starts_with("  ")) line.remove_prefix(2);
      command.example += fmt::format("{}\n", line);
      lines.remove_prefix(std::min(end + 1, lines.size()));
    }
    footer = footer.substr(0, at);
  }
  if (const std::size_t at = footer.find(exit_label); at != std::string_view::npos) {
    command.exit_status = one_line(trimmed(footer.substr(at + exit_label.size())));
    footer = footer.substr(0, at);
  }
  command.more = trimmed(footer);
}

described_command describe_below(const CLI::App& app, std::vector<std::string> path,
                                 const std::string& exit_status) {
  described_command command;
  command.path = std::move(path);
  command.summary = one_line(app.get_description());
  read_footer(app.get_footer(), command);
  if (command.exit_status.empty()) command.exit_status = exit_status;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) command.options.push_back(describe_option(*option));
  }
  std::stable_partition(command.options.begin(), command.options.end(),
                        [](const described_option& option) { return option.positional; });
  for (const CLI::App* child : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (child->get_group().empty()) continue;
    std::vector<std::string> child_path = command.path;
    child_path.push_back(child->get_name());
    command.commands.push_back(describe_below(*child, std::move(child_path), command.exit_status));
  }
  return command;
}

}  // namespace

std::string described_command::title(char between) const {
  return fmt::format("{}", fmt::join(path, std::string(1, between)));
}

described_command describe(const CLI::App& app) {
  return describe_below(app, {app.get_name()}, "");
}

}  // namespace vlag

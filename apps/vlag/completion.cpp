// SPDX-License-Identifier: Apache-2.0
#include "completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace vlag {
namespace {

template <typename Visit>
void visit_commands(const described_command& command, const Visit& visit) {
  visit(command);
  for (const described_command& child : command.commands) visit_commands(child, visit);
}

std::vector<std::string> child_names(const described_command& command) {
  std::vector<std::string> names;
  for (const described_command& child : command.commands) names.push_back(child.path.back());
  return names;
}

std::vector<std::string> option_spellings(const described_command& command) {
  std::vector<std::string> all;
  for (const described_option& option : command.options) {
    if (option.positional) continue;
    all.insert(all.end(), option.spellings.begin(), option.spellings.end());
  }
  return all;
}

// What completes the value of an option: a list of words, files, or nothing that can be known.
std::string bash_value(const described_option& option) {
  if (!option.choices.empty()) return fmt::format("words='{}'", fmt::join(option.choices, " "));
  return option.takes_file ? "files=1" : ":";
}

std::string bash_case(const described_command& command) {
  std::string text = fmt::format("    '{}')\n", command.title(' '));
  std::string values;
  bool files = false;
  for (const described_option& option : command.options) {
    if (option.positional) {
      files = files || option.takes_file;
    } else if (!option.argument.empty()) {
      values += fmt::format("        {}) {}; value=1 ;;\n", fmt::join(option.spellings, "|"),
                            bash_value(option));
    }
  }
  if (!values.empty()) text += fmt::format("      case $before in\n{}      esac\n", values);
  text += fmt::format("      options='{}'\n", fmt::join(option_spellings(command), " "));
  text += fmt::format("      others='{}'\n", fmt::join(child_names(command), " "));
  if (files) text += "      takes_files=1\n";
  return text + "      ;;\n";
}

// Of zsh's _arguments: in single quotes; brackets and colons have a meaning there.
std::string zsh_quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out;
}

std::string zsh_action(const described_option& option) {
  if (!option.choices.empty()) return fmt::format("({})", fmt::join(option.choices, " "));
  return option.takes_file ? "_files" : " ";
}

std::string zsh_option(const described_option& option) {
  if (option.positional) {
    return fmt::format("    '{}:{}:{}'", option.repeats ? "*" : "", zsh_quoted(option.argument),
                       zsh_action(option));
  }
  std::string text;
  for (const std::string& spelling : option.spellings) {
    if (!text.empty()) text += " \\\n";
    const bool is_long = spelling.starts_with("--");
    std::string argument;
    if (!option.argument.empty()) {
      argument = fmt::format(":{}:{}", zsh_quoted(option.argument), zsh_action(option));
    }
    text += fmt::format("    '*{}{}[{}]{}'", spelling,
                        argument.empty() ? ""
                        : is_long        ? "="
                                         : "+",
                        zsh_quoted(option.meaning), argument);
  }
  return text;
}

std::string zsh_function_name(const described_command& command) { return "_" + command.title('_'); }

std::string zsh_function(const described_command& command) {
  std::string specs;
  for (const described_option& option : command.options) specs += " \\\n" + zsh_option(option);
  if (command.commands.empty()) {
    return fmt::format("{}() {{\n  _arguments -s -S{}\n}}\n\n", zsh_function_name(command), specs);
  }
  std::string list;
  std::string cases;
  for (const described_command& child : command.commands) {
    list += fmt::format("    '{}:{}'\n", child.path.back(), zsh_quoted(child.summary));
    cases += fmt::format("        {}) {} ;;\n", child.path.back(), zsh_function_name(child));
  }
  return fmt::format(
      "{}() {{\n"
      "  local context state state_descr line\n"
      "  typeset -A opt_args\n"
      "  local -a commands\n"
      "  commands=(\n{}  )\n"
      "  _arguments -C{} \\\n    '1:command:->command' \\\n    '*::argument:->argument'\n"
      "  case $state in\n"
      "    command) _describe command commands ;;\n"
      "    argument)\n"
      "      case $words[1] in\n{}      esac\n"
      "      ;;\n"
      "  esac\n}}\n\n",
      zsh_function_name(command), list, specs, cases);
}

}  // namespace

std::string bash_completion(const described_command& root) {
  std::string cases;
  std::string paths;
  visit_commands(root, [&](const described_command& command) {
    cases += bash_case(command);
    if (command.path.size() > 1) paths += fmt::format("      '{}') ", command.title(' '));
    if (command.path.size() > 1) paths += "path+=\" $word\" ;;\n";
  });
  return fmt::format(
      "# Completion for bash. Generated from the definitions of the command line.\n"
      "_{0}() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  local path={0} word words= options= others= files= takes_files= value=\n"
      "  # bash takes --name=value as three words.\n"
      "  if [[ $current == = ]]; then\n"
      "    current=\n"
      "  elif [[ $before == = ]]; then\n"
      "    before=${{COMP_WORDS[COMP_CWORD-2]}}\n"
      "  fi\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    case \"$path $word\" in\n{1}    esac\n"
      "  done\n"
      "  case $path in\n{2}  esac\n"
      "  if [[ ! $value ]]; then\n"
      "    if [[ $current == -* ]]; then\n"
      "      words=$options\n"
      "    else\n"
      "      words=$others\n"
      "      files=$takes_files\n"
      "    fi\n"
      "  fi\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
      "  if [[ $files ]]; then\n"
      "    compopt -o filenames 2>/dev/null\n"
      "    mapfile -t -O \"${{#COMPREPLY[@]}}\" COMPREPLY < <(compgen -f -- \"$current\")\n"
      "  fi\n"
      "}}\n"
      "complete -F _{0} {0}\n",
      root.path.front(), paths, cases);
}

std::string zsh_completion(const described_command& root) {
  std::string text = fmt::format(
      "#compdef {0}\n# Generated from the definitions of the command line.\n\n", root.path.front());
  visit_commands(root,
                 [&text](const described_command& command) { text += zsh_function(command); });
  return text + fmt::format("{} \"$@\"\n", zsh_function_name(root));
}

}  // namespace vlag

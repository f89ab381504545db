// SPDX-License-Identifier: Apache-2.0
#include "man_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace vlag {
namespace {

// The code point that begins at `at`, which is moved to its last byte.
// Requires: valid UTF-8, as the command's own texts are.
unsigned code_point(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const unsigned more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  unsigned value = first & (0x3fU >> more);
  for (unsigned i = 0; i < more; ++i) {
    value = value << 6U | (static_cast<unsigned char>(text[++at]) & 0x3fU);
  }
  return value;
}

// Text that stands for itself: no request at the start of a line, no escape, and a hyphen that can
// be copied from the page.
std::string plain(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    line_begins = c == '\n';
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x80) {
          out += c;
        } else {
          out += fmt::format("\\[u{:04X}]", code_point(text, at));
        }
    }
  }
  return out;
}

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", plain(text)); }
std::string italic(std::string_view text) { return fmt::format("\\fI{}\\fR", plain(text)); }

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string synopsis(const described_command& command) {
  std::string line = bold(command.title(' '));
  const bool has_options = std::any_of(command.options.begin(), command.options.end(),
                                       [](const auto& option) { return !option.positional; });
  if (has_options) line += " [" + italic("OPTIONS") + "]";
  for (const described_option& option : command.options) {
    if (!option.positional && !option.required) continue;
    std::string words = option.positional
                            ? italic(option.argument)
                            : bold(option.spellings.back()) + " " + italic(option.argument);
    if (option.repeats) words += "...";
    line += option.required ? " " + words : " [" + words + "]";
  }
  if (!command.commands.empty()) line += " " + italic("COMMAND") + " ...";
  return line;
}

// A sentence that begins in lower case and has no full stop is how help has it; keep that.
std::string option_entry(const described_option& option) {
  std::string names;
  for (const std::string& spelling : option.spellings) {
    if (!names.empty()) names += ", ";
    names += option.positional ? italic(spelling) : bold(spelling);
  }
  if (!option.positional && !option.argument.empty()) names += " " + italic(option.argument);
  std::string meaning = plain(option.meaning);
  if (!option.default_value.empty()) {
    meaning += fmt::format(" (default: {})", plain(option.default_value));
  }
  if (!option.choices.empty()) {
    std::string choices;
    for (const std::string& choice : option.choices) {
      choices += (choices.empty() ? "" : ", ") + bold(choice);
    }
    meaning += "\n.br\nOne of " + choices;
  }
  return fmt::format(".TP\n{}\n{}\n", names, meaning);
}

std::string entries(const described_command& command, bool positional) {
  std::string text;
  for (const described_option& option : command.options) {
    if (option.positional == positional) text += option_entry(option);
  }
  return text;
}

// "0 done, 1 a check said no" as a list.
std::string exit_entries(std::string_view text) {
  while (text.ends_with('.')) text.remove_suffix(1);
  std::string out;
  while (!text.empty()) {
    std::size_t end = text.find(", ");
    while (end != std::string_view::npos && end + 2 < text.size() &&
           (text[end + 2] < '0' || text[end + 2] > '9')) {
      end = text.find(", ", end + 2);
    }
    end = std::min(end, text.size());
    const std::string_view part = text.substr(0, end);
    const std::size_t space = std::min(part.find(' '), part.size());
    out += fmt::format(".TP\n{}\n{}\n", bold(part.substr(0, space)),
                       plain(part.substr(std::min(space + 1, part.size()))));
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return out;
}

void collect_titles(const described_command& command, std::vector<std::string>& titles) {
  titles.push_back(command.title('-'));
  for (const described_command& child : command.commands) collect_titles(child, titles);
}

std::string see_also(const described_command& root, const described_command& command) {
  std::vector<std::string> titles;
  collect_titles(root, titles);
  std::string text;
  for (const std::string& title : titles) {
    if (title == command.title('-')) continue;
    if (!text.empty()) text += ",\n";
    text += bold(title) + "(1)";
  }
  return text + "\n";
}

}  // namespace

std::string man_page(const described_command& root, const described_command& command,
                     std::string_view version) {
  const std::string title = command.title('-');
  std::string page = fmt::format(
      ".\\\" Generated from the definitions of the command line.\n"
      ".TH {} 1 \"\" {} \"User Commands\"\n"
      ".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}\n",
      plain(upper(title)), fmt::format("\"vlag {}\"", plain(version)), plain(title),
      plain(command.summary), synopsis(command));
  const auto section = [&page](std::string_view name, const std::string& text) {
    if (!text.empty()) page += fmt::format(".SH {}\n{}", name, text);
  };
  section("DESCRIPTION", command.more.empty() ? "" : plain(command.more) + "\n");
  std::string commands;
  for (const described_command& child : command.commands) {
    commands += fmt::format(".TP\n{}\n{}; see {}(1)\n", bold(child.path.back()),
                            plain(child.summary), bold(child.title('-')));
  }
  section("COMMANDS", commands);
  section("ARGUMENTS", entries(command, true));
  section("OPTIONS", entries(command, false));
  section("EXIT STATUS", exit_entries(command.exit_status));
  section("EXAMPLES",
          command.example.empty() ? "" : fmt::format(".EX\n{}.EE\n", plain(command.example)));
  section("SEE ALSO", see_also(root, command));
  return page;
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// Man pages and completion, beside what --help says.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "command/shell.hpp"

namespace {

using vlag::test::scratch_shell;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class manual : public ::testing::Test {
 protected:
  manual() { EXPECT_EQ(shell_.run(VLAG_COMMAND " generate share").code, 0); }

  std::string help(const std::string& command) const {
    return shell_.run(VLAG_COMMAND " " + command + " --help").out;
  }
  // Commands and, with their command before them, those below.
  void commands_below(const std::string& command, std::vector<std::string>& all) const {
    all.push_back(command);
    bool inside = false;
    for (const std::string& line : lines_of(help(command))) {
      if (line.empty()) inside = false;
      std::smatch name;
      if (inside && std::regex_search(line, name, std::regex("^  ([a-z]+) "))) {
        commands_below(command.empty() ? name[1].str() : command + " " + name[1].str(), all);
      }
      if (line == "Subcommands:") inside = true;
    }
  }
  std::vector<std::string> commands() const {
    std::vector<std::string> all;
    commands_below("", all);
    return all;
  }
  std::set<std::string> options(const std::string& command) const {
    std::set<std::string> all;
    for (const std::string& line : lines_of(help(command))) {
      std::smatch found;
      if (!std::regex_search(line, found, std::regex("^  (-[-a-zA-Z0-9.,]+)"))) continue;
      std::istringstream names(found[1].str());
      for (std::string name; std::getline(names, name, ',');) all.insert(name);
    }
    return all;
  }
  static std::string page_name(std::string command) {
    std::replace(command.begin(), command.end(), ' ', '-');
    return "share/man/man1/vlag" + (command.empty() ? "" : "-" + command) + ".1";
  }
  // What bash offers for the last of the words, one a line.
  std::set<std::string> offered(const std::string& words) const {
    const auto o = shell_.run(
        "bash -c '. share/bash-completion/completions/vlag; COMP_WORDS=(" + words +
        "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _vlag; printf \"%s\\n\" \"${COMPREPLY[@]}\"'");
    EXPECT_EQ(o.err, "");
    const std::vector<std::string> all = lines_of(o.out);
    return {all.begin(), all.end()};
  }
  bool installed(const std::string& program) const {
    return shell_.run("command -v " + program).code == 0;
  }

  scratch_shell shell_;
};

using words = std::set<std::string>;

TEST_F(manual, has_each_command_and_option) {
  const std::vector<std::string> all = commands();
  ASSERT_GE(all.size(), 14U);
  const std::string zsh = shell_.content("share/zsh/site-functions/_vlag");
  for (const std::string& command : all) {
    const std::string page = shell_.content(page_name(command));
    ASSERT_NE(page, "") << command;
    EXPECT_NE(page.find(".SH EXIT STATUS\n.TP\n\\fB0\\fR\n"), page.npos) << command;
    EXPECT_EQ(page.find(".SH EXAMPLES\n") != page.npos,
              help(command).find("Example:\n") != std::string::npos)
        << command;
    const words known = options(command);
    EXPECT_TRUE(known.count("--help") == 1) << command;
    EXPECT_EQ(offered("vlag " + command + " \"-\""), known) << command;
    for (const std::string& option : known) {
      const std::string escaped = std::regex_replace(option, std::regex("-"), "\\-");
      EXPECT_NE(page.find("\\fB" + escaped + "\\fR"), page.npos) << command << " " << option;
      EXPECT_NE(zsh.find("'*" + option), zsh.npos) << command << " " << option;
    }
  }
}

TEST_F(manual, hides_what_help_hides) {
  EXPECT_EQ(shell_.content(page_name("generate")), "");
  EXPECT_EQ(help("").find("generate"), std::string::npos);
  EXPECT_EQ(offered("vlag gen"), words{""});
}

TEST_F(manual, pages_are_without_a_complaint) {
  if (!installed("groff")) GTEST_SKIP() << "groff is not installed";
  for (const std::string& command : commands()) {
    const auto o = shell_.run("groff -ww -man -Tutf8 -P-cbou " + page_name(command));
    EXPECT_EQ(o.err, "") << command;
    EXPECT_NE(o.out.find("SYNOPSIS"), std::string::npos);
  }
}

TEST_F(manual, bash_completes_commands_values_and_files) {
  shell_.write("one.data", "");
  shell_.write("one two.data", "");
  EXPECT_EQ(offered("vlag rep"), words{"replay"});
  EXPECT_EQ(offered("vlag trace \"\""), (words{"info", "convert"}));
  EXPECT_EQ(offered("vlag replay x --policy linux-6.1"), (words{"linux-6.1", "linux-6.12"}));
  EXPECT_EQ(offered("vlag features --profile pa"), words{"paper95"});
  EXPECT_EQ(offered("vlag replay --external-wakes = rel"), words{"relative"});
  EXPECT_EQ(offered("vlag trace convert x y --to p"), words{"perfetto"});
  EXPECT_EQ(offered("vlag replay --attrs on"), (words{"one.data", "one two.data"}));
  EXPECT_EQ(offered("vlag trace info one\\ "), words{"one two.data"});
  EXPECT_EQ(offered("vlag latency x --s"), (words{"--set", "--seed", "--sort"}));
  EXPECT_EQ(offered("vlag replay --seed on"), words{""});
}

TEST_F(manual, zsh_takes_its_completion) {
  if (!installed("zsh")) GTEST_SKIP() << "zsh is not installed";
  EXPECT_EQ(shell_.run("zsh -n share/zsh/site-functions/_vlag").err, "");
  const auto o = shell_.run(
      "zsh -fc 'fpath=($PWD/share/zsh/site-functions $fpath); autoload -U compinit; "
      "compinit -D -u; print $_comps[vlag]'");
  EXPECT_EQ(o.out, "_vlag\n") << o.err;
}

}  // namespace

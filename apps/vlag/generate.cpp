// SPDX-License-Identifier: Apache-2.0
//
// Hidden: writes what is installed beside the command, at build time.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "command_description.hpp"
#include "commands.hpp"
#include "completion.hpp"
#include "input/input_error.hpp"
#include "man_page.hpp"
#include "report/output_file.hpp"

namespace vlag {
namespace {

namespace fs = std::filesystem;

void write_into(const fs::path& folder, const std::string& name, const std::string& text) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw input_error(fmt::format("{}: {}", folder.string(), error.message()));
  write_whole_file((folder / name).string(), text);
}

void write_pages(const fs::path& folder, const described_command& root,
                 const described_command& command) {
  write_into(folder, command.title('-') + ".1", man_page(root, command, VLAG_VERSION));
  for (const described_command& child : command.commands) write_pages(folder, root, child);
}

void generate(const CLI::App& app, const fs::path& folder) {
  const described_command root = describe(app);
  write_pages(folder / "man" / "man1", root, root);
  write_into(folder / "bash-completion" / "completions", root.path.front(), bash_completion(root));
  write_into(folder / "zsh" / "site-functions", "_" + root.path.front(), zsh_completion(root));
}

}  // namespace

void add_generate_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("generate", "man pages and completion, into a folder");
  command->group("");
  const auto folder = std::make_shared<std::string>();
  command->add_option("DIR", *folder, "the folder, as share/ is laid out")->required();
  command->callback([&app, folder, &exit_code] {
    generate(app, *folder);
    exit_code = 0;
  });
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// The examples that come with Debian's rt-app, against the table of them in
// docs/workload-files.md.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "rtapp_case.hpp"

namespace vlag {
namespace test {
namespace {

constexpr const char* folder = "/usr/share/doc/rt-app/examples";

// Rows like | `tutorial/example1.json` | runs | … |, or with refused: `what` in the second column.
std::map<std::string, std::string> table() {
  std::map<std::string, std::string> rows;
  std::ifstream file(std::string(VLAG_TEST_DATA) + "/../../docs/workload-files.md");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `")) continue;
    const std::size_t end = line.find("` | ");
    const std::string name = line.substr(3, end - 3);
    if (end == line.npos || !name.ends_with(".json")) continue;
    const std::string rest = line.substr(end + 4);
    rows[name] = rest.substr(0, rest.find(" |"));
  }
  return rows;
}

std::string outcome_of(const std::string& path, key_reading keys) {
  try {
    rtapp_options options;
    options.keys = keys;
    const run_figures run = run_workload(read_rtapp(path, options), 2000 * ms);
    const bool busy = std::any_of(run.cpus.begin(), run.cpus.end(),
                                  [](const cpu_figures& c) { return c.busy_ns > 0; });
    return busy ? "runs" : "does nothing";
  } catch (const input_error& e) {
    const std::string what = e.what();
    return "refused: " + what.substr(what.find(".json:") + 6);
  }
}

TEST(rtapp_examples, do_what_the_table_says) {
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "rt-app is not installed";
  std::map<std::string, std::string> said = table();
  ASSERT_FALSE(said.empty());
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().extension() != ".json") continue;
    const std::string name = std::filesystem::relative(file.path(), folder).string();
    ASSERT_TRUE(said.contains(name)) << name << " is not in the table";
    const std::string found = outcome_of(file.path().string(), key_reading::in_order);
    const std::string row = said[name];
    EXPECT_TRUE(row == "runs" ? found == "runs" : row.starts_with("refused: ") && found == row)
        << name << ": " << row << ": " << found;
    said.erase(name);
  }
  EXPECT_TRUE(said.empty()) << said.begin()->first << " is in the table and not installed";
}

// Where "suspend" has no value, json-c refuses the file; workgen writes one.
TEST(rtapp_examples, strict_reading_refuses_what_the_bare_program_refuses) {
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "rt-app is not installed";
  for (const char* name : {"video-short.json", "video-long.json"}) {
    const std::string found = outcome_of(std::string(folder) + "/" + name, key_reading::strict);
    EXPECT_NE(found.find("expected : after the key \"suspend\""), std::string::npos) << found;
  }
}

}  // namespace
}  // namespace test
}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// The bundled recordings of real kernels: as many events of each kind as their descriptions say.
#include "trace/reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace vlag::trace {
namespace {

const std::filesystem::path folder = std::filesystem::path(VLAG_TEST_DATA) / "traces";

std::vector<std::string> bundled_recordings() {
  constexpr std::string_view ending = ".trace.xz";
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(ending)) names.push_back(name.substr(0, name.size() - ending.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(recordings, are_there) { EXPECT_GE(bundled_recordings().size(), 4U); }

TEST(recordings, hold_the_events_that_their_descriptions_count) {
  for (const std::string& name : bundled_recordings()) {
    SCOPED_TRACE(name);
    std::ifstream text(folder / (name + ".json"));
    const auto described = nlohmann::json::parse(text);
    const recording got = read_recording((folder / (name + ".trace.xz")).string());
    std::map<std::string, std::uint64_t> counts;
    for (const event& entry : got.events) ++counts[std::string(kernel_name(entry.kind))];
    for (const other_event& other : got.others) counts[other.name] += other.count;
    EXPECT_EQ(counts, (described.at("events").get<std::map<std::string, std::uint64_t>>()));
    EXPECT_EQ(got.cpus, described.at("cpus").get<unsigned>());
    EXPECT_TRUE(got.anomalies.empty());
  }
}

TEST(recordings, switch_out_the_task_in_whose_context_they_are_written) {
  for (const std::string& name : bundled_recordings()) {
    SCOPED_TRACE(name);
    const recording got = read_recording((folder / (name + ".trace.xz")).string());
    for (const event& entry : got.events) {
      ASSERT_NE(entry.context, context_kind::unknown);
      if (entry.kind != event_kind::sched_switch) continue;
      ASSERT_EQ(entry.pid, entry.context_pid) << "line " << entry.where;
    }
  }
}

}  // namespace
}  // namespace vlag::trace

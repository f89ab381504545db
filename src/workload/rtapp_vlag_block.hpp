// SPDX-License-Identifier: Apache-2.0
//
// The object "vlag" of a workload file, which rt-app ignores: the machine, the policies to compare,
// attributes that rt-app lacks, and what must be seen. docs/workload-files.md has its grammar.
#pragma once

#include "machine/group_setup.hpp"
#include "machine/machine.hpp"
#include "workload/expectation.hpp"
#include "workload/rtapp_text.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vlag {

struct rtapp_workload;

// A computer of HZ 250 that takes no time, with Linux's timer slack; only pipes and signals cost
// what they did where the recordings of tests/data/traces were made (docs/fidelity.md).
[[nodiscard]] machine_config plain_workload_machine();

struct block_task {
  std::string pattern;  // of names, as tasks are called here: NAME-INSTANCE
  text_place place;
  std::optional<int> nice;
  std::optional<int> latency_nice;
  std::optional<std::uint64_t> slice_ns;  // 0: none of its own
};

struct block_group {
  std::string path;
  text_place place;
  std::vector<group_file> files;
};

struct vlag_block {
  std::string summary;
  std::string source;
  unsigned cpus = 0;  // 0: not said
  machine_config machine = plain_workload_machine();
  std::vector<std::string> policies;  // SPECs, each checked; empty: not said
  std::optional<std::uint64_t> duration_ns;
  std::vector<block_task> tasks;
  std::vector<block_group> groups;
  std::vector<expectation> expectations;
  std::vector<text_place> expectation_places;
};

// What is in "vlag" of the file; the defaults when there is none. Throws input_error with the
// place: unknown keys too, since nobody else reads them.
[[nodiscard]] vlag_block read_vlag_block(const rtapp_value& root, const std::string& name);

// Gives tasks and groups what workload.block says of them. Throws input_error: a pattern that
// matches no task, a group without tasks. Requires: all tasks are made.
void apply_vlag_block(rtapp_workload& workload);

}  // namespace vlag

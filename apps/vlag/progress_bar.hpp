// SPDX-License-Identifier: Apache-2.0
//
// A bar on standard error while something long is done, with rate and time left. Shows nothing when
// standard error is not a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace vlag {

class progress_bar {
 public:
  enum class show : std::uint8_t { when_terminal, never };

  progress_bar(show when, std::string what);
  ~progress_bar();  // wipes the line
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;

  // done of all (0: unknown); items and their unit are for the rate ("3.2 M events/s"). Cheap:
  // draws ten times a second at most.
  void update(std::uint64_t done, std::uint64_t all, double items, const char* unit);

 private:
  using clock = std::chrono::steady_clock;
  bool shown_;
  bool drawn_ = false;
  std::string what_;
  clock::time_point start_;
  clock::time_point last_;
};

}  // namespace vlag

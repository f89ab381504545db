// SPDX-License-Identifier: Apache-2.0
#include "progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace vlag {
namespace {

constexpr std::size_t bar_width = 24;
constexpr std::size_t title_width = 32;

std::string with_magnitude(double value) {
  if (value >= 1e6) return fmt::format("{:.1f} M", value / 1e6);
  if (value >= 1e3) return fmt::format("{:.1f} k", value / 1e3);
  return fmt::format("{:.1f} ", value);
}

}  // namespace

progress_bar::progress_bar(show when, std::string what)
    : shown_(when == show::when_terminal && ::isatty(STDERR_FILENO) != 0),
      what_(std::move(what)),
      start_(clock::now()),
      last_(start_) {
  if (what_.size() > title_width) what_.replace(title_width - 3, what_.npos, "...");
}

progress_bar::~progress_bar() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void progress_bar::update(std::uint64_t done, std::uint64_t all, double items, const char* unit) {
  if (!shown_) return;
  const clock::time_point now = clock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  drawn_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::string line = fmt::format("\r\033[K{}", what_);
  if (all > 0) {
    const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(all));
    const auto full = static_cast<std::size_t>(part * static_cast<double>(bar_width));
    line += fmt::format(" [{}{}] {:3.0f} %", std::string(full, '#'),
                        std::string(bar_width - full, '.'), part * 100);
    line += fmt::format("  {}{}/s", with_magnitude(items / seconds), unit);
    if (part > 0.01) line += fmt::format("  {:.0f} s left", seconds / part - seconds);
  } else {
    line += fmt::format("  {}{}/s", with_magnitude(items / seconds), unit);
  }
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// What the fuzz targets share: bytes as a source, and a visitor that checks what it is given.
#pragma once

#include "input/byte_source.hpp"
#include "trace/ftrace_line.hpp"
#include "trace/intake.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace vlag::fuzz {

class memory_source final : public byte_source {
 public:
  explicit memory_source(std::string_view bytes) : left_(bytes), size_(bytes.size()) {}
  std::size_t read(char* into, std::size_t size) override {
    const std::size_t count = left_.copy(into, size);
    left_.remove_prefix(count);
    return count;
  }
  std::uint64_t bytes_consumed() const noexcept override { return size_ - left_.size(); }
  std::uint64_t file_size() const noexcept override { return size_; }

 private:
  std::string_view left_;
  std::size_t size_;
};

// Aborts when an event breaks what readers promise.
class checker final : public trace::event_visitor {
 public:
  explicit checker(const trace::recording_info& about) : about_(about) {}
  void visit(const trace::event& entry) override {
    const auto most_cpu = static_cast<std::int32_t>(trace::highest_cpu);
    if (entry.cpu > trace::highest_cpu || entry.target_cpu > most_cpu || entry.time_ns < last_ns_ ||
        std::max({entry.comm, entry.other_comm, entry.text}) >= about_.strings.size()) {
      std::abort();
    }
    last_ns_ = entry.time_ns;
  }

 private:
  const trace::recording_info& about_;
  std::uint64_t last_ns_ = 0;
};

inline constexpr std::size_t events_held = 256;

}  // namespace vlag::fuzz

// NOLINTNEXTLINE: libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// SPDX-License-Identifier: Apache-2.0
//
// Damage to binary recordings: a result, with anomalies, or one clear line; never a crash or a
// hang.
#include "input/input_error.hpp"
#include "input/scratch_file.hpp"
#include "trace/bundled.hpp"
#include "trace/ftrace_line.hpp"
#include "trace/reader.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <string>

namespace vlag::trace {
namespace {

class checker final : public event_visitor {
 public:
  explicit checker(const recording_info& about) : about_(about) {}
  void visit(const event& entry) override {
    ++events;
    ASSERT_GE(entry.time_ns, last_ns_);
    last_ns_ = entry.time_ns;
    ASSERT_LE(entry.cpu, highest_cpu);
    ASSERT_LE(entry.target_cpu, static_cast<std::int32_t>(highest_cpu));
    ASSERT_LT(std::max({entry.comm, entry.other_comm, entry.text}), about_.strings.size());
  }
  std::uint64_t events = 0;

 private:
  const recording_info& about_;
  std::uint64_t last_ns_ = 0;
};

enum class outcome { result, refused };

outcome read_damaged(const std::string& bytes) {
  const test::scratch_file file(bytes);
  recording_info about;
  checker checked(about);
  try {
    visit_recording(file.path(), about, checked);
    return outcome::result;
  } catch (const input_error& error) {
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
    EXPECT_TRUE(std::string_view(error.what()).starts_with(file.path())) << error.what();
    return outcome::refused;
  }
}

void expect_no_process_left() {
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

// Reading a trace.dat starts a process, so fewer of its cuts and flips are tried.
unsigned tries(const test::bundled_format& one) { return one.format == "trace.dat" ? 12 : 300; }

TEST(format_damage, a_file_cut_anywhere) {
  for (const test::bundled_format& one : test::bundled_formats()) {
    SCOPED_TRACE(one.file);
    const std::string intact = test::bytes_of(test::bundled_path(one.file));
    std::mt19937_64 random(1);
    unsigned refused = 0;
    for (unsigned i = 0; i < tries(one); ++i) {
      const std::size_t size = i < 20 ? i * 8 : random() % intact.size();
      SCOPED_TRACE(size);
      refused += read_damaged(intact.substr(0, size)) == outcome::refused ? 1U : 0U;
      if (HasFailure()) return;
    }
    EXPECT_GT(refused, 0U);
    expect_no_process_left();
  }
}

TEST(format_damage, flipped_bytes) {
  for (const test::bundled_format& one : test::bundled_formats()) {
    SCOPED_TRACE(one.file);
    const std::string intact = test::bytes_of(test::bundled_path(one.file));
    unsigned results = 0;
    for (unsigned seed = 0; seed < tries(one); ++seed) {
      SCOPED_TRACE(seed);
      std::mt19937_64 random(seed);
      std::string damaged = intact;
      // Heads are small, and where damage hurts.
      const std::size_t among = seed % 2 == 0 ? damaged.size() : 4096;
      for (auto flips = 1 + random() % 8; flips > 0; --flips) {
        damaged[random() % among] = static_cast<char>(random());
      }
      results += read_damaged(damaged) == outcome::result ? 1U : 0U;
      if (HasFailure()) return;
    }
    // All of a compressed trace.dat is checked by libtracecmd.
    if (one.format == "perf.data") {
      EXPECT_GT(results, 0U);
    }
    expect_no_process_left();
  }
}

}  // namespace
}  // namespace vlag::trace

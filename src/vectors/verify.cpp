// SPDX-License-Identifier: Apache-2.0
#include "vectors/verify.hpp"

#include "input/line_reader.hpp"
#include "input/printable.hpp"
#include "vectors/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <utility>

namespace vlag {
namespace {

const vector_kind& kind_of(const json_line& header) {
  const json_node* format = header.find("format");
  if (format == nullptr) {
    header.reject(
        "no header: expected a first line with \"format\", which says what kind of "
        "vector it is");
  }
  const std::string_view name = header.text_value(*format, "format");
  std::vector<std::string_view> known;
  for (const auto& kind : vector_kinds()) {
    if (kind.format == name) return kind;
    known.push_back(kind.format);
  }
  header.reject(
      fmt::format("unknown format {}: known are {}", in_quotes(name), fmt::join(known, ", ")));
}

// One vector on its way: the driver and the states on both sides.
class vector_run {
 public:
  vector_run(const json_line& header, const vector_kind& kind)
      : driver_(kind.make(header)), header_(header), layout_(&driver_->layout()) {
    static_cast<void>(reader());
  }

  // The difference after the operation of a line, if any.
  std::optional<difference> step(const json_line& line) {
    op_ = read_operation(line, driver_->operations());
    if (op_.number != ++count_) {
      line.reject(fmt::format("operation number \"i\" is {}: expected {}", op_.number, count_));
    }
    if (over_) line.reject("an operation after the one in which the reference crashed");
    if (op_.crashed) return step_crash(line);
    layout_ = &driver_->layout_of(op_);
    reader().read(line, expected_,
                  [&](std::string_view key) { return op_.skipped || driver_->is_key(op_, key); });
    driver_->complete_expected(expected_, op_);
    if (!op_.skipped) driver_->apply(op_, line);
    driver_->observe(op_, got_);
    return first_difference(*layout_, expected_, got_);
  }

  std::uint64_t count() const { return count_; }
  const operation& last() const { return op_; }
  std::string both_states() const { return side_by_side(*layout_, expected_, got_); }

 private:
  std::optional<difference> step_crash(const json_line& line) {
    over_ = true;
    layout_ = &driver_->layout_of(op_);
    driver_->note_crash(op_, line);
    driver_->apply(op_, line);
    driver_->observe(op_, got_);
    expected_ = got_;
    driver_->expect_answer(op_, expected_);
    return first_difference(*layout_, expected_, got_);
  }

  // One for each layout that occurs; there are few.
  state_reader& reader() {
    for (auto& known : readers_) {
      if (known.first == layout_) return known.second;
    }
    return readers_.emplace_back(layout_, state_reader(*layout_, header_)).second;
  }

  std::unique_ptr<vector_driver> driver_;
  json_line header_;
  const state_layout* layout_;
  std::vector<std::pair<const state_layout*, state_reader>> readers_;
  operation op_;
  state expected_;
  state got_;
  std::uint64_t count_ = 0;
  bool over_ = false;
};

}  // namespace

namespace {

bool is_vector_name(std::string_view name) {
  return name.ends_with(".jsonl") || name.ends_with(".jsonl.gz") || name.ends_with(".jsonl.xz") ||
         name.ends_with(".jsonl.zst");
}

}  // namespace

std::vector<std::string> vector_files(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return {path};
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(path, error); !error && at != end(at);
       at.increment(error)) {
    if (is_vector_name(at->path().filename().string())) found.push_back(at->path().string());
  }
  if (error) throw input_error(fmt::format("{}: cannot be read: {}", path, error.message()));
  if (found.empty()) {
    throw input_error(fmt::format(
        "{}: a directory without vectors: expected *.jsonl, plain or .gz, .xz or .zst", path));
  }
  std::sort(found.begin(), found.end());
  return found;
}

void verify_vector(const std::string& path, verify_totals& totals, std::ostream& out) {
  line_reader lines(path);
  json_line line(path);
  std::string_view text;
  if (!lines.next(text)) throw input_error(fmt::format("{}: empty: expected a vector", path));
  line.parse(text, lines.line_number());
  vector_run run(line, kind_of(line));
  ++totals.vectors;
  while (lines.next(text)) {
    line.parse(text, lines.line_number());
    const auto found = run.step(line);
    ++totals.operations;
    if (!found) continue;
    ++totals.differences;
    out << fmt::format("{}: operation {} ({}), line {}: {}: expected {}, got {}\n", printable(path),
                       run.last().number, run.last().info->name, lines.line_number(),
                       printable(found->where), printable(found->expected), printable(found->got))
        << run.both_states();
    return;
  }
  if (run.count() == 0) line.reject("a header without operations");
}

}  // namespace vlag

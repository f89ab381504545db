// SPDX-License-Identifier: Apache-2.0
#include "report/result_reader.hpp"

#include "input/byte_source.hpp"
#include "input/input_error.hpp"
#include "input/printable.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>

namespace vlag {
namespace {

using nlohmann::json;

constexpr std::size_t most_bytes = std::size_t{512} << 20;
constexpr std::size_t most_values = 8'000'000;
constexpr int most_levels = 32;

std::string content_of(const std::string& path) {
  const std::unique_ptr<byte_source> source = open_bytes(path);
  std::string content;
  std::array<char, 65536> piece{};
  while (const std::size_t got = source->read(piece.data(), piece.size())) {
    content.append(piece.data(), got);
    if (content.size() > most_bytes) {
      throw input_error(fmt::format("{}: longer than {} bytes; expected a results file",
                                    shown_path(path), most_bytes));
    }
  }
  return content;
}

class result_reading {
 public:
  explicit result_reading(const std::string& path) : path_(path), shown_(shown_path(path)) {}

  std::vector<result_column> read() {
    const json root = parse();
    if (!root.is_object() || !root.contains("schema") || root["schema"] != "vlag-result/1") {
      fail(R"(no results file: expected "schema": "vlag-result/1", as --json writes it)");
    }
    const json& run = member(root, "", "run", json::value_t::object);
    std::vector<result_column> columns;
    const json& results = member(root, "", "results", json::value_t::array);
    for (std::size_t i = 0; i < results.size(); ++i) {
      result_column& column = columns.emplace_back();
      column.file = shown_;
      column.seed = number(run, "run", "seed");
      column.workload = workload_of(run);
      read_column(results[i], fmt::format("results[{}]", i), column);
    }
    if (columns.empty()) fail("no results in it");
    return columns;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw input_error(fmt::format("{}: {}", shown_, what));
  }

  json parse() const {
    std::size_t values = 0;
    // Histograms are most of a file, and are not needed.
    const auto keep = [&](int depth, json::parse_event_t event, json& parsed) {
      if (depth > most_levels) fail(fmt::format("nested deeper than {} levels", most_levels));
      if (++values > most_values) fail(fmt::format("more than {} values", most_values));
      return event != json::parse_event_t::key || parsed != "histograms";
    };
    try {
      return json::parse(content_of(path_), keep);
    } catch (const json::parse_error& e) {
      fail(fmt::format("byte {}: not JSON; expected a results file, as --json writes it", e.byte));
    }
  }

  [[nodiscard]] const json& member(const json& of, const std::string& where, const char* name,
                                   json::value_t type) const {
    const std::string place = where.empty() ? name : fmt::format("{}.{}", where, name);
    const auto found = of.is_object() ? of.find(name) : of.end();
    if (!of.is_object() || found == of.end()) fail(fmt::format("{} is missing", place));
    if (found->type() != type) {
      const char* expected = type == json::value_t::number_unsigned
                                 ? "a whole number that is not negative"
                                 : json(type).type_name();
      fail(fmt::format("{} is {}; expected {}", place,
                       found->is_number() ? found->dump() : found->type_name(), expected));
    }
    return *found;
  }

  [[nodiscard]] std::uint64_t number(const json& of, const std::string& where,
                                     const char* name) const {
    const json& value = member(of, where, name, json::value_t::number_unsigned);
    return value.get<std::uint64_t>();
  }

  [[nodiscard]] std::string text(const json& of, const std::string& where, const char* name) const {
    return member(of, where, name, json::value_t::string).get<std::string>();
  }

  [[nodiscard]] std::string workload_of(const json& run) const {
    std::string result;
    for (const json& argument : member(run, "run", "arguments", json::value_t::array)) {
      if (!argument.is_string()) fail("run.arguments holds what is no text");
      const std::string& one = argument.get_ref<const std::string&>();
      if (one.starts_with("--seed=") || one.starts_with("--policy=")) continue;
      result += one + '\n';
    }
    return result;
  }

  void read_column(const json& of, const std::string& where, result_column& column) const {
    column.label = text(of, where, "label");
    const auto policy = of.find("policy");
    column.recorded = policy == of.end() || policy->is_null();
    const json& groups = member(of, where, "names", json::value_t::array);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      column.groups.push_back(read_group(groups[i], fmt::format("{}.names[{}]", where, i)));
    }
  }

  [[nodiscard]] result_group read_group(const json& of, const std::string& where) const {
    result_group group;
    group.name = text(of, where, "name");
    group.tasks = number(of, where, "tasks");
    result_figures& f = group.figures;
    f.share_ppm = number(of, where, "share_ppm");
    f.runtime_ns = number(of, where, "cpu_ns");
    f.switches = number(of, where, "switches_in");
    f.wakeups = number(of, where, "wakeups");
    const json& delay = member(of, where, "delay", json::value_t::object);
    const std::string place = where + ".delay";
    f.waits = number(delay, place, "count");
    f.delay_sum_ns = number(delay, place, "sum_ns");
    f.mean_ns = number(delay, place, "mean_ns");
    f.p50_ns = number(delay, place, "p50_ns");
    f.p90_ns = number(delay, place, "p90_ns");
    f.p99_ns = number(delay, place, "p99_ns");
    f.p99_9_ns = number(delay, place, "p99_9_ns");
    f.max_ns = number(delay, place, "max_ns");
    return group;
  }

  std::string path_;
  std::string shown_;
};

}  // namespace

std::vector<result_column> read_results(const std::string& path) {
  return result_reading(path).read();
}

}  // namespace vlag

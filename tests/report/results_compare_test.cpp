// SPDX-License-Identifier: Apache-2.0
#include "report/results_compare.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "input/input_error.hpp"
#include "report/result_json.hpp"

namespace vlag {
namespace {

result_column column(std::string label, std::uint64_t seed, std::uint64_t p99_ns,
                     std::uint64_t waits = 500) {
  result_column c;
  c.file = "a.json";
  c.label = std::move(label);
  c.seed = seed;
  result_figures f;
  f.share_ppm = 400'000;
  f.switches = 1000;
  f.waits = waits;
  f.mean_ns = p99_ns / 2;
  f.delay_sum_ns = f.mean_ns * waits;
  f.p99_ns = p99_ns;
  f.max_ns = 2 * p99_ns;
  c.groups.push_back({"frame", 1, f});
  f.share_ppm = 5'000;
  c.groups.push_back({"little", 3, f});
  return c;
}

std::vector<std::string> failures(const std::vector<result_variant>& variants,
                                  const char* condition) {
  return judge(variants, baseline_of(variants), {parse_fail_condition(condition)}).failures;
}

TEST(results_compare, samples_of_one_variant_are_taken_together) {
  const auto variants =
      variants_of({column("a", 1, 100), column("b", 1, 100), column("a", 2, 300)});
  ASSERT_EQ(variants.size(), 2U);
  EXPECT_EQ(variants[0].samples.size(), 2U);
  const auto d = difference(variants[1], variants[0], "frame", result_measure::p99);
  ASSERT_TRUE(d);
  EXPECT_DOUBLE_EQ(d->value, 200);
  EXPECT_DOUBLE_EQ(d->base, 100);
  EXPECT_FALSE(d->significant);
  EXPECT_THROW(static_cast<void>(variants_of({column("a", 1, 100), column("a", 1, 100)})),
               input_error);
}

TEST(results_compare, variants_of_one_label_and_other_workloads_are_told_apart) {
  result_column other = column("a", 1, 100);
  other.file = "b.json";
  other.workload = "--window=1s..2s\n";
  const auto variants = variants_of({column("a", 1, 100), other});
  ASSERT_EQ(variants.size(), 2U);
  EXPECT_EQ(variants[0].title, "a (a.json)");
  EXPECT_EQ(variants[1].title, "a (b.json)");
}

// Welch: means 102 and 111, variances of the means 1 each (n = 3): t = 9 / sqrt(2) = 6.36, 4
// degrees of freedom, 2.776. With means 102 and 105: t = 2.12.
TEST(results_compare, significance_is_that_of_welchs_test) {
  const auto with = [](std::uint64_t shift) {
    std::vector<result_column> columns;
    for (const std::uint64_t i : {0U, 1U, 2U}) {
      const std::uint64_t spread = i == 0 ? 100 : i == 1 ? 102 : 104;
      columns.push_back(column("a", i, spread));
      columns.push_back(column("b", i, spread + shift));
    }
    return variants_of(columns);
  };
  const auto far = with(9);
  EXPECT_EQ(difference(far[0], far[1], "frame", result_measure::p99)->significant, true);
  const auto near = with(3);
  EXPECT_EQ(difference(near[0], near[1], "frame", result_measure::p99)->significant, false);
  EXPECT_EQ(failures(far, "p99>+5%").size(), 1U);
  EXPECT_EQ(failures(near, "p99>+1%").size(), 0U);  // larger, but not significant
}

TEST(results_compare, conditions_are_judged) {
  const auto variants = variants_of({column("a", 1, 10'000'000), column("b", 1, 12'000'000)});
  EXPECT_EQ(failures(variants, "p99>+10%").size(), 1U);  // little has less than 1 %
  EXPECT_EQ(failures(variants, "p99>+20%").size(), 0U);  // not more than that
  EXPECT_EQ(failures(variants, "p99<+30%").size(), 1U);
  EXPECT_EQ(failures(variants, "*.p99>+10%").size(), 2U);
  EXPECT_EQ(failures(variants, "little.max>+3.9ms").size(), 1U);
  EXPECT_EQ(failures(variants, "little.max>+4.1ms").size(), 0U);
  EXPECT_EQ(failures(variants, "mean>4.9ms").size(), 2U);  // the baseline's too
  EXPECT_EQ(failures(variants, "mean>5.5ms").size(), 1U);
  EXPECT_EQ(failures(variants, "share<50%").size(), 2U);
  EXPECT_EQ(failures(variants, "share<-1pp").size(), 0U);
  EXPECT_EQ(failures(variants, "switches>999").size(), 2U);
  EXPECT_THROW(failures(variants, "nobody.p99>+10%"), input_error);
}

TEST(results_compare, few_waits_judge_nothing) {
  const auto variants = variants_of({column("a", 1, 100, 99), column("b", 1, 200, 99)});
  const fail_verdict verdict = judge(variants, 0, {parse_fail_condition("p99>+10%")});
  EXPECT_TRUE(verdict.failures.empty());
  EXPECT_EQ(verdict.notes.size(), 1U);
  EXPECT_EQ(failures(variants, "mean>+10%").size(), 1U);
}

TEST(results_compare, conditions_are_read) {
  const fail_condition c = parse_fail_condition("mi*.p99.9>-1.5us");
  EXPECT_EQ(c.task, "mi*");
  EXPECT_EQ(c.what, result_measure::p99_9);
  EXPECT_EQ(c.kind, fail_condition::amount::difference);
  EXPECT_DOUBLE_EQ(c.limit, -1500);
  EXPECT_EQ(parse_fail_condition("p99.9>1s").task, "");
  EXPECT_EQ(parse_fail_condition("a.b.share<2%").task, "a.b");
  for (const char* wrong :
       {"", "p99", "p99>", "p99>+", "p98>1ms", ".p99>1ms", "p99>1", "p99>1%", "p99>+1pp", "share>1",
        "share>1pp", "switches>1ms", "p99>1ms2", "p99>1e3ms", "p99>..ms", "p99=1ms", "xp99>1ms"}) {
    EXPECT_THROW(static_cast<void>(parse_fail_condition(wrong)), input_error) << wrong;
  }
}

class results_file : public ::testing::Test {
 protected:
  results_file()
      : path_(std::filesystem::temp_directory_path() /
              ("vlag-results-" + std::to_string(::getpid()) + "-" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name())) {}
  ~results_file() override { std::filesystem::remove(path_); }
  void write(const std::string& text) { std::ofstream(path_) << text; }
  std::string error() {
    try {
      static_cast<void>(read_results(path_));
    } catch (const input_error& e) {
      return e.what();
    }
    return "";
  }
  std::string path_;
};

std::string valid_file() {
  run_figures run;
  run.label = "linux-6.12";
  run.to_ns = 1000;
  run.cpus.resize(1);
  task_figures t;
  t.pid = 7;
  t.name = "frame";
  t.cpu_ns = 500;
  t.switches_in = 3;
  t.wakeups = 2;
  t.wake_latency.add(10);
  t.wake_latency.add(30);
  run.tasks.push_back(t);
  result_document document;
  document.arguments = {"replay", "x", "--policy=linux-6.12", "--seed=9"};
  document.seed = 9;
  const result_policy policy;
  document.runs = {{&run, nullptr}, {&run, &policy}};
  return result_json(document);
}

TEST_F(results_file, is_read_as_it_was_written) {
  write(valid_file());
  const std::vector<result_column> columns = read_results(path_);
  ASSERT_EQ(columns.size(), 2U);
  EXPECT_TRUE(columns[0].recorded);
  EXPECT_FALSE(columns[1].recorded);
  EXPECT_EQ(columns[1].label, "linux-6.12");
  EXPECT_EQ(columns[1].seed, 9U);
  EXPECT_EQ(columns[1].workload, "replay\nx\n");
  ASSERT_EQ(columns[1].groups.size(), 1U);
  const result_figures& f = columns[1].groups[0].figures;
  EXPECT_EQ(f.share_ppm, 500'000U);
  EXPECT_EQ(f.runtime_ns, 500U);
  EXPECT_EQ(f.switches, 3U);
  EXPECT_EQ(f.wakeups, 2U);
  EXPECT_EQ(f.waits, 2U);
  EXPECT_EQ(f.mean_ns, 20U);
  EXPECT_EQ(f.max_ns, 30U);
}

TEST_F(results_file, is_refused_with_the_place) {
  write("[1]");
  EXPECT_NE(error().find("no results file"), std::string::npos);
  write("{");
  EXPECT_NE(error().find("byte "), std::string::npos);
  std::string text = valid_file();
  text.replace(text.find("\"mean_ns\": ", text.find("\"names\"")), 11, "\"mean_ns\": -");
  write(text);
  EXPECT_NE(error().find("results[0].names[0].delay.mean_ns"), std::string::npos) << error();
  write(std::string(100'000, '['));
  EXPECT_NE(error().find("nested deeper"), std::string::npos);
}

TEST_F(results_file, cut_anywhere_is_an_error_and_no_crash) {
  const std::string text = valid_file();
  for (std::size_t length = 1; length + 2 < text.size(); length += 97) {
    write(text.substr(0, length));
    EXPECT_NE(error(), "") << length;
  }
}

}  // namespace
}  // namespace vlag

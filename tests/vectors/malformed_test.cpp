// SPDX-License-Identifier: Apache-2.0
//
// What is no vector: one line that says where and what was expected.
#include "vectors/vector_text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace vlag {
namespace {

const std::string header =
    R"({"format":"eevdf-oracle-1","name":"t","hz":250,"tick_nsec":4000000,"base_slice":3000000,)"
    R"("t0":0,"zero_vruntime":1000,"feat":{"PLACE_LAG":1},"ent_cols":["id","on_rq",)"
    R"("sched_delayed","is_curr","weight","vruntime","deadline","slice","custom_slice","vlag",)"
    R"("rel_deadline","eligible","sum_exec"]})";

// The rest of a line on an empty queue at time t.
std::string idle_state(std::uint64_t t = 0) {
  return fmt::format(
      R"("t":{},"ret":0,"resched":0,"curr":0,"picked":-1,"peek":0,"next":0,"nr_queued":0,)"
      R"("nr_running":0,"h_nr_queued":0,"h_nr_runnable":0,"h_nr_delayed":0,)"
      R"("zero_vruntime":1000,"sum_wv":0,"sum_w":0,"load":0,"W":0,"V":1000,)"
      R"("min_vruntime":null,"done_delayed":[],"rb":[],"ents":[]}})",
      t);
}

std::string line(const std::string& operation, std::uint64_t number = 1, std::uint64_t t = 0) {
  return fmt::format("{{\"i\":{},\"op\":{},{}\n", number, operation, idle_state(t));
}

// Verifies header + body and expects ":LINE: ... words ...".
void refuses(const std::string& body, std::uint64_t at, const std::string& words,
             const std::string& head = header) {
  const verdict found = verify_text(head + "\n" + body);
  const std::string place = fmt::format(":{}: ", at);
  EXPECT_EQ(found.error.rfind(place, 0), 0U) << found.error;
  EXPECT_NE(found.error.find(words), std::string::npos) << found.error;
  EXPECT_EQ(found.printed, "");
  EXPECT_LT(found.error.size(), 500U) << found.error;
}

std::string without(std::string text, const std::string& part, const std::string& instead = "") {
  const auto at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), instead);
}

TEST(malformed, the_harmless_case_is_accepted) {
  const verdict found = verify_text(header + "\n" + line("\"run\",\"ns\":5", 1, 5));
  EXPECT_EQ(found.error, "");
  EXPECT_EQ(found.totals.operations, 1U);
  EXPECT_EQ(found.totals.differences, 0U) << found.printed;
}

TEST(malformed, no_json) {
  refuses("{\"i\":1,\"op\":\"run\",\"ns\":", 2, "no JSON at byte");
  refuses("hello\n", 2, "no JSON at byte");
  refuses("\n", 2, "no JSON at byte");
  refuses("{\"i\":1}{}\n", 2, "no JSON at byte");
  refuses("{\"i\":1,\"op\":\"\xff\xfe\"}\n", 2, "no JSON at byte");
  refuses("[1,2]\n", 2, "expected one JSON object a line");
  refuses("7\n", 2, "expected one JSON object a line");
  refuses(line("\"tick\",\"op\":\"run\""), 2, "\"op\" is there twice");
}

TEST(malformed, deep_or_wide) {
  refuses(std::string(1'000'000, '[') + "\n", 2, "nested more than 6 deep");
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += "{\"a\":";
  refuses(nested + "\n", 2, "nested more than 6 deep");
  std::string wide = "{\"a0\":1";
  for (int i = 1; i < 100; ++i) wide += fmt::format(",\"a{}\":1", i);
  refuses(wide + "}\n", 2, "more than 64 keys");
  std::string many = "{\"rb\":[1";
  for (int i = 0; i < 2'200'000; ++i) many += ",1";
  refuses(many + "]}\n", 2, "more than 2097152 values");
}

TEST(malformed, integers_are_exact_or_refused) {
  refuses(line("\"run\",\"ns\":18446744073709551616"), 2,
          "\"ns\" is 18446744073709551616: expected an integer from 0 to");
  refuses(line("\"run\",\"ns\":-1"), 2, "\"ns\" is -1");
  refuses(line("\"run\",\"ns\":1.5"), 2, "\"ns\" is 1.5");
  refuses(line("\"run\",\"ns\":1e3"), 2, "\"ns\" is 1e3");
  refuses(line("\"run\",\"ns\":\"5\""), 2, "\"ns\" is \"5\"");
  refuses(line("\"run\",\"ns\":true"), 2, "\"ns\" is true");
  refuses(line("\"run\",\"ns\":[5]"), 2, "\"ns\" is an array of 1");
  refuses(line("\"run\",\"ns\":9223372036854775808"), 2, "\"ns\" is 9223372036854775808");
  refuses(without(line("\"tick\""), "\"sum_wv\":0", "\"sum_wv\":18446744073709551616"), 2,
          "\"sum_wv\" is 18446744073709551616");
  refuses(without(line("\"tick\""), "\"sum_wv\":0", "\"sum_wv\":-9223372036854775809"), 2,
          "\"sum_wv\" is -9223372036854775809");
  const verdict largest = verify_text(
      header + "\n" + without(line("\"tick\""), "\"sum_wv\":0", "\"sum_wv\":18446744073709551615"));
  EXPECT_EQ(largest.error, "");
  EXPECT_NE(largest.printed.find("sum_wv: expected 18446744073709551615, got 0"),
            std::string::npos);
}

TEST(malformed, operations) {
  refuses(line("\"sleep\""), 2, "unknown operation \"sleep\": known are fork, run");
  refuses(line("7"), 2, "\"op\" is 7: expected a string");
  refuses(line("\"run\""), 2, "run without its argument \"ns\"");
  refuses(line("\"fork\""), 2, "fork without its argument \"id\"");
  refuses(line("\"fork\",\"id\":0"), 2, "\"id\" is 0");
  refuses(line("\"fork\",\"id\":2147483648"), 2, "\"id\" is 2147483648");
  refuses(line("\"fork\",\"id\":1,\"nice\":20"), 2, "\"nice\" is 20: expected an integer from -20");
  refuses(line("\"fork\",\"id\":1,\"policy\":\"fifo\""), 2, "expected normal, batch or idle");
  refuses(line("\"reweight\",\"id\":1,\"weight\":0"), 2, "\"weight\" is 0");
  refuses(line("\"tick\",\"ns\":1"), 2, "unknown key \"ns\"");
  refuses(line("\"tick\",\"x\\u0001y\":1"), 2, "unknown key \"x\\x01y\"");
  refuses(line("\"rewake\",\"id\":1"), 2, "unknown operation \"rewake\"");
  refuses(line("\"tick\"", 2), 2, "\"i\" is 2: expected 1");
  refuses(without(line("\"tick\""), "\"i\":1,"), 2, "\"i\" is missing");
}

TEST(malformed, operations_without_sense_here) {
  for (const char* op : {"block", "exit", "yield"}) {
    refuses(line(fmt::format("\"{}\"", op)), 2, fmt::format("{} while no task runs", op));
  }
  refuses(line("\"yield_to\",\"id\":1"), 2, "yield_to while no task runs");
  refuses(line("\"wake\",\"id\":1"), 2, "wake of task 1, which does not exist");
  refuses(line("\"renice\",\"id\":1,\"nice\":1"), 2, "task 1, which does not exist");
  refuses(line("\"reweight\",\"id\":1,\"weight\":1024"), 2, "task 1, which does not exist");
  refuses(line("\"set_slice\",\"id\":1,\"ns\":1"), 2, "task 1, which does not exist");
  const std::string late = without(header, "\"t0\":0", "\"t0\":9223372036854775807");
  refuses(line("\"run\",\"ns\":1"), 2, "the clock passes 2^63 ns", late);
}

// A recorded vector of which the operation of one line is replaced.
void refuses_in(const std::string& name, std::size_t number, const std::string& operation,
                const std::string& words) {
  auto lines = recorded_lines(name, number);
  auto& text = lines.back();
  const auto from = text.find("\"op\":");
  const auto to = text.find("\"ret\":");
  text.replace(from, to - from, "\"op\":" + operation + ",");
  const verdict found = verify_text(joined(lines));
  EXPECT_NE(found.error.find(words), std::string::npos) << found.error << found.printed;
}

std::size_t first_operation(const std::string& name, const std::string& op) {
  const auto lines = recorded_lines(name, 1000);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].find("\"op\":\"" + op + "\"") != std::string::npos) return i;
  }
  ADD_FAILURE() << op;
  return 1;
}

TEST(malformed, sequences_that_break_the_contract) {
  for (const std::string name : {"eevdf/rand_default_1", "cfs/rand_default_1"}) {
    const std::size_t block = first_operation(name, "block");
    refuses_in(name, block + 1, "\"tick\"", "expected schedule");
    refuses_in(name, block + 1, "\"block\"", "expected schedule");
    const std::size_t fork = first_operation(name, "fork");
    refuses_in(name, fork + 1, "\"fork\",\"id\":1,\"nice\":0", "task 1, which exists already");
    refuses_in(name, fork + 1, "\"wake\",\"id\":1", "wake of task 1, which is not asleep");
  }
  const std::size_t schedule = first_operation("cfs/rand_default_1", "schedule");
  refuses_in("cfs/rand_default_1", schedule + 1, "\"rewake\",\"id\":1", "not waiting");
}

TEST(malformed, operations_on_groups_without_sense_here) {
  const std::string name = "hierarchy/rand_bw_1";
  const std::size_t made = first_operation(name, "mkgroup");
  refuses_in(name, made + 1, "\"mkgroup\",\"group\":0,\"parent\":0", "exists already");
  refuses_in(name, made + 1, "\"mkgroup\",\"group\":77,\"parent\":76", "group 76 does not exist");
  refuses_in(name, made + 1, "\"rmgroup\",\"group\":0", "rmgroup of group 0, which is not empty");
  refuses_in(name, made + 1, "\"rmgroup\",\"group\":77", "group 77 does not exist");
  refuses_in(name, made + 1, "\"setweight\",\"group\":77,\"weight\":1", "group 77 does not exist");
  refuses_in(name, made + 1, "\"setweight\",\"group\":1", "without its argument \"weight\"");
  refuses_in(name, made + 1, "\"period_timer\",\"group\":1", "group 1, which is not due");
  refuses_in(name, made + 1, "\"fork\",\"id\":99,\"group\":77", "group 77 does not exist");
  const std::size_t fork = first_operation(name, "fork");
  refuses_in(name, fork + 1, "\"move\",\"id\":1,\"group\":77", "group 77 does not exist");
}

TEST(malformed, states) {
  refuses(without(line("\"tick\""), "\"rb\":[],"), 2, "\"rb\" is missing");
  refuses(without(line("\"tick\""), "\"V\":1000,"), 2, "\"V\" is missing");
  refuses(without(line("\"tick\""), ",\"ents\":[]"), 2, "\"ents\" is missing");
  refuses(without(line("\"tick\""), "\"rb\":[]", "\"rb\":{}"), 2, "expected an array");
  refuses(without(line("\"tick\""), "\"rb\":[]", "\"rb\":[\"a\"]"), 2, "\"rb\" is \"a\"");
  refuses(without(line("\"tick\""), "\"ents\":[]", "\"ents\":[1]"), 2, "expected an array");
  refuses(without(line("\"tick\""), "\"ents\":[]", "\"ents\":[[1,0]]"), 2,
          "a row of \"ents\" has 2 values: expected 13");
  const std::string row = ",0,0,0,1,0,0,0,0,0,0,0,0]";
  refuses(without(line("\"tick\""), "\"ents\":[]", "\"ents\":[[2" + row + ",[1" + row + "]"), 2,
          "out of order: task 1 follows task 2");
  refuses(without(line("\"tick\""), "\"ents\":[]", "\"ents\":[[-2" + row + "]"), 2, "\"id\" is -2");
  refuses(line("\"tick\",\"protected\":1"), 2, "unknown key \"protected\"");
  refuses(line("\"tick\",\"anomalies\":1"), 2, "unknown key \"anomalies\"");
}

TEST(malformed, headers) {
  const auto refused = [](const std::string& head, const std::string& words) {
    refuses(line("\"tick\""), 1, words, head);
  };
  refused("{}", "no header: expected a first line with \"format\"");
  refused(line("\"tick\"").substr(0, line("\"tick\"").size() - 1), "no header");
  refused(without(header, "eevdf-oracle-1", "eevdf-oracle-9"),
          "unknown format \"eevdf-oracle-9\": known are eevdf-oracle-1, cfs-oracle-1");
  refused(without(header, "\"eevdf-oracle-1\"", "1"), "\"format\" is 1: expected a string");
  refused(without(header, "\"tick_nsec\":4000000,"), "\"tick_nsec\" is missing");
  refused(without(header, "4000000", "0"), "\"tick_nsec\" is 0");
  refused(without(header, "\"zero_vruntime\":1000", "\"zero_vruntime\":-1"), "\"zero_vruntime\"");
  refused(without(header, "\"feat\":{\"PLACE_LAG\":1},"), "\"feat\" is missing");
  refused(without(header, "{\"PLACE_LAG\":1}", "[]"), "expected an object");
  refused(without(header, "PLACE_LAG", "PLACE_LOG"), "unknown feature \"PLACE_LOG\"");
  refused(without(header, "\"PLACE_LAG\":1", "\"PLACE_LAG\":2"), "\"PLACE_LAG\" is 2");
  refused(without(header, "\"PLACE_LAG\":1", "\"START_DEBIT\":1"), "unknown feature");
  refused(without(header, "\"hz\":250", "\"groups\":1"), "unknown key \"groups\" in the header");
  refused(without(header, "\"on_rq\",", ""), "lacks the column on_rq");
  refused(without(header, "\"on_rq\"", "\"on_rc\""), "unknown column \"on_rc\"");
  refused(without(header, "\"on_rq\"", "\"id\""), "names id twice");
  refused(without(header, "\"on_rq\"", "5"), "\"ent_cols\" is 5");
}

const std::string pelt_header =
    R"({"format":"pelt-1","name":"t","t0":10000000,"avg_cols":["last_update_time","load_sum",)"
    R"("runnable_sum","util_sum","period_contrib","load_avg","runnable_avg","util_avg","util_est"],)"
    R"("rq_cols":["cpu","curr","clock_task","clock_pelt","lost_idle_time","cap","freq"],)"
    R"("cfs_cols":["group","cpu","load","h_nr_queued","h_nr_delayed","has_curr","<avg_cols>",)"
    R"("tg_load_avg_contrib","tg_load_avg","propagate","prop_runnable_sum"],"ent_cols":["id",)"
    R"("cpu","on_rq","sched_delayed","is_curr","weight","runnable_weight","<avg_cols>"]})";

std::string pelt_line(const std::string& operation) {
  return fmt::format("{{\"i\":1,\"op\":{},\"ret\":0,\"rq\":[],\"cfs\":[],\"ents\":[]}}\n",
                     operation);
}
std::string average_line(const std::string& operation) {
  return fmt::format("{{\"i\":1,\"op\":{},\"ret\":0,\"avg\":[0,0,0,0,0,0,0,0,0]}}\n", operation);
}
void refuses_pelt(const std::string& body, const std::string& words) {
  refuses(body, 2, words, pelt_header);
}

TEST(malformed, load_tracking_operations) {
  refuses_pelt(pelt_line("\"fork\""), "unknown operation \"fork\": known are u_decay, u_set");
  refuses_pelt(pelt_line("\"tick\""), "tick without its argument \"cpu\"");
  refuses_pelt(pelt_line("\"tick\",\"cpu\":2"), "\"cpu\" is 2: expected an integer from 0 to 1");
  refuses_pelt(pelt_line("\"tick\",\"cpu\":0,\"ns\":1"), "unknown key \"ns\"");
  refuses_pelt(pelt_line("\"mkgroup\",\"group\":0,\"parent\":0,\"shares\":2"), "exists already");
  refuses_pelt(pelt_line("\"mkgroup\",\"group\":1,\"parent\":7,\"shares\":2"),
               "group 7 does not exist");
  refuses_pelt(pelt_line("\"mkgroup\",\"group\":1,\"parent\":0,\"shares\":1"), "\"shares\" is 1");
  refuses_pelt(pelt_line("\"setshares\",\"group\":0,\"shares\":2"), "the root group");
  refuses_pelt(pelt_line("\"decay\",\"cpu\":0,\"group\":3"), "group 3 does not exist");
  refuses_pelt(pelt_line("\"new\",\"id\":1,\"cpu\":0,\"weight\":1,\"group\":0"), "\"weight\" is 1");
  refuses_pelt(pelt_line("\"new\",\"id\":1,\"cpu\":0,\"weight\":9,\"group\":4"),
               "group 4 does not");
  refuses_pelt(pelt_line("\"move\",\"id\":1,\"group\":0"), "move of task 1, which does not exist");
  refuses_pelt(pelt_line("\"scale\",\"cpu\":0,\"cap\":0"), "\"cap\" is 0: expected");
  refuses_pelt(pelt_line("\"clock\",\"ns\":9223372036854775807"), "the clock passes 2^63 ns");
  refuses_pelt(average_line("\"u_set\",\"id\":1,\"period_contrib\":1024"),
               "\"period_contrib\" is 1024");
  refuses_pelt(average_line("\"tick\",\"cpu\":0"), "unknown key \"avg\"");
  refuses_pelt(pelt_line("\"u_rt\",\"now\":1,\"running\":0"), "unknown key \"rq\"");
  refuses_pelt(without(average_line("\"u_rt\",\"now\":1,\"running\":0"), "0,0,0]", "0,0]"),
               "a row of \"avg\" has 8 values: expected 9");
}

TEST(malformed, load_tracking_operations_that_break_the_contract) {
  const std::string name = "pelt/rand_groups_1";
  const auto id_of = [&](std::size_t number) {
    const std::string text = recorded_lines(name, number).back();
    const auto at = text.find("\"id\":") + 5;
    return text.substr(at, text.find(',', at) - at);
  };
  const std::size_t created = first_operation(name, "new");
  const std::string id = "\"id\":" + id_of(created);
  refuses_in(name, created + 1, "\"enqueue\"," + id, "which is queued");
  refuses_in(name, created + 1, "\"exit\"," + id, "which is queued");
  refuses_in(name, created + 1, "\"undelay\"," + id, "which is not delayed");
  refuses_in(name, created + 1, "\"new\",\"cpu\":0,\"weight\":9,\"group\":0," + id,
             "which exists already");
  const std::size_t run = first_operation(name, "switch");
  refuses_in(name, run + 1, "\"migrate\",\"cpu\":0,\"id\":" + id_of(run), "which is on its CPU");
  const std::size_t slept = first_operation(name, "dequeue");
  refuses_in(name, slept + 1, "\"switch\",\"id\":" + id_of(slept), "which is not queued");
  refuses_in(name, slept + 1, "\"delay\",\"id\":" + id_of(slept), "which is not queued");
}

TEST(malformed, load_tracking_headers) {
  const auto refused = [](const std::string& head, const std::string& words) {
    refuses(pelt_line("\"tick\",\"cpu\":0"), 1, words, head);
  };
  refused(without(pelt_header, "\"t0\":10000000,"), "\"t0\" is missing");
  refused(without(pelt_header, "\"tg_load_avg\"", "\"tg_load\""), "unknown column \"tg_load\"");
  refused(without(pelt_header, "\"has_curr\",\"<avg_cols>\"", "\"has_curr\",\"<none>\""),
          "\"none\" is missing");
  refused(without(pelt_header, "\"has_curr\",\"<avg_cols>\"", "\"has_curr\""),
          "\"cfs_cols\" lacks the column last_update_time");
  refused(without(pelt_header, "\"util_est\"]", "\"<avg_cols>\"]"),
          "unknown column \"<avg_cols>\"");
}

TEST(malformed, columns_may_come_in_another_order) {
  auto lines = recorded_lines("eevdf/hogs3_equal", 3);
  lines[0] = without(lines[0], "\"on_rq\",\"sched_delayed\"", "\"sched_delayed\",\"on_rq\"");
  const verdict found = verify_text(joined(lines));
  EXPECT_EQ(found.error, "");
  EXPECT_NE(found.printed.find("on_rq of task 1: expected 0, got 1"), std::string::npos)
      << found.printed;
}

TEST(malformed, files) {
  EXPECT_NE(verify_text("").error, "");
  EXPECT_NE(verify_text(header + "\n").error.find("a header without operations"),
            std::string::npos);
  EXPECT_NE(verify_text(std::string(100, '\0')).error, "");
  const std::string nowhere = testing::TempDir() + "no_such_vector.jsonl";
  verify_totals totals;
  std::ostringstream out;
  EXPECT_THROW(verify_vector(nowhere, totals, out), input_error);
  const std::string empty_folder = testing::TempDir() + "vlag_no_vectors";
  std::filesystem::create_directories(empty_folder);
  EXPECT_THROW(static_cast<void>(vector_files(empty_folder)), input_error);
  EXPECT_EQ(vector_files(nowhere), std::vector<std::string>{nowhere});
}

TEST(malformed, a_directory_is_its_vectors_in_order) {
  const std::filesystem::path folder = testing::TempDir() + "vlag_some_vectors";
  std::filesystem::create_directories(folder);
  for (const char* name : {"b.jsonl", "a.jsonl.xz", "INDEX.tsv", "c.json"}) {
    std::ofstream(folder / name) << "x";
  }
  const auto found = vector_files(folder.string());
  std::filesystem::remove_all(folder);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].ends_with("a.jsonl.xz"));
  EXPECT_TRUE(found[1].ends_with("b.jsonl"));
}

// A state of 100,000 tasks that nobody forked is a difference, printed in bounds.
TEST(malformed, a_hundred_thousand_rows) {
  std::string rows = "\"ents\":[";
  for (int id = 1; id <= 100'000; ++id) {
    rows += fmt::format("{}[{},0,0,0,1,0,0,0,0,0,0,0,0]", id == 1 ? "" : ",", id);
  }
  const verdict found =
      verify_text(header + "\n" + without(line("\"tick\""), "\"ents\":[]", rows + "]"));
  EXPECT_EQ(found.error, "");
  EXPECT_EQ(found.totals.differences, 1U);
  EXPECT_NE(found.printed.find("more tasks"), std::string::npos);
  EXPECT_LT(found.printed.size(), 40'000U);
}

}  // namespace
}  // namespace vlag

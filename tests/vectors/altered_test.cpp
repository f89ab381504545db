// SPDX-License-Identifier: Apache-2.0
//
// A check that cannot fail is none: each cell of a vector that means something is altered, and the
// verdict must name the operation and the field.
#include "vectors/vector_text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <set>

namespace vlag {
namespace {

using json = nlohmann::ordered_json;

const std::set<std::string> no_state = {"i",      "op",    "id",     "nice",  "policy", "ns",
                                        "weight", "skip",  "ents",   "group", "parent", "shares",
                                        "idle",   "quota", "period", "burst", "groups", "bw"};

json other_value(const json& value) {
  if (value.is_null()) return 0;
  if (value.is_array()) {
    json longer = value;
    longer.push_back(999);
    return longer;
  }
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() ^ 1;
  return value.get<std::int64_t>() - 1;
}

// A vector of which one line is replaced. Later lines do not matter.
class altered_vector {
 public:
  altered_vector(const std::string& name, std::size_t operations)
      : lines_(recorded_lines(name, operations)) {}

  std::size_t operations() const { return lines_.size() - 1; }
  json line(std::size_t number) const { return json::parse(lines_[number]); }
  json columns(const std::string& key) const { return json::parse(lines_[0])[key]; }

  verdict with(std::size_t number, const json& replaced) const {
    std::vector<std::string> lines(lines_.begin(),
                                   lines_.begin() + static_cast<std::ptrdiff_t>(number) + 1);
    lines.back() = replaced.dump();
    return verify_text(joined(lines));
  }

 private:
  std::vector<std::string> lines_;
};

void expect_difference(const verdict& found, std::size_t number, const std::string& where) {
  ASSERT_EQ(found.error, "");
  EXPECT_EQ(found.totals.differences, 1U) << "operation " << number << ", " << where;
  EXPECT_NE(found.printed.find(fmt::format(": operation {} (", number)), std::string::npos);
  EXPECT_NE(found.printed.find(fmt::format(" {}: expected ", where)), std::string::npos)
      << found.printed;
  EXPECT_NE(found.printed.find('*'), std::string::npos) << found.printed;
}

void alter_each_field(const std::string& name) {
  const altered_vector vector(name, 80);
  for (std::size_t i = 1; i <= vector.operations(); i += 9) {
    const json line = vector.line(i);
    for (const auto& [key, value] : line.items()) {
      const bool is_argument =
          key == "slice" && line["op"] == "fork" && (line.contains("W") || line.contains("groups"));
      if (no_state.contains(key) || is_argument) continue;
      json altered = line;
      const bool no_list = key == "slice" && value.is_null() && line.contains("groups");
      altered[key] = no_list ? json::array({0}) : other_value(value);
      expect_difference(vector.with(i, altered), i, key);
    }
  }
}

TEST(altered, each_field_of_eevdf_is_compared) { alter_each_field("eevdf/rand_setattr"); }
TEST(altered, each_field_of_cfs_is_compared) { alter_each_field("cfs/rand_setattr"); }
TEST(altered, each_field_with_groups_is_compared) {
  alter_each_field("hierarchy/rand_bw_1");
  alter_each_field("cfs-hierarchy/rand_default");
}

struct table_name {
  std::string key;
  std::string columns;
  std::string row;
};
const table_name tasks_table = {"ents", "ent_cols", "task"};

void alter_each_cell(const std::string& name, const table_name& table, std::size_t step,
                     const std::function<std::string(const json& columns, const json& row,
                                                     const std::string& column)>& expectation) {
  const altered_vector vector(name, 400);
  const json columns = vector.columns(table.columns);
  for (std::size_t i = 5; i <= vector.operations(); i += step) {
    const json line = vector.line(i);
    if (!line.contains(table.key)) continue;
    const json& rows = line[table.key];
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (std::size_t c = 1; c < columns.size(); ++c) {
        json altered = line;
        json& cell = altered[table.key][r][c];
        cell = other_value(cell);
        const std::string where = expectation(columns, rows[r], columns[c]);
        const verdict found = vector.with(i, altered);
        if (!where.empty()) {
          EXPECT_NE(found.printed.find(fmt::format(": {} of {} {}: expected ", where, table.row,
                                                   rows[r][0].get<int>())),
                    std::string::npos)
              << i << " " << columns[c] << found.printed;
        } else {
          EXPECT_EQ(found.totals.differences, 0U) << i << " " << columns[c] << found.printed;
        }
      }
    }
  }
}

// Left-overs, and only they, may have any value: what altering a cell of an EEVDF entity finds.
class stale_cells {
 public:
  std::string operator()(const json& columns, const json& row, const std::string& column) {
    const auto value = [&](const char* name) {
      for (std::size_t c = 0; c < columns.size(); ++c) {
        if (columns[c] == name) return row[c];
      }
      return json();
    };
    const bool on_queue = value("on_rq") == 1;
    const bool runs = on_queue && value("is_curr") == 1;
    const bool is_protected = runs && value("vlag") == value("deadline");
    const bool relative = !on_queue && value("rel_deadline") == 1;
    if (column == "vruntime" || (column == "deadline" && !relative)) {
      kinds_seen.insert(on_queue ? "queued" : "asleep");
      return on_queue ? column : std::string{};
    }
    if (column == "vlag" && on_queue) {
      kinds_seen.insert(is_protected ? "protected" : runs ? "runs" : "waits");
      return is_protected ? std::string("protected") : std::string{};
    }
    return column;
  }

  std::set<std::string> kinds_seen;
};
const std::set<std::string> all_kinds = {"asleep", "protected", "queued", "runs", "waits"};

TEST(altered, each_cell_of_an_eevdf_task_is_compared_unless_stale) {
  stale_cells expectation;
  alter_each_cell("eevdf/rand_wakeheavy", tasks_table, 41, std::ref(expectation));
  alter_each_cell("eevdf/no_delay_dequeue", tasks_table, 57, std::ref(expectation));
  EXPECT_EQ(expectation.kinds_seen, all_kinds);
}

TEST(altered, each_cell_of_an_entity_with_groups_is_compared_unless_stale) {
  stale_cells expectation;
  alter_each_cell("hierarchy/rand_default_1", {"ents", "ent_cols", "entity"}, 67,
                  std::ref(expectation));
  EXPECT_EQ(expectation.kinds_seen, all_kinds);
}

TEST(altered, each_cell_of_a_group_is_compared) {
  const auto each = [](const json&, const json&, const std::string& column) { return column; };
  alter_each_cell("hierarchy/rand_default_1", {"groups", "group_cols", "group"}, 67, each);
  alter_each_cell("hierarchy/rand_bw_1", {"bw", "bw_cols", "group"}, 67, each);
  alter_each_cell("cfs-hierarchy/rand_default", {"groups", "group_cols", "group"}, 67, each);
  alter_each_cell("cfs-hierarchy/rand_default", {"ents", "ent_cols", "entity"}, 67, each);
}

TEST(altered, each_cell_of_a_cfs_task_is_compared) {
  alter_each_cell("cfs/rand_setattr", tasks_table, 41,
                  [](const json&, const json&, const std::string& column) { return column; });
}

// The columns of a load-tracking table; "<name>" stands for those under the key "name".
json pelt_columns(const json& header, const std::string& key) {
  json all = json::array();
  for (const std::string name : header[key]) {
    if (name.front() != '<') {
      all.push_back(name);
      continue;
    }
    for (const auto& inner : header[name.substr(1, name.size() - 2)]) all.push_back(inner);
  }
  return all;
}

std::string pelt_row_name(const std::string& table, const json& row) {
  if (table == "rq") return fmt::format("cpu {}", row[0].dump());
  return fmt::format("{} {} cpu {}", table == "cfs" ? "group" : "entity", row[0].dump(),
                     row[1].dump());
}

TEST(altered, each_cell_of_load_tracking_is_compared) {
  const altered_vector vector("pelt/rand_groups_2", 100);
  const std::map<std::string, std::string> tables = {
      {"rq", "rq_cols"}, {"cfs", "cfs_cols"}, {"ents", "ent_cols"}};
  for (std::size_t i = 30; i <= vector.operations(); i += 67) {
    const json line = vector.line(i);
    for (const auto& [table, columns_key] : tables) {
      const json columns = pelt_columns(vector.line(0), columns_key);
      for (std::size_t r = 0; r < line[table].size(); ++r) {
        for (std::size_t c = table == "rq" ? 1 : 2; c < columns.size(); ++c) {
          json altered = line;
          altered[table][r][c] = other_value(line[table][r][c]);
          if (table == "cfs" && line[table][r][0] != 0 && columns[c] == "util_est") {
            EXPECT_EQ(vector.with(i, altered).totals.differences, 0U);
          } else {
            const std::string where = fmt::format("{} of {}", columns[c].get<std::string>(),
                                                  pelt_row_name(table, line[table][r]));
            expect_difference(vector.with(i, altered), i, where);
          }
        }
      }
    }
    json altered = line;
    altered["ret"] = other_value(line["ret"]);
    expect_difference(vector.with(i, altered), i, "ret");
  }
}

TEST(altered, each_cell_of_a_single_average_is_compared) {
  for (const std::string name : {"pelt/rand_unit_1", "pelt/u_rt_hw_irq", "pelt/u_util_est"}) {
    const altered_vector vector(name, 120);
    const json columns = vector.line(0)["avg_cols"];
    for (std::size_t i = 1; i <= vector.operations(); i += 7) {
      const json line = vector.line(i);
      if (!line.contains("avg")) continue;
      for (std::size_t c = 0; c < columns.size(); ++c) {
        json altered = line;
        altered["avg"][c] = other_value(line["avg"][c]);
        expect_difference(vector.with(i, altered), i,
                          columns[c].get<std::string>() + " of the average");
      }
    }
  }
  const altered_vector table("pelt/u_decay_table", 100);
  json line = table.line(90);
  line["result"] = other_value(line["result"]);
  expect_difference(table.with(90, line), 90, "result");
}

TEST(altered, a_load_tracking_row_too_many_or_too_few_is_found) {
  const altered_vector vector("pelt/groups_two_cpus", 30);
  json line = vector.line(20);
  const std::string first = pelt_row_name("ents", line["ents"][0]);
  line["ents"].erase(0);
  expect_difference(vector.with(20, line), 20, "ents of " + first);
  line = vector.line(20);
  json row = line["cfs"].back();
  row[0] = 77;
  line["cfs"].push_back(row);
  expect_difference(vector.with(20, line), 20, "cfs of group 77 cpu 1");
}

TEST(altered, a_row_too_many_or_too_few_is_found) {
  const altered_vector vector("eevdf/hogs3_equal", 20);
  json line = vector.line(10);
  json row = line["ents"].back();
  row[0] = 77;
  line["ents"].push_back(row);
  expect_difference(vector.with(10, line), 10, "ents of task 77");
  line = vector.line(10);
  line["ents"].erase(0);
  expect_difference(vector.with(10, line), 10, "ents of task 1");
}

TEST(altered, an_argument_changes_what_follows) {
  const altered_vector vector("eevdf/nice_mix", 40);
  for (std::size_t i = 1; i <= vector.operations(); ++i) {
    json line = vector.line(i);
    if (line["op"] != "run") continue;
    line["ns"] = line["ns"].get<std::uint64_t>() + 1;
    expect_difference(vector.with(i, line), i, "t");
    return;
  }
  FAIL() << "no run operation";
}

// The same 64 bits are not the same number.
TEST(altered, signed_and_unsigned_are_told_apart) {
  const altered_vector vector("eevdf/hogs3_equal", 20);
  json line = vector.line(2);
  ASSERT_EQ(line["picked"], -1);
  line["picked"] = ~std::uint64_t{0};
  expect_difference(vector.with(2, line), 2, "picked");
}

// Where the reference crashes our answer is defined: the first in the timeline, and one anomaly.
TEST(altered, the_crash_is_answered_and_counted) {
  auto lines = recorded_lines("eevdf/kernel_crash_overflow", 1770);
  ASSERT_NE(lines.back().find("crash"), std::string::npos);
  EXPECT_EQ(verify_text(joined(lines)).totals.differences, 0U);

  // The same where nothing is odd: no anomaly, so the check must say no.
  auto harmless = recorded_lines("eevdf/hogs3_equal", 240);
  for (std::size_t i = 1; i < harmless.size(); ++i) {
    json line = json::parse(harmless[i]);
    if (line["op"] != "schedule" || line["picked"] == 0) continue;
    harmless.resize(i + 1);
    harmless[i] = json{{"i", i}, {"t", line["t"]}, {"op", "schedule"}, {"crash", "?"}}.dump();
    expect_difference(verify_text(joined(harmless)), i, "anomalies");
    break;
  }

  lines.push_back(json{{"i", 1771}, {"t", 682172989}, {"op", "tick"}, {"crash", "?"}}.dump());
  EXPECT_NE(verify_text(joined(lines)).error.find("after the one in which the reference crashed"),
            std::string::npos);
}

TEST(altered, a_skipped_operation_is_not_driven) {
  auto lines = recorded_lines("eevdf/hogs3_equal", 12);
  json state = json::parse(lines.back());
  state["i"] = 13;
  state["op"] = "wake";
  state["id"] = 4711;
  state["picked"] = -1;
  state["done_delayed"] = json::array();
  state["ret"] = 5;
  state["skip"] = "no such task";
  lines.push_back(state.dump());
  EXPECT_EQ(verify_text(joined(lines)).totals.differences, 0U) << verify_text(joined(lines)).error;
  state["resched"] = 1 - state["resched"].get<int>();
  lines.back() = state.dump();
  expect_difference(verify_text(joined(lines)), 13, "resched");
}

}  // namespace
}  // namespace vlag

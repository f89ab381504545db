// SPDX-License-Identifier: Apache-2.0
#include "report/page_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "input/printable.hpp"
#include "input/text.hpp"

namespace vlag {
namespace {

using json = nlohmann::ordered_json;

json entry(const std::string& kind, const std::string& name, const std::string& meaning,
           json values) {
  return {{"kind", kind}, {"name", name}, {"meaning", meaning}, {"values", std::move(values)}};
}

template <typename Value>
json values_of(const std::vector<result_run>& runs, Value&& value) {
  json result = json::array();
  for (const result_run& run : runs) {
    result.push_back(run.policy == nullptr ? json(nullptr) : value(*run.policy));
  }
  return result;
}

bool all_null(const json& values) {
  return std::all_of(values.begin(), values.end(), [](const json& v) { return v.is_null(); });
}

// A name that both engines have is one entry.
void add_features(json& result, const std::vector<result_run>& runs) {
  std::set<std::string_view> told;
  for (const feature_info& f : all_features()) {
    if (!told.insert(f.name).second) continue;
    json values = values_of(runs, [&](const result_policy& p) -> json {
      const feature_info* own = find_feature(p.config.engine, f.name);
      if (own == nullptr) return nullptr;
      return p.config.features().has(own->id) ? "on" : "off";
    });
    if (all_null(values)) continue;
    result.push_back(
        entry("feature", std::string(f.name), std::string(f.meaning), std::move(values)));
  }
  result.push_back(entry(
      "feature", "HRTICK", "a timer ends a request, instead of the next tick",
      values_of(runs, [](const result_policy& p) -> json { return p.hrtick ? "on" : "off"; })));
}

void add_constants(json& result, const std::vector<result_run>& runs) {
  std::set<std::string_view> told;
  for (const constant_info& c : all_constants()) {
    if (!told.insert(c.name).second) continue;
    json values = values_of(runs, [&](const result_policy& p) -> json {
      const constant_info* own = find_constant(p.config.engine, c.name);
      if (own == nullptr) return nullptr;
      const std::uint64_t value = constant_value(p.config, *own);
      return own->is_time ? format_duration(value) : fmt::format("{}", value);
    });
    if (all_null(values)) continue;
    result.push_back(
        entry("constant", std::string(c.name), std::string(c.meaning), std::move(values)));
  }
}

void add_overrides(json& result, const std::vector<result_run>& runs) {
  std::set<std::pair<std::string, std::string>> told;
  for (const result_run& run : runs) {
    if (run.policy == nullptr) continue;
    for (const result_override& o : run.policy->overrides) {
      if (!told.emplace(o.task, o.attribute).second) continue;
      json values = values_of(runs, [&](const result_policy& p) -> json {
        // The last one counts.
        const auto at = std::find_if(p.overrides.rbegin(), p.overrides.rend(), [&](const auto& x) {
          return x.task == o.task && x.attribute == o.attribute;
        });
        if (at == p.overrides.rend()) return nullptr;
        if (!at->text.empty()) return printable(at->text);
        return o.attribute == "slice" && at->value >= 0
                   ? format_duration(static_cast<std::uint64_t>(at->value))
                   : fmt::format("{}", at->value);
      });
      result.push_back(entry("task", printable(o.task) + "." + o.attribute,
                             "changed for these tasks only", std::move(values)));
    }
  }
}

void add_group_files(json& result, const std::vector<result_run>& runs) {
  std::set<std::pair<std::string, std::string>> told;
  for (const result_run& run : runs) {
    if (run.policy == nullptr) continue;
    for (const result_group_file& g : run.policy->group_files) {
      if (!told.emplace(g.group, g.file).second) continue;
      json values = values_of(runs, [&](const result_policy& p) -> json {
        const auto at =
            std::find_if(p.group_files.rbegin(), p.group_files.rend(),
                         [&](const auto& x) { return x.group == g.group && x.file == g.file; });
        return at == p.group_files.rend() ? json(nullptr) : json(printable(at->text));
      });
      result.push_back(entry("task", printable(g.group + " " + g.file),
                             "changed for this group of tasks only", std::move(values)));
    }
  }
}

}  // namespace

nlohmann::ordered_json settings_json(const std::vector<result_run>& runs) {
  json result = json::array();
  result.push_back(entry("profile", "reference", "the exact kernel whose decisions it repeats",
                         values_of(runs, [](const result_policy& p) -> json {
                           if (p.config.source == nullptr) return nullptr;
                           return std::string(p.config.source->reference);
                         })));
  add_overrides(result, runs);
  add_group_files(result, runs);
  add_constants(result, runs);
  add_features(result, runs);
  return result;
}

}  // namespace vlag

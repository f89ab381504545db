// SPDX-License-Identifier: Apache-2.0
#include "report/results_compare.hpp"

#include "input/input_error.hpp"
#include "input/printable.hpp"
#include "input/text.hpp"
#include "report/task_groups.hpp"
#include "report/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

namespace vlag {
namespace {

constexpr std::uint64_t smallest_shown_ppm = 1'000;

// Two-sided 95 % quantiles of Student's t for 1, 2, … degrees of freedom.
constexpr std::array<double, 30> t_95 = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                         2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                         2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                         2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
constexpr double t_95_of_many = 1.96;

const result_group* find_group(const result_column& column, const std::string& name) {
  const auto at = std::find_if(column.groups.begin(), column.groups.end(),
                               [&](const result_group& g) { return g.name == name; });
  return at == column.groups.end() ? nullptr : &*at;
}

double value_of(const result_figures& f, result_measure what) {
  switch (what) {
    case result_measure::share:
      return static_cast<double>(f.share_ppm);
    case result_measure::runtime:
      return static_cast<double>(f.runtime_ns);
    case result_measure::switches:
      return static_cast<double>(f.switches);
    case result_measure::wakeups:
      return static_cast<double>(f.wakeups);
    case result_measure::mean:
      return static_cast<double>(f.mean_ns);
    case result_measure::p50:
      return static_cast<double>(f.p50_ns);
    case result_measure::p90:
      return static_cast<double>(f.p90_ns);
    case result_measure::p99:
      return static_cast<double>(f.p99_ns);
    case result_measure::p99_9:
      return static_cast<double>(f.p99_9_ns);
    case result_measure::max:
      break;
  }
  return static_cast<double>(f.max_ns);
}

std::uint64_t waits_needed(result_measure what) {
  switch (what) {
    case result_measure::share:
    case result_measure::runtime:
    case result_measure::switches:
    case result_measure::wakeups:
      return 0;
    case result_measure::p99:
      return 100;
    case result_measure::p99_9:
      return 1000;
    default:
      return 20;
  }
}

struct sample_sums {
  std::vector<double> values;
  bool enough_waits = true;

  [[nodiscard]] double mean() const {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
  // Of the mean.
  [[nodiscard]] double variance() const {
    const double middle = mean();
    double sum = 0;
    for (const double v : values) sum += (v - middle) * (v - middle);
    const auto n = static_cast<double>(values.size());
    return sum / (n - 1) / n;
  }
};

sample_sums samples_of(const result_variant& variant, const std::string& group,
                       result_measure what) {
  sample_sums result;
  for (const result_column& column : variant.samples) {
    const result_group* g = find_group(column, group);
    if (g == nullptr) continue;
    result.values.push_back(value_of(g->figures, what));
    result.enough_waits = result.enough_waits && g->figures.waits >= waits_needed(what);
  }
  return result;
}

std::optional<bool> significant(const sample_sums& a, const sample_sums& b) {
  if (a.values.size() < 2 || b.values.size() < 2) return std::nullopt;
  const double va = a.variance();
  const double vb = b.variance();
  const double apart = std::abs(a.mean() - b.mean());
  if (va + vb <= 0) return apart > 0;
  const double freedom = (va + vb) * (va + vb) /
                         (va * va / static_cast<double>(a.values.size() - 1) +
                          vb * vb / static_cast<double>(b.values.size() - 1));
  const auto at = static_cast<std::size_t>(std::max(freedom, 1.0)) - 1;
  return apart / std::sqrt(va + vb) > (at < t_95.size() ? t_95.at(at) : t_95_of_many);
}

std::string file_and_label(const result_column& column) {
  return fmt::format("{} ({})", column.label, column.file);
}

}  // namespace

std::vector<result_variant> variants_of(std::vector<result_column> columns) {
  std::vector<result_variant> variants;
  for (result_column& column : columns) {
    const auto same = std::find_if(variants.begin(), variants.end(), [&](const auto& v) {
      const result_column& first = v.samples.front();
      return first.label == column.label && first.workload == column.workload &&
             first.recorded == column.recorded;
    });
    if (same == variants.end()) {
      variants.push_back({column.label, column.recorded, {}});
      variants.back().samples.push_back(std::move(column));
      continue;
    }
    if (column.recorded) continue;  // whatever the seed, it is one recording
    for (const result_column& known : same->samples) {
      if (known.seed == column.seed) {
        throw input_error(fmt::format(
            "{}: {} with seed {} is in {} already; expected other seeds or another workload",
            column.file, printable(column.label), column.seed, known.file));
      }
    }
    same->samples.push_back(std::move(column));
  }
  for (result_variant& v : variants) {
    const auto count = std::count_if(variants.begin(), variants.end(), [&](const auto& other) {
      return other.samples.front().label == v.samples.front().label;
    });
    if (count > 1) v.title = file_and_label(v.samples.front());
  }
  return variants;
}

std::size_t baseline_of(const std::vector<result_variant>& variants) {
  const auto first = std::find_if(variants.begin(), variants.end(),
                                  [](const result_variant& v) { return !v.recorded; });
  return first == variants.end() ? 0 : static_cast<std::size_t>(first - variants.begin());
}

std::optional<result_difference> difference(const result_variant& base,
                                            const result_variant& variant, const std::string& group,
                                            result_measure what) {
  const sample_sums a = samples_of(base, group, what);
  const sample_sums b = samples_of(variant, group, what);
  if (a.values.empty() || b.values.empty()) return std::nullopt;
  return result_difference{a.mean(),
                           b.mean(),
                           a.values.size(),
                           b.values.size(),
                           a.enough_waits && b.enough_waits,
                           significant(a, b)};
}

// ---- The table

namespace {

struct named_group {
  std::string name;
  double share = 0;  // the largest, ppm
};

std::vector<named_group> groups_of(const std::vector<result_variant>& variants) {
  std::vector<named_group> result;
  std::set<std::string> seen;
  for (const result_variant& v : variants) {
    for (const result_column& column : v.samples) {
      for (const result_group& g : column.groups) {
        if (seen.insert(g.name).second) result.push_back({g.name, 0});
      }
    }
  }
  for (named_group& g : result) {
    for (const result_variant& v : variants) {
      const sample_sums s = samples_of(v, g.name, result_measure::share);
      if (!s.values.empty()) g.share = std::max(g.share, s.mean());
    }
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const named_group& a, const named_group& b) { return a.share > b.share; });
  return result;
}

// "+12.3 % *"; empty for the baseline itself or where there is nothing to set it beside.
std::string change_text(const std::optional<result_difference>& d) {
  if (!d || d->base <= 0) return "";
  const double part = (d->value - d->base) / d->base * 100;
  const char* mark = "";
  if (!d->enough_waits) {
    mark = " ?";
  } else if (d->significant) {
    mark = *d->significant ? " *" : " ~";
  }
  return fmt::format("{:+.1f} %{}", part, mark);
}

std::uint64_t rounded(double value) { return static_cast<std::uint64_t>(std::llround(value)); }

void add_group(text_table& table, const std::vector<result_variant>& variants, std::size_t baseline,
               const std::string& group) {
  bool first = true;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const result_variant& v = variants[i];
    const auto of = [&](result_measure what) {
      return difference(variants[baseline], v, group, what);
    };
    const auto mean_of = [&](result_measure what) {
      return rounded(samples_of(v, group, what).mean());
    };
    if (samples_of(v, group, result_measure::share).values.empty()) continue;
    const bool is_base = i == baseline;
    table.add_row(
        {first ? shown_name(group) : "", v.title, fmt::format("{}", v.samples.size()),
         as_percent(mean_of(result_measure::share)),
         fmt::format("{}", mean_of(result_measure::switches)), as_ms(mean_of(result_measure::mean)),
         is_base ? "" : change_text(of(result_measure::mean)), as_ms(mean_of(result_measure::p99)),
         is_base ? "" : change_text(of(result_measure::p99)), as_ms(mean_of(result_measure::max))});
    first = false;
  }
}

void add_totals(text_table& table, const std::vector<result_variant>& variants) {
  for (std::size_t i = 0; i < variants.size(); ++i) {
    double share = 0;
    double switches = 0;
    double waits = 0;
    double delay = 0;
    std::uint64_t longest = 0;
    for (const result_column& column : variants[i].samples) {
      for (const result_group& g : column.groups) {
        share += static_cast<double>(g.figures.share_ppm);
        switches += static_cast<double>(g.figures.switches);
        waits += static_cast<double>(g.figures.waits);
        delay += static_cast<double>(g.figures.delay_sum_ns);
        longest = std::max(longest, g.figures.max_ns);
      }
    }
    const auto n = static_cast<double>(variants[i].samples.size());
    table.add_row({i == 0 ? "(all)" : "", variants[i].title,
                   fmt::format("{}", variants[i].samples.size()), as_percent(rounded(share / n)),
                   fmt::format("{}", rounded(switches / n)),
                   waits > 0 ? as_ms(rounded(delay / waits)) : "-", "", "", "", as_ms(longest)});
  }
}

}  // namespace

std::string results_table(const std::vector<result_variant>& variants, std::size_t baseline) {
  text_table table({{"Task", align::left},
                    {"Policy", align::left},
                    {"Seeds"},
                    {"CPU %"},
                    {"Switches"},
                    {"Avg delay ms"},
                    {"Change", align::left},
                    {"P99 ms"},
                    {"Change", align::left},
                    {"Max delay ms"}});
  for (const named_group& g : groups_of(variants)) {
    if (g.share < static_cast<double>(smallest_shown_ppm)) continue;
    add_group(table, variants, baseline, g.name);
    table.add_gap();
  }
  add_totals(table, variants);
  const bool several = std::any_of(variants.begin(), variants.end(),
                                   [](const auto& v) { return v.samples.size() > 1; });
  return table.text() +
         fmt::format(
             "\nChanges are against {}. ?: rests on few waits{}\n",
             printable(variants[baseline].title),
             several
                 ? ". *: significant, ~: not significant (Welch's t-test over the seeds, 95 %); "
                   "none: one seed."
                 : ". One seed each: how far other seeds differ is not known.");
}

// ---- Conditions

namespace {

struct named_measure {
  std::string_view name;
  result_measure what;
};
// The longest name first where one begins another.
constexpr std::array<named_measure, 10> measures{{{"p99.9", result_measure::p99_9},
                                                  {"share", result_measure::share},
                                                  {"runtime", result_measure::runtime},
                                                  {"switches", result_measure::switches},
                                                  {"wakeups", result_measure::wakeups},
                                                  {"mean", result_measure::mean},
                                                  {"p50", result_measure::p50},
                                                  {"p90", result_measure::p90},
                                                  {"p99", result_measure::p99},
                                                  {"max", result_measure::max}}};

bool is_count(result_measure what) {
  return what == result_measure::switches || what == result_measure::wakeups;
}

}  // namespace

namespace {

[[noreturn]] void refuse_condition(std::string_view text, std::string_view why) {
  throw input_error(fmt::format(
      "--fail-if '{}': {}; expected [TASK.]MEASURE, > or <, and a value, like 'p99>+10%', "
      "'frame.mean>5ms' or 'share<-2pp'",
      text, why));
}

// The unsigned number in front, exactly what from_chars reads but no exponent or sign; the rest is
// the unit.
double take_number(std::string_view text, std::string_view& value) {
  const std::size_t end = std::min(value.find_first_not_of("0123456789."), value.size());
  constexpr std::size_t most_digits = 15;
  const std::string digits(value.substr(0, end));
  value.remove_prefix(end);
  if (digits.empty() || digits.size() > most_digits ||
      std::count(digits.begin(), digits.end(), '.') > 1 || digits == ".") {
    refuse_condition(text, "the value does not begin with a number");
  }
  return std::stod(digits);
}

void read_unit(std::string_view text, std::string_view unit, bool is_signed, fail_condition& c) {
  const bool is_share = c.what == result_measure::share;
  if (unit == "%" && is_signed) {
    c.kind = fail_condition::amount::part;
    return;
  }
  if (is_share && unit == (is_signed ? "pp" : "%")) {
    c.limit *= 10'000;
    return;
  }
  if (is_share) {
    refuse_condition(text, "a share is given in %, its difference in % (of it) or pp");
  }
  if (is_count(c.what)) {
    if (!unit.empty()) refuse_condition(text, "a count has no unit");
    return;
  }
  constexpr std::array<std::pair<std::string_view, double>, 4> units{
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  for (const auto& [name, ns] : units) {
    if (unit != name) continue;
    c.limit *= ns;
    return;
  }
  refuse_condition(text, "a time needs one of the units ns, us, ms, s");
}

}  // namespace

fail_condition parse_fail_condition(std::string_view text) {
  fail_condition result;
  result.text = text;
  const std::size_t sign_at = text.find_last_of("<>");
  if (sign_at == std::string_view::npos) refuse_condition(text, "there is no > or <");
  result.above = text[sign_at] == '>';
  const std::string_view left = text.substr(0, sign_at);
  const auto found = std::find_if(measures.begin(), measures.end(), [&](const named_measure& m) {
    return left == m.name ||
           (left.ends_with(m.name) && left[left.size() - m.name.size() - 1] == '.');
  });
  if (found == measures.end()) refuse_condition(text, "it names no measure");
  result.what = found->what;
  if (left.size() > found->name.size()) {
    result.task = left.substr(0, left.size() - found->name.size() - 1);
    if (result.task.empty()) refuse_condition(text, "the task is empty");
  }
  std::string_view value = text.substr(sign_at + 1);
  const bool is_signed = value.starts_with('+') || value.starts_with('-');
  const bool negative = value.starts_with('-');
  if (is_signed) value.remove_prefix(1);
  result.kind = is_signed ? fail_condition::amount::difference : fail_condition::amount::value;
  result.limit = take_number(text, value);
  read_unit(text, value, is_signed, result);
  if (negative) result.limit = -result.limit;
  return result;
}

namespace {

std::string amount_text(result_measure what, double value) {
  if (what == result_measure::share) return fmt::format("{} %", as_percent(rounded(value)));
  if (is_count(what)) return fmt::format("{}", rounded(value));
  return fmt::format("{} ms", as_ms(rounded(value)));
}

bool holds(const fail_condition& c, const result_difference& d) {
  double value = d.value;
  if (c.kind == fail_condition::amount::difference) value = d.value - d.base;
  if (c.kind == fail_condition::amount::part) {
    if (d.base <= 0) return c.above && d.value > 0 && c.limit >= 0;
    value = (d.value - d.base) / d.base * 100;
  }
  if (c.kind != fail_condition::amount::value && d.significant && !*d.significant) return false;
  return c.above ? value > c.limit : value < c.limit;
}

// True: something could be judged.
bool judge_variant(const result_variant& base, const result_variant& variant,
                   const std::vector<named_group>& groups, const fail_condition& c,
                   fail_verdict& verdict) {
  constexpr double telling_ppm = 10'000;
  bool judged = false;
  for (const named_group& g : groups) {
    if (c.task.empty() ? g.share < telling_ppm : !glob_matches(c.task, g.name)) continue;
    const auto d = difference(base, variant, g.name, c.what);
    if (!d || !d->enough_waits) continue;
    judged = true;
    if (!holds(c, *d)) continue;
    verdict.failures.push_back(fmt::format(
        "{}: {} under {}: {}, {} under {}", c.text, shown_name(g.name), printable(variant.title),
        amount_text(c.what, d->value), amount_text(c.what, d->base), printable(base.title)));
  }
  return judged;
}

}  // namespace

fail_verdict judge(const std::vector<result_variant>& variants, std::size_t baseline,
                   const std::vector<fail_condition>& conditions) {
  fail_verdict verdict;
  const std::vector<named_group> groups = groups_of(variants);
  for (const fail_condition& c : conditions) {
    if (!c.task.empty() && std::none_of(groups.begin(), groups.end(), [&](const named_group& g) {
          return glob_matches(c.task, g.name);
        })) {
      throw input_error(fmt::format("--fail-if '{}': no task '{}' in the results", c.text, c.task));
    }
    bool judged = false;
    for (std::size_t i = 0; i < variants.size(); ++i) {
      const bool judges = c.kind == fail_condition::amount::value || i != baseline;
      if (!judges || variants[i].recorded) continue;
      judged |= judge_variant(variants[baseline], variants[i], groups, c, verdict);
    }
    if (!judged) {
      verdict.notes.push_back(
          fmt::format("{}: nothing to judge: no other variant, or too few waits", c.text));
    }
  }
  return verdict;
}

}  // namespace vlag

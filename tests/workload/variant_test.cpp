// SPDX-License-Identifier: Apache-2.0
#include "workload/variant.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "input/input_error.hpp"
#include "vlag/entity.hpp"

namespace vlag {
namespace {

constexpr std::uint64_t tick_ns = 4'000'000;

policy_variant parse(const std::string& spec, const std::vector<std::string>& settings = {},
                     unsigned cpus = 1) {
  return parse_variant(spec, settings, cpus, tick_ns);
}

std::string refusal(const std::string& spec, const std::vector<std::string>& settings = {},
                    unsigned cpus = 1) {
  try {
    static_cast<void>(parse(spec, settings, cpus));
  } catch (const input_error& e) {
    return e.what();
  }
  return "accepted";
}

void expect_says(const std::string& message, const std::vector<std::string>& parts) {
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
  }
}

TEST(variant, plain_profile_has_its_defaults) {
  const policy_variant v = parse("linux-6.12");
  EXPECT_EQ(v.label, "linux-6.12");
  EXPECT_EQ(v.config.engine, fair_engine::eevdf);
  EXPECT_EQ(v.config.eevdf.base_slice_ns, 700'000U);
  EXPECT_EQ(v.config.eevdf.features, default_features(fair_engine::eevdf));
  EXPECT_FALSE(v.hrtick);
  EXPECT_TRUE(v.overrides.empty());
}

TEST(variant, defaults_scale_with_cpus_and_settings_do_not) {
  EXPECT_EQ(parse("linux-6.12", {}, 4).config.eevdf.base_slice_ns, 2'100'000U);
  EXPECT_EQ(parse("linux-6.12,base_slice=3ms", {}, 4).config.eevdf.base_slice_ns, 3'000'000U);
}

TEST(variant, features_are_switched_as_the_kernel_writes_them) {
  const policy_variant v = parse("linux-6.12,NO_RUN_TO_PARITY,NEXT_BUDDY,PLACE_LAG=off,HRTICK");
  EXPECT_FALSE(v.config.eevdf.features.has(feature::run_to_parity));
  EXPECT_TRUE(v.config.eevdf.features.has(feature::next_buddy));
  EXPECT_FALSE(v.config.eevdf.features.has(feature::place_lag));
  EXPECT_TRUE(v.hrtick);
}

TEST(variant, constants_take_durations_and_the_kernels_own_names) {
  EXPECT_EQ(parse("linux-6.12,base_slice=0.1ms").config.eevdf.base_slice_ns, 100'000U);
  EXPECT_EQ(parse("linux-6.12,base_slice_ns=3000000").config.eevdf.base_slice_ns, 3'000'000U);
  const policy_variant cfs = parse("linux-6.1,latency=24ms,nr_latency=5");
  EXPECT_EQ(cfs.config.cfs.latency_ns, 24'000'000U);
  EXPECT_EQ(cfs.config.cfs.nr_latency, 5U);
}

TEST(variant, task_attributes) {
  const policy_variant v = parse(
      "linux-6.12,frame.slice=0.1ms,mi*.nice=-5,a.b.latency_nice=19,101.policy=batch,x.cpus=0+2-3",
      {}, 4);
  ASSERT_EQ(v.overrides.size(), 5U);
  EXPECT_EQ(v.overrides[0].pattern, "frame");
  EXPECT_EQ(v.overrides[0].attribute, task_attribute::slice);
  EXPECT_EQ(v.overrides[0].value, 100'000);
  EXPECT_EQ(v.overrides[1].pattern, "mi*");
  EXPECT_EQ(v.overrides[1].value, -5);
  EXPECT_EQ(v.overrides[2].pattern, "a.b");
  EXPECT_EQ(v.overrides[2].attribute, task_attribute::latency_nice);
  EXPECT_EQ(v.overrides[3].value, static_cast<int>(sched_policy::batch));
  EXPECT_EQ(v.overrides[4].value, 0b1101);
}

TEST(variant, settings_come_first_and_the_label_says_all) {
  const policy_variant v = parse("linux-6.12,base_slice=1ms", {"base_slice=3ms", "NO_DELAY_ZERO"});
  EXPECT_EQ(v.config.eevdf.base_slice_ns, 1'000'000U);
  EXPECT_EQ(v.label, "linux-6.12,base_slice=3ms,NO_DELAY_ZERO,base_slice=1ms");
  EXPECT_EQ(parse(v.label).config.eevdf.base_slice_ns, 1'000'000U);
}

TEST(variant, settings_of_the_other_engine_are_kept_apart) {
  const policy_variant v = parse("linux-6.1", {"base_slice=3ms", "latency=3ms", "NO_PLACE_LAG"});
  EXPECT_EQ(v.label, "linux-6.1,latency=3ms");
  EXPECT_EQ(v.ignored_settings, (std::vector<std::string>{"base_slice=3ms", "NO_PLACE_LAG"}));
  expect_says(refusal("linux-6.1,base_slice=3ms"), {"base_slice", "EEVDF", "linux-6.1 is CFS"});
}

TEST(variant, slices_have_no_effect_before_6_12_and_latency_nice_not_under_6_6) {
  const auto without_effect = [](std::string_view profile_name) {
    return settings_without_effect(
        parse(std::string(profile_name) + ",frame.slice=1ms,frame.latency_nice=-5"));
  };
  using names = std::vector<std::string>;
  EXPECT_EQ(without_effect("linux-6.12"), names{});
  EXPECT_EQ(without_effect("linux-6.6"), (names{"frame.slice", "frame.latency_nice"}));
  EXPECT_EQ(without_effect("eevdf-rfc"), names{"frame.slice"});
  EXPECT_EQ(without_effect("paper95"), names{"frame.latency_nice"});
  EXPECT_EQ(without_effect("linux-6.6,OWN_SLICE"), names{"frame.latency_nice"});
}

TEST(variant, every_feature_and_constant_of_every_profile_can_be_set) {
  for (const profile& p : all_profiles()) {
    const std::string name(p.name);
    for (const feature_info& f : all_features()) {
      if (f.engine != p.engine) continue;
      EXPECT_TRUE(parse(name + "," + std::string(f.name)).config.features().has(f.id));
      EXPECT_FALSE(parse(name + ",NO_" + std::string(f.name)).config.features().has(f.id));
    }
    for (const constant_info& c : all_constants()) {
      if (c.engine != p.engine) continue;
      const policy_variant v =
          parse(name + "," + std::string(c.name) + (c.is_time ? "=7ns" : "=1"));
      EXPECT_EQ(constant_value(v.config, c), c.is_time ? 7U : 1U) << name << ' ' << c.name;
    }
  }
}

TEST(variant, slices_have_no_effect_under_cfs) {
  EXPECT_EQ(settings_without_effect(parse("linux-6.1,frame.slice=1ms,frame.nice=1")),
            std::vector<std::string>{"frame.slice"});
  EXPECT_TRUE(settings_without_effect(parse("linux-6.12,frame.slice=1ms")).empty());
}

TEST(variant, settings_on_top_keep_what_was_there) {
  policy_variant v = parse("linux-6.12,NO_PLACE_LAG");
  apply_settings(v, {"base_slice=3ms"}, 1);
  EXPECT_FALSE(v.config.eevdf.features.has(feature::place_lag));
  EXPECT_EQ(v.config.eevdf.base_slice_ns, 3'000'000U);
  EXPECT_EQ(v.label, "linux-6.12,NO_PLACE_LAG,base_slice=3ms");
}

TEST(variant, unknown_names_get_the_nearest_one) {
  expect_says(refusal("linux-6.13"), {"unknown profile 'linux-6.13'", "did you mean 'linux-6.12'",
                                      "known: linux-6.12, linux-6.6, linux-6.1"});
  expect_says(refusal("linux-6.12,PLACE_LAGG"), {"'PLACE_LAGG'", "did you mean 'PLACE_LAG'"});
  expect_says(refusal("linux-6.12,NO_PLCE_LAG"), {"did you mean 'NO_PLACE_LAG'"});
  expect_says(refusal("linux-6.12,place_lag"), {"did you mean 'PLACE_LAG'"});
  expect_says(refusal("linux-6.12", {"base_slize=1ms"}),
              {"--set base_slize=1ms", "did you mean 'base_slice'"});
  expect_says(refusal("linux-6.12,frame.slce=1ms"), {"'slce'", "did you mean 'slice'"});
  expect_says(refusal("linux-6.12,frame.policy=deadline"), {"'deadline'", "normal, batch, idle"});
}

TEST(variant, ranges_are_named) {
  expect_says(refusal("linux-6.12,base_slice=2s"), {"2s is out of range", "1ns..1s"});
  expect_says(refusal("linux-6.12,base_slice=0"), {"0 is out of range", "1ns..1s"});
  expect_says(refusal("linux-6.1,nr_latency=-1"), {"-1 is out of range", "1..1000000"});
  expect_says(refusal("linux-6.1,nr_latency=99999999999999999999"), {"1..1000000"});
  expect_says(refusal("linux-6.12,frame.slice=1s"), {"1s is out of range", "100us..100ms"});
  expect_says(refusal("linux-6.12,frame.nice=20"), {"20 is out of range", "-20..19"});
  expect_says(refusal("linux-6.12,frame.latency_nice=-21"), {"-21 is out of range", "-20..19"});
  expect_says(refusal("linux-6.12,frame.cpus=4", {}, 4), {"no CPU 4", "0..3"});
  // Wrong under any policy, also where the setting would not apply.
  expect_says(refusal("linux-6.1", {"base_slice=2s"}), {"2s is out of range"});
}

TEST(variant, malformed_settings) {
  expect_says(refusal(""), {"unknown profile ''"});
  expect_says(refusal("linux-6.12,"), {"no name", "KEY=VALUE"});
  expect_says(refusal("linux-6.12,=3"), {"no name", "KEY=VALUE"});
  expect_says(refusal("linux-6.12,base_slice"), {"constant", "base_slice=VALUE"});
  expect_says(refusal("linux-6.12,base_slice=abc"), {"'abc' is not a duration"});
  expect_says(refusal("linux-6.12,base_slice=-1ms"), {"'-1ms' is not a duration"});
  expect_says(refusal("linux-6.12,PLACE_LAG=maybe"), {"on or off", "'maybe'"});
  expect_says(refusal("linux-6.12,NO_PLACE_LAG=on"), {"takes no value"});
  expect_says(refusal("linux-6.12,frame.slice"), {"has no value"});
  expect_says(refusal("linux-6.12,.slice=1ms"), {"no task"});
  expect_says(refusal("linux-6.12,frame.nice=high"), {"'high' is not a whole number"});
  for (const char* list : {"", "-", "1-", "3-1", "a", "0++1", "0+"}) {
    expect_says(refusal(std::string("linux-6.12,frame.cpus=") + list, {}, 4), {"list of CPUs"});
  }
}

TEST(variant, patterns_select_by_name_or_pid) {
  EXPECT_TRUE(matches_task("mi*", "mi7", 100));
  EXPECT_FALSE(matches_task("mi", "mi7", 100));
  EXPECT_TRUE(matches_task("100", "mi7", 100));
  EXPECT_FALSE(matches_task("100", "mi7", 1000));
  EXPECT_TRUE(matches_task("100", "100", 7));
}

// Any text is either a variant or refused with one line; nothing else happens.
TEST(variant, any_text_is_parsed_or_refused) {
  EXPECT_TRUE(rc::check("any SPEC", [] {
    static const std::vector<std::string> pieces{
        "linux-6.12", "linux-6.1",  ",",       "=",   ".",     "NO_",
        "PLACE_LAG",  "base_slice", "latency", "_ns", "slice", "cpus",
        "nice",       "-",          "+",       "1ms", "0",     "99999999999999999999",
        "x",          "\xff"};
    std::string spec =
        *rc::gen::elementOf(std::vector<std::string>{"linux-6.12,", "linux-6.1,", ""});
    for (const std::string& piece :
         *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces))) {
      spec += piece;
    }
    try {
      const policy_variant v = parse(spec, {}, 4);
      RC_ASSERT(v.label == spec);
    } catch (const input_error& e) {
      RC_ASSERT(std::string(e.what()).find('\n') == std::string::npos);
    }
  }));
}

}  // namespace
}  // namespace vlag

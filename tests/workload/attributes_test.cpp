// SPDX-License-Identifier: Apache-2.0
//
// Attributes files, and the policy that they say a recording was made under.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <filesystem>
#include <string>
#include <vector>

#include "input/input_error.hpp"
#include "input/scratch_file.hpp"
#include "workload/replay.hpp"

namespace vlag {
namespace {

using test::fed_stdin;
using test::scratch_file;

recorded_attributes read(std::string_view content) {
  const scratch_file file(content);
  return read_attributes(file.path());
}

// What the message says after the path; "accepted" when there is none.
std::string refusal(std::string_view content) {
  const scratch_file file(content);
  try {
    static_cast<void>(read_attributes(file.path()));
  } catch (const input_error& e) {
    const std::string message = e.what();
    EXPECT_TRUE(message.starts_with(file.path() + ": ")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_LT(message.size(), 400U);
    return message.substr(file.path().size() + 2);
  }
  return "accepted";
}

void expect_says(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
  }
}

constexpr char everything[] = R"({
  "hz": 1000, "kernel": "6.12.95", "policy": "linux-6.12", "features": ["PLACE_LAG", "NO_HRTICK"],
  "base_slice_ns": "700000", "latency_ns": 6000000, "min_granularity_ns": 750000,
  "wakeup_granularity_ns": 0, "idle_min_granularity_ns": 1, "clock_poll_us": 20, "variant": "-",
  "a wholly different key": {"x": [1, {}]},
  "tasks": [{"pid": 17, "nice": -20, "prio": 100}, {"name": "mi*", "slice_us": 3000, "latency_nice": -7},
            {"name": "w", "clock_poll_us": 0, "policy": "batch"}, {"name": "says nothing"}]})";

void expect_everything(const recorded_attributes& got) {
  EXPECT_EQ(got.hz, 1000U);
  EXPECT_EQ(got.kernel, "6.12.95");
  EXPECT_EQ(got.profile, "linux-6.12");
  EXPECT_EQ(got.features, (std::vector<std::string>{"PLACE_LAG", "NO_HRTICK"}));
  EXPECT_EQ(got.base_slice_ns, 700'000U);
  EXPECT_EQ(got.latency_ns, 6'000'000U);
  EXPECT_EQ(got.min_granularity_ns, 750'000U);
  EXPECT_EQ(got.wakeup_granularity_ns, 0U);
  EXPECT_EQ(got.idle_min_granularity_ns, 1U);
  EXPECT_EQ(got.clock_poll_ns, 20'000U);
  ASSERT_EQ(got.tasks.size(), 3U);
  EXPECT_EQ(got.tasks[0].pattern, "17");
  EXPECT_EQ(got.tasks[0].nice, -20);
  EXPECT_FALSE(got.tasks[0].slice_ns);
  EXPECT_EQ(got.tasks[1].pattern, "mi*");
  EXPECT_EQ(got.tasks[1].slice_ns, 3'000'000U);
  EXPECT_EQ(got.tasks[1].latency_nice, -7);
  EXPECT_EQ(got.tasks[2].clock_poll_ns, 0U);
  EXPECT_EQ(got.tasks[2].policy, sched_policy::batch);
}

TEST(attributes, every_key_is_read) { expect_everything(read(everything)); }

TEST(attributes, every_key_may_be_left_out) {
  const recorded_attributes got = read("{}");
  EXPECT_EQ(got.hz, 250U);
  EXPECT_TRUE(got.kernel.empty());
  EXPECT_FALSE(got.base_slice_ns);
  EXPECT_TRUE(got.tasks.empty());
}

TEST(attributes, features_may_be_one_text) {
  EXPECT_EQ(read(R"({"features": " PLACE_LAG\n NO_HRTICK "})").features,
            (std::vector<std::string>{"PLACE_LAG", "NO_HRTICK"}));
}

TEST(attributes, come_compressed_or_from_standard_input_too) {
  expect_everything(read(test::xz(everything)));
  expect_everything(read(test::gzip(everything)));
  const fed_stdin input(everything);
  expect_everything(read_attributes("-"));
}

TEST(attributes, wrong_standard_input_is_named) {
  const fed_stdin input("{\"hz\": 1}");
  try {
    static_cast<void>(read_attributes("-"));
    FAIL();
  } catch (const input_error& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("standard input: hz: 1 ")) << e.what();
  }
}

TEST(attributes, of_files_that_cannot_be_read) {
  EXPECT_THROW(static_cast<void>(read_attributes("/nonexistent/attributes.json")), input_error);
  EXPECT_THROW(static_cast<void>(read_attributes(std::filesystem::temp_directory_path().string())),
               input_error);
  const scratch_file empty("");
  EXPECT_THROW(static_cast<void>(read_attributes(empty.path())), input_error);
}

TEST(attributes, that_are_not_json) {
  for (const char* text : {"hz: 250", "{\"hz\": 250", "{\"hz\": 250}}", "{'hz': 250}", "\xff\xfe",
                           "{\"kernel\": \"\xff\"}"}) {
    expect_says(refusal(text), {"not valid JSON", "line "});
  }
  expect_says(refusal("{\n\"hz\": 250,\n}"), {"not valid JSON", "line 3"});
  for (const char* text : {"[]", "1", "null", "\"hz\""}) {
    expect_says(refusal(text), {"expected an object"});
  }
}

TEST(attributes, numbers_outside_their_range) {
  expect_says(refusal(R"({"hz": 9})"), {"hz: 9 is not an integer from 10 to 100000"});
  expect_says(refusal(R"({"hz": 100001})"), {"100001"});
  expect_says(refusal(R"({"hz": -250})"), {"-250"});
  expect_says(refusal(R"({"hz": 250.5})"), {"250.5"});
  expect_says(refusal(R"({"hz": 99999999999999999999})"), {"is not an integer from 10"});
  expect_says(refusal(R"({"hz": 18446744073709551615})"), {"18446744073709551615"});
  expect_says(refusal(R"({"hz": "fast"})"), {"hz: \"fast\" is not an integer"});
  expect_says(refusal(R"({"hz": true})"), {"hz: true"});
  expect_says(refusal(R"({"hz": null})"), {"hz: null is not an integer"});
  for (const char* key : {"base_slice_ns", "latency_ns", "min_granularity_ns",
                          "wakeup_granularity_ns", "idle_min_granularity_ns"}) {
    const std::string name = std::string("{\"") + key + "\": ";
    expect_says(refusal(name + "1000000001}"), {key, "1000000001", "to 1000000000"});
    expect_says(refusal(name + "-1}"), {key, "-1"});
    expect_says(refusal(name + "[1]}"), {key, "a list is not an integer"});
  }
  expect_says(refusal(R"({"clock_poll_us": 1000001})"), {"clock_poll_us", "from 0 to 1000000"});
}

TEST(attributes, values_of_the_wrong_type) {
  expect_says(refusal(R"({"kernel": 6.12})"), {"kernel: 6.12 is not a text"});
  expect_says(refusal(R"({"policy": {}})"), {"policy: an object is not a text"});
  expect_says(refusal(R"({"features": 3})"), {"features: expected a text or a list"});
  expect_says(refusal(R"({"features": ["PLACE_LAG", 3]})"), {"features: 3 is not a name"});
  expect_says(refusal(R"({"tasks": {}})"), {"tasks: expected a list"});
  expect_says(refusal(R"({"tasks": [{}, 3]})"), {"tasks[1]: expected an object"});
}

TEST(attributes, bad_values_of_tasks_say_which) {
  const auto entry = [](const std::string& text) {
    return refusal("{\"tasks\": [{\"name\": \"a\", \"nice\": 1}, {" + text + "}]}");
  };
  expect_says(entry(R"("name": "b", "nice": 20)"), {"tasks[1].nice: 20", "-20 to 19"});
  expect_says(entry(R"("name": "b", "nice": -21)"), {"tasks[1].nice: -21"});
  expect_says(entry(R"("name": "b", "latency_nice": 20)"), {"tasks[1].latency_nice: 20"});
  expect_says(entry(R"("name": "b", "slice_us": -1)"), {"tasks[1].slice_us: -1"});
  expect_says(entry(R"("name": "b", "clock_poll_us": 1e3)"), {"tasks[1].clock_poll_us"});
  expect_says(entry(R"("name": "b", "policy": "deadline")"),
              {"tasks[1].policy: \"deadline\" is none of normal, batch"});
  expect_says(entry(R"("nice": 1)"), {"tasks[1]: expected a name or a pid"});
  expect_says(entry(R"("nice": 1, "name": "")"), {"tasks[1]: expected a name or a pid"});
  expect_says(entry(R"("nice": 1, "pid": -1)"), {"tasks[1].pid: -1"});
  expect_says(entry(R"("nice": 1, "name": 7)"), {"name: 7 is not a text"});
  expect_says(entry(R"("name": "b", "nise": 1)"),
              {"tasks[1]: unknown key 'nise'", "did you mean 'nice'?"});
}

TEST(attributes, a_misspelt_key_gets_the_nearest_one) {
  expect_says(refusal(R"({"kernal": "6.12"})"), {"'kernal'", "did you mean 'kernel'?"});
  expect_says(refusal(R"({"base_slice": 1})"), {"did you mean 'base_slice_ns'?"});
  expect_says(refusal("{\"h\\nz\": 1}"), {"'h\\nz'", "did you mean 'hz'?"});
  expect_says(refusal(R"({"latency": 1})"), {"did you mean 'latency_ns'?"});
  EXPECT_EQ(refusal(R"({"tasks": [{"name": "a", "slice": 1}]})"),
            "tasks[0]: unknown key 'slice'; did you mean 'slice_us'?");
}

TEST(attributes, a_key_that_is_there_twice_is_refused) {
  EXPECT_EQ(refusal(R"({"hz": 250, "hz": 1000})"), "the key 'hz' is there twice in one object");
  expect_says(refusal(R"({"tasks": [{"pid": 1, "nice": 1, "nice": 2}]})"), {"'nice' is there"});
  EXPECT_EQ(refusal(R"({"tasks": [{"pid": 1}, {"pid": 2}], "x": {"tasks": 1}})"), "accepted");
}

TEST(attributes, a_misspelt_feature_gets_the_nearest_one) {
  const auto features = [](const std::string& kernel, const std::string& words) {
    return refusal("{\"kernel\": \"" + kernel + "\", \"features\": \"" + words + "\"}");
  };
  EXPECT_EQ(features("6.12.1", "PLACE_LAGG"),
            "features: unknown feature 'PLACE_LAGG'; did you mean 'PLACE_LAG'?");
  expect_says(features("", "NO_RUN_TO_PARTY"), {"did you mean 'RUN_TO_PARITY'?"});
  expect_says(features("6.1.0", "START_DEBT"), {"did you mean 'START_DEBIT'?"});
  EXPECT_EQ(features("6.12.1", "PLACE_LAG NO_HRTICK NO_HRTICK_DL NO_LB_MIN LAST_BUDDY"),
            "accepted");
  EXPECT_EQ(features("6.12.1", "SOMETHING_WHOLLY_DIFFERENT"), "accepted");
}

TEST(attributes, more_patterns_than_can_be_tried) {
  std::string text = "{\"tasks\": [{\"name\": \"a\", \"nice\": 1}";
  for (int i = 0; i < 10'000; ++i) text += ",{\"name\": \"a*\", \"nice\": 1}";
  EXPECT_EQ(read(text + "]}").tasks.size(), 10'001U);
  expect_says(refusal(text + ",{\"name\": \"[b]\", \"nice\": 1}]}"),
              {"tasks[10001]: more than 10000 names are patterns"});
}

TEST(attributes, that_are_not_used_are_told) {
  recorded_attributes attributes;
  EXPECT_TRUE(unused_attributes(attributes).empty());
  attributes.features = {"PLACE_LAG"};
  attributes.base_slice_ns = 3'000'000;
  const std::string values =
      "attributes not used, for want of a kernel that has a profile, or a policy: "
      "features, base_slice_ns";
  EXPECT_EQ(unused_attributes(attributes), std::vector<std::string>{values});
  const std::string unknown = "the policy of the recording is not known: kernel ";
  attributes.kernel = "mainline\n";
  EXPECT_EQ(
      unused_attributes(attributes),
      (std::vector<std::string>{unknown + "'mainline\\n' is not a version like 6.12", values}));
  attributes.profile = "linux-6.12";
  EXPECT_TRUE(unused_attributes(attributes).empty());
}

TEST(attributes, a_misspelt_profile_gets_the_nearest_one) {
  expect_says(refusal(R"({"policy": "linux-6.13"})"), {"policy: unknown profile \"linux-6.13\"",
                                                       "did you mean 'linux-6.12'?", "linux-6.1"});
  expect_says(refusal(R"({"policy": "bsd\n"})"), {"unknown profile \"bsd\\n\"", "known: linux-"});
}

TEST(attributes, long_values_are_cut_in_messages) {
  expect_says(refusal("{\"hz\": \"" + std::string(1'000'000, 'x') + "\"}"), {"xxx... is not an"});
}

TEST(attributes, nested_deeply_are_refused_in_any_place) {
  const std::string deep(3'000'000, '[');
  for (const std::string& text : {deep, "{\"hz\": " + deep, "{\"tasks\": [{\"x\": " + deep,
                                  "{\"hz\": " + deep + std::string(3'000'000, ']') + "}"}) {
    expect_says(refusal(text), {"nested deeper than 32 levels"});
  }
  std::string objects = "{\"hz\": ";
  for (int i = 0; i < 500'000; ++i) objects += "{\"a\":";
  expect_says(refusal(objects), {"nested deeper than 32 levels"});
}

TEST(attributes, as_many_as_a_million_tasks) {
  std::string text = "{\"tasks\": [{\"name\": \"a\", \"nice\": 1}";
  for (int i = 1; i < 1'000'000; ++i) text += ",{}";
  EXPECT_EQ(read(text + "]}").tasks.size(), 1U);
  expect_says(refusal(text + ",{}]}"), {"tasks: more than 1000000"});
}

TEST(attributes, with_more_values_than_any_machine_needs) {
  std::string text = "{\"x\": [1";
  for (int i = 0; i < 8'000'000; ++i) text += i % 1000 == 0 ? "\n,1" : ",1";
  expect_says(refusal(text + "]}"), {"more than 8000000 values"});
}

TEST(attributes, beside_the_bundled_recordings_are_read) {
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(VLAG_TEST_DATA "/traces")) {
    if (entry.path().extension() != ".json") continue;
    ++seen;
    const recorded_attributes got = read_attributes(entry.path().string());
    const auto variant = recorded_variant(got, 1);
    ASSERT_TRUE(variant) << entry.path();
    const bool old = got.kernel.starts_with("6.1.");
    EXPECT_EQ(variant->config.engine, old ? fair_engine::cfs : fair_engine::eevdf);
    EXPECT_EQ(variant->hrtick, entry.path().string().find("-HRTICK") != std::string::npos);
  }
  EXPECT_GE(seen, 20U);
}

// Any text is either read or refused with one line.
TEST(attributes, any_text_is_read_or_refused) {
  EXPECT_TRUE(rc::check("any file", [] {
    static const std::vector<std::string> pieces{"{",       "}",     "[",          "]",
                                                 ",",       ":",     "\"hz\"",     "\"tasks\"",
                                                 "250",     "-1",    "1e400",      "null",
                                                 "true",    "\"a\"", "\"nice\"",   "\"name\"",
                                                 "\n",      "\"",    "\"pid\"",    "\"features\"",
                                                 "\\u0000", "\xff",  "\"policy\"", "{\"hz\":250}"};
    std::string text = *rc::gen::elementOf(std::vector<std::string>{"", "{", "{\"tasks\":[{"});
    for (const std::string& piece :
         *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces))) {
      text += piece;
    }
    const scratch_file file(text.empty() ? "x" : text);
    try {
      static_cast<void>(read_attributes(file.path()));
    } catch (const input_error& e) {
      RC_ASSERT(std::string(e.what()).find('\n') == std::string::npos);
    }
  }));
}

std::string variant_of(const std::string& kernel) {
  recorded_attributes attributes;
  attributes.kernel = kernel;
  const auto variant = recorded_variant(attributes, 1);
  return variant ? variant->label : "unknown";
}

TEST(recorded_variant, follows_the_kernel) {
  EXPECT_EQ(variant_of("6.12.95+deb12-cloud-amd64"), "linux-6.12");
  EXPECT_EQ(variant_of("6.12"), "linux-6.12");
  EXPECT_EQ(variant_of("6.12-rc3"), "linux-6.12");
  EXPECT_EQ(variant_of("7.0.1"), "linux-6.12");
  EXPECT_EQ(variant_of("6.1.0-44-amd64"), "linux-6.1");
  EXPECT_EQ(variant_of("5.10.0"), "linux-6.1");
  EXPECT_EQ(variant_of("6.6.9"), "linux-6.6");
  EXPECT_EQ(variant_of("6.11.2"), "linux-6.6");
}

TEST(recorded_variant, is_not_guessed) {
  for (const char* kernel : {"", "6", "6.", ".", ".12", "linux", "v6.12", "-6.12", "+6.12", " 6.12",
                             "99999999999999999999.1", "6.99999999999999999999", "6..12", "a.b"}) {
    EXPECT_EQ(variant_of(kernel), "unknown") << kernel;
  }
}

TEST(recorded_variant, a_profile_by_name_goes_before_the_kernel) {
  recorded_attributes attributes;
  attributes.kernel = "6.6.1";
  attributes.profile = "linux-6.1";
  EXPECT_EQ(recorded_variant(attributes, 1)->label, "linux-6.1");
}

TEST(recorded_variant, takes_what_differs_from_the_profile) {
  recorded_attributes attributes;
  attributes.kernel = "6.12.1";
  attributes.features = {"PLACE_LAG", "NO_RUN_TO_PARITY", "HRTICK", "NONTASK_CAPACITY",
                         "NO_LB_MIN"};
  attributes.base_slice_ns = 3'000'000;
  attributes.latency_ns = 6'000'000;  // not a constant of that engine
  const auto got = recorded_variant(attributes, 1);
  ASSERT_TRUE(got);
  EXPECT_FALSE(got->config.eevdf.features.has(feature::run_to_parity));
  EXPECT_TRUE(got->config.eevdf.features.has(feature::place_lag));
  EXPECT_EQ(got->config.eevdf.base_slice_ns, 3'000'000U);
  EXPECT_TRUE(got->hrtick);
  EXPECT_EQ(got->label, "linux-6.12,NO_RUN_TO_PARITY,HRTICK,base_slice=3000000ns");
}

TEST(recorded_variant, base_slice_scales_with_cpus_unless_it_is_given) {
  recorded_attributes attributes;
  attributes.kernel = "6.12.1";
  EXPECT_EQ(recorded_variant(attributes, 4)->config.eevdf.base_slice_ns, 2'100'000U);
  attributes.base_slice_ns = 700'000;
  EXPECT_EQ(recorded_variant(attributes, 4)->config.eevdf.base_slice_ns, 700'000U);
}

TEST(recorded_variant, takes_every_value_that_a_file_may_hold) {
  for (const std::uint64_t value : {std::uint64_t{1}, std::uint64_t{1'000'000'000}}) {
    recorded_attributes attributes;
    attributes.kernel = "6.1.0";
    attributes.latency_ns = attributes.min_granularity_ns = attributes.idle_min_granularity_ns =
        value;
    attributes.wakeup_granularity_ns = value == 1 ? 0 : value;
    const auto cfs = recorded_variant(attributes, 1);
    ASSERT_TRUE(cfs);
    EXPECT_EQ(cfs->config.cfs.latency_ns, value);
    attributes.kernel = "6.12.0";
    attributes.base_slice_ns = value;
    EXPECT_EQ(recorded_variant(attributes, 1)->config.eevdf.base_slice_ns, value);
  }
}

}  // namespace
}  // namespace vlag

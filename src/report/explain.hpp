// SPDX-License-Identifier: Apache-2.0
//
// One decision in words: why a choice was due, who could be chosen on each queue, who was, by which
// rule.
#pragma once

#include "machine/pick_record.hpp"
#include "vlag/profile.hpp"

#include <string>

namespace vlag {

// Paragraphs and a table a queue, ends with a line end. The rules are applied anew to the record
// (pick_rules.hpp); should they disagree with what the class did, the text says so.
[[nodiscard]] std::string explain_pick(const pick_record& record, const policy_config& policy,
                                       const std::string& previous_task,
                                       const std::string& chosen_task);

// What the words mean, for the engine.
[[nodiscard]] std::string explain_terms(fair_engine engine);

// "frame:101"; a group's path.
[[nodiscard]] std::string entity_title(const entity_name& e);

}  // namespace vlag

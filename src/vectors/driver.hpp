// SPDX-License-Identifier: Apache-2.0
//
// One kind of golden vectors: how its operations drive a policy, and how the policy's state is laid
// beside the recorded one. A new kind is a subclass and a row in vector_kinds(); reading lines,
// comparing and printing are shared.
#pragma once

#include "vectors/json_line.hpp"
#include "vectors/operation.hpp"
#include "vectors/state.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace vlag {

// Tasks and groups that may live at once in a vector: what storage is provided for.
inline constexpr std::size_t max_vector_tasks = 16384;
inline constexpr std::size_t max_vector_groups = 256;

class vector_driver {
 public:
  vector_driver() = default;
  vector_driver(const vector_driver&) = delete;
  vector_driver& operator=(const vector_driver&) = delete;
  virtual ~vector_driver() = default;

  // What the states look like; of one operation, when they are not all alike.
  [[nodiscard]] virtual const state_layout& layout() const noexcept = 0;
  [[nodiscard]] virtual const state_layout& layout_of(const operation& /*op*/) const noexcept {
    return layout();
  }
  [[nodiscard]] virtual std::span<const operation_info> operations() const noexcept = 0;
  // A line of this operation may have the key beside the state.
  [[nodiscard]] virtual bool is_key(const operation& op, std::string_view key) const noexcept {
    return is_operation_key(op, key);
  }

  // Marks in a recorded state what means nothing, and fills in what is derived from the rest.
  virtual void complete_expected(state& expected, const operation& op) const = 0;

  // Drives the policy. Throws input_error (through line) when the operation makes no sense in the
  // present state; the policy is then untouched.
  virtual void apply(const operation& op, const json_line& line) = 0;

  // The state after the operation applied last; all cells filled.
  virtual void observe(const operation& op, state& got) = 0;

  // For an operation in which the reference crashed. note_crash() is called before apply(), and
  // expect_answer() after it with a copy of the observed state, in which it puts what we define to
  // happen there. Throws input_error: this kind has no defined answer.
  virtual void note_crash(const operation& op, const json_line& line) = 0;
  virtual void expect_answer(const operation& op, state& expected) const = 0;
};

struct vector_kind {
  std::string_view format;  // as the header writes it
  // Throws input_error: a header key missing, unknown or out of range.
  std::unique_ptr<vector_driver> (*make)(const json_line& header);
};

[[nodiscard]] std::span<const vector_kind> vector_kinds() noexcept;

[[nodiscard]] std::unique_ptr<vector_driver> make_eevdf_driver(const json_line& header);
[[nodiscard]] std::unique_ptr<vector_driver> make_cfs_driver(const json_line& header);
[[nodiscard]] std::unique_ptr<vector_driver> make_pelt_driver(const json_line& header);
[[nodiscard]] std::unique_ptr<vector_driver> make_eevdf_groups_driver(const json_line& header);
[[nodiscard]] std::unique_ptr<vector_driver> make_cfs_groups_driver(const json_line& header);

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
//
// Events as the kernel writes them into its buffers, read by the format texts that the recording
// itself brings (events/…/format of tracefs): where a field lies differs from kernel to kernel.
// libtraceevent reads those texts.
#pragma once

#include "trace/event.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct tep_event;
struct tep_format_field;
struct tep_handle;

namespace vlag::trace {

// The texts of an event, pointing into its bytes.
struct raw_texts {
  std::string_view comm;
  std::string_view other_comm;
  std::string_view text;
};

// Which bit of sched_switch's prev_state prints as which letter.
struct state_bits {
  struct letter_of {
    std::uint64_t bit;
    char letter;
  };
  // Linux 4.14 and later.
  std::vector<letter_of> letters{{1, 'S'},    {2, 'D'},    {4, 'T'},    {8, 't'},
                                 {0x10, 'X'}, {0x20, 'Z'}, {0x40, 'P'}, {0x80, 'I'}};
  std::uint64_t preempted = 0x100;

  // From the pairs { 0x1, "S" } in the event's format text; the next higher bit then says
  // "preempted". Fewer than two pairs leave all as it is.
  void learn(std::string_view format_text);
  [[nodiscard]] switch_state state_of(std::uint64_t bits) const noexcept;
};

enum class raw_kind : std::uint8_t { known, other, unknown_id, malformed };

class event_formats {
 public:
  event_formats();
  ~event_formats();
  event_formats(const event_formats&) = delete;
  event_formats& operator=(const event_formats&) = delete;

  // Takes a format text in. One of an event that is not read is kept by name only. False: the text
  // makes no sense, or lacks a field that is needed.
  [[nodiscard]] bool add_text(std::string_view system, std::string_view text);
  // The same for an event that libtraceevent has read.
  [[nodiscard]] bool add_event(const tep_event& from);

  // Some event that is read has a format here.
  [[nodiscard]] bool any_known() const noexcept { return known_; }
  // Name of the event with that id; empty: none.
  [[nodiscard]] std::string_view name_of(std::uint32_t id) const noexcept;

  // Reads one event's bytes into `out`: all but time, where and cpu; texts are left to the caller.
  // `name` is set for `other` and `malformed`. O(fields).
  [[nodiscard]] raw_kind read(std::string_view raw, event& out, raw_texts& texts,
                              std::string_view& name) const noexcept;

  [[nodiscard]] state_bits& states() noexcept { return states_; }

 private:
  struct field {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;  // 0: all that is left
    bool is_signed = false;
    bool is_located = false;   // holds where and how long the text is
    bool is_relative = false;  // … counted from behind this field
  };
  static constexpr std::size_t most_fields = 8;
  struct format {
    std::string name;
    bool is_read = false;
    event_kind kind = event_kind::sched_switch;
    field flags;
    field pid;
    std::array<std::optional<field>, most_fields> fields;
  };

  [[nodiscard]] static std::optional<field> field_of(const tep_format_field* from);
  void keep(std::uint32_t id, format&& made);
  [[nodiscard]] static bool number(std::string_view raw, const field& at,
                                   std::int64_t& value) noexcept;
  [[nodiscard]] static bool text(std::string_view raw, const field& at,
                                 std::string_view& value) noexcept;
  [[nodiscard]] bool read_fields(const format& by, std::string_view raw, event& out,
                                 raw_texts& texts) const noexcept;

  tep_handle* parser_;
  std::vector<format> formats_;
  std::vector<std::uint16_t> index_;  // by id: 1 + place in formats_
  state_bits states_;
  bool known_ = false;
};

}  // namespace vlag::trace

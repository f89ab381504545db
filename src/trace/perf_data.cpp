// SPDX-License-Identifier: Apache-2.0
#include "trace/perf_data.hpp"

#include "input/input_error.hpp"
#include "trace/event_formats.hpp"
#include "trace/ftrace_line.hpp"
#include "trace/perf_sample.hpp"
#include "trace/record_window.hpp"
#include "trace/tracing_data.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace vlag::trace {
namespace {

constexpr std::string_view magic = "PERFILE2";
constexpr std::size_t pipe_head_bytes = 16;
constexpr std::size_t file_head_bytes = 104;
constexpr std::size_t record_head_bytes = 8;
constexpr std::uint64_t longest_tracing_data = std::uint64_t{1} << 28;
constexpr std::size_t most_attributes = 1U << 16;
constexpr std::size_t most_ids = std::size_t{1} << 21;
constexpr std::uint64_t longest_attribute = 4096;
constexpr unsigned records_between_reports = 1U << 14;

// Of records, linux/perf_event.h and perf's own.
enum record_type : std::uint32_t {
  lost_record = 2,
  sample_record = 9,
  lost_samples_record = 13,
  attribute_record = 64,
  tracing_data_record = 66,
  round_record = 68,
  auxtrace_record = 71,
  feature_record = 80,
  compressed_record = 81,
  compressed2_record = 83,
};

enum feature : unsigned {
  tracing_data_feature = 1,
  host_feature = 3,
  release_feature = 4,
  features = 256,
};

template <typename integer>
integer load(std::string_view from, std::size_t offset) noexcept {
  integer value{};
  std::memcpy(&value, from.data() + offset, sizeof value);
  return value;
}

struct section {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

section load_section(std::string_view from, std::size_t offset) noexcept {
  return {load<std::uint64_t>(from, offset), load<std::uint64_t>(from, offset + 8)};
}

std::string_view clock_name(std::int32_t clock) noexcept {
  constexpr std::array<std::string_view, 12> names{
      "realtime",         "monotonic",     "process CPU time",
      "thread CPU time",  "monotonic_raw", "realtime_coarse",
      "monotonic_coarse", "boottime",      "realtime alarm",
      "boottime alarm",   "cycle",         "tai"};
  if (clock < 0 || static_cast<std::size_t>(clock) >= names.size()) return "unknown";
  return names[static_cast<std::size_t>(clock)];
}

// Records inside compressed ones, as a stream of their own.
class decompressor {
 public:
  decompressor() : stream_(::ZSTD_createDStream(), &::ZSTD_freeDStream) {
    if (!stream_) throw std::bad_alloc();
    constexpr int largest_window_log = 27;
    ::ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, largest_window_log);
  }

  // Calls `take(bytes)` for piece after piece; it gives back how many it used, and gets the rest
  // again with more behind. False: damaged.
  template <typename taker>
  [[nodiscard]] bool feed(std::string_view packed, const taker& take) {
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    for (;;) {
      if (held_ == buffer_.size()) return false;
      ZSTD_outBuffer out{buffer_.data(), buffer_.size(), held_};
      const std::size_t result = ::ZSTD_decompressStream(stream_.get(), &out, &in);
      if (::ZSTD_isError(result) != 0) return false;
      const bool full = out.pos == buffer_.size();
      held_ = out.pos;
      const std::size_t used = take(std::string_view(buffer_.data(), held_));
      if (used > held_) return false;
      std::memmove(buffer_.data(), buffer_.data() + used, held_ - used);
      held_ -= used;
      if (in.pos == in.size && !full) return true;
    }
  }

  [[nodiscard]] std::size_t left() const noexcept { return held_; }

 private:
  // Whole records of up to 64 KiB fit.
  std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 18);
  std::unique_ptr<ZSTD_DStream, decltype(&::ZSTD_freeDStream)> stream_;
  std::size_t held_ = 0;
};

class perf_reading {
 public:
  perf_reading(intake& to, const progress& tell) : to_(to), tell_(tell) {
    to.about().resolution_ns = 1;
  }

  void read_file(const seekable_bytes& file) {
    const std::string head = bytes_at(file, {0, file_head_bytes}, "head");
    check_head(head);
    const section data = load_section(head, 40);
    read_attributes(file, load_section(head, 24), load<std::uint64_t>(head, 16));
    read_features(file, head, data);
    check_formats();
    const auto stream = stretch_of(file, data.offset, data.size);
    all_bytes_ = data.offset + data.size;
    record_window window(*stream, data.offset);
    read_records(window);
    if (window.offset() < data.offset + data.size) note_cut(window.offset());
    finish();
  }

  void read_stream(byte_source& stream) {
    record_window window(stream, 0);
    const std::string_view head = window.peek(pipe_head_bytes);
    if (head.size() < pipe_head_bytes) refuse("it ends within its head");
    check_head(head);
    window.skip(pipe_head_bytes);
    all_bytes_ = stream.file_size();
    read_records(window);
    check_formats();
    finish();
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    throw input_error(
        fmt::format("{}: perf.data that cannot be read: {}; expected a recording as "
                    "perf sched record writes it",
                    to_.about().path, why));
  }

  void check_head(std::string_view head) const {
    if (!head.starts_with(magic)) refuse("byte 0: no PERFILE2 (another byte order, or version 1)");
  }

  std::string bytes_at(const seekable_bytes& file, const section& where,
                       std::string_view what) const {
    std::string bytes;
    const bool inside = where.offset <= file.size() && where.size <= file.size() - where.offset;
    if (inside && where.size <= longest_tracing_data) {
      bytes.resize(static_cast<std::size_t>(where.size));
      if (file.read_at(where.offset, bytes.data(), bytes.size()) == bytes.size()) return bytes;
    }
    refuse(
        fmt::format("byte {}: the {} of {} bytes does not lie within the file of {} bytes; was "
                    "the recording cut?",
                    where.offset, what, where.size, file.size()));
  }

  void read_attributes(const seekable_bytes& file, const section& where, std::uint64_t each) {
    constexpr std::uint64_t ids_bytes = 16;
    if (each < 64 + ids_bytes || each > longest_attribute || where.size % each != 0 ||
        where.size / each > most_attributes) {
      refuse(fmt::format("byte 16: attributes of {} bytes, {} bytes in all", each, where.size));
    }
    const std::string all = bytes_at(file, where, "list of attributes");
    for (std::size_t at = 0; at < all.size(); at += static_cast<std::size_t>(each)) {
      const std::string_view one = std::string_view(all).substr(at, static_cast<std::size_t>(each));
      const section ids = load_section(one, one.size() - ids_bytes);
      add_attribute(one.substr(0, one.size() - ids_bytes), bytes_at(file, ids, "list of ids"));
    }
    index_ids();
  }

  void add_attribute(std::string_view attribute, std::string_view ids) {
    const auto layout = layout_of(attribute);
    if (!layout) refuse("an attribute is too short");
    if (layouts_.size() >= most_attributes || ids_.size() + ids.size() / 8 > most_ids) {
      refuse("it has too many attributes or ids");
    }
    if (layout->clock) to_.about().clock = clock_name(*layout->clock);
    for (std::size_t at = 0; at + 8 <= ids.size(); at += 8) {
      ids_.emplace_back(load<std::uint64_t>(ids, at), static_cast<std::uint32_t>(layouts_.size()));
    }
    if (is_complete(*layout) && !first_complete_) first_complete_ = layouts_.size();
    layouts_.push_back(*layout);
    last_id_.reset();
    ids_sorted_ = false;
  }

  void index_ids() {
    std::stable_sort(ids_.begin(), ids_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    ids_sorted_ = true;
  }

  void read_features(const seekable_bytes& file, std::string_view head, const section& data) {
    constexpr std::size_t bits_offset = 72;
    if (data.size > std::numeric_limits<std::uint64_t>::max() - data.offset) {
      refuse("byte 40: the samples' place makes no sense");
    }
    if (data.size == 0) {
      refuse("byte 48: it says that it holds no samples; was perf stopped before it could finish?");
    }
    std::uint64_t entry = data.offset + data.size;
    for (unsigned bit = 0; bit < features; ++bit) {
      if ((load<std::uint64_t>(head, bits_offset + bit / 64 * 8) >> (bit % 64) & 1) == 0) continue;
      const std::string place = bytes_at(file, {entry, 16}, "list of features");
      entry += 16;
      if (bit != tracing_data_feature && bit != host_feature && bit != release_feature) continue;
      read_feature(bit, bytes_at(file, load_section(place, 0), "feature"));
    }
  }

  void read_feature(unsigned bit, std::string_view bytes) {
    if (bit == tracing_data_feature) {
      read_formats(bytes);
    } else if (bit == host_feature || bit == release_feature) {
      if (bytes.size() < 4) return;
      const std::string_view text = bytes.substr(4, load<std::uint32_t>(bytes, 0));
      std::string& into = bit == host_feature ? to_.about().host : to_.about().kernel_release;
      into = text.substr(0, std::min<std::size_t>(text.find('\0'), 256));
    }
  }

  void read_formats(std::string_view block) {
    const std::string wrong = read_tracing_data(block, formats_);
    if (!wrong.empty()) refuse(fmt::format("its block of event formats: {}", wrong));
  }

  void check_formats() const {
    if (!formats_.any_known()) {
      refuse("it brings no format of a scheduler event (it holds other events, or was cut)");
    }
    if (!first_complete_) refuse("none of its samples has time, CPU and event (perf record -R -T)");
  }

  void read_records(record_window& window) {
    for (;;) {
      const std::string_view head = window.peek(record_head_bytes);
      if (head.empty()) return;
      if (head.size() < record_head_bytes) return note_cut(window.offset());
      const std::uint64_t where = window.offset();
      const std::size_t size = load<std::uint16_t>(head, 6);
      if (size < record_head_bytes) return note_damaged(where, size);
      const std::string_view record = window.peek(size);
      if (record.size() < size) return note_cut(where);
      place_ = where;
      const std::uint64_t behind = read_record(record);
      if (stopped_) return;
      if (load<std::uint32_t>(record, 0) == tracing_data_record) {
        window.skip(size);
        if (!read_streamed_formats(window, behind)) return note_cut(where);
      } else {
        window.skip(size);
        if (!window.pass(behind)) return note_cut(where);
      }
      report(window.offset());
    }
  }

  // What belongs to a record and follows it, bytes.
  std::uint64_t read_record(std::string_view record) {
    const std::string_view body = record.substr(record_head_bytes);
    switch (load<std::uint32_t>(record, 0)) {
      case sample_record:
        read_one_sample(body);
        break;
      case lost_record:
        if (body.size() >= 16) count_lost(load<std::uint64_t>(body, 8));
        break;
      case lost_samples_record:
        if (body.size() >= 8) count_lost(load<std::uint64_t>(body, 0));
        break;
      case round_record:
        to_.round_ended();
        break;
      case attribute_record:
        read_streamed_attribute(body);
        break;
      case feature_record:
        if (body.size() >= 8 && load<std::uint64_t>(body, 0) != tracing_data_feature) {
          read_feature(static_cast<unsigned>(
                           std::min<std::uint64_t>(load<std::uint64_t>(body, 0), features)),
                       body.substr(8));
        }
        break;
      case tracing_data_record:
        return body.size() >= 4 ? (load<std::uint32_t>(body, 0) + 7ULL) / 8 * 8 : 0;
      case auxtrace_record:
        return body.size() >= 8 ? load<std::uint64_t>(body, 0) : 0;
      case compressed_record:
        read_compressed(body);
        break;
      case compressed2_record:
        if (body.size() >= 8) {
          read_compressed(body.substr(8, static_cast<std::size_t>(std::min<std::uint64_t>(
                                             load<std::uint64_t>(body, 0), body.size()))));
        }
        break;
      default:
        break;
    }
    return 0;
  }

  void read_streamed_attribute(std::string_view body) {
    if (body.size() < 64) return note_damaged(place_, body.size());
    const std::size_t size = load<std::uint32_t>(body, 4);
    if (size < 64 || size > body.size()) return note_damaged(place_, body.size());
    add_attribute(body.substr(0, size), body.substr(size));
  }

  bool read_streamed_formats(record_window& window, std::uint64_t size) {
    if (size > longest_tracing_data) refuse("its block of event formats is too long");
    const std::string_view block = window.peek(static_cast<std::size_t>(size));
    if (block.size() < size) return false;
    read_formats(block);
    window.skip(block.size());
    return true;
  }

  void read_compressed(std::string_view packed) {
    if (inside_compressed_) {
      note_damaged(place_, packed.size());
      return;
    }
    if (!decompressor_) decompressor_ = std::make_unique<decompressor>();
    inside_compressed_ = true;
    const bool good = decompressor_->feed(
        packed, [this](std::string_view bytes) { return read_unpacked(bytes); });
    inside_compressed_ = false;
    if (good || stopped_) return;
    to_.note("damaged record", "byte", place_,
             [] { return "its compressed data is damaged; it and what follows is not read"; });
    stopped_ = true;
  }

  // Whole records; the rest comes again with more behind.
  std::size_t read_unpacked(std::string_view bytes) {
    std::size_t used = 0;
    while (bytes.size() - used >= record_head_bytes && !stopped_) {
      const std::size_t size = load<std::uint16_t>(bytes, used + 6);
      if (size < record_head_bytes) {
        note_damaged(place_, size);
        break;
      }
      if (size > bytes.size() - used) return used;
      static_cast<void>(read_record(bytes.substr(used, size)));
      used += size;
    }
    return stopped_ ? bytes.size() : used;
  }

  [[nodiscard]] const sample_layout* layout_for(std::string_view body) {
    if (!ids_sorted_) index_ids();
    if (!first_complete_) return nullptr;
    const sample_layout& usual = layouts_[*first_complete_];
    if (layouts_.size() == 1) return &usual;
    const auto id = id_of_sample(body, usual);
    if (!id) return &usual;
    if (last_id_ == id) return last_layout_;
    const auto found = std::lower_bound(ids_.begin(), ids_.end(), *id,
                                        [](const auto& a, std::uint64_t b) { return a.first < b; });
    if (found == ids_.end() || found->first != *id) return nullptr;
    last_id_ = id;
    last_layout_ = &layouts_[found->second];
    return last_layout_;
  }

  void read_one_sample(std::string_view body) {
    const sample_layout* layout = layout_for(body);
    if (layout == nullptr) {
      to_.note("unknown sample", "byte", place_, [] { return "its id belongs to no attribute"; });
      return;
    }
    if (!is_complete(*layout)) return to_.count_other("samples of another kind");
    sample one;
    if (!read_sample(body, *layout, one) || one.cpu > highest_cpu)
      return note_malformed("a sample");
    event entry;
    raw_texts texts;
    std::string_view name;
    switch (formats_.read(one.raw, entry, texts, name)) {
      case raw_kind::known:
        keep(one, entry, texts);
        break;
      case raw_kind::other:
        to_.count_other(name);
        break;
      case raw_kind::unknown_id:
        to_.note("unknown event", "byte", place_, [] { return "no format for its id"; });
        break;
      case raw_kind::malformed:
        note_malformed(name.empty() ? "an event" : name);
        break;
    }
  }

  void keep(const sample& one, event& entry, const raw_texts& texts) {
    entry.time_ns = one.time_ns;
    entry.where = place_;
    entry.cpu = static_cast<std::uint16_t>(one.cpu);
    if (!texts.comm.empty()) entry.comm = to_.name(texts.comm, entry.pid);
    if (!texts.other_comm.empty()) entry.other_comm = to_.name(texts.other_comm, entry.other_pid);
    if (!texts.text.empty()) entry.text = to_.text(texts.text);
    to_.take(entry);
  }

  void count_lost(std::uint64_t lost) {
    to_.count_lost(lost);
    to_.note("lost events", "byte", place_, [lost] { return fmt::format("perf lost {}", lost); });
  }

  void note_malformed(std::string_view what) {
    to_.note("malformed event", "byte", place_,
             [what] { return fmt::format("{} whose parts make no sense", what); });
  }

  void note_damaged(std::uint64_t where, std::size_t size) {
    stopped_ = true;
    to_.note("damaged record", "byte", where, [size] {
      return fmt::format("a record of {} bytes; it and what follows is not read", size);
    });
  }

  void note_cut(std::uint64_t where) {
    to_.note("cut file", "byte", where, [] { return "the file ends within a record"; });
  }

  void report(std::uint64_t at) {
    if (!tell_ || ++records_ % records_between_reports != 0) return;
    tell_(at, all_bytes_, to_.events());
  }

  void finish() {
    recording_info& about = to_.about();
    if (about.clock.empty()) about.clock = "perf";
    if (decompressor_ && decompressor_->left() > 0 && !stopped_) note_cut(place_);
    to_.finish();
    if (tell_) tell_(all_bytes_, all_bytes_, to_.events());
  }

  intake& to_;
  const progress& tell_;
  event_formats formats_;
  std::vector<sample_layout> layouts_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> ids_;  // id, place in layouts_
  std::optional<std::size_t> first_complete_;
  std::optional<std::uint64_t> last_id_;
  const sample_layout* last_layout_ = nullptr;
  std::unique_ptr<decompressor> decompressor_;
  std::uint64_t place_ = 0;  // of the present record
  std::uint64_t all_bytes_ = 0;
  unsigned records_ = 0;
  bool ids_sorted_ = true;
  bool inside_compressed_ = false;
  bool stopped_ = false;
};

}  // namespace

bool is_perf_stream(std::string_view head) noexcept {
  return head.size() >= pipe_head_bytes && head.starts_with(magic) &&
         load<std::uint64_t>(head, 8) == pipe_head_bytes;
}

void read_perf_data(const seekable_bytes& file, intake& to, const progress& tell) {
  perf_reading(to, tell).read_file(file);
}

void read_perf_stream(byte_source& stream, intake& to, const progress& tell) {
  perf_reading(to, tell).read_stream(stream);
}

}  // namespace vlag::trace

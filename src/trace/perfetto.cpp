// SPDX-License-Identifier: Apache-2.0
#include "trace/perfetto.hpp"

#include "input/input_error.hpp"
#include "trace/perfetto_bundle.hpp"
#include "trace/record_window.hpp"

#include <fmt/format.h>
#include <zlib.h>
#include <protozero/pbf_reader.hpp>

#include <algorithm>
#include <limits>
#include <new>
#include <string>

namespace vlag::trace {
namespace {

constexpr std::size_t longest_packet = std::size_t{1} << 26;
constexpr std::size_t longest_varint = 10;
constexpr unsigned packets_between_reports = 256;

// Of TracePacket.
enum packet_field : unsigned {
  ftrace_events = 1,
  process_tree = 2,
  system_info = 45,
  compressed_packets = 50,
};

// 0: cut or too long.
std::size_t varint_at(std::string_view bytes, std::uint64_t& value) {
  value = 0;
  for (std::size_t i = 0; i < std::min(bytes.size(), longest_varint); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    value |= std::uint64_t{byte & 0x7fU} << (7 * i);
    if (byte < 0x80) return i + 1;
  }
  return 0;
}

// The whole of a zlib stream; false: damaged, or more than a packet may have.
bool inflate_all(std::string_view packed, std::string& out) {
  z_stream stream{};
  if (::inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  out.clear();
  int result = Z_OK;
  while (result == Z_OK && out.size() <= longest_packet) {
    constexpr std::size_t step = std::size_t{1} << 18;
    const std::size_t before = out.size();
    out.resize(before + step);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = static_cast<uInt>(step);
    result = ::inflate(&stream, Z_NO_FLUSH);
    out.resize(before + step - stream.avail_out);
  }
  ::inflateEnd(&stream);
  return result == Z_STREAM_END;
}

class perfetto_reading {
 public:
  perfetto_reading(byte_source& source, intake& to, const progress& tell)
      : source_(source), to_(to), tell_(tell), bundles_(to) {
    to_.about().resolution_ns = 1;
  }

  void read() {
    record_window window(source_, 0);
    while (read_field(window)) {
      if (tell_ && ++packets_ % packets_between_reports == 0) report();
    }
    if (to_.events() + to_.about().other_events == 0) {
      throw input_error(
          fmt::format("{}: a Perfetto trace without ftrace events; expected one "
                      "recorded with the data source linux.ftrace and its sched "
                      "events",
                      to_.about().path));
    }
    to_.finish();
    if (tell_) report();
  }

 private:
  void report() { tell_(source_.bytes_consumed(), source_.file_size(), to_.events()); }

  bool read_field(record_window& window) {
    const std::string_view head = window.peek(2 * longest_varint);
    if (head.empty()) return false;
    where_ = window.offset();
    std::uint64_t tag = 0;
    std::uint64_t value = 0;
    const std::size_t tag_size = varint_at(head, tag);
    const std::size_t value_size = tag_size == 0 ? 0 : varint_at(head.substr(tag_size), value);
    constexpr std::uint64_t packet_tag = 1U << 3 | 2U;
    if (value_size == 0 || (tag & 7U) != 2 || tag >> 3 == 0) {
      if (head.size() < longest_varint) return stop_at_cut();
      note_damaged("no packet begins there; what follows is not read");
      return false;
    }
    window.skip(tag_size + value_size);
    if (tag != packet_tag) return window.pass(value) || stop_at_cut();
    if (value > longest_packet) {
      throw input_error(fmt::format("{}: byte {}: a packet of {} bytes; expected at most {} MiB",
                                    to_.about().path, where_, value, longest_packet >> 20));
    }
    const std::string_view packet = window.peek(static_cast<std::size_t>(value));
    if (packet.size() < value) return stop_at_cut();
    read_packet_safely(packet, true);
    window.skip(packet.size());
    return true;
  }

  bool stop_at_cut() {
    to_.note("cut file", "byte", where_, [] { return "the file ends within a packet"; });
    return false;
  }

  void note_damaged(std::string_view what) {
    to_.note("damaged packet", "byte", where_, [what] { return std::string(what); });
  }

  void read_packet_safely(std::string_view packet, bool may_unpack) {
    try {
      read_packet(packet, may_unpack);
    } catch (const protozero::exception& e) {
      note_damaged(fmt::format("the rest of it is not read: {}", e.what()));
    }
  }

  void read_packet(std::string_view packet, bool may_unpack) {
    bool wrong = false;
    for (protozero::pbf_reader field(packet.data(), packet.size()); field.next();) {
      switch (field.tag()) {
        case ftrace_events:
          bundles_.read(bytes_of(field, wrong), where_);
          break;
        case process_tree:
          read_process_tree(bytes_of(field, wrong));
          break;
        case system_info:
          read_system_info(bytes_of(field, wrong));
          break;
        case compressed_packets:
          read_compressed(bytes_of(field, wrong), may_unpack);
          break;
        default:
          field.skip();
          break;
      }
    }
    if (wrong) note_damaged("a field of another type than expected");
  }

  void read_compressed(std::string_view packed, bool may_unpack) {
    std::string unpacked;
    if (!may_unpack || !inflate_all(packed, unpacked)) {
      return note_damaged("compressed packets that cannot be unpacked");
    }
    bool wrong = false;
    for (protozero::pbf_reader field(unpacked.data(), unpacked.size()); field.next();) {
      if (field.tag() == 1) {
        read_packet_safely(bytes_of(field, wrong), false);
      } else {
        field.skip();
      }
    }
    if (wrong) note_damaged("a field of another type than expected");
  }

  // The first field of that number with bytes in it.
  static std::string_view bytes_in(std::string_view message, unsigned number) {
    bool wrong = false;
    for (protozero::pbf_reader field(message.data(), message.size()); field.next();) {
      if (field.tag() == number) return bytes_of(field, wrong);
      field.skip();
    }
    return {};
  }

  void read_system_info(std::string_view info) {
    constexpr unsigned utsname = 1;
    constexpr unsigned release = 3;
    const std::string_view text = bytes_in(bytes_in(info, utsname), release);
    if (!text.empty()) to_.about().kernel_release = text.substr(0, 256);
  }

  void read_process_tree(std::string_view tree) {
    bool wrong = false;
    for (protozero::pbf_reader field(tree.data(), tree.size()); field.next();) {
      constexpr unsigned threads = 2;
      if (field.tag() != threads) {
        field.skip();
        continue;
      }
      const std::string_view thread = bytes_of(field, wrong);
      std::uint64_t pid = 0;
      std::string_view name;
      for (protozero::pbf_reader part(thread.data(), thread.size()); part.next();) {
        if (part.tag() == 1) {
          pid = number_of(part, wrong);
        } else if (part.tag() == 2) {
          name = bytes_of(part, wrong);
        } else {
          part.skip();
        }
      }
      constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
      if (pid <= most) bundles_.name_task(static_cast<std::int32_t>(pid), name.substr(0, 256));
    }
    if (wrong) note_damaged("a process tree that makes no sense");
  }

  byte_source& source_;
  intake& to_;
  const progress& tell_;
  bundle_reader bundles_;
  std::uint64_t where_ = 0;
  unsigned packets_ = 0;
};

}  // namespace

void read_perfetto(byte_source& source, intake& to, const progress& tell) {
  perfetto_reading(source, to, tell).read();
}

}  // namespace vlag::trace

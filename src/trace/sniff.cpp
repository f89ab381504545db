// SPDX-License-Identifier: Apache-2.0
#include "trace/sniff.hpp"

#include "trace/ftrace_line.hpp"
#include "trace/scan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace vlag::trace {
namespace {

using namespace std::string_view_literals;

struct signature {
  std::string_view bytes;
  std::string_view name;
};

constexpr std::string_view perf_magic = "PERFILE2"sv;
constexpr std::string_view trace_dat_magic = "\x17\x08\x44tracing"sv;

constexpr std::array signatures{
    signature{perf_magic, "perf.data, the binary file of perf record"},
    signature{"2ELIFREP"sv, "perf.data of a big-endian machine (convert it there: perf script)"},
    signature{trace_dat_magic, "trace.dat, the binary file of trace-cmd"},
    signature{"\x7f"
              "ELF"sv,
              "an ELF file"},
    signature{"\xc1\x1f\xfc\xc1"sv, "a CTF stream, as LTTng writes it"},
    signature{"SQLite format 3"sv, "an SQLite database"},
    signature{"PK\x03\x04"sv, "a zip archive"},
    signature{"BZh"sv, "bzip2 data (decompress it first)"},
    signature{"\x04\x22\x4d\x18"sv, "lz4 data (decompress it first)"},
    signature{"\x1f\x8b"sv, "gzip data inside compressed data (decompress it first)"},
    signature{"\xfd"
              "7zXZ"sv,
              "xz data inside compressed data (decompress it first)"},
    signature{"\x28\xb5\x2f\xfd"sv, "zstd data inside compressed data (decompress it first)"},
    signature{"%PDF-"sv, "a PDF document"},
    signature{"\x89PNG"sv, "a PNG picture"},
    signature{"\xff\xd8\xff"sv, "a JPEG picture"},
    signature{"\xff\xfe"sv, "UTF-16 text (convert it to UTF-8)"},
    signature{"\xfe\xff"sv, "UTF-16 text (convert it to UTF-8)"},
};

bool take_varint(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// A Perfetto trace is a sequence of length-delimited fields number 1, each a message.
bool is_perfetto(std::string_view head) {
  constexpr char packet_tag = 0x0a;
  constexpr unsigned packets_needed = 2;
  constexpr std::uint64_t longest_packet = std::uint64_t{1} << 28;
  for (unsigned packets = 0; packets < 16; ++packets) {
    if (head.empty()) return packets >= packets_needed;
    if (head.front() != packet_tag) return false;
    head.remove_prefix(1);
    std::uint64_t length = 0;
    if (!take_varint(head, length) || length == 0 || length > longest_packet) return false;
    // The first byte of a message is a tag: a field number above 0 and a wire type up to 5.
    const auto tag = static_cast<unsigned char>(head.empty() ? packet_tag : head.front());
    if ((tag & 7U) > 5 || (tag >> 3U) == 0) return false;
    if (length > head.size()) return packets + 1 >= packets_needed || length > 64;
    head.remove_prefix(length);
  }
  return true;
}

bool is_binary(std::string_view head) {
  const auto odd = std::count_if(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\x1b';
  });
  constexpr std::ptrdiff_t one_in = 10;
  return odd * one_in > static_cast<std::ptrdiff_t>(head.size());
}

bool starts_with_any_case(std::string_view text, std::string_view lower_start) {
  if (text.size() < lower_start.size()) return false;
  return std::equal(lower_start.begin(), lower_start.end(), text.begin(), [](char want, char c) {
    return want == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  });
}

std::string_view skip_blank(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

// The lines that are whole, without empty ones.
std::vector<std::string_view> whole_lines(std::string_view head) {
  std::vector<std::string_view> lines;
  for (std::size_t stop = head.find('\n'); stop != std::string_view::npos; stop = head.find('\n')) {
    if (stop > 0) lines.push_back(head.substr(0, stop));
    head.remove_prefix(stop + 1);
  }
  if (lines.empty() && !head.empty()) lines.push_back(head);
  return lines;
}

// "bash-12 [000] d..2. 123456789: sched_switch: …": a clock that counts ticks, not seconds.
bool has_counting_clock(std::string_view line) {
  const std::size_t at = line.find(" [");
  if (at == std::string_view::npos) return false;
  scanner scan(line.substr(at + 2));
  std::uint64_t number = 0;
  if (!scan.take_number(number) || !scan.take("] ")) return false;
  scan.skip_spaces();
  if (!scan.take_number(number)) {
    static_cast<void>(scan.take_word());
    scan.skip_spaces();
    if (!scan.take_number(number)) return false;
  }
  return scan.take(": ");
}

bool is_kernel_log(std::string_view line) {
  scanner scan(line);
  std::uint64_t number = 0;
  if (!scan.take('[')) return false;
  scan.skip_spaces();
  return scan.take_number(number) && scan.take('.') && scan.take_number(number) && scan.take(']');
}

bool is_separated_by(char separator, const std::vector<std::string_view>& lines) {
  const auto fields = std::count(lines.front().begin(), lines.front().end(), separator);
  if (fields == 0 || lines.size() < 2) return false;
  return std::all_of(lines.begin(), lines.end(), [fields, separator](std::string_view line) {
    return std::count(line.begin(), line.end(), separator) == fields;
  });
}

std::string_view describe_text(std::string_view head) {
  const std::string_view text = skip_blank(head);
  if (text.empty()) return "blank lines";
  if (starts_with_any_case(text, "<!doctype html") || starts_with_any_case(text, "<html")) {
    return "an HTML page";
  }
  if (text.starts_with('<')) return "XML or HTML";
  const bool has_object = text.starts_with('{') || text.starts_with("[{") ||
                          (text.starts_with('[') && skip_blank(text.substr(1)).starts_with('{'));
  if (has_object) {
    return text.find("\"traceEvents\"") != std::string_view::npos ? "a Chrome JSON trace" : "JSON";
  }
  const std::vector<std::string_view> lines = whole_lines(text);
  if (std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
        line_head parts;
        return parse_script_head(line, parts);
      })) {
    return "the output of perf script";
  }
  if (text.find(" latency trace v") != std::string_view::npos) {
    return "ftrace text in the latency format (write 0 to options/latency-format and record again)";
  }
  if (std::any_of(lines.begin(), lines.end(), has_counting_clock)) {
    return "ftrace text with a clock that does not count seconds (write mono to trace_clock and "
           "record again)";
  }
  if (is_kernel_log(lines.front())) return "a kernel log";
  if (text.starts_with("Sched Debug Version")) return "the kernel's scheduler debug file";
  if (text.starts_with("#!")) return "a script";
  if (std::all_of(lines.begin(), lines.end(), [](auto line) { return line.starts_with('#'); })) {
    return "an ftrace text without events";
  }
  if (is_separated_by(',', lines) || is_separated_by(';', lines)) return "CSV";
  if (is_separated_by('\t', lines)) return "a table separated by tabs";
  return "text without any ftrace event";
}

}  // namespace

std::string_view name_of(trace_format format) noexcept {
  constexpr std::array<std::string_view, 5> names{"ftrace text", "perf script text", "perf.data",
                                                  "trace.dat", "Perfetto trace"};
  return names[static_cast<std::size_t>(format)];
}

std::optional<trace_format> sniff(std::string_view head) {
  if (head.starts_with(perf_magic)) return trace_format::perf_data;
  if (head.starts_with(trace_dat_magic)) return trace_format::trace_dat;
  for (const signature& known : signatures) {
    if (head.starts_with(known.bytes)) return std::nullopt;
  }
  if (is_perfetto(head)) return trace_format::perfetto;
  if (is_binary(head)) return std::nullopt;
  const std::vector<std::string_view> lines = whole_lines(head);
  line_head parts;
  const auto script = std::count_if(lines.begin(), lines.end(), [&parts](std::string_view line) {
    return parse_script_head(line, parts) && !parse_head(line, parts);
  });
  const auto ftrace = std::count_if(lines.begin(), lines.end(), [&parts](std::string_view line) {
    return parse_head(line, parts);
  });
  return script > ftrace ? trace_format::perf_script : trace_format::ftrace_text;
}

std::optional<std::string> foreign_format(std::string_view head) {
  for (const signature& known : signatures) {
    if (head.starts_with(known.bytes)) return std::string(known.name);
  }
  if (is_perfetto(head)) return "a Perfetto trace";
  if (is_binary(head)) return "binary data";
  return std::nullopt;
}

std::string describe_content(std::string_view head) {
  if (auto format = foreign_format(head)) return *format;
  return std::string(describe_text(head));
}

}  // namespace vlag::trace

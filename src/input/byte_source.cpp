// SPDX-License-Identifier: Apache-2.0
#include "input/byte_source.hpp"

#include "input/input_error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace vlag {
namespace {

constexpr std::size_t input_buffer_bytes = std::size_t{1} << 18;

// A decoder may ask for this much for its window: twice what xz -9 takes, and what zstd grants by
// itself. A file that claims more is refused.
constexpr std::uint64_t decoder_memory_bytes = std::uint64_t{128} << 20;

constexpr std::string_view expected_text =
    "expected a text file, plain or compressed with gzip, xz or zstd";

// The file as it is on disk, with a buffer in front that a decoder takes from piecemeal.
class raw_file final : public byte_source {
 public:
  explicit raw_file(const std::string& path)
      : name_(shown_path(path)), buffer_(input_buffer_bytes) {
    if (path == "-") {
      descriptor_ = STDIN_FILENO;
    } else {
      descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
      owned_ = true;
    }
    struct stat about{};
    if (descriptor_ < 0 || ::fstat(descriptor_, &about) != 0) refuse_to_open(errno);
    if (S_ISDIR(about.st_mode)) {
      close();
      throw input_error(fmt::format("{}: is a directory; {}", name_, expected_text));
    }
    regular_ = S_ISREG(about.st_mode);
    if (regular_) size_ = static_cast<std::uint64_t>(about.st_size);
  }
  ~raw_file() override { close(); }

  std::size_t read(char* into, std::size_t size) override {
    if (available() == 0 && size >= buffer_.size()) {
      const std::size_t got = read_descriptor(into, size);
      consumed_ += got;
      return got;
    }
    if (!fill()) return 0;
    const std::size_t count = std::min(size, available());
    std::memcpy(into, next(), count);
    consume(count);
    return count;
  }

  std::uint64_t bytes_consumed() const noexcept override { return consumed_; }
  std::uint64_t file_size() const noexcept override { return size_; }
  int plain_descriptor() const noexcept override { return regular_ ? descriptor_ : -1; }

  [[nodiscard]] const char* next() const noexcept { return buffer_.data() + begin_; }
  [[nodiscard]] std::size_t available() const noexcept { return end_ - begin_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  void consume(std::size_t count) noexcept {
    begin_ += count;
    consumed_ += count;
  }

  // At least one byte is at hand, or false at the end of the file.
  [[nodiscard]] bool fill() {
    if (available() > 0) return true;
    begin_ = 0;
    end_ = read_descriptor(buffer_.data(), buffer_.size());
    return end_ > 0;
  }

  // The first bytes, as many as there are up to `count`.
  [[nodiscard]] std::string_view head(std::size_t count) {
    while (available() < count) {
      const std::size_t got = read_descriptor(buffer_.data() + end_, buffer_.size() - end_);
      if (got == 0) break;
      end_ += got;
    }
    return {next(), std::min(count, available())};
  }

 private:
  std::size_t read_descriptor(char* into, std::size_t size) {
    for (;;) {
      const ssize_t got = ::read(descriptor_, into, size);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) {
        throw input_error(fmt::format("{}: cannot read at byte {}: {}; {}", name_,
                                      consumed_ + available(), std::strerror(errno),
                                      expected_text));
      }
    }
  }

  [[noreturn]] void refuse_to_open(int error) {
    close();
    throw input_error(
        fmt::format("{}: cannot open: {}; {}", name_, std::strerror(error), expected_text));
  }

  void close() noexcept {
    if (owned_ && descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

  std::string name_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t consumed_ = 0;
  std::uint64_t size_ = 0;
  int descriptor_ = -1;
  bool owned_ = false;
  bool regular_ = false;
};

// What the three decoders share: the file below them and how they complain.
class decoded_file : public byte_source {
 public:
  explicit decoded_file(std::unique_ptr<raw_file> file) : file_(std::move(file)) {}
  std::uint64_t bytes_consumed() const noexcept override { return file_->bytes_consumed(); }
  std::uint64_t file_size() const noexcept override { return file_->file_size(); }

 protected:
  [[noreturn]] void damaged(std::string_view format, std::string_view what) const {
    throw input_error(
        fmt::format("{}: damaged {} data near byte {} of the file: {}; expected an "
                    "intact {} file",
                    file_->name(), format, file_->bytes_consumed(), what, format));
  }

  std::unique_ptr<raw_file> file_;
};

class gzip_file final : public decoded_file {
 public:
  explicit gzip_file(std::unique_ptr<raw_file> file) : decoded_file(std::move(file)) {
    constexpr int gzip_wrapper = 16;
    if (::inflateInit2(&stream_, MAX_WBITS + gzip_wrapper) != Z_OK) throw std::bad_alloc();
  }
  ~gzip_file() override { ::inflateEnd(&stream_); }

  std::size_t read(char* into, std::size_t size) override {
    stream_.next_out = reinterpret_cast<Bytef*>(into);
    stream_.avail_out = static_cast<uInt>(std::min(size, input_buffer_bytes));
    const uInt asked = stream_.avail_out;
    while (stream_.avail_out == asked) {
      if (!file_->fill()) {
        if (!between_members_) damaged("gzip", "the stream ends early");
        return 0;
      }
      if (between_members_ && *file_->next() == '\0') {  // padding, as tape blocks have it
        file_->consume(1);
        continue;
      }
      step();
    }
    return asked - stream_.avail_out;
  }

 private:
  void step() {
    const std::size_t given = file_->available();
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file_->next()));
    stream_.avail_in = static_cast<uInt>(given);
    between_members_ = false;
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    file_->consume(given - stream_.avail_in);
    if (result == Z_STREAM_END) {
      between_members_ = true;
      ::inflateReset(&stream_);
    } else if (result != Z_OK) {
      damaged("gzip", stream_.msg != nullptr ? stream_.msg : "the stream makes no sense");
    }
  }

  z_stream stream_{};
  bool between_members_ = false;
};

class xz_file final : public decoded_file {
 public:
  explicit xz_file(std::unique_ptr<raw_file> file) : decoded_file(std::move(file)) {
    if (::lzma_stream_decoder(&stream_, decoder_memory_bytes, LZMA_CONCATENATED) != LZMA_OK) {
      throw std::bad_alloc();
    }
  }
  ~xz_file() override { ::lzma_end(&stream_); }

  std::size_t read(char* into, std::size_t size) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(into);
    stream_.avail_out = size;
    while (stream_.avail_out == size && !ended_) {
      const lzma_action action = file_->fill() ? LZMA_RUN : LZMA_FINISH;
      const std::size_t given = file_->available();
      stream_.next_in = reinterpret_cast<const std::uint8_t*>(file_->next());
      stream_.avail_in = given;
      const lzma_ret result = ::lzma_code(&stream_, action);
      file_->consume(given - stream_.avail_in);
      if (result == LZMA_STREAM_END) {
        ended_ = true;
      } else if (result != LZMA_OK) {
        damaged("xz", reason(result));
      }
    }
    return size - stream_.avail_out;
  }

 private:
  static std::string_view reason(lzma_ret result) noexcept {
    switch (result) {
      case LZMA_BUF_ERROR:
        return "the stream ends early";
      case LZMA_MEMLIMIT_ERROR:
        return "it asks for more than 128 MiB to decompress";
      case LZMA_FORMAT_ERROR:
        return "something else follows the stream";
      case LZMA_OPTIONS_ERROR:
        return "unsupported options";
      case LZMA_MEM_ERROR:
        return "not enough memory to decompress";
      default:
        return "a checksum or the structure is wrong";
    }
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ended_ = false;
};

class zstd_file final : public decoded_file {
 public:
  explicit zstd_file(std::unique_ptr<raw_file> file)
      : decoded_file(std::move(file)), stream_(::ZSTD_createDStream(), &::ZSTD_freeDStream) {
    if (!stream_) throw std::bad_alloc();
  }

  std::size_t read(char* into, std::size_t size) override {
    ZSTD_outBuffer out{into, size, 0};
    while (out.pos == 0) {
      // A decoder that still holds output gives it without further input.
      const bool more = file_->fill();
      if (!more && wanted_ == 0) return 0;
      ZSTD_inBuffer in{file_->next(), file_->available(), 0};
      const std::size_t result = ::ZSTD_decompressStream(stream_.get(), &out, &in);
      file_->consume(in.pos);
      if (::ZSTD_isError(result) != 0) damaged("zstd", ::ZSTD_getErrorName(result));
      wanted_ = result;
      if (!more && out.pos == 0 && result != 0) damaged("zstd", "the stream ends early");
    }
    return out.pos;
  }

 private:
  std::unique_ptr<ZSTD_DStream, decltype(&::ZSTD_freeDStream)> stream_;
  std::size_t wanted_ = 0;  // 0: a frame is complete
};

bool is_zstd(std::string_view head) noexcept {
  if (head.size() < 4) return false;
  const std::string_view rest = head.substr(1, 3);
  const bool skippable = rest == "\x2a\x4d\x18" && (static_cast<unsigned char>(head[0]) >> 4) == 5;
  return head.substr(0, 4) == "\x28\xb5\x2f\xfd" || skippable;
}

}  // namespace

headed_source::headed_source(std::unique_ptr<byte_source> below)
    : below_(std::move(below)), head_(head_bytes, '\0') {
  std::size_t held = 0;
  while (held < head_.size()) {
    const std::size_t got = below_->read(head_.data() + held, head_.size() - held);
    if (got == 0) break;
    held += got;
  }
  head_.resize(held);
}

std::size_t headed_source::read(char* into, std::size_t size) {
  if (given_ == head_.size()) return below_->read(into, size);
  const std::size_t count = std::min(size, head_.size() - given_);
  std::memcpy(into, head_.data() + given_, count);
  given_ += count;
  return count;
}

std::uint64_t headed_source::bytes_consumed() const noexcept { return below_->bytes_consumed(); }
std::uint64_t headed_source::file_size() const noexcept { return below_->file_size(); }
int headed_source::plain_descriptor() const noexcept { return below_->plain_descriptor(); }

std::string shown_path(const std::string& path) { return path == "-" ? "standard input" : path; }

std::unique_ptr<byte_source> open_bytes(const std::string& path) {
  auto file = std::make_unique<raw_file>(path);
  const std::string_view head = file->head(6);
  if (head.empty()) {
    throw input_error(fmt::format("{}: is empty; {}", file->name(), expected_text));
  }
  if (head.starts_with("\x1f\x8b")) return std::make_unique<gzip_file>(std::move(file));
  if (head == std::string_view("\xfd"
                               "7zXZ\0",
                               6)) {
    return std::make_unique<xz_file>(std::move(file));
  }
  if (is_zstd(head)) return std::make_unique<zstd_file>(std::move(file));
  return file;
}

}  // namespace vlag

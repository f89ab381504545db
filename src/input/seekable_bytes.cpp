// SPDX-License-Identifier: Apache-2.0
#include "input/seekable_bytes.hpp"

#include "input/input_error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace vlag {
namespace {

constexpr std::uint64_t longest_copy = std::uint64_t{1} << 34;
constexpr std::size_t copied_at_once = std::size_t{1} << 20;

std::uint64_t size_of(int descriptor) noexcept {
  struct stat about{};
  return ::fstat(descriptor, &about) == 0 ? static_cast<std::uint64_t>(about.st_size) : 0;
}

class open_file final : public seekable_bytes {
 public:
  // Owns the descriptor by owning `source`, whose it is, or without one by itself.
  open_file(int descriptor, std::unique_ptr<byte_source> source, std::string name)
      : source_(std::move(source)),
        name_(std::move(name)),
        size_(size_of(descriptor)),
        descriptor_(descriptor) {}
  ~open_file() override {
    if (!source_) ::close(descriptor_);
  }

  std::size_t read_at(std::uint64_t offset, char* into, std::size_t size) const override {
    std::size_t held = 0;
    while (held < size && offset + held < size_) {
      const ssize_t got =
          ::pread(descriptor_, into + held, size - held, static_cast<off_t>(offset + held));
      if (got == 0) break;
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        throw input_error(fmt::format("{}: cannot read at byte {}: {}; expected a readable file",
                                      name_, offset + held, std::strerror(errno)));
      }
      held += static_cast<std::size_t>(got);
    }
    return held;
  }
  std::uint64_t size() const noexcept override { return size_; }
  int descriptor() const noexcept override { return descriptor_; }

 private:
  std::unique_ptr<byte_source> source_;
  std::string name_;
  std::uint64_t size_;
  int descriptor_;
};

class viewed_bytes final : public seekable_bytes {
 public:
  explicit viewed_bytes(std::string_view bytes) : bytes_(bytes) {}
  std::size_t read_at(std::uint64_t offset, char* into, std::size_t size) const override {
    if (offset >= bytes_.size()) return 0;
    return bytes_.copy(into, size, static_cast<std::size_t>(offset));
  }
  std::uint64_t size() const noexcept override { return bytes_.size(); }

 private:
  std::string_view bytes_;
};

class stretch final : public byte_source {
 public:
  stretch(const seekable_bytes& bytes, std::uint64_t offset, std::uint64_t size)
      : bytes_(bytes), at_(offset) {
    const std::uint64_t most = bytes.size() - std::min(bytes.size(), offset);
    end_ = offset + std::min(size, most);
  }
  std::size_t read(char* into, std::size_t size) override {
    const std::uint64_t left = end_ - std::min(at_, end_);
    const std::size_t got =
        bytes_.read_at(at_, into, static_cast<std::size_t>(std::min<std::uint64_t>(size, left)));
    at_ += got;
    return got;
  }
  std::uint64_t bytes_consumed() const noexcept override { return at_; }
  std::uint64_t file_size() const noexcept override { return bytes_.size(); }

 private:
  const seekable_bytes& bytes_;
  std::uint64_t at_;
  std::uint64_t end_ = 0;
};

[[noreturn]] void refuse_copy(const std::string& name, std::string_view why) {
  throw input_error(
      fmt::format("{}: cannot be unpacked to a temporary file: {}; expected room for it, or the "
                  "recording as a plain file",
                  name, why));
}

int open_temporary(const std::string& name) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) folder = "/tmp";
  const int unnamed = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (unnamed >= 0) return unnamed;
  std::string path = (folder / "vlag-XXXXXX").string();
  const int named = ::mkostemp(path.data(), O_CLOEXEC);
  if (named < 0) refuse_copy(name, std::strerror(errno));
  ::unlink(path.c_str());
  return named;
}

void write_all(int descriptor, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(descriptor, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) refuse_copy(name, std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

void copy_to(int descriptor, byte_source& source, const std::string& name) {
  std::vector<char> buffer(copied_at_once);
  std::uint64_t copied = 0;
  for (;;) {
    const std::size_t got = source.read(buffer.data(), buffer.size());
    if (got == 0) return;
    copied += got;
    if (copied > longest_copy) refuse_copy(name, "it is larger than 16 GiB");
    write_all(descriptor, {buffer.data(), got}, name);
  }
}

}  // namespace

std::unique_ptr<seekable_bytes> make_seekable(std::unique_ptr<byte_source> source,
                                              std::string name) {
  if (const int plain = source->plain_descriptor(); plain >= 0) {
    return std::make_unique<open_file>(plain, std::move(source), std::move(name));
  }
  const int copy = open_temporary(name);
  try {
    copy_to(copy, *source, name);
  } catch (...) {
    ::close(copy);
    throw;
  }
  return std::make_unique<open_file>(copy, nullptr, std::move(name));
}

std::unique_ptr<seekable_bytes> seekable_view(std::string_view bytes) {
  return std::make_unique<viewed_bytes>(bytes);
}

std::unique_ptr<byte_source> stretch_of(const seekable_bytes& bytes, std::uint64_t offset,
                                        std::uint64_t size) {
  return std::make_unique<stretch>(bytes, offset, size);
}

}  // namespace vlag

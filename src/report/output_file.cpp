// SPDX-License-Identifier: Apache-2.0
#include "report/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "input/input_error.hpp"

namespace vlag {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
  throw input_error(fmt::format("{}: cannot be written: {}", path, why));
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// The file that a chain of links names, whether it exists or not.
fs::path target_of(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(path, error);
  if (error) refuse(path, error.message());
  return target;
}

bool is_standard_input(const std::string& path) {
  struct stat file{};
  struct stat in{};
  return ::stat(path.c_str(), &file) == 0 && ::fstat(STDIN_FILENO, &in) == 0 &&
         S_ISREG(in.st_mode) && file.st_dev == in.st_dev && file.st_ino == in.st_ino;
}

// N of /dev/fd/N and its like: opening these anew would lose the place that was reached.
std::optional<int> open_descriptor(const std::string& path) {
  const std::string name = fs::path(path).lexically_normal().string();
  if (name == "/dev/stdout") return STDOUT_FILENO;
  if (name == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!name.starts_with(folder)) continue;
    int number = -1;
    const char* const end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + folder.size(), end, number);
    if (error == std::errc() && rest == end && number >= 0) return number;
  }
  return std::nullopt;
}

void require_open_for_writing(const std::string& path, int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0) refuse(path, std::strerror(errno));
  if ((flags & O_ACCMODE) == O_RDONLY) refuse(path, "it is open for reading only");
}

bool is_special(const fs::path& target) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

// A descriptor that is closed, and a file that is removed, unless all went well.
class open_file {
 public:
  open_file(const fs::path& path, int flags, mode_t mode)
      : path_(path), descriptor_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  // Writes to what is open already.
  explicit open_file(int descriptor) : descriptor_(::fcntl(descriptor, F_DUPFD_CLOEXEC, 3)) {}
  ~open_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (remove_) ::unlink(path_.c_str());
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  void remove_at_end(bool remove) { remove_ = remove; }
  [[nodiscard]] bool write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }
  [[nodiscard]] bool close() {
    const int result = ::close(descriptor_);
    descriptor_ = -1;
    return result == 0;
  }

 private:
  fs::path path_;
  int descriptor_;
  bool remove_ = false;
};

}  // namespace

void require_writable(const std::string& path) {
  if (const auto descriptor = open_descriptor(path)) {
    require_open_for_writing(path, *descriptor);
    return;
  }
  const fs::path target = target_of(path);
  std::error_code error;
  if (fs::is_directory(target, error)) refuse(path, "it is a directory");
  if (is_special(target)) {
    if (::access(target.c_str(), W_OK) != 0) refuse(path, std::strerror(errno));
    return;
  }
  const fs::path folder = folder_of(target);
  if (!fs::is_directory(folder, error)) refuse(path, fmt::format("no folder {}", folder.string()));
  if (::access(folder.c_str(), W_OK | X_OK) != 0) refuse(path, std::strerror(errno));
}

void require_other_file(const std::string& path, const std::string& input) {
  std::error_code error;
  const bool same = input == "-" ? is_standard_input(path) : fs::equivalent(path, input, error);
  if (same) refuse(path, "it is an input of this run");
}

bool same_output(const std::string& path, const std::string& other) {
  if (path == other) return true;
  if (path == "-" || other == "-") return false;
  return target_of(fs::absolute(path)) == target_of(fs::absolute(other));
}

struct whole_file::state {
  std::string path;  // as the user wrote it
  fs::path target;
  fs::path written;  // target itself when that is a device or pipe
  open_file file;

  state(std::string name, fs::path to, fs::path beside, int flags)
      : path(std::move(name)),
        target(std::move(to)),
        written(std::move(beside)),
        file(written, O_WRONLY | flags, 0666) {
    if (!file.is_open()) refuse(path, std::strerror(errno));
  }
  state(std::string name, int descriptor) : path(std::move(name)), file(descriptor) {
    if (!file.is_open()) refuse(path, std::strerror(errno));
  }
};

whole_file::whole_file(const std::string& path) {
  require_writable(path);
  if (const auto descriptor = open_descriptor(path)) {
    state_ = std::make_unique<state>(path, *descriptor);
    return;
  }
  const fs::path target = target_of(path);
  if (is_special(target)) {
    state_ = std::make_unique<state>(path, target, target, 0);
    return;
  }
  const fs::path beside =
      folder_of(target) / fmt::format(".{}.{}.tmp", target.filename().string(), ::getpid());
  state_ = std::make_unique<state>(path, target, beside, O_CREAT | O_EXCL);
  state_->file.remove_at_end(true);
}

whole_file::~whole_file() = default;

void whole_file::write(std::string_view piece) {
  if (!state_->file.write(piece)) refuse(state_->path, std::strerror(errno));
}

void whole_file::finish() {
  if (!state_->file.close()) refuse(state_->path, std::strerror(errno));
  if (state_->written == state_->target) return;
  std::error_code error;
  fs::rename(state_->written, state_->target, error);
  if (error) refuse(state_->path, error.message());
  state_->file.remove_at_end(false);
}

void write_whole_file(const std::string& path, std::string_view content) {
  whole_file file(path);
  file.write(content);
  file.finish();
}

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "input/scratch_file.hpp"

#include <fcntl.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace vlag::test {
namespace {

void write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t wrote = ::write(descriptor, content.data(), content.size());
    if (wrote <= 0) return;  // the reader has seen enough
    content.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

}  // namespace

scratch_file::scratch_file(std::string_view content) {
  path_ = (std::filesystem::temp_directory_path() / "vlag-test-XXXXXX").string();
  const int descriptor = ::mkstemp(path_.data());
  if (descriptor < 0) throw std::runtime_error("cannot make " + path_);
  write_all(descriptor, content);
  ::close(descriptor);
}

scratch_file::~scratch_file() { std::remove(path_.c_str()); }

std::string gzip(std::string_view content) {
  z_stream stream{};
  deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, content.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("deflate");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string xz(std::string_view content) {
  std::string out(lzma_stream_buffer_bound(content.size()), '\0');
  std::size_t size = 0;
  const lzma_ret result = lzma_easy_buffer_encode(
      1, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(content.data()),
      content.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size());
  if (result != LZMA_OK) throw std::runtime_error("lzma_easy_buffer_encode");
  out.resize(size);
  return out;
}

std::string zstd(std::string_view content) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(content.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context, out.data(), out.size(), content.data(), content.size());
  ZSTD_freeCCtx(context);
  if (ZSTD_isError(size) != 0) throw std::runtime_error("ZSTD_compress2");
  out.resize(size);
  return out;
}

fed_stdin::fed_stdin(std::string content) {
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  saved_ = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  ::dup2(ends[0], STDIN_FILENO);
  ::close(ends[0]);
  writer_ = std::thread([end = ends[1], text = std::move(content)] {
    write_all(end, text);
    ::close(end);
  });
}

fed_stdin::~fed_stdin() {
  if (saved_ >= 0) {
    ::dup2(saved_, STDIN_FILENO);
    ::close(saved_);
  } else {
    ::close(STDIN_FILENO);
  }
  writer_.join();
}

}  // namespace vlag::test

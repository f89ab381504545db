// SPDX-License-Identifier: Apache-2.0
//
// Looks inside a timeline: every invariant of core/timeline_layout.hpp, checked by brute force. And
// sets what only tests set: the instruction set, and the sizes at which a timeline changes form.
#pragma once

#include "core/timeline_layout.hpp"
#include "vlag/timeline.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace vlag {

class timeline_inspector {
 public:
  // Requires: no timeline uses the storage yet.
  static void force(timeline_storage& storage, detail::instruction_set which,
                    const detail::timeline_limits& limits);

  // The first invariant found broken, in words; empty when all hold.
  [[nodiscard]] static std::string fault(const timeline& line);
  [[nodiscard]] static std::string fault(const timeline_storage& storage);

  [[nodiscard]] static bool is_tree(const timeline& line);
  [[nodiscard]] static unsigned levels(const timeline& line);
  // How far apart the tree takes its vruntimes to be.
  [[nodiscard]] static std::uint64_t window(const timeline& line);

  enum class pool { small_blocks, large_blocks, leaves, inners };
  struct pool_use {
    std::size_t used;   // blocks that some timeline holds
    std::size_t count;  // blocks that there are
  };
  [[nodiscard]] static pool_use use(const timeline_storage& storage, pool which);
  // Blocks of all kinds that some timeline holds.
  [[nodiscard]] static std::size_t blocks_in_use(const timeline_storage& storage);
};

[[nodiscard]] std::vector<detail::instruction_set> instruction_sets_here();

// Memory as a storage wants it.
class timeline_memory {
 public:
  explicit timeline_memory(std::size_t bytes) : lines_((bytes + 63) / 64) {}
  [[nodiscard]] std::span<std::byte> span() { return std::as_writable_bytes(std::span(lines_)); }

 private:
  struct alignas(64) line {
    std::byte bytes[64];
  };
  std::vector<line> lines_;
};

}  // namespace vlag

// SPDX-License-Identifier: Apache-2.0
#include "vlag/timeline.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace {

using vlag::entity;

struct alignas(64) line {
  std::array<std::byte, 64> bytes;
};

class memory {
 public:
  explicit memory(std::size_t bytes) : lines_((bytes + 63) / 64) {}
  std::span<std::byte> span() { return std::as_writable_bytes(std::span(lines_)); }

 private:
  std::vector<line> lines_;
};

TEST(timeline, keeps_equal_keys_in_order_of_insertion) {
  memory room(vlag::timeline_storage::required_bytes(4));
  vlag::timeline_storage storage(room.span(), 4);
  vlag::timeline line(storage);
  std::array<entity, 4> e;
  line.insert(e[0], 10);
  line.insert(e[1], 10);
  line.insert(e[2], 5);
  line.insert(e[3], 10);
  std::vector<const entity*> seen;
  line.for_each([&](const entity& who) { seen.push_back(&who); });
  EXPECT_EQ(seen, (std::vector<const entity*>{&e[2], &e[0], &e[1], &e[3]}));
  EXPECT_EQ(line.first(), &e[2]);
  EXPECT_EQ(line.next(e[1], 10), &e[3]);
  line.erase(e[0], 10);
  EXPECT_EQ(line.next(e[2], 5), &e[1]);
}

}  // namespace

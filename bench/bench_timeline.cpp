// SPDX-License-Identifier: Apache-2.0
//
// ns for one cycle of a queue: the picked entity leaves, its request is served, it is put back with
// the next deadline, and the next one is picked. N entities wait before and after. Both structures
// keep the same sums and do the same arithmetic; only the ordered set differs.
//
//   timeline/equal/N   vlag's timeline, all at nice 0 with 3 ms slices: a new deadline is the last
//   tree/equal/N       the same with a red-black tree (pb_ds) that keeps minimum vruntimes
//   timeline/mixed/N   nice -10 .. 10 and slices of 0.5 .. 8 ms: deadlines land anywhere
//   tree/mixed/N
//   tree_malloc/...    the tree with the standard allocator instead of a free list
#include "tree_queue.hpp"
#include "vlag/entity.hpp"
#include "vlag/timeline.hpp"
#include "vlag/weight.hpp"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace {

using vlag::entity;

struct alignas(64) memory_line {
  std::byte bytes[64];
};

class timeline_queue {
 public:
  explicit timeline_queue(std::size_t n)
      : memory_((vlag::timeline_storage::required_bytes(n) + 63) / 64),
        storage_(std::as_writable_bytes(std::span(memory_)), n),
        timeline_(storage_) {}

  void insert(entity& e) { timeline_.insert(e, e.deadline); }
  entity* first_eligible(const vlag::eligibility& test) {
    found_ = timeline_.first_eligible(test);
    return found_;
  }
  void erase_found() { timeline_.erase(*found_, found_->deadline); }

 private:
  std::vector<memory_line> memory_;
  vlag::timeline_storage storage_;
  vlag::timeline timeline_;
  entity* found_ = nullptr;
};

template <template <typename> class Allocator>
class sized_tree_queue : public vlag_bench::tree_queue<Allocator> {
 public:
  explicit sized_tree_queue(std::size_t /*n*/) {}
};
using pooled_tree = sized_tree_queue<vlag_bench::free_list_allocator>;
using malloc_tree = sized_tree_queue<std::allocator>;

// The sums of a run queue, and the average that moves the reference.
struct sums {
  vlag::eligibility all;

  void add(const entity& e) {
    const auto weight = static_cast<std::int64_t>(vlag::small_weight(e.weight.full));
    all.sum += vlag::signed_difference(e.vruntime, all.reference) * weight;
    all.weight += weight;
  }
  void remove(const entity& e) {
    const auto weight = static_cast<std::int64_t>(vlag::small_weight(e.weight.full));
    all.sum -= vlag::signed_difference(e.vruntime, all.reference) * weight;
    all.weight -= weight;
  }
  void move_reference() {
    if (all.weight == 0) return;
    std::int64_t sum = all.sum;
    if (sum < 0) sum -= all.weight - 1;
    const std::int64_t distance = sum / all.weight;
    all.sum -= distance * all.weight;
    all.reference += static_cast<std::uint64_t>(distance);
  }
};

std::vector<entity> entities_of(std::size_t n, bool mixed) {
  std::vector<entity> entities(n);
  std::uint64_t random = 88172645463325252U;
  for (std::size_t i = 0; i != n; ++i) {
    entity& e = entities[i];
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    e.slice_ns = mixed ? 500'000 + random % 7'500'000 : 3'000'000;
    if (mixed) e.weight = vlag::weight_of_nice(static_cast<int>(random >> 40) % 21 - 10);
    e.vruntime = mixed ? (random >> 20) % vlag::to_virtual(e.slice_ns, e.weight) : i;
    e.deadline = e.vruntime + vlag::to_virtual(e.slice_ns, e.weight);
  }
  return entities;
}

template <typename Queue>
void cycle(benchmark::State& state, bool mixed) {
  const auto n = static_cast<std::size_t>(state.range(0));
  std::vector<entity> entities = entities_of(n, mixed);
  Queue queue(n);
  sums queue_sums;
  for (entity& e : entities) {
    queue.insert(e);
    queue_sums.add(e);
  }
  const auto step = [&] {
    entity* const e = queue.first_eligible(queue_sums.all);
    queue.erase_found();
    queue_sums.remove(*e);
    e->vruntime += vlag::to_virtual(e->slice_ns, e->weight);
    e->deadline = e->vruntime + vlag::to_virtual(e->slice_ns, e->weight);
    queue_sums.add(*e);
    queue_sums.move_reference();
    queue.insert(*e);
    return e;
  };
  // Until the order of deadlines is that of a queue that has run for a while.
  for (std::size_t i = 0; i != 4 * n + 1000; ++i) step();
  for (auto _ : state) benchmark::DoNotOptimize(step());
}

void sizes(benchmark::internal::Benchmark* b) {
  for (const int n : {1, 4, 16, 64, 256, 1024, 4096, 16384, 262144, 1048576}) b->Arg(n);
}

void timeline_equal(benchmark::State& state) { cycle<timeline_queue>(state, false); }
void tree_equal(benchmark::State& state) { cycle<pooled_tree>(state, false); }
void timeline_mixed(benchmark::State& state) { cycle<timeline_queue>(state, true); }
void tree_mixed(benchmark::State& state) { cycle<pooled_tree>(state, true); }
void tree_malloc_equal(benchmark::State& state) { cycle<malloc_tree>(state, false); }
void tree_malloc_mixed(benchmark::State& state) { cycle<malloc_tree>(state, true); }

BENCHMARK(timeline_equal)->Name("timeline/equal")->Apply(sizes);
BENCHMARK(tree_equal)->Name("tree/equal")->Apply(sizes);
BENCHMARK(timeline_mixed)->Name("timeline/mixed")->Apply(sizes);
BENCHMARK(tree_mixed)->Name("tree/mixed")->Apply(sizes);
BENCHMARK(tree_malloc_equal)->Name("tree_malloc/equal")->Arg(4)->Arg(64)->Arg(4096);
BENCHMARK(tree_malloc_mixed)->Name("tree_malloc/mixed")->Arg(4)->Arg(64)->Arg(4096);

}  // namespace

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
//   timeline_avx2/..., timeline_plain/...   the timeline without AVX-512, and without vectors
#include "core/timeline_inspector.hpp"
#include "tree_queue.hpp"
#include "vlag/entity.hpp"
#include "vlag/timeline.hpp"
#include "vlag/weight.hpp"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace {

using vlag::entity;

class timeline_queue {
 public:
  explicit timeline_queue(std::size_t n)
      : memory_(vlag::timeline_storage::required_bytes(n)), storage_(memory_.span(), n) {}
  // Requires: nothing was inserted yet.
  void force(vlag::detail::instruction_set which) {
    vlag::timeline_inspector::force(storage_, which, {});
    timeline_.emplace(storage_);
  }

  void insert(entity& e) { timeline_->insert(e, e.deadline); }
  entity* first_eligible(const vlag::eligibility& test) {
    found_ = timeline_->first_eligible(test);
    return found_;
  }
  void erase_found() { timeline_->erase(*found_, found_->deadline); }

 private:
  vlag::timeline_memory memory_;
  vlag::timeline_storage storage_;
  std::optional<vlag::timeline> timeline_{std::in_place, storage_};
  entity* found_ = nullptr;
};

template <vlag::detail::instruction_set Which>
class forced_timeline_queue : public timeline_queue {
 public:
  explicit forced_timeline_queue(std::size_t n) : timeline_queue(n) { force(Which); }
};
using avx2_timeline = forced_timeline_queue<vlag::detail::instruction_set::avx2>;
using plain_timeline = forced_timeline_queue<vlag::detail::instruction_set::plain>;

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

void plain_equal(benchmark::State& state) { cycle<plain_timeline>(state, false); }
void plain_mixed(benchmark::State& state) { cycle<plain_timeline>(state, true); }
void avx2_equal(benchmark::State& state) {
  if (!vlag::detail::available(vlag::detail::instruction_set::avx2)) {
    return state.SkipWithError("this processor has no AVX2");
  }
  cycle<avx2_timeline>(state, false);
}
void avx2_mixed(benchmark::State& state) {
  if (!vlag::detail::available(vlag::detail::instruction_set::avx2)) {
    return state.SkipWithError("this processor has no AVX2");
  }
  cycle<avx2_timeline>(state, true);
}

void few_sizes(benchmark::internal::Benchmark* b) {
  for (const int n : {4, 64, 4096}) b->Arg(n);
}

BENCHMARK(timeline_equal)->Name("timeline/equal")->Apply(sizes);
BENCHMARK(tree_equal)->Name("tree/equal")->Apply(sizes);
BENCHMARK(timeline_mixed)->Name("timeline/mixed")->Apply(sizes);
BENCHMARK(tree_mixed)->Name("tree/mixed")->Apply(sizes);
BENCHMARK(tree_malloc_equal)->Name("tree_malloc/equal")->Apply(few_sizes);
BENCHMARK(tree_malloc_mixed)->Name("tree_malloc/mixed")->Apply(few_sizes);
BENCHMARK(avx2_equal)->Name("timeline_avx2/equal")->Apply(few_sizes);
BENCHMARK(avx2_mixed)->Name("timeline_avx2/mixed")->Apply(few_sizes);
BENCHMARK(plain_equal)->Name("timeline_plain/equal")->Apply(few_sizes);
BENCHMARK(plain_mixed)->Name("timeline_plain/mixed")->Apply(few_sizes);

}  // namespace

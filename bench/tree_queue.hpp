// SPDX-License-Identifier: Apache-2.0
//
// The baseline: libstdc++'s red-black tree (pb_ds) ordered by deadline and order of insertion, each
// node keeping the smallest vruntime below it, searched as a heap from the root. Nodes carry
// deadline and vruntime themselves and come from a free list, so that it neither allocates nor
// follows the entity.
#pragma once

#include "vlag/timeline.hpp"

#include <ext/pb_ds/assoc_container.hpp>
#include <ext/pb_ds/tree_policy.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace vlag_bench {

struct tree_key {
  std::uint64_t deadline;
  std::uint64_t order;
};
struct tree_key_less {
  bool operator()(const tree_key& a, const tree_key& b) const noexcept {
    if (a.deadline != b.deadline) return vlag::before(a.deadline, b.deadline);
    return a.order < b.order;
  }
};
struct tree_value {
  vlag::entity* who;
  std::uint64_t vruntime;
};

// Keeps freed nodes for the next allocation.
template <typename T>
class free_list_allocator : public std::allocator<T> {
 public:
  template <typename U>
  struct rebind {
    using other = free_list_allocator<U>;
  };
  free_list_allocator() = default;
  template <typename U>
  free_list_allocator(const free_list_allocator<U>&) {}
  T* allocate(std::size_t n) {
    if (n != 1 || head() == nullptr) return std::allocator<T>::allocate(n);
    node* const first = head();
    head() = first->next;
    return reinterpret_cast<T*>(first);
  }
  void deallocate(T* p, std::size_t n) {
    if (n != 1) return std::allocator<T>::deallocate(p, n);
    head() = ::new (static_cast<void*>(p)) node{head()};
  }

 private:
  struct node {
    node* next;
  };
  static node*& head() {
    static node* first = nullptr;
    return first;
  }
};

template <typename NodeConstIterator, typename NodeIterator, typename Less, typename Allocator>
class keep_min_vruntime {
 public:
  using metadata_type = std::uint64_t;
  virtual ~keep_min_vruntime() = default;
  virtual NodeConstIterator node_begin() const = 0;
  virtual NodeConstIterator node_end() const = 0;

  void operator()(NodeIterator at, NodeConstIterator end) const {
    std::uint64_t smallest = (*at)->second.vruntime;
    const NodeIterator left = at.get_l_child();
    const NodeIterator right = at.get_r_child();
    if (left != end && vlag::before(left.get_metadata(), smallest)) smallest = left.get_metadata();
    if (right != end && vlag::before(right.get_metadata(), smallest)) {
      smallest = right.get_metadata();
    }
    const_cast<metadata_type&>(at.get_metadata()) = smallest;
  }
};

template <template <typename> class Allocator>
class tree_queue {
 public:
  void insert(vlag::entity& e) { tree_.insert({{e.deadline, order_++}, {&e, e.vruntime}}); }

  // The earliest deadline among the eligible; it is taken out by erase_found().
  vlag::entity* first_eligible(const vlag::eligibility& test) {
    auto at = tree_.node_begin();
    const auto end = tree_.node_end();
    if (at == end) return nullptr;
    for (;;) {
      const auto left = at.get_l_child();
      if (left != end && test.holds(left.get_metadata())) {
        at = left;
        continue;
      }
      if (test.holds((*at)->second.vruntime)) {
        found_ = *at;
        return found_->second.who;
      }
      at = at.get_r_child();
      if (at == end) return nullptr;
    }
  }
  void erase_found() { tree_.erase(found_); }

 private:
  using tree = __gnu_pbds::tree<tree_key, tree_value, tree_key_less, __gnu_pbds::rb_tree_tag,
                                keep_min_vruntime, Allocator<char>>;
  tree tree_;
  typename tree::iterator found_;
  std::uint64_t order_ = 0;
};

}  // namespace vlag_bench

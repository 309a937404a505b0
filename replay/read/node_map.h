// A map from nodes to small values in open addressing. Walks of graphs look up mostly here; it is several
// times faster than std::unordered_map and allocates nothing per node.
//
//   NodeMap<uint32_t> slots;
//   slots[node] = 7;
//   if (const uint32_t* s = slots.find(node)) use(*s);     // good until the next insertion
#pragma once
#include "replay/read/node_table.h"

#include <utility>
#include <vector>

namespace uopscope {

template <typename T>
class NodeMap {
public:
  T* find(NodeId key) {
    Entry* e = place(key);
    return e && e->first == key ? &e->second : nullptr;
  }
  const T* find(NodeId key) const { return const_cast<NodeMap*>(this)->find(key); }
  bool contains(NodeId key) const { return find(key) != nullptr; }
  T& operator[](NodeId key) {
    if (used_ * 2 >= entries_.size()) grow();
    Entry* e = place(key);
    if (e->first != key) {
      *e = {key, T{}};
      ++used_;
    }
    return e->second;
  }
  /// Returns false and changes nothing if the map has the key already.
  bool tryEmplace(NodeId key, T value) {
    const size_t before = used_;
    T& there = (*this)[key];
    if (used_ == before) return false;
    there = std::move(value);
    return true;
  }
  size_t size() const { return used_; }
  void clear() {
    entries_.clear();
    used_ = 0;
  }
  template <typename F>
  void forEach(F f) const {
    for (const Entry& e : entries_)
      if (e.first != kNoNode) f(e.first, e.second);
  }

private:
  using Entry = std::pair<NodeId, T>;
  Entry* place(NodeId key) {
    if (entries_.empty()) return nullptr;
    const size_t mask = entries_.size() - 1;
    size_t at = (key * 0x9E3779B97F4A7C15ull >> 20) & mask;
    while (entries_[at].first != key && entries_[at].first != kNoNode) at = (at + 1) & mask;
    return &entries_[at];
  }
  void grow() {
    std::vector<Entry> old(std::max<size_t>(64, entries_.size() * 2), Entry{kNoNode, T{}});
    old.swap(entries_);
    for (Entry& e : old)
      if (e.first != kNoNode) *place(e.first) = std::move(e);
  }
  std::vector<Entry> entries_;
  size_t used_ = 0;
};

} // namespace uopscope

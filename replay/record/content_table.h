// Finds nodes by their content: an open table of numbers by hash. A stamp names the graph that an entry is of, so a new graph
// begins with an empty table at no cost.
//
//   ContentTable table;
//   table.add(hash, stamp, node);                                                   // a node that is not in it
//   table.find(hash, stamp, [&](uint32_t node) { return isEqual(node); });          // the node, or 0
//
// At most half of the slots hold entries of the current stamp. A larger table forgets those of earlier stamps.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace uopscope {

class ContentTable {
public:
  template <typename IsEqual>
  uint32_t find(uint32_t hash, uint32_t stamp, const IsEqual& isEqual) const {
    for (size_t at = hash & mask(); slots_[at].stamp == stamp; at = (at + 1) & mask())
      if (slots_[at].hash == hash && isEqual(slots_[at].node)) return slots_[at].node;
    return 0;
  }

  void add(uint32_t hash, uint32_t stamp, uint32_t node) {
    if (stamp != stamp_) stamp_ = stamp, used_ = 0;
    if (++used_ * 2 > slots_.size())
      for (const Slot& slot : std::exchange(slots_, std::vector<Slot>(slots_.size() * 2)))
        if (slot.stamp == stamp) put(slot);
    put({hash, stamp, node});
  }

private:
  struct Slot {
    uint32_t hash = 0, stamp = 0, node = 0;
  };
  static constexpr size_t kLeast = 1 << 10; ///< a power of two

  size_t mask() const { return slots_.size() - 1; }
  void put(const Slot& slot) {
    size_t at = slot.hash & mask();
    while (slots_[at].stamp == slot.stamp) at = (at + 1) & mask();
    slots_[at] = slot;
  }
  std::vector<Slot> slots_ = std::vector<Slot>(kLeast);
  uint32_t stamp_ = 0;
  size_t used_ = 0; ///< entries of stamp_
};

} // namespace uopscope

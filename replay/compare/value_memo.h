// Values of nodes that were computed, by a hash of node and environment. An interpreter asks for millions of them, most of them
// soon after they were computed: a table with chains spends its time waiting for memory. This table holds at most 2^17, looks in
// four places that lie side by side, and gives the oldest of them up when all are taken. Only hashes are compared, of 63 bits:
// ten million questions get a wrong answer with a probability of about one in seven million.
//
//   memo.put(key, lanes);
//   if (const Lanes* known = memo.find(key)) use(*known);   // valid until the next put()
#pragma once
#include "engine/uop/uop.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace uopscope {

using Lanes = std::vector<ConstValue>;

class ValueMemo {
public:
  const Lanes* find(uint64_t key) const {
    if (keys_.empty()) return nullptr;
    for (size_t at = key & mask(), k = 0; k < kPlaces; ++k)
      if (keys_[at + k] == (key | 1)) return &values_[at + k];
    return nullptr;
  }
  void put(uint64_t key, Lanes value) {
    if (2 * used_ >= keys_.size() && keys_.size() < kMost) grow();
    const size_t at = key & mask();
    size_t place = at + turn_++ % kPlaces;
    for (size_t k = 0; k < kPlaces; ++k)
      if (!keys_[at + k]) {
        place = at + k;
        ++used_;
        break;
      }
    keys_[place] = key | 1;
    values_[place] = std::move(value);
  }

private:
  static constexpr size_t kPlaces = 4, kFirst = 256, kMost = 1 << 17;
  /// The first of the places of a key; the lowest bit of a key is always set where it is stored.
  size_t mask() const { return keys_.size() - kPlaces; }
  void grow() {
    auto keys = std::exchange(keys_, std::vector<uint64_t>(keys_.empty() ? kFirst : keys_.size() * 2));
    auto values = std::exchange(values_, std::vector<Lanes>(keys_.size()));
    used_ = 0;
    for (size_t k = 0; k < keys.size(); ++k)
      if (keys[k]) put(keys[k], std::move(values[k]));
  }
  std::vector<uint64_t> keys_; ///< 0: free
  std::vector<Lanes> values_;
  size_t used_ = 0, turn_ = 0;
};

} // namespace uopscope

// Values of nodes that were computed, by a hash of node and environment. An interpreter asks for millions of them, most of them
// soon after they were computed, and waits for memory most of the time. So a value of one lane lies in its entry of 16
// bytes, and the four entries where a key may be fill a line of the cache. The table holds at most 2^17 values and gives
// the oldest of four up when all are taken. Only hashes are compared, of 62 bits: ten million questions get a
// wrong answer with a probability of about one in three million.
//
//   memo.put(key, lanes);
//   Lanes known;
//   if (memo.find(key, known)) use(known);
#pragma once
#include "replay/compare/lanes.h"

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace uopscope {

class ValueMemo {
public:
  bool find(uint64_t key, Lanes& out) const {
    if (entries_.empty()) return false;
    const Entry* entry = &entries_[first(key)];
    for (size_t k = 0; k < kPlaces; ++k, ++entry)
      if ((entry->key | kOwnBits) == (key | kOwnBits) && entry->isUsed()) {
        out = entry->hasVector() ? vectors_[entry->bits] : Lanes{entry->value()};
        return true;
      }
    return false;
  }

  void put(uint64_t key, const Lanes& value) {
    if (2 * used_ >= entries_.size() && entries_.size() < kMost) grow();
    Entry& entry = free(first(key));
    const bool reuses = entry.isUsed() && entry.hasVector();
    const uint64_t old = entry.bits;
    if (value.size() == 1) {
      entry.set(key, value.front());
      return;
    }
    if (!reuses) vectors_.emplace_back();
    entry.bits = reuses ? old : vectors_.size() - 1;
    vectors_[entry.bits] = value;
    entry.key = (key & ~kOwnBits) | kUsed | kVector;
  }

private:
  static constexpr size_t kPlaces = 4, kFirst = 256, kMost = 1 << 17;
  /// The lowest bits of a stored key tell what the entry holds; its place tells two of them.
  static constexpr uint64_t kUsed = 1, kVector = 2, kKindShift = 2, kOwnBits = 15, kBitsOfPlace = 12;

  struct Entry {
    uint64_t key = 0;
    uint64_t bits = 0; ///< of the number, or the position of a vector in vectors_
    bool isUsed() const { return key & kUsed; }
    bool hasVector() const { return key & kVector; }
    void set(uint64_t of, const ConstValue& v) {
      bits = v.kind == ConstValue::Kind::Float ? std::bit_cast<uint64_t>(v.f) : static_cast<uint64_t>(v.i);
      key = (of & ~kOwnBits) | kUsed | static_cast<uint64_t>(v.kind) << kKindShift;
    }
    ConstValue value() const {
      const auto kind = static_cast<ConstValue::Kind>((key & kOwnBits) >> kKindShift);
      if (kind == ConstValue::Kind::Float) return {kind, 0, std::bit_cast<double>(bits)};
      return {kind, static_cast<int64_t>(bits), 0};
    }
  };

  size_t first(uint64_t key) const { return key & (entries_.size() - kPlaces); }
  Entry& free(size_t first) {
    for (size_t k = 0; k < kPlaces; ++k)
      if (!entries_[first + k].isUsed()) {
        ++used_;
        return entries_[first + k];
      }
    return entries_[first + turn_++ % kPlaces];
  }
  void grow() {
    const auto old =
        std::exchange(entries_, std::vector<Entry>(entries_.empty() ? kFirst : entries_.size() * 2));
    used_ = 0;
    for (size_t k = 0; k < old.size(); ++k)
      if (old[k].isUsed()) free(first((old[k].key & ~kOwnBits) | (k & kBitsOfPlace))) = old[k];
  }

  std::vector<Entry> entries_;
  std::vector<Lanes> vectors_; ///< values of several lanes
  size_t used_ = 0, turn_ = 0;
};

} // namespace uopscope

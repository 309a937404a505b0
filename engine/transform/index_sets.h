// Sets of input elements, one for each element of a tensor: which of them can reach it.
//
//   SetTable table;
//   IndexSets x = IndexSets::identity(table, {3, 4});        // element k is reached by k alone
//   x.permute({1, 0}).shrink({0, 0}, {2, 3})                 // views: nothing is copied
//
// Equal sets are one number, so elementwise operations look up unions of two numbers. Values that do not
// vary along an axis are kept once (stride 0): a product over an expanded operand costs what its operands hold.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace uopscope {

/// Sets by number; 0 is the empty one.
class SetTable {
public:
  /// Thrown where the sets would hold more elements than the table may.
  struct Full {};

  explicit SetTable(size_t mostElements = SIZE_MAX);
  int32_t single(int32_t element);
  int32_t unionOf(int32_t a, int32_t b);
  /// `sets` is sorted in place.
  int32_t unionOf(std::vector<int32_t>& sets);
  std::span<const int32_t> elements(int32_t set) const {
    auto s = static_cast<size_t>(set);
    return {elements_.data() + begin_[s], begin_[s + 1] - begin_[s]};
  }

private:
  int32_t intern(std::span<const int32_t> sorted);

  size_t most_;
  std::vector<int32_t> elements_, scratch_;
  std::vector<size_t> begin_;
  std::unordered_multimap<uint64_t, int32_t> byHash_;
  std::unordered_map<uint64_t, int32_t> pairs_; ///< unions that were asked for
};

using Extents = std::vector<int64_t>;

/// A strided view of set numbers.
class IndexSets {
public:
  static IndexSets identity(SetTable& table, const Extents& shape);
  /// One set for all elements.
  static IndexSets uniform(int32_t set, const Extents& shape);

  const Extents& shape() const { return shape_; }
  IndexSets expand(const Extents& to) const;
  IndexSets permute(const Extents& order) const;
  IndexSets shrink(const Extents& begin, const Extents& end) const;
  IndexSets flip(const Extents& flags) const;
  IndexSets pad(const Extents& before, const Extents& after) const;
  IndexSets reshape(const Extents& to) const;
  /// The union over the axes, which stay with length 1.
  IndexSets reduce(SetTable& table, const Extents& axes) const;
  /// The union with another of the same shape.
  IndexSets with(SetTable& table, const IndexSets& other) const;
  /// This where the condition holds, `other` where not; the condition has a byte per element, in order.
  IndexSets chosen(std::span<const uint8_t> condition, const IndexSets& other) const;
  /// All numbers in order.
  std::vector<int32_t> flat() const;

private:
  IndexSets() = default;
  /// Calls f(position) for each element in order.
  template <typename F>
  void forEach(const Extents& shape, F f) const;
  /// A fresh array of this shape; axes with `constant` are kept once.
  static IndexSets fresh(const Extents& shape, const std::vector<bool>& constant);
  bool sameMemoryAs(const IndexSets& o) const;

  Extents shape_, strides_;
  int64_t offset_ = 0;
  std::shared_ptr<std::vector<int32_t>> sets_;
};

} // namespace uopscope

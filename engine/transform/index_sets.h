// Sets of input elements: for each element of a tensor, the input elements that can influence it.
//
//   SetTable table;
//   IndexSets x = IndexSets::identity(table, {3, 4});        // element k is influenced by element k alone
//   x.permute({1, 0}).shrink({0, 0}, {2, 3})                 // views: nothing is copied
//
// Equal sets have the same number, so an elementwise operation looks up the union of two numbers. Values that
// are constant along an axis are stored once (stride 0): a product over an expanded operand costs as much as
// its operands hold.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace uopscope {

/// Sets by number; set 0 is empty.
class SetTable {
public:
  /// Thrown where the sets would hold more elements than the table may.
  struct Full {};

  explicit SetTable(size_t mostElements = SIZE_MAX);
  int32_t single(int32_t element);
  int32_t unionOf(int32_t a, int32_t b);
  /// Sorts `sets` in place.
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
  std::unordered_map<uint64_t, int32_t> pairs_; ///< unions computed so far
};

using Extents = std::vector<int64_t>;

/// A strided view of an array of set numbers.
class IndexSets {
public:
  static IndexSets identity(SetTable& table, const Extents& shape);
  /// The same set for all elements.
  static IndexSets uniform(int32_t set, const Extents& shape);

  const Extents& shape() const { return shape_; }
  IndexSets expand(const Extents& to) const;
  IndexSets permute(const Extents& order) const;
  IndexSets shrink(const Extents& begin, const Extents& end) const;
  IndexSets flip(const Extents& flags) const;
  IndexSets pad(const Extents& before, const Extents& after) const;
  IndexSets reshape(const Extents& to) const;
  /// The union over the axes, which keep length 1.
  IndexSets reduce(SetTable& table, const Extents& axes) const;
  /// The elementwise union with an array of the same shape.
  IndexSets with(SetTable& table, const IndexSets& other) const;
  /// The elements of this where the condition holds, else those of `other`. The condition has a byte per
  /// element, in order.
  IndexSets chosen(std::span<const uint8_t> condition, const IndexSets& other) const;
  /// All set numbers in order.
  std::vector<int32_t> flat() const;

private:
  IndexSets() = default;
  /// Calls f(position) for each element in order.
  template <typename F>
  void forEach(const Extents& shape, F f) const;
  /// A new array of this shape; axes marked in `constant` are stored once.
  static IndexSets fresh(const Extents& shape, const std::vector<bool>& constant);
  bool sameMemoryAs(const IndexSets& o) const;

  Extents shape_, strides_;
  int64_t offset_ = 0;
  std::shared_ptr<std::vector<int32_t>> sets_;
};

} // namespace uopscope

// Does a set of rules end? A measure of a graph that every rewrite makes less, or at least not more, is why.
//
// For a set the measures are taken in turn: one that no rule of the set ever raises removes the rules that
// always lower it, which leaves a smaller set with the same question. Rules that no measure removes
// are named. It is read off the instances on which the rules were proved, so it is as good as these are many.
#pragma once
#include "engine/uop/uop.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace uopscope::prove {

constexpr size_t kMeasures = 12;
using Sizes = std::array<int64_t, kMeasures>;

/// What a measure is, in words.
std::string_view measureName(size_t measure);
Sizes sizesOf(UOp root);

/// How one rule changes each measure.
class Measures {
public:
  void add(UOp before, UOp after);
  int count() const { return count_; }
  /// On every instance so far.
  bool neverRaises(size_t m) const { return !raises_[m]; }
  bool alwaysLowers(size_t m) const { return count_ && !keeps_[m] && !raises_[m]; }

private:
  int count_ = 0;
  std::array<bool, kMeasures> raises_{}, keeps_{};
};

/// For each of the rules the measure that removes it, or kMeasures.
std::vector<size_t> terminationOrder(const std::vector<const Measures*>& set);

} // namespace uopscope::prove

// Termination of rule sets. A set of rules terminates if every rewrite lowers a measure of the graph, or a
// sequence of measures.
//
// The measures are tried in turn on a set. A measure that no rule raises removes the rules that always lower
// it. The remaining set is smaller, and the question is the same. Rules that no measure removes are named.
// The effect of a rule on a measure is read off the instances used in its proof, so the answer is as reliable
// as these are numerous.
#pragma once
#include "engine/uop/uop.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace uopscope::prove {

constexpr size_t kMeasures = 12;
using Sizes = std::array<int64_t, kMeasures>;

/// The description of a measure in words.
std::string_view measureName(size_t measure);
Sizes sizesOf(UOp root);

/// The changes of each measure by one rule.
class Measures {
public:
  void add(UOp before, UOp after);
  int count() const { return count_; }
  /// Whether the rule has not raised the measure on any instance so far.
  bool neverRaises(size_t m) const { return !raises_[m]; }
  bool alwaysLowers(size_t m) const { return count_ && !keeps_[m] && !raises_[m]; }
  /// As text, and from it: a digit for each measure behind the count.
  std::string text() const;
  static Measures of(const std::string& text);

private:
  int count_ = 0;
  std::array<bool, kMeasures> raises_{}, keeps_{};
};

/// For each rule, the measure that removes it; kMeasures if none does.
std::vector<size_t> terminationOrder(const std::vector<const Measures*>& set);

} // namespace uopscope::prove

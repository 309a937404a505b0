// Sums that a softmax weights, as attention has. Written out they need every score twice: first for the largest one of a row, then
// for the weights. What they have in common lets one loop over the keys compute all of them (engine/codegen/streams.h).
//
//   out[q, c] = sum over k of w(q, k) * v(k, c) / sum over k of w(q, k)
//   w(q, k)   = exp2((x(q, k) - max over j of x(q, j)) * c)           the score x holds a product: sum over d of a(q, d) * b(k, d)
#pragma once
#include "engine/uop/uop.h"

#include <optional>

namespace uopscope {

struct SoftmaxSums {
  /// A sum whose term is the weight, or the weight times a factor; the factor is null where there is none.
  struct Sum {
    UOp reduce, factor;
  };
  /// A product in the score: sum over some ranges of ofRow * ofKey.
  struct Product {
    UOp reduce, ofRow, ofKey;
    int64_t terms; ///< steps of these ranges
  };
  UOp value; ///< the stored value, in the loops below
  UOpMap<UOp>
      split; ///< what became of loops of the kernel that were split, and of their quotients and remainders
  std::vector<Sum> sums;
  UOp weight;    ///< EXP2((score - reference) * constant), of one key
  UOp score;     ///< of one key
  UOp reference; ///< the maximum, or a function of it, such as one that is 0 where the maximum is infinite
  UOp maximum;   ///< REDUCE(MAX) of the scores of a row
  UOp key;       ///< the REDUCE range of all sums
  std::vector<Product> products;
  UOp row;                    ///< the loop over the results that share keys; at least kFewestStreamed steps
  UOp column;                 ///< the loop that factors alone depend on; null where there is none
  std::vector<UOp> elsewhere; ///< the other loops
};

constexpr int64_t kFewestStreamed = 64; ///< rows, and keys: fewer are stored as well as streamed
constexpr int64_t kMostStreamedTerms =
    1024; ///< of all products in the score: 256 kB hold those of a block of rows
constexpr int64_t kMostStreamedColumns = 512;

/// Reads score and reference of a weight EXP2((score - reference) * constant). False if it is none.
bool readWeight(UOp weight, SoftmaxSums& found);
/// The sums of a stored value over these loops; none if it is no function of such sums, and of what does not depend on keys.
std::optional<SoftmaxSums> softmaxSumsOf(UOp value, std::span<const UOp> loops);

/// The keys that any of some rows may see, where a mask hides the others from all of them: scores are -inf there. The bounds may lie
/// beyond the keys there are; null: nothing is known.
struct VisibleKeys {
  UOp begin, end; ///< the first key, and one more than the last
};
VisibleKeys visibleKeys(const SoftmaxSums& sums, UOp firstRow, UOp lastRow);

/// The score with masks that are added to it, as 0 or -inf, as choices between it and -inf: a number that a mask hides counts for
/// nothing, whatever it is.
UOp chosenScore(UOp score);

} // namespace uopscope

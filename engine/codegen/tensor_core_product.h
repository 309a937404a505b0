// A sum of products that a tensor core can compute, and the loops chosen as its rows, columns and terms.
//
//   sum over k of a[i,k] * b[k,j]     // row i, column j, term k
#pragma once
#include "engine/codegen/target.h"

namespace uopscope {

struct TensorCoreProduct {
  UOp sum, left, right; ///< the REDUCE, and the operands in the type that the core takes
  UOp row, column, term;
};

/// Whether kernels may use a core of the target, as TC and TC_SELECT say.
bool mayUse(const Target& target, const TensorCore& core);
/// All products that a core could compute, in order: the axis of OptOps.TC is a number among them. A product for the tiles of a
/// processor may have its operands exchanged.
std::vector<TensorCoreProduct> productsFor(const TensorCore& core, const std::vector<UOp>& sums,
                                           const std::vector<UOp>& parallel);

} // namespace uopscope

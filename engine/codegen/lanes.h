// Taking the lanes of vectors apart and putting them together. Where the lanes are known, no GEP, CAT or
// VECTORIZE node is left behind. The expander makes vectors and the devectoriser takes them apart, both with
// these functions.
//
//   lane(VECTORIZE(a, b), 1) == b
//   pickLanes(x, {0, 1, 2, 3}) == x         for x of four lanes
#pragma once
#include "engine/uop/uop.h"

namespace uopscope {

/// The number of lanes (values or pointers) of a node: 1 for a scalar.
inline int laneCount(UOp u) {
  return u.dtype().isPtr() ? u.dtype().vcount() : u.dtype().count();
}
/// The same type with n lanes: n values or n pointers.
inline DType withLanes(DType d, int n) {
  return d.isPtr() ? d.vec(n) : d.scalar().vec(n);
}

/// Lane i as a scalar.
UOp lane(UOp v, int64_t i);
/// The lanes `picked`, in this order.
UOp pickLanes(UOp v, const std::vector<int64_t>& picked);
/// `count` lanes from lane `first` on.
UOp sliceLanes(UOp v, int64_t first, int64_t count);
/// Scalars and vectors, joined into one vector.
UOp joinLanes(const std::vector<UOp>& parts);
/// The index constants 0 ... n-1 as a vector (a scalar 0 for n == 1).
UOp laneNumbers(int64_t n, DType scalar = dtypes::index);

/// All lanes combined into one value, by vectors: halves, and parts of powers of two. 40 lanes are 32, 16, 8 and the other 8, 4, 2, 1.
UOp combineLanes(UOp value, Op how);
/// The vector of a power of two of lanes that combineLanes made this scalar of; null for any other value.
UOp combinedVector(UOp scalar);

} // namespace uopscope

// Vectors in C: clang's ext_vector_type has arithmetic, comparison and selection on whole vectors, so most
// operations are one expression, and only those it lacks are written lane by lane.
//
//   float8 alu3 = (val0 < 0.0f ? (float8)0.0f : val0) * 2.0f;
//
// A vector of bools is a vector of bytes 0 and 1, as in memory. A comparison that only selects is kept as
// clang gives it, a vector of integers as wide as its operands, all ones where it holds.
#pragma once
#include "engine/render/c_text.h"

namespace uopscope {

/// Whether one expression computes the operation on all lanes.
bool isNativeVector(UOp u);
/// VECTORIZE of one scalar n times.
bool isSplat(UOp u);
/// Whether a scalar may stand for its splat in arithmetic of this type: C keeps its type.
bool scalarMayStandForSplat(DType d);
/// Whether `select`, a WHERE, can use the mask that comparing gives, instead of bools.
bool selectsByMask(UOp select);
/// The type of the mask of lanes of `bytes` bytes: int8 for eight floats.
DType maskType(int bytes, int lanes);

/// The expression of an operation for which isNativeVector holds. `a`: operands; `mask`: of WHERE's
/// condition, where it is a vector. Comparisons give the mask.
std::string vectorExpression(CText& types, UOp u, std::span<const std::string> a, const std::string& mask);

} // namespace uopscope

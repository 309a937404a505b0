// Vectors in C. clang's ext_vector_type has arithmetic, comparison and selection on whole vectors, so most
// operations are one expression. The remaining ones are written lane by lane.
//
//   float8 alu3 = (val0 < 0.0f ? (float8)0.0f : val0) * 2.0f;
//
// A vector of bools is a vector of bytes 0 and 1, as in memory. A comparison used for selection alone stays
// in clang's form: a vector of integers as wide as the operands, with all bits set where the comparison
// holds.
#pragma once
#include "engine/render/c_text.h"

namespace uopscope {

/// Whether a single expression computes the operation on all lanes.
bool isNativeVector(UOp u);
/// Whether it is a VECTORIZE that repeats one scalar.
bool isSplat(UOp u);
/// Whether a scalar may replace its splat in arithmetic of this type: true if C does not promote the scalar.
bool scalarMayStandForSplat(DType d);
/// Whether the WHERE `select` can use the mask of a comparison instead of bools.
bool selectsByMask(UOp select);
/// The type of a mask with lanes of `bytes` bytes: int8 for eight floats.
DType maskType(int bytes, int lanes);

/// The expression of an operation for which isNativeVector holds. `a` are the operands; `mask` is the
/// condition of a WHERE if that is a vector. A comparison gives a mask.
std::string vectorExpression(CText& types, UOp u, std::span<const std::string> a, const std::string& mask);

} // namespace uopscope

// Powers of two and of e by a series: 2^(c*v) = 2^n * 2^(c*r) with n whole and |c*r| <= 1/2. The product c*v is never rounded, so e^v is
// as accurate as 2^v.
//
//   exp2Of(v, *exponentBy(1.442695, false), multiplyAdd)    ->  e^v, within 1.5 units in the last place
#pragma once
#include "engine/codegen/float_words.h"

#include <optional>

namespace uopscope {

/// The c of 2^(c*v), and 1/c in two parts of one sign. Products of `high` with whole numbers that are exponents are exact.
struct Exponent {
  long double factor = 1;
  double high = 1, low = 0;
};

/// The exponent's factor for a constant of the graph, where c stands for a number that its type cannot hold, such as 1/ln 2. None where
/// quotients of a range of exponents by c would not be numbers of the type.
std::optional<Exponent> exponentBy(double c, bool isWide);
/// 2^(c*v) of float32s or float64s.
UOp exp2Of(UOp v, const Exponent& by, const floatwords::MultiplyAdd& multiplyAdd);
/// 2^(c*v) - 1, or 1 - 2^(c*v), as accurate near 0 as elsewhere. A zero of v gives the zero of the difference.
UOp exp2Less1Of(UOp v, const Exponent& by, bool isFrom1, const floatwords::MultiplyAdd& multiplyAdd);

} // namespace uopscope

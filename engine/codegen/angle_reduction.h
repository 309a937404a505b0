// Angles brought into [-pi/4, pi/4] for the series of the sine: v = quadrant * pi/2 + rest. Small angles lose a multiple
// of pi/2 that is subtracted in parts. Larger ones are multiplied by the digits of 2/pi that matter at their exponent,
// so the rest of the largest number is as accurate as that of a small one.
//
//   v = 100                 ->  quadrant 64 (0 modulo 4), rest -0.5310
//   v = 2^1023 of float64   ->  30 words of digits are skipped, the next 7 give quadrant and rest
#pragma once
#include "engine/codegen/float_words.h"

namespace uopscope {

struct ReducedAngle {
  UOp rest;     ///< of the type of the angle
  UOp quadrant; ///< int32; only its value modulo 4 counts
};

/// The largest angle that reduceSmallAngle takes, of the type of v.
double largestSmallAngle(UOp v);
/// For 0 <= v <= largestSmallAngle(v), float32 or float64.
ReducedAngle reduceSmallAngle(UOp v, const floatwords::MultiplyAdd& multiplyAdd);
/// For any finite v >= 1/128. Angles of float64 need a target with 64-bit integers.
ReducedAngle reduceAnyAngle(UOp v, const Target& target);

} // namespace uopscope

// Angles brought into [-pi/2, pi/2] for the series of the sine: |v| or v = n*pi + rest. Small angles lose a multiple of pi that is
// subtracted in parts. Larger ones are multiplied by the digits of 2/pi that matter at their exponent, so the rest of the largest number
// is as accurate as that of a small one.
//
//   v = 100                 ->  32 half turns, rest -0.5310
//   v = 2^1023 of float64   ->  30 words of digits are skipped, the next 7 give half turns and rest
#pragma once
#include "engine/codegen/float_words.h"

namespace uopscope {

struct ReducedAngle {
  UOp rest; ///< of the type of the angle
  UOp turns; ///< an unsigned integer as wide; its last bit alone counts: whether the angle's sine is that of -rest
};

/// What is reduced: v for a sine, or v + pi/2 for a cosine, which is that angle's sine.
enum class Turned : uint8_t { None, Quarter };

/// The largest angle that reduceSmallAngle takes, of the type of v.
double largestSmallAngle(UOp v);
/// For |v| <= largestSmallAngle(v), float32 or float64. A zero's rest is that zero. Of other v rest and turns are anything. A quarter turn is
/// for targets that add in the order of the program.
ReducedAngle reduceSmallAngle(UOp v, Turned turned, const floatwords::MultiplyAdd& multiplyAdd);
/// For any finite v of a size from 1/128 on. Angles of float64 need a target with 64-bit integers.
ReducedAngle reduceAnyAngle(UOp v, Turned turned, const Target& target);

} // namespace uopscope

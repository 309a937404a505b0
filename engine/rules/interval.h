// Bounds of sums in 128 bits, so that the addition of terms cannot wrap.
//
//   intervalOf(linearOf(r0*4 + 3))        // r0 within [0, 7]: lo 3, hi 31
#pragma once
#include "engine/base/integers.h"
#include "engine/uop/linear.h"

namespace uopscope::rules {

using Wide = __int128;

struct Interval {
  Wide lo = 0, hi = 0;
};

inline Interval termInterval(const Term& t) {
  Wide a = Wide{t.node.vmin()} * t.factor, b = Wide{t.node.vmax()} * t.factor;
  return a < b ? Interval{a, b} : Interval{b, a};
}
inline Interval operator+(Interval a, Interval b) {
  return {a.lo + b.lo, a.hi + b.hi};
}
/// The bounds of the terms, without the constant.
inline Interval termsInterval(std::span<const Term> terms) {
  Interval sum;
  for (const Term& t : terms) sum = sum + termInterval(t);
  return sum;
}
inline Interval intervalOf(const Linear& l) {
  return termsInterval(l.terms) + Interval{l.constant, l.constant};
}

inline bool fitsInt64(Wide v) {
  return v == static_cast<int64_t>(v);
}

} // namespace uopscope::rules

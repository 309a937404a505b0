// The precision of a value in a random program, so that two devices can be compared as tightly as arithmetic
// permits. Sums of floats may be added in any order. Where all partial sums fit the mantissa, the result is
// still the same to the bit, and comparisons of such values must agree.
//
//   leaf of multiples of 1/4 below 8      {frac 2, mag 3, err -inf}: exact
//   its sum over 5000 elements            {2, 15.3, -inf}: still exact in float32
//   its square root                       {.., 1.5, 1.5-24}: known to half a unit in the last place
#pragma once
#include "engine/uop/dtype.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace uopscope::fuzz {

/// Logarithms to base 2: digits behind the point, largest magnitude, absolute error.
struct Precision {
  static constexpr double kNone = -std::numeric_limits<double>::infinity();
  double frac = 0, mag = 0, err = kNone;

  bool exact() const { return err == kNone; }
};

/// Number of digits of a type; an integer's digits wrap instead.
inline double mantissa(DType d) {
  switch (d.kind()) {
  case Scalar::Float64: return 53;
  case Scalar::Float32: return 24;
  case Scalar::Float16: return 11;
  case Scalar::BFloat16: return 8;
  case Scalar::Fp8E4M3: return 4;
  case Scalar::Fp8E5M2: return 3;
  default: return 1000;
  }
}
/// Larger magnitudes may overflow in an intermediate value.
inline double largestMagnitude(DType d) {
  if (!d.isFloat()) return 1000;
  switch (d.kind()) {
  case Scalar::Float16: return 13;
  case Scalar::Fp8E4M3: return 7;
  case Scalar::Fp8E5M2: return 12;
  default: return 60;
  }
}

inline double logSum(double a, double b) {
  double high = std::max(a, b), low = std::min(a, b);
  return low == Precision::kNone ? high : high + std::log2(1 + std::exp2(low - high));
}
/// A value stored as `d`: integers are exact; floats round digits that do not fit.
inline Precision stored(Precision p, DType d) {
  if (!d.isFloat()) return {0, std::min(p.mag, double(d.isBool() ? 1 : d.bitsize())), p.err};
  if (p.frac + p.mag > mantissa(d)) {
    p.err = logSum(p.err, p.mag - mantissa(d));
    p.frac = std::min(p.frac, 60.0);
  }
  return p;
}
/// A value that may be below zero, kept by a type without a sign.
inline Precision wrapped(Precision p, DType d) {
  if (d.isUnsigned()) p.mag = d.bitsize();
  return p;
}
inline Precision sumOf(Precision a, Precision b, DType d) {
  return stored({std::max(a.frac, b.frac), std::max(a.mag, b.mag) + 1, logSum(a.err, b.err)}, d);
}
inline Precision productOf(Precision a, Precision b, DType d) {
  return stored({a.frac + b.frac, a.mag + b.mag, logSum(a.err + b.mag, b.err + a.mag)}, d);
}
/// A sum of n such values, rounded at every step.
inline Precision sumOfMany(Precision p, int64_t n, DType d) {
  double grows = n > 1 ? std::log2(static_cast<double>(n)) : 0;
  Precision r = stored({p.frac, p.mag + grows, p.err + grows}, d);
  if (!r.exact() && d.isFloat()) r.err += grows;
  return r;
}
/// A function with at most this slope and results of this magnitude, computed to a few units in the last
/// place.
inline Precision functionOf(Precision p, double slope, double mag, DType d) {
  return {60, mag, logSum(p.err + std::log2(slope), mag - mantissa(d) + 2)};
}
/// One of two values.
inline Precision eitherOf(Precision a, Precision b) {
  return {std::max(a.frac, b.frac), std::max(a.mag, b.mag), std::max(a.err, b.err)};
}

} // namespace uopscope::fuzz

// Series of powers: the exponent is taken apart, and its whole part goes to the bits of a float.
#include "engine/codegen/exponential.h"

#include "engine/codegen/float_argument.h"
#include "engine/codegen/machine_functions.h"

#include <cmath>
#include <numbers>
#include <span>

namespace uopscope {

using namespace floatwords;

namespace {

/// A constant of the type stands for a number that it cannot hold: 1/ln 2, which makes 2^(c*v) the natural e^v, twice that, or the
/// logarithm of a whole number, as of 10. Any other constant is taken as it is.
long double meant(double c, bool wide) {
  auto isNearest = [&](long double exact) {
    return wide ? static_cast<double>(exact) == c : static_cast<float>(exact) == static_cast<float>(c);
  };
  for (const long double e : {1 / std::numbers::ln2_v<long double>, 2 / std::numbers::ln2_v<long double>})
    if (isNearest(e)) return e;
  if (c > 17) return c;
  const long double base = std::round(std::exp2(static_cast<long double>(c)));
  if (const long double exact = std::log2(base); base >= 2 && isNearest(exact)) return exact;
  return c;
}

/// A polynomial's coefficients in c*r as those of its powers of r, the highest first; `first` is the factor of the lowest.
std::vector<double> fallingIn(std::span<const long double> rising, long double first, long double c) {
  std::vector<double> falling(rising.size());
  for (size_t k = rising.size(); k-- > 0; first *= c)
    falling[k] = static_cast<double>(rising[rising.size() - 1 - k] * first);
  return falling;
}

/// Coefficients of 2^(c*r), times `lead`, for |c*r| <= 1/2, the highest first. float64: the series, sum of (c*r ln 2)^k / k!. float32: the
/// polynomial of degree 6 through (0, 1) with the least relative error, 2e-9.
std::vector<double> exp2Polynomial(bool wide, long double c, long double lead) {
  std::vector<long double> rising;
  if (wide) {
    constexpr size_t kDegree = 13;
    long double term = 1;
    for (size_t k = 0; k <= kDegree; term *= std::numbers::ln2_v<long double> / static_cast<long double>(++k))
      rising.push_back(term);
  } else {
    rising = {1,
              0.6931472028550821L,
              0.24022647913626416L,
              5.550332471100308e-2L,
              9.618437357841127e-3L,
              1.3398874422188634e-3L,
              1.5353361882174425e-4L};
  }
  return fallingIn(rising, lead, c);
}

/// Coefficients of (2^(c*r) - 1) / r for |c*r| <= 1/2, the highest first. float64: the series. float32: the polynomial of degree 5 with
/// the least relative error, 1.1e-8.
std::vector<double> exp2Less1Polynomial(bool wide, long double c) {
  std::vector<long double> rising;
  if (wide) {
    constexpr size_t kDegree = 13;
    long double term = 1;
    for (size_t k = 1; k <= kDegree; ++k)
      rising.push_back(term *= std::numbers::ln2_v<long double> / static_cast<long double>(k));
  } else {
    rising = {0.69314718792669306186L,   0.24022649794962264898L,   0.055503574336426598643L,
              0.0096182374949070142723L, 0.0013390735477607873993L, 0.00015403512367553546237L};
  }
  return fallingIn(rising, c, c);
}

/// v - n/c, where `whole` is n, or -n with the sign of c taken away.
UOp restOf(UOp v, UOp whole, double high, double low, const MultiplyAdd& multiplyAdd) {
  if (high == 1) return v + mul(whole, -1);
  const UOp rest = multiplyAdd(whole, num(v, -high), v);
  return low == 0 ? rest : multiplyAdd(whole, num(v, -low), rest);
}

/// An argument v of 2^(c*v), taken apart: c*v = n + c*rest with n whole and |c*rest| <= 1/2. The last bits of `sum` are n + bias, where
/// an exponent of that bias is asked for. A zero keeps its sign in `rest`.
struct ExponentAndRest {
  UOp sum, rest;
};
ExponentAndRest takeApart(UOp v, const Exponent& by, int64_t bias, const MultiplyAdd& multiplyAdd) {
  const RoundedProduct n(v, static_cast<double>(by.factor), bias, multiplyAdd);
  return {n.sum(), restOf(v, by.factor > 0 ? n.whole() : n.minusWhole(), std::abs(by.high), std::abs(by.low),
                          multiplyAdd)};
}

/// The power of two whose exponent the last bits of a sum are.
UOp powerOfTwo(UOp sum) {
  const DType bits = (isDouble(sum) ? dtypes::uint64 : dtypes::uint32).vec(laneCount(sum));
  return shiftLeft(sum.bitcast(bits), layoutOf(sum).mantissa).bitcast(sum.dtype());
}

/// Conditions on the exponent c*v of 2^(c*v), which fold like those on v.
class ExponentArgument {
public:
  ExponentArgument(UOp v, const Exponent& by)
      : v_(v), arg_(v), c_(static_cast<double>(by.factor)), rises_(by.factor > 0) {}

  UOp below(double n) const { return rises_ ? arg_.below(n / c_) : arg_.above(n / c_); }
  UOp above(double n) const { return rises_ ? arg_.above(n / c_) : arg_.below(n / c_); }
  bool mayExceed(double n) const { return above(n) != arg_.no(); }
  /// v, cut to exponents from `bottom` to `top`; a NaN stays one. One cut after the other, so that processors take a maximum and a
  /// minimum.
  UOp cut(double bottom, double top) const { return cut(bottom, bottom, top); }
  /// The same, where exponents below `bottom` become `deep`.
  UOp cut(double bottom, double deep, double top) const {
    const UOp from = below(bottom).where(num(v_, deep / c_), v_);
    if (!mayExceed(top)) return from;
    const UOp most = num(v_, top / c_);
    return (rises_ ? most < from : from < most).where(most, from);
  }

private:
  UOp v_;
  Argument arg_;
  double c_;
  bool rises_;
};

constexpr double topOf(bool isWide) { // above it a power is infinite
  return isWide ? 1024.25 : 128.25;
}

/// 2^(c*v) by a function of the machine, which has a case for every n. Results next to the least number take it 250 cycles for each vector,
/// whether they are 0 or not; from 2^-512 on (float64: 2^-8192) down they are 0 at once.
UOp exp2InMachine(UOp v, const Exponent& by, const MultiplyAdd& multiplyAdd) {
  const bool wide = isDouble(v);
  const Layout l = layoutOf(v);
  const UOp cut = ExponentArgument(v, by).cut(-2 - static_cast<double>(l.bias + l.mantissa),
                                              wide ? -10000 : -1000, topOf(wide));
  const UOp n = RoundedProduct(cut, static_cast<double>(by.factor), 0, multiplyAdd).whole();
  const UOp rest = restOf(cut, n, by.high, by.low, multiplyAdd);
  const UOp power = horner(rest, exp2Polynomial(wide, by.factor, 1), multiplyAdd);
  return machineCall(MachineFunction::Scaled, {{power, n}});
}

} // namespace

std::optional<Exponent> exponentBy(double c, bool wide) {
  const double size = std::abs(c);
  if (!(size >= 0x1p-10 && size <= 0x1p10)) return {};
  const long double factor = std::copysign(meant(size, wide), static_cast<long double>(c));
  const int bits = wide ? 42 : 16; // beside the 11 or 8 of an exponent
  int power = 0;
  const long double fraction = std::frexp(1 / factor, &power);
  const double high = static_cast<double>(std::ldexp(std::trunc(std::ldexp(fraction, bits)), power - bits));
  return Exponent{factor, high, static_cast<double>(1 / factor - static_cast<long double>(high))};
}

/// 2^(c*v), where c*v = n + c*r: it is 2 * 2^(c*r) * 2^(n-1). Below the normal numbers n is made larger and the result multiplied
/// down, above 2^top and below 2^bottom v is cut: to infinity, and to an exponent of no bits, which makes the power 0. A NaN stays one
/// all the way.
UOp exp2Of(UOp v, const Exponent& by, const MultiplyAdd& multiplyAdd) {
  if (hasMachineFunctions(multiplyAdd.target(), v.dtype())) return exp2InMachine(v, by, multiplyAdd);
  const bool wide = isDouble(v);
  const Layout l = layoutOf(v);
  const ExponentArgument exponent(v, by);
  const double up = wide ? 128 : 64;
  const UOp cut = exponent.cut(1 - static_cast<double>(l.bias) - up, topOf(wide));
  const UOp tiny = exponent.below(wide ? -1000 : -120);
  const auto [sum, rest] = takeApart(cut, by, l.bias - 1, multiplyAdd);
  const UOp power = powerOfTwo(tiny.where(add(sum, up), sum));
  UOp result = horner(rest, exp2Polynomial(wide, by.factor, 2), multiplyAdd) * power;
  return tiny.where(mul(result, std::ldexp(1.0, -static_cast<int>(up))), result);
}

/// 2^(c*v) - 1 = 2^n * (2^(c*r) - 1) + (2^n - 1), where nothing cancels; `isFrom1`: 1 - 2^(c*v). The largest results are twice their
/// halves, since 2^n is infinite there. A zero keeps its sign: what is added to it is -(1 - 2^n), the negative zero. 1 - 2^0 is 0.
UOp exp2Less1Of(UOp v, const Exponent& by, bool isFrom1, const MultiplyAdd& multiplyAdd) {
  const bool wide = isDouble(v);
  const Layout l = layoutOf(v);
  const ExponentArgument exponent(v, by);
  // From the least exponent whose half is a normal number: the result is -1 long before.
  const UOp cut = exponent.cut(2 - static_cast<double>(l.bias), topOf(wide));
  const bool isHalved = exponent.mayExceed(static_cast<double>(l.bias) - 1);
  const auto [sum, rest] = takeApart(cut, by, isHalved ? l.bias - 1 : l.bias, multiplyAdd);
  const UOp power = powerOfTwo(sum), missing = add(mul(power, -1), isHalved ? 0.5 : 1.0);
  const UOp part = horner(rest, exp2Less1Polynomial(wide, by.factor), multiplyAdd) * rest;
  const UOp result =
      isFrom1 ? multiplyAdd(mul(part, -1), power, missing) : multiplyAdd(part, power, mul(missing, -1));
  return isHalved ? mul(result, 2) : result;
}

} // namespace uopscope

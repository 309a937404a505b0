// Transcendental functions by arithmetic: range reduction on the bits of the number, then a series on a small
// interval.
//
// Accuracy: float32 within about 1.5 units in the last place, float64 within about 4. float16 and bfloat16
// are computed as float32. The sine of a float64 loses accuracy above 2^30 and is 0 above 2^53. Infinities,
// NaN, zeros and denormals give the results of the C library.
#include "engine/base/context_var.h"
#include "engine/codegen/decompositions.h"
#include "engine/codegen/float_interval.h"
#include "engine/codegen/lanes.h"
#include "engine/codegen/memory.h"
#include "engine/rules/variables.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace uopscope {

namespace {

using namespace pat;
using rules::x, rules::y;
constexpr double kInf = std::numeric_limits<double>::infinity(),
                 kNan = std::numeric_limits<double>::quiet_NaN();

UOp num(UOp like, double v) {
  return UOp::constant(like.dtype(), v);
}
UOp add(UOp a, double v) {
  return a + num(a, v);
}
UOp mul(UOp a, double v) {
  return a * num(a, v);
}

/// a*b + c, rounded once if the machine can. The target alone decides, so every kernel computes the same
/// value.
class MultiplyAdd {
public:
  explicit MultiplyAdd(const Target& target) : target_(target), fused_(isNative(target, Op::MULACC)) {}
  UOp operator()(UOp a, UOp b, UOp c) const { return fused_ ? a.alu(Op::MULACC, {b, c}) : a * b + c; }
  const Target& target() const { return target_; }

private:
  const Target& target_;
  bool fused_;
};

/// Conditions on an argument, which fold to a constant where its interval is known.
class Argument {
public:
  explicit Argument(UOp v) : v_(v), interval_(floatInterval(v)) {}

  UOp isNan() const { return interval_ ? no() : ne(v_, v_); }
  UOp below(double c) const {
    if (interval_ && interval_->high < c) return yes();
    if (interval_ && interval_->low >= c) return no();
    return v_ < num(v_, c);
  }
  UOp above(double c) const {
    if (interval_ && interval_->low > c) return yes();
    if (interval_ && interval_->high <= c) return no();
    return num(v_, c) < v_;
  }
  UOp isNot(double c) const {
    if (interval_ && (interval_->high < c || c < interval_->low)) return yes();
    return ne(v_, num(v_, c));
  }
  /// Whether the argument is known to lie between these bounds.
  bool within(double low, double high) const { return interval_ && interval_->within(low, high); }
  UOp yes() const { return UOp::constant(dtypes::bool_.vec(laneCount(v_)), int64_t{1}); }
  UOp no() const { return UOp::constant(dtypes::bool_.vec(laneCount(v_)), int64_t{0}); }

private:
  UOp v_;
  std::optional<FloatInterval> interval_;
};
bool isDouble(UOp v) {
  return v.dtype().kind() == Scalar::Float64;
}

struct Layout {
  DType bits;
  int mantissa;
  int64_t bias, mask;
};
Layout layoutOf(UOp v) {
  int n = laneCount(v);
  if (isDouble(v)) return {dtypes::int64.vec(n), 52, 1023, 2047};
  return {dtypes::int32.vec(n), 23, 127, 255};
}
UOp shiftLeft(UOp v, int by) {
  return v * v.constLike(int64_t{1} << by);
}
/// v >> by of a signed integer, rounded towards minus infinity.
UOp shiftDown(UOp v, int by) {
  return v.alu(Op::SHR, {v.constLike(by)});
}
UOp nearest(UOp v, const Layout& l) {
  UOp half = (v < num(v, 0.0)).where(num(v, -0.5), num(v, 0.5));
  return (v + half).cast(l.bits);
}
template <typename C>
UOp horner(UOp v, const C& fromHighest, const MultiplyAdd& multiplyAdd) {
  UOp sum = num(v, fromHighest[0]);
  for (size_t i = 1; i < fromHighest.size(); ++i) sum = multiplyAdd(sum, v, num(v, fromHighest[i]));
  return sum;
}

/// Coefficients of 2 * 2^s for |s| <= 1/2, the highest first. float64: the series, sum of (s ln 2)^k / k!. float32: the
/// polynomial of degree 6 through (0, 1) with the least relative error, 2e-9.
std::vector<double> exp2Polynomial(bool wide) {
  if (!wide)
    return {2 * 1.5353361882174425e-4,
            2 * 1.3398874422188634e-3,
            2 * 9.618437357841127e-3,
            2 * 5.550332471100308e-2,
            2 * 0.24022647913626416,
            2 * 0.6931472028550821,
            2};
  constexpr size_t kDegree = 13;
  std::vector<double> c(kDegree + 1);
  double term = 2;
  for (size_t k = 0; k <= kDegree; ++k) {
    c[kDegree - k] = term;
    term *= std::numbers::ln2 / static_cast<double>(k + 1);
  }
  return c;
}

/// v = e + s: e whole and |s| <= 1/2, 2^v = 2 * 2^s * 2^(e-1). Adding a number whose last bit is 1 rounds v; where that
/// number also holds the bias of an exponent, the sum's last bits are the exponent of 2^(e-1). Below the normal numbers e
/// is made larger and the result multiplied down, above 2^top and below 2^bottom v is cut: to infinity and to 0. A NaN
/// stays one all the way.
UOp exp2Of(UOp v, const MultiplyAdd& multiplyAdd) {
  bool wide = isDouble(v);
  Layout l = layoutOf(v);
  Argument arg(v);
  double top = wide ? 1024 : 128, bottom = wide ? -1080 : -152, up = wide ? 128 : 64;
  UOp cut = arg.above(top).where(num(v, top), arg.below(bottom).where(num(v, bottom), v));
  UOp tiny = arg.below(wide ? -1000 : -120), safe = tiny.where(add(cut, up), cut);
  double rounder = std::ldexp(1.5, l.mantissa) + static_cast<double>(l.bias - 1);
  UOp sum = add(safe, rounder), whole = add(sum, -rounder);
  if (multiplyAdd.target().mayReassociate) { // the compiler would make v of the sum's difference
    int64_t start =
        wide ? std::bit_cast<int64_t>(rounder) : std::bit_cast<int32_t>(static_cast<float>(rounder));
    UOp ofSum = sum.bitcast(l.bits);
    whole = (ofSum + ofSum.constLike(-start)).cast(v.dtype());
  }
  UOp s = safe + mul(whole, -1);
  DType bits = (wide ? dtypes::uint64 : dtypes::uint32).vec(laneCount(v));
  UOp power = shiftLeft(sum.bitcast(bits), l.mantissa).bitcast(v.dtype());
  UOp result = horner(s, exp2Polynomial(wide), multiplyAdd) * power;
  // Nothing is multiplied down to 0: a processor takes a hundred cycles more for a result that underflows.
  UOp down = arg.below(bottom).where(num(v, 0.0), num(v, std::ldexp(1.0, -static_cast<int>(up))));
  return tiny.where(result * down, result);
}

UOp log2Of(UOp v, const MultiplyAdd& multiplyAdd) {
  Layout l = layoutOf(v);
  double smallest = isDouble(v) ? 0x1p-1022 : 0x1p-126, scale = isDouble(v) ? 0x1p54 : 0x1p25;
  Argument arg(v);
  UOp tiny = arg.below(smallest);
  UOp normal = tiny.where(mul(v, scale), v);
  // The exponent of normal / 0.75, which brings the mantissa into [0.75, 1.5).
  UOp bits = mul(normal, 4.0 / 3.0).bitcast(l.bits);
  UOp e = (shiftDown(bits, l.mantissa) & bits.constLike(l.mask)) + bits.constLike(-l.bias);
  UOp m = (normal.bitcast(l.bits) + shiftLeft(e, l.mantissa) * e.constLike(-1)).bitcast(v.dtype());
  UOp exponent = e.cast(v.dtype()) + tiny.where(num(v, isDouble(v) ? -54 : -25), num(v, 0.0));
  // log2 m = 2/ln 2 * (s + s^3/3 + s^5/5 ...), s = (m-1)/(m+1), |s| <= 1/5.
  UOp s = add(m, -1) * add(m, 1).alu(Op::RECIPROCAL), s2 = s * s;
  int terms = isDouble(v) ? 12 : 6;
  std::vector<double> series;
  for (int k = terms - 1; k >= 1; --k) series.push_back(2 / std::numbers::ln2 / (2 * k + 1));
  // Splitting the leading coefficient in two keeps the last bits of a result near zero.
  double lead = 2 / std::numbers::ln2,
         high = isDouble(v) ? lead : static_cast<double>(static_cast<float>(lead));
  UOp tail = horner(s2, series, multiplyAdd) * s2 * s;
  UOp result = multiplyAdd(s, num(v, high), multiplyAdd(s, num(v, lead - high), tail)) + exponent;
  result = arg.isNot(kInf).where(result, num(v, kInf));
  result = arg.below(0.0).where(num(v, kNan), result);
  result = arg.isNot(0.0).where(result, num(v, -kInf));
  return arg.isNan().where(v, result);
}

// --- sine ---

/// 2/pi in 32-bit digits, one before the binary point. They suffice for the largest exponent of a float32.
constexpr std::array<int64_t, 8> kTwoOverPi{0,          0xA2F9836E, 0x4E441529, 0xFC2757D1,
                                            0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB};

struct Reduced {
  UOp rest, quadrant; ///< v = quadrant * pi/2 + rest
};

/// For small arguments: subtracts a multiple of pi/2, given in parts whose products are exact.
Reduced reduceSmall(UOp v, const MultiplyAdd& multiplyAdd) {
  Layout l = layoutOf(v);
  UOp q = nearest(mul(v, 2 / std::numbers::pi), l), f = q.cast(v.dtype());
  UOp rest = v;
  if (isDouble(v)) {
    for (double part :
         {1.5707963109016418457, 1.5893254712295857e-08, 6.1232339932053594e-17, 6.3683171635109499e-25})
      rest = multiplyAdd(f, num(v, -part), rest);
  } else {
    for (double part : {1.5703125, 4.837512969970703125e-4, 7.549533620476722717e-8, 2.5633441e-12})
      rest = multiplyAdd(f, num(v, -part), rest);
  }
  return {rest, q.cast(dtypes::int32.vec(laneCount(v)))};
}

/// The product of a mantissa and three words of digits. The point is placed so that the top two of its last 64 bits are
/// the quadrant. The remaining bits, read as a signed number, are the fraction of a quadrant: above one half they count
/// down from the next quadrant.
struct Turn {
  UOp quadrant, over;
  UOp high,
      low; ///< halves of the fraction as int32, since few machines convert vectors of 64-bit integers to floats
};
UOp left(UOp x, UOp by) {
  return x.alu(Op::SHL, {by});
}
UOp right(UOp x, UOp by) {
  return x.alu(Op::SHR, {by});
}
Turn turnOf(UOp mantissa, const std::array<UOp, 3>& window) {
  int n = laneCount(mantissa);
  DType narrow = dtypes::uint32.vec(n), wide = dtypes::uint64.vec(n), half = dtypes::int32.vec(n);
  UOp m = mantissa.cast(wide), by32 = m.constLike(32);
  UOp product =
      left(m * window[0].cast(wide), by32) + m * window[1].cast(wide) + right(m * window[2].cast(wide), by32);
  UOp fraction = left(product, product.constLike(2));
  return {right(product, product.constLike(62)).cast(half),
          (right(product, product.constLike(61)) & product.constLike(1)).cast(half),
          right(fraction, by32).cast(narrow).bitcast(half),
          right(fraction.cast(narrow), mantissa.constLike(1)).bitcast(half)};
}
/// The same bits where there are no 64-bit integers.
Turn turnInWords(UOp mantissa, const std::array<UOp, 3>& window) {
  DType narrow = dtypes::uint32.vec(laneCount(mantissa)), half = dtypes::int32.vec(laneCount(mantissa));
  auto upper = [](UOp w) { return right(w, w.constLike(16)); };
  auto lower = [](UOp w) { return w & w.constLike(0xffff); };
  auto highWord = [&](UOp w) { // of mantissa * w, by products of 16 bits
    UOp first = upper(mantissa) * lower(w) + upper(lower(mantissa) * lower(w));
    UOp second = lower(mantissa) * upper(w) + lower(first);
    return upper(mantissa) * upper(w) + upper(first) + upper(second);
  };
  UOp middle = mantissa * window[1], bottom = middle + highWord(window[2]);
  UOp top = mantissa * window[0] + highWord(window[1]) + (bottom < middle).cast(narrow);
  return {right(top, top.constLike(30)).cast(half),
          (right(top, top.constLike(29)) & top.constLike(1)).cast(half),
          (left(top, top.constLike(2)) | right(bottom, bottom.constLike(30))).bitcast(half),
          right(left(bottom, bottom.constLike(2)), bottom.constLike(1)).bitcast(half)};
}

/// For any finite float32: multiplies the mantissa by the digits of 2/pi that matter at its exponent. The digits above the
/// point modulo 4 are the quadrant, the digits below it the rest.
Reduced reduceAny(UOp v, const Target& target) {
  int n = laneCount(v);
  DType narrow = dtypes::uint32.vec(n);
  UOp bits = v.bitcast(narrow);
  UOp exponent = right(bits, bits.constLike(23)) & bits.constLike(255);
  UOp mantissa = (bits & bits.constLike((1 << 23) - 1)) | bits.constLike(1 << 23);
  // v = mantissa * 2^(exponent - 150). The window of digits starts two bits above the last bit that counts
  // modulo 4, at bit exponent - 152 after the point. The digit before the point keeps the window inside the
  // table for v >= 1/128.
  UOp position = exponent + exponent.constLike(-120);
  UOp word = right(position, position.constLike(5)), shift = position & position.constLike(31);
  UOp rest31 = shift ^ shift.constLike(31);
  std::array<UOp, 4> digits;
  for (size_t offset = 0; offset < 4; ++offset) {
    digits[offset] = UOp::constant(narrow, kTwoOverPi[offset]);
    for (int64_t k = 1; k < 5 && static_cast<size_t>(k) + offset < kTwoOverPi.size(); ++k)
      digits[offset] =
          ne(word, word.constLike(k))
              .where(digits[offset], UOp::constant(narrow, kTwoOverPi[static_cast<size_t>(k) + offset]));
  }
  std::array<UOp, 3>
      window; // 96 bits of 2/pi; a shift by 32 - shift is done in two steps, since it may be 32
  for (size_t k = 0; k < 3; ++k)
    window[k] = left(digits[k], shift) | right(right(digits[k + 1], shift.constLike(1)), rest31);
  Turn turn = isSupported(target, dtypes::uint64) ? turnOf(mantissa, window) : turnInWords(mantissa, window);
  UOp rest = mul(turn.high.cast(v.dtype()), std::numbers::pi / 2 * 0x1p-32) +
             mul(turn.low.cast(v.dtype()), std::numbers::pi / 2 * 0x1p-63);
  return {rest, turn.quadrant + turn.over};
}

UOp sineOf(UOp v, const MultiplyAdd& multiplyAdd) {
  Argument arg(v);
  UOp finite = arg.below(kInf) & arg.above(-kInf);
  UOp negative = arg.below(0.0), safe = finite.where(v, num(v, 0.0));
  UOp size = negative.where(mul(safe, -1), safe);
  Reduced r;
  constexpr double kSwitch = 1000;
  if (arg.within(-kSwitch, kSwitch)) {
    r = reduceSmall(size, multiplyAdd);
  } else if (isDouble(v)) {
    r = reduceSmall((size < num(v, 0x1p53)).where(size, num(v, 0.0)), multiplyAdd);
  } else {
    UOp small = size < num(v, kSwitch);
    Reduced big = reduceAny(small.where(num(v, kSwitch), size), multiplyAdd.target());
    r = reduceSmall(small.where(size, num(v, 0.0)), multiplyAdd);
    r = {small.where(r.rest, big.rest), small.where(r.quadrant, big.quadrant)};
  }
  // The series of sin for even quadrants and of cos for odd ones, on |rest| <= pi/4.
  int terms = isDouble(v) ? 9 : 5;
  std::vector<double> sine, cosine;
  for (int k = terms - 1; k >= 0; --k) {
    sine.push_back((k % 2 ? -1 : 1) / std::tgamma(2 * k + 2));
    cosine.push_back((k % 2 ? -1 : 1) / std::tgamma(2 * k + 1));
  }
  UOp square = r.rest * r.rest;
  UOp odd = ne(r.quadrant & r.quadrant.constLike(1), r.quadrant.constLike(0));
  UOp flip = ne(r.quadrant & r.quadrant.constLike(2), r.quadrant.constLike(0));
  UOp result = odd.where(horner(square, cosine, multiplyAdd), horner(square, sine, multiplyAdd) * r.rest);
  result = ne(flip, negative).where(mul(result, -1), result);
  return finite.where(arg.isNot(0.0).where(result, v), num(v, kNan));
}

/// POW as in C: 1 to any power and any base to the power 0 are 1, even for NaN. The sign of -0 and of -inf
/// counts for odd exponents. Infinite exponents, and those too large to have a fraction, are even.
UOp powerOf(UOp base, UOp exponent) {
  UOp zero = num(base, 0.0), one = num(base, 1.0), below = base < zero;
  UOp size = below.where(mul(base, -1), base);
  UOp result = eq(size, one).where(one, (size.alu(Op::LOG2) * exponent).alu(Op::EXP2));
  UOp half = mul(exponent, 0.5), isWhole = eq(exponent.alu(Op::TRUNC), exponent);
  UOp isOdd = isWhole & ne(half.alu(Op::TRUNC), half);
  UOp negative = below | (eq(base, zero) & (base.alu(Op::RECIPROCAL) < zero));
  UOp withSign = (isOdd & negative).where(mul(result, -1), result);
  UOp hasNone = below & (num(base, -kInf) < base) & ne(isWhole, isWhole.constLike(int64_t{1}));
  return eq(exponent, zero).where(one, hasNone.where(num(base, kNan), withSign));
}

// --- rules ---

using Function = UOp (*)(UOp, const MultiplyAdd&);
UOp decompose(Match& m, Function f) {
  const Target& target = m.ctx<TargetContext>().target;
  UOp root = m.root(), v = m[x];
  if (isNative(target, root.op()) && vars::transcendental < 2) return {};
  if (isDouble(v) || v.dtype().kind() == Scalar::Float32) return f(v, MultiplyAdd(target));
  if (!v.dtype().isFloat()) return {};
  return v.cast(dtypes::float32.vec(laneCount(v))).alu(root.op()).cast(root.dtype());
}
UOp exp2Rule(Match& m) {
  return decompose(m, exp2Of);
}
UOp log2Rule(Match& m) {
  return decompose(m, log2Of);
}
UOp sinRule(Match& m) {
  return decompose(m, sineOf);
}
UOp powRule(Match& m) {
  return isNative(m.ctx<TargetContext>().target, Op::POW) || !m[x].dtype().isFloat() ? UOp()
                                                                                     : powerOf(m[x], m[y]);
}
UOp sqrtRule(Match& m) {
  if (isNative(m.ctx<TargetContext>().target, Op::SQRT)) return {};
  return powerOf(m[x], num(m[x], 0.5));
}
bool lacksTrunc(const Match& m) {
  return !isNative(m.ctx<TargetContext>().target, Op::TRUNC);
}
/// From 2^52 (for float32: 2^23) on every value is whole already, and may not fit an integer type.
UOp wholeFrom(Match& m) {
  return num(m[x], isDouble(m[x]) ? 0x1p52 : 0x1p23);
}
UOp wholeDownFrom(Match& m) {
  return num(m[x], isDouble(m[x]) ? -0x1p52 : -0x1p23);
}

constexpr RuleDef kTranscendental[] = {
    RULE("exp2-by-series", op(Op::EXP2, x), exp2Rule),
    RULE("log2-by-series", op(Op::LOG2, x), log2Rule),
    RULE("sin-by-series", op(Op::SIN, x), sinRule),
    RULE("pow-by-exp2", op(Op::POW, x, y), powRule),
    RULE("sqrt-by-pow", op(Op::SQRT, x), sqrtRule),
    RULE("trunc-by-cast", op(Op::TRUNC, x),
         where(op(Op::AND, x < made(wholeFrom), made(wholeDownFrom) < x), toRoot(to(dtypes::int64, x)), x),
         guard::when(lacksTrunc, "the device truncates")),
};

} // namespace

std::span<const RuleDef> transcendentalRules() {
  return kTranscendental;
}

} // namespace uopscope

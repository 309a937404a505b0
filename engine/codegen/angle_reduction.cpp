// Angles modulo pi: parts of pi for small ones, digits of 2/pi for all others (after Payne and Hanek, 1983).
//
// Accuracy: measured on 0.8 million float32s and as many float64s, many of them next to a multiple of pi, sines made of the rest err by
// at most 3.0 (all float32s were tried) and 2.6 units in their last place.
#include "engine/codegen/angle_reduction.h"

#include <array>
#include <numbers>
#include <span>

namespace uopscope {

using namespace floatwords;

namespace {

/// 2/pi in 32-bit digits, two before the binary point, so that angles below 1 find their digits, too. Those of the
/// largest float64 are the last seven.
constexpr std::array<int64_t, 39> kTwoOverPi{
    0,          0,          0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041,
    0xFE5163AB, 0xDEBBC561, 0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C, 0xB129A73E,
    0xE88235F5, 0x2EBB4484, 0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B,
    0x1FF897FF, 0xDE05980F, 0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D,
    0x7527BAC7, 0xEBE5F17B, 0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08, 0x56033046};

UOp left(UOp x, UOp by) {
  return x.alu(Op::SHL, {by});
}
UOp right(UOp x, UOp by) {
  return x.alu(Op::SHR, {by});
}

/// N words of 2/pi, each of 32 bits, from bit `position` on, counted from the first bit of kTwoOverPi. The digits are
/// found bit by bit of the word's number: 32 words are skipped or not, then 16, and so on.
template <size_t N>
std::array<UOp, N> digitsFrom(UOp position, size_t largestWord) {
  DType narrow = position.dtype();
  UOp word = right(position, position.constLike(5)), shift = position & position.constLike(31);
  size_t count = largestWord + N + 1;
  std::vector<UOp> digits;
  for (size_t k = 0; k < count; ++k) digits.push_back(UOp::constant(narrow, kTwoOverPi[k]));
  for (size_t step = 32; step; step /= 2) {
    if (step > largestWord) continue;
    UOp skips = ne(word & word.constLike(static_cast<int64_t>(step)), word.constLike(0));
    size_t needed = N + step;
    for (size_t k = 0; k < needed && k + step < digits.size(); ++k)
      digits[k] = skips.where(digits[k + step], digits[k]);
    if (digits.size() > needed) digits.resize(needed);
  }
  // A shift by 32 - shift is done in two steps, since it may be 32.
  UOp rest31 = shift ^ shift.constLike(31);
  std::array<UOp, N> window;
  for (size_t k = 0; k < N; ++k)
    window[k] = left(digits[k], shift) | right(right(digits[k + 1], shift.constLike(1)), rest31);
  return window;
}

/// The cosine of -v is that of v.
UOp withSign(UOp turns, UOp sign, Turned turned) {
  return turned == Turned::Quarter ? turns : turns + sign;
}

// --- float32 ---

/// The product of a mantissa and three words of digits. The point is placed so that the top one of its last 64 bits counts half turns.
/// The remaining bits, read as a signed number, are the fraction of one: above one half they count down from the next.
struct Turn {
  UOp halves, over;
  UOp high,
      low; ///< words of the fraction as int32, since few machines convert vectors of 64-bit integers to floats
};
Turn turnOf(UOp mantissa, const std::array<UOp, 3>& window, Turned turned) {
  int n = laneCount(mantissa);
  DType narrow = dtypes::uint32.vec(n), wide = dtypes::uint64.vec(n), half = dtypes::int32.vec(n);
  UOp m = mantissa.cast(wide), by32 = m.constLike(32);
  UOp product =
      left(m * window[0].cast(wide), by32) + m * window[1].cast(wide) + right(m * window[2].cast(wide), by32);
  if (turned == Turned::Quarter) product = product + product.constLike(int64_t{1} << 62);
  UOp fraction = left(product, product.constLike(1)), top = right(product, by32).cast(narrow);
  return {right(top, top.constLike(31)), right(top, top.constLike(30)),
          right(fraction, by32).cast(narrow).bitcast(half),
          right(fraction.cast(narrow), mantissa.constLike(1)).bitcast(half)};
}
/// The same bits where there are no 64-bit integers.
Turn turnInWords(UOp mantissa, const std::array<UOp, 3>& window, Turned turned) {
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
  if (turned == Turned::Quarter) top = top + top.constLike(int64_t{1} << 30);
  return {right(top, top.constLike(31)), right(top, top.constLike(30)),
          (left(top, top.constLike(1)) | right(bottom, bottom.constLike(31))).bitcast(half),
          right(left(bottom, bottom.constLike(1)), bottom.constLike(1)).bitcast(half)};
}
ReducedAngle reduceFloat(UOp v, Turned turned, const Target& target) {
  DType narrow = dtypes::uint32.vec(laneCount(v));
  UOp bits = v.bitcast(narrow);
  UOp exponent = right(bits, bits.constLike(23)) & bits.constLike(255);
  UOp mantissa = (bits & bits.constLike((1 << 23) - 1)) | bits.constLike(1 << 23);
  // |v| = mantissa * 2^(exponent - 150). The window starts at the bit of 2/pi by which the mantissa counts twice: two
  // quarter turns. That bit is the one of number exponent - 151 after the point, which the table has 64 bits before.
  UOp position = exponent + exponent.constLike(64 - 152);
  auto window = digitsFrom<3>(position, (254 + 64 - 152) / 32);
  Turn turn = isSupported(target, dtypes::uint64) ? turnOf(mantissa, window, turned)
                                                  : turnInWords(mantissa, window, turned);
  UOp rest = mul(turn.high.cast(v.dtype()), std::numbers::pi * 0x1p-32) +
             mul(turn.low.cast(v.dtype()), std::numbers::pi * 0x1p-63);
  return {rest, withSign(turn.halves + turn.over, right(bits, bits.constLike(31)), turned)};
}

// --- float64 ---

/// The upper five of the last six words of the product of two words and six, the highest first. The carry out of
/// the sixth is left out: it counts less than one in the fifth.
std::array<UOp, 5> productOf(UOp high, UOp low, const std::array<UOp, 6>& window) {
  UOp word = low.constLike(0xffffffff), by32 = low.constLike(32), carry;
  std::array<UOp, 6> lows, highs; // products of each word with `low` and with `high`
  for (size_t k = 0; k < window.size(); ++k) {
    UOp w = window[k].cast(low.dtype());
    lows[k] = low * w;
    highs[k] = high * w;
  }
  std::array<UOp, 5> words;
  for (size_t k = words.size(); k-- > 0;) {
    UOp sum = (lows[k] & word) + right(lows[k + 1], by32) + (highs[k + 1] & word);
    if (k + 2 < highs.size()) sum = sum + right(highs[k + 2], by32);
    if (carry) sum = sum + carry;
    words[k] = sum & word;
    carry = right(sum, by32);
  }
  return words;
}
/// As for float32, with 126 bits of a fraction: a float64 comes as near as 2^-61 to a multiple of pi/2.
ReducedAngle reduceDouble(UOp v, Turned turned) {
  int n = laneCount(v);
  DType narrow = dtypes::uint32.vec(n), wide = dtypes::uint64.vec(n);
  UOp bits = v.bitcast(wide);
  UOp exponent = right(bits, bits.constLike(52)) & bits.constLike(2047);
  UOp low = bits & bits.constLike(0xffffffff);
  UOp high = (right(bits, bits.constLike(32)) & bits.constLike((1 << 20) - 1)) | bits.constLike(1 << 20);
  UOp position = (exponent + exponent.constLike(64 - 1077)).cast(narrow);
  std::array<UOp, 5> words = productOf(high, low, digitsFrom<6>(position, (2046 + 64 - 1077) / 32));
  if (turned == Turned::Quarter) words[0] = words[0] + words[0].constLike(int64_t{1} << 30);
  UOp over = right(words[0], words[0].constLike(30)) & words[0].constLike(1);
  UOp isOver = ne(over, over.constLike(0));
  // Above one half of a half turn the bits are turned over, so that sums of words lose none to a difference.
  std::array<UOp, 4> parts;
  double weight = std::numbers::pi * 0x1p-32;
  for (size_t k = 0; k < parts.size(); ++k) {
    UOp part = (left(words[k], over.constLike(1)) | right(words[k + 1], over.constLike(31))).cast(narrow);
    parts[k] = isOver.where(part ^ part.constLike(0xffffffff), part).cast(v.dtype());
  }
  UOp rest =
      mul((parts[0] + mul(parts[1], 0x1p-32)) + mul(parts[2] + mul(parts[3], 0x1p-32), 0x1p-64), weight);
  return {isOver.where(mul(rest, -1), rest),
          withSign(right(words[0], over.constLike(31)) + over, right(bits, bits.constLike(63)), turned)};
}

/// Parts of pi. Where a product is rounded before the sum, its float is exact: parts have few bits. Fused, the first rest is exact next to a
/// multiple of pi, since |v| >= 2 has no bits below those of the product. All parts are positive: a zero keeps its sign.
std::span<const double> partsOfPi(bool isWide, bool isFused) {
  static constexpr std::array kFloat{3.140625, 9.67502593994140625e-4, 1.5099067240953445e-7, 5.1266882e-12},
      kDouble{0x1.921fb5p+1, 0x1.110b46p-25, 0x1.1a6263p-53, 0x1.8a2e03707344ap-80};
  static constexpr std::array kFusedFloat{0x1.921fb4p+1, 0x1.4442dp-23, 0x1.846988p-47},
      kFusedDouble{0x1.921fb54442d18p+1, 0x1.1a62633145c06p-53, 0x1.c1cd129024e08p-106};
  if (isFused) return isWide ? kFusedDouble : kFusedFloat;
  return isWide ? std::span<const double>(kDouble) : kFloat;
}

} // namespace

/// A small angle has less than 2^23 half turns: a float holds them beside their last bit, and their products with parts of 25 bits are
/// exact.
double largestSmallAngle(UOp v) {
  return isDouble(v) ? 0x1p24 : 1000;
}

ReducedAngle reduceSmallAngle(UOp v, Turned turned, const MultiplyAdd& multiplyAdd) {
  const DType bits = (isDouble(v) ? dtypes::uint64 : dtypes::uint32).vec(laneCount(v));
  const bool isQuarter = turned == Turned::Quarter;
  // v = (n - 1/2) * pi + rest, where it is v + pi/2 that has n half turns.
  const UOp ahead = isQuarter ? multiplyAdd(v, num(v, 1 / std::numbers::pi), num(v, 0.5)) : v;
  const RoundedProduct turns(ahead, isQuarter ? 1 : 1 / std::numbers::pi, 0, multiplyAdd);
  const UOp factor = isQuarter ? add(turns.whole(), -0.5) : turns.whole();
  UOp rest = v;
  for (const double part : partsOfPi(isDouble(v), multiplyAdd.isFused()))
    rest = multiplyAdd(factor, num(v, -part), rest);
  return {rest, turns.sum().bitcast(bits)};
}

ReducedAngle reduceAnyAngle(UOp v, Turned turned, const Target& target) {
  return isDouble(v) ? reduceDouble(v, turned) : reduceFloat(v, turned, target);
}

} // namespace uopscope
